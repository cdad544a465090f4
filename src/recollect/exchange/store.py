"""All SQL on the files of memory folders."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.database import Session

OF_FOLDER = """
SELECT name, digest, record_id FROM exchange_facts
WHERE house = :house AND computer = :computer AND folder = :folder ORDER BY name
"""
OF_RECORD = """
SELECT computer, folder, name, digest FROM exchange_facts
WHERE house = :house AND record_id = :record_id ORDER BY computer, folder, name
"""
SAVE = """
INSERT INTO exchange_facts (house, computer, folder, name, digest, record_id, at)
VALUES (:house, :computer, :folder, :name, :digest, :record_id, :at)
ON CONFLICT (house, computer, folder, name) DO UPDATE SET
    digest = excluded.digest, record_id = excluded.record_id, at = excluded.at
"""
OF_RECORDS = "SELECT record_id FROM exchange_facts WHERE house = :house AND record_id IN (:values)"
DROP = "DELETE FROM exchange_facts WHERE house = :house AND record_id = :record_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What a file was when it was last read, and what became of it."""

    name: str
    digest: str
    record_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A file that says what a record says, and what it was when it was last read."""

    computer: str
    folder: str
    name: str
    digest: str


class FactStore:
    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    def of_folder(self, computer: str, folder: str) -> dict[str, Kept]:
        rows = self._session.rows(OF_FOLDER, self._given(computer=computer, folder=folder))
        return {name: Kept(name=name, digest=digest, record_id=record_id) for name, digest, record_id in rows}

    def places_of(self, record_id: str) -> list[Place]:
        rows = self._session.rows(OF_RECORD, self._given(record_id=record_id))
        return [Place(computer=row[0], folder=row[1], name=row[2], digest=row[3]) for row in rows]

    def save(self, computer: str, folder: str, kept: Kept, at: str) -> None:
        given = {"name": kept.name, "digest": kept.digest, "record_id": kept.record_id, "at": at}
        self._session.run(SAVE, self._given(computer=computer, folder=folder, **given))

    def of_records(self, record_ids: Sequence[str]) -> list[str]:
        """The record of each file that became one of these, as often as there are files."""
        return [row[0] for row in self._session.among(OF_RECORDS, list(record_ids), self._given())]

    def drop(self, record_ids: Iterable[str]) -> int:
        return sum(self._session.run(DROP, self._given(record_id=record_id)) for record_id in record_ids)

    def _given(self, **parameters: Any) -> dict[str, Any]:
        return {"house": self._house, **parameters}
