"""PostgreSQL through psycopg 3, for a house that several hosts share.

One connection per thread. A write takes an advisory lock for the length of its transaction, so that one
writer at a time is true here as it is on SQLite.
"""

import itertools
import re
import threading
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString, cast

import psycopg
from psycopg import errors

from recollect.database.database import Database, Parameters, Row, Session
from recollect.database.dialect import POSTGRES, named_for_postgres, positional_for_postgres
from recollect.database.postgres_question import answer
from recollect.errors import Conflict, Corrupt, Denied, Invalid, RecollectError, Unavailable

WRITE_LOCK = 0x7265636F6C6C6563
"""The advisory lock of writers: the letters of "recollec"."""
BUSY_MILLISECONDS = 5_000
CURSOR_ROWS = 2_000
_CURSOR_NUMBERS = itertools.count()


class PostgresSession(Session):
    dialect = POSTGRES

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self._connection = connection

    def rows(self, sql: str, parameters: Parameters | None = None) -> list[Row]:
        return self._connection.execute(_text(named_for_postgres(sql)), parameters or {}).fetchall()

    def each(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
        # A plain cursor of the server: one that is left half read ends with the transaction.
        name = f"recollect_{next(_CURSOR_NUMBERS)}"
        declared = f"DECLARE {name} NO SCROLL CURSOR FOR {named_for_postgres(sql)}"
        self._connection.execute(_text(declared), parameters or {})
        while rows := self._connection.execute(_text(f"FETCH {CURSOR_ROWS} FROM {name}")).fetchall():
            yield from rows

    def run(self, sql: str, parameters: Parameters | None = None) -> int:
        return self._connection.execute(_text(named_for_postgres(sql)), parameters or {}).rowcount

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_text(positional_for_postgres(sql)), rows)

    def among(self, sql: str, values: Sequence[str] | Sequence[int], parameters: Parameters | None = None) -> list[Row]:
        text = sql.replace("IN (:values)", self.dialect.among)
        return self.rows(text, {**(parameters or {}), "values": list(values)})


class PostgresDatabase(Database):
    dialect = POSTGRES

    def __init__(self, url: str, lock: int = WRITE_LOCK) -> None:
        self._url = url
        self._write_lock = lock
        self.location = re.sub(r"//([^/@]*)@", "//", url).partition("?")[0]
        self._local = threading.local()
        self._connections: list[tuple[threading.Thread, psycopg.Connection[Row]]] = []
        self._lock = threading.Lock()
        with self._explained():
            self._connection()

    @contextmanager
    def read(self) -> Generator[Session]:
        with self._explained():
            connection = self._idle_connection()
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                yield PostgresSession(connection)

    @contextmanager
    def write(self) -> Generator[Session]:
        with self._explained():
            connection = self._idle_connection()
            with connection.transaction():
                connection.execute(_text(f"SET LOCAL lock_timeout = {BUSY_MILLISECONDS}"))
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (self._write_lock,))
                yield PostgresSession(connection)

    def query(self, views: Mapping[str, str], sql: str, seconds: float, limit: int) -> tuple[list[str], list[Row]]:
        with self._explained(), psycopg.connect(self._url, autocommit=True) as connection:
            return answer(connection, views, sql, seconds, limit)

    def run_alone(self, sql: str) -> None:
        with self._explained():
            self._idle_connection().execute(_text(sql))

    def compact(self) -> None:
        """Dead rows are given up at once; the server writes over their place in its files in time."""
        self.run_alone("VACUUM")

    def settle(self) -> None:
        """The server keeps its log itself."""

    def files(self) -> list[Path]:
        return []

    def read_file(self, path: Path, chunk_bytes: int) -> Iterator[bytes]:
        """It has none here."""
        return iter(())

    def backup(self, path: Path) -> None:
        raise Invalid(
            f"{self.location} is on a server, and `recollect backup` copies a file. Use pg_dump, "
            "or `recollect export`, which works here too."
        )

    def discard_beside(self, name: str) -> None:
        """Nothing lies beside but tables, which are sound as long as the server is."""

    def beside(self, name: str) -> "PostgresDatabase":
        return PostgresDatabase(self._url, WRITE_LOCK ^ zlib.crc32(name.encode()))

    def size_bytes(self) -> int:
        with self.read() as session:
            return int(session.value("SELECT pg_database_size(current_database())"))

    def check(self) -> list[str]:
        with self.read() as session:
            session.rows("SELECT 1")
        return []

    def close(self) -> None:
        with self._lock:
            for _, connection in self._connections:
                connection.close()
            self._connections.clear()
            self._local = threading.local()

    def _idle_connection(self) -> psycopg.Connection[Row]:
        connection = self._connection()
        if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            raise RuntimeError("a session is already open in this thread")
        return connection

    def _close_of_ended_threads(self) -> None:
        """Each thread has a connection of its own; nobody uses that of a thread that ended."""
        for thread, connection in self._connections:
            if not thread.is_alive():
                connection.close()
        self._connections = [(thread, connection) for thread, connection in self._connections if thread.is_alive()]

    def _connection(self) -> psycopg.Connection[Row]:
        connection: psycopg.Connection[Row] | None = getattr(self._local, "connection", None)
        if connection is None or connection.closed or connection.broken:
            connection = psycopg.connect(self._url, autocommit=True, connect_timeout=5)
            self._local.connection = connection
            with self._lock:
                self._close_of_ended_threads()
                self._connections.append((threading.current_thread(), connection))
        return connection

    @contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise self._explain(error) from error

    def _explain(self, error: psycopg.Error) -> RecollectError:
        detail = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if isinstance(error, errors.LockNotAvailable | errors.SerializationFailure | errors.DeadlockDetected):
            return Unavailable(f"{self.location} is busy: another program is writing. Try again.")
        if isinstance(error, errors.InsufficientPrivilege):
            return Denied(f"{self.location}: {detail}. Grant this user the right, or connect as the owner.")
        if isinstance(error, errors.ReadOnlySqlTransaction):
            return Denied(f"{self.location} is read-only: {detail}. Connect to the primary server.")
        if isinstance(error, errors.DiskFull):
            return Unavailable(f"{self.location}: the server's disk is full. Free some space and run it again.")
        if isinstance(error, errors.ProgramLimitExceeded):
            return Invalid(f"{self.location} cannot hold it: {detail}. A path or a name is too long for an index.")
        if isinstance(error, errors.UniqueViolation):
            return Conflict(f"{self.location}: {detail}")
        if isinstance(error, psycopg.OperationalError):
            return Unavailable(f"{self.location} cannot be reached: {detail}. Check that the server runs.")
        return Corrupt(f"{self.location}: {detail}")


def _text(statement: str) -> LiteralString:
    """psycopg asks for literal text to prevent injection; ours is made of constants and `:name` parameters."""
    return cast(LiteralString, statement)
