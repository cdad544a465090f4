"""One worker: takes a conversation, has it read, and has it filed once; then the next.

Taken and filed are a transaction each; reading lies between them, outside any. Before something is filed the same
transaction looks whether the claim is still ours and the conversation still as it was read. So whatever dies, and
however many work on one house, each conversation is filed once for what it says.

A conversation that cannot be read is tried again with growing waits, then set aside with its reason. What is not its
fault (no model, no money left) makes the whole queue wait, and counts against no conversation.
"""

import re
import threading
import time
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import Generic

from recollect.clock import Clock, from_text, to_text
from recollect.database import Database, Session
from recollect.errors import Denied, RecollectError, Unavailable
from recollect.ids import new_id
from recollect.jobs import Presence, wait_seconds
from recollect.librarian.working.claiming import Claims, Taken
from recollect.librarian.working.queueing import KIND
from recollect.librarian.working.work import Desk, Filed, Outcome, Prepared, Step, Worked
from recollect.llm.model import BadReply, Busy
from recollect.redaction import mask
from recollect.runs.budget import OverBudget

LEASE_SECONDS = 120.0
MOST_ATTEMPTS = 3
FILING_TRIES = 3
"""A busy database is waited for so often before what was read, and perhaps paid for, is given up."""
TIDY_EVERY = 25
"""Conversations filed between two tidyings: each writes new versions of some shelves."""
RETRY_SECONDS = 5.0
"""After an error that nobody foresaw, in the worker's own doing."""
YIELD_SECONDS = 5.0
"""By which the conversation that met a trouble is due later than the others."""
LONGEST_REASON = 400

Record = Callable[[str, str, float, dict[str, object]], None]
Notify = Callable[[Step], None]


class Worker(Generic[Prepared]):
    def __init__(
        self,
        database: Database,
        house: str,
        clock: Clock,
        desk: Desk[Prepared],
        *,
        owner: str,
        record: Record,
        gap_minutes: float,
        presence: Presence | None = None,
        lease_seconds: float = LEASE_SECONDS,
        most_attempts: int = MOST_ATTEMPTS,
    ) -> None:
        """`owner`: who it is to a reader of the queue; it is made a name of its own. `record`: of `Runs`."""
        self.owner = re.sub(r"[^\w.-]", "-", owner)[:60] + "-" + new_id()[-12:]
        self._claims = Claims(
            database,
            house,
            clock,
            self.owner,
            gap_minutes=gap_minutes,
            lease_seconds=lease_seconds,
            most_attempts=most_attempts,
        )
        self._clock = clock
        self._desk = desk
        self._record = record
        self._presence = presence
        self._most_attempts = most_attempts
        self._held: Taken | None = None
        self._troubles = 0
        self._went_well = False
        self._rests_until: datetime | None = None
        self._untidy = 0
        self._tidy_at = 0.0
        self._told = ""
        self.problem = ""
        """Of the shelves, or of the worker itself. Empty: none."""

    # Working

    def work_until_done(
        self,
        notify: Notify = lambda step: None,
        should_stop: Callable[[], bool] = lambda: False,
        *,
        only: Sequence[str] | None = None,
    ) -> Worked:
        """All that is queued, or `only` these; also what waits to be tried again, as somebody asks for it now."""
        worked = Worked()
        with self._present():
            for some in [None] if only is None else self._claims.in_order(only):
                while not worked.stopped:
                    worked.stopped = "it was stopped" if should_stop() else self._claims.pause_reason()
                    step = None if worked.stopped else self.step(only=some, even_waiting=True)
                    if step is None:
                        break
                    worked.add(step)
                    notify(step)
            self.tidy()
        worked.problem = self.problem
        return worked

    def run(
        self,
        stop: threading.Event,
        wake: threading.Event,
        poll_seconds: float,
        *,
        before: Callable[[], object] = lambda: None,
        notify: Notify = lambda step: None,
        after: Callable[[], object] = lambda: None,
    ) -> None:
        """Until `stop` is set, which takes `wake` to be seen at once. Sleeps until it is woken, something is due, or
        the interval is over. `before`: called at each waking, to queue what is ready; `after`: before it sleeps."""
        failures = 0
        with self._present():
            while not stop.is_set():
                wake.clear()
                try:
                    before()
                    self._work_round(stop, notify, poll_seconds)
                    seconds = self._sleep_seconds(poll_seconds)
                    failures = 0
                except Exception as error:  # noqa: BLE001 - the worker goes on, and doctor shows the reason
                    self._note_problem(error)
                    failures += 1
                    seconds = min(RETRY_SECONDS * failures, max(poll_seconds, RETRY_SECONDS))
                after()
                if not stop.is_set():
                    wake.wait(seconds)

    def _work_round(self, stop: threading.Event, notify: Notify, poll_seconds: float) -> None:
        self.problem = ""
        if self._rests_until and self._clock() < self._rests_until:
            return
        self._rests_until = None
        while not stop.is_set() and not self._rests_until:
            step = self.step()
            if step is None:
                break
            notify(step)
            if step.outcome is Outcome.LATER:
                self._rests_until = from_text(step.goes_on_at)
        # At the interval too, as people write on shelves; not whenever it is woken, which may be every second.
        is_due = self._untidy or time.monotonic() >= self._tidy_at
        if is_due and not stop.is_set() and not self._claims.pause_reason():
            self.tidy()
            self._tidy_at = time.monotonic() + poll_seconds

    def _sleep_seconds(self, poll_seconds: float) -> float:
        due_at = self._claims.next_due_at()
        moments = [from_text(due_at)] if due_at else []
        if self._rests_until:
            moments = [self._rests_until]
        waits = [(moment - self._clock()).total_seconds() for moment in moments]
        return min([poll_seconds, *(wait for wait in waits if wait > 0)])

    def tidy(self) -> None:
        """A shelf that cannot be written stops nobody: it catches up the next time."""
        self._untidy = 0
        try:
            self._desk.tidy()
        except Exception as error:  # noqa: BLE001 - conversations are filed without shelves
            self._note_problem(error)

    def let_go(self) -> None:
        """Hand back what is being worked on, so that another can take it at once. For who cannot wait for its end, from
        any thread: the worker finds out before it files."""
        held = self._held
        if held:
            self._claims.release(held)

    # One conversation

    def step(self, *, only: Sequence[str] | None = None, even_waiting: bool = False) -> Step | None:
        """Take the next, and have done with it. None: there is none to take now."""
        started = time.monotonic()
        taken = self._claims.take(only, even_waiting=even_waiting)
        if taken is None:
            return None
        step = taken if isinstance(taken, Step) else self._work_on(taken)
        step = replace(step, seconds=time.monotonic() - started)
        self._note(step)
        if step.outcome is Outcome.FILED:
            self._untidy += 1
            if self._untidy >= TIDY_EVERY:
                self.tidy()
        return step

    def _work_on(self, taken: Taken) -> Step:
        self._held = taken
        is_read = False
        try:
            with self._claims.renewal(taken):
                prepared = self._desk.read(taken.conversation)
            is_read = True
            step = self._file(taken, prepared)
        except (Unavailable, Denied) as error:
            if not is_read or isinstance(error, Unavailable):
                return self._put_off(taken, error)
            step = self._fail(taken, error)
        except Exception as error:  # noqa: BLE001 - one conversation stops no other; the reason is kept with it
            step = self._fail(taken, error)
        except BaseException:
            self._claims.release(taken)
            raise
        finally:
            self._held = None
        self._troubles, self._went_well = 0, True
        return step

    def _file(self, taken: Taken, prepared: Prepared) -> Step:
        def file(session: Session, now: str) -> Filed:
            return self._desk.file(session, prepared, now)

        for _ in range(FILING_TRIES - 1):
            with suppress(Unavailable):
                return self._claims.file(taken, file)
        return self._claims.file(taken, file)

    # What goes wrong

    def _put_off(self, taken: Taken, error: Unavailable | Denied) -> Step:
        """It counts against the conversation only where the one before it went well, as then it may be the only one
        that fails; and never where the model or the ceiling says that there is too much in all."""
        is_suspect = self._went_well and not isinstance(error, Busy | OverBudget | Denied)
        self._troubles, self._went_well = self._troubles + 1, False
        if is_suspect and taken.job.attempts >= self._most_attempts:
            return self._give_up(taken, error)
        goes_on_at = self._goes_on_at(error)
        # After the wait another one is tried first: one that never gets an answer must not block all others.
        due_at = _after(goes_on_at, wait_seconds(taken.job.attempts) if is_suspect else YIELD_SECONDS)
        step = self._claims.retry(taken, Outcome.LATER, due_at, _reason_of(error), is_counted=is_suspect)
        return replace(step, goes_on_at=goes_on_at, filed=_paid(error))

    def _goes_on_at(self, error: Unavailable | Denied) -> str:
        if isinstance(error, OverBudget):
            return error.goes_on_at
        hint = error.retry_seconds if isinstance(error, Busy) else None
        return self._in(wait_seconds(self._troubles) if hint is None else hint)

    def _fail(self, taken: Taken, error: Exception) -> Step:
        if taken.job.attempts >= self._most_attempts:
            return self._give_up(taken, error)
        due_at = self._in(wait_seconds(taken.job.attempts))
        return replace(self._claims.retry(taken, Outcome.FAILED, due_at, _reason_of(error)), filed=_paid(error))

    def _give_up(self, taken: Taken, error: Exception) -> Step:
        return replace(self._claims.set_aside(taken, _reason_of(error)), filed=_paid(error))

    def _in(self, seconds: float) -> str:
        return to_text(self._clock() + timedelta(seconds=max(seconds, 0)))

    # Telling

    def _note(self, step: Step) -> None:
        """Every conversation is an event; of a queue that waits the first one, for each reason."""
        is_waiting = step.outcome is Outcome.LATER
        if is_waiting and step.reason == self._told:
            return
        self._told = step.reason if is_waiting else ""
        detail: dict[str, object] = {"conversation": step.conversation_id, "attempt": step.attempt}
        if step.outcome is Outcome.FILED:
            detail |= {"kept": step.filed.kept, "dropped": step.filed.dropped}
        if step.filed.usage.calls:
            usage = step.filed.usage
            detail |= {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        if step.reason:
            detail |= {"reason": step.reason, "goes_on_at": step.goes_on_at}
        outcome = "done" if step.outcome is Outcome.FILED else str(step.outcome)
        with suppress(RecollectError):  # An event may be lost; what was filed is filed.
            self._record(KIND, outcome, step.seconds, detail)

    def _note_problem(self, error: Exception) -> None:
        self.problem = _reason_of(error)
        if self.problem != self._told:
            self._told = self.problem
            with suppress(RecollectError):
                self._record(KIND, "failed", 0.0, {"reason": self.problem})

    @contextmanager
    def _present(self) -> Generator[None]:
        if self._presence:
            self._presence.enter(self.owner)
        try:
            yield
        finally:
            if self._presence:
                self._presence.leave(self.owner)
            self._desk.close()


def _after(moment: str, seconds: float) -> str:
    return to_text(from_text(moment) + timedelta(seconds=seconds))


def _paid(error: Exception) -> Filed:
    """What an answer cost that could not be used."""
    return Filed(usage=error.usage) if isinstance(error, BadReply) else Filed()


def _reason_of(error: Exception) -> str:
    """On one short line, with no credential in it. The words of an error that is not ours may be the conversation's,
    and would outlive it: of such a one its kind is told, and where it arose."""
    if isinstance(error, RecollectError):
        return mask(" ".join(str(error).split())[: LONGEST_REASON * 2])[:LONGEST_REASON]
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {PurePath(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"
