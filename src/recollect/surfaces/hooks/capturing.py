"""Taking in the transcript that a hook names, with what its sub-agents wrote beside it.

Only what the watcher would take in too: a regular file whose name is that of a transcript, not ignored, not while
taking in is paused or switched off. In a daemon it happens in one thread of its own, for each file once however often
it is named meanwhile; what is left when the server ends, the next look at the folders finds.

The same thread does what else waits behind an answer.
"""

import json
import os
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from recollect.errors import RecollectError, Unavailable, reason_of
from recollect.history.sources import source_named
from recollect.memory import Memory
from recollect.surfaces.hooks.injecting import BEGINNING
from recollect.surfaces.hooks.tools import Tool

PIECE_BYTES, MOST_PIECES = 1_000_000, 64
"""Of a transcript that is looked through while an agent waits."""
OUR_BEGINNING = json.dumps(BEGINNING)[1:-1].encode()
"""As it stands in a line of a transcript."""
MOST_WAITING = 1_000
"""Files, for the most part. More than that name themselves when somebody plays with us; the watcher finds them all the
same."""


def takes_in(memory: Memory) -> bool:
    """Whether what is said now becomes history."""
    return memory.settings.enabled and memory.history.paused_since() is None


def capture(memory: Memory, tool: Tool, path: str) -> int:
    """How many messages were added. Nothing is taken in while that is paused."""
    places = places_of(tool, path)
    if not places or not memory.settings.enabled:
        return 0
    try:
        return memory.history.scan([Path(root_of(tool, path))], places).messages_added
    except Unavailable:
        if memory.history.paused_since():
            return 0
        raise


def stands_in(tool: Tool, path: str) -> bool:
    """Whether our text stands in a transcript. What is too long to be looked through while an agent waits, or is no
    transcript, is taken for one that has it: nothing is told twice then."""
    if not places_of(tool, path):
        return True
    end = b""
    try:
        with open(path, "rb") as file:
            for _ in range(MOST_PIECES):
                piece = file.read(PIECE_BYTES)
                if OUR_BEGINNING in end + piece:
                    return True
                if len(piece) < PIECE_BYTES:
                    return False
                end = piece[-len(OUR_BEGINNING) :]
    except OSError:
        pass
    return True


def places_of(tool: Tool, path: str) -> list[str]:
    """The transcript and where its sub-agents write. Empty: it is no transcript of this agent."""
    if not os.path.isabs(path) or not _is_file(path) or not source_named(tool.name).is_candidate(path):
        return []
    folder = os.path.dirname(path)
    if tool.is_by_day:
        return [folder] if root_of(tool, path) != folder else [path]
    beside = [os.path.join(folder, name) for name in _names(folder) if name.startswith("agent-")]
    return [path, path.removesuffix(".jsonl"), *(name for name in beside if name.endswith(".jsonl"))]


def root_of(tool: Tool, path: str) -> str:
    """The folder of all its transcripts: an ignore file there counts."""
    parts = os.path.dirname(path).split(os.sep)
    if tool.transcripts not in parts:
        return os.path.dirname(path)
    last = len(parts) - 1 - parts[::-1].index(tool.transcripts)
    return os.sep.join(parts[: last + 1])


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


class Captures:
    """What waits behind the answers, and the thread that does it. It begins with the first of them."""

    def __init__(self, memory: Memory, taken: Callable[[], None]) -> None:
        """`taken` is called when something new was taken in."""
        self._memory = memory
        self._taken = taken
        self._waiting: dict[tuple[object, ...], tuple[Tool, Callable[[], None]]] = {}
        self._changed = threading.Condition()
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def add(self, tool: Tool, path: str) -> None:
        """A transcript. At once: it only notes it."""
        self._add((tool.name, path), tool, lambda: self._take(tool, path))

    def do_later(self, tool: Tool, work: Callable[[], None]) -> None:
        """Something else. At once, too."""
        self._add((tool.name, object()), tool, work)

    def _add(self, name: tuple[object, ...], tool: Tool, work: Callable[[], None]) -> None:
        with self._changed:
            if self._is_closed or len(self._waiting) >= MOST_WAITING:
                return
            self._waiting[name] = tool, work
            if self._thread is None or not self._thread.is_alive():
                thread = threading.Thread(target=self._work, name="captures", daemon=True)
                thread.start()  # Where the system has no thread left, the next one to come tries again.
                self._thread = thread
            self._changed.notify()

    def close(self, seconds: float) -> None:
        """Wait so long for the file that is being read; what waits behind it stays for the watcher."""
        with self._changed:
            self._is_closed = True
            self._waiting.clear()
            self._changed.notify()
            thread = self._thread
        if thread:
            thread.join(seconds)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_closed)
                if self._is_closed:
                    return
                tool, work = self._waiting.pop(next(iter(self._waiting)))
            self._do(tool, work)

    def _take(self, tool: Tool, path: str) -> None:
        if capture(self._memory, tool, path):
            self._taken()

    def _do(self, tool: Tool, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001  a worker loop: one file that breaks stops no other
            with suppress(RecollectError):  # The database may be what is broken.
                self._memory.runs.record("hook", "failed", 0.0, {"tool": tool.name, "reason": reason_of(error)})
