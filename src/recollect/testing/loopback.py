"""A small HTTP/1.1 server on 127.0.0.1, for servers that stand in for a provider in tests.

It keeps the requests, sends what `answer` gives, whole or in pieces, and breaks the line where a `Response` says so.
What the requests mean is the business of its subclasses. Nobody but this computer can reach it, and leaving it ends all
of its connections and threads, also those that still wait.
"""

import itertools
import json
import socket
import socketserver
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from types import TracebackType
from typing import Any, ClassVar, Self, cast
from urllib.parse import parse_qsl, urlsplit

BEFORE_ANYTHING = -1
"""As `Response.hang_up_after`: the line breaks before even the status is sent."""
MOST_BODY_BYTES = 64 * 1024 * 1024
POLL_SECONDS = 0.01
"""How long leaving may wait for the thread that accepts connections."""
HEX = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    method: str
    path: str
    """Without the query."""
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """Names in lower case."""
    raw: bytes
    number: int = 0
    """In order of arrival, from 1."""

    @property
    def body(self) -> Any:
        """The JSON that was sent; None where there was none or it is broken."""
        try:
            return json.loads(self.raw) if self.raw else None
        except ValueError:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What goes out, and how the line behaves meanwhile."""

    status: int = 200
    body: bytes | Iterable[bytes] = b""
    """Bytes go out with their length; pieces go out one by one, chunked."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    wait_seconds: float = 0
    """Before the status: a server that thinks. Leaving the server ends the wait."""
    pause_seconds: float = 0
    """Before each piece: a slow drip."""
    hang_up_after: int | None = None
    """Pieces after which the line breaks (`BEFORE_ANYTHING`: there is no status either). None: it holds."""
    begun: Callable[[], None] | None = None
    """Called right before the status goes out."""


def as_json(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    raw = json.dumps(value, ensure_ascii=False).encode()
    return Response(status=status, body=raw, headers={"content-type": "application/json", **(headers or {})})


class LoopbackServer:
    """`with SomeServer() as server:` – then `server.url` is where to send requests.

    A subclass gives `answer`; it is called in the thread of its connection, several at a time.
    """

    def __init__(self, *, keeps_requests: int | None = None) -> None:
        """`keeps_requests`: only so many of the last, for runs of thousands. None: all of them."""
        self.requests: list[Request] = []
        """In order of arrival, refused ones too. Whole ones alone: what a killed program had sent of one is none."""
        self._keeps_requests = keeps_requests
        self._request_numbers = itertools.count(1)
        self._requests_lock = threading.Lock()
        self.url = ""
        self._steps: deque[object] = deque()
        self._steps_lock = threading.Lock()
        self._listener: _Listener | None = None
        self._thread: threading.Thread | None = None

    def script(self, *steps: Any) -> Self:
        """What happens at the next requests that ask a model something, one step for each; then all is well again.
        Which steps there are, the subclass says; a `Response` is always one."""
        with self._steps_lock:
            self._steps.extend(steps)
        return self

    @property
    def unused_steps(self) -> int:
        return len(self._steps)

    def next_step(self) -> object | None:
        with self._steps_lock:
            return self._steps.popleft() if self._steps else None

    def received(self, request: Request) -> Request:
        """With its number."""
        with self._requests_lock:
            numbered = replace(request, number=next(self._request_numbers))
            self.requests.append(numbered)
            if self._keeps_requests is not None:
                del self.requests[: max(0, len(self.requests) - self._keeps_requests)]
        return numbered

    def answer(self, request: Request) -> Response:
        """For who stands in for a provider to say."""
        return Response(status=404)

    def __enter__(self) -> Self:
        self._listener = _Listener(self)
        self.url = f"http://127.0.0.1:{self._listener.server_address[1]}"
        self._thread = threading.Thread(
            target=self._listener.serve_forever,
            args=(POLL_SECONDS,),
            daemon=True,
            name=f"{type(self).__name__} accepts",
        )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._listener and self._thread:
            self._listener.shutdown()
            self._thread.join()
            self._listener.hang_up_all()
            self._listener.server_close()
        self._listener = self._thread = None


class _Listener(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = False
    block_on_close = True
    """`server_close` waits for the threads: none of them outlives the test."""
    request_queue_size = 128

    def __init__(self, owner: LoopbackServer) -> None:
        self.owner = owner
        self.is_leaving = threading.Event()
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Connection)

    def opened(self, line: socket.socket) -> None:
        with self._lock:
            self._open.add(line)
        if self.is_leaving.is_set():  # Accepted at the last moment.
            _shut(line)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up_all(self) -> None:
        self.is_leaving.set()
        with self._lock:
            for line in self._open:
                _shut(line)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error; a bug in `answer` is told to the client (`_Connection`)."""


class _CutShort(ConnectionError):
    """Its sender died in the middle of it: nothing was asked, and nobody is there to be answered."""


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm: ClassVar[bool] = True
    """Small pieces leave at once: otherwise each waits 40 ms for the other side."""

    def setup(self) -> None:
        super().setup()
        self._listener.opened(self.connection)

    @property
    def _listener(self) -> _Listener:
        return cast(_Listener, self.server)

    def _handle(self) -> None:
        request = self._listener.owner.received(self._request())
        try:
            response = self._listener.owner.answer(request)
        except Exception as error:  # noqa: BLE001  the HTTP boundary: the test shall see it, not the console
            response = as_json({"error": {"type": "api_error", "message": f"bug in the test server: {error!r}"}}, 500)
        self._send(response)

    do_GET = do_POST = do_HEAD = do_DELETE = do_PUT = do_PATCH = do_OPTIONS = _handle  # noqa: N815

    def _request(self) -> Request:
        parts = urlsplit(self.path)
        return Request(
            method=self.command,
            path=parts.path,
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            headers={name.lower(): value for name, value in self.headers.items()},
            raw=self._body(),
        )

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return b"".join(self._chunks())
        return self._read(min(int(self.headers.get("Content-Length") or 0), MOST_BODY_BYTES))

    def _chunks(self) -> Iterable[bytes]:
        while size := int(self._line().split(b";")[0], HEX):
            yield self._read(size)
            self._line()
        self._line()

    def _read(self, size: int) -> bytes:
        found = self.rfile.read(size)
        if len(found) < size:
            raise _CutShort
        return found

    def _line(self) -> bytes:
        line = self.rfile.readline()
        if not line.endswith(b"\n"):
            raise _CutShort
        return line

    def _send(self, response: Response) -> None:
        if response.wait_seconds and self._listener.is_leaving.wait(response.wait_seconds):
            return self._hang_up()
        if response.hang_up_after == BEFORE_ANYTHING:
            return self._hang_up()
        if response.begun:
            response.begun()
        body = response.body
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if isinstance(body, bytes):
            self.send_header("Content-Length", str(len(body)))
        else:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if self.command == "HEAD":
            return None
        if isinstance(body, bytes):
            return self._send_pieces([body], response, is_chunked=False)
        return self._send_pieces(body, response, is_chunked=True)

    def _send_pieces(self, pieces: Iterable[bytes], response: Response, *, is_chunked: bool) -> None:
        for number, piece in enumerate(pieces):
            if response.hang_up_after == number:
                return self._hang_up()
            if response.pause_seconds and self._listener.is_leaving.wait(response.pause_seconds):
                return self._hang_up()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if is_chunked else piece)
        if response.hang_up_after is not None:
            return self._hang_up()
        if is_chunked:
            self.wfile.write(b"0\r\n\r\n")
        return None

    def _hang_up(self) -> None:
        self.close_connection = True
        _shut(self.connection)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name of the standard library
        pass


def _shut(line: socket.socket) -> None:
    with suppress(OSError):  # The other side was quicker.
        line.shutdown(socket.SHUT_RDWR)
