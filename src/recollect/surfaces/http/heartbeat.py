"""/v1/heartbeat: moments of the agent's own."""

import asyncio
from typing import Annotated, Any

from fastapi import Body, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from recollect.surfaces.http.asking import OwnerWriter
from recollect.surfaces.http.errands import BEGUN, Errand, begin
from recollect.surfaces.http.routes import Given, Shape, answered, gives, new_router
from recollect.surfaces.shapes.heartbeat import (
    check_possible,
    considered_json,
    heart_of,
    heartbeat_json,
    looked_back_json,
)

router = new_router("heartbeat")
Agent = Annotated[str, Query(max_length=200, description="Whose. Empty: the house's own agent's.", examples=[""])]


class MomentShape(Shape):
    at: str
    kind: str
    outcome: str
    reason: str


class HeartbeatShape(Shape):
    enabled: bool
    due: dict[str, str]
    latest: list[MomentShape]
    daemon_runs: bool


class ConsideredShape(Shape):
    outcome: str
    """look: nobody was asked. In a moment: quiet, no, yes or failed."""
    reason: str
    rules: list[dict[str, Any]]
    saw: dict[str, Any]
    decision: dict[str, Any] | None
    turn: int | None


class Now(Given):
    agent: str = Field(default="", max_length=200)
    reflect: bool = False
    """Look back, and perhaps write the diary, instead of perhaps writing first."""


HEARTBEAT: dict[str, Any] = {
    "enabled": True,
    "due": {"outreach": "2026-02-21T10:05:00.000Z", "reflection": "2026-02-22T02:10:00.000Z"},
    "latest": [{"at": "2026-02-21T09:05:00.000Z", "kind": "heartbeat", "outcome": "quiet", "reason": "It is night."}],
    "daemon_runs": True,
}
CONSIDERED: dict[str, Any] = {
    "outcome": "look",
    "reason": "",
    "rules": [{"rule": "quiet hours", "allowed": True, "reason": "It is day.", "until": None}],
    "saw": {
        "at": "2026-02-21T09:30:00.000Z",
        "spoke_at": None,
        "messages": 0,
        "outreaches": 0,
        "unanswered": 0,
        "unwelcome_topics": [],
        "channel": None,
        "context_tokens": 0,
    },
    "decision": None,
    "turn": None,
}


@router.get("/heartbeat", **gives(HeartbeatShape, HEARTBEAT))
def read_heartbeat(memory: OwnerWriter, agent: Agent = "") -> Response:
    """When the next moments are due, and what came of the last. A schedule that is looked at first begins then, so a
    token that may only read may not."""
    return answered(heartbeat_json(memory, heart_of(memory, agent)))


@router.get("/heartbeat/explain", **gives(ConsideredShape, CONSIDERED))
def explain(memory: OwnerWriter, agent: Agent = "") -> Response:
    """All that it sees, and what each rule says. Nobody is asked. What the person asked of it meanwhile is taken in
    first, so a token that may only read may not."""
    return answered(considered_json(heart_of(memory, agent).look()))


@router.post("/heartbeat/now", **BEGUN)
def have_one(
    given: Annotated[Now, Body(examples=[{"reflect": True}])], request: Request, memory: OwnerWriter
) -> Response:
    """Have a moment at once, which asks a model; quiet hours and all other rules hold for it too. It goes on after the
    answer."""
    check_possible(memory, given.agent, reflect=given.reflect)
    heart = heart_of(memory, given.agent)

    def work(errand: Errand) -> dict[str, Any]:
        if given.reflect:
            looked_back = asyncio.run(heart.reflect())
            told, error = looked_back_json(looked_back), looked_back.error
        else:
            considered = asyncio.run(heart.consider())
            told, error = considered_json(considered), considered.error
        if error:
            raise error
        return told

    return begin(request, "heartbeat", work)
