"""All SQL on the events of runs."""

from dataclasses import dataclass
from typing import Any

import msgspec

from recollect.database import Session

INSERT = """
INSERT INTO runs_events (house, id, name, outcome, started_at, milliseconds, detail)
VALUES (:house, :id, :name, :outcome, :started_at, :milliseconds, :detail)
"""
LATEST = """
SELECT id, name, outcome, started_at, milliseconds, detail FROM runs_events
WHERE house = :house{name} AND (:outcome = '' OR outcome = :outcome)
ORDER BY started_at DESC, id DESC LIMIT :limit
"""
OF_NAME = LATEST.format(name=" AND name = :name")
"""A statement of its own, as no index serves "this name or any"."""
OF_ANY_NAME = LATEST.format(name="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    id: str
    name: str
    outcome: str
    started_at: str
    milliseconds: int
    detail: dict[str, Any]


class EventStore:
    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    def add(self, event: Event) -> None:
        self._session.run(
            INSERT,
            {
                "house": self._house,
                "id": event.id,
                "name": event.name,
                "outcome": event.outcome,
                "started_at": event.started_at,
                "milliseconds": event.milliseconds,
                "detail": msgspec.json.encode(event.detail).decode(),
            },
        )

    def latest(self, name: str, outcome: str, limit: int) -> list[Event]:
        given = {"house": self._house, "name": name, "outcome": outcome, "limit": limit}
        return [
            Event(
                id=id_,
                name=name_,
                outcome=outcome_,
                started_at=started_at,
                milliseconds=milliseconds,
                detail=msgspec.json.decode(detail, type=dict[str, Any]),
            )
            for id_, name_, outcome_, started_at, milliseconds, detail in self._session.rows(
                OF_NAME if name else OF_ANY_NAME, given
            )
        ]
