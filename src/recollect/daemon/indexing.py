"""Keeps the search index of a daemon's home up to date.

What was just read is indexed at once by whoever read it, by words and fast vectors: `catch_up`. One thread in the
background gives messages the vectors of the deep model, fetches that model first if the settings say so, and drops
models that nobody used for a while. It rests while something is being read. Whatever fails is recorded and tried again
later (`supervision`); it never ends the daemon, because history must go on without an index.
"""

import logging
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from recollect.embedding.models import Announcement
from recollect.embedding.unloading import give_memory_back
from recollect.errors import RecollectError
from recollect.memory import Memory
from recollect.supervision import Shift, Supervised, reason_of_crash

REST_SECONDS = 30.0
"""Between two looks for something to deepen; new messages end the rest."""
RETRY_SECONDS = 60.0
"""After a failure; new messages end that wait too."""
FETCH_AGAIN_SECONDS = 3_600.0
"""After models could not be fetched."""
PURGE_SECONDS = 6 * 3_600.0
"""At most so often what is left of changed messages is removed: it reads the whole index."""
TOLD_SECONDS = 1.0
"""At most so often figures are told while messages are deepened."""

log = logging.getLogger("recollect.index")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexProgress:
    documents: int = 0
    waiting: int = 0
    deepened: int = 0
    to_deepen: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetching:
    """Who is told when models are fetched. Nothing is fetched in secret."""

    on_announce: Callable[[Announcement], None]
    on_problem: Callable[[str], None]
    on_done: Callable[[list[str]], None]
    """The names of those that were fetched; none where all of them were here."""


class _Ended(Exception):
    """The daemon ends in the middle of a download."""


class Indexing:
    def __init__(self, memory: Memory, tell: Callable[[IndexProgress], None], fetching: Fetching | None = None) -> None:
        """`tell` is called from both threads."""
        self._memory = memory
        self._tell = tell
        self._fetching = fetching
        self._news = threading.Event()
        self._quiet = threading.Event()
        self._quiet.set()
        self._problems: dict[str, str] = {}
        self._told_at = 0.0
        self._fetch_at = 0.0
        self._purged_at = time.monotonic() - PURGE_SECONDS
        self.part = Supervised("index", self._work, on_crash=self._note_crash, clock=memory.clock)

    # Called by the daemon

    def catch_up(self) -> None:
        """Index what history has and the index has not."""
        started = time.monotonic()
        try:
            if self._memory.recall.catch_up():
                self._news.set()
            self._problems.pop("index", None)
        except Exception as error:  # noqa: BLE001 - history goes on without an index
            self._note("index", reason_of_crash(error), time.monotonic() - started)
        self._tell_figures()

    @contextmanager
    def reading(self) -> Generator[None]:
        """The background work rests meanwhile."""
        self._quiet.clear()
        try:
            yield
        finally:
            self._quiet.set()

    def start(self) -> None:
        self.part.start()

    # In the background

    def _work(self, shift: Shift) -> None:
        shift.on_end(self._news.set)
        shift.on_end(self._quiet.set)
        while not shift.ended.is_set():
            self._news.clear()
            started = time.monotonic()
            if self._fetching and started >= self._fetch_at:
                self._fetch(self._fetching, shift)
            try:
                is_done = self._deepen(shift)
                dropped = self._memory.models.unload_idle()
                if dropped:
                    self._memory.database.rest()
                    self._memory.recall.place().rest()
                    give_memory_back()
                    log.info("%d models that nobody used were dropped from memory", dropped)
                if is_done and time.monotonic() - self._purged_at > PURGE_SECONDS:
                    self._purged_at = time.monotonic()
                    self._memory.recall.purge()
                self._problems.pop("deepen", None)
                seconds = REST_SECONDS if is_done else 0.0
            except RecollectError as error:
                self._note("deepen", str(error), time.monotonic() - started)
                seconds = RETRY_SECONDS
            else:
                self._tell_figures()
            if seconds and not shift.ended.is_set():
                self._news.wait(seconds)

    def _note_crash(self, reason: str) -> None:
        self._note("deepen", reason, 0.0)

    def _deepen(self, shift: Shift) -> bool:
        """The newest first; whether nothing is left. Begins anew after a commit when there are newer ones by now."""
        committed = 0

        def should_stop() -> bool:
            self._quiet.wait()
            return shift.ended.is_set() or (committed > 0 and self._news.is_set())

        def on_progress(number: int) -> None:
            nonlocal committed
            committed += number
            if time.monotonic() - self._told_at > TOLD_SECONDS:
                self._tell_figures()

        started = time.monotonic()
        done = self._memory.recall.deepen(should_stop, on_progress=on_progress)
        if done:
            self._memory.runs.record("deepen", "done", time.monotonic() - started, {"messages": done})
        return not self._news.is_set()

    def _fetch(self, fetching: Fetching, shift: Shift) -> None:
        """Once; after a failure again later, as laptops are offline now and then."""

        def go_on(_here: int, _total: int) -> None:
            if shift.ended.is_set():
                raise _Ended

        try:
            placed = self._memory.models.pull(on_announce=fetching.on_announce, on_progress=go_on)
            self._fetching = None
            self._problems.pop("fetch models", None)
            fetching.on_done(placed)
        except _Ended:
            return
        except Exception as error:  # noqa: BLE001 - the thread goes on, and doctor shows the reason
            self._not_fetched(fetching, reason_of_crash(error))

    def _not_fetched(self, fetching: Fetching, reason: str) -> None:
        self._fetch_at = time.monotonic() + FETCH_AGAIN_SECONDS
        if reason != self._problems.get("fetch models"):
            fetching.on_problem(reason)
        self._note("fetch models", reason, 0.0)

    # Telling

    def _note(self, name: str, reason: str, seconds: float) -> None:
        """A reason that stays the same is recorded once."""
        if reason != self._problems.get(name):
            with suppress(RecollectError):
                self._memory.runs.record(name, "failed", seconds, {"reason": reason})
        self._problems[name] = reason
        self._tell_figures()

    def _tell_figures(self) -> None:
        self._told_at = time.monotonic()
        problem = " ".join(dict.fromkeys(list(self._problems.values())))
        try:
            state = self._memory.recall.state()
        except Exception as error:  # noqa: BLE001 - figures are not worth a daemon
            self._tell(IndexProgress(problem=problem or reason_of_crash(error)))
            return
        self._tell(
            IndexProgress(
                documents=state.documents,
                waiting=state.waiting,
                deepened=state.deepened,
                to_deepen=state.documents - state.deepened if state.deep else 0,
                problem=problem,
            )
        )
