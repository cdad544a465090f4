"""/health: whether it is well. Without a token only that it answers; a person is told of the house, too."""

from typing import Any

import anyio
import anyio.to_thread
import msgspec
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from recollect import __version__
from recollect.daemon.status import DaemonStatus, problems_of
from recollect.memory import Memory
from recollect.scopes import Principal
from recollect.surfaces.http.asking import PRINCIPAL
from recollect.surfaces.http.routes import PROBLEMS, PartialShape, Route, Shape, answered, gives
from recollect.surfaces.http.surroundings import Surroundings
from recollect.surfaces.shapes.health import health_json

router = APIRouter(tags=["health"], route_class=Route, responses=PROBLEMS, redirect_slashes=False)
OK, TROUBLED = "ok", "troubled"


class PartShape(Shape):
    name: str
    state: str
    restarts: int
    problem: str
    """Why it crashed last, until it has gone on well for a while."""
    since: str


class HealthShape(PartialShape):
    """Beside `status` only with a token, and `house` only with a person's."""

    status: str
    """ok, or troubled: a part of the daemon does not run, or says what is wrong."""
    version: str = ""
    parts: tuple[PartShape, ...] = ()
    """Of the daemon: each with whether it runs and how often it had to begin again."""
    house: dict[str, Any] | None = None
    """As `recollect health --json` tells it."""


@router.get("/health", **gives(HealthShape, {"status": OK}, "It answers."))
async def read_health(request: Request) -> Response:
    """Whether it answers. With a token also how each part is; with a person's, what the house keeps."""
    principal = getattr(request.state, PRINCIPAL, None)
    if principal is None:  # Also when all threads are at work.
        return answered({"status": OK})
    return await anyio.to_thread.run_sync(_told, request, principal, limiter=request.app.state.health_thread)


def _told(request: Request, principal: Principal) -> Response:
    surroundings: Surroundings = request.app.state.surroundings
    status = surroundings.status()
    value: dict[str, Any] = {"status": _word(status), "version": __version__}
    value["parts"] = msgspec.to_builtins(status.parts) if status else []
    memory: Memory = request.app.state.memory
    if not principal.is_confined:
        value["house"] = health_json(memory.acting_for(principal))
    return answered(value)


def _word(status: DaemonStatus | None) -> str:
    if status is None:
        return OK
    return TROUBLED if any(problems_of(status).values()) or any(part.problem for part in status.parts) else OK
