"""The transactions of one worker: to take a conversation, and to end what was taken, once.

What is taken is held by a claim, a job with a lease. Whoever ends it proves the claim in the same transaction: a worker
that was away for too long changes nothing. The job and the status of its conversation change together.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from recollect.clock import Clock, to_text
from recollect.database import Database, Session
from recollect.errors import RecollectError
from recollect.history import Conversation, Status
from recollect.history.lifecycle import begin, finish, requeue
from recollect.jobs import Job, JobStore, Renewal, State
from recollect.librarian.working.queueing import EVERY, KIND
from recollect.librarian.working.work import Filed, Outcome, Step

MOST_DEATHS = 8
"""Takings that ended with no word, because the process did, before a conversation is held to be why. More than the
attempts: a computer is switched off now and then."""
NAMED_AT_ONCE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    job: Job
    conversation: Conversation


class Claims:
    def __init__(
        self,
        database: Database,
        house: str,
        clock: Clock,
        owner: str,
        *,
        gap_minutes: float,
        lease_seconds: float,
        most_attempts: int,
    ) -> None:
        """`owner`: a name that no other worker has ever had."""
        self._database = database
        self._house = house
        self._clock = clock
        self._owner = owner
        self._gap = timedelta(minutes=gap_minutes)
        self._lease_seconds = lease_seconds
        self._most_takings = max(MOST_DEATHS, most_attempts)

    def take(self, only: Sequence[str] | None = None, *, even_waiting: bool = False) -> Taken | Step | None:
        """The next, now held by us. A step: it was set aside instead. None: there is none to take now."""
        now = self._clock()
        with self._database.write() as session:
            jobs = JobStore(session, self._house)
            if jobs.paused(KIND):
                return None
            while job := jobs.claim(KIND, self._owner, now, self._lease_seconds, among=only, even_waiting=even_waiting):
                conversation = begin(session, self._house, job.target, to_text(now - self._gap))
                if conversation is None:
                    jobs.done(job)
                    continue
                taken = Taken(job=job, conversation=conversation)
                if job.attempts <= self._most_takings:
                    return taken
                return self._aside(session, taken, f"its worker ended {job.attempts - 1} times while it read it")
        return None

    def renewal(self, taken: Taken) -> Renewal:
        return Renewal(self._database, self._house, self._clock, taken.job, self._lease_seconds)

    # Ending

    def file(self, taken: Taken, file: Callable[[Session, str], Filed]) -> Step:
        """`file` is called inside the transaction, if what was read is still all there is, and still ours to file."""
        with self._database.write() as session:
            jobs = JobStore(session, self._house)
            if not jobs.is_mine(taken.job):
                return _step(taken, Outcome.LOST)
            jobs.done(taken.job)
            if finish(session, self._house, taken.conversation, Status.ARCHIVED) is not Status.ARCHIVED:
                return _step(taken, Outcome.CHANGED)
            filed = file(session, to_text(self._clock()))
        return _step(taken, Outcome.FILED, filed=filed)

    def retry(self, taken: Taken, outcome: Outcome, due_at: str, reason: str, *, is_counted: bool = True) -> Step:
        with self._database.write() as session:
            if not JobStore(session, self._house).retry(taken.job, due_at, reason, is_counted=is_counted):
                return _step(taken, Outcome.LOST, reason=reason)
            requeue(session, self._house, taken.conversation.id)
        return _step(taken, outcome, reason=reason, goes_on_at=due_at)

    def set_aside(self, taken: Taken, reason: str) -> Step:
        with self._database.write() as session:
            return self._aside(session, taken, reason)

    def _aside(self, session: Session, taken: Taken, reason: str) -> Step:
        jobs = JobStore(session, self._house)
        if not jobs.is_mine(taken.job):
            return _step(taken, Outcome.LOST, reason=reason)
        if finish(session, self._house, taken.conversation, Status.SKIPPED) is not Status.SKIPPED:
            jobs.done(taken.job)
            return _step(taken, Outcome.CHANGED, reason=reason)
        jobs.set_aside(taken.job, reason)
        return _step(taken, Outcome.ASIDE, reason=reason)

    def release(self, taken: Taken) -> None:
        with suppress(RecollectError), self._database.write() as session:  # Else its lease runs out.
            if JobStore(session, self._house).release(taken.job):
                requeue(session, self._house, taken.conversation.id)

    # Looking

    def in_order(self, only: Sequence[str]) -> list[list[str]]:
        """Those of them that are in work, in the order of the queue, a few at a time: each taking looks for all of the
        few, and would take ever longer the more there are."""
        wanted = set(only)
        with self._database.read() as session:
            store = JobStore(session, self._house)
            jobs = [job for state in (State.QUEUED, State.HELD) for job in store.listed(KIND, state, EVERY)]
        found = [job.target for job in sorted(jobs, key=lambda job: (job.place, job.target)) if job.target in wanted]
        return [found[start : start + NAMED_AT_ONCE] for start in range(0, len(found), NAMED_AT_ONCE)]

    def next_due_at(self) -> str:
        """When the next may be taken, where all of them wait. Empty: at once, or there is none."""
        with self._database.read() as session:
            return JobStore(session, self._house).next_due_at(KIND) or ""

    def pause_reason(self) -> str:
        with self._database.read() as session:
            pause = JobStore(session, self._house).paused(KIND)
        return f"it is paused since {pause.since}: `recollect librarian resume` lets it go on" if pause else ""


def _step(taken: Taken, outcome: Outcome, **more: Any) -> Step:
    return Step(conversation_id=taken.job.target, outcome=outcome, attempt=taken.job.attempts, **more)
