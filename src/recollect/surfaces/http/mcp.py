"""MCP over HTTP: /mcp of the running server, behind its guard (`surfaces/http/guard.py`).

The guard has checked Host, Origin, body and token by then, and left the principal in the state of the request. Each
request acts for its own token, and a session can only be gone on with as who began it. A daemon that no such client
asks does without the SDK.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from recollect.memory import Memory
from recollect.surfaces.http.bodies import MOST_BYTES, read_whole
from recollect.surfaces.http.problems import problem

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"
TOO_MANY = "Who asks has {} sessions open already. End some by DELETE, or wait until they are."
NO_LISTENING = "Nothing is sent here unasked. Send the messages of MCP by POST."


class Endpoint:
    """An ASGI application. `running` is entered once, in the lifespan of the application that has its `route`."""

    def __init__(self, memory: Memory, most_bytes: int = MOST_BYTES) -> None:
        self._memory = memory
        self._most_bytes = most_bytes
        self._wanted: anyio.Event | None = None
        self._ready: anyio.Event | None = None
        self._sessions: StreamableHTTPSessionManager | None = None

    @property
    def route(self) -> Route:
        """It takes every method: which of them are the protocol's is said here and there."""
        return Route(PATH, endpoint=self, include_in_schema=False)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        self._wanted, self._ready = anyio.Event(), anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(self._keep, self._wanted, self._ready)
            yield
            group.cancel_scope.cancel()

    async def _keep(self, wanted: anyio.Event, ready: anyio.Event) -> None:
        """In one task, as what the sessions run in is begun and ended by the same."""
        await wanted.wait()
        sessions = await anyio.to_thread.run_sync(self._open)
        async with sessions.run():
            self._sessions = sessions
            ready.set()
            await anyio.sleep_forever()

    def _open(self) -> "StreamableHTTPSessionManager":
        from recollect.surfaces.http.mcp_sessions import open_sessions

        return open_sessions(self._memory, self._most_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "GET":
            # By it a client of the earlier era listens for what we never send: a line held for nothing.
            refusal = problem(HTTPStatus.METHOD_NOT_ALLOWED, NO_LISTENING, headers={"allow": "POST, DELETE"})
            await refusal(scope, receive, send)
            return
        assert self._wanted
        assert self._ready
        self._wanted.set()
        await self._ready.wait()
        from recollect.surfaces.http.mcp_sessions import MOST_OF_ONE, are_too_many, owned

        assert self._sessions
        if are_too_many(self._sessions, scope):
            refusal = problem(
                HTTPStatus.SERVICE_UNAVAILABLE, TOO_MANY.format(MOST_OF_ONE), headers={"retry-after": "60"}
            )
            await refusal(scope, receive, send)
            return
        if scope["method"] == "POST":
            receive = await _counted(scope, receive, self._most_bytes)
        await self._sessions.handle_request(owned(scope), receive, send)


async def _counted(scope: Scope, receive: Receive, most_bytes: int) -> Receive:
    """The body is read and counted before the SDK parses it, and given to it as one piece."""
    request = Request(scope, receive)
    await read_whole(request, most_bytes)
    pieces = [await request.body()]

    async def again() -> Message:
        if pieces:
            return {"type": "http.request", "body": pieces.pop(), "more_body": False}
        return await receive()

    return again
