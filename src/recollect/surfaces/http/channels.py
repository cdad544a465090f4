"""/v1/channels and /v1/places: the ways to reach the agent from elsewhere, and who is heard there."""

from typing import Annotated, Any

from fastapi import Body, Path, Query
from pydantic import Field
from starlette.responses import Response

from recollect.errors import NotFound
from recollect.surfaces.http.asking import Owner, OwnerWriter
from recollect.surfaces.http.routes import Given, Shape, answered, gives, new_router
from recollect.surfaces.shapes.channels import (
    TELEGRAM,
    allow,
    bot_name,
    channels_json,
    check_readable,
    paired_json,
    place_json,
)

router = new_router("channels")
Channel = Annotated[str, Path(min_length=1, max_length=200, examples=["telegram"])]
Asked = Annotated[str, Query(min_length=1, max_length=200, examples=["telegram"])]


class ChannelShape(Shape):
    name: str
    is_wanted: bool
    """By the settings."""
    needs: list[str]
    problem: str


class PlaceShape(Shape):
    channel: str
    address: str
    name: str
    state: str
    """paired or blocked."""
    since: str


class ChannelsShape(Shape):
    channels: list[ChannelShape]
    broken: list[str]
    places: list[PlaceShape]
    daemon_runs: bool


class CodeShape(Shape):
    channel: str
    code: str
    """Who sends it by the channel, once and in time, is heard from then on."""
    expires_at: str
    link: str
    daemon_runs: bool


class Paired(Given):
    link: bool = False
    """Ask Telegram for the name of the bot, to give a link that sends the code."""


class Allowed(Given):
    channel: str = Field(min_length=1, max_length=200, examples=["telegram"])
    address: str = Field(min_length=1, max_length=200, examples=["123456789"])
    name: str = Field(default="", max_length=200, examples=["my phone"])


class RemovedShape(Shape):
    removed: dict[str, str]


PLACE: dict[str, Any] = {
    "channel": "telegram",
    "address": "123456789",
    "name": "my phone",
    "state": "paired",
    "since": "2026-02-21T09:30:00.000Z",
}
CHANNELS: dict[str, Any] = {
    "channels": [{"name": "telegram", "is_wanted": True, "needs": [], "problem": ""}],
    "broken": [],
    "places": [PLACE],
    "daemon_runs": True,
}
CODE: dict[str, Any] = {
    "channel": "telegram",
    "code": "ABCD-EFGH",
    "expires_at": "2026-02-21T09:40:00.000Z",
    "link": "",
    "daemon_runs": True,
}


@router.get("/channels", **gives(ChannelsShape, CHANNELS))
def list_channels(memory: Owner) -> Response:
    """The channels, what each lacks, and who is heard."""
    return answered(channels_json(memory))


@router.post(
    "/channels/{channel}/pair", **gives(CodeShape, CODE, "The one code of the channel from now on.", status=201)
)
def pair(channel: Channel, given: Annotated[Paired, Body(examples=[{"link": False}])], memory: OwnerWriter) -> Response:
    """Make a code. An older one of the same channel is good no more."""
    check_readable(channel, memory.settings)
    bot = bot_name(memory.settings) if given.link and channel == TELEGRAM else ""
    code = memory.places.new_code(channel)
    return answered(paired_json(memory.settings, channel, code, bot), status=201)


@router.post("/places", **gives(PlaceShape, PLACE, "It is heard.", status=201))
def allow_place(
    given: Annotated[Allowed, Body(examples=[{"channel": "telegram", "address": "123456789"}])], memory: OwnerWriter
) -> Response:
    """Let an address be heard without a code."""
    return answered(place_json(allow(memory, given.channel, given.address, given.name)), status=201)


@router.delete(
    "/places", **gives(RemovedShape, {"removed": {"channel": "telegram", "address": "123456789"}}, "Heard no more.")
)
def remove_place(channel: Asked, address: Asked, memory: OwnerWriter) -> Response:
    """Let an address be heard and written to no more. What was said there stays."""
    if not memory.places.remove(channel, address):
        raise NotFound(f"{address[:100]!r} is no place of {channel[:100]!r}. /v1/channels lists them.")
    return answered({"removed": {"channel": channel, "address": address}})
