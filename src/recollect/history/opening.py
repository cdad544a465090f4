"""Opening a file: as it lies, or unpacked. `.zst` holds one file, `.zip` many; both are read as they are.

What is unpacked goes to a temporary file beyond a few megabytes, and a file that unpacks to far more than any text
does is refused before it fills the disk. Of an archive that was cut short the entries that are whole are read.
"""

import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from typing import IO, BinaryIO, NamedTuple, cast

import zstandard

from recollect.database.foreign import MAGIC
from recollect.errors import Unreadable
from recollect.history.sources import FileFacts, Source, sources

BLOCK_BYTES = 1 << 20
IN_MEMORY_BYTES = 16 << 20
SMALL_BYTES = 1 << 30
"""Unpacking to this much is never refused: a disk has room for it."""
MAX_RATIO = 100
"""Text packs ten- to thirtyfold; what unpacks to a hundred times its size, and to more than that, is a trap."""

DATABASES = (".db", ".sqlite")

_ZSTANDARD = b"\x28\xb5\x2f\xfd"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_LOCAL_HEADER = b"PK\x03\x04"

Report = Callable[[str], None]


class Stamp(NamedTuple):
    """How a file looked; the fields of `os.stat_result` that tell whether it changed."""

    st_size: int
    st_mtime_ns: int
    st_ctime_ns: int
    st_ino: int


Status = os.stat_result | Stamp


def inode_of(status: Status) -> int:
    """The inode number, made to fit a signed 64-bit column."""
    return status.st_ino & 0x7FFF_FFFF_FFFF_FFFF


@dataclass(slots=True)
class Part:
    """One file inside another, or the file itself."""

    path: str
    file: BinaryIO
    problem: str = ""
    """What is wrong with the end of it, although its beginning can be read."""
    database: str = ""
    """Where it can be opened as a database, if it is one."""


@dataclass(slots=True, kw_only=True)
class Stream:
    """One transcript, ready to be read."""

    path: str
    """The file it lies in."""
    file: BinaryIO
    size: int
    source: Source
    facts: FileFacts
    status: Status
    """How that file looked when it was opened."""
    container_id: str = ""
    """Set when the file holds many transcripts: then it is the container that is seen at the path."""
    is_derived: bool = False
    """Its records are not the bytes of the file, but were made from them: any of them may have changed."""
    version: str = ""
    problem: str = ""
    """Why its end is missing."""

    @property
    def inode(self) -> int:
        """0 for one of many in a file."""
        return 0 if self.container_id else inode_of(self.status)


def open_transcript(path: str) -> BinaryIO:
    try:
        path.encode()
        return open(path, "rb")
    except UnicodeEncodeError as error:
        raise Unreadable(f"{path!a} has a name that is not UTF-8. Rename it, then ingest it again.") from error
    except PermissionError as error:
        raise Unreadable(f"{path} may not be read: {error.strerror}. Check its permissions.") from error


def stamp_of(path: str, status: os.stat_result) -> Status:
    """A database changes in its log first."""
    if not path.endswith(DATABASES):
        return status
    try:
        log = os.stat(path + "-wal")
    except OSError:
        return status
    size, changed = status.st_size + log.st_size, max(status.st_mtime_ns, log.st_mtime_ns)
    return Stamp(size, changed, status.st_ctime_ns, status.st_ino)


def is_archive(opened: BinaryIO) -> bool:
    return _starts_with(opened, *_ZIP)


@contextmanager
def unpacked(path: str, opened: BinaryIO) -> Generator[Part]:
    """The file, without the `.zst` around it. Raises Unreadable."""
    if not _starts_with(opened, _ZSTANDARD):
        yield Part(path, opened, database=path)
        return
    size = os.fstat(opened.fileno()).st_size
    with zstandard.ZstdDecompressor().stream_reader(opened, read_across_frames=True, closefd=False) as stream:
        blocks = iter(lambda: stream.read(BLOCK_BYTES), b"")
        with _spooled(_explained(blocks, path), size, path) as file, _database(file) as database:
            yield Part(path.removesuffix(".zst"), file, _missing_end(path, opened, file), database)


@contextmanager
def _database(file: BinaryIO) -> Generator[str]:
    """A database must lie somewhere to be opened; empty for everything else."""
    begin = file.read(len(MAGIC))
    file.seek(0)
    if begin != MAGIC:
        yield ""
        return
    with tempfile.TemporaryDirectory(prefix="recollect-") as folder:
        path = os.path.join(folder, "unpacked.db")
        with open(path, "wb") as copy:
            shutil.copyfileobj(file, copy)
        file.seek(0)
        yield path


def _missing_end(path: str, opened: BinaryIO, file: BinaryIO) -> str:
    opened.seek(0)
    promised = zstandard.frame_content_size(opened.read(18))
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    return f"{path} is cut short: {size:,} of {promised:,} bytes are there. Get it again." if size < promised else ""


def parts_of(path: str, opened: BinaryIO, report: Report) -> Iterator[Part]:
    """What may be a transcript in an archive, by its name. Raises Unreadable after those of a damaged one."""
    opened.seek(0)
    try:
        archive = zipfile.ZipFile(opened)
    except (zipfile.BadZipFile, ValueError, OSError, EOFError):
        yield from _whole_entries(path, opened)
        raise Unreadable(
            f"{path} is cut short or damaged: only the entries that are whole were read. Download it again."
        ) from None
    with archive:
        for entry in archive.infolist():
            if entry.is_dir() or not is_possible(entry.filename):
                continue
            place = f"{path}/{entry.filename}"
            if entry.flag_bits & 1:
                report(f"{place} is encrypted. Unpack it with its password, then ingest what comes out.")
                continue
            yield from _entry(archive, entry, place, report)


def _entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, place: str, report: Report) -> Iterator[Part]:
    """Damage to one entry does not end the others."""
    try:
        _refuse_trap(entry.file_size, entry.compress_size, place)
        with archive.open(entry) as stream:
            blocks = iter(lambda: stream.read(BLOCK_BYTES), b"")
            with _spooled(_explained(blocks, place), entry.compress_size, place) as file:
                if not _starts_with(file, _ZSTANDARD):
                    with _database(file) as database:
                        yield Part(place, file, database=database)
                    return
                frames = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True, closefd=False)
                inner = iter(lambda: frames.read(BLOCK_BYTES), b"")
                with _spooled(_explained(inner, place), entry.compress_size, place) as plain:
                    yield Part(place.removesuffix(".zst"), plain)
    except (Unreadable, zipfile.BadZipFile, NotImplementedError, OSError) as error:
        report(str(error) if isinstance(error, Unreadable) else f"{place} cannot be unpacked: {error}.")


def is_possible(name: str) -> bool:
    """Whether a file whose folder the user named may be a transcript by its name."""
    plain = name.removesuffix(".zst")
    return plain.endswith((".json", ".jsonl")) or any(source.is_candidate(plain) for source in sources().values())


def _whole_entries(path: str, opened: BinaryIO) -> Iterator[Part]:
    """The entries of an archive without its table of contents, one after the other, up to the damage."""
    position = 0
    while True:
        opened.seek(position)
        header = opened.read(30)
        if len(header) < 30 or header[:4] != _LOCAL_HEADER:
            return
        flags, method = int.from_bytes(header[6:8], "little"), int.from_bytes(header[8:10], "little")
        packed = int.from_bytes(header[18:22], "little")
        name_length, extra_length = int.from_bytes(header[26:28], "little"), int.from_bytes(header[28:30], "little")
        name = opened.read(name_length).decode("utf-8", "replace")
        opened.seek(extra_length, os.SEEK_CUR)
        start = opened.tell()
        if method != zipfile.ZIP_DEFLATED or flags & 1:
            if flags & 8 or not packed:
                return
            position = start + packed
            continue
        inflated = _Inflated(opened)
        place = f"{path}/{name}"
        try:
            with _spooled(inflated.blocks(), os.fstat(opened.fileno()).st_size, place) as file:
                if inflated.is_whole and is_possible(name):
                    yield Part(place, file)
        except zlib.error:
            return
        if not inflated.is_whole:
            return
        position = start + inflated.packed + (16 if flags & 8 else 0)


class _Inflated:
    """A deflated stream whose length nobody knows before it ends."""

    def __init__(self, opened: BinaryIO) -> None:
        self._opened = opened
        self._inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        self.packed = 0

    @property
    def is_whole(self) -> bool:
        return self._inflater.eof

    def blocks(self) -> Iterator[bytes]:
        waiting = b""
        while not self._inflater.eof:
            given = waiting or self._opened.read(BLOCK_BYTES)
            if not given:
                return
            block = self._inflater.decompress(given, BLOCK_BYTES)
            waiting = self._inflater.unconsumed_tail
            self.packed += len(given) - len(waiting) - len(self._inflater.unused_data)
            yield block


@contextmanager
def spool(blocks: Iterable[bytes]) -> Generator[BinaryIO]:
    """These bytes as a file that can be read again and anywhere."""
    with closing(tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES, prefix="recollect-")) as file:
        for block in blocks:
            file.write(block)
        file.seek(0)
        yield cast(BinaryIO, file)


def _spooled(blocks: Iterable[bytes], packed: int, place: str) -> AbstractContextManager[BinaryIO]:
    return spool(_limited(blocks, packed, place))


def _limited(blocks: Iterable[bytes], packed: int, place: str) -> Iterator[bytes]:
    size = 0
    for block in blocks:
        size += len(block)
        _refuse_trap(size, packed, place)
        yield block


def _refuse_trap(size: int, packed: int, place: str) -> None:
    if size > max(SMALL_BYTES, packed * MAX_RATIO):
        raise Unreadable(
            f"{place} unpacks to more than {MAX_RATIO} times its size, beyond {SMALL_BYTES >> 20} MB: it looks like a "
            "zip bomb and is not read. If it is honest, unpack it yourself and ingest the folder."
        )


def _explained(blocks: Iterable[bytes], place: str) -> Iterator[bytes]:
    try:
        yield from blocks
    except (zstandard.ZstdError, zlib.error, zipfile.BadZipFile, EOFError) as error:
        raise Unreadable(f"{place} cannot be unpacked: {error}. It may be cut short; get it again.") from error


def _starts_with(opened: IO[bytes], *starts: bytes) -> bool:
    opened.seek(0)
    begin = opened.read(4)
    opened.seek(0)
    return begin in starts
