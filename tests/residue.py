"""Looks for words everywhere a house keeps anything: an independent second look, by the words themselves."""

from collections.abc import Sequence

from recollect import Memory
from recollect.database import Database
from recollect.history.vault import unpack

PACKED = (("history_lines", "raw"), ("notes_versions", "content"), ("librarian_replies", "reply"))


def residue_of(memory: Memory, *words: str) -> list[str]:
    """Where some of these words stand: in tables of the house and of its index, and in the bytes of its files."""
    databases = (memory.database, memory.recall.place())
    found = tables_with(memory, *words)
    raw = {path: b"".join(database.read_file(path, 1 << 24)) for database in databases for path in database.files()}
    others = (path for path in memory.settings.home.rglob("*") if path.is_file() and path not in raw)
    raw |= {path: path.read_bytes() for path in others if not path.name.endswith("-shm")}
    return found + [str(path) for path in sorted(raw) if any(one.encode() in raw[path] for one in words)]


def tables_with(memory: Memory, *words: str) -> list[str]:
    """The columns of the house and of its index in which some of these words stand."""
    return [place for one in (memory.database, memory.recall.place()) for place in _in_tables(one, words)]


def _in_tables(database: Database, words: Sequence[str]) -> list[str]:
    found: list[str] = []
    with database.read() as session:
        for table in session.tables():
            for column in session.columns(table):
                if column.type in (str, bytes):
                    values = session.rows(f"SELECT DISTINCT {column.name} FROM {table}")
                    text = "\n".join(_text(table, column.name, value) for (value,) in values)
                    found += [f"{table}.{column.name}: {one}" for one in words if one in text]
    return found


def _text(table: str, column: str, value: object) -> str:
    if isinstance(value, bytes):
        raw = unpack(value) if (table, column) in PACKED and value else value
        return raw.decode("utf-8", "replace").replace("\\n", "\n").replace('\\"', '"')
    return str(value).replace("\\n", "\n").replace('\\"', '"') if value else ""
