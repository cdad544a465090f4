"""Reading the database of another program: whatever state it is in, one moment of it, and nothing is left beside it."""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from commands import permissions_prefix

from recollect.database import foreign
from recollect.database.foreign import open_foreign, tables_of
from recollect.errors import Locked, Unreadable

ALL = "SELECT words FROM message ORDER BY number"
READ = """
import sys
from recollect.database.foreign import open_foreign
with open_foreign(sys.argv[1]) as rows:
    print([words for (words,) in rows("SELECT words FROM message ORDER BY number")])
"""
"""In a process of its own, which cannot go past file permissions."""


def connected(path: Path, mode: str = "delete") -> apsw.Connection:
    """The other program."""
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA journal_mode = {mode}").fetchall()
    connection.execute("CREATE TABLE IF NOT EXISTS message (number INTEGER PRIMARY KEY, words TEXT)")
    connection.execute("CREATE TABLE IF NOT EXISTS session (id TEXT)")
    return connection


def say(connection: apsw.Connection, *words: str) -> None:
    with connection:
        connection.executemany("INSERT INTO message (words) VALUES (?)", [(word,) for word in words])


def read(path: Path) -> list[str]:
    with open_foreign(str(path)) as rows:
        return [str(words) for (words,) in rows(ALL)]


def beside(path: Path) -> dict[str, bytes]:
    return {found.name: found.read_bytes() for found in path.parent.iterdir()}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    made = tmp_path / "opencode"
    made.mkdir()
    yield made
    made.chmod(0o700)


@pytest.fixture
def path(folder: Path) -> Path:
    return folder / "open code?#%.db"


@pytest.fixture(params=["delete", "wal"])
def at_rest(request: pytest.FixtureRequest, path: Path) -> Path:
    """A database that its program has closed."""
    connection = connected(path, request.param)
    say(connection, "Beans", "Peas")
    connection.close()
    assert list(beside(path)) == [path.name]
    return path


@pytest.fixture
def after_a_crash(path: Path, tmp_path: Path) -> Path:
    """A database whose last words stand only in its log, and nobody has it open."""
    running = tmp_path / "running" / path.name
    running.parent.mkdir()
    connection = connected(running, "wal")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    say(connection, "Beans", "Peas")
    for ending in ("", "-wal"):
        shutil.copyfile(f"{running}{ending}", f"{path}{ending}")
    connection.close()
    return path


# --- Reading ----------------------------------------------------------------------------------------------------------


def test_a_database_at_rest_is_read_and_nothing_is_made_beside_it(at_rest: Path) -> None:
    before = beside(at_rest)

    with open_foreign(str(at_rest)) as rows:
        assert [words for (words,) in rows(ALL)] == ["Beans", "Peas"]
        assert beside(at_rest) == before

    assert beside(at_rest) == before


def test_the_tables_of_a_database(at_rest: Path) -> None:
    assert tables_of(str(at_rest)) == {"message", "session"}


def test_parameters_have_names(at_rest: Path) -> None:
    with open_foreign(str(at_rest)) as rows:
        assert list(rows("SELECT words FROM message WHERE number = :number", {"number": 2})) == [("Peas",)]


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_words_of_a_running_program_are_read_while_it_goes_on(path: Path, mode: str) -> None:
    connection = connected(path, mode)
    say(connection, "Beans")
    assert read(path) == ["Beans"]

    say(connection, "Peas")

    assert read(path) == ["Beans", "Peas"]
    connection.close()
    assert read(path) == ["Beans", "Peas"]


def test_what_is_read_is_one_moment(path: Path) -> None:
    connection = connected(path, "wal")
    say(connection, "Beans")

    with open_foreign(str(path)) as rows:
        say(connection, "Peas")
        assert list(rows(ALL)) == [("Beans",)]

    assert read(path) == ["Beans", "Peas"]
    connection.close()


def test_a_running_program_is_not_held_up(path: Path) -> None:
    connection = connected(path, "wal")
    say(connection, "Beans")

    with open_foreign(str(path)) as rows:
        first = rows(ALL)
        say(connection, "Peas")
        assert list(first) == [("Beans",)]

    connection.close()
    assert beside(path).keys() == {path.name}


def test_words_that_are_not_committed_are_not_read(path: Path) -> None:
    connection = connected(path, "wal")
    say(connection, "Beans")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO message (words) VALUES ('never said')")

    assert read(path) == ["Beans"]

    connection.execute("ROLLBACK")
    connection.close()


def test_words_that_only_the_log_has_after_a_crash_are_read(after_a_crash: Path) -> None:
    assert read(after_a_crash) == ["Beans", "Peas"]
    assert read(after_a_crash) == ["Beans", "Peas"]


def test_the_files_of_a_crashed_program_keep_their_bytes(after_a_crash: Path) -> None:
    before = beside(after_a_crash)

    read(after_a_crash)

    after = beside(after_a_crash)
    assert {name: after[name] for name in before} == before


def test_a_folder_in_which_nothing_can_be_written(at_rest: Path, folder: Path) -> None:
    assert_read_without_permission(at_rest, folder)


def test_a_crashed_program_in_a_folder_in_which_nothing_can_be_written(after_a_crash: Path, folder: Path) -> None:
    assert_read_without_permission(after_a_crash, folder)


def assert_read_without_permission(path: Path, folder: Path) -> None:
    before = beside(path)
    for found in folder.iterdir():
        found.chmod(stat.S_IRUSR)
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)

    done = subprocess.run(
        [*permissions_prefix(), sys.executable, "-c", READ, str(path)], capture_output=True, text=True
    )

    assert (done.stdout, done.stderr) == ("['Beans', 'Peas']\n", "")
    assert beside(path) == before


# --- Not reading ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_database_that_its_program_keeps_to_itself_is_locked(
    path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign, "BUSY_MILLISECONDS", 10)
    connection = connected(path, mode)
    say(connection, "Beans")
    connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
    connection.execute("BEGIN EXCLUSIVE")
    connection.execute("INSERT INTO message (words) VALUES ('Peas')")

    with pytest.raises(Locked, match="is locked by another program") as caught:
        read(path)

    assert str(path) in str(caught.value)
    connection.execute("COMMIT")
    connection.close()
    assert read(path) == ["Beans", "Peas"]


@pytest.mark.parametrize("sql", ["INSERT INTO message (words) VALUES ('ours')", "DROP TABLE message", "VACUUM"])
def test_it_cannot_be_written(at_rest: Path, sql: str) -> None:
    before = beside(at_rest)

    with pytest.raises(Unreadable), open_foreign(str(at_rest)) as rows:
        list(rows(sql))

    assert beside(at_rest) == before


def test_a_database_cut_in_half_is_explained(path: Path) -> None:
    connection = connected(path)
    say(connection, *(f"word {number} " * 50 for number in range(400)))
    connection.close()
    os.truncate(path, path.stat().st_size // 2)

    with pytest.raises(Unreadable, match="not a sound SQLite database") as caught:
        read(path)

    assert str(path) in str(caught.value)


def test_damage_in_the_middle_is_explained(at_rest: Path) -> None:
    raw = bytearray(at_rest.read_bytes())
    raw[100:] = b"\xa5" * (len(raw) - 100)
    at_rest.write_bytes(raw)

    with pytest.raises(Unreadable, match="not a sound SQLite database"):
        tables_of(str(at_rest))


@pytest.mark.parametrize("raw", [b"SQLite format 3\x00", b"SQLite format 3\x00" + b"\x00" * 200, b"words" * 500])
def test_what_only_begins_like_a_database_is_explained(path: Path, raw: bytes) -> None:
    path.write_bytes(raw)

    with pytest.raises(Unreadable) as caught:
        read(path)

    assert str(path) in str(caught.value)
    assert path.read_bytes() == raw


def test_a_table_that_is_not_there_is_explained(at_rest: Path) -> None:
    with pytest.raises(Unreadable, match="no such table: part") as caught, open_foreign(str(at_rest)) as rows:
        list(rows("SELECT * FROM part"))

    assert str(at_rest) in str(caught.value)


def test_a_database_that_is_gone_is_not_made(folder: Path) -> None:
    with pytest.raises((Unreadable, FileNotFoundError)):
        read(folder / "nothing.db")

    assert list(folder.iterdir()) == []


def test_a_copy_leaves_nothing_behind(after_a_crash: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))

    read(after_a_crash)

    assert list(scratch.iterdir()) == []
