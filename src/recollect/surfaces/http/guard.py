"""What stands before every route: Host, Origin, token, rate, body; and what is put on every answer.

The order matters. Who may not connect learns nothing; who is not known costs no reading of a body; a good token is
never kept out by those who guess. The principal is left in the state of the request; of the token a digest is kept.
"""

import asyncio
import hashlib
import hmac
import math
import time
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from http import HTTPStatus
from typing import Any

import anyio
import anyio.to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.access import looks_like_secret
from recollect.access.access import HOUR_CHARACTERS
from recollect.clock import to_text
from recollect.daemon.serving import HOOKS_PATH
from recollect.errors import Denied, RecollectError
from recollect.memory import Memory
from recollect.scopes import Principal
from recollect.surfaces.http import bodies
from recollect.surfaces.http.asking import PRINCIPAL, bearer
from recollect.surfaces.http.places import is_from_elsewhere, is_our_host
from recollect.surfaces.http.problems import Unauthorized, of_error
from recollect.surfaces.http.rates import Buckets
from recollect.surfaces.http.surroundings import Surroundings

OPEN_PATHS = frozenset({"/health", "/openapi.json"})
"""Asked without a token; what they tell without one is nobody's own."""
REQUESTS_PER_SECOND = 200.0
REQUESTS_AT_ONCE = 400.0
FAILURES_PER_SECOND = 1.0
FAILURES_AT_ONCE = 20.0
"""Wrong tokens from one address."""
ASKING_THREADS = 2
"""That find out who asks. Of their own, so that long work keeps nobody before the door."""
MOST_NOTED = 10_000
TOLD_SECONDS = 60.0
"""Between two events of the same failure of the same route."""
HEADERS = {
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}
NO_TOKEN = "Say who asks: Authorization: Bearer TOKEN. `recollect token create` makes a token."  # noqa: S105  no token
WRONG_TOKEN = "Nobody is known by this token: it is wrong, ended or taken back. `recollect token create` makes one."  # noqa: S105


class Guard:
    def __init__(
        self,
        app: ASGIApp,
        memory: Memory,
        surroundings: Surroundings,
        *,
        body_seconds: float = bodies.READING_SECONDS,
        most_bytes: int = bodies.MOST_BYTES,
    ) -> None:
        self._app = app
        self._memory = memory
        self._surroundings = surroundings
        self._names = frozenset(surroundings.hosts)
        self._body_seconds = body_seconds
        self._most_bytes = most_bytes
        self._requests = Buckets(REQUESTS_PER_SECOND, REQUESTS_AT_ONCE)
        self._failures = Buckets(FAILURES_PER_SECOND, FAILURES_AT_ONCE)
        self._limiter: anyio.CapacityLimiter | None = None
        self._noting: anyio.CapacityLimiter | None = None
        self._noted: dict[str, str] = {}
        """Token, by its digest → the hour in which its use was last noted."""
        self._told: dict[tuple[str, str], float] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] != "http":
            await self._app(scope, receive, send)
        else:
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        incoming = bodies.Incoming(receive, self._most_bytes, self._body_seconds)
        is_held_back = "expect" in headers  # Who waits for the answer before it sends has it in any case.
        drain = None if is_held_back else incoming.drain
        outgoing = Outgoing(send, has_body=scope["method"] != "HEAD", drain=drain)
        if scope["method"] == "HEAD":  # A copy: the server has to know what it was.
            scope = {**scope, "method": "GET"}
        try:
            self._check_place(scope, headers)
            secret = await self._find_principal(scope, headers)
            bodies.check_announced(headers.get("content-length"), self._most_bytes)
            scope.setdefault("state", {})[bodies.INCOMING] = incoming
            outgoing.beside = partial(self._note_use, secret)
            await self._app(scope, incoming, outgoing)
            await outgoing.finish()
        except Exception as error:  # noqa: BLE001  the HTTP boundary: one request that breaks stops no other
            if not isinstance(error, RecollectError | HTTPException):
                await self._tell_broken(scope, error)
            if not outgoing.has_begun:
                await of_error(error)(scope, receive, outgoing)

    def _check_place(self, scope: Scope, headers: Headers) -> None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not is_our_host(hosts[0], self._names):
            raise HTTPException(421, "This server is not known by that name. Its names are those of http.hosts.")
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if is_from_elsewhere(scope["method"], hosts[0], scope.get("scheme", "http"), origin, site):
            raise Denied("Another page than one of this server asks. Ask without an Origin, from a program.")

    # Who asks

    async def _find_principal(self, scope: Scope, headers: Headers) -> str:
        """Left in the state of the request; the token by which it was found, if there was one."""
        path: str = scope["path"]
        given = headers.getlist("authorization")
        if not given and path in OPEN_PATHS:
            return ""
        secret = bearer(given)
        state = scope.setdefault("state", {})
        if path.startswith(HOOKS_PATH):
            if not self._surroundings.hook_secret or not hmac.compare_digest(
                secret.encode(), self._surroundings.hook_secret.encode()
            ):
                raise self._unknown(scope, secret)
            return ""
        principal = await self._holder(secret) if looks_like_secret(secret) else None
        if principal is None:
            raise self._unknown(scope, secret)
        wait = self._requests.take(hashlib.sha256(secret.encode()).hexdigest())
        if wait:
            raise _too_many("This token asks too often", wait)
        state[PRINCIPAL] = principal
        return secret

    async def _note_use(self, secret: str) -> None:
        """Beside the answer, once an hour for each token: it waits for whoever writes, and nobody waits for it."""
        hour = to_text(self._memory.clock())[:HOUR_CHARACTERS]
        digest = hashlib.sha256(secret.encode()).hexdigest()
        if not secret or self._noted.get(digest) == hour:
            return
        if len(self._noted) >= MOST_NOTED:
            self._noted.clear()
        self._noted[digest] = hour
        if self._noting is None:
            self._noting = anyio.CapacityLimiter(1)
        await anyio.to_thread.run_sync(self._memory.access.note_use, secret, limiter=self._noting)

    async def _holder(self, secret: str) -> Principal | None:
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(ASKING_THREADS)
        return await anyio.to_thread.run_sync(self._memory.access.holder, secret, limiter=self._limiter)

    def _unknown(self, scope: Scope, secret: str) -> Exception:
        """Counted for each address. A good token from there is not kept out: it does not come here."""
        client = scope.get("client")
        wait = self._failures.take(client[0] if client else "")
        if wait:
            return _too_many("There were many wrong tokens from this address", wait)
        return Unauthorized(WRONG_TOKEN if secret else NO_TOKEN)

    async def _tell_broken(self, scope: Scope, error: Exception) -> None:
        """The kind and the route alone: its words may be somebody's own."""
        route = scope.get("route")
        told: dict[str, object] = {
            "route": getattr(route, "path", ""),
            "method": scope["method"],
            "error": type(error).__name__,
        }
        what, now = (str(told["route"]), str(told["error"])), time.monotonic()
        if now - self._told.get(what, -TOLD_SECONDS) < TOLD_SECONDS:
            return
        self._told[what] = now
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._record, told)

    def _record(self, told: dict[str, object]) -> None:
        try:
            self._memory.runs.record("http", "failed", 0.0, told)
        except RecollectError:  # The database may be what is broken.
            return


class Outgoing:
    """`send` of an application, with the headers that every answer has. Without a body, which is who asked with HEAD,
    also a stream ends after them. `drain`: what is still sent to us, before the answer that it is too large ends."""

    def __init__(
        self, send: Send, *, has_body: bool = True, drain: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._send = send
        self._has_body = has_body
        self._drain = drain
        self._is_too_large = False
        self.has_begun = False
        self._has_ended = False
        self.beside: Callable[[], Coroutine[Any, Any, None]] | None = None
        """What is to be done when the answer begins: a stream may never end."""
        self._work: asyncio.Task[None] | None = None

    async def finish(self) -> None:
        if self._work:
            await self._work

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            if self.beside:
                self._work = asyncio.create_task(self.beside())
            self._is_too_large = message["status"] == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        elif not self._has_body:
            if self._has_ended:
                return
            self._has_ended = True
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        elif self._is_too_large and self._drain:
            await self._send({**message, "more_body": True})
            await self._drain()
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await self._send(message)


def _too_many(words: str, wait: float) -> HTTPException:
    again = str(math.ceil(wait))
    return HTTPException(HTTPStatus.TOO_MANY_REQUESTS, f"{words}. Come again in {again} s.", {"retry-after": again})
