"""One SQL surface over SQLite and PostgreSQL.

`Database.read()` and `Database.write()` give a `Session`. A read sees one consistent state and never blocks
anybody; a write is a transaction, and only one runs at a time per house (SQLite's write lock, an advisory
lock on PostgreSQL), so that stores may look and then act inside it. Leaving the block commits, an exception
rolls back. A session belongs to the thread that opened it; each thread has a connection of its own.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.database.dialect import Dialect
from recollect.errors import Denied, Invalid

Row = tuple[Any, ...]
Parameters = Mapping[str, Any]

TYPES: dict[str, type] = {
    "text": str,
    "bigint": int,
    "double precision": float,
    "blob": bytes,
    "bytea": bytes,
}
"""What the values of a column are, by the engine's word for its type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    name: str
    type: type
    """str, int, float or bytes; object for what our own schema has not."""
    is_nullable: bool
    has_default: bool
    key_place: int
    """Its place in the primary key, from 1; 0 when it is no part of it."""


class Session(ABC):
    """Statements inside one transaction."""

    dialect: Dialect

    @abstractmethod
    def rows(self, sql: str, parameters: Parameters | None = None) -> list[Row]:
        """Every row."""

    @abstractmethod
    def each(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
        """Row by row, for results that may be larger than memory."""

    @abstractmethod
    def run(self, sql: str, parameters: Parameters | None = None) -> int:
        """Change rows; how many."""

    @abstractmethod
    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """One statement for many rows, each a sequence in the order the parameters stand in the text."""

    def one(self, sql: str, parameters: Parameters | None = None) -> Row | None:
        rows = self.rows(sql, parameters)
        return rows[0] if rows else None

    def value(self, sql: str, parameters: Parameters | None = None) -> Any:
        row = self.one(sql, parameters)
        return row[0] if row else None

    def tables(self) -> list[str]:
        """The names of all tables there are, ours or not."""
        return [row[0] for row in self.rows(self.dialect.tables)]

    def columns(self, table: str) -> list[Column]:
        """Of a table, in their order; none when there is no such table."""
        return [
            Column(
                name=name,
                type=TYPES.get(kind, object),
                is_nullable=bool(is_nullable),
                has_default=bool(has_default),
                key_place=place,
            )
            for name, kind, is_nullable, has_default, place in self.rows(self.dialect.columns, {"name": table})
        ]

    @abstractmethod
    def among(self, sql: str, values: Sequence[str] | Sequence[int], parameters: Parameters | None = None) -> list[Row]:
        """Every row of a statement that says `IN (:values)`, for any number of values."""


MOST_ANSWER_BYTES = 20_000_000
"""Of all rows together that a stranger's SELECT may give."""
MOST_SQL_CHARACTERS = 200_000
"""Of a stranger's SELECT."""


_FIRST_WORD = re.compile(r"(?:[\s;]|--[^\n]*+|(?>/\*.*?\*/))*+([A-Za-z]++)", re.DOTALL)
"""After blanks and comments."""
_CHANGE_TEXT = """
alter analyze attach begin call commit copy create delete detach discard do drop grant insert listen lock merge pragma
prepare reindex release replace reset revoke rollback savepoint set truncate update vacuum
"""
_CHANGES = frozenset(_CHANGE_TEXT.split())
"""What statements begin with that do more than tell."""


def checked_question(sql: str, views: Iterable[str]) -> str:
    """Refuses by its first word what is no question. The engine would too, and find something else wrong with it first.
    What only looks like a question is for the engine."""
    if len(sql) > MOST_SQL_CHARACTERS:
        raise Invalid(f"A question has at most {MOST_SQL_CHARACTERS:,} characters, and this one has {len(sql):,}.")
    first = _FIRST_WORD.match(sql)
    if first and first[1].lower() in _CHANGES:
        raise Denied(f"Only SELECT on these views is allowed: {', '.join(sorted(views))} ({first[1].upper()} is not).")
    return sql


def checked_size(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows as they come, until they are too much."""
    size = 0
    for row in rows:
        size += sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)
        if size > MOST_ANSWER_BYTES:
            raise too_large()
        yield row


def too_large() -> Invalid:
    return Invalid(f"The answer has more than {MOST_ANSWER_BYTES // 1_000_000} MB. Ask for less of it.")


class Database(ABC):
    """A place where all of a house's rows live."""

    dialect: Dialect
    location: str
    """Where it is, without any password: for messages."""

    @abstractmethod
    def read(self) -> AbstractContextManager[Session]: ...

    @abstractmethod
    def write(self) -> AbstractContextManager[Session]: ...

    @abstractmethod
    def query(self, views: Mapping[str, str], sql: str, seconds: float, limit: int) -> tuple[list[str], list[Row]]:
        """Run a stranger's SELECT, read-only by the engine's own means, on these views and nothing else."""

    @abstractmethod
    def run_alone(self, sql: str) -> None:
        """One statement outside any transaction, for what an engine refuses inside one."""

    @abstractmethod
    def beside(self, name: str) -> "Database":
        """A place for derived rows, with a writer's lock of its own: who writes there is never waited for here. It has
        no schema yet; who asks for it makes its own tables. Whatever it holds can be made anew."""

    def is_replaced(self) -> bool:
        """Whether what lies at its place now is not what was opened. A server's rows cannot be taken away so."""
        return False

    def check_place(self) -> None:
        """Raises `Unavailable` where it is replaced: nothing more may be written. Each write asks first."""
        return

    def rest(self) -> None:
        """Nobody asked for a while: what this process holds only to be quicker is given back. A server has its own."""
        return

    @abstractmethod
    def compact(self) -> None:
        """Let nothing of what was deleted stay in its files."""

    @abstractmethod
    def settle(self) -> None:
        """Let nothing stay in its log that its files have no more. Unavailable while others hold an older state."""

    @abstractmethod
    def files(self) -> list[Path]:
        """The files on this computer in which its rows lie, logs included. None: they lie with a server."""

    @abstractmethod
    def read_file(self, path: Path, chunk_bytes: int) -> Iterator[bytes]:
        """The bytes of one of its files. Who opens and closes it in another way may take away the locks that this
        process has on it, and so damage the database."""

    @abstractmethod
    def backup(self, path: Path) -> None:
        """Copy everything, as it is at one moment, into a new file at this path, while others read and write. Where the
        rows lie in no file of ours, say what does it instead."""

    @abstractmethod
    def discard_beside(self, name: str) -> None:
        """Remove the place beside this one with all it holds, sound or not. Who has it open keeps the old one."""

    @abstractmethod
    def size_bytes(self) -> int: ...

    @abstractmethod
    def check(self) -> list[str]:
        """Ask the engine whether its files are sound; what is wrong, if anything."""

    @abstractmethod
    def close(self) -> None: ...
