"""/v1/librarian: how the librarian stands, and what it is to read. Reading goes on after the answer."""

from typing import Annotated, Any

from fastapi import Body
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from recollect.errors import Invalid
from recollect.memory import Memory
from recollect.surfaces.http.asking import Owner, OwnerWriter
from recollect.surfaces.http.errands import BEGUN, Errand, begin
from recollect.surfaces.http.routes import Given, LongGiven, Shape, answered, gives, new_router
from recollect.surfaces.http.surroundings import Surroundings
from recollect.surfaces.shapes.librarian import (
    NOBODY,
    check_price,
    chosen_of,
    costly,
    estimate_json,
    librarian_json,
    long_enough,
    queued_json,
    taken_over,
    worked_json,
)

router = new_router("librarian")
AMBIGUOUS = {409: "An id is ambiguous."}


class SpentShape(Shape):
    calls: int
    tokens: int
    cost_usd: float
    tokens_per_day: int
    dollars_per_day: float
    share: float | None
    goes_on_at: str


class LibrarianShape(Shape):
    reader: str
    """rules, none, or the name of a model."""
    works_by_itself: bool
    problem: str
    ready: int
    queued: int
    processing: int
    set_aside: int
    paused_since: str | None
    next_due_at: str
    read: dict[str, Any]
    aside: list[dict[str, Any]]
    today: SpentShape
    questions: int
    reviews: int


class QueuedShape(Shape):
    queued: int
    already: int
    skipped: int
    refused: dict[str, str]
    """Conversation: why not."""
    works_by_itself: bool
    """False: what is queued waits until `POST /v1/librarian/process` or `recollect process`."""
    daemon_runs: bool


class Chosen(LongGiven):
    ids: list[str] = Field(default=[], max_length=10_000, fail_fast=True, examples=[[]])
    """Conversations, also some that were read before. None: all that are ready or queued."""
    all: bool = False
    """Also those that were read before: all of them again."""


class Processed(Chosen):
    yes: bool = False
    """A model may be paid for many conversations."""


LIBRARIAN: dict[str, Any] = {
    "reader": "rules",
    "works_by_itself": True,
    "problem": "",
    "ready": 2,
    "queued": 0,
    "processing": 0,
    "set_aside": 0,
    "paused_since": None,
    "next_due_at": "",
    "read": {"conversations": 10, "kept": 32, "dropped": {}},
    "aside": [],
    "today": {
        "calls": 0,
        "tokens": 0,
        "cost_usd": 0.0,
        "tokens_per_day": 0,
        "dollars_per_day": 0.0,
        "share": None,
        "goes_on_at": "",
    },
    "questions": 1,
    "reviews": 0,
}
QUEUED: dict[str, Any] = {
    "queued": 2,
    "already": 0,
    "skipped": 1,
    "refused": {},
    "works_by_itself": True,
    "daemon_runs": True,
}


@router.get("/librarian", **gives(LibrarianShape, LIBRARIAN))
def read_librarian(memory: Owner) -> Response:
    """Who reads, what waits, what was set aside and why, and what today cost."""
    return answered(librarian_json(memory))


@router.post("/librarian/queue", **gives(QueuedShape, QUEUED, "It waits to be read.", status=202, also=AMBIGUOUS))
def queue(given: Annotated[Chosen, Body(examples=[{"ids": []}])], request: Request, memory: OwnerWriter) -> Response:
    """Queue conversations. The daemon's librarian reads them, where it works by itself; /v1/librarian tells how far."""
    chosen = _chosen(memory, given)
    librarian = memory.librarian
    librarian.queue.recover()
    queued = librarian.queue.ready() if not (given.ids or given.all) else librarian.queue.these(chosen)
    surroundings: Surroundings = request.app.state.surroundings
    surroundings.wake()
    told = {"works_by_itself": librarian.works_by_itself, "daemon_runs": surroundings.status() is not None}
    return answered({**queued_json(queued), **told}, status=202, headers={"location": "/v1/librarian"})


def _chosen(memory: Memory, given: Chosen) -> list[str]:
    if given.ids and given.all:
        raise Invalid("Give ids, or all.")
    if memory.librarian.reader == "none":
        raise Invalid(NOBODY)
    return chosen_of(memory, given.ids, given.all)


@router.post("/librarian/process", **BEGUN)
def process(
    given: Annotated[Processed, Body(examples=[{"ids": [], "yes": False}])], request: Request, memory: OwnerWriter
) -> Response:
    """Let this server read conversations now, as `recollect process` does. It goes on after the answer."""
    chosen = _chosen(memory, given)
    librarian = memory.librarian
    librarian.open_model()  # Nothing is queued where nobody could read it.
    if not given.yes and (listed := check_price(memory, librarian, chosen)):
        raise Invalid(f"{costly(librarian, len(listed))} See what: POST /v1/librarian/estimate. Go on with yes: true.")
    is_ready_only = not (given.ids or given.all)

    def work(errand: Errand) -> dict[str, Any]:
        librarian.queue.recover()
        queued = librarian.queue.ready() if is_ready_only else librarian.queue.these(chosen)
        written = taken_over(librarian)
        errand.total = librarian.status().counts.queued if is_ready_only else len(chosen)
        worked = librarian.worker("process").work_until_done(
            lambda _: errand.advance(1), only=None if is_ready_only else chosen
        )
        return worked_json(librarian, queued, worked, written)

    return begin(request, "process", work)


@router.post("/librarian/estimate", **BEGUN)
def estimate(given: Annotated[Chosen, Body(examples=[{"all": True}])], request: Request, memory: Owner) -> Response:
    """How many conversations there are to read, and what that would cost. Nobody is asked."""
    chosen = _chosen(memory, given)

    def work(errand: Errand) -> dict[str, Any]:
        return estimate_json(memory.librarian.estimate(long_enough(memory, chosen)))

    return begin(request, "estimate", work)


class Reason(Given):
    reason: str = Field(default="", max_length=1_000, examples=["the holidays"])
    """For who asks why."""


class PausedShape(Shape):
    paused_since: str | None


class WasPausedShape(Shape):
    was_paused: bool


@router.post("/librarian/pause", **gives(PausedShape, {"paused_since": "2026-02-21T09:30:00.000Z"}))
def pause_librarian(
    given: Annotated[Reason, Body(examples=[{"reason": "the holidays"}])], memory: OwnerWriter
) -> Response:
    """Let it rest: what it reads now is finished, nothing more is begun."""
    memory.librarian.queue.pause(given.reason)
    since = memory.librarian.status().paused
    return answered({"paused_since": since.since if since else None})


@router.post("/librarian/resume", **gives(WasPausedShape, {"was_paused": True}))
def resume_librarian(memory: OwnerWriter) -> Response:
    """Let it go on."""
    return answered({"was_paused": memory.librarian.queue.resume()})
