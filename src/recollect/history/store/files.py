"""Files and the paths they were seen at; pauses and private stretches."""

import os
import platform
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from recollect.database import Row, Session
from recollect.history.counts import Counts
from recollect.history.spans import Span
from recollect.history.store.seeing import SEEN, limited, of_seen_files, seen_files
from recollect.scopes import EVERYTHING, HOUSE, Sight
from recollect.scopes.store import BOUND_SCOPE

THIS_HOST = platform.node() or "localhost"
UNREAD = "(unread)"
"""The source of a file that could not be read, so that nobody knows whose it is."""
ARCHIVE = "(archive)"
"""The source of a `.zip`: what lies in it may be of several."""
CONTAINER = "container"
"""The kind of a file that has no records of its own, but transcripts inside."""


class FileStatus(StrEnum):
    IDLE = "idle"
    INGESTING = "ingesting"
    """Being read, or a reader died: reading goes on from `read_to`."""
    FAILED = "failed"
    """Set aside; `reason` says why. It is tried again when the file changes."""


@dataclass(slots=True, kw_only=True)
class File:
    id: str
    source: str
    key: str
    copy: int
    """0, or a number that tells apart different files with the same key."""
    host: str
    path: str
    """Where it was last read."""
    kind: str
    session_id: str
    agent_id: str
    status: FileStatus = FileStatus.IDLE
    reason: str = ""
    head: str = ""
    """Digest of the first line: finds a file again under another name."""
    generation: int = 0
    """How often the file was changed in the middle. Records of an older generation are gone from it."""
    read_to: int = 0
    newlines: int = 0
    last_entry_at: str = ""
    last_read_at: str = ""
    title: str = ""
    state: str = ""
    counts: Counts = field(default_factory=Counts)
    container_id: str = ""
    """The file in which this transcript lies; empty: it is a file of its own."""
    scope: str = HOUSE
    """Whose it is: of the house, or of whom its source is bound to. Storing it does not change it."""

    @property
    def name(self) -> str:
        return self.key.rpartition("/")[2]


class SeenPath(NamedTuple):
    """A path as it looked when it was last read. A tuple: tens of thousands are made for each scan."""

    path: str
    file_id: str
    size: int
    mtime_ns: int
    inode: int


_NAMES = [item.name for item in fields(File)]
_COLUMNS = ", ".join(_NAMES)
_BOUND = BOUND_SCOPE.format(house=":house", source=":source", key=":key").strip()
_VALUES = ", ".join(_BOUND if name == "scope" else f":{name}" for name in _NAMES)
_CHANGES = ", ".join(f"{name} = excluded.{name}" for name in _NAMES if name not in ("id", "scope"))

BY_ID = f"SELECT {_COLUMNS} FROM history_files WHERE house = :house AND id = :id"
BY_KEY = f"SELECT {_COLUMNS} FROM history_files WHERE house = :house AND source = :source AND key = :key ORDER BY copy"
LIKE_IT = f"""
SELECT {_COLUMNS} FROM history_files
WHERE house = :house AND head = :head AND source = :source AND (
    (session_id = '' OR :session_id = '' OR session_id = :session_id)
        AND (agent_id = '' OR :agent_id = '' OR agent_id = :agent_id)
    OR EXISTS (
        SELECT 1 FROM history_paths p
        WHERE p.house = :house AND p.file_id = history_files.id AND p.host = :host AND p.inode = :inode
    )
)
ORDER BY key, copy
"""
BY_STATUS = f"SELECT {_COLUMNS} FROM history_files WHERE house = :house AND status = :status ORDER BY key, copy"
ALL = f"SELECT {_COLUMNS} FROM history_files WHERE house = :house {SEEN} ORDER BY key, copy"
IN_CONTAINER = f"""
SELECT {_COLUMNS} FROM history_files WHERE house = :house AND container_id = :container_id AND container_id <> ''
ORDER BY key, copy
"""
OF_SESSION = f"""
SELECT {_COLUMNS} FROM history_files
WHERE house = :house AND session_id = :session_id AND source = :source AND kind = 'session' AND id <> :id
ORDER BY key, copy
"""
SAVE = f"""
INSERT INTO history_files (house, {_COLUMNS}) VALUES (:house, {_VALUES})
ON CONFLICT (house, id) DO UPDATE SET {_CHANGES}
"""
_BOUND_NOW = BOUND_SCOPE.format(house=":house", source="history_files.source", key="history_files.key").strip()
RESCOPE = f"""
UPDATE history_files SET scope = {_BOUND_NOW}
WHERE house = :house AND source = :source AND scope <> {_BOUND_NOW}
RETURNING id
"""
NUMBER_IN = "SELECT count(*) FROM history_files WHERE house = :house AND scope = :scope"
SCOPES = f"SELECT id, scope FROM history_files WHERE house = :house AND id IN (:values) {SEEN}"
SET_STATUS = "UPDATE history_files SET status = :status, reason = :reason WHERE house = :house AND id = :id"
PATHS = f"SELECT path, file_id, size, mtime_ns, inode FROM history_paths WHERE house = :house AND host = :host {SEEN}"
PATH = f"{PATHS} AND path = :path"
PLACES_OF_FILE = "SELECT host, path FROM history_paths WHERE house = :house AND file_id = :file_id ORDER BY host, path"
SEE = """
INSERT INTO history_paths (house, host, path, file_id, size, mtime_ns, inode)
VALUES (:house, :host, :path, :file_id, :size, :mtime_ns, :inode)
ON CONFLICT (house, host, path) DO UPDATE SET
    file_id = excluded.file_id, size = excluded.size, mtime_ns = excluded.mtime_ns, inode = excluded.inode
"""
DROP_UNREAD = f"DELETE FROM history_files WHERE house = :house AND id = :id AND source = '{UNREAD}'"
DROP_PATHS = "DELETE FROM history_paths WHERE house = :house AND file_id = :file_id"
SPANS = (
    "SELECT session_id, starts_at, ends_at, reason FROM history_private_spans WHERE house = :house "
    "ORDER BY session_id, starts_at"
)
OPEN_SPAN = """
INSERT INTO history_private_spans (house, session_id, starts_at, ends_at, reason)
VALUES (:house, :session_id, :starts_at, :ends_at, :reason) ON CONFLICT DO NOTHING
"""
CLOSE_SPANS = """
UPDATE history_private_spans SET ends_at = :ends_at
WHERE house = :house AND session_id = :session_id AND ends_at IS NULL AND starts_at <= :ends_at
"""


class FileStore:
    """`host` is this computer: a path means nothing on another one."""

    def __init__(self, session: Session, house: str, host: str = "", sight: Sight = EVERYTHING) -> None:
        self._session = session
        self._house = house
        self._host = host or THIS_HOST
        self._sight = sight

    def get(self, file_id: str) -> File | None:
        return _first(self._select(BY_ID, id=file_id))

    def with_key(self, source: str, key: str) -> list[File]:
        return self._select(BY_KEY, source=source, key=key)

    def like_it(self, head: str, source: str, session_id: str, agent_id: str, inode: int) -> list[File]:
        """Files that begin with the same line and are not, by their names, of another session or agent.

        A copy under the name of another session is a fork; the very same file under another name is not.
        """
        names = {"source": source, "session_id": session_id, "agent_id": agent_id}
        return self._select(LIKE_IT, head=head, host=self._host, inode=inode, **names)

    def with_status(self, status: FileStatus) -> list[File]:
        return self._select(BY_STATUS, status=status)

    def inside(self, container_id: str) -> list[File]:
        return self._select(IN_CONTAINER, container_id=container_id)

    def siblings(self, file: File) -> list[File]:
        """The other files of a session."""
        if not file.session_id or file.kind != "session":
            return []
        return self._select(OF_SESSION, session_id=file.session_id, source=file.source, id=file.id)

    def every(self) -> list[File]:
        return self._select(limited(ALL, seen_files(self._sight)))

    def save(self, file: File) -> None:
        values = {name: getattr(file, name) for name in _NAMES}
        values["counts"] = msgspec.json.encode(file.counts).decode()
        self._session.run(SAVE, {**values, "status": str(file.status), "house": self._house})

    def rescope(self, source: str) -> list[str]:
        """Give the files of a source the scopes that the bindings say; those that have another one now."""
        rows = self._session.rows(RESCOPE, self._given(source=source))
        return [row[0] for row in rows]

    def number_in(self, scope: str) -> int:
        return self._session.value(NUMBER_IN, self._given(scope=scope))

    def scopes(self, file_ids: list[str]) -> dict[str, str]:
        """File → its scope."""
        scopes = limited(SCOPES, seen_files(self._sight))
        return dict(self._session.among(scopes, file_ids, {"house": self._house})) if file_ids else {}

    def set_status(self, file_id: str, status: FileStatus, reason: str = "") -> None:
        self._run(SET_STATUS, id=file_id, status=str(status), reason=reason)

    def seen_paths(self) -> list[SeenPath]:
        paths = limited(PATHS, of_seen_files(self._sight))
        return [SeenPath._make(row) for row in self._session.rows(paths, self._here())]

    def seen(self, path: str) -> SeenPath | None:
        row = self._session.one(PATH, self._here(path=path))
        return SeenPath(*row) if row else None

    def is_anywhere(self, file_id: str) -> bool:
        """Whether the file still lies where it was seen. What lies on other hosts is believed to."""
        places = self._session.rows(PLACES_OF_FILE, self._given(file_id=file_id))
        return any(host != self._host or os.path.exists(path) for host, path in places)

    def see(self, path: SeenPath) -> None:
        self._run(
            SEE,
            host=self._host,
            path=path.path,
            file_id=path.file_id,
            size=path.size,
            mtime_ns=path.mtime_ns,
            inode=path.inode,
        )

    def drop_unread(self, file_id: str) -> None:
        """Forget that a file could not be read."""
        if self._run(DROP_UNREAD, id=file_id):
            self._run(DROP_PATHS, file_id=file_id)

    def spans(self) -> list[Span]:
        return [
            Span(session_id=session_id, starts_at=starts_at, ends_at=ends_at, reason=reason)
            for session_id, starts_at, ends_at, reason in self._session.rows(SPANS, {"house": self._house})
        ]

    def open_span(self, span: Span) -> None:
        self._run(
            OPEN_SPAN,
            session_id=span.session_id,
            starts_at=span.starts_at,
            ends_at=span.ends_at,
            reason=span.reason,
        )

    def close_spans(self, session_id: str, ends_at: str) -> int:
        return self._run(CLOSE_SPANS, session_id=session_id, ends_at=ends_at)

    def _here(self, **parameters: Any) -> dict[str, Any]:
        return {"house": self._house, "host": self._host, **parameters}

    def _given(self, **parameters: Any) -> dict[str, Any]:
        return {"house": self._house, **parameters}

    def _run(self, sql: str, **parameters: Any) -> int:
        return self._session.run(sql, self._given(**parameters))

    def _select(self, sql: str, **parameters: Any) -> list[File]:
        return [_file(row) for row in self._session.rows(sql, self._given(**parameters))]


def _file(row: Row) -> File:
    values = dict(zip(_NAMES, row, strict=True))
    values["status"] = FileStatus(values["status"])
    values["counts"] = msgspec.json.decode(values["counts"], type=Counts)
    return File(**values)


def _first(files: list[File]) -> File | None:
    return files[0] if files else None
