"""Listening for HTTP: where, and how long a connection may take. What is answered is not its concern.

Connections that say nothing count among the connections there may be, so each has a deadline for the head of a request.
Signals stay the business of the program that listens.
"""

import asyncio
import contextlib
import ipaddress
import os
import re
import socket
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.errors import Invalid, Unavailable

MOST_CONNECTIONS = 32
HEAD_SECONDS = 10.0
"""For the head of a request to arrive. A line on which nobody says anything counts among the connections."""
READING_SECONDS = 30.0
"""For the other side to read on in an answer that it asked for."""
LEAVING_SECONDS = 3
"""For requests that are being answered."""
MOST_PORT = 65_535
_LISTEN = re.compile(r"(?:\[(?P<six>[0-9a-fA-F:.]+)\]|(?P<host>[^:\[\]/@\s]+)):(?P<port>\d{1,5})", re.ASCII)

App = Callable[..., Any]
"""What uvicorn runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    connections: int = MOST_CONNECTIONS
    """At once; who comes on top of them is told to come again."""
    head_seconds: float = HEAD_SECONDS
    reading_seconds: float = READING_SECONDS
    leaving_seconds: int = LEAVING_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """Files for TLS."""

    chain: str
    private_key: str


def place_of(listen: str, setting: str, usual: int) -> tuple[str, int]:
    """(host, port) of what stands in a setting; `usual`: the port of the example in the error."""
    found = _LISTEN.fullmatch(listen.strip())
    port = int(found["port"]) if found else 0
    if not found or port > MOST_PORT:
        raise Invalid(f"{setting} is {listen!r}. Write a host and a port, such as 127.0.0.1:{usual}.")
    host = (found["six"] or found["host"]).lower()
    return ("127.0.0.1" if host == "localhost" else host), port


def is_loopback(host: str) -> bool:
    """Whether nobody but this computer can connect there. A name counts as reachable: it may lead anywhere."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address == ipaddress.IPv6Address("::1") or (address.version == 4 and address.is_loopback)


def listener(host: str, port: int, who: str, setting: str, backlog: int = MOST_CONNECTIONS) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=backlog)
    except OSError as error:
        # Python adds the address to the words of a system's error; one of a name that leads nowhere has only its own.
        reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        raise Unavailable(
            f"{who} cannot listen on {host} port {port}: {reason}. Choose another port in {setting}, or end "
            "the program that has it."
        ) from None


async def serve(
    app: App,
    sockets: Sequence[socket.socket],
    limits: Limits | None = None,
    *,
    certificate: Certificate | None = None,
    has_lifespan: bool = False,
) -> None:
    """Until cancelled. Requests that are being answered have some seconds then."""
    import uvicorn

    chosen = limits or Limits()

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Generator[None]:
            """Signals are the daemon's."""
            yield

    config = uvicorn.Config(
        app,
        http=_line(chosen),
        ws="none",
        lifespan="on" if has_lifespan else "off",
        interface="asgi3",
        log_config=None,
        log_level="error",  # What strangers get wrong is nothing to tell the person.
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=chosen.connections,
        timeout_graceful_shutdown=chosen.leaving_seconds,
        ssl_certfile=certificate.chain if certificate else None,
        ssl_keyfile=certificate.private_key if certificate else None,
    )
    server = Server(config)
    serving = asyncio.create_task(server.serve(sockets=list(sockets)))
    try:
        await asyncio.shield(serving)
    finally:
        server.should_exit = True
        await serving


def _line(limits: Limits) -> type[asyncio.Protocol]:
    """How one connection is handled."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Line(H11Protocol):
        """One connection. The library waits for ever for the rest of a head."""

        _patience: asyncio.TimerHandle | None = None
        _unread: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._look()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._look()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._look()
            self._stop_waiting()

        def pause_writing(self) -> None:
            """The other side does not read what it asked for: it keeps the answer in memory only for a while."""
            super().pause_writing()
            self._stop_waiting()
            self._unread = self.loop.call_later(limits.reading_seconds, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            self._stop_waiting()

        def _stop_waiting(self) -> None:
            if self._unread:
                self._unread.cancel()
                self._unread = None

        def _look(self) -> None:
            is_answering = bool(self.cycle) and not self.cycle.response_complete
            is_head_awaited = not is_answering and not self.transport.is_closing()
            if not is_head_awaited and self._patience:
                self._patience.cancel()
                self._patience = None
            elif is_head_awaited and not self._patience:
                self._patience = self.loop.call_later(limits.head_seconds, self.transport.abort)

    return Line
