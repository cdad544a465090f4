"""Nights: what each reflection changed, by versions, so that a whole night can be undone."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from recollect.database import Session
from recollect.errors import Conflict, NotFound

RUNNING, DONE, UNDONE = "running", "done", "undone"
MOST_NAMED = 1_000
"""Nights that can still be named: some years."""

_COLUMNS = "id, at, state, reader, changes, counts"
BEGIN = f"""
INSERT INTO librarian_nights (house, {_COLUMNS})
VALUES (:house, :id, :at, :state, :reader, :changes, :counts) ON CONFLICT (house, id) DO NOTHING
"""
SAVE = (
    "UPDATE librarian_nights SET state = :state, changes = :changes, counts = :counts WHERE house = :house AND id = :id"
)
GET = f"SELECT {_COLUMNS} FROM librarian_nights WHERE house = :house AND id = :id"
OF_STATE = f"SELECT {_COLUMNS} FROM librarian_nights WHERE house = :house AND state = :state"
LATEST = f"SELECT {_COLUMNS} FROM librarian_nights WHERE house = :house ORDER BY at DESC, id DESC LIMIT :limit"


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A record or a note: its version before and after. 0: it was not there."""

    record: str = ""
    path: str = ""
    before: int
    after: int
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    id: str
    at: str
    state: str = RUNNING
    reader: str = "rules"
    changes: tuple[Change, ...] = ()
    """The pre-image: each version before is kept."""
    counts: dict[str, int] = field(default_factory=dict[str, int])


class NightStore:
    """All SQL on nights."""

    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    def begin(self, night: Night) -> bool:
        """False: somebody else has this one."""
        return self._session.run(BEGIN, self._given(night)) == 1

    def save(self, night: Night) -> None:
        given = self._given(night)
        self._session.run(SAVE, {name: given[name] for name in ("house", "id", "state", "changes", "counts")})

    def latest(self, limit: int) -> list[Night]:
        rows = self._session.rows(LATEST, {"house": self._house, "limit": limit})
        return [_night(row) for row in rows]

    def undone(self) -> list[Night]:
        """What they did was not wanted, and is not done again."""
        return [_night(row) for row in self._session.rows(OF_STATE, {"house": self._house, "state": UNDONE})]

    def named(self, name: str) -> Night:
        """By its id, the start or the end of it; empty: the latest that was not undone."""
        nights = self.latest(MOST_NAMED)
        if not name:
            found = [night for night in nights if night.state == DONE][:1]
        else:
            found = [night for night in nights if night.id.startswith(name) or night.id.endswith(name)]
        if not found:
            wanted = f"No night is called {name[:100]!r}." if name else "No night changed anything that still stands."
            raise NotFound(f"{wanted} `recollect reflect --nights` lists them.")
        if len(found) > 1:
            raise Conflict(f"{name!r} could be {len(found)} nights. Give more of the id.")
        return found[0]

    def get(self, night_id: str) -> Night | None:
        row = self._session.one(GET, {"house": self._house, "id": night_id})
        return _night(row) if row else None

    def _given(self, night: Night) -> dict[str, Any]:
        return {
            "house": self._house,
            "id": night.id,
            "at": night.at,
            "state": night.state,
            "reader": night.reader,
            "changes": msgspec.json.encode(night.changes).decode(),
            "counts": msgspec.json.encode(night.counts).decode(),
        }


def _night(row: Sequence[Any]) -> Night:
    values: dict[str, Any] = dict(zip(_COLUMNS.split(", "), row, strict=True))
    values["changes"] = msgspec.json.decode(values["changes"], type=tuple[Change, ...])
    values["counts"] = msgspec.json.decode(values["counts"], type=dict[str, int])
    return Night(**values)
