"""/v1/context: what a model should be told, within a budget; the same knowledge gives the same bytes."""

from typing import Annotated, Any

import msgspec
from fastapi import Body, Path, Query
from starlette.responses import Response

from recollect.context import Context
from recollect.errors import Invalid
from recollect.surfaces.http.asking import Reader, Writer
from recollect.surfaces.http.routes import LongGiven, PartialShape, Shape, answered, gives, new_router
from recollect.surfaces.shapes.contexts import REHYDRATION, context_json

router = new_router("context")
REHYDRATION_TOKENS = 2_000
MOST_TOKENS = 1_000_000
Pipeline = Annotated[
    str,
    Path(
        min_length=1,
        max_length=100,
        description="conversation, heartbeat, or a pipeline of your own in recollect.toml.",
        examples=["conversation"],
    ),
]
Trigger = Annotated[str, Query(max_length=20_000, description="What is said to the agent now.", examples=["Hello"])]
Budget = Annotated[int, Query(ge=0, le=MOST_TOKENS, description="At most so many tokens. 0: its own budget.")]


class SectionShape(Shape):
    name: str
    tokens: int
    text: str
    documents: int


class ContextShape(PartialShape):
    sections: list[SectionShape]
    tokens: int
    fingerprint: str
    left_out: int
    budget: int
    text: str
    """All of it, as a model is given it."""
    reason: str = ""
    """Why it does not begin with all of the one before. A rehydration has none."""


class NoteChangeShape(Shape):
    path: str
    change: str
    at: str
    by: str


class DifferenceShape(Shape):
    pipeline: str
    agent: str
    since: str
    reason: str
    tokens: int
    cached_tokens: int
    new_tokens: int
    lost_tokens: int
    sections: list[str]
    messages: int
    notes: list[NoteChangeShape]


class Turn(LongGiven):
    trigger: str = ""
    """What is said to the agent now. It is never cut."""
    budget_tokens: Annotated[int, Query(ge=0, le=MOST_TOKENS)] = 0
    turn: str = ""
    """A name for this one: asked for again under the same name, it is the same context."""


CONTEXT: dict[str, Any] = {
    "sections": [{"name": "knowledge", "tokens": 9, "text": "The user drinks green tea.", "documents": 1}],
    "tokens": 9,
    "fingerprint": "5f3c9a1b2d4e6f80",
    "left_out": 0,
    "budget": 2000,
    "text": "<knowledge>\nThe user drinks green tea.\n</knowledge>\n",
}


@router.get("/context/rehydration", **gives(ContextShape, CONTEXT, "What a session should know when it begins."))
def rehydrate(
    memory: Reader,
    budget: Annotated[int, Query(ge=1, le=MOST_TOKENS)] = REHYDRATION_TOKENS,
    topic: Annotated[str, Query(max_length=2_000, description="Records that answer come first.", examples=[""])] = "",
    recent: Annotated[int, Query(ge=0, le=1_000, description="Also so many of the last messages.")] = 0,
) -> Response:
    """Learnings by category, and on wish the last messages. What does not fit is left out whole, and counted."""
    return _told(memory.context.rehydration(budget_tokens=budget, topic=topic, recent=recent), REHYDRATION)


@router.post("/context/{pipeline}", **gives(ContextShape, {**CONTEXT, "reason": "first"}, "The context."))
def build_context(
    memory: Writer,
    pipeline: Pipeline,
    given: Annotated[Turn, Body(examples=[{"trigger": "Good morning!"}])],
) -> Response:
    """What an agent is shown when somebody speaks to it, or in a moment of its own. It begins with all the bytes of the
    one before: what was shown is kept, so this asks for a token that may write."""
    if pipeline == REHYDRATION:
        raise Invalid("A rehydration has no trigger, and nothing is kept of it: GET /v1/context/rehydration.")
    made = memory.context.build(pipeline, given.trigger, budget_tokens=given.budget_tokens, turn=given.turn)
    return _told(made, pipeline)


@router.get(
    "/context/{pipeline}/difference",
    **gives(
        DifferenceShape,
        {
            "pipeline": "conversation",
            "agent": "assistant",
            "since": "2026-05-01T10:00:00.000Z",
            "reason": "",
            "tokens": 1240,
            "cached_tokens": 1200,
            "new_tokens": 40,
            "lost_tokens": 0,
            "sections": ["conversation"],
            "messages": 2,
            "notes": [],
        },
        "What would be other, and what that costs.",
    ),
)
def compare_contexts(memory: Writer, pipeline: Pipeline, trigger: Trigger = "", budget_tokens: Budget = 0) -> Response:
    """What would change since the last context. Nothing is kept of it."""
    if pipeline == REHYDRATION:
        raise Invalid("A rehydration keeps nothing of the one before: there is no difference to tell.")
    found = memory.context.difference(pipeline, trigger, budget_tokens=budget_tokens)
    return answered(msgspec.to_builtins(found))


def _told(made: Context, purpose: str) -> Response:
    return answered({**context_json(made, purpose), "text": made.text})
