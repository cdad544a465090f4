"""Looks for what was forgotten: in every table, in the index, and in the raw bytes of every file of the home.

Words that stand in a message, a vault line or a record that stays are not a trace of what was forgotten: somebody said
them there too. They are told apart by the rows they stand in, and whoever holds them is named. Everything else that has
them is residue. What was erased by its identity may not be there under it either.
"""

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from recollect.database import Database, Session
from recollect.forgetting.probes import WINDOW, Fingerprint, Probes, Search
from recollect.lineage import Hasher, TombstoneStore

CHUNK_BYTES = 8 << 20
ROWS_BYTES = 4 << 20
"""Rows are looked at so many bytes at once."""

Unpack = Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A table whose rows may rightly say what was said elsewhere too: each is an origin of its own."""

    table: str
    kind: str
    """Of the thing that a row belongs to."""
    id_column: str
    packed: str = ""
    """A column that must be unpacked to be read."""
    keeps_rows: bool = False
    """Rows of what was forgotten stay, without their words."""


@dataclass(slots=True)
class Findings:
    also_in: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """Kind → ids of things that stay and say some of it too."""
    residue: list[str] = field(default_factory=list[str])
    """Where something of it still stands that should not."""
    places: int = 0
    """Tables and files that were looked at."""


class Verifier:
    def __init__(self, house: str, hasher: Hasher, holders: Iterable[Holder], unpack: Unpack) -> None:
        self._house = house
        self._hasher = hasher
        self._holders = {holder.table: holder for holder in holders}
        self._unpack = unpack
        self._fingerprint = Fingerprint(hasher)

    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    def shared(self, database: Database, probes: Probes, findings: Findings) -> Probes:
        """The probes that nobody else has a right to: those found in things that stay are taken out, and the things
        are named. A thing that was itself forgotten has no such right."""
        search = Search(self._fingerprint, probes)
        common: set[int] = set()
        with database.read() as session:
            for holder in self._holders.values():
                findings.places += 1
                buried = TombstoneStore(session, self._house).every([holder.kind])
                for owner, hashes in self._found_in(session, search, holder):
                    if self._hasher.hash(holder.kind, owner) in buried:
                        findings.residue.append(f"table {holder.table}: words of a forgotten {holder.kind}")
                        continue
                    common |= hashes
                    findings.also_in.setdefault(holder.kind, set()).add(owner)
                if not holder.keeps_rows:
                    self._check_gone(session, holder, buried, findings)
        return probes.without(common)

    def _check_gone(self, session: Session, holder: Holder, buried: set[str], findings: Findings) -> None:
        """Nothing that was forgotten by its identity may be back, or still be there."""
        if not buried:
            return
        sql = f"SELECT DISTINCT {holder.id_column} FROM {holder.table} WHERE house = :house"
        for (owner,) in session.each(sql, {"house": self._house}):
            if owner is not None and self._hasher.hash(holder.kind, owner) in buried:
                findings.residue.append(f"table {holder.table}: a forgotten {holder.kind} is there")
                return

    def _found_in(self, session: Session, search: Search, holder: Holder) -> Iterator[tuple[str, set[int]]]:
        columns = [column.name for column in session.columns(holder.table) if column.type in (str, bytes)]
        columns = [name for name in columns if name not in ("house", holder.id_column)]
        sql = f"SELECT {holder.id_column}, {', '.join(columns)} FROM {holder.table} WHERE house = :house"
        for_each = [name == holder.packed for name in columns]
        rows = (
            (str(owner or ""), [self._bytes(value, packed) for value, packed in zip(values, for_each, strict=True)])
            for owner, *values in session.each(sql, {"house": self._house})
        )
        yield from _search_rows(rows, search)

    def _bytes(self, value: object, is_packed: bool) -> bytes:
        if isinstance(value, str):
            return value.encode("utf-8", "surrogatepass")
        raw = value if isinstance(value, bytes) else b""
        return self._unpack(raw) if is_packed and raw else raw

    def tables(self, database: Database, probes: Probes, findings: Findings) -> None:
        """Every text and every blob of every table, ours or not, but those that were looked at already."""
        search = Search(self._fingerprint, probes)
        with database.read() as session:
            for table in session.tables():
                if table not in self._holders:
                    findings.places += 1
                    if next(self._found(session, table, search, "="), None):
                        findings.residue.append(f"table {table}")

    def without_other_houses(self, database: Database, probes: Probes) -> Probes:
        """Files are shared by all houses of a database: what another one says is no trace there."""
        search = Search(self._fingerprint, probes)
        with database.read() as session:
            found = [self._found(session, table, search, "<>") for table in session.tables()]
            return probes.without(one for each in found for _, hashes in each for one in hashes)

    def _found(self, session: Session, table: str, search: Search, sign: str) -> Iterator[tuple[str, set[int]]]:
        """In the rows of this house, or with another sign in those of the others. Tables without a house are ours."""
        columns = session.columns(table)
        wanted = [column.name for column in columns if column.type in (str, bytes) and column.name != "house"]
        has_house = any(column.name == "house" for column in columns)
        if not wanted or (sign == "<>" and not has_house):
            return
        packed = self._holders[table].packed if table in self._holders else ""
        chosen = f" WHERE house {sign} :house" if has_house else ""
        given = {"house": self._house} if has_house else {}
        rows = (
            ("", [self._bytes(value, name == packed) for name, value in zip(wanted, values, strict=True)])
            for values in session.each(f"SELECT {', '.join(wanted)} FROM {table}{chosen}", given)
        )
        yield from _search_rows(rows, search)

    def files(self, paths: Iterable[Path], probes: Probes, findings: Findings) -> None:
        """The raw bytes of files, whatever they hold."""
        search = Search(self._fingerprint, probes)
        for path in paths:
            findings.places += 1
            place = _find_in_file(path, search)
            if place is not None:
                findings.residue.append(f"file {path}, near byte {place:,}")


def files_below(folder: Path, without: Iterable[Path]) -> Iterator[Path]:
    """Every plain file of a folder, links not followed, but these files and folders."""
    skipped = {os.path.realpath(path) for path in without}
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if os.path.realpath(os.path.join(parent, name)) not in skipped]
        for name in names:
            path = Path(parent, name)
            if path.is_file() and not path.is_symlink() and os.path.realpath(path) not in skipped:
                yield path


def _search_rows(rows: Iterable[tuple[str, list[bytes]]], search: Search) -> Iterator[tuple[str, set[int]]]:
    """(owner, the hashes found in it), rows put together so that each is not a search of its own."""
    buffer, owners, starts = bytearray(), list[str](), list[int]()

    def searched() -> Iterator[tuple[str, set[int]]]:
        places, hashes = search.find(bytes(buffer))
        found: dict[str, set[int]] = {}
        for place, one in zip(places.tolist(), hashes.tolist(), strict=True):
            found.setdefault(owners[bisect_right(starts, place) - 1], set()).add(one)
        for held in (buffer, owners, starts):
            held.clear()
        yield from found.items()

    for owner, values in rows:
        owners.append(owner)
        starts.append(len(buffer))
        for value in values:
            buffer += value
            buffer += b"\x00"
        if len(buffer) >= ROWS_BYTES:
            yield from searched()
    yield from searched()


def _find_in_file(path: Path, search: Search) -> int | None:
    done, tail = 0, b""
    try:
        with open(path, "rb") as opened:
            while chunk := opened.read(CHUNK_BYTES):
                data = tail + chunk
                places, _ = search.find(data)
                if len(places):
                    return done - len(tail) + int(places[0])
                done += len(chunk)
                tail = data[-(WINDOW - 1) :]
    except FileNotFoundError:
        return None
    return None
