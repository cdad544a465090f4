"""When the next moment of each kind is due, kept so that a restart neither loses nor doubles one. All SQL on it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.clock import from_text, to_text
from recollect.database import Session

TICK = """
SELECT schedule, due_at, ran_at FROM mind_ticks WHERE house = :house AND agent = :agent AND kind = :kind
"""
FIRST = """
INSERT INTO mind_ticks (house, agent, kind, schedule, due_at, ran_at)
VALUES (:house, :agent, :kind, :schedule, :due_at, '') ON CONFLICT DO NOTHING
"""
MOVE = """
UPDATE mind_ticks SET schedule = :schedule, due_at = :due_at, ran_at = :ran_at
WHERE house = :house AND agent = :agent AND kind = :kind AND due_at = :before
"""


class Moment(StrEnum):
    OUTREACH = "outreach"
    REFLECTION = "reflection"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    schedule: str
    due_at: datetime
    ran_at: datetime | None = None


class TickStore:
    def __init__(self, session: Session, house: str, agent: str) -> None:
        self._session = session
        self._house = house
        self._agent = agent

    def get(self, kind: Moment) -> Tick | None:
        row = self._session.one(TICK, self._given(kind))
        if row is None:
            return None
        schedule, due_at, ran_at = row
        return Tick(schedule=schedule, due_at=from_text(due_at), ran_at=from_text(ran_at) if ran_at else None)

    def begin(self, kind: Moment, tick: Tick) -> None:
        self._session.run(FIRST, self._given(kind, schedule=tick.schedule, due_at=to_text(tick.due_at)))

    def move(self, kind: Moment, before: Tick, after: Tick) -> bool:
        """False: another program was quicker, and the moment is its own."""
        ran_at = to_text(after.ran_at) if after.ran_at else ""
        times = {"due_at": to_text(after.due_at), "before": to_text(before.due_at), "ran_at": ran_at}
        return self._session.run(MOVE, self._given(kind, schedule=after.schedule, **times)) == 1

    def _given(self, kind: Moment, **given: str) -> dict[str, str]:
        return {"house": self._house, "agent": self._agent, "kind": str(kind), **given}
