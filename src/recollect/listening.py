"""Listening for HTTP: where, how many may connect, and how long a connection may take. What is answered is not its
concern.

Connections that say nothing count among the connections there may be, so each has a deadline for the head of a request,
and for the handshake of TLS before it. Somewhat more than may be are let in to be told so; the others are closed
at once, as each is an open file of the process. Signals stay the business of the program that listens.
"""

import asyncio
import contextlib
import ipaddress
import json
import os
import re
import socket
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from recollect.errors import Invalid, Unavailable

if TYPE_CHECKING:
    import h11

MOST_CONNECTIONS = 32
TOLD_CONNECTIONS = 32
"""Beyond the most: they are told to come again. Any more are closed."""
FEWEST_CONNECTIONS = 8
"""However few files there may be."""
OTHER_FILES = 192
"""Of the process: what it reads and watches, and the connections to the database of threads that answer."""
WANTED_FILES = 4_096
AGAIN_SECONDS = 5
ACCEPT_AGAIN_SECONDS = 0.1
"""After a connection could not be taken: there was no file left for it, or it was gone."""
HEAD_SECONDS = 10.0
"""For the head of a request to arrive. A line on which nobody says anything counts among the connections."""
READING_SECONDS = 30.0
"""For the other side to read on in an answer that it asked for."""
LEAVING_SECONDS = 3
"""For requests that are being answered."""
MOST_PORT = 65_535
_LISTEN = re.compile(r"(?:\[(?P<six>[0-9a-fA-F:.]+)\]|(?P<host>[^:\[\]/@\s]+)):(?P<port>\d{1,5})", re.ASCII)
_NAME = re.compile(r"[a-z0-9._-]+")

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


def check_certificate(certificate: Certificate) -> None:
    """Before anybody is told that it listens. A key with a password is refused: nobody may be there to say it."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate.chain, certificate.private_key, password=lambda: b"")
    except (OSError, ValueError) as error:
        reason = str(getattr(error, "reason", None) or "").replace("_", " ").lower()
        raise Invalid(
            f"{certificate.chain} and {certificate.private_key} are no certificate with its private key, as PEM and "
            f"without a password{f' ({reason})' if reason else ''}. Give the chain as the certificate, and the key "
            "that belongs to it as the private key."
        ) from None


def place_of(listen: str, setting: str, usual: int) -> tuple[str, int]:
    """(host, port) of what stands in a setting; `usual`: the port of the example in the error."""
    found = _LISTEN.fullmatch(listen.strip())
    port = int(found["port"]) if found else 0
    if not found or port > MOST_PORT:
        raise Invalid(f"{setting} is {listen!r}. Write a host and a port, such as 127.0.0.1:{usual}.")
    host = (found["six"] or found["host"]).lower()
    return ("127.0.0.1" if host == "localhost" else host), port


def split_host(host: str) -> tuple[str, int | None] | None:
    """(`localhost`, 7717) of `localhost:7717`, as a request names it; an IPv6 address stands in brackets. None: it is
    no such thing."""
    if not host or any(sign in host for sign in "/@?#\\ ,") or not host.isascii():
        return None
    try:
        parts = urlsplit(f"//{host}")
        return ((parts.hostname or "").removesuffix("."), parts.port) if parts.hostname else None
    except ValueError:
        return None


def name_of(host: str, setting: str) -> str:
    """The name of `host` in a setting, as it is compared with that of a request."""
    bare = host.strip()
    found = split_host(f"[{bare}]" if bare.count(":") > 1 and not bare.startswith("[") else bare)
    if not found or not (_NAME.fullmatch(found[0]) or ":" in found[0]):
        raise Invalid(
            f"{setting} has {host!r}, which is no name of a host. Write what stands in the address between // and the "
            "next colon or slash, such as house.example; letters beyond ASCII as xn--…"
        )
    return found[0]


def is_loopback(host: str) -> bool:
    """Whether nobody but this computer can connect there. A name counts as reachable: it may lead anywhere."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address == ipaddress.IPv6Address("::1") or (address.version == 4 and address.is_loopback)


def allow_more_files() -> None:
    """As far as this process may: a Mac begins with 256, and anybody on the computer can take a connection's worth."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # Windows has none.

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = WANTED_FILES if hard == resource.RLIM_INFINITY else min(WANTED_FILES, hard)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def connections_for_files(most: int) -> int:
    """No more than leave enough files to all else."""
    try:
        import resource

        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    except ImportError:
        return most
    if files == resource.RLIM_INFINITY:
        return most
    return min(most, max(FEWEST_CONNECTIONS, files - OTHER_FILES - TOLD_CONNECTIONS))


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
        """The library takes whoever comes, and waits a minute for the handshake of TLS."""

        _doors: Sequence[asyncio.Task[None]] = ()

        @contextlib.contextmanager
        def capture_signals(self) -> Generator[None]:
            """Signals are the daemon's."""
            yield

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=[])
            self._doors = [asyncio.create_task(self._let_in(place)) for place in sockets or ()]

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await _end(self._doors)
            await super().shutdown(sockets)

        async def _let_in(self, place: socket.socket) -> None:
            loop, greeted = asyncio.get_running_loop(), set[asyncio.Task[None]]()
            place.setblocking(False)
            try:
                while True:
                    await asyncio.sleep(0)  # A crowd keeps nobody waiting who is in.
                    try:
                        connection, _ = await loop.sock_accept(place)
                    except OSError:
                        await asyncio.sleep(ACCEPT_AGAIN_SECONDS)
                        continue
                    if len(self.server_state.connections) + len(greeted) >= chosen.connections + TOLD_CONNECTIONS:
                        connection.close()
                        continue
                    greeting = asyncio.create_task(self._greet(connection))
                    greeted.add(greeting)
                    greeting.add_done_callback(greeted.discard)
            finally:
                await _end(list(greeted))

        async def _greet(self, connection: socket.socket) -> None:
            """Until it is a line that counts among the connections."""
            loop = asyncio.get_running_loop()
            times = {"ssl_handshake_timeout": chosen.head_seconds, "ssl_shutdown_timeout": chosen.leaving_seconds}
            try:
                await loop.connect_accepted_socket(
                    self._new_line, connection, ssl=self.config.ssl, **(times if self.config.ssl else {})
                )
            except OSError:  # It left, or does not speak TLS.
                connection.close()

        def _new_line(self) -> asyncio.Protocol:
            line: Any = self.config.http_protocol_class
            return line(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        is_full = len(server.server_state.connections) > chosen.connections
        await (_refuse if is_full and scope["type"] == "http" else app)(scope, receive, send)

    config = uvicorn.Config(
        answer,
        http=_line(chosen),
        ws="none",
        lifespan="on" if has_lifespan else "off",
        interface="asgi3",
        log_config=None,
        log_level="error",  # What strangers get wrong is nothing to tell the person.
        access_log=False,
        proxy_headers=False,
        server_header=False,
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


async def _end(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _problem(status: int, title: str, detail: str) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """(headers, body) of a refusal, as every other is told. The line is closed after it."""
    kind = title.lower().replace(" ", "-")
    body = json.dumps({"type": f"urn:recollect:{kind}", "title": title, "status": status, "detail": detail}).encode()
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
    ]
    return headers, body


async def _refuse(scope: Any, receive: Any, send: Any) -> None:
    headers, body = _problem(503, "Service Unavailable", "There are as many connections as may be. Come again later.")
    again = (b"retry-after", b"%d" % AGAIN_SECONDS)
    await send({"type": "http.response.start", "status": 503, "headers": [*headers, again]})
    await send({"type": "http.response.body", "body": body})


def _tell_malformed(connection: "h11.Connection", transport: asyncio.Transport) -> None:
    import h11

    headers, body = _problem(400, "Bad Request", "This is no request of HTTP.")
    begin = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
    with contextlib.suppress(h11.LocalProtocolError):  # An answer has begun: there is no room for another.
        for event in (begin, h11.Data(data=body), h11.EndOfMessage()):
            transport.write(connection.send(event) or b"")
    transport.close()


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

        def send_400_response(self, msg: str) -> None:
            _tell_malformed(self.conn, self.transport)

        def _look(self) -> None:
            is_answering = bool(self.cycle) and not self.cycle.response_complete
            is_head_awaited = not is_answering and not self.transport.is_closing()
            if not is_head_awaited and self._patience:
                self._patience.cancel()
                self._patience = None
            elif is_head_awaited and not self._patience:
                self._patience = self.loop.call_later(limits.head_seconds, self.transport.abort)

    return Line
