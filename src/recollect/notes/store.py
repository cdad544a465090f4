"""All SQL on the tables of notes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from recollect.database import Row, Session
from recollect.feed import NOTE, FeedStore
from recollect.notes.paths import scope_of
from recollect.notes.versions import ACCEPTED, OPEN, Action, Note, Version
from recollect.scopes import EVERYTHING, Sight

_NAMES = [item.name for item in fields(Version)]
_COLUMNS = ", ".join(_NAMES)
_LATEST = "house = :house AND latest = 1"

ADD = f"""
INSERT INTO notes_versions (house, {_COLUMNS}, content, latest)
VALUES (:house, {", ".join(f":{name}" for name in _NAMES)}, :content, 1)
"""
REPLACE = f"UPDATE notes_versions SET latest = 0 WHERE {_LATEST} AND path = :path"
LATEST = f"SELECT {_COLUMNS} FROM notes_versions WHERE {_LATEST} AND path IN (:values)"
LATEST_NOTES = f"SELECT {_COLUMNS}, content FROM notes_versions WHERE {_LATEST} AND path IN (:values)"
LISTED = f"""
SELECT {_COLUMNS} FROM notes_versions
WHERE {_LATEST} AND path >= :first AND path < :beyond{{conditions}} ORDER BY path LIMIT :limit
"""
HEADS = f"SELECT path, number, digest FROM notes_versions WHERE {_LATEST}"
VERSIONS = f"SELECT {_COLUMNS} FROM notes_versions WHERE house = :house AND path = :path"
ONE = f"SELECT {_COLUMNS}, content FROM notes_versions WHERE house = :house AND path = :path AND number = :number"
WAS_THERE = """
SELECT count(*) FROM notes_versions WHERE house = :house AND path = :path AND digest = :digest
"""
WITH_CONTENT = "SELECT DISTINCT path FROM notes_versions WHERE house = :house AND digest = :digest LIMIT 20"
FOR_REVIEW = f"SELECT {_COLUMNS} FROM notes_versions WHERE house = :house AND review = '{OPEN}'"
UNSEEN_SINCE = f"SELECT {_COLUMNS} FROM notes_versions WHERE house = :house AND unseen > 0 AND at >= :since"
SET_REVIEW = """
UPDATE notes_versions SET review = :review WHERE house = :house AND path = :path AND number = :number
"""
HELD = f"SELECT count(*) FROM notes_versions WHERE {_LATEST} AND scope = :scope"
COUNT = "SELECT count(*), coalesce(sum(size), 0) FROM notes_versions WHERE house = :house"
COUNT_LATEST = f"SELECT count(*) FROM notes_versions WHERE {_LATEST} AND digest <> ''"

_COPY = "path, number, digest, size, mtime_ns, inode, purge"
COPY = f"SELECT {_COPY} FROM notes_copies WHERE house = :house AND copy = :copy AND path = :path"
COPIES = f"SELECT {_COPY} FROM notes_copies WHERE house = :house AND copy = :copy"
SAVE_COPY = f"""
INSERT INTO notes_copies (house, copy, {_COPY})
VALUES (:house, :copy, :path, :number, :digest, :size, :mtime_ns, :inode, :purge)
ON CONFLICT (house, copy, path) DO UPDATE SET number = excluded.number, digest = excluded.digest, size = excluded.size,
    mtime_ns = excluded.mtime_ns, inode = excluded.inode, purge = excluded.purge
"""
DROP_COPY = "DELETE FROM notes_copies WHERE house = :house AND copy = :copy AND path = :path"
DROP_COPIES = "DELETE FROM notes_copies WHERE house = :house AND copy = :copy"

MOVED_TO = "SELECT DISTINCT path FROM notes_versions WHERE house = :house AND moved_from = :path"
WITH_DIGEST = "SELECT DISTINCT path FROM notes_versions WHERE house = :house AND digest IN (:values)"
REWRITE = """
UPDATE notes_versions SET content = :content, digest = :digest, size = :size, reason = :reason
WHERE house = :house AND path = :path AND number = :number
"""
ERASE = "DELETE FROM notes_versions WHERE house = :house AND path = :path AND number <= :last"
_OF_COPY = "FROM notes_versions v WHERE v.house = :house AND v.path = :path AND v.number = notes_copies.number"
PURGE = f"""
UPDATE notes_copies SET purge = 1, mtime_ns = 0, inode = 0, size = 0,
    digest = coalesce((SELECT v.digest {_OF_COPY}), ''), number = coalesce((SELECT v.number {_OF_COPY}), 0)
WHERE house = :house AND path = :path
"""
UNPURGED = "SELECT count(DISTINCT copy) FROM notes_copies WHERE house = :house AND purge = 1"

ALL_PATHS = "\U0010ffff"
"""Behind every path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """What the file of a note last was in one folder."""

    path: str
    number: int
    """The version; 0: none that is still there."""
    digest: str
    size: int
    mtime_ns: int
    """0: changed so short a time before it was read that a later change could bear the same time."""
    inode: int
    purge: int = 0


class NoteStore:
    def __init__(self, session: Session, house: str, sight: Sight = EVERYTHING) -> None:
        self._session = session
        self._house = house
        self._sight = sight
        self._feed = FeedStore(session, house)

    # Versions

    def add(self, version: Version, content: bytes) -> None:
        """The latest version of its path, from now on."""
        self._session.run(REPLACE, self._given(path=version.path))
        values = {name: getattr(version, name) for name in _NAMES}
        values["action"] = str(version.action)
        self._session.run(ADD, self._given(**values, content=packed(content)))
        self._feed.note(NOTE, [version.path])

    def latest(self, paths: Sequence[str]) -> dict[str, Version]:
        """Path → the version that stands in its file now, or says that it is gone."""
        rows = self._session.among(self._seen(LATEST), list(paths), self._given()) if paths else []
        return {row[0]: self._version(row) for row in rows}

    def notes(self, paths: Sequence[str]) -> dict[str, Note]:
        """Those of these notes that are there."""
        rows = self._session.among(self._seen(LATEST_NOTES), list(paths), self._given()) if paths else []
        return {row[0]: self._note(row) for row in rows if row[_NAMES.index("digest")]}

    def listed(self, below: str = "", *, after: str = "", limit: int = 1_000_000, gone: bool = False) -> list[Version]:
        """In the order of their paths. `below`: in this folder."""
        first, beyond = (f"{below}/", f"{below}0") if below else ("", ALL_PATHS)
        conditions = self._sight.condition("scope") + ("" if gone else " AND digest <> ''")
        if after:
            conditions += " AND path > :after"
        given = self._given(first=first, beyond=beyond, after=after, limit=limit)
        return [self._version(row) for row in self._session.rows(LISTED.format(conditions=conditions), given)]

    def heads(self) -> dict[str, tuple[int, str]]:
        """Path → (number, digest) of the latest version; an empty digest: it is gone."""
        return {path: (number, digest) for path, number, digest in self._session.rows(HEADS, self._given())}

    def versions(self, path: str) -> list[Version]:
        """The oldest first."""
        rows = self._session.rows(f"{self._seen(VERSIONS)} ORDER BY number", self._given(path=path))
        return [self._version(row) for row in rows]

    def note(self, path: str, number: int) -> Note | None:
        row = self._session.one(self._seen(ONE), self._given(path=path, number=number))
        return self._note(row) if row else None

    def was_there(self, path: str, digest: str) -> bool:
        """Whether some version of a note had this content."""
        return bool(self._session.value(WAS_THERE, self._given(path=path, digest=digest)))

    def for_review(self) -> list[Version]:
        rows = self._session.rows(f"{self._seen(FOR_REVIEW)} ORDER BY at, path, number", self._given())
        return [self._version(row) for row in rows]

    def unseen_since(self, since: str) -> list[Version]:
        """Versions that took the place of one that their writer had not seen; the oldest first."""
        rows = self._session.rows(f"{self._seen(UNSEEN_SINCE)} ORDER BY at, path, number", self._given(since=since))
        return [self._version(row) for row in rows]

    def accept(self, path: str, number: int, review: str = ACCEPTED) -> None:
        self._session.run(SET_REVIEW, self._given(path=path, number=number, review=review))

    def with_content(self, digest: str) -> list[str]:
        """Some paths of notes that have, or had, this content."""
        return [row[0] for row in self._session.rows(WITH_CONTENT, self._given(digest=digest))]

    def held(self, scope: str) -> int:
        """Notes that are there or were: whoever has the scope can bring them back."""
        return self._session.value(HELD, self._given(scope=scope))

    def number(self) -> int:
        """Notes that are there."""
        return self._session.value(self._seen(COUNT_LATEST), self._given())

    def count(self) -> tuple[int, int]:
        """(versions of all that ever were, bytes of those)"""
        versions, size = self._session.rows(self._seen(COUNT), self._given())[0]
        return versions, int(size)

    # Copies

    def copy(self, copy: str, path: str) -> Copy | None:
        row = self._session.one(COPY, self._given(copy=copy, path=path))
        return _copy(row) if row else None

    def copies(self, copy: str) -> dict[str, Copy]:
        return {row[0]: _copy(row) for row in self._session.rows(COPIES, self._given(copy=copy))}

    def save_copy(self, copy: str, seen: Copy) -> None:
        self._session.run(SAVE_COPY, self._given(copy=copy, **{name: getattr(seen, name) for name in Copy.__slots__}))

    def drop_copy(self, copy: str, path: str) -> None:
        self._session.run(DROP_COPY, self._given(copy=copy, path=path))

    def drop_copies(self, copy: str) -> None:
        self._session.run(DROP_COPIES, self._given(copy=copy))

    # Erasing

    def contents(self, path: str) -> Iterator[Note]:
        """All versions of a note with what stands in them, the oldest first, one by one: together they may be large.
        They may be rewritten meanwhile."""
        for version in self.versions(path):
            note = self.note(path, version.number)
            if note:
                yield note

    def copied_to(self, path: str, digests: Sequence[str]) -> set[str]:
        """Notes that were moved there from this one, or had one of these texts as a whole."""
        moved = self._session.rows(MOVED_TO, self._given(path=path))
        alike = self._session.among(WITH_DIGEST, list(digests), self._given()) if digests else []
        return {row[0] for row in (*moved, *alike)} - {path}

    def rewrite(self, version: Version, content: bytes) -> None:
        """Only forgetting does this: what a version was is not known any more."""
        given = {name: getattr(version, name) for name in ("path", "number", "digest", "size", "reason")}
        self._session.run(REWRITE, self._given(**given, content=packed(content)))
        self._feed.note(NOTE, [version.path])

    def erase(self, path: str, last: int) -> int:
        """The versions up to this number; how many those were."""
        self._feed.note(NOTE, [path])
        return self._session.run(ERASE, self._given(path=path, last=last))

    def purge(self, path: str) -> None:
        """Its file, in whatever folder, may still have what was forgotten. What the file was is known by the version it
        had, as that one is now: no digest stays of a text that was forgotten."""
        self._session.run(PURGE, self._given(path=path))

    def unpurged(self) -> int:
        """Folders in which a file may still have something that was forgotten."""
        return self._session.value(UNPURGED, self._given())

    def _given(self, **values: Any) -> dict[str, Any]:
        return {"house": self._house, **values}

    def _seen(self, sql: str) -> str:
        return sql + self._sight.condition("scope")

    def _version(self, row: Row) -> Version:
        return Version(**self._values(row))

    def _note(self, row: Row) -> Note:
        return Note(**self._values(row), content=unpacked(bytes(row[len(_NAMES)])))

    def _values(self, row: Row) -> dict[str, Any]:
        """Where a note came from is told to who may see that place."""
        values = dict(zip(_NAMES, row, strict=False))
        values["action"] = Action(values["action"])
        if values["moved_from"] and not self._sight.sees(scope_of(values["moved_from"])):
            values["moved_from"] = ""
        return values


def packed(content: bytes) -> bytes:
    """As a row holds it. Commands that read no note start without the library."""
    import zstandard

    return zstandard.ZstdCompressor().compress(content) if content else b""


def unpacked(content: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdDecompressor().decompress(content) if content else b""


def _copy(row: Row) -> Copy:
    return Copy(**dict(zip(Copy.__slots__, row, strict=True)))
