"""Conversations and their lifecycle."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from recollect.database import Row, Session
from recollect.history.conversations import FINISHED, Conversation, Status
from recollect.history.store.seeing import SEEN, by_seen_file, limited, of_seen_files
from recollect.scopes import EVERYTHING, Sight

_NAMES = [item.name for item in fields(Conversation)]
_COLUMNS = ", ".join(_NAMES)
_VALUES = ", ".join(f":{name}" for name in _NAMES)
_CHANGES = ", ".join(f"{name} = excluded.{name}" for name in _NAMES if name != "id")

CURRENT_STATUS = "CASE WHEN status = 'active' AND ended_at < :ready_before THEN 'ready' ELSE status END"
"""Readiness comes from the clock whenever it is asked for."""

WAITING_STATUSES = (Status.READY, Status.QUEUED, Status.PROCESSING)
END_OF_TIME = "9999-99"
"""Behind every stored time."""

SAVE = f"""
INSERT INTO history_conversations (house, {_COLUMNS}) VALUES (:house, {_VALUES})
ON CONFLICT (house, id) DO UPDATE SET {_CHANGES}
"""
DELETE = "DELETE FROM history_conversations WHERE house = :house AND id = :id"
OF_FILE = (
    f"SELECT {_COLUMNS} FROM history_conversations WHERE house = :house AND file_id = :file_id ORDER BY start_byte"
)
BY_ID = f"SELECT {_COLUMNS} FROM history_conversations WHERE house = :house AND id = :id"
OF_SESSION = f"SELECT {_COLUMNS} FROM history_conversations WHERE house = :house AND session_id = :session_id {SEEN}"
OF_SESSIONS = f"""
SELECT {_COLUMNS} FROM history_conversations
WHERE house = :house AND session_id IN (:values) AND messages > 0 {SEEN}
"""
LATEST = f"""
SELECT {_COLUMNS} FROM history_conversations
WHERE house = :house AND file_id = :file_id AND stream = :stream ORDER BY start_byte DESC LIMIT 1
"""
BY_PREFIX = f"""
SELECT {_COLUMNS} FROM history_conversations
WHERE house = :house AND (id >= :prefix AND id < :beyond OR session_id >= :prefix AND session_id < :beyond) {SEEN}
ORDER BY started_at, id LIMIT :limit
"""
LIST = f"""
SELECT {_COLUMNS}, {CURRENT_STATUS} FROM history_conversations
WHERE house = :house AND messages > 0
    AND (:status = '' OR {CURRENT_STATUS} = :status)
    AND (:project = '' OR lower(project) LIKE :project ESCAPE '\\')
    AND ended_at >= :since {SEEN}
ORDER BY ended_at DESC, id LIMIT :limit
"""
IDS = f"""
SELECT id FROM history_conversations
WHERE house = :house AND messages > 0
    AND (:status = '' OR {CURRENT_STATUS} = :status)
    AND (:project = '' OR lower(project) LIKE :project ESCAPE '\\') {SEEN}
"""
PROJECTS = f"SELECT id, project FROM history_conversations WHERE house = :house AND id IN (:values) {SEEN}"
COUNT = f"""
SELECT {CURRENT_STATUS}, count(*) FROM history_conversations WHERE house = :house AND messages > 0 {SEEN} GROUP BY 1
"""
MONTHS = f"""
SELECT count(*), count(DISTINCT substr(started_at, 1, 7)), min(started_at), max(ended_at)
FROM history_conversations WHERE house = :house AND messages > 0 AND started_at <> '' {SEEN}
"""
LATEST_ENDED = f"""
SELECT id, ended_at FROM history_conversations
WHERE house = :house AND ended_at >= :since AND ended_at <= :until AND (ended_at < :until OR id < :before)
    AND messages > 0 {SEEN}
ORDER BY ended_at DESC, id DESC LIMIT :limit
"""
WAITING = f"""
SELECT count(*) FROM (
    SELECT 1 AS one FROM history_conversations
    WHERE house = :house AND status = :status AND ended_at < :before AND messages > 0 {SEEN} LIMIT :most
) AS found
"""
"""Counted in an index, and not beyond a limit: who asks wants to know whether there are many."""
SET_STATUS = """
UPDATE history_conversations SET status = :status
WHERE house = :house AND id = :id AND status = :expected AND messages = :messages
"""
ENDED_WITH_STATUS = f"""
SELECT {_COLUMNS} FROM history_conversations
WHERE house = :house AND status = :status AND ended_at < :before AND messages > 0 ORDER BY ended_at, id LIMIT :limit
"""
NEXT_QUEUED = f"""
SELECT {_COLUMNS} FROM history_conversations WHERE house = :house AND status = 'queued' ORDER BY ended_at, id LIMIT 1
"""


class ConversationStore:
    def __init__(self, session: Session, house: str, sight: Sight = EVERYTHING) -> None:
        self._session = session
        self._house = house
        self._seen = of_seen_files(sight)
        self._seen_each = by_seen_file(sight, "history_conversations.file_id")

    def save(self, conversations: list[Conversation]) -> None:
        self._session.many(SAVE, [(self._house, *_values(conversation)) for conversation in conversations])

    def delete(self, conversation_id: str) -> None:
        self._session.run(DELETE, self._given(id=conversation_id))

    def of_file(self, file_id: str) -> list[Conversation]:
        return self._select(OF_FILE, file_id=file_id)

    def get(self, conversation_id: str) -> Conversation | None:
        found = self._select(BY_ID, id=conversation_id)
        return found[0] if found else None

    def of_session(self, session_id: str) -> list[Conversation]:
        return self._select(OF_SESSION, session_id=session_id)

    def of_sessions(self, session_ids: Sequence[str]) -> list[Conversation]:
        """Those in which something was said, in the order of time."""
        rows = self._session.among(limited(OF_SESSIONS, self._seen), list(session_ids), self._given())
        return sorted(map(_conversation, rows), key=lambda one: (one.started_at, one.id))

    def latest(self, file_id: str, stream: str) -> Conversation | None:
        found = self._select(LATEST, file_id=file_id, stream=stream)
        return found[0] if found else None

    def with_prefix(self, prefix: str, limit: int = 20) -> list[Conversation]:
        return self._select(BY_PREFIX, prefix=prefix, beyond=prefix + "\U0010ffff", limit=limit)

    def latest_first(
        self, *, ready_before: str, status: str, project: str, since: str, limit: int
    ) -> list[Conversation]:
        given = self._given(
            ready_before=ready_before,
            status=status,
            project=_like(project),
            since=since,
            limit=limit,
        )
        found: list[Conversation] = []
        for *row, current in self._session.rows(limited(LIST, self._seen), given):
            conversation = _conversation(tuple(row))
            conversation.status = Status(current)
            found.append(conversation)
        return found

    def ids(self, ready_before: str, *, projects: Sequence[str], statuses: Sequence[str]) -> list[str]:
        found: set[str] = set()
        for project in projects:
            for status in statuses:
                given = self._given(ready_before=ready_before, status=status, project=_like(project))
                found.update(row[0] for row in self._session.rows(limited(IDS, self._seen), given))
        return sorted(found)

    def projects(self, conversation_ids: Sequence[str]) -> dict[str, str]:
        projects = limited(PROJECTS, self._seen)
        return dict(self._session.among(projects, list(conversation_ids), {"house": self._house}))

    def counts(self, ready_before: str) -> dict[str, int]:
        return dict(self._session.rows(limited(COUNT, self._seen), self._given(ready_before=ready_before)))

    def latest_ended(self, since: str, before: tuple[str, str], limit: int) -> list[tuple[str, str]]:
        """(when it ended, id) of the latest since a time and before such a pair, the latest first."""
        given = self._given(since=since, until=before[0], before=before[1], limit=limit)
        rows = self._session.rows(limited(LATEST_ENDED, self._seen_each), given)
        return [(ended_at, conversation_id) for conversation_id, ended_at in rows]

    def waiting(self, ready_before: str, most: int) -> dict[Status, int]:
        """How many have ended, are queued and are being processed; of each kind `most` at the most."""
        numbers = {status: self._number_waiting(status, END_OF_TIME, most) for status in WAITING_STATUSES}
        numbers[Status.READY] += self._number_waiting(Status.ACTIVE, ready_before, most)
        return {status: min(number, most) for status, number in numbers.items()}

    def _number_waiting(self, status: Status, before: str, most: int) -> int:
        given = self._given(status=str(status), before=before, most=most)
        return self._session.value(limited(WAITING, self._seen_each), given)

    def extent(self) -> tuple[int, int, str, str]:
        """How many conversations, in how many months, from when to when."""
        number, months, first, last = self._session.rows(limited(MONTHS, self._seen), {"house": self._house})[0]
        return number, months, first or "", last or ""

    def change_status(self, conversation: Conversation, status: Status) -> bool:
        """Compare and set: False when it has another status by now, or has gained messages."""
        given = self._given(
            id=conversation.id,
            status=str(status),
            expected=str(conversation.status),
            messages=conversation.messages,
        )
        return self._session.run(SET_STATUS, given) == 1

    def next_queued(self) -> Conversation | None:
        found = self._select(NEXT_QUEUED)
        return found[0] if found else None

    def ready(self, ready_before: str, limit: int) -> list[Conversation]:
        """Those that wait to be queued, those that ended first before the others."""
        found = self._select(ENDED_WITH_STATUS, status=str(Status.READY), before=END_OF_TIME, limit=limit)
        found += self._select(ENDED_WITH_STATUS, status=str(Status.ACTIVE), before=ready_before, limit=limit)
        return sorted(found, key=lambda one: (one.ended_at, one.id))[:limit]

    def with_status(self, status: Status, limit: int) -> list[Conversation]:
        """Those that ended first before the others."""
        return self._select(ENDED_WITH_STATUS, status=str(status), before=END_OF_TIME, limit=limit)

    def replace_all(self, old: list[Conversation], new: dict[str, Conversation]) -> None:
        """Conversations grouped anew. Finished ones that did not change stay finished, whatever file they lie in."""
        for before in old:
            after = new.get(before.id)
            if after is None:
                self.delete(before.id)
            elif before.status not in FINISHED or (before.messages, before.ended_at) == (
                after.messages,
                after.ended_at,
            ):
                after.status = before.status
        self.save(list(new.values()))

    def _select(self, sql: str, **parameters: Any) -> list[Conversation]:
        return [_conversation(row) for row in self._session.rows(limited(sql, self._seen), self._given(**parameters))]

    def _given(self, **parameters: Any) -> dict[str, Any]:
        return {"house": self._house, **parameters}


def _like(part: str) -> str:
    """A pattern for what has this part; empty for no part."""
    escaped = part.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%" if part else ""


def _values(conversation: Conversation) -> tuple[Any, ...]:
    return tuple(str(value) if isinstance(value, Status) else value for value in
                 (getattr(conversation, name) for name in _NAMES))  # fmt: skip


def _conversation(row: Row) -> Conversation:
    values = dict(zip(_NAMES, row, strict=True))
    values["status"] = Status(values["status"])
    return Conversation(**values)
