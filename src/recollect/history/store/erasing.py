"""SQL for forgetting: finding every trace of something in history's tables, and taking it out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.database import Session
from recollect.feed import MESSAGE, FeedStore
from recollect.history.records import FORGOTTEN
from recollect.history.store.lines import unpack

_ROW = "file_id, generation, start_byte, line, digest, kind, message_id, raw"
_ROWS = f"SELECT {_ROW} FROM history_lines WHERE house = :house AND kind <> '{FORGOTTEN}'"
_IN_ORDER = "ORDER BY generation, start_byte"

ROWS_OF_MESSAGES = f"{_ROWS} AND message_id IN (:values)"
ROWS_OF_FILE = f"{_ROWS} AND file_id = :file_id {_IN_ORDER}"
ROWS_BETWEEN = f"""
{_ROWS} AND file_id = :file_id AND generation = :generation AND message_id IS NULL
    AND start_byte >= :since AND start_byte < :until
"""
ROWS_ALIKE = f"{_ROWS} AND file_id = :file_id AND digest IN (:values)"
ROWS_WITHOUT_MESSAGE = f"{_ROWS} AND message_id IS NULL AND file_id IN (:values)"
REPLAY = f"""
SELECT {_ROW} FROM history_lines WHERE house = :house AND file_id = :file_id AND generation = :generation
ORDER BY start_byte
"""
MESSAGES_WITH_ROWS = """
SELECT DISTINCT message_id FROM history_lines
WHERE house = :house AND file_id = :file_id AND message_id IS NOT NULL
"""
NAMED_SO = "SELECT id FROM history_messages WHERE house = :house AND id >= :prefix AND id < :beyond ORDER BY id LIMIT 6"
WITH_TEXTS = "SELECT id FROM history_messages WHERE house = :house AND text IN (:values)"
IN_FILES = (
    "SELECT id, file_id, author, conversation_id FROM history_messages WHERE house = :house AND file_id IN (:values)"
)
SPOKEN = """
SELECT id, text FROM history_messages
WHERE house = :house AND author IN ('user', 'assistant') AND length(text) >= :least
"""
OF_SESSIONS = "SELECT id FROM history_files WHERE house = :house AND session_id IN (:values)"
WITH_HEAD = "SELECT id FROM history_files WHERE house = :house AND head = :head AND source = :source"
WITH_KEY = "SELECT id FROM history_files WHERE house = :house AND key = :key"
FILES_NAMED_SO = (
    "SELECT id FROM history_files WHERE house = :house AND id >= :prefix AND id < :beyond ORDER BY id LIMIT 6"
)
PLACES = "SELECT host, path FROM history_paths WHERE house = :house AND file_id = :file_id ORDER BY host, path"
TITLES_BY_FILES = "SELECT leaf_id, title, file_id FROM history_titles WHERE house = :house AND file_id IN (:values)"
TITLES_OF = "SELECT leaf_id, title, file_id FROM history_titles WHERE house = :house AND leaf_id IN (:values)"

BLANK = f"""
UPDATE history_lines SET raw = :raw, digest = 0, kind = '{FORGOTTEN}', message_id = NULL
WHERE house = :house AND file_id = :file_id AND generation = :generation AND start_byte = :start_byte
"""
DELETE_MESSAGE = "DELETE FROM history_messages WHERE house = :house AND id = :id"
DELETE_TITLE = "DELETE FROM history_titles WHERE house = :house AND leaf_id = :leaf_id"
DELETE_LINES = "DELETE FROM history_lines WHERE house = :house AND file_id = :file_id"
DELETE_PATHS = "DELETE FROM history_paths WHERE house = :house AND file_id = :file_id"
DELETE_FILE = "DELETE FROM history_files WHERE house = :house AND id = :file_id"
DELETE_LINKS = "DELETE FROM history_links WHERE house = :house AND (session_id = :session_id OR other_id = :session_id)"

RowKey = tuple[str, int, int]
"""File, generation and first byte of a record."""


@dataclass(frozen=True, slots=True)
class VaultRow:
    file_id: str
    generation: int
    start_byte: int
    line: int
    digest: int
    kind: str
    message_id: str | None
    packed: bytes

    @property
    def key(self) -> RowKey:
        return (self.file_id, self.generation, self.start_byte)

    @property
    def raw(self) -> bytes:
        return unpack(self.packed)


class ErasingStore:
    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    # Finding

    def rows_of_messages(self, message_ids: Sequence[str]) -> list[VaultRow]:
        return self._among(ROWS_OF_MESSAGES, message_ids)

    def rows_of_file(self, file_id: str) -> Iterator[VaultRow]:
        for row in self._session.each(ROWS_OF_FILE, self._given(file_id=file_id)):
            yield _row(row)

    def rows_between(self, file_id: str, generation: int, since: int, until: int) -> list[VaultRow]:
        """Those of no message."""
        given = self._given(file_id=file_id, generation=generation, since=since, until=until)
        return [_row(row) for row in self._session.rows(ROWS_BETWEEN, given)]

    def rows_alike(self, file_id: str, digests: Sequence[int]) -> list[VaultRow]:
        rows = self._session.among(ROWS_ALIKE, list(digests), self._given(file_id=file_id))
        return [_row(row) for row in rows]

    def rows_without_message(self, file_ids: Sequence[str]) -> list[VaultRow]:
        return self._among(ROWS_WITHOUT_MESSAGE, file_ids)

    def replay(self, file_id: str, generation: int) -> Iterator[VaultRow]:
        """Every record of a file in its order, also what is left of forgotten ones."""
        for row in self._session.each(REPLAY, self._given(file_id=file_id, generation=generation)):
            yield _row(row)

    def messages_with_rows(self, file_id: str) -> list[str]:
        return [row[0] for row in self._session.rows(MESSAGES_WITH_ROWS, self._given(file_id=file_id))]

    def messages_named(self, name: str) -> list[str]:
        return self._named(NAMED_SO, name)

    def files_named(self, name: str) -> list[str]:
        return self._named(FILES_NAMED_SO, name)

    def files_with_key(self, key: str) -> list[str]:
        return [row[0] for row in self._session.rows(WITH_KEY, self._given(key=key))]

    def with_texts(self, texts: Sequence[str]) -> list[str]:
        """Messages that say just that. Looks at all of them."""
        return [row[0] for row in self._session.among(WITH_TEXTS, list(texts), {"house": self._house})]

    def in_files(self, file_ids: Sequence[str]) -> list[tuple[str, str, str, str | None]]:
        """(message, file, author, conversation)"""
        rows = self._session.among(IN_FILES, list(file_ids), {"house": self._house}) if file_ids else []
        return [(id_, file_id, author, conversation) for id_, file_id, author, conversation in rows]

    def spoken(self, least_characters: int) -> Iterator[tuple[str, str]]:
        """(message, text) of all that users and assistants wrote."""
        for row in self._session.each(SPOKEN, self._given(least=least_characters)):
            yield row[0], row[1]

    def files_of_sessions(self, session_ids: Sequence[str]) -> list[str]:
        rows = self._session.among(OF_SESSIONS, list(session_ids), {"house": self._house}) if session_ids else []
        return [row[0] for row in rows]

    def files_with_head(self, head: str, source: str) -> list[str]:
        return [row[0] for row in self._session.rows(WITH_HEAD, self._given(head=head, source=source))]

    def places(self, file_id: str) -> list[tuple[str, str]]:
        return [(host, path) for host, path in self._session.rows(PLACES, self._given(file_id=file_id))]

    def titles_given_by(self, file_ids: Sequence[str]) -> list[tuple[str, str, str]]:
        """(name, title, file)"""
        return self._titles(TITLES_BY_FILES, file_ids)

    def titles_of(self, names: Sequence[str]) -> list[tuple[str, str, str]]:
        return self._titles(TITLES_OF, names)

    # Taking out

    def blank(self, rows: Iterable[tuple[RowKey, bytes]]) -> None:
        """Only what is given stays of these records, and their place."""
        self._session.many(BLANK, [(raw, self._house, *key) for key, raw in rows])

    def delete_messages(self, message_ids: Sequence[str]) -> None:
        self._session.many(DELETE_MESSAGE, [(self._house, one) for one in message_ids])
        FeedStore(self._session, self._house).note(MESSAGE, message_ids)

    def delete_titles(self, names: Iterable[str]) -> None:
        self._session.many(DELETE_TITLE, [(self._house, name) for name in sorted(names)])

    def delete_file(self, file_id: str) -> None:
        for sql in (DELETE_LINES, DELETE_PATHS, DELETE_FILE):
            self._session.run(sql, self._given(file_id=file_id))

    def delete_links(self, session_id: str) -> None:
        self._session.run(DELETE_LINKS, self._given(session_id=session_id))

    def _named(self, sql: str, name: str) -> list[str]:
        if not name.strip():
            return []
        return [row[0] for row in self._session.rows(sql, self._given(prefix=name, beyond=name + "\U0010ffff"))]

    def _titles(self, sql: str, values: Sequence[str]) -> list[tuple[str, str, str]]:
        rows = self._session.among(sql, list(values), {"house": self._house}) if values else []
        return [(name, title, file_id) for name, title, file_id in rows]

    def _among(self, sql: str, values: Sequence[str]) -> list[VaultRow]:
        rows = self._session.among(sql, list(values), {"house": self._house}) if values else []
        return [_row(row) for row in rows]

    def _given(self, **parameters: Any) -> dict[str, Any]:
        return {"house": self._house, **parameters}


def _row(row: tuple[Any, ...]) -> VaultRow:
    file_id, generation, start_byte, line, digest, kind, message_id, raw = row
    return VaultRow(file_id, generation, start_byte, line, digest, kind, message_id, bytes(raw))
