"""Reading an export that somebody hands in, a folder or a zip file: nothing in it is believed before it is checked.

Files are opened by names that this program knows, never by names found in it, so nothing outside of it can be reached.
Links are not followed.
"""

import hashlib
import os
import stat
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

import msgspec

from recollect.database import Row
from recollect.errors import Corrupt, Denied, Invalid, NotFound
from recollect.transfer import manifest as manifests
from recollect.transfer.checking import CHECKS
from recollect.transfer.manifest import Manifest, Member, TableMember, file_path, table_path
from recollect.transfer.tables import Shape

MAX_ROW_BYTES = 1 << 30
"""A row is read whole: a longer line is none of ours."""
PIECE_BYTES = 1 << 20
MAX_FILE_BYTES = 16_000_000
"""Of a file of the home."""
_READABLE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Opener(Protocol):
    def open(self, name: str) -> IO[bytes]: ...


class FolderOpener:
    def __init__(self, root: Path) -> None:
        self._root = root

    def open(self, name: str) -> IO[bytes]:
        path = self._root / name
        if path.parent != self._root and path.parent.is_symlink():
            raise Invalid(f"{path.parent} is a link. An export has none: give the folder that was exported.")
        file = open(path, "rb", opener=_without_following)  # noqa: SIM115  who asked closes it
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise Invalid(f"{path} is not a plain file. Give the folder that was exported.")
        return file


def _without_following(path: str, flags: int) -> int:
    # Not waiting either: a named pipe would have us wait for ever.
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


class ZipOpener:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def open(self, name: str) -> IO[bytes]:
        try:
            info = self._archive.getinfo(name)
        except KeyError as error:
            raise FileNotFoundError(2, "No such file", name) from error
        if info.flag_bits & 1 or info.compress_type not in _READABLE:
            raise Invalid(f"{name} in it is encrypted or packed in an unusual way. Unpack it, and give the folder.")
        return self._archive.open(info)


class Export:
    """One export, open for reading."""

    def __init__(self, place: Path, opener: Opener) -> None:
        self.place = place
        self._opener = opener

    def manifest(self, newest_schema: int) -> Manifest:
        try:
            with self._opener.open(manifests.NAME) as file:
                raw = file.read(manifests.MAX_BYTES + 1)
        except FileNotFoundError as error:
            raise Invalid(
                f"{self.place} is not an export of Recollect: it has no {manifests.NAME}. Give the folder or the .zip "
                "that `recollect export` made."
            ) from error
        if len(raw) > manifests.MAX_BYTES:
            raise Invalid(f"{self.place} is not an export of Recollect: its {manifests.NAME} is too large.")
        return manifests.decode(raw, str(self.place), newest_schema)

    def lines(self, table: str, member: TableMember) -> Iterator[bytes]:
        """The rows of a table as they are written. Ends with an error if they are not those that were exported."""
        name, digest, size, rows = table_path(table), hashlib.sha256(), 0, 0
        with self._open(name) as file:
            while line := file.readline(MAX_ROW_BYTES):
                size += len(line)
                if size > member.bytes:
                    break
                digest.update(line)
                rows += 1
                yield line
        if (size, digest.hexdigest(), rows) != (member.bytes, member.sha256, member.rows):
            raise self._changed(name)

    def rows(self, shape: Shape, member: TableMember) -> Iterator[Row]:
        decode, check = msgspec.json.Decoder(shape.row_type()).decode, CHECKS.get(shape.table)
        for number, line in enumerate(self.lines(shape.table, member), 1):
            try:
                row = decode(line)
                if check:
                    check(row)
                yield msgspec.structs.astuple(row)
            except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, Invalid) as error:
                place = f"{self.place}: {table_path(shape.table)}, line {number}"
                raise Corrupt(f"{place}: {error}. Use another copy of it; nothing was imported.") from error

    def content(self, name: str, member: Member) -> bytes:
        """A file of the home."""
        with self._open(file_path(name)) as file:
            raw = file.read(MAX_FILE_BYTES + 1)
        if len(raw) != member.bytes or hashlib.sha256(raw).hexdigest() != member.sha256:
            raise self._changed(file_path(name))
        return raw

    @contextmanager
    def _open(self, name: str) -> Generator[IO[bytes]]:
        try:
            with self._opener.open(name) as file:
                yield file
        except FileNotFoundError as error:
            raise Corrupt(f"{self.place} lacks {name}. Use another copy of it; nothing was imported.") from error

    def _changed(self, name: str) -> Corrupt:
        return Corrupt(
            f"{self.place}: {name} is not what was exported (its digest or its size differs from the manifest's). "
            "Use another copy of it; nothing was imported."
        )


@contextmanager
def open_export(path: Path) -> Generator[Export]:
    try:
        if path.is_dir():
            yield Export(path, FolderOpener(path))
        elif not path.exists():
            raise NotFound(f"{path} does not exist. Give the folder or the .zip that `recollect export` made.")
        elif not path.is_file():
            raise _foreign(path)
        else:
            with open(path, "rb") as file:
                if not zipfile.is_zipfile(file):
                    raise _foreign(path)
                with zipfile.ZipFile(file) as archive:
                    yield Export(path, ZipOpener(archive))
    except PermissionError as error:
        raise Denied(f"{path} may not be read: {error.strerror}. Check its permissions.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise Corrupt(f"{path} is damaged: {error}. Use another copy of it; nothing was imported.") from error
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror or error}. Give it as it was exported.") from error


def _foreign(path: Path) -> Invalid:
    return Invalid(f"{path} is not an export of Recollect. Give the folder or the .zip that it made.")
