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
from psycopg import errors, sql

from recollect.database.database import Database, Parameters, Row, Session, checked_size
from recollect.database.dialect import POSTGRES, named_for_postgres, positional_for_postgres
from recollect.errors import Conflict, Corrupt, Denied, Invalid, RecollectError, Unavailable

WRITE_LOCK = 0x7265636F6C6C6563
"""The advisory lock of writers: the letters of "recollec"."""
BUSY_MILLISECONDS = 5_000
READER_ROLE = "recollect_reader"
"""Holds no rights on any table; `recollect sql` runs as it, on views made for the one connection."""
CURSOR_ROWS = 2_000
_CURSOR_NUMBERS = itertools.count()

_ESCAPES = re.compile(
    r"\b(set_config|query_to_xml\w*|table_to_xml\w*|cursor_to_xml\w*|schema_to_xml\w*|database_to_xml\w*"
    r"|dblink\w*|lo_\w+|pg_read_\w+|pg_ls_\w+|pg_sleep\w*|pg_terminate_backend|pg_cancel_backend|ts_stat|ts_rewrite|connectby"
    r"|crosstab\w*|xpath_table|currtid2?|nextval|setval|pg_advisory\w*|pg_try_advisory\w*)\b|u&\"",
    re.IGNORECASE,
)
"""Functions that run SQL given as text, or change the session: a role alone does not stop them."""


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
        found = _ESCAPES.search(_without_literals(sql))
        if found:
            raise Denied(f"{found.group(0)} may not be used here: only SELECT on {', '.join(sorted(views))}.")
        with self._explained(), psycopg.connect(self._url, autocommit=True) as connection:
            _make_reader(connection)
            for name, body in views.items():
                connection.execute(_text(f"CREATE TEMP VIEW {name} WITH (security_barrier) AS {body}"))
                connection.execute(_text(f"GRANT SELECT ON pg_temp.{name} TO {READER_ROLE}"))
            return _run_confined(connection, sorted(views), sql, seconds, limit)

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


def _without_literals(statement: str) -> str:
    """The statement without its plain quoted texts; all of it when it quotes in a way that could deceive us."""
    if re.search(r"\be'|\$\w*\$|u&'", statement, re.IGNORECASE):
        return statement
    return re.sub(r"'(?:[^']|'')*'", "''", statement)


def _make_reader(connection: psycopg.Connection[Any]) -> None:
    if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (READER_ROLE,)).fetchone() is None:
        try:
            connection.execute(_text(f"CREATE ROLE {READER_ROLE} NOLOGIN"))
        except (errors.DuplicateObject, errors.UniqueViolation):
            pass  # Another host made it just now.
        except errors.InsufficientPrivilege as error:
            raise Unavailable(
                f"`recollect sql` needs the role {READER_ROLE}, and this user may not create it. Ask an "
                f"administrator for: CREATE ROLE {READER_ROLE} NOLOGIN; GRANT {READER_ROLE} TO CURRENT_USER;"
            ) from error
        connection.execute(_text(f"GRANT {READER_ROLE} TO CURRENT_USER"))


def _run_confined(
    connection: psycopg.Connection[Any], views: list[str], statement: str, seconds: float, limit: int
) -> tuple[list[str], list[Row]]:
    try:
        with connection.transaction():
            connection.execute("SET TRANSACTION READ ONLY")
            connection.execute(sql.SQL("SET LOCAL statement_timeout = {}").format(sql.Literal(int(seconds * 1000))))
            connection.execute(_text(f"SET LOCAL ROLE {READER_ROLE}"))
            # As a subquery it can only be a SELECT, and a prepared statement is only one: nothing can follow a ';'.
            confined = f"SELECT * FROM (\n{statement.rstrip().rstrip(';')}\n) AS query LIMIT {limit}"
            cursor = connection.execute(_text(confined.replace("%", "%%")), {}, prepare=True)
            return [column.name for column in cursor.description or []], list(checked_size(cursor))
    except errors.QueryCanceled as error:
        raise Unavailable(f"The query took longer than {seconds:g} seconds. Narrow it or add a LIMIT.") from error
    except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction) as error:
        raise Denied(f"Only SELECT on these views is allowed: {', '.join(views)} ({_first_line(error)}).") from error
    except (psycopg.ProgrammingError, psycopg.DataError, psycopg.NotSupportedError) as error:
        raise Invalid(f"SQL: {_first_line(error)}. The views are: {', '.join(views)}.") from error


def _first_line(error: psycopg.Error) -> str:
    return str(error).strip().splitlines()[0]
