"""Which conversations the librarian is to read: they are queued, each with its job, in one transaction.

A job and the status of its conversation change together. Where they do not agree, because a database was imported, a
process died, or a file was read anew, `recover` makes them agree again, and touches nothing that a living worker holds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from recollect.clock import Clock, to_text
from recollect.database import Database, Session
from recollect.history import Conversation, Status
from recollect.history.lifecycle import requeue
from recollect.history.store import ConversationStore
from recollect.jobs import Job, JobCounts, JobStore, Pause, Presence, State
from recollect.settings import LibrarianSettings, Settings

KIND = "librarian"
"""Of the jobs of this package; their targets are conversations."""
BATCH = 500
"""Conversations that are queued in one transaction: others who write wait for it."""
EVERY = 1_000_000
"""More than a house has of anything."""


@dataclass(slots=True, kw_only=True)
class Queued:
    queued: int = 0
    already: int = 0
    """Were queued or held before."""
    skipped: int = 0
    """Too short to be read."""
    refused: dict[str, str] = field(default_factory=dict[str, str])
    """Conversation → why it cannot be queued."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueState:
    counts: JobCounts
    paused: Pause | None
    next_due_at: str
    """When the next may be taken, where all of them wait. Empty: at once, or there is none."""
    aside: list[Job]
    """With their reasons; the first few."""


def queues_by_itself(settings: LibrarianSettings, *, is_paid: bool) -> bool:
    """Whether the daemon queues and reads without being asked: a model that costs money only under a ceiling."""
    if settings.model == "none":
        return False
    return not is_paid or settings.tokens_per_day > 0 or settings.dollars_per_day > 0


class Queue:
    def __init__(self, database: Database, settings: Settings, clock: Clock) -> None:
        self._database = database
        self._settings = settings
        self._house = settings.house
        self._clock = clock
        self._presence = Presence(settings.runtime)

    def ready(self) -> Queued:
        """Queue all that ended; skip those that are too short."""
        result = Queued()
        with self._database.read() as session:
            if not ConversationStore(session, self._house).ready(self._ready_before(), 1):
                return result
        while True:
            with self._database.write() as session:
                found = ConversationStore(session, self._house).ready(self._ready_before(), BATCH)
                for conversation in found:
                    is_short = conversation.messages < self._settings.min_conversation_messages
                    self._move(session, conversation, is_short, result)
            if len(found) < BATCH:
                return result

    def these(self, conversation_ids: Iterable[str]) -> Queued:
        """Queue what somebody asks for: also what was read before, was skipped, or was set aside."""
        result = Queued()
        wanted = list(dict.fromkeys(conversation_ids))
        for start in range(0, len(wanted), BATCH):
            with self._database.write() as session:
                for conversation_id in wanted[start : start + BATCH]:
                    self._queue_named(session, conversation_id, result)
        return result

    def _queue_named(self, session: Session, conversation_id: str, result: Queued) -> None:
        found = ConversationStore(session, self._house).get(conversation_id)
        if found is None or not found.messages:
            result.refused[conversation_id] = "it is not there: `recollect conversations` lists those that are"
        elif found.ended_at >= self._ready_before():
            minutes = self._settings.conversation_gap_minutes
            result.refused[conversation_id] = f"it may go on: it is ready after {minutes:g} minutes of silence"
        else:
            self._move(session, found, False, result)

    def _move(self, session: Session, conversation: Conversation, is_short: bool, result: Queued) -> None:
        jobs, store = JobStore(session, self._house), ConversationStore(session, self._house)
        if is_short:
            jobs.remove(KIND, conversation.id)
            result.skipped += store.change_status(conversation, Status.SKIPPED)
            return
        is_new = jobs.add(KIND, conversation.id, self._clock(), place=conversation.ended_at)
        # One that is being read by a living worker stays so.
        if is_new or conversation.status is not Status.PROCESSING:
            store.change_status(conversation, Status.QUEUED)
        result.queued += is_new
        result.already += not is_new

    def recover(self) -> int:
        """Queue again what a worker left when it died, and make jobs and conversations agree; how many were queued."""
        with self._database.write() as session:
            freed = self._free(session)
            queued = self._agree(session)
        self._presence.clear_up()
        return freed + queued

    def _free(self, session: Session) -> int:
        """Jobs whose holder is gone."""
        jobs, now = JobStore(session, self._house), to_text(self._clock())
        freed = 0
        for job in jobs.listed(KIND, State.HELD, EVERY):
            if job.lease_until <= now or self._presence.is_dead(job.owner):
                freed += jobs.release(job, is_counted=True)
                requeue(session, self._house, job.target)
        return freed

    def _agree(self, session: Session) -> int:
        jobs, store = JobStore(session, self._house), ConversationStore(session, self._house)
        held, queued, aside = (jobs.targets(KIND, state) for state in (State.HELD, State.QUEUED, State.ASIDE))
        added = 0
        in_work: set[str] = set()
        for status in (Status.QUEUED, Status.PROCESSING):
            for conversation in store.with_status(status, EVERY):
                in_work.add(conversation.id)
                if conversation.id not in held:
                    added += jobs.add(KIND, conversation.id, self._clock(), place=conversation.ended_at)
                    store.change_status(conversation, Status.QUEUED)
        for target in queued - in_work:
            jobs.remove(KIND, target)
        for target in aside - in_work:
            if store.get(target) is None:
                jobs.remove(KIND, target)
        return added

    def pause(self, reason: str = "") -> None:
        with self._database.write() as session:
            JobStore(session, self._house).pause(KIND, self._clock(), reason)

    def resume(self) -> bool:
        """Whether it was paused."""
        with self._database.write() as session:
            return JobStore(session, self._house).resume(KIND)

    def state(self, most_aside: int = 20) -> QueueState:
        with self._database.read() as session:
            jobs = JobStore(session, self._house)
            next_due_at = jobs.next_due_at(KIND) or ""
            return QueueState(
                counts=jobs.counts(KIND),
                paused=jobs.paused(KIND),
                next_due_at=next_due_at if next_due_at > to_text(self._clock()) else "",
                aside=jobs.listed(KIND, State.ASIDE, most_aside),
            )

    def aside(self) -> Sequence[str]:
        """All that were set aside, to be queued again."""
        with self._database.read() as session:
            return sorted(JobStore(session, self._house).targets(KIND, State.ASIDE))

    def _ready_before(self) -> str:
        return to_text(self._clock() - self._gap)

    @property
    def _gap(self) -> timedelta:
        return timedelta(minutes=self._settings.conversation_gap_minutes)
