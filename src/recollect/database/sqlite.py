"""SQLite through apsw: its own current SQLite, whatever the Python around it has.

Write-ahead log, so that readers never wait; one writer; 5 seconds of patience when busy. `synchronous` is
NORMAL: a killed process loses nothing, a power cut may lose the last moments, which the next scan reads again.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# apsw's own types leave the values of rows unknown; `Row` says what they are.

import json
import os
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from recollect.database.database import Database, Parameters, Row, Session
from recollect.database.dialect import SQLITE
from recollect.database.sqlite_question import Question
from recollect.errors import Corrupt, Damaged, Denied, Invalid, RecollectError, Unavailable

BUSY_MILLISECONDS = 5_000
CACHE_KIBIBYTES = 16_384
"""Of each connection, and each thread has its own: more is not quicker."""
CHECKPOINT_PAGES = 4_000
"""About 32 MB of log before it is folded back: fewer, larger folds than the default 1,000 pages."""
PAGE_BYTES = 8_192
"""Compressed records are about 1 kB: the default page of 4 kB wastes a fifth of the space and time."""
SETTLE_TRIES = 3
"""Each waits as long as a busy database is waited for."""
REMEDY = "Move it aside and run `recollect ingest` again, or restore a backup."
REMEDY_OF_DERIVED = "Delete it: it is made anew from the database beside it."

PRAGMAS = f"""
PRAGMA page_size = {PAGE_BYTES};
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA foreign_keys = ON;
PRAGMA cache_size = -{CACHE_KIBIBYTES};
PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES};
PRAGMA temp_store = MEMORY;
PRAGMA secure_delete = ON;
"""


class SqliteSession(Session):
    dialect = SQLITE

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, parameters: Parameters | None = None) -> list[Row]:
        return self._connection.execute(sql, parameters).fetchall()

    def each(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
        return iter(self._connection.execute(sql, parameters))

    def run(self, sql: str, parameters: Parameters | None = None) -> int:
        self._connection.execute(sql, parameters)
        return self._connection.changes()

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        self._connection.executemany(sql, rows)

    def among(self, sql: str, values: Sequence[str] | Sequence[int], parameters: Parameters | None = None) -> list[Row]:
        text = sql.replace("IN (:values)", self.dialect.among)
        return self.rows(text, {**(parameters or {}), "values": json.dumps(list(values))})


class SqliteDatabase(Database):
    dialect = SQLITE

    def __init__(self, path: Path, remedy: str = REMEDY, *, is_derived: bool = False) -> None:
        self.path = path
        self._is_derived = is_derived
        self._remedy = remedy
        self.location = str(path)
        self._local = threading.local()
        self._connections: list[tuple[threading.Thread, apsw.Connection]] = []
        self._lock = threading.Lock()
        self._file: os.stat_result | None = None
        """What was opened. Others keep it open, so that no other file gets its number meanwhile."""
        with self._explained():
            self._connection()

    @contextmanager
    def read(self) -> Generator[Session]:
        with self._explained():
            connection = self._connection()
            with _transaction(connection, "BEGIN"):
                connection.execute("PRAGMA query_only = ON")
                try:
                    yield SqliteSession(connection)
                finally:
                    connection.execute("PRAGMA query_only = OFF")

    @contextmanager
    def write(self) -> Generator[Session]:
        with self._explained():
            connection = self._connection()
            self.check_place()
            with _transaction(connection, "BEGIN IMMEDIATE"):
                yield SqliteSession(connection)

    def query(self, views: Mapping[str, str], sql: str, seconds: float, limit: int) -> tuple[list[str], list[Row]]:
        self.check_place()
        with self._explained():
            question = Question(str(self.path), BUSY_MILLISECONDS, seconds)
            try:
                return question.ask(views, sql, limit)
            finally:
                question.close()

    def run_alone(self, sql: str) -> None:
        with self._explained():
            connection = self._connection()
            self.check_place()
            connection.execute(sql)

    def beside(self, name: str) -> "SqliteDatabase":
        self.check_place()
        return SqliteDatabase(self._path_beside(name), REMEDY_OF_DERIVED, is_derived=True)

    def is_replaced(self) -> bool:
        if self._file is None:
            return False
        try:
            return not os.path.samestat(os.stat(self.path), self._file)
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:  # Nobody knows: who reads or writes it is told what is the matter.
            return False

    def check_place(self) -> None:
        if not self.is_replaced():
            return
        if self._is_derived:
            raise Damaged(f"{self.path} was taken away. {self._remedy}")
        raise Unavailable(
            f"{self.path} was removed or replaced while it was open, so nothing more is written into it. Put it back, "
            "or end what has it open and begin again with what is there."
        )

    def rest(self) -> None:
        with self._lock:
            connections = [connection for _, connection in self._connections]
        for connection in connections:
            with suppress(apsw.Error):  # Another thread is at work with it, or has closed it.
                connection.release_memory()

    def compact(self) -> None:
        self.run_alone("VACUUM")

    def settle(self) -> None:
        with self._explained():
            for _ in range(SETTLE_TRIES):
                is_busy, _, _ = self._connection().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0]
                if not is_busy:
                    return
        raise Unavailable(
            f"{self.path} is being read by another program, so that its log cannot be emptied. Try again."
        )

    def files(self) -> list[Path]:
        found = [self.path.with_name(self.path.name + suffix) for suffix in ("", "-wal", "-shm")]
        return [path for path in found if path.exists()]

    def read_file(self, path: Path, chunk_bytes: int) -> Iterator[bytes]:
        """When a process closes a file, the system drops every lock that the process has on it, whoever took them.
        SQLite's own way to open its file knows that; its log has no locks; and what lies between them, the index of the
        log, has nothing but locks and numbers."""
        if path.name.endswith("-shm"):
            return
        self.check_place()
        if path.name.endswith("-wal"):
            with open(path, "rb") as log:
                while chunk := log.read(chunk_bytes):
                    yield chunk
            return
        with self._explained():
            file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
            try:
                size = file.xFileSize()
                for start in range(0, size, chunk_bytes):
                    yield file.xRead(min(chunk_bytes, size - start), start)
            finally:
                file.xClose()

    def backup(self, path: Path) -> None:
        self.check_place()
        _create_private(path)
        with self._explained():
            source, copy = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE), apsw.Connection(str(path))
            try:
                source.set_busy_timeout(BUSY_MILLISECONDS)
                # All pages in one step: who writes meanwhile goes on, and what they write is not part of it.
                with copy.backup("main", source, "main") as backup:
                    backup.step(-1)
                # Without a log of its own it is one file, whole by itself.
                copy.execute("PRAGMA journal_mode = DELETE")
                problems = [str(row[0]) for row in copy.execute("PRAGMA quick_check(20)") if row[0] != "ok"]
            except apsw.FullError as error:
                raise Unavailable(f"The disk of {path} is full. Free some space, or choose another place.") from error
            finally:
                copy.close(True)
                source.close(True)
        if problems:
            raise Corrupt(f"The copy of {self.path} is not sound: {problems[0]}. {self._remedy}")

    def discard_beside(self, name: str) -> None:
        path = self._path_beside(name)
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)

    def _path_beside(self, name: str) -> Path:
        return self.path.with_name(f"{self.path.stem}.{name}{self.path.suffix}")

    def size_bytes(self) -> int:
        paths = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(path.stat().st_size for path in paths if path.exists())

    def check(self) -> list[str]:
        with self.read() as session:
            rows = session.rows("PRAGMA quick_check(20)")
        return [str(row[0]) for row in rows if row[0] != "ok"]

    def close(self) -> None:
        with self._lock:
            for _, connection in self._connections:
                with suppress(apsw.ThreadingViolationError):  # A thread that is left behind ends with the process.
                    connection.close(True)
            self._connections.clear()
            self._local = threading.local()

    def _close_of_ended_threads(self) -> None:
        """Each thread has a connection of its own; nobody uses that of a thread that ended."""
        for thread, connection in self._connections:
            if not thread.is_alive():
                connection.close(True)
        self._connections = [(thread, connection) for thread, connection in self._connections if thread.is_alive()]

    def _connection(self) -> apsw.Connection:
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._open()
            self._local.connection = connection
            self._file = self._file or os.stat(self.path)
            with self._lock:
                self._close_of_ended_threads()
                self._connections.append((threading.current_thread(), connection))
        return connection

    def _open(self) -> apsw.Connection:
        self._make_place()
        connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(BUSY_MILLISECONDS)
        if connection.readonly("main"):
            connection.close(True)
            raise Denied(
                f"{self.path} is read-only. Make it and its folder writable, or choose another home with --home."
            )
        try:
            self.check_place()  # Nothing was read or written in it yet.
            _prepare(connection)
        except (apsw.Error, RecollectError):
            connection.close(True)
            raise
        return connection

    def _make_place(self) -> None:
        """Once: another thread never begins another file in the place of one that is gone."""
        if self._file:
            self.check_place()
            return
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _create_private(self.path)
        except OSError as error:
            raise _home_error(self.path.parent, error) from error

    @contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except apsw.Error as error:
            raise self._explain(error) from error

    def _explain(self, error: apsw.Error) -> RecollectError:
        path = self.path
        if isinstance(error, apsw.BusyError | apsw.LockedError):
            return Unavailable(
                f"{path} is busy: another program has been writing for more than "
                f"{BUSY_MILLISECONDS // 1000} seconds. Try again, or see who holds it with `recollect health`."
            )
        if isinstance(error, apsw.FullError):
            return Unavailable(f"The disk of {path} is full. Free some space and run it again; nothing is lost.")
        if isinstance(error, apsw.CorruptError | apsw.NotADBError):
            kind = Damaged if self._is_derived else Corrupt
            return kind(f"{path} is not a sound database. {self._remedy}")
        if self._is_derived and isinstance(error, apsw.SQLError) and "no such table" in str(error):
            return Damaged(f"{path} was taken away. {self._remedy}")
        if isinstance(error, apsw.ThreadingViolationError | apsw.ConnectionClosedError):
            return Unavailable(f"{path} was closed meanwhile. Open it again.")
        if isinstance(error, apsw.ReadOnlyError | apsw.PermissionsError):
            return Denied(f"{path} may not be written. Make it and its folder writable, or use --home.")
        if isinstance(error, apsw.CantOpenError):
            if path.is_dir():
                return Invalid(f"{path} is a folder, not a database file.")
            return Denied(f"{path} cannot be opened. Check that its folder exists and is writable, or use --home.")
        if isinstance(error, apsw.IOError):
            return Unavailable(f"{path} cannot be read or written ({error}). Check the disk and try again.")
        return Corrupt(f"{path}: {error}")


@contextmanager
def _transaction(connection: apsw.Connection, begin: str) -> Generator[None]:
    if connection.in_transaction:
        raise RuntimeError("a session is already open in this thread")
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _prepare(connection: apsw.Connection) -> None:
    """A new database gets its log. While another process does the same, SQLite says that it is busy without waiting."""
    deadline = time.monotonic() + BUSY_MILLISECONDS / 1000
    while True:
        try:
            connection.execute(PRAGMAS).fetchall()  # All of them: apsw stops at the first one that answers.
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _create_private(path: Path) -> None:
    """The vault holds what was said as it was said: a new database is for its owner's eyes only."""
    with suppress(FileExistsError, IsADirectoryError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _home_error(folder: Path, error: OSError) -> RecollectError:
    if isinstance(error, PermissionError) or error.errno == 30:  # EROFS: a read-only file system
        return Denied(f"{folder} cannot be written: {error.strerror}. Choose another home with --home DIR.")
    if isinstance(error, FileExistsError | NotADirectoryError):
        return Invalid(f"{folder} is not a folder. Choose another home with --home DIR.")
    return Unavailable(f"{folder} cannot be made: {error.strerror}. Choose another home with --home DIR.")


def open_sqlite(url: str) -> SqliteDatabase:
    path = url.removeprefix("sqlite:///") if url.startswith("sqlite:///") else url
    return SqliteDatabase(Path(os.path.abspath(Path(path).expanduser())))
