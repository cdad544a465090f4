"""Where the webhook listens: on this computer alone."""

import asyncio
import contextlib
import ipaddress
import re
import socket
from collections.abc import Generator
from typing import TYPE_CHECKING

from recollect.errors import Invalid, Unavailable

if TYPE_CHECKING:
    from starlette.applications import Starlette

MOST_CONNECTIONS = 32
"""At once; each may hold a whole message in memory. Who comes on top of them is told to come again."""
HEAD_SECONDS = 10.0
"""For the head of a request to arrive. A line on which nobody says anything counts among the connections."""
LEAVING_SECONDS = 3
"""For requests that are being answered."""
MOST_PORT = 65_535
_LISTEN = re.compile(r"(?:\[(?P<six>[0-9a-fA-F:.]+)\]|(?P<host>[^:\[\]/@\s]+)):(?P<port>\d{1,5})", re.ASCII)


def listening_place(listen: str) -> tuple[str, int]:
    """(host, port) of `webhook.listen`. Nothing but this computer: what comes from elsewhere has to come by TLS, and
    that is another program's work."""
    found = _LISTEN.fullmatch(listen.strip())
    port = int(found["port"]) if found else 0
    if not found or port > MOST_PORT:
        raise Invalid(f"webhook.listen is {listen!r}. Write a host and a port, such as 127.0.0.1:8765.")
    host = (found["six"] or found["host"]).lower()
    if host == "localhost":
        return "127.0.0.1", port
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        address = None
    if address is None or not (
        address == ipaddress.IPv6Address("::1") or (address.version == 4 and address.is_loopback)
    ):
        raise Invalid(
            f"webhook.listen is {listen!r}, which others than this computer could reach, without TLS. Write "
            f"127.0.0.1:{port} and put a proxy that has TLS in front, such as Caddy, nginx or a tunnel."
        )
    return str(address), port


def listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=MOST_CONNECTIONS)
    except OSError as error:
        raise Unavailable(
            f"The webhook cannot listen on {host} port {port}: {error.strerror}. Choose another port in "
            "webhook.listen, or end the program that has it."
        ) from None


async def serve(app: "Starlette", listening: socket.socket, head_seconds: float = HEAD_SECONDS) -> None:
    """Until cancelled. Requests that are being answered have some seconds then."""
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Generator[None]:
            """Signals are the daemon's."""
            yield

    class Line(H11Protocol):
        """One connection. The library waits for ever for the rest of a head."""

        _patience: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._look()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._look()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._look()

        def _look(self) -> None:
            is_answering = bool(self.cycle) and not self.cycle.response_complete
            is_head_awaited = not is_answering and not self.transport.is_closing()
            if not is_head_awaited and self._patience:
                self._patience.cancel()
                self._patience = None
            elif is_head_awaited and not self._patience:
                self._patience = self.loop.call_later(head_seconds, self.transport.close)

    config = uvicorn.Config(
        app,
        http=Line,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level="error",  # What strangers get wrong is nothing to tell the person.
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=LEAVING_SECONDS,
    )
    server = Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        await asyncio.shield(serving)
    finally:
        server.should_exit = True
        await serving
