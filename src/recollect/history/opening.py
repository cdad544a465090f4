"""Opening a file: as it lies, or unpacked from the `.zst` around it; `archives` opens the files in a `.zip`.

What is unpacked goes to a temporary file beyond a few megabytes, and a file that unpacks to far more than any text
does is refused before it fills the disk.
"""

import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from typing import IO, BinaryIO, NamedTuple, cast

import zstandard

from recollect.database.foreign import MAGIC
from recollect.errors import Unreadable
from recollect.history.sources import FileFacts, Source

BLOCK_BYTES = 1 << 20
IN_MEMORY_BYTES = 16 << 20
SMALL_BYTES = 1 << 30
"""Unpacking to this much is never refused: a disk has room for it."""
MAX_RATIO = 100
"""Text packs ten- to thirtyfold; what unpacks to a hundred times its size, and to more than that, is a trap."""

DATABASES = (".db", ".sqlite")

ZSTANDARD = b"\x28\xb5\x2f\xfd"


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
    is_partial: bool = False
    """It may hold only a stretch of its transcript, put together with what is known of the rest."""
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


@contextmanager
def unpacked(path: str, opened: BinaryIO) -> Generator[Part]:
    """The file, without the `.zst` around it. Raises Unreadable."""
    if not starts_with(opened, ZSTANDARD):
        yield Part(path, opened, database=path)
        return
    size = os.fstat(opened.fileno()).st_size
    with zstandard.ZstdDecompressor().stream_reader(opened, read_across_frames=True, closefd=False) as stream:
        blocks = iter(lambda: stream.read(BLOCK_BYTES), b"")
        with spool_limited(explained(blocks, path), size, path) as file, as_database(file) as database:
            yield Part(path.removesuffix(".zst"), file, missing_end(path, opened, file), database)


@contextmanager
def as_database(file: BinaryIO) -> Generator[str]:
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


def missing_end(path: str, opened: BinaryIO, file: BinaryIO) -> str:
    if _is_whole(opened):
        return ""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    return f"{path} is cut short: only its first {size:,} bytes can be unpacked. Get it again."


def _is_whole(opened: BinaryIO) -> bool:
    """Whether the last frame of a `.zst` has its end. Many writers do not say in the beginning how long it is."""
    size = opened.seek(0, os.SEEK_END)
    position = 0
    while position < size:
        opened.seek(position)
        begin = opened.read(18)
        if begin[:4] != ZSTANDARD:  # A skippable frame, or something else behind the last one.
            if len(begin) < 8 or begin[1:4] != b"\x2a\x4d\x18":
                return True
            position += 8 + int.from_bytes(begin[4:8], "little")
            continue
        try:
            header = zstandard.get_frame_parameters(begin)
            position += zstandard.frame_header_size(begin)
        except zstandard.ZstdError:
            return False
        is_last = False
        while not is_last:
            opened.seek(position)
            block = int.from_bytes(opened.read(3).ljust(3, b"\x00"), "little")
            if position + 3 > size:
                return False
            is_last = bool(block & 1)
            position += 3 + (1 if block >> 1 & 3 == 1 else block >> 3)
        position += 4 * header.has_checksum
        if position > size:
            return False
    return True


@contextmanager
def spool(blocks: Iterable[bytes]) -> Generator[BinaryIO]:
    """These bytes as a file that can be read again and anywhere."""
    with closing(tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES, prefix="recollect-")) as file:
        for block in blocks:
            file.write(block)
        file.seek(0)
        yield cast(BinaryIO, file)


def spool_limited(blocks: Iterable[bytes], packed: int, place: str) -> AbstractContextManager[BinaryIO]:
    return spool(_limited(blocks, packed, place))


def _limited(blocks: Iterable[bytes], packed: int, place: str) -> Iterator[bytes]:
    size = 0
    for block in blocks:
        size += len(block)
        refuse_trap(size, packed, place)
        yield block


def refuse_trap(size: int, packed: int, place: str) -> None:
    if size > max(SMALL_BYTES, packed * MAX_RATIO):
        raise Unreadable(
            f"{place} unpacks to more than {MAX_RATIO} times its size, beyond {SMALL_BYTES >> 20} MB: it looks like a "
            "zip bomb and is not read. If it is honest, unpack it yourself and ingest the folder."
        )


def explained(blocks: Iterable[bytes], place: str) -> Iterator[bytes]:
    try:
        yield from blocks
    except (zstandard.ZstdError, zlib.error, zipfile.BadZipFile, EOFError) as error:
        raise Unreadable(f"{place} cannot be unpacked: {error}. It may be cut short; get it again.") from error


def starts_with(opened: IO[bytes], *starts: bytes) -> bool:
    opened.seek(0)
    begin = opened.read(4)
    opened.seek(0)
    return begin in starts
