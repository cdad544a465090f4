"""Reading a database that belongs to another program: never writing to it, never holding it up.

All of it is read in one transaction, so that what is read is one moment. A database whose log cannot be opened beside
a running program is read from a copy.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# apsw's own types leave the values of rows unknown; `Row` says what they are.

import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import apsw

from recollect.database.database import Row
from recollect.errors import Locked, Unreadable

MAGIC = b"SQLite format 3\x00"
BUSY_MILLISECONDS = 2_000
TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table'"

Rows = Callable[..., Iterator[Row]]
"""Called with SQL and, by name, its parameters; gives the rows one after the other."""


@contextmanager
def open_foreign(path: str) -> Generator[Rows]:
    """Read a database of another program. Raises Unreadable; Locked while the other program shuts us out."""
    with _explained(path), _connected(path) as connection:
        connection.set_busy_timeout(BUSY_MILLISECONDS)
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()

        def rows(sql: str, parameters: Mapping[str, Any] | None = None) -> Iterator[Row]:
            with _explained(path):
                yield from connection.execute(sql, parameters)

        yield rows


def tables_of(path: str) -> frozenset[str]:
    with open_foreign(path) as rows:
        return frozenset(str(name) for (name,) in rows(TABLES))


@contextmanager
def _connected(path: str) -> Generator[apsw.Connection]:
    try:
        connection = _connect(path)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        with tempfile.TemporaryDirectory(prefix="recollect-") as folder:
            copy = os.path.join(folder, "copy.db")
            for ending in ("", "-wal", "-journal"):
                if os.path.exists(path + ending):
                    shutil.copyfile(path + ending, copy + ending)
            with _closing(apsw.Connection(copy)) as connection:
                yield connection
        return
    with _closing(connection):
        yield connection


def _connect(path: str) -> apsw.Connection:
    """Locks are respected. One that keeps a log and has none now is used by nobody: none is made beside it."""
    with open(path, "rb") as file:
        keeps_log = file.read(20)[18:20] == b"\x02\x02"
    is_at_rest = keeps_log and not os.path.exists(path + "-wal")
    how = "mode=ro&immutable=1" if is_at_rest else "mode=ro"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(f"file:{quote(os.path.abspath(path))}?{how}", flags=flags)
    try:
        connection.set_busy_timeout(BUSY_MILLISECONDS)
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except apsw.Error:
        connection.close(True)
        raise
    return connection


@contextmanager
def _closing(connection: apsw.Connection) -> Generator[apsw.Connection]:
    try:
        yield connection
    finally:
        connection.close(True)


@contextmanager
def _explained(path: str) -> Generator[None]:
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise Locked(f"{path} is locked by another program. Close that program, or wait: it is tried again.") from error
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise Unreadable(f"{path} is not a sound SQLite database: {error}. Check it with its own program.") from error
    except (apsw.Error, UnicodeDecodeError) as error:
        raise Unreadable(f"{path} cannot be read as a database: {error}.") from error
