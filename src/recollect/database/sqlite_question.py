"""A stranger's SELECT on SQLite: on these views and nothing else, in bounded time and size.

An authorizer allows SELECT on the views. What a view leaves out is left out first: SQLite would otherwise try the
stranger's conditions on rows that the view's own condition drops later, and tell in an error what they hold.

The clock is looked at between two steps of SQLite, never inside a function. So each step is kept short: values are no
larger than what is stored asks for, and functions that take the product of two lengths are ours, bounded, or refused.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# apsw's own types leave the values of rows unknown; `Row` says what they are.

import re
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

import apsw

from recollect.database.database import Row, checked_question, checked_size
from recollect.database.functions import ALLOWED_FUNCTIONS, add_bounded_functions
from recollect.errors import Denied, Invalid, Unavailable

MADE_VALUE_BYTES = 1_000_000
"""That a SELECT may make, where nothing larger is stored."""
MOST_VALUE_BYTES = 40_000_000
"""That it may read or make at all: longer than any message is."""
MOST_COLUMNS = 200
"""Of an answer."""
MOST_FUNCTIONS = 300
"""That a SELECT may name: on the way through one row SQLite does not look at the clock."""
STEPS = 100
"""Of SQLite, between two looks at the clock."""

_HIDES_NOTHING = re.compile(
    r"\s*(?:\w\.)?(?:house|messages|believed_until|from_kind|to_kind|latest|digest) (?:=|<>|>) (?:'[^']*'|\d+)\s*"
)
"""A condition that keeps no row from somebody who sees the whole house, as long as the file has no other house."""
_FIRST = "SELECT seen.* FROM ({rows}) CROSS JOIN ({body}) seen LIMIT -1"
"""The rows of a view before anything else is done with them: SQLite moves no condition into a SELECT that has a LIMIT,
and does not merge it with a SELECT that has conditions, joins or aggregates."""
_ONE_ROW = "SELECT 1 FROM " + ", ".join(["json_each('[1]')"] * 4)
"""SQLite takes these for many rows. It takes the rows of a house for ten, and would not make an index to join them."""


class Question:
    """One connection, one read transaction, one SELECT."""

    def __init__(self, path: str, busy_milliseconds: int, seconds: float) -> None:
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        self._connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        self._connection.set_busy_timeout(busy_milliseconds)
        self._secret = f"inner_{secrets.token_hex(16)}_"
        self._read: set[tuple[str, str]] = set()
        """The columns of views that are asked for."""
        self._functions = 0

    def close(self) -> None:
        self._connection.close(True)

    def ask(self, views: Mapping[str, str], sql: str, limit: int) -> tuple[list[str], list[Row]]:
        checked_question(sql, views)
        connection = self._connection
        connection.execute("BEGIN")
        is_shared = _has_other_houses(connection, views)
        for name, body in views.items():
            if is_shared or not _hides_nothing(body):
                body = _FIRST.format(rows=_ONE_ROW, body=body)
            connection.execute(f"CREATE TEMP VIEW {self._secret}{name} AS {body}")
            connection.execute(f"CREATE TEMP VIEW {name} AS SELECT * FROM {self._secret}{name}")
        connection.execute("PRAGMA query_only = ON")
        add_bounded_functions(connection, self._is_late)
        connection.limit(apsw.SQLITE_LIMIT_COLUMN, MOST_COLUMNS)
        connection.set_progress_handler(self._is_late, STEPS)
        try:
            return self._answer(frozenset(views), sql, limit)
        except apsw.InterruptError as error:
            raise Unavailable(
                f"The query took longer than {self._seconds:g} seconds. Narrow it or add a LIMIT."
            ) from error
        except apsw.AuthError as error:
            names = ", ".join(sorted(views))
            raise Denied(f"Only SELECT on these views is allowed: {names} ({_short(error)}).") from error
        except apsw.SQLError as error:
            raise Invalid(f"SQL: {_short(error)}. The views are: {', '.join(sorted(views))}.") from error
        except apsw.BindingsError as error:
            raise Invalid("A question has no parameters (?, :name): write the values into it.") from error
        except apsw.TooBigError as error:
            raise Invalid("A value of it is too large. Ask for less of it.") from error
        except UnicodeDecodeError as error:
            raise Invalid("A value of it is not text. Ask for hex() of it.") from error
        except apsw.ReadOnlyError as error:
            raise Denied("This connection only reads.") from error

    def _is_late(self) -> bool:
        return time.monotonic() > self._deadline

    def _answer(self, views: frozenset[str], sql: str, limit: int) -> tuple[list[str], list[Row]]:
        real = frozenset(str(row[0]) for row in self._connection.execute(_REAL_NAMES))
        authorizer = self._authorizer(views, real)
        self._connection.authorizer = authorizer
        self._connection.limit(apsw.SQLITE_LIMIT_LENGTH, MADE_VALUE_BYTES)
        try:
            return self._run(views, sql, limit)
        except apsw.TooBigError:
            pass
        self._connection.authorizer = None
        self._connection.limit(apsw.SQLITE_LIMIT_LENGTH, MOST_VALUE_BYTES)
        # Twice: a row that is sorted or kept is one value to SQLite.
        enough = MADE_VALUE_BYTES + 2 * self._largest_stored()
        self._connection.limit(apsw.SQLITE_LIMIT_LENGTH, min(enough, MOST_VALUE_BYTES))
        self._connection.authorizer = authorizer
        return self._run(views, sql, limit)

    def _largest_stored(self) -> int:
        """Of the values that the question reads, in bytes."""
        sizes = [0]
        for view, column in self._read:
            found = self._connection.execute(f'SELECT max(octet_length("{column}")) FROM {view}').fetchall()
            sizes.append(int(found[0][0] or 0))
        return max(sizes)

    def _run(self, views: frozenset[str], sql: str, limit: int) -> tuple[list[str], list[Row]]:
        self._functions = 0
        cursor = self._connection.cursor()
        columns: list[str] = []

        def note_columns(running: apsw.Cursor, _sql: str, _bindings: Any) -> bool:
            if columns:
                raise Invalid("One statement at a time, please.")
            columns.extend(name for name, _kind in running.get_description())
            return True

        cursor.exec_trace = note_columns
        rows: list[Row] = []
        for row in checked_size(cursor.execute(sql)):
            rows.append(row)
            if len(rows) >= limit:
                break
        cursor.close(True)
        if not columns:
            raise Invalid(f"There is no SELECT in it. The views are: {', '.join(sorted(views))}.")
        return columns, rows

    def _authorizer(self, views: frozenset[str], real: frozenset[str]) -> Callable[..., int]:
        """Allows what a SELECT on the views needs.

        A table is read only from inside one of our inner views. SQLite tells their name, but also the name of any WITH
        or subquery in its place, which a stranger chooses; so the inner views have a name that nobody can know.
        """
        secret = self._secret

        def authorize(action: int, first: str | None, second: str | None, _db: str | None, via: str | None) -> int:
            if action in _ALLOWED_ACTIONS:
                return apsw.SQLITE_OK
            if action == apsw.SQLITE_FUNCTION:
                self._functions += 1
                if self._functions > MOST_FUNCTIONS:
                    raise Invalid(f"A question calls at most {MOST_FUNCTIONS} functions. Ask in parts.")
                return apsw.SQLITE_OK if (second or "").lower() in ALLOWED_FUNCTIONS else apsw.SQLITE_DENY
            if action != apsw.SQLITE_READ or first is None:
                return apsw.SQLITE_DENY
            if first in views and second:
                self._read.add((first, second))
            is_ours = first in views or first.startswith(secret) or (via or "").startswith(secret)
            is_name_of_the_query = not second and first.lower() not in real
            return apsw.SQLITE_OK if is_ours or is_name_of_the_query or first in _TABLE_FUNCTIONS else apsw.SQLITE_DENY

        return authorize


_ALLOWED_ACTIONS = frozenset({apsw.SQLITE_SELECT, apsw.SQLITE_RECURSIVE})
_TABLE_FUNCTIONS = frozenset({"json_each", "json_tree", ""})
_REAL_NAMES = """
SELECT lower(name) FROM sqlite_schema UNION SELECT lower(name) FROM sqlite_temp_schema
UNION SELECT lower(name) FROM pragma_module_list
UNION VALUES ('sqlite_schema'), ('sqlite_master'), ('sqlite_temp_schema'), ('sqlite_temp_master')
"""


def _hides_nothing(body: str) -> bool:
    """Whoever may ask for this view may see every row of its tables. What is not known to be so is not."""
    conditions = body.rpartition("WHERE")[2]
    return all(_HIDES_NOTHING.fullmatch(condition) for condition in conditions.split(" AND "))


def _has_other_houses(connection: apsw.Connection, views: Mapping[str, str]) -> bool:
    """Every index begins with the house, so that the first and the last are found at once."""
    bodies = " ".join(views.values())
    asked = set(re.findall(r"\bhouse = '([^']*)'", bodies))
    tables = set(re.findall(r"\b(?:FROM|JOIN) (\w+)", bodies))
    found = {
        connection.execute(f"SELECT {end}(house) FROM {table}").fetchall()[0][0]
        for table in tables
        for end in ("min", "max")
    }
    return len(asked) != 1 or not found <= asked | {None}


def _short(error: apsw.Error) -> str:
    return re.sub(r"\s+", " ", str(error)).rstrip(".")
