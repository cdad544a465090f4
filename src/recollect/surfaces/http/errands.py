"""/v1/errands: long work that a request began and that goes on after its answer.

An errand runs in a thread of this server. It is known for as long as the server runs; what it does is kept by the
library all the same. Of one kind one runs at a time. When the server ends it is cut off: an import goes on where it
was, an index is built on from there, an export leaves nothing behind.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from recollect.clock import to_text
from recollect.errors import Conflict, NotFound, RecollectError, Unavailable
from recollect.ids import new_id
from recollect.memory import Memory
from recollect.surfaces.http.asking import Owner
from recollect.surfaces.http.paging import Page, cut
from recollect.surfaces.http.problems import BROKEN, shortened
from recollect.surfaces.http.routes import After, Identity, Limit, Shape, answered, gives, new_router

MOST_KEPT = 100
"""Errands that have ended and can still be looked at."""
MOST_WAIT_SECONDS = 10.0
LOOK_SECONDS = 0.05
ENDING_SECONDS = 2.0
"""For an errand to end with its server."""
RUNNING, DONE, FAILED = "running", "done", "failed"

router = new_router("errands")


class ErrandShape(Shape):
    id: str
    kind: str
    """ingest, process, estimate, reflect, reindex, pull, export, backup, import, claude-memory or heartbeat."""
    state: str
    """running, done or failed."""
    began_at: str
    ended_at: str | None
    done: int
    """How much of it is done: bytes, documents or rows, as the kind counts."""
    total: int | None
    result: dict[str, Any] | None
    """What the command of the same name gives with --json."""
    problem: dict[str, Any] | None
    """Why it failed: `status` and `detail` as a refusal has them."""


EXAMPLE: dict[str, Any] = {
    "id": "0199a7f0c3de7b6c8a52d1f4e6b7a890",
    "kind": "reindex",
    "state": RUNNING,
    "began_at": "2026-02-21T09:30:00.000Z",
    "ended_at": None,
    "done": 1200,
    "total": 30000,
    "result": None,
    "problem": None,
}
BEGUN: dict[str, Any] = gives(
    ErrandShape,
    EXAMPLE,
    "It has begun. `Location` tells where to look.",
    status=202,
    also={409: "One of this kind is under way; `detail` names it."},
)


@dataclass(slots=True, kw_only=True)
class Errand:
    kind: str
    began_at: str
    id: str = field(default_factory=new_id)
    state: str = RUNNING
    ended_at: str | None = None
    done: int = 0
    total: int | None = None
    result: dict[str, Any] | None = None
    problem: dict[str, Any] | None = None
    is_stopped: bool = False
    thread: threading.Thread | None = None

    # Told by who works. Raises where the server ends: then the work is cut off as by Ctrl-C.

    def set_total(self, number: int) -> None:
        self._check()
        self.total = number

    def advance(self, number: int) -> None:
        self._check()
        self.done += number

    def reach(self, number: int) -> None:
        self._check()
        self.done = number

    def _check(self) -> None:
        if self.is_stopped:
            raise Unavailable("The server ended in the middle of it. Begin it again.")


Work = Callable[[Errand], dict[str, Any]]


class Errands:
    """Of one server. Safe to share between threads."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._clock = memory.clock
        self._lock = threading.Lock()
        self._errands: dict[str, Errand] = {}

    def begin(self, kind: str, work: Work) -> Errand:
        with self._lock:
            running = next((one for one in self._errands.values() if one.kind == kind and one.state == RUNNING), None)
            if running:
                raise Conflict(
                    f"{kind} is under way: /v1/errands/{running.id} tells how far. Begin again when it ends."
                )
            errand = Errand(kind=kind, began_at=to_text(self._clock()))
            name = f"errand-{kind}"
            errand.thread = threading.Thread(target=self._run, args=(errand, work), name=name, daemon=True)
            errand.thread.start()
            self._errands[errand.id] = errand
            self._drop_old()
        return errand

    def close(self) -> None:
        """Cut off what runs, and wait a moment for its end."""
        with self._lock:
            running = [one for one in self._errands.values() if one.state == RUNNING]
        deadline = time.monotonic() + ENDING_SECONDS
        for one in running:
            one.is_stopped = True
        for one in running:
            if one.thread:
                one.thread.join(max(0.0, deadline - time.monotonic()))

    def _drop_old(self) -> None:
        ended = [one.id for one in self._errands.values() if one.state != RUNNING]
        for name in ended[: max(0, len(ended) - MOST_KEPT)]:
            del self._errands[name]

    def _run(self, errand: Errand, work: Work) -> None:
        state = FAILED
        try:
            errand.result = work(errand)
            state = DONE
        except RecollectError as error:
            errand.problem = {"status": error.http_status, "detail": shortened(str(error))}
        except Exception as error:  # noqa: BLE001  the HTTP boundary: its words may be somebody's own: none is told
            errand.problem = {"status": 500, "detail": BROKEN}
            with suppress(RecollectError):  # The database may be what is broken.
                self._memory.runs.record("errand", "failed", 0.0, {"kind": errand.kind, "error": type(error).__name__})
        finally:
            errand.ended_at = to_text(self._clock())
            errand.state = state

    def named(self, name: str) -> Errand:
        with self._lock:
            found = [one for one in self._errands.values() if one.id.startswith(name)]
        if len(found) == 1:
            return found[0]
        if found:
            raise Conflict(f"{len(found)} errands have ids like {name[:100]!r}. Give more of it.")
        raise NotFound(f"No errand is called {name[:100]!r}: it ended long ago, or before this server started.")

    def list(self) -> list[Errand]:
        """The latest first."""
        with self._lock:
            return list(self._errands.values())[::-1]


def begin(request: Request, kind: str, work: Work) -> Response:
    """Begin it, and answer at once with where to look."""
    errands: Errands = request.app.state.errands
    errand = errands.begin(kind, work)
    return answered(errand_json(errand), status=202, headers={"location": f"/v1/errands/{errand.id}"})


def errand_json(errand: Errand) -> dict[str, Any]:
    state = errand.state  # Before the rest: one that has ended tells its result.
    names = ("id", "kind", "began_at", "ended_at", "done", "total", "result", "problem")
    return {"state": state, **{name: getattr(errand, name) for name in names}}


@router.get("/errands", **gives(Page[ErrandShape], {"items": [EXAMPLE], "next": ""}, "The latest first."))
def list_errands(request: Request, memory: Owner, limit: Limit = 30, after: After = "") -> Response:
    """Long work that requests began since the server started."""
    errands: Errands = request.app.state.errands
    return answered(cut(errands.list(), limit, after, lambda one: one.id, errand_json))


Wait = Annotated[
    float,
    Query(ge=0, le=MOST_WAIT_SECONDS, description="Wait so many seconds for its end before answering.", examples=[0]),
]


@router.get("/errands/{id}", **gives(ErrandShape, EXAMPLE, "How it stands.", also={409: "The id is ambiguous."}))
async def read_errand(id: Identity, request: Request, memory: Owner, wait: Wait = 0.0) -> Response:  # noqa: A002  its name in the address
    """How far one is, and what came of it."""
    errands: Errands = request.app.state.errands
    errand = errands.named(id)
    deadline = time.monotonic() + wait
    # Not in a thread: there are few, and others are answered by them.
    while errand.state == RUNNING and time.monotonic() < deadline:  # noqa: ASYNC110  it ends in another thread
        await asyncio.sleep(LOOK_SECONDS)
    return answered(errand_json(errand))
