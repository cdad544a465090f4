"""Recording and reading events."""

from datetime import timedelta

from recollect.clock import Clock, to_text
from recollect.database import Database
from recollect.ids import new_id
from recollect.runs.store import Event, EventStore
from recollect.runs.telemetry import send
from recollect.scopes import OWNER, Principal

__all__ = ["Event", "Runs"]


class Runs:
    def __init__(self, database: Database, house: str, clock: Clock, principal: Principal = OWNER) -> None:
        self._database = database
        self._house = house
        self._clock = clock
        self._principal = principal

    def record(self, name: str, outcome: str, seconds: float, detail: dict[str, object]) -> None:
        """Something ended now that took so many seconds. It is also told to who collects such things."""
        event = Event(
            id=new_id(),
            name=name,
            outcome=outcome,
            started_at=to_text(self._clock() - timedelta(seconds=seconds)),
            milliseconds=round(seconds * 1000),
            detail=detail,
        )
        with self._database.write() as session:
            EventStore(session, self._house).add(event)
        send(event)

    def latest(self, name: str = "", outcome: str = "", limit: int = 20) -> list[Event]:
        """The latest first. They tell of files and failures of the whole house: an agent is told of none."""
        if self._principal.is_confined:
            return []
        with self._database.read() as session:
            return EventStore(session, self._house).latest(name, outcome, limit)
