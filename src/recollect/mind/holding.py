"""One program at a time runs the turns of an agent: it holds a lease, and whoever else hears somebody leaves the answer
to it. When its process ends, on this computer the next one knows at once, on others when the lease runs out."""

import threading

from recollect.clock import Clock
from recollect.database import Database, Session
from recollect.ids import new_id
from recollect.jobs import Job, JobStore, Presence, Renewal, State
from recollect.settings import Settings

KIND = "mind"
LEASE_SECONDS = 30.0


class Holding:
    def __init__(self, database: Database, settings: Settings, clock: Clock, agent: str, kind: str = KIND) -> None:
        """`kind`: of what only one program at a time may do; `agent` is then whatever it is done for."""
        self._database = database
        self._house = settings.house
        self._clock = clock
        self._agent = agent
        self._kind = kind
        self._owner = f"{kind}-{new_id()}"
        self._presence = Presence(settings.runtime)
        self.takings = 0
        """How often it was taken: before each, somebody else may have run turns."""
        self._job: Job | None = None
        self._renewal: Renewal | None = None
        self._lock = threading.Lock()

    def hold(self) -> bool:
        """Whether the turns are ours to run: since before, or from now on."""
        with self._lock:
            return self._is_still_ours() or self._try()

    @property
    def is_held(self) -> bool:
        """As far as this program knows."""
        return self._job is not None

    def is_ours(self, session: Session) -> bool:
        """Still: a computer that slept may have lost the lease in the middle of a turn. Asked in the transaction that
        writes, so that two programs never write into one turn."""
        return self._job is not None and JobStore(session, self._house).is_mine(self._job)

    def let_go(self) -> None:
        with self._lock:
            job = self._job
            self._end()
            if job:
                with self._database.write() as session:
                    JobStore(session, self._house).done(job)
            self._presence.leave(self._owner)

    def _is_still_ours(self) -> bool:
        if self._job is None:
            return False
        with self._database.read() as session:
            is_mine = JobStore(session, self._house).is_mine(self._job)
        if not is_mine:
            self._end()
        return is_mine

    def _try(self) -> bool:
        self._presence.enter(self._owner)
        now = self._clock()
        with self._database.write() as session:
            jobs = JobStore(session, self._house)
            jobs.add(self._kind, self._agent, now)
            held = jobs.get(self._kind, self._agent)
            if held and held.state is State.HELD and self._presence.is_dead(held.owner):
                jobs.release(held)
            self._job = jobs.claim(self._kind, self._owner, now, LEASE_SECONDS, among=[self._agent])
        if self._job is None:
            return False
        self.takings += 1
        self._renewal = Renewal(self._database, self._house, self._clock, self._job, LEASE_SECONDS)
        self._renewal.__enter__()
        return True

    def _end(self) -> None:
        if self._renewal:
            self._renewal.__exit__(None, None, None)
        self._renewal, self._job = None, None
