"""The SDK's side of MCP over HTTP: loaded when the first client comes, as it takes half a second and some memory."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import Scope

from recollect.asking import Question, answer
from recollect.memory import Memory
from recollect.scopes import Principal
from recollect.surfaces.http.asking import PRINCIPAL, secret_of
from recollect.surfaces.http.turns import WAITING_OF_ONE, Turns
from recollect.surfaces.mcp.forgetting import identity_of
from recollect.surfaces.mcp.server import House, build_server

MOST_SESSIONS = 1_000
MOST_OF_ONE = 64
"""Sessions of one principal."""
RUNNING_OF_ONE = 4
"""Calls with one token that are answered at once: half of the threads."""
IDLE_SECONDS = 1_800
"""Then a client of the earlier era begins a new session."""


def open_sessions(memory: Memory, most_bytes: int) -> StreamableHTTPSessionManager:
    """The guard has checked Host and Origin: the SDK's own checks are off, so that there are not two opinions."""

    def seen(ctx: ServerRequestContext[Any, Any]) -> Memory:
        request: Any = ctx.request
        return memory.acting_for(_principal_of(request.scope))

    turns = Turns(running=RUNNING_OF_ONE, waiting=WAITING_OF_ONE)

    def turn(ctx: ServerRequestContext[Any, Any]) -> AbstractAsyncContextManager[None]:
        request: Any = ctx.request
        return turns.taken(secret_of(request))

    return StreamableHTTPSessionManager(
        app=build_server(House(seen=seen, search=_search, turn=turn)),
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        session_idle_timeout=IDLE_SECONDS,
        max_request_body_size=most_bytes,
        max_sessions=MOST_SESSIONS,
    )


def owned(scope: Scope) -> Scope:
    """A request as the SDK knows who makes it: it lets nobody go on with somebody else's session."""
    owner = AccessToken(token="", client_id=identity_of(_principal_of(scope)), scopes=[])
    return {**scope, "user": AuthenticatedUser(owner)}


def are_too_many(sessions: StreamableHTTPSessionManager, scope: Scope) -> bool:
    """Whether a request that may begin a session comes from one who has enough of them: the rest is for others. The SDK
    counts all of them together, and knows whose each is."""
    headers = Headers(scope=scope)
    # Of a header that comes twice the SDK reads the first, and so does this.
    version = headers.get("mcp-protocol-version")
    if "mcp-session-id" in headers or (version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS):
        return False
    own = identity_of(_principal_of(scope))
    owners = sessions._session_owners  # pyright: ignore[reportPrivateUsage]
    return sum(owner["client_id"] == own for owner in list(owners.values())) >= MOST_OF_ONE


def _principal_of(scope: Scope) -> Principal:
    """A request that did not come by the guard has none, and ends here."""
    return scope["state"][PRINCIPAL]


def _search(memory: Memory, question: Question) -> dict[str, Any]:
    return answer(memory, question)
