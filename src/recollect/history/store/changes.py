"""Which messages were touched, in the order of commits: what an index reads to follow history.

Every statement that adds, changes or deletes a message notes it here in its own transaction, so a change that is seen
is a change that happened. The rows say which message, not what: who follows reads the message as it is by then. One
transaction has one number, later ones have greater numbers.

Numbers grow by random steps. After a database is put back from a backup it counts on from an older number; with steps
of one it would soon give out numbers that a follower has already passed, and the follower would miss what they mean.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass

from recollect.database import Session
from recollect.ids import new_id

STEP_BYTES = 4
"""Two counts from the same number meet in a given number once in two thousand million; four thousand million fit."""
END = (1 << 63) - 1

NOTE = """
INSERT INTO history_changes (house, change, message_id) VALUES (:house, :change, :message_id) ON CONFLICT DO NOTHING
"""
NEWEST = "SELECT max(change) FROM history_changes WHERE house = :house"
AFTER = """
SELECT change, message_id FROM history_changes
WHERE house = :house AND change > :after AND change <= coalesce((
    SELECT change FROM history_changes WHERE house = :house AND change > :after
    ORDER BY change, message_id LIMIT 1 OFFSET :skipped
), :end)
ORDER BY change, message_id
"""
NUMBER = "SELECT count(DISTINCT message_id) FROM history_changes WHERE house = :house AND change > :after"
SAID = """
SELECT count(*) FROM history_messages
WHERE house = :house AND gone = 0 AND (standing = 'said' OR author = 'subagent')
"""
IS_NOTED = (
    "SELECT count(*) FROM (SELECT 1 FROM history_changes WHERE house = :house AND change = :change LIMIT 1) found"
)
NEWEST_BEFORE = """
SELECT max(change) FROM history_changes
WHERE house = :house AND change < :before AND change < (SELECT max(change) FROM history_changes WHERE house = :house)
"""
FORGET = "DELETE FROM history_changes WHERE house = :house AND change <= :forgotten"
FEED = "SELECT id, forgotten FROM history_feed WHERE house = :house"
BEGIN_FEED = "INSERT INTO history_feed (house, id, forgotten) VALUES (:house, :id, 0)"
SET_FORGOTTEN = "UPDATE history_feed SET forgotten = :forgotten WHERE house = :house"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A message was added, changed or deleted."""

    change: int
    message_id: str


class ChangeStore:
    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house
        self._number = 0

    def note(self, message_ids: Iterable[str]) -> None:
        """These messages are touched by the transaction of this session."""
        touched = sorted(message_ids)
        if touched:
            number = self._number = self._number or self.newest() + _step()
            self._session.many(NOTE, [(self._house, number, message_id) for message_id in touched])

    def newest(self) -> int:
        return self._session.value(NEWEST, {"house": self._house}) or 0

    def number(self, after: int | None) -> int:
        """How many messages were touched after a change; None: how many were said at all."""
        if after is None:
            return self._session.value(SAID, {"house": self._house})
        return self._session.value(NUMBER, {"house": self._house, "after": after})

    def after(self, change: int, limit: int) -> list[Change]:
        """Changes with greater numbers, in order: at least `limit` if there are so many, and each number whole."""
        given = {"house": self._house, "after": change, "skipped": max(limit, 1) - 1, "end": END}
        rows = self._session.rows(AFTER, given)
        return [Change(change=number, message_id=message_id) for number, message_id in rows]

    def is_known(self, change: int) -> bool:
        """Whether all that came after this number is still here, and the number was given out by this database."""
        _, forgotten = self.feed() or ("", 0)
        given = {"house": self._house, "change": change}
        return change == forgotten or bool(self._session.value(IS_NOTED, given))

    def forget(self, before: int) -> None:
        """Drop what has smaller numbers. The newest number stays: the next one is counted from it."""
        forgotten = self._session.value(NEWEST_BEFORE, {"house": self._house, "before": before})
        if forgotten is not None:
            self.begin_feed()
            given = {"house": self._house, "forgotten": forgotten}
            self._session.run(FORGET, given)
            self._session.run(SET_FORGOTTEN, given)

    def feed(self) -> tuple[str, int] | None:
        """(identity, the newest number that was forgotten); None before anybody asked for it."""
        row = self._session.one(FEED, {"house": self._house})
        return (row[0], row[1]) if row else None

    def begin_feed(self) -> str:
        """Give the feed an identity unless it has one; the identity."""
        feed = self.feed()
        if feed:
            return feed[0]
        made = new_id()
        self._session.run(BEGIN_FEED, {"house": self._house, "id": made})
        return made


def _step() -> int:
    return 1 + int.from_bytes(os.urandom(STEP_BYTES), "big")
