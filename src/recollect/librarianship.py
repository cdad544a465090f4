"""Keeps the librarian of a daemon at work.

One thread queues what has ended, has it read and filed, lets the shelves catch up, and reflects at night. It wakes when
something was taken in, and at the interval of the settings, as a conversation ends by the clock alone. A model that
costs money is asked by itself only under a ceiling: without one the thread keeps the shelves, and reads nothing.
Whatever fails is recorded and tried again; it never ends the daemon. A thread that died is replaced by a new one.
"""

import os
import platform
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from recollect.clock import to_text
from recollect.errors import RecollectError, reason_of
from recollect.memory import Memory

if TYPE_CHECKING:
    from recollect.librarian.librarian import Librarian
    from recollect.librarian.working.work import Step
    from recollect.librarian.working.worker import Worker

RETRY_SECONDS = 5.0
"""After an error that nobody foresaw, or a model that could not be opened; longer after each further one."""
LONGEST_RETRY_SECONDS = 600.0
LONGEST_WAIT_SECONDS = 5.0
"""For a conversation to be read to its end. After that it is handed back: an answer may take minutes."""
TOLD_SECONDS = 1.0
"""At most so often figures are told while conversations are read."""
NOBODY = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class LibrarianProgress:
    is_at_work: bool = False
    """False: it reads nothing by itself, by the settings."""
    queued: int = 0
    aside: int = 0
    filed: int = 0
    """Conversations, since the daemon started."""
    filed_at: str = ""
    """When the last of them was."""
    paused_since: str = ""
    goes_on_at: str = ""
    """When the queue goes on, which waits for a model or for the next day's ceiling. Empty: it does not wait."""
    problem: str = ""
    restarts: int = 0


@dataclass(slots=True)
class _Shift:
    """One thread, its own end, and what it works with."""

    ended: threading.Event = field(default_factory=threading.Event)
    wake: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None
    worker: "Worker[Any] | None" = None


class Librarianship:
    def __init__(
        self,
        memory: Memory,
        tell: Callable[[LibrarianProgress], None],
        librarian: "Callable[[], Librarian] | None" = None,
    ) -> None:
        """`tell` is called from both threads. `librarian`: another than the memory's own."""
        self._memory = memory
        self._tell = tell
        self._librarian = librarian or (lambda: memory.librarian)
        self._interval = memory.settings.poll_interval_seconds
        self._shift: _Shift | None = None
        self._is_at_work = False
        self._filed = 0
        self._filed_at = ""
        self._waits = ("", "")
        self._problem = ""
        self._recorded = ""
        self._restarts = 0
        self._failures = 0
        self._told_at = 0.0

    # Called by the daemon

    def start(self) -> None:
        if self._memory.settings.librarian.model == NOBODY:
            return
        shift = _Shift()
        shift.thread = threading.Thread(target=self._work, args=(shift,), name="librarian", daemon=True)
        self._shift = shift
        shift.thread.start()

    def wake(self) -> None:
        """Something was taken in."""
        if self._shift:
            self._shift.wake.set()

    def check(self) -> None:
        """Start it again if it is not at work any more."""
        shift = self._shift
        if shift is None or shift.thread is None or shift.thread.is_alive():
            return
        self._restarts += 1
        self._note_problem("the thread of the librarian died; it was started again")
        self.start()

    def stop(self) -> None:
        """What is being read is filed if that ends soon, and else handed back."""
        shift, self._shift = self._shift, None
        if shift is None or shift.thread is None:
            return
        shift.ended.set()
        shift.wake.set()
        if shift.thread.is_alive():  # A signal may have come before it began.
            shift.thread.join(LONGEST_WAIT_SECONDS)
        if shift.thread.is_alive() and shift.worker:
            shift.worker.let_go()

    # In the background

    def _work(self, shift: _Shift) -> None:
        while not shift.ended.is_set():
            try:
                self._serve(shift, self._librarian())
            except Exception as error:  # noqa: BLE001 - the thread goes on, and doctor shows the reason
                self._failures += 1
                self._note_problem(reason_of(error))
                shift.ended.wait(min(RETRY_SECONDS * self._failures, LONGEST_RETRY_SECONDS))

    def _serve(self, shift: _Shift, librarian: "Librarian") -> None:
        librarian.queue.recover()
        self._is_at_work = librarian.works_by_itself
        if self._is_at_work:
            shift.worker = librarian.worker(f"daemon-{platform.node()}-{os.getpid()}", looks=False)
            shift.worker.run(
                shift.ended,
                shift.wake,
                self._interval,
                before=lambda: self._begin(librarian),
                notify=self._note,
                after=self._tell_progress,
            )
            return
        while not shift.ended.is_set():
            shift.wake.clear()
            self._reflect(librarian)
            librarian.tidy(look=False)
            self._failures = 0
            self._tell_progress()
            shift.wake.wait(self._interval)

    def _begin(self, librarian: "Librarian") -> None:
        """Each waking."""
        self._failures, self._problem = 0, ""
        librarian.queue_ready()
        self._reflect(librarian)

    def _reflect(self, librarian: "Librarian") -> None:
        """When its time has come. A night that fails keeps nobody from reading."""
        try:
            if not librarian.status().paused:
                librarian.reflect(by_schedule=True)
        except Exception as error:  # noqa: BLE001 - the thread goes on, and doctor shows the reason
            self._note_problem(f"the nightly reflection failed: {reason_of(error)}")

    # Telling

    def _note(self, step: "Step") -> None:
        from recollect.librarian.working.work import Outcome

        if step.outcome is Outcome.FILED:
            self._filed += 1
            self._filed_at = to_text(self._memory.clock())
        if step.outcome is not Outcome.LOST:
            is_waiting = step.outcome is Outcome.LATER
            self._waits = (step.goes_on_at, step.reason) if is_waiting else ("", "")
        if self._waits[0] or time.monotonic() - self._told_at > TOLD_SECONDS:
            self._tell_progress()

    def _note_problem(self, problem: str) -> None:
        """Each is recorded once, however often it is met."""
        self._problem = problem
        if problem != self._recorded:
            self._recorded = problem
            with suppress(RecollectError):  # The database may be what fails.
                self._memory.runs.record("librarian", "failed", 0.0, {"reason": problem})
        self._tell_progress()

    def _tell_progress(self) -> None:
        self._told_at = time.monotonic()
        worker = self._shift.worker if self._shift else None
        problem = self._problem or self._waits[1] or (worker.problem if worker else "")
        progress = LibrarianProgress(
            is_at_work=self._is_at_work,
            filed=self._filed,
            filed_at=self._filed_at,
            goes_on_at=self._waits[0],
            problem=problem,
            restarts=self._restarts,
        )
        self._tell(self._with_queue(progress))

    def _with_queue(self, progress: LibrarianProgress) -> LibrarianProgress:
        try:
            state = self._librarian().status()
        except RecollectError as error:  # Figures are not worth a daemon.
            return replace(progress, problem=progress.problem or str(error))
        return replace(
            progress,
            queued=state.counts.queued + state.counts.held,
            aside=state.counts.aside,
            paused_since=state.paused.since if state.paused else "",
        )
