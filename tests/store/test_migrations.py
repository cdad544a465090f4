"""The schema grows by numbered steps, is the same whichever way it was made, and is never changed by older code."""

import re
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files

import pytest

from recollect import Corrupt, Unavailable
from recollect.database import Database, open_database
from recollect.database.dialect import statements
from recollect.database.migrate import Migration, known_migrations, migrate
from recollect.database.postgres import PostgresDatabase
from recollect.database.sqlite import open_sqlite

NewDatabase = Callable[[], str]

OPEN_WHEN_TOLD = """
import sys
from recollect.database import open_database
print("ready", flush=True)
sys.stdin.readline()
open_database(sys.argv[1]).close()
"""

SQLITE_COLUMNS = """
SELECT t.name, c.name, c.type, c."notnull", c.dflt_value, c.pk
FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' ORDER BY t.name, c.cid
"""
SQLITE_INDEXES = """
SELECT t.name, i.name, i."unique", i.origin, i.partial, c.seqno, c.name, c."desc", c.coll,
    substr(m.sql, instr(m.sql, ' WHERE '))
FROM sqlite_master t JOIN pragma_index_list(t.name) i JOIN pragma_index_xinfo(i.name) c
LEFT JOIN sqlite_master m ON m.name = i.name
WHERE t.type = 'table' ORDER BY t.name, i.name, c.seqno
"""
POSTGRES_COLUMNS = """
SELECT table_name, column_name, data_type, collation_name, is_nullable, column_default
FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position
"""
POSTGRES_INDEXES = (
    "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1, 2"
)
EXTRA = Migration(
    version=9999, name="from_the_future", text="CREATE TABLE future_things (house {key} NOT NULL, body {bytes});\n"
)


def connect(url: str) -> Database:
    """The database as it is, without bringing it to our schema."""
    return PostgresDatabase(url) if url.startswith("postgresql://") else open_sqlite(url)


def schema_of(database: Database) -> list[list[tuple[object, ...]]]:
    with database.read() as session:
        if database.dialect.name == "sqlite":
            return [session.rows(SQLITE_COLUMNS), session.rows(SQLITE_INDEXES)]
        return [session.rows(POSTGRES_COLUMNS), session.rows(POSTGRES_INDEXES)]


def steps_of(database: Database) -> list[tuple[object, ...]]:
    with database.read() as session:
        return session.rows("SELECT version, name, checksum FROM schema_versions ORDER BY version")


def test_the_sum_of_the_migrations_is_the_schema(empty_engine: NewDatabase) -> None:
    migrated = open_database(empty_engine())
    stated = connect(empty_engine())
    text = files("recollect.database").joinpath("schema.sql").read_text(encoding="utf-8")
    with stated.write() as session:
        for statement in statements(stated.dialect.schema(text)):
            session.run(statement)

    columns, indexes = schema_of(migrated)

    assert columns
    assert indexes
    assert schema_of(stated) == [columns, indexes]
    migrated.close()
    stated.close()


def test_every_key_starts_with_the_house(empty_engine: NewDatabase) -> None:
    database = open_database(empty_engine())
    columns, indexes = schema_of(database)
    tables = {str(row[0]) for row in columns} - {"schema_versions"}

    first_columns = {str(row[0]): str(row[1]) for row in reversed(columns)}
    assert {table: first_columns[table] for table in tables} == dict.fromkeys(tables, "house")
    if database.dialect.name == "postgres":
        assert all(re.search(r"\(house[,)]", str(row[2])) for row in indexes if row[0] in tables)
    else:
        assert all(row[6] == "house" for row in indexes if row[0] in tables and row[5] == 0)
    database.close()


def test_opening_again_applies_nothing(empty_engine: NewDatabase) -> None:
    url = empty_engine()
    open_database(url).close()
    database = open_database(url)

    assert migrate(database) == []
    assert [step[0] for step in steps_of(database)] == [step.version for step in known_migrations()]
    database.close()


def test_a_missing_step_is_applied_to_a_database_with_rows(empty_engine: NewDatabase) -> None:
    database = open_database(empty_engine())
    with database.write() as session:
        session.run("INSERT INTO history_titles (house, leaf_id, title) VALUES ('home', 'a', 'kept')")

    assert migrate(database, [*known_migrations(), EXTRA]) == [EXTRA.version]

    with database.read() as session:
        assert session.value("SELECT title FROM history_titles") == "kept"
        assert session.value("SELECT count(*) FROM future_things") == 0
    database.close()


def test_older_code_refuses_a_newer_database_and_changes_nothing(empty_engine: NewDatabase) -> None:
    url = empty_engine()
    database = open_database(url)
    migrate(database, [*known_migrations(), EXTRA])
    before = (schema_of(database), steps_of(database))

    with pytest.raises(Unavailable, match=r"newer Recollect .*9999.* nothing was changed"):
        open_database(url)

    assert (schema_of(database), steps_of(database)) == before
    database.close()


def test_a_step_that_was_edited_afterwards_is_refused(empty_engine: NewDatabase) -> None:
    database = open_database(empty_engine())
    first, *rest = known_migrations()
    edited = Migration(version=first.version, name=first.name, text=first.text + "\n-- one more thought\n")
    before = (schema_of(database), steps_of(database))

    with pytest.raises(Corrupt, match=f"schema step {first.version}"):
        migrate(database, [edited, *rest])

    assert (schema_of(database), steps_of(database)) == before
    database.close()


def test_a_step_that_fails_leaves_no_part_of_itself(empty_engine: NewDatabase) -> None:
    database = open_database(empty_engine())
    before = (schema_of(database), steps_of(database))
    broken = Migration(version=9999, name="broken", text=EXTRA.text + "CREATE TABLE future_things (again BIGINT);\n")

    with pytest.raises(Corrupt, match="future_things"):
        migrate(database, [*known_migrations(), broken])

    assert (schema_of(database), steps_of(database)) == before
    database.close()


def test_processes_that_start_together_migrate_once(empty_engine: NewDatabase) -> None:
    url = empty_engine()
    command = [sys.executable, "-c", OPEN_WHEN_TOLD, url]
    pipe = subprocess.PIPE
    started = [subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) for _ in range(6)]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    ended = [process.communicate() for process in started]

    assert [(process.returncode, errors) for process, (_, errors) in zip(started, ended, strict=True)] == [(0, "")] * 6
    database = connect(url)
    assert [step[0] for step in steps_of(database)] == [step.version for step in known_migrations()]
    database.close()


def test_the_numbers_of_the_steps_are_one_two_three() -> None:
    versions = [migration.version for migration in known_migrations()]

    assert versions == list(range(1, len(versions) + 1))
