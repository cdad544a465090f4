"""Opening the files in a `.zip` that could be transcripts. Of one that was cut short those that are whole are read."""

import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

import zstandard

from recollect.errors import Unreadable
from recollect.history.opening import (
    BLOCK_BYTES,
    ZSTANDARD,
    Part,
    as_database,
    explained,
    missing_end,
    refuse_trap,
    spool,
    spool_limited,
    starts_with,
)
from recollect.history.sources import comes_later, sources

PEEK_BYTES = 32_768

_LOCAL_HEADER = b"PK\x03\x04"
_STARTS = (_LOCAL_HEADER, b"PK\x05\x06")

Report = Callable[[str], None]


def is_archive(opened: BinaryIO) -> bool:
    return starts_with(opened, *_STARTS)


def parts_of(
    path: str, opened: BinaryIO, report: Report, is_wanted: Callable[[str, bytes], bool] | None = None
) -> Iterator[Part]:
    """What may be a transcript in an archive, by its name and, if asked, its beginning: the rest is not unpacked.

    Raises Unreadable after those of a damaged one.
    """
    opened.seek(0)
    try:
        archive = zipfile.ZipFile(opened)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, EOFError):
        yield from _whole_entries(path, opened)
        raise Unreadable(
            f"{path} is cut short or damaged: only the entries that are whole were read. Download it again."
        ) from None
    with archive:
        for entry in sorted(archive.infolist(), key=lambda one: comes_later(one.filename)):
            if entry.is_dir() or not is_possible(entry.filename):
                continue
            place = f"{path}/{entry.filename}"
            if entry.flag_bits & 1:
                report(f"{place} is encrypted. Unpack it with its password, then ingest what comes out.")
                continue
            try:
                with archive.open(entry) as stream:
                    if is_wanted and not is_wanted(place, stream.read(PEEK_BYTES)):
                        continue
            except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError):
                pass  # Told of when it is unpacked.
            yield from _entry(archive, entry, place, report)


def _entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, place: str, report: Report) -> Iterator[Part]:
    """Damage to one entry does not end the others."""
    try:
        refuse_trap(entry.file_size, entry.compress_size, place)
        with archive.open(entry) as stream:
            blocks = iter(lambda: stream.read(BLOCK_BYTES), b"")
            with spool_limited(explained(blocks, place), entry.compress_size, place) as file:
                if not starts_with(file, ZSTANDARD):
                    with as_database(file) as database:
                        yield Part(place, file, database=database)
                    return
                frames = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True, closefd=False)
                inner = iter(lambda: frames.read(BLOCK_BYTES), b"")
                with spool_limited(explained(inner, place), entry.compress_size, place) as plain:
                    yield Part(place.removesuffix(".zst"), plain, missing_end(place, file, plain))
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
            if flags & 8:
                return
            position = start + packed
            if method == zipfile.ZIP_STORED and not flags & 1 and is_possible(name):
                with spool(_exactly(opened, packed)) as file:
                    if file.seek(0, os.SEEK_END) < packed:
                        return
                    file.seek(0)
                    yield Part(f"{path}/{name}", file)
            continue
        inflated = _Inflated(opened)
        place = f"{path}/{name}"
        try:
            with spool_limited(inflated.blocks(), os.fstat(opened.fileno()).st_size, place) as file:
                if inflated.is_whole and is_possible(name):
                    yield Part(place, file)
        except zlib.error:
            return
        if not inflated.is_whole:
            return
        position = start + inflated.packed + (_descriptor_bytes(opened, start + inflated.packed) if flags & 8 else 0)


def _descriptor_bytes(opened: BinaryIO, start: int) -> int:
    """How long the sizes behind an entry are: with or without a signature, of four or of eight bytes each."""
    opened.seek(start)
    following = opened.read(24 + 4)
    for length in (16, 24, 12, 20):
        if following[length : length + 4] in (_LOCAL_HEADER, b"PK\x01\x02"):
            return length
    return 16


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
            rest = self._inflater.unused_data if self._inflater.eof else waiting  # At the end both hold the rest.
            self.packed += len(given) - len(rest)
            yield block


def _exactly(opened: BinaryIO, size: int) -> Iterator[bytes]:
    while size > 0 and (block := opened.read(min(BLOCK_BYTES, size))):
        size -= len(block)
        yield block
