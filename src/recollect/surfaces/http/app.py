"""The application: every route behind the guard.

`ROUTERS` is the list that a new module joins. What a route needs of its caller it says by its parameters (`asking`);
one of /v1 that says nothing is refused here.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.to_thread
from fastapi import APIRouter, FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.routing import Route

from recollect import __version__
from recollect.daemon.serving import HOOKS_PATH
from recollect.errors import RecollectError
from recollect.memory import Memory
from recollect.surfaces.http import (
    agents,
    bodies,
    channels,
    contexts,
    conversations,
    days,
    errands,
    events,
    forget,
    health,
    heartbeat,
    history,
    hooks,
    lately,
    librarian,
    mind,
    nights,
    notes,
    operation,
    questions,
    records,
    review,
    search,
    tokens,
    transfer,
)
from recollect.surfaces.http.asking import WAYS_IN
from recollect.surfaces.http.describing import DESCRIBED_AT, DESCRIPTION, described, description
from recollect.surfaces.http.guard import Guard
from recollect.surfaces.http.mcp import Endpoint
from recollect.surfaces.http.problems import answer_error
from recollect.surfaces.http.routes import PREFIX
from recollect.surfaces.http.streams import Streams
from recollect.surfaces.http.surroundings import Surroundings
from recollect.surfaces.http.turns import LongWork, Turns

ROUTERS: tuple[APIRouter, ...] = (
    search.router,
    conversations.router,
    records.router,
    notes.router,
    days.router,
    contexts.router,
    forget.router,
    events.router,
    hooks.router,
    history.router,
    librarian.router,
    lately.router,
    review.router,
    questions.router,
    nights.router,
    mind.router,
    heartbeat.router,
    channels.router,
    agents.router,
    tokens.router,
    operation.router,
    transfer.router,
    errands.router,
)
"""Of the modules beside this one, in the order in which the description lists them."""
OTHER_THREADS = 8
"""For what is not the answer of a route: the tools of MCP above all."""


def create_app(
    memory: Memory,
    surroundings: Surroundings,
    *,
    body_seconds: float = bodies.READING_SECONDS,
    most_bytes: int = bodies.MOST_BYTES,
) -> FastAPI:
    """The house of `memory`, for whoever has a token. It closes nothing when it ends."""
    app = FastAPI(
        title="Recollect",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,  # The pages would load their scripts from elsewhere.
        redoc_url=None,
        openapi_url=None,  # Below: as the bytes that are kept.
        redirect_slashes=False,  # It would lead to whatever host the request names.
        lifespan=_living,
        exception_handlers={
            RecollectError: answer_error,
            RequestValidationError: answer_error,
            HTTPException: answer_error,
        },
    )
    app.state.memory = memory
    app.state.surroundings = surroundings
    app.state.errands = errands.Errands(memory)
    for router in (health.router, *ROUTERS):
        app.router.routes.extend(router.routes)
    hooks.prepare(app)
    _prepare(app)
    app.state.mcp = Endpoint(memory, most_bytes)
    app.router.routes.append(app.state.mcp.route)
    _check_ways_in(app)
    app.add_middleware(
        Guard, memory=memory, surroundings=surroundings, body_seconds=body_seconds, most_bytes=most_bytes
    )
    app.openapi = lambda: described(app)
    app.router.routes.append(Route(DESCRIBED_AT, endpoint=description, include_in_schema=False))
    return app


@asynccontextmanager
async def _living(app: FastAPI) -> AsyncGenerator[None]:
    anyio.to_thread.current_default_thread_limiter().total_tokens = OTHER_THREADS
    _prepare(app)
    async with app.state.mcp.running():
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(hooks.close, app)
                await app.state.streams.close()
                await anyio.to_thread.run_sync(app.state.errands.close)


def _prepare(app: FastAPI) -> None:
    """What is of one event loop: a server that failed begins another."""
    app.state.streams = Streams(app.state.memory)
    app.state.turns = Turns()
    app.state.health_thread = anyio.CapacityLimiter(1)
    app.state.sql = LongWork()
    app.state.reranking = LongWork()


def _check_ways_in(app: FastAPI) -> None:
    for route in app.routes:
        if not isinstance(route, APIRoute) or not route.path.startswith(PREFIX) or route.path.startswith(HOOKS_PATH):
            continue
        if not any(call in WAYS_IN for call in _calls(route.dependant)):
            raise RuntimeError(f"{route.path} does not say who may ask: give it a Reader, Writer, Owner or OwnerWriter")


def _calls(dependant: Dependant) -> list[Any]:
    """Everything that a route depends on."""
    below = [call for inner in dependant.dependencies for call in _calls(inner)]
    return [dependant.call, *below]
