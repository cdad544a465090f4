"""Messages. Whatever touches one is noted in the feed for those who follow."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import msgspec

from recollect.database import Row, Session
from recollect.feed import MESSAGE, FeedStore
from recollect.history.messages import Author, Block, Message, Standing
from recollect.history.store.seeing import SEEN, by_seen_file, limited, of_seen_files
from recollect.scopes import EVERYTHING, Sight

_NAMES = [item.name for item in fields(Message)]
_COLUMNS = ", ".join(_NAMES)
_VALUES = ", ".join(f":{name}" for name in _NAMES)
_CHANGES = ", ".join(f"{name} = excluded.{name}" for name in _NAMES if name != "id")

INSERT = f"INSERT INTO history_messages (house, {_COLUMNS}) VALUES (:house, {_VALUES})"
REPLACE = f"{INSERT} ON CONFLICT (house, id) DO UPDATE SET {_CHANGES}"
BY_IDS = f"SELECT {_COLUMNS} FROM history_messages WHERE house = :house AND id IN (:values) {SEEN}"
OF_CONVERSATION = (
    f"SELECT {_COLUMNS} FROM history_messages "
    f"WHERE house = :house AND conversation_id = :conversation_id {SEEN} ORDER BY start_byte, id"
)
OF_AGENTS = (
    f"SELECT {_COLUMNS} FROM history_messages WHERE house = :house AND session_id = :session_id "
    f"AND agent_id <> '' AND at >= :since AND at <= :until {SEEN} ORDER BY agent_id, at, start_byte, id"
)
OF_STREAM = f"""
SELECT {_COLUMNS} FROM history_messages
WHERE house = :house AND file_id = :file_id AND session_id = :session_id AND agent_id = :agent_id AND gone = 0
    AND (standing = 'said' OR author = 'subagent') {SEEN}
ORDER BY start_byte, id
"""
PAGE = f"SELECT {_COLUMNS} FROM history_messages WHERE house = :house AND id > :after {SEEN} ORDER BY id LIMIT :limit"
BY_TIME = f"""
SELECT at, id FROM history_messages
WHERE house = :house AND gone = 0 AND (standing = 'said' OR author = 'subagent')
    AND (at > :at OR at = :at AND id > :id) {SEEN}
ORDER BY at, id LIMIT :limit
"""
LATEST_SAID = f"""
SELECT {_COLUMNS} FROM history_messages
WHERE house = :house AND conversation_id = :conversation_id AND standing = 'said' AND gone = 0 AND at > :after
    AND (:author = '' OR author = :author) {SEEN}
ORDER BY at DESC, start_byte DESC, id DESC LIMIT :limit
"""
ASSISTANT_SAID = """
house = :house AND author = 'assistant' AND standing = 'said' AND gone = 0 AND text LIKE :pattern
"""
WITH_TEXT = f"SELECT id FROM history_messages WHERE {ASSISTANT_SAID} AND id > :after ORDER BY id LIMIT :limit"
WITH_TEXT_AMONG = f"SELECT id FROM history_messages WHERE {ASSISTANT_SAID} AND id IN (:values)"
BY_PREFIX = f"""
SELECT {_COLUMNS} FROM history_messages
WHERE house = :house AND id >= :prefix AND id < :beyond {SEEN} ORDER BY id LIMIT :limit
"""
NUMBER_SAID = f"""
SELECT count(*) FROM history_messages
WHERE house = :house AND gone = 0 AND (standing = 'said' OR author = 'subagent') {SEEN}
"""
LEFT_BEHIND = """
SELECT id FROM history_messages WHERE house = :house AND file_id = :file_id AND generation < :generation
ORDER BY id
"""
DELETE = "DELETE FROM history_messages WHERE house = :house AND id = :id"
STANDINGS = """
SELECT id, standing FROM history_messages WHERE house = :house AND file_id = :file_id AND id IN (:values)
"""
SET_STANDING = """
UPDATE history_messages SET standing = :standing WHERE house = :house AND id = :id AND file_id = :file_id
"""
TO_GROUP = """
SELECT id, stream, start_byte, session_id, source, author, standing, gone, at, last_at, leaf_id, cwd, conversation_id,
    CASE WHEN author = 'user' AND standing = 'said' THEN substr(text, 1, 400) ELSE '' END
FROM history_messages WHERE house = :house AND file_id = :file_id ORDER BY start_byte
"""
CONVERSATIONS_OF = """
SELECT id, conversation_id FROM history_messages WHERE house = :house AND conversation_id <> '' AND id IN (:values)
"""
THERE = "SELECT id FROM history_messages WHERE house = :house AND id IN (:values)"
SET_CONVERSATION = "UPDATE history_messages SET conversation_id = :conversation_id WHERE house = :house AND id = :id"
PROMPTS_AFTER = """
SELECT parent_id, start_byte FROM history_messages
WHERE house = :house AND author = 'user' AND parent_id <> '' AND file_id = :file_id AND standing = 'said'
    AND generation = :generation AND parent_id IN (:values)
"""
ABANDON = """
UPDATE history_messages SET standing = 'abandoned'
WHERE house = :house AND file_id = :file_id AND generation = :generation AND standing = 'said'
    AND start_byte >= :since AND start_byte < :until
RETURNING id
"""
LATEST_PROMPTS = """
SELECT start_byte FROM history_messages
WHERE house = :house AND file_id = :file_id AND generation = :generation AND author = 'user' AND standing = 'said'
    AND start_byte < :before
ORDER BY start_byte DESC LIMIT :limit
"""
SETTLE_PROMPTS = """
UPDATE history_messages SET standing = 'repeated'
WHERE house = :house AND standing = 'said'
    AND file_id IN (SELECT id FROM history_files WHERE house = :house AND kind = 'prompts')
    AND (
        session_id <> '' AND EXISTS (
            SELECT 1 FROM history_files f
            WHERE f.house = :house AND f.session_id = history_messages.session_id AND f.kind = 'session'
        )
        OR session_id = '' AND EXISTS (
            SELECT 1 FROM history_conversations c CROSS JOIN history_messages m
            WHERE m.house = c.house AND m.conversation_id = c.id
                AND c.house = :house AND c.file_id <> history_messages.file_id
                AND substr(c.started_at, 1, 16) <= substr(history_messages.at, 1, 16)
                AND substr(c.ended_at, 1, 16) >= substr(history_messages.at, 1, 16)
                AND m.author = 'user' AND m.text = history_messages.text
        )
    )
RETURNING id, file_id
"""
COUNTS = f"""
SELECT author, standing, gone, count(*) FROM history_messages
WHERE house = :house {SEEN} GROUP BY author, standing, gone
"""
BY_SOURCE = f"""
SELECT source, count(*), count(DISTINCT conversation_id), coalesce(max(at), '')
FROM history_messages WHERE house = :house {SEEN} GROUP BY source
"""
IDS_OF_FILES = "SELECT id FROM history_messages WHERE house = :house AND file_id IN (:values)"


@dataclass(frozen=True, slots=True)
class SourceTotals:
    """What came in from one source."""

    messages: int = 0
    conversations: int = 0
    last_at: str = ""


class MessageStore:
    def __init__(self, session: Session, house: str, sight: Sight = EVERYTHING) -> None:
        self._session = session
        self._house = house
        self._seen = of_seen_files(sight)
        self._seen_each = by_seen_file(sight, "history_messages.file_id")
        self._feed = FeedStore(session, house)

    def get(self, message_ids: list[str]) -> dict[str, Message]:
        if not message_ids:
            return {}
        rows = self._session.among(limited(BY_IDS, self._seen_each), message_ids, {"house": self._house})
        return {row[0]: _message(row) for row in rows}

    def conversations_of(self, message_ids: Sequence[str]) -> dict[str, str]:
        """Message → its conversation, of those that are in one."""
        given = {"house": self._house}
        rows = self._session.among(CONVERSATIONS_OF, list(message_ids), given) if message_ids else []
        return {str(message_id): str(conversation_id) for message_id, conversation_id in rows}

    def are_there(self, message_ids: Iterable[str]) -> bool:
        """All of them, still: for who read them in an earlier transaction."""
        wanted = sorted(set(message_ids))
        rows = self._session.among(THERE, wanted, {"house": self._house}) if wanted else []
        return len(rows) == len(wanted)

    def insert(self, messages: Iterable[Message]) -> None:
        self._put(INSERT, list(messages))

    def replace(self, messages: Iterable[Message]) -> None:
        self._put(REPLACE, list(messages))

    def _put(self, sql: str, messages: list[Message]) -> None:
        self._session.many(sql, [_row(self._house, message) for message in messages])
        self._feed.note(MESSAGE, [message.id for message in messages])

    def to_group(self, file_id: str) -> Iterator[Message]:
        """The messages of a file in order, with as little of each as grouping needs."""
        for row in self._session.each(TO_GROUP, self._given(file_id=file_id)):
            (id_, stream, start, session_id, source, author, standing, gone, at, last_at, leaf, cwd, placed, text) = row
            yield Message(
                id=id_,
                file_id=file_id,
                generation=0,
                start_byte=start,
                line=0,
                home=True,
                gone=bool(gone),
                source=source,
                stream=stream,
                conversation_id=placed,
                session_id=session_id,
                author=Author(author),
                standing=Standing(standing),
                at=at,
                last_at=last_at,
                leaf_id=leaf,
                text=text,
                cwd=cwd,
            )

    def of_conversation(self, conversation_id: str) -> list[Message]:
        return self._select(OF_CONVERSATION, conversation_id=conversation_id)

    def of_agents(self, session_id: str, since: str, until: str) -> list[Message]:
        """What the sub-agents of a session said in a time."""
        return self._select(OF_AGENTS, session_id=session_id, since=since, until=until)

    def of_stream(self, message: Message) -> list[Message]:
        """What was said in its file by who it is from and in the same session."""
        return self._select(
            OF_STREAM, file_id=message.file_id, session_id=message.session_id, agent_id=message.agent_id
        )

    def page(self, after: str, limit: int) -> list[Message]:
        """The messages whose ids come after this one."""
        return self._select(PAGE, after=after, limit=limit)

    def by_time(self, after: tuple[str, str], limit: int) -> list[tuple[str, str]]:
        """(time, id) of what users, assistants and sub-agents said after such a pair, in that order."""
        given = self._given(at=after[0], id=after[1], limit=limit)
        rows = self._session.rows(limited(BY_TIME, self._seen), given)
        return [(at, message_id) for at, message_id in rows]

    def latest_said(self, conversation_id: str, after: str, author: str, limit: int) -> list[Message]:
        """The last of a conversation, the latest first. `author`: only what this one said; empty: anybody."""
        given = self._given(conversation_id=conversation_id, after=after, author=author, limit=limit)
        return [_message(row) for row in self._session.rows(limited(LATEST_SAID, self._seen_each), given)]

    def with_text(self, part: str, after: str, limit: int) -> list[str]:
        """What assistants said with this in it, in the order of ids. `part` has no wildcard of LIKE in it."""
        given = self._given(pattern=f"%{part}%", after=after, limit=limit)
        return [row[0] for row in self._session.rows(limited(WITH_TEXT, self._seen), given)]

    def with_text_among(self, part: str, message_ids: list[str]) -> list[str]:
        """Those of these messages that an assistant said and that have this in them."""
        sql = limited(WITH_TEXT_AMONG, self._seen)
        rows = self._session.among(sql, message_ids, self._given(pattern=f"%{part}%"))
        return [row[0] for row in rows]

    def with_prefix(self, prefix: str, limit: int = 20) -> list[Message]:
        return self._select(BY_PREFIX, prefix=prefix, beyond=prefix + "\U0010ffff", limit=limit)

    def number_said(self) -> int:
        return self._session.value(limited(NUMBER_SAID, self._seen), {"house": self._house})

    def left_behind(self, file_id: str, generation: int) -> list[str]:
        """Messages whose records a rewritten file no longer has."""
        rows = self._session.rows(LEFT_BEHIND, self._given(file_id=file_id, generation=generation))
        return [row[0] for row in rows]

    def delete(self, message_id: str) -> None:
        self._session.run(DELETE, self._given(id=message_id))
        self._feed.note(MESSAGE, [message_id])

    def set_standings(self, file_id: str, standings: dict[str, Standing]) -> None:
        """Of messages of this file. The same message in another file stands as that one tells."""
        if not standings:
            return
        stored = self._session.among(STANDINGS, list(standings), self._given(file_id=file_id))
        changed = [message_id for message_id, standing in stored if standings[message_id] != standing]
        rows = [(str(standings[message_id]), self._house, message_id, file_id) for message_id in changed]
        self._session.many(SET_STANDING, rows)
        self._feed.note(MESSAGE, changed)

    def set_conversations(self, placed: dict[str, str | None]) -> None:
        rows = [(conversation_id, self._house, message_id) for message_id, conversation_id in placed.items()]
        self._session.many(SET_CONVERSATION, rows)
        self._feed.note(MESSAGE, placed)

    def touch(self, file_ids: list[str]) -> None:
        """Who follows looks at the messages of these files again: something that all of them share is another now."""
        rows = self._session.among(IDS_OF_FILES, file_ids, {"house": self._house}) if file_ids else []
        self._feed.note(MESSAGE, [row[0] for row in rows])

    def prompts_after(self, file_id: str, generation: int, parents: list[str]) -> dict[str, int]:
        """Where the first prompt stands that answers each of these entries, in one file."""
        first: dict[str, int] = {}
        for parent, start in self._session.among(
            PROMPTS_AFTER, parents, self._given(file_id=file_id, generation=generation)
        ):
            first[parent] = min(start, first.get(parent, start))
        return first

    def latest_prompts(self, file_id: str, generation: int, before: int, limit: int) -> list[int]:
        """Where the last prompts before a byte stand, the latest first."""
        given = self._given(file_id=file_id, generation=generation, before=before, limit=limit)
        return [row[0] for row in self._session.rows(LATEST_PROMPTS, given)]

    def abandon(self, file_id: str, generation: int, since: int, until: int) -> int:
        """What was said from one byte to another is left; how many messages that are."""
        given = self._given(file_id=file_id, generation=generation, since=since, until=until)
        left = [row[0] for row in self._session.rows(ABANDON, given)]
        self._feed.note(MESSAGE, left)
        return len(left)

    def settle_prompts(self) -> set[str]:
        """Prompts of the prompt log that stand in a transcript are there already; the files that changed.

        They are told by their session; older prompts, which name none, by their words and the minute.
        """
        settled = self._session.rows(SETTLE_PROMPTS, {"house": self._house})
        self._feed.note(MESSAGE, [message_id for message_id, _ in settled])
        return {file_id for _, file_id in settled}

    def counts(self) -> list[tuple[str, str, bool, int]]:
        rows = self._session.rows(limited(COUNTS, self._seen), {"house": self._house})
        return [(author, standing, bool(gone), number) for author, standing, gone, number in rows]

    def by_source(self) -> dict[str, SourceTotals]:
        rows = self._session.rows(limited(BY_SOURCE, self._seen), {"house": self._house})
        return {source: SourceTotals(messages, conversations, at) for source, messages, conversations, at in rows}

    def _select(self, sql: str, **parameters: Any) -> list[Message]:
        return [_message(row) for row in self._session.rows(limited(sql, self._seen), self._given(**parameters))]

    def _given(self, **parameters: Any) -> dict[str, Any]:
        return {"house": self._house, **parameters}


def _row(house: str, m: Message) -> tuple[Any, ...]:
    return (
        house, m.id, m.file_id, m.generation, m.start_byte, m.line, int(m.home), int(m.gone), m.source, m.stream,
        m.conversation_id, m.session_id, m.agent_id, str(m.author), str(m.standing), m.kind, m.at, m.last_at, m.text,
        msgspec.json.encode(m.blocks).decode(), msgspec.json.encode(m.tools).decode(), m.model, m.cwd,
        m.parent_id, m.leaf_id,
    )  # fmt: skip


def _message(row: Row) -> Message:
    values = dict(zip(_NAMES, row, strict=True))
    values["home"] = bool(values["home"])
    values["gone"] = bool(values["gone"])
    values["author"] = Author(values["author"])
    values["standing"] = Standing(values["standing"])
    values["blocks"] = msgspec.json.decode(values["blocks"], type=list[Block])
    values["tools"] = msgspec.json.decode(values["tools"], type=list[str])
    return Message(**values)
