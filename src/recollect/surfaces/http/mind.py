"""/v1/mind: the one conversation with an agent. What is said is written down; whoever has the conversation open, as a
rule the daemon, answers it, and the answer is read here. Nothing of it waits for a model."""

import base64
import binascii
from dataclasses import asdict
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Body, Path, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from recollect.errors import Invalid
from recollect.mind.channel import Image, Said
from recollect.mind.delivering import spoken_of
from recollect.mind.entries import Role, Written
from recollect.mind.visiting import HTTP
from recollect.surfaces.http.asking import Owner, OwnerWriter
from recollect.surfaces.http.paging import Page
from recollect.surfaces.http.routes import After, Given, Limit, LongGiven, Shape, answered, gives, new_router
from recollect.surfaces.http.surroundings import Surroundings

router = new_router("mind")
MOST_NUMBER = 2**53 - 1
"""Of an entry or turn: what every JSON reader keeps exactly."""
Agent = Annotated[str, Query(max_length=200, description="With whom. Empty: the house's own agent.", examples=[""])]
Number = Annotated[int, Path(ge=1, le=MOST_NUMBER, examples=[1])]


class Picture(Given):
    media_type: str = Field(max_length=100, examples=["image/png"])
    data: str = Field(max_length=7_000_000)
    """In base64."""


class Message(LongGiven):
    text: str = ""
    agent: str = Field(default="", max_length=200)
    """To whom. Empty: the house's own agent."""
    address: str = Field(default="", max_length=200)
    """Which window of yours it is: what waits is taken back by it."""
    key: str = Field(default="", max_length=200)
    """Your own name of this message: sent again, it is not heard again."""
    images: list[Picture] = Field(default=[], max_length=20, fail_fast=True)


class EntryShape(Shape):
    entry: int
    author: str
    """user or assistant."""
    text: str
    at: str
    channel: str
    address: str
    state: str
    """Of what a user said: waiting, taken or withdrawn."""
    turn: int | None
    """None: no turn took it yet."""


class HeardShape(Shape):
    entry: int | None
    """None: it was heard under this key before, and forgotten since."""
    is_answered: bool
    """Whether a daemon that answers runs here. If not, it waits until one does, or until `recollect chat`."""


class TurnShape(Shape):
    turn: int
    state: str
    """open, done, failed, stopped or refused."""
    began_at: str
    ended_at: str | None
    reason: str
    kind: str
    """outreach: the agent wrote first."""
    reply: str
    """All that the agent said in it so far."""
    entries: list[EntryShape]


class WithdrawnShape(Shape):
    withdrawn: int


class FiguresShape(Shape):
    turns: int
    waiting: int
    waiting_since: str
    open_turns: int
    unsure: int
    failed_reason: str
    failed_at: str


ENTRY: dict[str, Any] = {
    "entry": 7,
    "author": "user",
    "text": "What did we say about the beans?",
    "at": "2026-02-21T09:30:00.000Z",
    "channel": HTTP,
    "address": "",
    "state": "taken",
    "turn": 3,
}
REPLY: dict[str, Any] = {**ENTRY, "entry": 8, "author": "assistant", "text": "To sow them in May.", "state": ""}
TURN: dict[str, Any] = {
    "turn": 3,
    "state": "done",
    "began_at": "2026-02-21T09:30:00.000Z",
    "ended_at": "2026-02-21T09:30:04.000Z",
    "reason": "",
    "kind": "",
    "reply": "To sow them in May.",
    "entries": [ENTRY, REPLY],
}
MESSAGE: dict[str, Any] = {"text": "What did we say about the beans?"}


@router.post("/mind/messages", **gives(HeardShape, {"entry": 7, "is_answered": True}, "It is heard.", status=202))
def say(given: Annotated[Message, Body(examples=[MESSAGE])], request: Request, memory: OwnerWriter) -> Response:
    """Say something. `Location` is its entry, which tells by which turn it is answered."""
    images = tuple(Image(media_type=one.media_type, data=_decoded(one.data)) for one in given.images)
    said = Said(text=given.text, channel=HTTP, address=given.address, images=images, key=given.key)
    entry = memory.visit(given.agent).hear(said)
    surroundings: Surroundings = request.app.state.surroundings
    status = surroundings.status()
    is_own = given.agent in ("", memory.settings.agent_name)
    told = {
        "entry": entry.number if entry else None,
        "is_answered": bool(status and status.minding.is_at_work and is_own),
    }
    whose = f"?agent={quote(given.agent, safe='')}" if given.agent else ""
    headers = {"location": f"/v1/mind/entries/{entry.number}{whose}"} if entry else {}
    return answered(told, status=202, headers=headers)


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise Invalid("The data of an image is no base64.") from None


@router.delete("/mind/messages", **gives(WithdrawnShape, {"withdrawn": 1}))
def withdraw(
    memory: OwnerWriter,
    agent: Agent = "",
    address: Annotated[str, Query(max_length=200, description="Which window of yours.", examples=[""])] = "",
) -> Response:
    """Take back what was said here and no turn took yet. It stays in history, and is never sent."""
    return answered({"withdrawn": memory.visit(agent).withdraw(HTTP, address)})


@router.get("/mind/entries", **gives(Page[EntryShape], {"items": [REPLY, ENTRY], "next": ""}, "The newest first."))
def list_entries(
    memory: Owner,
    agent: Agent = "",
    newer_than: Annotated[
        int, Query(ge=0, le=MOST_NUMBER, description="Only entries with greater numbers: what is new.", examples=[0])
    ] = 0,
    limit: Limit = 30,
    after: After = "",
) -> Response:
    """What was said last, by whichever way."""
    found = memory.visit(agent).spoken(before=_number(after), after=newer_than, limit=limit)
    has_more = len(found) == limit and found[-1].entry.number > max(newer_than + 1, 1)
    following = str(found[-1].entry.number) if has_more else ""
    return answered({"items": [entry_json(one) for one in found], "next": following})


def _number(after: str) -> int:
    if not after:
        return 0
    if not (after.isascii() and after.isdecimal() and 0 < int(after) <= MOST_NUMBER):
        raise Invalid("`after` is not the `next` of a page. Begin without it.")
    return int(after)


@router.get("/mind/entries/{number}", **gives(EntryShape, ENTRY))
def read_entry(number: Number, memory: Owner, agent: Agent = "") -> Response:
    """One entry: its turn, if one took it, has the answer."""
    return answered(entry_json(memory.visit(agent).entry(number)))


@router.get("/mind/turns/{number}", **gives(TurnShape, TURN))
def read_turn(number: Number, memory: Owner, agent: Agent = "") -> Response:
    """One turn: how it stands and what was said in it. While it is open it is answered; look again."""
    row, written = memory.visit(agent).turn(number)
    entries = [entry_json(one) for one in written if one.entry.role in (Role.USER, Role.ASSISTANT)]
    replies = [one["text"] for one in entries if one["author"] == "assistant" and one["text"]]
    told = {"turn": row.number, "state": str(row.state), "began_at": row.began_at, "ended_at": row.ended_at or None}
    said = {"reason": row.reason, "kind": row.kind, "reply": "\n\n".join(replies), "entries": entries}
    return answered({**told, **said})


@router.get(
    "/mind",
    **gives(
        FiguresShape,
        {
            "turns": 3,
            "waiting": 0,
            "waiting_since": "",
            "open_turns": 0,
            "unsure": 0,
            "failed_reason": "",
            "failed_at": "",
        },
    ),
)
def read_figures(memory: Owner) -> Response:
    """How the conversations with the agents of the house stand."""
    return answered(asdict(memory.mind_figures()))


def entry_json(written: Written) -> dict[str, Any]:
    spoken, entry = spoken_of(written), written.entry
    return {
        "entry": entry.number,
        "author": spoken.author,
        "text": spoken.text,
        "at": spoken.at,
        "channel": entry.channel,
        "address": entry.address,
        "state": str(entry.state),
        "turn": entry.turn or None,
    }
