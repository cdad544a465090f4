"""MCP over standard input and output: for a program that starts us, and ends us by closing our input.

On standard output there is nothing but the protocol; whatever else would be written there goes to standard error.
When the input ends, what was asked until then is answered; at SIGTERM what is being done is done to its end, and
nothing more is said.
"""

import asyncio
import json
import os
import re
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any, cast

import anyio
import anyio.to_thread
import msgspec
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError, JSONRPCRequest, JSONRPCResponse, jsonrpc_message_adapter
from pydantic import ValidationError

from recollect.asking import Daemon, Question, answer
from recollect.memory import Memory
from recollect.surfaces.mcp.server import House, build_server

LEAVING_SECONDS = 10
"""For what was asked before the input ended."""
WORKING_THREADS = 5
"""For all but searches. Each keeps a connection to the database."""
SEARCHING_THREADS = 3
"""A search may wait long, for a daemon that hangs."""
BLOCK_BYTES = 1 << 16
MOST_LINE_BYTES = 16_000_000
"""More is no message of this protocol: it is dropped up to its end, and answered."""
MOST_END_BYTES = 1_000
"""Of what is dropped: kept of its beginning and its end, where a request has its id."""
TOO_LONG = f"That is no request: it has more than {MOST_LINE_BYTES:,} bytes."
NO_REQUEST = (
    'That is no request: it has "jsonrpc": "2.0", an id that is a text or a whole number, and params in an object.'
)
CANCELLED = "notifications/cancelled"
MOST_WAITING = 64
"""Blocks that are read ahead."""


def serve(memory: Memory) -> None:
    """Until the input ends, as the principal of `memory`."""
    asyncio.run(_serve(memory))


async def _serve(memory: Memory) -> None:
    anyio.to_thread.current_default_thread_limiter().total_tokens = WORKING_THREADS
    daemon = Daemon(memory.settings)
    searching = anyio.CapacityLimiter(SEARCHING_THREADS)
    server = build_server(House(seen=lambda _: memory, search=partial(_search, daemon), searching=searching))
    unanswered = Unanswered()
    lines = Lines(sys.stdin.fileno(), unanswered, at_end=daemon.leave)
    with anyio.CancelScope() as scope:
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError):  # Not on every system.
            loop.add_signal_handler(signal.SIGTERM, lambda: (daemon.leave(), scope.cancel()))
        # The library would read in a thread that nothing can end while the input is silent.
        async with stdio_server(stdin=cast(Any, lines)) as (incoming, outgoing):
            answers = Answers(outgoing, unanswered)
            lines.answers.set_result(answers)
            await server.run(incoming, answers, server.create_initialization_options())


def _search(daemon: Daemon, memory: Memory, question: Question) -> dict[str, Any]:
    """By the daemon of this home, which has its models loaded; else here."""
    found = daemon.ask(question)
    return answer(memory, question) if found is None else found


class Named(msgspec.Struct):
    requestId: str | int | float | None = None  # noqa: N815  the protocol's own


class Head(msgspec.Struct):
    """Of a message: what tells a request from all else."""

    id: str | int | float | None = None
    method: str = ""


class Cancelling(msgspec.Struct):
    params: Named = msgspec.field(default_factory=Named)


class Unanswered:
    """The requests that wait for their answers. The library would drop them when the input ends."""

    def __init__(self) -> None:
        self._ids: set[object] = set()
        self._changed = anyio.Event()

    def note(self, line: bytes) -> None:
        with suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
            head = msgspec.json.decode(line, type=Head)
            if head.method == CANCELLED:  # It gets no answer any more.
                self.drop(msgspec.json.decode(line, type=Cancelling).params.requestId)
            elif head.method and head.id is not None:
                self._ids.add(head.id)

    def drop(self, name: object) -> None:
        self._ids.discard(name)
        self._changed.set()
        self._changed = anyio.Event()

    async def none_left(self) -> None:
        with anyio.move_on_after(LEAVING_SECONDS):
            while self._ids:
                await self._changed.wait()


class Answers:
    """Where the server writes: as it is, and told to who waits for it."""

    def __init__(self, stream: Any, unanswered: Unanswered) -> None:
        """`stream`: of a type that is the library's own."""
        self._stream = stream
        self._unanswered = unanswered

    async def send(self, item: SessionMessage, /) -> None:
        await self._stream.send(item)
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._unanswered.drop(item.message.id)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> "Answers":
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


class Lines:
    """The lines of a file, read by a thread that ends with the program. `async for` gives them as text.

    A request that is none of the protocol is answered here: the library would drop it without a word."""

    def __init__(self, descriptor: int, unanswered: Unanswered, at_end: Callable[[], object]) -> None:
        """`at_end`: called when nobody waits for an answer any more."""
        self._descriptor = descriptor
        self._unanswered = unanswered
        self._at_end = at_end
        self._loop = asyncio.get_running_loop()
        self._blocks: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = threading.Semaphore(MOST_WAITING)
        self.answers: asyncio.Future[Answers] = self._loop.create_future()

    def __aiter__(self) -> AsyncIterator[str]:
        threading.Thread(target=self._read, name="input", daemon=True).start()
        return self._lines()

    def _read(self) -> None:
        block = b"-"
        while block:
            self._room.acquire()
            try:
                block = os.read(self._descriptor, BLOCK_BYTES)
            except OSError:  # It was closed, or never was.
                block = b""
            try:
                self._loop.call_soon_threadsafe(self._blocks.put_nowait, block)
            except RuntimeError:  # The loop has ended.
                return

    async def _lines(self) -> AsyncIterator[str]:
        rest = bytearray()
        first = b""
        """Of a line that is dropped."""
        while block := await self._blocks.get():
            self._room.release()
            *whole, last = block.split(b"\n")
            for end in whole:
                rest += end
                line, rest = bytes(rest), bytearray()
                if first or len(line) > MOST_LINE_BYTES:
                    await self._refuse(too_long(first or line, line))
                elif text := await self._noted(line):
                    yield text
                first = b""
            rest += last
            if len(rest) > MOST_LINE_BYTES or (first and len(rest) > MOST_END_BYTES):
                first = first or bytes(rest[:MOST_END_BYTES])
                del rest[:-MOST_END_BYTES]
        if first:
            await self._refuse(too_long(first, bytes(rest)))
        elif rest and (text := await self._noted(bytes(rest))):
            yield text
        await self._unanswered.none_left()
        self._at_end()

    async def _refuse(self, refusal: JSONRPCError) -> None:
        await (await self.answers).send(SessionMessage(refusal))

    async def _noted(self, line: bytes) -> str:
        """Empty: there is nothing in it for the library."""
        text = readable(line).strip()
        refusal = refusal_of(text)
        if refusal is None:
            self._unanswered.note(text.encode())
            return text
        await self._refuse(refusal)
        return ""


def refusal_of(text: str) -> JSONRPCError | None:
    """The answer to a request that has no form of the protocol."""
    try:
        head = msgspec.json.decode(text, type=Head)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    if not head.method or head.id is None:
        return None
    with suppress(ValidationError):
        if isinstance(jsonrpc_message_adapter.validate_json(text), JSONRPCRequest):
            return None
    name = None if isinstance(head.id, float) else head.id
    return JSONRPCError(jsonrpc="2.0", id=name, error=ErrorData(code=INVALID_REQUEST, message=NO_REQUEST))


_NAME = rb'"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,18})\s*'
_OTHERS = rb'"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*'
_FIRST_NAME = re.compile(rb"\s*\{\s*(?:" + _OTHERS + rb",\s*)*" + _NAME + rb",")
_LAST_NAME = re.compile(rb",\s*" + _NAME + rb"(?:,\s*" + _OTHERS + rb")*\}\s*\Z")
"""Where only members of the message itself stand before it, or behind it."""


def too_long(first: bytes, last: bytes) -> JSONRPCError:
    """The answer to a message that is dropped, by its beginning and its end, as far as they tell its id."""
    found = _FIRST_NAME.match(first) or _LAST_NAME.search(last[-MOST_END_BYTES:])
    name: str | int | None = None
    if found:
        with suppress(msgspec.MsgspecError, UnicodeError):
            name = msgspec.json.decode(found[1], type=str | int)
    return JSONRPCError(jsonrpc="2.0", id=name, error=ErrorData(code=INVALID_REQUEST, message=TOO_LONG))


def readable(line: bytes) -> str:
    """As text that every reader of JSON takes. Half of a pair (`\\ud83d`), which a client may cut off, would make the
    library drop the whole message."""
    text = line.decode("utf-8", "replace")
    if r"\ud" in text.lower():
        with suppress(ValueError, RecursionError):
            whole = json.dumps(json.loads(text), ensure_ascii=False)
            return whole.encode("utf-8", "replace").decode()
    return text
