"""A stranger's SELECT on PostgreSQL: on these views and nothing else, in bounded time.

It runs in a transaction that only reads, as a role that may read these views alone. What a role does not stop are
functions that change the session, which would give it back its owner's rights, or that run a text as SQL, and the
server's catalogue, which counts the rows of the whole house and names what others ask. No reading of the text of a
question can tell what it calls and reads, so the server is asked, which alone reads it as it will be run: the question
is made a view, which runs nothing, and the rule of that view has the number of each function, type and relation in it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, LiteralString, cast
from uuid import UUID

import psycopg
from psycopg import errors, sql

from recollect.database.database import MOST_ANSWER_BYTES, Row, checked_question, checked_size, too_large
from recollect.errors import Denied, Invalid, Unavailable

READER_ROLE = "recollect_reader"
"""Holds no rights on any table; a question is asked as it, on views made for the one connection."""

_ASKED = "recollect_asked"
"""The view that a question is made for a moment."""
_CONFINED = f"""
SELECT answered.* FROM (
    SELECT query.*, sum(
        CASE WHEN pg_column_size(query.*) > {MOST_ANSWER_BYTES} THEN pg_column_size(query.*)
            ELSE octet_length(CAST(query.* AS text)) END
    ) OVER (ROWS UNBOUNDED PRECEDING) AS recollect_bytes
    FROM (SELECT * FROM (
{{question}}
) AS asked LIMIT {{limit}}) AS query
) AS counted LEFT JOIN LATERAL (
    SELECT counted.* WHERE counted.recollect_bytes <= {MOST_ANSWER_BYTES}
) AS answered ON TRUE
"""
"""As a subquery it can only be a SELECT. psycopg holds an answer whole before it gives the first row, so the server
counts: from the row on that makes it too large, rows come empty, their count too. The last column is the count, of the
bytes that are sent; of a row that is too large in any case only those it takes, as it may not be possible to write."""
_RULE = f"SELECT ev_action::text FROM pg_catalog.pg_rewrite WHERE ev_class = 'pg_temp.{_ASKED}'::regclass"
_FUNCTIONS = re.compile(r":(?:funcid|aggfnoid|winfnoid) (\d+)")
_OPERATORS = re.compile(r":opno (\d+)|:opnos \(o ([\d ]+)\)")
_RELATIONS = re.compile(r":relid (\d+)")
_TYPES = re.compile(r":\w*typ(?!mod)\w* (?:\(o )?([\d ]+)")
"""As the server writes a rule: a space in a name of the question has a backslash before it there, so that none can look
like these, and a text is written in numbers."""
_REFUSED_FUNCTIONS = """
SELECT p.proname FROM pg_catalog.pg_proc p
WHERE (p.oid = ANY(%(functions)s) OR p.oid IN (
    SELECT o.oprcode FROM pg_catalog.pg_operator o WHERE o.oid = ANY(%(operators)s)
)) AND (
    p.oid >= 16384 OR p.pronamespace <> 'pg_catalog'::regnamespace OR p.proname ~ '_to_xml'
    OR (p.provolatile = 'v' AND p.proname NOT IN
        ('clock_timestamp', 'gen_random_uuid', 'random', 'random_normal', 'timeofday', 'uuidv4', 'uuidv7'))
    OR (p.provolatile = 's' AND p.oid = ANY(%(functions)s) AND p.proname !~ %(reckons)s)
)
ORDER BY 1 LIMIT 1
"""
"""Those that do more than reckon: `v` is what the server calls a function that may change something or wait, and from
16384 on numbers are those of extensions and of people. Those to XML run SQL of their own. `s` may look something up:
most of these tell what the catalogue or the server knows, and none that has an operator does."""
_RECKONS = (
    "^("
    "age|array_to_(json|string)|concat(_ws)?|convert_(from|to)|date(_add|_part|_subtract|_trunc)?|extract|format"
    "|generate_series|jsonb?_(agg|build|object_agg|path|to)(_[a-z_]+)?|length|make_timestamptz|money|now|numeric"
    "|overlaps|pg_column_size|(phrase|plain)to_tsquery|websearch_to_tsquery|quote_(literal|nullable)|row_to_json"
    "|(statement|transaction)_timestamp|time(stamp)?(tz)?|timezone"
    "|to_(char|date|jsonb?|number|timestamp|tsquery|tsvector)|ts_headline"
    ")$"
)
"""The names of those `s` that look up no more than the time zone, or how a type or a language is written."""
_REFUSED_RELATIONS = """
SELECT c.relname FROM pg_catalog.pg_class c
WHERE c.oid = ANY(%(relations)s) AND c.relnamespace <> pg_my_temp_schema()
ORDER BY 1 LIMIT 1
"""
"""What no role is kept from: the catalogue, and the views that another question is asked on just now."""
_REFUSED_TYPES = """
SELECT t.typname FROM pg_catalog.pg_type t
    LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
    LEFT JOIN pg_catalog.pg_class c ON c.oid = coalesce(e.typrelid, t.typrelid)
WHERE t.oid = ANY(%(types)s) AND CASE
    WHEN c.oid IS NOT NULL THEN c.relnamespace <> pg_my_temp_schema()
    ELSE t.oid >= 16384
        OR coalesce(e.typname, t.typname) ~ '^(reg(?!config$|dictionary$)|aclitem|xid|(pg|txid)_snapshot)'
END
ORDER BY 1 LIMIT 1
"""
"""Those that become the name of something in the catalogue when they are shown, or tell how much was written; and rows
that are not of our views, which may have such among their columns."""
_TROUBLES = ("08", "40", "53", "57", "58")
"""How codes begin of a server that is lost, overloaded or ends a question. All others are of the question itself."""


def answer(
    connection: psycopg.Connection[Any], views: Mapping[str, str], question: str, seconds: float, limit: int
) -> tuple[list[str], list[Row]]:
    """`connection`: made for this question, and closed after it."""
    _make_reader(connection)
    for name, body in views.items():
        connection.execute(_text(f"CREATE TEMP VIEW {name} WITH (security_barrier) AS {body}"))
        connection.execute(_text(f"GRANT SELECT ON pg_temp.{name} TO {READER_ROLE}"))
    # What extensions and people added is not found by its name alone; the views are, before everything else.
    connection.execute("SET search_path = pg_catalog")
    names = ", ".join(sorted(views))
    question = checked_question(question, views).rstrip().rstrip(";")
    confined = _CONFINED.format(question=question, limit=limit)
    try:
        _check(connection, confined, seconds, names)
        _check_alone(connection, question, seconds)
        return _run(connection, confined, seconds)
    except errors.QueryCanceled as error:
        raise Unavailable(f"The query took longer than {seconds:g} seconds. Narrow it or add a LIMIT.") from error
    except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction) as error:
        raise Denied(f"Only SELECT on these views is allowed: {names} ({_first_line(error)}).") from error
    except psycopg.Error as error:
        if _is_of_server(error):
            raise
        raise Invalid(f"SQL: {_first_line(error)}. The views are: {names}.") from error


def _check_alone(connection: psycopg.Connection[Any], question: str, seconds: float) -> None:
    """One whole statement: what ends the subquery that it is put into would also end what counts its bytes."""
    with connection.transaction(force_rollback=True):
        _limit_time(connection, seconds)
        parsed = connection.pgconn.prepare(b"", question.encode(connection.info.encoding))
        if parsed.status != psycopg.pq.ExecStatus.COMMAND_OK:
            raise errors.error_from_result(parsed, connection.info.encoding)


def _check(connection: psycopg.Connection[Any], confined: str, seconds: float, names: str) -> None:
    with connection.transaction(force_rollback=True):
        _limit_time(connection, seconds)
        # Counted, as the columns of a view need names that differ.
        _execute_one(connection, f"CREATE TEMP VIEW {_ASKED} AS SELECT count(*) FROM (\n{confined}\n) AS asked")
        rules = " ".join(rule for (rule,) in connection.execute(_text(_RULE)).fetchall())
        found = {
            "functions": _numbers(_FUNCTIONS, rules),
            "operators": _numbers(_OPERATORS, rules),
            "relations": _numbers(_RELATIONS, rules),
            "types": _numbers(_TYPES, rules),
            "reckons": _RECKONS,
        }
        for refused in (_REFUSED_FUNCTIONS, _REFUSED_RELATIONS, _REFUSED_TYPES):
            if row := connection.execute(_text(refused), found).fetchone():
                raise Denied(f"{row[0]} may not be used here: only SELECT on {names}.")


def _numbers(pattern: re.Pattern[str], rules: str) -> list[int]:
    return [int(number) for found in pattern.finditer(rules) for group in found.groups("") for number in group.split()]


def _run(connection: psycopg.Connection[Any], confined: str, seconds: float) -> tuple[list[str], list[Row]]:
    with connection.transaction():
        connection.execute("SET TRANSACTION READ ONLY")
        _limit_time(connection, seconds)
        connection.execute(_text(f"SET LOCAL ROLE {READER_ROLE}"))
        cursor = _execute_one(connection, confined)
        *names, _bytes = [column.name for column in cursor.description or []]
        return names, [tuple(_plain(value) for value in row) for row in checked_size(_counted(cursor))]


def _counted(rows: Iterable[Row]) -> Iterator[Row]:
    for *row, count in rows:
        if count is None:
            raise too_large()
        yield tuple(row)


def _execute_one(connection: psycopg.Connection[Any], statement: str) -> psycopg.Cursor[Any]:
    """A prepared statement is only one: nothing can follow a ';'."""
    return connection.execute(_text(statement.replace("%", "%%")), {}, prepare=True)


def _limit_time(connection: psycopg.Connection[Any], seconds: float) -> None:
    connection.execute(sql.SQL("SET LOCAL statement_timeout = {}").format(sql.Literal(int(seconds * 1000))))


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


def _plain(value: Any) -> Any:
    """PostgreSQL has more types than JSON has words for: ranges and addresses, say, become text."""
    if isinstance(value, list):
        return [_plain(one) for one in cast("list[Any]", value)]
    if isinstance(value, tuple):
        return tuple(_plain(one) for one in cast("tuple[Any, ...]", value))
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in cast("dict[Any, Any]", value).items()}
    return value if value is None or isinstance(value, _PLAIN_TYPES) else str(value)


_PLAIN_TYPES = (str, int, float, bytes, datetime, date, time, timedelta, Decimal, UUID)


def _text(statement: str) -> LiteralString:
    """psycopg asks for literal text to prevent injection; here nothing but a prepared statement is a stranger's."""
    return cast(LiteralString, statement)


def _is_of_server(error: psycopg.Error) -> bool:
    if error.sqlstate:
        return error.sqlstate.startswith(_TROUBLES)
    # Without a code it is psycopg that speaks: the connection is lost, or Python has no such time.
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)


def _first_line(error: psycopg.Error) -> str:
    """Without its place, which is counted in what we put around the question."""
    return (error.diag.message_primary or str(error)).strip().splitlines()[0]
