"""All SQL on the feed's tables.

One transaction has one number, later ones have greater numbers. Numbers grow by random steps. After a database is put
back from a backup it counts on from an older number; with steps of one it would soon give out numbers that a follower
has already passed, and the follower would miss what they mean.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass

from recollect.database import Session
from recollect.ids import new_id

MESSAGE = "message"
RECORD = "record"
NOTE = "note"

STEP_BYTES = 4
"""Two counts from the same number meet in a given number once in two thousand million; four thousand million fit."""
END = (1 << 63) - 1

TOUCH = "INSERT INTO feed_changes (house, change, kind, id) VALUES (:house, :change, :kind, :id) ON CONFLICT DO NOTHING"
NEWEST = "SELECT max(change) FROM feed_changes WHERE house = :house"
AFTER = """
SELECT change, kind, id FROM feed_changes
WHERE house = :house AND change > :after AND change <= coalesce((
    SELECT change FROM feed_changes WHERE house = :house AND change > :after
    ORDER BY change, kind, id LIMIT 1 OFFSET :skipped
), :end)
ORDER BY change, kind, id
"""
NUMBER = """
SELECT count(*) FROM (SELECT DISTINCT kind, id FROM feed_changes WHERE house = :house AND change > :after) touched
"""
IS_NOTED = "SELECT count(*) FROM (SELECT 1 FROM feed_changes WHERE house = :house AND change = :change LIMIT 1) found"
NEWEST_BEFORE = """
SELECT max(change) FROM feed_changes
WHERE house = :house AND change < :before AND change < (SELECT max(change) FROM feed_changes WHERE house = :house)
"""
FORGET = "DELETE FROM feed_changes WHERE house = :house AND change <= :forgotten"
STATE = "SELECT id, forgotten FROM feed_state WHERE house = :house"
BEGIN = "INSERT INTO feed_state (house, id, forgotten) VALUES (:house, :id, 0)"
SET_FORGOTTEN = "UPDATE feed_state SET forgotten = :forgotten WHERE house = :house"
FOLLOWER = "SELECT change FROM feed_followers WHERE house = :house AND name = :name"
SET_FOLLOWER = """
INSERT INTO feed_followers (house, name, change) VALUES (:house, :name, :change)
ON CONFLICT (house, name) DO UPDATE SET change = excluded.change
"""
SLOWEST = "SELECT min(change) FROM feed_followers WHERE house = :house"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A thing was added, changed or deleted."""

    change: int
    kind: str
    id: str


class FeedStore:
    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house
        self._number = 0

    def note(self, kind: str, ids: Iterable[str]) -> None:
        """These things are touched by the transaction of this session."""
        touched = sorted(ids)
        if touched:
            number = self._number = self._number or self.newest() + _step()
            self._session.many(TOUCH, [(self._house, number, kind, one) for one in touched])

    def newest(self) -> int:
        return self._session.value(NEWEST, {"house": self._house}) or 0

    def number(self, after: int) -> int:
        """How many things were touched after a change."""
        return self._session.value(NUMBER, {"house": self._house, "after": after})

    def after(self, change: int, limit: int) -> list[Change]:
        """Changes with greater numbers, in order: at least `limit` if there are so many, and each number whole."""
        given = {"house": self._house, "after": change, "skipped": max(limit, 1) - 1, "end": END}
        return [Change(change=number, kind=kind, id=one) for number, kind, one in self._session.rows(AFTER, given)]

    def is_known(self, change: int) -> bool:
        """Whether all that came after this number is still here, and the number was given out by this database."""
        _, forgotten = self.state() or ("", 0)
        return change == forgotten or bool(self._session.value(IS_NOTED, {"house": self._house, "change": change}))

    def forget(self, before: int) -> None:
        """Drop what has smaller numbers. The newest number stays: the next one is counted from it."""
        forgotten = self._session.value(NEWEST_BEFORE, {"house": self._house, "before": before})
        if forgotten is not None:
            self.begin()
            given = {"house": self._house, "forgotten": forgotten}
            self._session.run(FORGET, given)
            self._session.run(SET_FORGOTTEN, given)

    def state(self) -> tuple[str, int] | None:
        """(identity, the newest number that was forgotten); None before anybody asked for it."""
        row = self._session.one(STATE, {"house": self._house})
        return (row[0], row[1]) if row else None

    def begin(self) -> str:
        """Give the feed an identity unless it has one; the identity."""
        state = self.state()
        if state:
            return state[0]
        made = new_id()
        self._session.run(BEGIN, {"house": self._house, "id": made})
        return made

    # Followers

    def reached(self, follower: str) -> int | None:
        """How far a follower is. None: it never followed."""
        return self._session.value(FOLLOWER, {"house": self._house, "name": follower})

    def set_reached(self, follower: str, change: int) -> None:
        self._session.run(SET_FOLLOWER, {"house": self._house, "name": follower, "change": change})

    def slowest(self) -> int | None:
        """How far the slowest of the followers is."""
        return self._session.value(SLOWEST, {"house": self._house})


def _step() -> int:
    return 1 + int.from_bytes(os.urandom(STEP_BYTES), "big")
