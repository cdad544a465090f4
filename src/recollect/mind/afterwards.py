"""After each exchange, off the path of its turn: it is indexed, and what can be known of it is learned.

One piece of work at a time for an agent. What is said meanwhile waits in one place, and is done together with whatever
else waits then: a burst of exchanges costs two readings and not twenty. Nothing that fails here reaches a turn. What
was not done when the program ended is made good: a search brings the index up to date, and the librarian reads every
conversation as a whole when it has ended.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from recollect.errors import RecollectError, reason_of

EVENT = "afterwards"
"""Its name in runs: only what failed is told, each reason once until it goes well again."""

Record = Callable[[str, str, float, dict[str, object]], None]


class Reading(Protocol):
    """Who learns from what was just said: the librarian's `Live`."""

    def read(self, message_ids: Sequence[str]) -> object:
        """In a thread, one call at a time."""
        ...

    def stop(self) -> None:
        """From any thread: let `read` end soon, now and whenever it is called."""
        ...


class Afterwards:
    """Used in one event loop."""

    def __init__(self, index: Callable[[], object], reading: Reading, record: Record) -> None:
        """`index`: brings the search index up to date."""
        self._index = index
        self._reading = reading
        self._record = record
        self._waiting: dict[str, None] = {}
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False
        self._told: dict[str, str] = {}

    def after(self, message_ids: Sequence[str]) -> None:
        """These messages are history now. Returns at once."""
        if self._is_closed:
            return
        self._waiting |= dict.fromkeys(message_ids)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work(), name="after an exchange")

    async def settle(self) -> None:
        """Wait until nothing is left to do. Who is cancelled here stops waiting, and the work goes on."""
        while self._task and not self._task.done():
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """What has begun is brought to a quick end, what waits is left."""
        self._is_closed = True
        self._waiting.clear()
        self._reading.stop()
        await self.settle()

    async def _work(self) -> None:
        while self._waiting and not self._is_closed:
            message_ids, self._waiting = list(self._waiting), {}
            await asyncio.to_thread(self._do, message_ids)

    # In a thread

    def _do(self, message_ids: Sequence[str]) -> None:
        self._tried("index", self._index)  # First, as who reads may wait for a model.
        self._tried("read", lambda: self._reading.read(message_ids))
        self._tried("index", self._index)

    def _tried(self, step: str, work: Callable[[], object]) -> None:
        started = time.monotonic()
        try:
            work()
        except Exception as error:  # noqa: BLE001 - the worker goes on, and runs have the reason
            reason = reason_of(error)
            if self._told.get(step) != reason:
                self._told[step] = reason
                with suppress(RecollectError):  # The database may be what fails.
                    self._record(EVENT, "failed", time.monotonic() - started, {"step": step, "reason": reason})
        else:
            self._told.pop(step, None)
