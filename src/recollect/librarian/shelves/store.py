"""All SQL on what is known of shelves: the version of each up to which the changes of others were read."""

from collections.abc import Sequence

from recollect.database import Session

SAVE = """
INSERT INTO librarian_shelves (house, path, number) VALUES (:house, :path, :number)
ON CONFLICT (house, path) DO UPDATE SET number = excluded.number
"""
NUMBERS = "SELECT path, number FROM librarian_shelves WHERE house = :house AND path IN (:values)"
EVERY = "SELECT path FROM librarian_shelves WHERE house = :house ORDER BY path"
DROP = "DELETE FROM librarian_shelves WHERE house = :house AND path = :path"


class ShelfStore:
    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    def save(self, path: str, number: int) -> None:
        self._session.run(SAVE, {"house": self._house, "path": path, "number": number})

    def numbers(self, paths: Sequence[str]) -> dict[str, int]:
        rows = self._session.among(NUMBERS, list(paths), {"house": self._house}) if paths else []
        return {str(path): int(number) for path, number in rows}

    def paths(self) -> list[str]:
        return [row[0] for row in self._session.rows(EVERY, {"house": self._house})]

    def drop(self, path: str) -> None:
        self._session.run(DROP, {"house": self._house, "path": path})
