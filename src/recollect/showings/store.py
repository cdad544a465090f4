"""All SQL on the tables of showings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.database import Row, Session
from recollect.showings.standing import SINKS_AFTER, Counted, Figures

OPEN, USED, UNUSED = "open", "used", "unused"
SAID = "said"
"""How something was used that the assistant spoke of."""

ADD_SESSION = """
INSERT INTO showings_sessions (house, scope, session_id, purpose, shown_at, looked, looked_at, answers)
VALUES (:house, :scope, :session_id, :purpose, :shown_at, '', '', 0) ON CONFLICT DO NOTHING
"""
IN_SESSION = """
SELECT record_id FROM showings_records WHERE house = :house AND scope = :scope AND session_id = :session_id
"""
ADD_RECORD = """
INSERT INTO showings_records (house, scope, session_id, record_id, version, shown_at, state)
VALUES (:house, :scope, :session_id, :record_id, :version, :shown_at, 'open') ON CONFLICT DO NOTHING
"""
COUNT_SHOWN = """
INSERT INTO showings_counts (
    house, scope, record_id, version, shown, used, unused, last_shown_at, last_used_at, last_used_how
)
VALUES (:house, :scope, :record_id, :version, 1, 0, 0, :at, '', '')
ON CONFLICT (house, scope, record_id) DO UPDATE SET shown = showings_counts.shown + 1, last_shown_at = :at
"""
COUNT_USED = """
INSERT INTO showings_counts (
    house, scope, record_id, version, shown, used, unused, last_shown_at, last_used_at, last_used_how
)
VALUES (:house, :scope, :record_id, :version, 0, 1, 0, '', :at, :how)
ON CONFLICT (house, scope, record_id) DO UPDATE SET
    version = CASE WHEN showings_counts.version < :version THEN :version ELSE showings_counts.version END,
    used = showings_counts.used + 1, unused = 0, last_used_at = :at, last_used_how = :how
"""
COUNT_UNUSED = """
UPDATE showings_counts SET
    unused = CASE WHEN version = :version THEN unused + 1 ELSE 1 END, version = :version
WHERE house = :house AND scope = :scope AND record_id = :record_id AND version <= :version AND last_used_at < :shown_at
"""
"""A showing of an older version than the one that is counted, or from before the last use, says nothing any more."""
SET_USED = """
UPDATE showings_records SET state = 'used'
WHERE house = :house AND scope = :scope AND session_id = :session_id AND record_id = :record_id AND state <> 'used'
"""
SET_USED_ANYWHERE = """
UPDATE showings_records SET state = 'used'
WHERE house = :house AND scope = :scope AND record_id = :record_id AND state = 'open'
"""
SET_UNUSED = """
UPDATE showings_records SET state = 'unused'
WHERE house = :house AND scope = :scope AND session_id = :session_id AND record_id = :record_id AND state = 'open'
"""
SESSIONS = """
SELECT scope, session_id, shown_at, looked, looked_at, answers FROM showings_sessions
WHERE house = :house ORDER BY scope, session_id
"""
WAITING = """
SELECT record_id, version, shown_at FROM showings_records
WHERE house = :house AND scope = :scope AND session_id = :session_id AND state <> 'used' ORDER BY record_id
"""
LOOKED = """
UPDATE showings_sessions SET looked = :looked, looked_at = :looked_at, answers = :answers
WHERE house = :house AND scope = :scope AND session_id = :session_id
"""
OVERDUE = """
SELECT r.scope, r.session_id, r.record_id, r.version, r.shown_at, s.answers
FROM showings_records r JOIN showings_sessions s
    ON s.house = r.house AND s.scope = r.scope AND s.session_id = r.session_id
WHERE r.house = :house AND r.state = 'open' AND r.shown_at < :before
ORDER BY r.shown_at, r.scope, r.session_id, r.record_id LIMIT :limit
"""
OLD_SESSIONS = "SELECT scope, session_id FROM showings_sessions WHERE house = :house AND shown_at < :before"
LATEST_SESSIONS = """
SELECT scope, session_id FROM showings_sessions WHERE house = :house
ORDER BY shown_at DESC, scope, session_id LIMIT :limit OFFSET :kept
"""
DROP_SESSION = """
DELETE FROM showings_sessions WHERE house = :house AND scope = :scope AND session_id = :session_id
"""
DROP_RECORDS = """
DELETE FROM showings_records WHERE house = :house AND scope = :scope AND session_id = :session_id
"""
DROP_SCOPE = "DELETE FROM {table} WHERE house = :house AND scope = :scope"
TABLES = ("showings_sessions", "showings_records", "showings_counts")
SCOPES = "SELECT DISTINCT scope FROM showings_counts WHERE house = :house ORDER BY scope"
SESSIONS_NAMED = "SELECT scope, session_id FROM showings_sessions WHERE house = :house AND session_id IN (:values)"
_COUNTED = "record_id, version, shown, used, unused, last_shown_at, last_used_at, last_used_how"
COUNTED = f"""
SELECT {_COUNTED} FROM showings_counts WHERE house = :house AND scope = :scope AND record_id IN (:values)
"""
COUNTED_ANYWHERE = f"SELECT {_COUNTED} FROM showings_counts WHERE house = :house AND record_id IN (:values)"
NUMBER_OF_RECORD = "SELECT count(*) FROM {table} WHERE house = :house AND record_id = :record_id"
DROP_RECORD = "DELETE FROM {table} WHERE house = :house AND record_id = :record_id"
FIGURES = """
SELECT count(DISTINCT record_id), count(DISTINCT CASE WHEN used > 0 THEN record_id END),
    count(DISTINCT CASE WHEN unused >= :sinks THEN record_id END)
FROM showings_counts WHERE house = :house AND (:scope = '' OR scope = :scope)
"""
OPEN_SESSIONS = """
SELECT count(*) FROM (
    SELECT DISTINCT scope, session_id FROM showings_records
    WHERE house = :house AND state = 'open' AND (:scope = '' OR scope = :scope)
) AS found
"""
ALL_SCOPES = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSession:
    scope: str
    session_id: str
    shown_at: str
    looked: str
    """How far the session was at the last look, as `fingerprint` says it. Empty: nobody looked yet."""
    looked_at: str
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRecord:
    record_id: str
    version: int
    shown_at: str


class ShowingStore:
    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    # Showing and using

    def shown_in(self, scope: str, session_id: str) -> set[str]:
        given = self._given(scope=scope, session_id=session_id)
        return {row[0] for row in self._session.rows(IN_SESSION, given)}

    def add(self, scope: str, session_id: str, purpose: str, versions: Mapping[str, int], at: str) -> None:
        """Record → its version. One that was shown in this session before stays as it is, and counts once."""
        given = self._given(scope=scope, session_id=session_id)
        self._session.run(ADD_SESSION, {**given, "purpose": purpose, "shown_at": at})
        for record_id, version in versions.items():
            one = {"record_id": record_id, "version": version}
            if self._session.run(ADD_RECORD, {**given, **one, "shown_at": at}):
                self._session.run(COUNT_SHOWN, self._given(scope=scope, at=at, **one))

    def use(self, scope: str, versions: Mapping[str, int], how: str, at: str) -> None:
        """They were opened: wherever they are shown just now, it was not in vain."""
        for record_id, version in versions.items():
            self._session.run(SET_USED_ANYWHERE, self._given(scope=scope, record_id=record_id))
            self._count_used(scope, record_id, version, how, at)

    def use_in(self, scope: str, session_id: str, record: ShownRecord, at: str) -> None:
        given = self._given(scope=scope, session_id=session_id, record_id=record.record_id)
        if self._session.run(SET_USED, given):
            self._count_used(scope, record.record_id, record.version, SAID, at)

    def _count_used(self, scope: str, record_id: str, version: int, how: str, at: str) -> None:
        given = {"scope": scope, "record_id": record_id, "version": version, "how": how, "at": at}
        self._session.run(COUNT_USED, self._given(**given))

    # Looking

    def sessions(self) -> list[ShownSession]:
        return [
            ShownSession(
                scope=scope, session_id=name, shown_at=shown_at, looked=looked, looked_at=looked_at, answers=answers
            )
            for scope, name, shown_at, looked, looked_at, answers in self._session.rows(SESSIONS, self._given())
        ]

    def waiting(self, session: ShownSession) -> list[ShownRecord]:
        """What was shown in it and is not known to have been used."""
        rows = self._session.rows(WAITING, self._given(scope=session.scope, session_id=session.session_id))
        return [ShownRecord(record_id=name, version=version, shown_at=at) for name, version, at in rows]

    def looked(self, session: ShownSession, fingerprint: str, at: str, answers: int) -> None:
        given = self._given(scope=session.scope, session_id=session.session_id)
        self._session.run(LOOKED, {**given, "looked": fingerprint, "looked_at": at, "answers": answers})

    # Closing and pruning

    def close(self, before: str, limit: int) -> int:
        """What was shown before this time and not used counts as unused, where anybody answered at all."""
        rows = self._session.rows(OVERDUE, self._given(before=before, limit=limit))
        for scope, session_id, record_id, version, shown_at, answers in rows:
            one = self._given(scope=scope, record_id=record_id)
            self._session.run(SET_UNUSED, {**one, "session_id": session_id})
            if answers:
                self._session.run(COUNT_UNUSED, {**one, "version": version, "shown_at": shown_at})
        return len(rows)

    def prune(self, before: str, most_sessions: int, limit: int) -> int:
        """Drop the sessions from before this time, and the oldest of too many; how many."""
        old = self._session.rows(OLD_SESSIONS, self._given(before=before))
        old += self._session.rows(LATEST_SESSIONS, self._given(kept=most_sessions, limit=limit))
        self.drop_sessions(old)
        return len(old)

    def drop_sessions(self, sessions: Iterable[Row]) -> int:
        """(scope, session) of each."""
        number = 0
        for scope, session_id in sessions:
            given = self._given(scope=scope, session_id=session_id)
            number += self._session.run(DROP_SESSION, given)
            self._session.run(DROP_RECORDS, given)
        return number

    def scopes(self) -> list[str]:
        """Those that anything is counted for."""
        return [row[0] for row in self._session.rows(SCOPES, self._given())]

    def drop_scope(self, scope: str) -> None:
        for table in TABLES:
            self._session.run(DROP_SCOPE.format(table=table), self._given(scope=scope))

    # Reading

    def counted(self, record_ids: Sequence[str], scope: str = ALL_SCOPES) -> list[Counted]:
        """Of these records, in one scope or in each."""
        given = self._given(scope=scope) if scope else self._given()
        rows = self._session.among(COUNTED if scope else COUNTED_ANYWHERE, list(record_ids), given)
        return [_counted(row) for row in rows]

    def figures(self, scope: str = ALL_SCOPES) -> Figures:
        given = self._given(scope=scope)
        row = self._session.one(FIGURES, {**given, "sinks": SINKS_AFTER[0]}) or (0, 0, 0)
        records, used, sunk = row
        number = self._session.value(OPEN_SESSIONS, given)
        return Figures(records=records, used=used, sunk=sunk, open_sessions=number)

    # Forgetting

    def number_of(self, record_ids: Iterable[str]) -> int:
        """How many rows tell of these records."""
        return sum(
            self._session.value(NUMBER_OF_RECORD.format(table=table), self._given(record_id=record_id))
            for record_id in record_ids
            for table in TABLES[1:]
        )

    def drop_records(self, record_ids: Iterable[str]) -> int:
        return sum(
            self._session.run(DROP_RECORD.format(table=table), self._given(record_id=record_id))
            for record_id in record_ids
            for table in TABLES[1:]
        )

    def sessions_named(self, session_ids: Sequence[str]) -> list[Row]:
        """(scope, session) of those of these sessions in which something was shown."""
        return self._session.among(SESSIONS_NAMED, list(session_ids), self._given())

    def _given(self, **parameters: Any) -> dict[str, Any]:
        return {"house": self._house, **parameters}


def _counted(row: Row) -> Counted:
    record_id, version, shown, used, unused, last_shown_at, last_used_at, last_used_how = row
    return Counted(
        record_id=record_id,
        version=version,
        shown=shown,
        used=used,
        unused=unused,
        last_shown_at=last_shown_at,
        last_used_at=last_used_at,
        last_used_how=last_used_how,
    )
