"""Writing an export: a folder, or one zip file with the same files in it."""

import hashlib
import os
import zipfile
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Protocol

import msgspec

from recollect.transfer.manifest import Member, TableMember, file_path, table_path
from recollect.transfer.results import Progress
from recollect.transfer.store import TransferStore
from recollect.transfer.tables import Shape

ZIP = ".zip"
COMPRESSION_LEVEL = 1
"""Most of an export is the vault, which is compressed already: more effort finds little more."""
ROWS_BETWEEN_REPORTS = 2_000
BUFFER_BYTES = 1 << 20


class Package(Protocol):
    """Where the files of an export go."""

    def member(self, name: str) -> AbstractContextManager[IO[bytes]]: ...


class FolderPackage:
    def __init__(self, root: Path) -> None:
        self._root = root
        root.mkdir(mode=0o700)

    @contextmanager
    def member(self, name: str) -> Generator[IO[bytes]]:
        path = self._root / name
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with open(path, "xb", buffering=BUFFER_BYTES, opener=_private) as file:
            yield file


class ZipPackage:
    """Its members have no times: the same house gives the same bytes, but for the manifest."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    @contextmanager
    def member(self, name: str) -> Generator[IO[bytes]]:
        info = zipfile.ZipInfo(name)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = 0o600 << 16
        with self._archive.open(info, "w", force_zip64=True) as file:
            yield file


@contextmanager
def new_package(path: Path) -> Generator[Package]:
    """For its owner's eyes only: it holds the vault."""
    if path.suffix.lower() != ZIP:
        yield FolderPackage(path)
        return
    with (
        open(path, "xb", opener=_private) as file,
        zipfile.ZipFile(file, "w", compression=zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION_LEVEL) as archive,
    ):
        yield ZipPackage(archive)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class _Measured:
    """A file that is written, and what the manifest says of it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self.size = 0

    def write(self, raw: bytes) -> None:
        self.size += len(raw)
        self._digest.update(raw)
        self._file.write(raw)

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()


def write_table(package: Package, store: TransferStore, shape: Shape, on_progress: Progress) -> TableMember:
    encode, row_type = msgspec.json.Encoder().encode, shape.row_type()
    rows = 0
    with package.member(table_path(shape.table)) as file:
        measured = _Measured(file)
        for row in store.rows(shape):
            measured.write(encode(row_type(*row)) + b"\n")
            rows += 1
            if rows % ROWS_BETWEEN_REPORTS == 0:
                on_progress(shape.table, rows)
    on_progress(shape.table, rows)
    return TableMember(rows=rows, columns=shape.names, bytes=measured.size, sha256=measured.sha256)


def write_file(package: Package, name: str, raw: bytes) -> Member:
    with package.member(file_path(name)) as file:
        file.write(raw)
    return Member(bytes=len(raw), sha256=hashlib.sha256(raw).hexdigest())
