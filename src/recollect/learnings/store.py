"""All SQL on the reports of markers."""

from collections.abc import Iterable, Sequence
from typing import Any

from recollect.database import Session

DROP = "DELETE FROM knowledge_marker_reports WHERE house = :house AND message_id = :message_id"
ADD = """
INSERT INTO knowledge_marker_reports (house, message_id, place, problem, reported_at)
VALUES (:house, :message_id, :place, :problem, :reported_at)
"""
REPORTED = "SELECT DISTINCT message_id FROM knowledge_marker_reports WHERE house = :house AND message_id IN (:values)"
EVERY_MESSAGE = "SELECT DISTINCT message_id FROM knowledge_marker_reports WHERE house = :house ORDER BY message_id"
LATEST = """
SELECT message_id, place, problem FROM knowledge_marker_reports WHERE house = :house
ORDER BY reported_at DESC, message_id, place LIMIT :limit
"""
NUMBER = "SELECT count(*) FROM knowledge_marker_reports WHERE house = :house"


class ReportStore:
    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    def replace(self, message_id: str, problems: Iterable[tuple[int, str]], at: str) -> None:
        """(place, problem): what is to be reported of a message now."""
        self._session.run(DROP, self._given(message_id=message_id))
        self._session.many(ADD, [(self._house, message_id, place, problem, at) for place, problem in problems])

    def drop(self, message_ids: Iterable[str]) -> None:
        """The messages are gone."""
        for message_id in message_ids:
            self._session.run(DROP, self._given(message_id=message_id))

    def reported(self, message_ids: Sequence[str]) -> set[str]:
        """Those of these messages that something is reported of."""
        return {row[0] for row in self._session.among(REPORTED, message_ids, self._given())}

    def every_message(self) -> set[str]:
        return {row[0] for row in self._session.rows(EVERY_MESSAGE, self._given())}

    def latest(self, limit: int) -> list[tuple[str, int, str]]:
        """(message, place, problem), what was reported last first."""
        return [(name, place, problem) for name, place, problem in self._session.rows(LATEST, self._given(limit=limit))]

    def number(self) -> int:
        return self._session.value(NUMBER, self._given())

    def _given(self, **parameters: Any) -> dict[str, Any]:
        return {"house": self._house, **parameters}
