"""A house that is only served: the HTTP server in a thread of its own, while this one waits for signals."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable
from types import FrameType

from recollect.daemon.daemon import KILLED, LAST_SECONDS, STOP_SECONDS
from recollect.daemon.serving import MOST_CONNECTIONS, listening_of, serve_until
from recollect.listening import listener
from recollect.loading import load_parts
from recollect.memory import Memory
from recollect.settings import Settings
from recollect.supervision import Shift, Supervised, begin_apart, end_all, end_by_signals
from recollect.surfaces.http.opening import app_alone

UNLOAD_SECONDS = 30.0
"""Between two looks for models that nobody uses any more."""


class Alone:
    def __init__(self, memory: Memory, settings: Settings, give_up: Callable[[int], None]) -> None:
        """`settings`: those of the command. `give_up`: ends the process with this exit code at once. A port that
        somebody else has is told now."""
        load_parts()
        self._memory = memory
        self._settings = settings
        self._give_up = give_up
        self._where = listening_of(settings)
        self._first: socket.socket | None = self._listen()
        self.address = self._where.address(self._first.getsockname()[1])
        self._stop = threading.Event()
        self._stopped_at = 0.0
        self._parts = [Supervised("http", self._serve), Supervised("models", self._unload)]

    def run(self) -> list[str]:
        """Until a signal comes; what did not end in time."""
        end_by_signals(self._on_signal)
        for part in self._parts:
            part.start()
        self._stop.wait()
        return end_all(self._parts, self._stopped_at + STOP_SECONDS)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._stopped_at:
            self._give_up(KILLED + number)
        self._stopped_at = time.monotonic()
        begin_apart(self._end)

    def _end(self) -> None:
        self._stop.set()
        time.sleep(STOP_SECONDS + LAST_SECONDS)
        self._give_up(0)

    def _listen(self) -> socket.socket:
        return listener(self._where.host, self._where.port, "The HTTP server", "--listen", MOST_CONNECTIONS)

    def _serve(self, shift: Shift) -> None:
        asyncio.run(self._live(shift))

    async def _live(self, shift: Shift) -> None:
        loop, leave = asyncio.get_running_loop(), asyncio.Event()
        shift.on_end(lambda: loop.call_soon_threadsafe(leave.set))
        opened, self._first = self._first or self._listen(), None
        with opened:
            await serve_until(leave, app_alone(self._memory, self._settings), opened, self._where.certificate)

    def _unload(self, shift: Shift) -> None:
        while not shift.ended.wait(UNLOAD_SECONDS):
            self._memory.models.unload_idle()
