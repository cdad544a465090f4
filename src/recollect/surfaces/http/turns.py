"""Who is answered at once: so many with one token, the others of it in a line of their own.

What takes long takes a thread. One token gets no more than half of them, whatever it asks, so that there is always one
for somebody else; and what takes longest (SQL, a model that reads hits again) has threads of its own.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar
from starlette.requests import Request

from recollect.errors import Unavailable
from recollect.surfaces.http.asking import secret_of

T = TypeVar("T")
ANSWERING_THREADS = 16
"""Each keeps a connection to the database, and more of them wait for the same processor. Tools of MCP have others."""
RUNNING_OF_ONE = 8
"""Requests with one token that are answered at once."""
WAITING_OF_ONE = 64
"""Requests with one token that wait for those. Each is a connection that nobody else has."""
LONG_THREADS = 2
_answering: RunVar[anyio.CapacityLimiter] = RunVar("recollect_answering")
"""Of the event loop: a server that failed begins another."""


async def in_a_thread(work: Callable[..., T], **given: object) -> T:
    """One of those for answers."""
    try:
        limiter = _answering.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(ANSWERING_THREADS)
        _answering.set(limiter)
    return await anyio.to_thread.run_sync(partial(work, **given), limiter=limiter)


@dataclass(slots=True)
class Line:
    places: anyio.Semaphore
    present: int = 0


@dataclass(slots=True)
class Turns:
    """`running`: so many of one token at once. `waiting`: so many more wait; who comes on top of them is refused. For
    one event loop."""

    running: int = RUNNING_OF_ONE
    waiting: int = WAITING_OF_ONE
    _lines: dict[str, Line] = field(default_factory=dict[str, Line])

    @asynccontextmanager
    async def taken(self, secret: str) -> AsyncGenerator[None]:
        line = self._lines.setdefault(secret, Line(anyio.Semaphore(self.running)))
        if line.present >= self.running + self.waiting:
            raise Unavailable(f"{line.present:,} requests with this token are being answered. Come again later.")
        line.present += 1
        try:
            async with line.places:
                yield
        finally:
            line.present -= 1
            if not line.present:
                self._lines.pop(secret, None)


class LongWork:
    """Threads of its own, and of one token one thing at a time: it keeps nobody waiting but those who ask so, too."""

    def __init__(self, threads: int = LONG_THREADS) -> None:
        self._turns = Turns(running=1)
        self._threads = anyio.CapacityLimiter(threads)
        self._places = anyio.Semaphore(threads)

    async def run(self, request: Request, work: Callable[[], T]) -> T:
        async with self._turns.taken(secret_of(request)), self._places:
            if await request.is_disconnected():  # Who waits behind would wait for an answer that nobody reads.
                raise Unavailable("Who asked has left.")
            return await anyio.to_thread.run_sync(work, limiter=self._threads)
