"""Keeps the librarian of a daemon at work.

One thread queues what has ended, has it read and filed, lets the shelves catch up, and reflects at night. It wakes when
something was taken in, and at the interval of the settings, as a conversation ends by the clock alone. A model that
costs money is asked by itself only under a ceiling: without one the thread keeps the shelves, and reads nothing.
Whatever fails is recorded and tried again; it never ends the daemon (`supervision`).
"""

import os
import platform
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from recollect.clock import to_text
from recollect.errors import RecollectError, reason_of
from recollect.logs import without_quotes
from recollect.memory import Memory
from recollect.supervision import Shift, Supervised

if TYPE_CHECKING:
    from recollect.librarian.librarian import Librarian
    from recollect.librarian.working.work import Step
    from recollect.librarian.working.worker import Worker

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
        self._wake = threading.Event()
        self._worker: Worker[Any] | None = None
        self.part = Supervised(
            "librarian", self._work, on_crash=self._note_problem, on_left=self._hand_back, clock=memory.clock
        )
        self._is_at_work = False
        self._filed = 0
        self._filed_at = ""
        self._waits = ("", "")
        self._problem = ""
        self._recorded = ""
        self._told_at = 0.0

    # Called by the daemon

    def start(self) -> None:
        if self._memory.settings.librarian.model != NOBODY:
            self.part.start()

    def wake(self) -> None:
        """Something was taken in."""
        self._wake.set()

    def _hand_back(self) -> None:
        """An answer of a model may take minutes."""
        if self._worker:
            with suppress(RecollectError):  # Its lease ends by itself.
                self._worker.let_go()

    # In the background

    def _work(self, shift: Shift) -> None:
        shift.on_end(self._wake.set)
        librarian = self._librarian()
        librarian.queue.recover()
        self._is_at_work = librarian.works_by_itself
        if self._is_at_work:
            self._worker = librarian.worker(f"daemon-{platform.node()}-{os.getpid()}", looks=False)
            self._worker.run(
                shift.ended,
                self._wake,
                self._interval,
                before=lambda: self._begin(librarian),
                notify=self._note,
                after=self._tell_progress,
            )
            return
        while not shift.ended.is_set():
            self._wake.clear()
            self._problem = ""
            self._reflect(librarian)
            librarian.tidy(look=False)
            self._tell_progress()
            if not shift.ended.is_set():
                self._wake.wait(self._interval)

    def _begin(self, librarian: "Librarian") -> None:
        """Each waking."""
        self._problem = ""
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
        """Each is recorded once, however often it is met. What a model said in it would outlive a `forget`."""
        problem = without_quotes(problem)
        self._problem = problem
        if problem != self._recorded:
            self._recorded = problem
            with suppress(RecollectError):  # The database may be what fails.
                self._memory.runs.record("librarian", "failed", 0.0, {"reason": problem})
        self._tell_progress()

    def _tell_progress(self) -> None:
        self._told_at = time.monotonic()
        problem = self._problem or self._waits[1] or (self._worker.problem if self._worker else "")
        progress = LibrarianProgress(
            is_at_work=self._is_at_work,
            filed=self._filed,
            filed_at=self._filed_at,
            goes_on_at=self._waits[0],
            problem=without_quotes(problem),
            restarts=self.part.restarts,
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
