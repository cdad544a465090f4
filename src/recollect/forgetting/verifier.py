"""Looks for what was forgotten: in every table, in the index, and in the raw bytes of every file of the home.

Words that stand in a message, a vault line or a record that stays are not a trace of what was forgotten: somebody said
them there too. They are told apart by the rows they stand in, and whoever holds them is named. Everything else that has
them is residue. What was erased by its identity may not be there under it either.

Many acts of forgetting are looked for at once, as reading everything is what takes long: `Findings` are then asked for
each of them.
"""

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from recollect.database import Database, Session
from recollect.forgetting.probes import WINDOW, Fingerprint, Probes, Search
from recollect.lineage import Hasher, TombstoneStore

CHUNK_BYTES = 8 << 20
ROWS_BYTES = 4 << 20
"""Rows are looked at so many bytes at once."""

Unpack = Callable[[bytes], bytes]
Row = tuple[str, Iterable[str | None], Iterable[bytes]]
"""(whose it is, its texts, its blobs)"""


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
    """What was seen where, as the hashes of probes."""

    held: dict[tuple[str, str], set[int]] = field(default_factory=dict[tuple[str, str], set[int]])
    """By things that stay and say it too: (kind, id)."""
    in_tables: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    in_files: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    returned: list[str] = field(default_factory=list[str])
    """Where something stands under an identity that was forgotten. Of what act is not known."""

    def also_in(self, probes: Probes) -> dict[str, list[str]]:
        """Kind → ids of things that stay and say some of it too."""
        wanted, found = probes.hashes(), dict[str, set[str]]()
        for (kind, owner), hashes in self.held.items():
            if owner and not wanted.isdisjoint(hashes):
                found.setdefault(kind, set()).add(owner)
        return {kind: sorted(ids) for kind, ids in found.items()}

    def residue(self, probes: Probes) -> list[str]:
        """Where something of it still stands that should not."""
        wanted = probes.hashes()
        places = (*self.in_tables.items(), *self.in_files.items())
        return [*self.returned, *(place for place, hashes in places if not wanted.isdisjoint(hashes))]


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
        known: dict[tuple[str, str], str] = {}
        with database.read() as session:
            for holder in self._holders.values():
                buried = TombstoneStore(session, self._house).every([holder.kind])
                for owner, hashes in self._found_in(session, search, holder):
                    if self._hasher.hash(holder.kind, owner) in buried:
                        place = f"table {holder.table}: words of a forgotten {holder.kind}"
                        findings.in_tables.setdefault(place, set()).update(hashes)
                        continue
                    common |= hashes
                    findings.held.setdefault((holder.kind, owner), set()).update(hashes)
                common |= self._alike(session, search, holder, buried)
                if not holder.keeps_rows:
                    self._check_gone(session, holder, buried, known, findings)
        return probes.without(common)

    def _alike(self, session: Session, search: Search, holder: Holder, buried: set[str]) -> set[int]:
        """Records that are alike are alike when they are compressed, too, in part: that says nothing of their words."""
        rows = self._rows(session, holder.table, "=", owner=holder.id_column, only=holder.packed)
        found = _search_rows(rows, search) if holder.packed else ()
        return {one for owner, some in found if self._hasher.hash(holder.kind, owner) not in buried for one in some}

    def _check_gone(
        self,
        session: Session,
        holder: Holder,
        buried: set[str],
        known: dict[tuple[str, str], str],
        findings: Findings,
    ) -> None:
        """Nothing that was forgotten by its identity may be back, or still be there. `known`: hashes made already."""
        if not buried:
            return
        sql = f"SELECT DISTINCT {holder.id_column} FROM {holder.table} WHERE house = :house"
        for (owner,) in session.each(sql, {"house": self._house}):
            if owner is None:
                continue
            thing = (holder.kind, owner)
            hashed = known.get(thing) or known.setdefault(thing, self._hasher.hash(*thing))
            if hashed in buried:
                findings.returned.append(f"table {holder.table}: a forgotten {holder.kind} is there")
                return

    def _found_in(self, session: Session, search: Search, holder: Holder) -> Iterator[tuple[str, set[int]]]:
        rows = self._rows(session, holder.table, "=", owner=holder.id_column, packed=holder.packed)
        yield from _search_rows(rows, search)

    def tables(self, database: Database, probes: Probes, findings: Findings) -> None:
        """Every text and every blob of every table, ours or not, but those that were looked at already."""
        search = Search(self._fingerprint, probes)
        with database.read() as session:
            for table in session.tables():
                if table not in self._holders:
                    for _, hashes in _search_rows(self._rows(session, table, "="), search):
                        findings.in_tables.setdefault(f"table {table}", set()).update(hashes)

    def without_other_houses(self, database: Database, probes: Probes) -> Probes:
        """Files are shared by all houses of a database: what another one says is no trace there."""
        search, common = Search(self._fingerprint, probes), set[int]()
        with database.read() as session:
            for table in session.tables():
                packed = self._holders[table].packed if table in self._holders else ""
                rows = self._rows(session, table, "<>", packed=packed)
                as_they_are = self._rows(session, table, "<>", only=packed) if packed else ()
                for _, hashes in _search_rows(chain(rows, as_they_are), search):
                    common |= hashes
        return probes.without(common)

    def _rows(
        self, session: Session, table: str, sign: str, *, owner: str = "", packed: str = "", only: str = ""
    ) -> Iterator[Row]:
        """Of this house, or with another sign those of the others. Tables without a house are ours. `packed`: a column
        to unpack. `only`: no other column."""
        columns = session.columns(table)
        has_house = any(column.name == "house" for column in columns)
        columns = [column for column in columns if not only or column.name == only]
        texts = [column.name for column in columns if column.type is str and column.name not in ("house", owner)]
        blobs = [column.name for column in columns if column.type is bytes]
        if not (texts or blobs) or (sign == "<>" and not has_house):
            return
        chosen = f" WHERE house {sign} :house" if has_house else ""
        given = {"house": self._house} if has_house else {}
        sql = f"SELECT {', '.join([owner or 'NULL', *texts, *blobs])} FROM {table}{chosen}"
        last = 1 + len(texts)
        for row in session.each(sql, given):
            values = (
                self._unpack(value) if name == packed else value
                for name, value in zip(blobs, row[last:], strict=True)
                if value
            )
            yield row[0] or "", row[1:last], values

    def files(self, databases: Iterable[Database], others: Iterable[Path], probes: Probes, findings: Findings) -> None:
        """The raw bytes of the files of databases, and of other files, whatever they hold."""
        search = Search(self._fingerprint, probes)
        findings.in_files.clear()
        files = [(path, database.read_file(path, CHUNK_BYTES)) for database in databases for path in database.files()]
        for path, chunks in (*files, *((path, _chunks(path)) for path in others)):
            place, hashes = _find_in_chunks(chunks, search)
            if hashes:
                findings.in_files[f"file {path}, near byte {place:,}"] = hashes


def files_below(folder: Path, without: Iterable[Path]) -> Iterator[Path]:
    """Every plain file of a folder, links not followed, but these files and folders."""
    skipped = {os.path.realpath(path) for path in without}
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if os.path.realpath(os.path.join(parent, name)) not in skipped]
        for name in names:
            path = Path(parent, name)
            if path.is_file() and not path.is_symlink() and os.path.realpath(path) not in skipped:
                yield path


def _search_rows(rows: Iterable[Row], search: Search) -> Iterator[tuple[str, set[int]]]:
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

    for owner, texts, blobs in rows:
        owners.append(owner)
        starts.append(len(buffer))
        buffer += "\x00".join(filter(None, texts)).encode("utf-8", "surrogatepass")
        for blob in blobs:
            buffer += b"\x00"
            buffer += blob
        buffer += b"\x00"
        if len(buffer) >= ROWS_BYTES:
            yield from searched()
    yield from searched()


def _chunks(path: Path) -> Iterator[bytes]:
    try:
        with open(path, "rb") as opened:
            while chunk := opened.read(CHUNK_BYTES):
                yield chunk
    except FileNotFoundError:
        return


def _find_in_chunks(chunks: Iterable[bytes], search: Search) -> tuple[int, set[int]]:
    """The first place, and everything that was found."""
    done, tail, first, found = 0, b"", 0, set[int]()
    for chunk in chunks:
        data = tail + chunk
        places, hashes = search.find(data)
        if len(places):
            first = first if found else done - len(tail) + int(places[0])
            found.update(hashes.tolist())
        done += len(chunk)
        tail = data[-(WINDOW - 1) :]
    return first, found
