"""From one engine to the other and back, whatever the rows are, not a byte of an export changes."""

import itertools
import re
from collections.abc import Callable, Iterator
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from conftest import FrozenClock, Postgres
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packages import rows_of, tables_of, tell, unzipped

from recollect import Memory
from recollect.database import Database, open_database
from recollect.notes.store import packed
from recollect.notes.versions import digest_of
from recollect.settings import Settings
from recollect.transfer.store import TransferStore
from recollect.transfer.tables import CARRIED, Shape, shape_of

UNIQUE = re.compile(r"CREATE UNIQUE INDEX \w+ ON (\w+) \(house, ([\w, ]+)\)")
"""What may not be there twice, beside the key."""

Begin = Callable[[Database], Memory]


@pytest.fixture
def begin(tmp_path: Path, clock: FrozenClock) -> Begin:
    """A function that begins one more house in a database."""
    numbers = itertools.count()

    def make(database: Database) -> Memory:
        name = f"house-{next(numbers)}"
        return Memory(Settings(home=tmp_path / name, house=name), database, clock)

    return make


@pytest.fixture
def both(tmp_path: Path, postgres: Postgres) -> Iterator[tuple[Database, Database]]:
    """A database on each engine."""
    name = postgres.create()
    opened = open_database(str(tmp_path / "one.db")), open_database(postgres.url(name))
    yield opened
    for database in opened:
        database.close()
    postgres.drop(name)


def shapes_in(database: Database) -> list[Shape]:
    with database.read() as session:
        return [shape_of(session, table) for table in CARRIED]


def test_columns_and_keys_are_the_same_on_both_engines(both: tuple[Database, Database]) -> None:
    on_sqlite, on_postgres = map(shapes_in, both)

    assert on_sqlite == on_postgres
    assert all(shape.columns for shape in on_sqlite)


def test_from_sqlite_to_postgres_and_back_not_a_byte_changes(
    both: tuple[Database, Database], begin: Begin, projects: Path, tmp_path: Path
) -> None:
    sqlite, server = both
    first, second, third = begin(sqlite), begin(server), begin(sqlite)
    tell(first, projects)

    first.transfer.export_to(tmp_path / "first")
    second.transfer.import_from(tmp_path / "first")
    second.transfer.export_to(tmp_path / "second.zip")
    third.transfer.import_from(tmp_path / "second.zip")
    third.transfer.export_to(tmp_path / "third")

    assert set(tables_of(tmp_path / "first")) == set(CARRIED) - {"lineage_exports"}
    assert tables_of(tmp_path / "first") == tables_of(unzipped(tmp_path / "second.zip"))
    assert tables_of(tmp_path / "first") == tables_of(tmp_path / "third")
    copies = [rows_of(tmp_path / name, "lineage_exports") for name in ("first", "second", "third")]
    assert [len(rows) for rows in copies] == [1, 2, 3]
    assert copies[2][:2] == copies[1]


def texts() -> st.SearchStrategy[str]:
    """What every store can hold: no half of a surrogate pair, no NUL."""
    return st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


def sound(shape: Shape, row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A version of a note must be one: the rest of it may be anything."""
    if shape.table != "notes_versions":
        return row
    given = dict(zip(shape.names, row, strict=True))
    path = f"agents/ada/{given['path'].encode().hex() or 0}.md"
    given |= {"path": path, "scope": "ada", "number": abs(given["number"]) // 2 + 1, "action": "found", "latest": 0}
    given |= {"digest": digest_of(given["content"]), "content": packed(given["content"])}
    return tuple(given.values())


def values(shape: Shape) -> st.SearchStrategy[tuple[Any, ...]]:
    kinds: dict[type, st.SearchStrategy[Any]] = {
        str: texts(),
        int: st.integers(-(1 << 63), (1 << 63) - 1),
        float: st.floats(allow_nan=False, allow_infinity=False),
        bytes: st.binary(max_size=40),
    }
    columns = [st.none() | kinds[column.type] if column.is_nullable else kinds[column.type] for column in shape.columns]
    return st.tuples(*columns).map(partial(sound, shape))


def unique_columns(table: str) -> list[list[str]]:
    schema = files("recollect.database").joinpath("schema.sql").read_text(encoding="utf-8")
    return [names.split(", ") for of, names in UNIQUE.findall(schema) if of == table]


def test_what_may_not_be_there_twice_is_read_from_the_schema() -> None:
    assert unique_columns("mind_entries") == [["message_id"], ["agent", "channel", "channel_key"]]


def houses(shapes: list[Shape]) -> st.SearchStrategy[list[list[tuple[Any, ...]]]]:
    """Rows for each table, any that fit its columns and its unique keys."""

    def rows(shape: Shape) -> st.SearchStrategy[list[tuple[Any, ...]]]:
        # No version is the latest here (`sound`), and a note has many.
        others = unique_columns(shape.table) if shape.table != "notes_versions" else []
        keys = [tuple(map(shape.names.index, names)) for names in (shape.key, *others)]
        chosen = [lambda row, key=key: tuple(row[place] for place in key) for key in keys]
        return st.lists(values(shape), max_size=4, unique_by=tuple(chosen))

    return st.tuples(*(rows(shape) for shape in shapes)).map(list)


@settings(
    max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(data=st.data())
def test_any_rows_are_the_same_after_the_way_there_and_back(
    both: tuple[Database, Database], begin: Begin, tmp_path: Path, data: st.DataObject
) -> None:
    first, other, last = begin(both[0]), begin(both[1]), begin(both[0])
    shapes = shapes_in(both[0])
    with both[0].write() as session:
        store = TransferStore(session, first.settings.house)
        for shape, rows in zip(shapes, data.draw(houses(shapes)), strict=True):
            store.add(shape, rows)
    folder = tmp_path / first.settings.house
    folder.mkdir()

    first.transfer.export_to(folder / "1")
    other.transfer.import_from(folder / "1")
    other.transfer.export_to(folder / "2")
    last.transfer.import_from(folder / "2")
    last.transfer.export_to(folder / "3")

    assert tables_of(folder / "1") == tables_of(folder / "2")
    assert tables_of(folder / "1") == tables_of(folder / "3")
