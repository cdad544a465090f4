"""/v1/tokens: by which other programs ask. Of a person who may write alone, reading included."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Body
from pydantic import Field
from starlette.responses import Response

from recollect.surfaces.http.asking import OwnerWriter
from recollect.surfaces.http.paging import Page, cut
from recollect.surfaces.http.routes import After, Given, Identity, Limit, Shape, answered, gives, new_router
from recollect.surfaces.times import expiry

router = new_router("tokens")


class TokenShape(Shape):
    id: str
    agent: str
    """For whom it speaks. Empty: for the person."""
    label: str
    may_write: bool
    made_at: str
    expires_at: str
    """Empty: never."""
    revoked_at: str
    """Empty: it was not."""
    last_used_at: str
    """To the hour; empty: never."""
    is_agent_gone: bool
    """The agent that it was made for was removed: it opens nothing, not even for another of the same name."""


class CreatedShape(TokenShape):
    secret: str
    """Shown now and never again."""


class Created(Given):
    agent: str = Field(default="", max_length=200, examples=["ada"])
    """An agent, or a room of it: ada, ada/kitchen. Empty: the person."""
    label: str = Field(default="", max_length=200, examples=["the kitchen tablet"])
    read_only: bool = False
    expires: str = Field(default="", max_length=200, examples=["in 30 days"])
    """A time to come, `in 30 days`, or `never`."""


TOKEN: dict[str, Any] = {
    "id": "0199a7f0c3de7b6c8a52d1f4e6b7a890",
    "agent": "ada",
    "label": "the kitchen tablet",
    "may_write": True,
    "made_at": "2026-02-21T09:30:00.000Z",
    "expires_at": "",
    "revoked_at": "",
    "last_used_at": "",
    "is_agent_gone": False,
}


@router.get(
    "/tokens",
    **gives(Page[TokenShape], {"items": [TOKEN], "next": ""}, "The oldest first, also those that are good no more."),
)
def list_tokens(memory: OwnerWriter, limit: Limit = 100, after: After = "") -> Response:
    """All tokens, without their secrets."""
    return answered(cut(memory.access.list(), limit, after, lambda token: token.id, asdict))


@router.post("/tokens", **gives(CreatedShape, {**TOKEN, "secret": "recollect_…"}, "It is made.", status=201))
def create_token(
    given: Annotated[Created, Body(examples=[{"agent": "ada", "label": "the kitchen tablet"}])], memory: OwnerWriter
) -> Response:
    """Make one. Its secret is in this answer and nowhere else."""
    made = memory.access.create(
        given.agent, label=given.label, read_only=given.read_only, expires_at=expiry(given.expires)
    )
    return answered({**asdict(made.token), "secret": made.secret}, status=201)


@router.delete(
    "/tokens/{id}",
    **gives(TokenShape, {**TOKEN, "revoked_at": "2026-02-22T09:30:00.000Z"}, also={409: "It was revoked before."}),
)
def revoke_token(id: Identity, memory: OwnerWriter) -> Response:  # noqa: A002  its name in the address
    """Let one open nothing any more, from now on. It may be the one that asks."""
    return answered(asdict(memory.access.revoke(id)))
