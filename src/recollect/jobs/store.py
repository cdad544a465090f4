"""All SQL on jobs.

Every method works inside the caller's write session, of which there is one at a time for all processes and hosts: what
is looked at stays so until it is changed. Who holds a job proves it by its owner and its claim: each statement that
ends a claim compares both, and changes nothing when the job is another's by now.

Leases compare the clocks of several hosts. One that runs ahead may take a job early: then the work is done twice, and
still ended once.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any

from recollect.clock import to_text
from recollect.database import Row, Session
from recollect.jobs.job import Job, JobCounts, Pause, State

END_OF_TIME = "9999-99"
"""Behind every stored time."""
MOST_LISTED = 1_000

_NAMES = [item.name for item in fields(Job)]
_COLUMNS = ", ".join(_NAMES)
_VALUES = ", ".join(f":{name}" for name in _NAMES)

ADD = f"""
INSERT INTO jobs_jobs (house, {_COLUMNS}) VALUES (:house, {_VALUES})
ON CONFLICT (house, kind, target) DO UPDATE SET
    state = excluded.state, place = excluded.place, attempts = 0, queued_at = excluded.queued_at,
    due_at = excluded.due_at, reason = ''
WHERE jobs_jobs.state = 'aside'
"""
"""One that was set aside gets all its attempts again. Its claim stays: who held it then cannot end it now."""
GET = f"SELECT {_COLUMNS} FROM jobs_jobs WHERE house = :house AND kind = :kind AND target = :target"
OF_STATE = f"SELECT {_COLUMNS} FROM jobs_jobs WHERE house = :house AND kind = :kind AND state = :state"
FIRST = "ORDER BY place, target LIMIT 1"
NEXT_QUEUED = f"{OF_STATE} AND due_at <= :due_by {{among}}{FIRST}"
NEXT_EXPIRED = f"{OF_STATE} AND lease_until <= :now {{among}}{FIRST}"
AMONG = "AND target IN (:values) "
"""A statement each for the two states, so that each finds its first row in the index."""
LISTED = f"{OF_STATE} ORDER BY place, target LIMIT :limit"
TAKE = """
UPDATE jobs_jobs SET state = 'held', owner = :owner, lease_until = :lease_until, claim = :claim, attempts = :attempts
WHERE house = :house AND kind = :kind AND target = :target
"""
MINE = """
WHERE house = :house AND kind = :kind AND target = :target AND state = 'held' AND owner = :owner AND claim = :claim
"""
RENEW = f"UPDATE jobs_jobs SET lease_until = :lease_until {MINE}"
DONE = f"DELETE FROM jobs_jobs {MINE}"
LET_GO = f"""
UPDATE jobs_jobs SET state = :state, owner = '', lease_until = '', due_at = :due_at, attempts = :attempts,
    reason = :reason
{MINE}
"""
IS_MINE = f"SELECT 1 FROM jobs_jobs {MINE}"
REMOVE = "DELETE FROM jobs_jobs WHERE house = :house AND kind = :kind AND target = :target"
COUNT = "SELECT state, count(*) FROM jobs_jobs WHERE house = :house AND kind = :kind GROUP BY state"
NEXT_DUE = "SELECT min(due_at) FROM jobs_jobs WHERE house = :house AND kind = :kind AND state = 'queued'"
TARGETS = "SELECT target FROM jobs_jobs WHERE house = :house AND kind = :kind AND state = :state"
PAUSE = """
INSERT INTO jobs_pauses (house, kind, since, reason) VALUES (:house, :kind, :since, :reason)
ON CONFLICT (house, kind) DO NOTHING
"""
RESUME = "DELETE FROM jobs_pauses WHERE house = :house AND kind = :kind"
PAUSED = "SELECT since, reason FROM jobs_pauses WHERE house = :house AND kind = :kind"


class JobStore:
    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    # Queueing

    def add(self, kind: str, target: str, now: datetime, *, place: str = "", due_at: str = "") -> bool:
        """Whether it was not queued or held already."""
        job = Job(
            kind=kind,
            target=target,
            state=State.QUEUED,
            place=place,
            attempts=0,
            queued_at=to_text(now),
            due_at=due_at,
            owner="",
            lease_until="",
            claim=0,
            reason="",
        )
        return self._session.run(ADD, self._given(**{name: _plain(getattr(job, name)) for name in _NAMES})) == 1

    def remove(self, kind: str, target: str) -> bool:
        """Whoever holds it finds out when it would end it."""
        return self._session.run(REMOVE, self._given(kind=kind, target=target)) == 1

    # Working

    def claim(
        self,
        kind: str,
        owner: str,
        now: datetime,
        lease_seconds: float,
        *,
        among: Sequence[str] | None = None,
        even_waiting: bool = False,
    ) -> Job | None:
        """The first one that is due or whose lease ran out, now held by `owner`, a name that no other worker has ever
        had. `even_waiting`: when none is due, the first that is not. `among`: only of these targets."""
        job = self._next(kind, now, among, to_text(now))
        if job is None and even_waiting:
            job = self._next(kind, now, among, END_OF_TIME)
        if job is None:
            return None
        taken = replace(
            job,
            state=State.HELD,
            owner=owner,
            lease_until=_after(now, lease_seconds),
            claim=job.claim + 1,
            attempts=job.attempts + 1,
        )
        self._session.run(TAKE, {**self._mine(taken), "lease_until": taken.lease_until, "attempts": taken.attempts})
        return taken

    def _next(self, kind: str, now: datetime, among: Sequence[str] | None, due_by: str) -> Job | None:
        found = [
            *self._first(NEXT_EXPIRED, among, kind=kind, state=str(State.HELD), now=to_text(now)),
            *self._first(NEXT_QUEUED, among, kind=kind, state=str(State.QUEUED), due_by=due_by),
        ]
        return min(found, key=lambda job: (job.place, job.target), default=None)

    def _first(self, sql: str, among: Sequence[str] | None, **given: Any) -> list[Job]:
        if among is None:
            return [_job(row) for row in self._session.rows(sql.format(among=""), self._given(**given))]
        return [_job(row) for row in self._session.among(sql.format(among=AMONG), among, self._given(**given))]

    def is_mine(self, job: Job) -> bool:
        return self._session.one(IS_MINE, self._mine(job)) is not None

    def renew(self, job: Job, now: datetime, lease_seconds: float) -> bool:
        """False: it is another's by now, or nobody's."""
        return self._session.run(RENEW, {**self._mine(job), "lease_until": _after(now, lease_seconds)}) == 1

    def done(self, job: Job) -> bool:
        return self._session.run(DONE, self._mine(job)) == 1

    def retry(self, job: Job, due_at: str, reason: str, *, is_counted: bool = True) -> bool:
        """Later, by whoever takes it then. `is_counted`: the attempt was used up."""
        return self._let_go(job, State.QUEUED, due_at, reason, job.attempts if is_counted else job.attempts - 1)

    def release(self, job: Job, *, is_counted: bool = False) -> bool:
        """As if it had not been taken. `is_counted`: its worker died of it, or may have."""
        return self._let_go(job, State.QUEUED, job.due_at, job.reason, job.attempts - (not is_counted))

    def set_aside(self, job: Job, reason: str) -> bool:
        return self._let_go(job, State.ASIDE, "", reason, job.attempts)

    def _let_go(self, job: Job, state: State, due_at: str, reason: str, attempts: int) -> bool:
        given = {"state": str(state), "due_at": due_at, "reason": reason, "attempts": max(attempts, 0)}
        return self._session.run(LET_GO, {**self._mine(job), **given}) == 1

    # Looking

    def get(self, kind: str, target: str) -> Job | None:
        row = self._session.one(GET, self._given(kind=kind, target=target))
        return _job(row) if row else None

    def listed(self, kind: str, state: State, limit: int = MOST_LISTED) -> list[Job]:
        """In the order in which they are taken."""
        given = self._given(kind=kind, state=str(state), limit=limit)
        return [_job(row) for row in self._session.rows(LISTED, given)]

    def targets(self, kind: str, state: State) -> set[str]:
        return {row[0] for row in self._session.rows(TARGETS, self._given(kind=kind, state=str(state)))}

    def counts(self, kind: str) -> JobCounts:
        return JobCounts(**dict(self._session.rows(COUNT, self._given(kind=kind))))

    def next_due_at(self, kind: str) -> str | None:
        """When the next of those that are queued may be taken; empty: now. None: none is queued."""
        return self._session.value(NEXT_DUE, self._given(kind=kind))

    # Pausing: for all workers of a house

    def pause(self, kind: str, now: datetime, reason: str = "") -> None:
        """Who paused first is remembered."""
        self._session.run(PAUSE, self._given(kind=kind, since=to_text(now), reason=reason))

    def resume(self, kind: str) -> bool:
        """Whether it was paused."""
        return self._session.run(RESUME, self._given(kind=kind)) == 1

    def paused(self, kind: str) -> Pause | None:
        row = self._session.one(PAUSED, self._given(kind=kind))
        return Pause(since=row[0], reason=row[1]) if row else None

    def _mine(self, job: Job) -> dict[str, Any]:
        return self._given(kind=job.kind, target=job.target, owner=job.owner, claim=job.claim)

    def _given(self, **parameters: Any) -> dict[str, Any]:
        return {"house": self._house, **parameters}


def _after(now: datetime, seconds: float) -> str:
    return to_text(now + timedelta(seconds=seconds))


def _plain(value: object) -> object:
    return str(value) if isinstance(value, State) else value


def _job(row: Row) -> Job:
    values = dict(zip(_NAMES, row, strict=True))
    values["state"] = State(values["state"])
    return Job(**values)
