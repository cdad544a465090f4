"""One SQL surface: what holds on SQLite holds on PostgreSQL."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Invalid, Unavailable
from recollect.database import Database, open_database

ADD = "INSERT INTO history_titles (house, leaf_id, title) VALUES (:house, :leaf_id, :title)"
LEAVES = "SELECT leaf_id FROM history_titles WHERE house = 'home' ORDER BY leaf_id"
COUNT = "SELECT count(*) FROM history_titles"

HOLD_THE_WRITE_LOCK = f"""
import sys
from recollect.database import open_database
database = open_database(sys.argv[1])
with database.write() as session:
    session.run({ADD!r}, {{"house": "home", "leaf_id": "held", "title": ""}})
    print("held", flush=True)
    sys.stdin.read()
database.close()
"""

READ_ITS_FILES = """
import sys
from recollect.database import open_database
database = open_database(sys.argv[1])
for path in database.files():
    for chunk in database.read_file(path, 1_000_000):
        pass
print("held", flush=True)
sys.stdin.read()
database.close()
"""


def add(database: Database, *leaves: str) -> None:
    with database.write() as session:
        session.many(ADD, [("home", leaf, "") for leaf in leaves])


def leaves_of(database: Database) -> list[str]:
    with database.read() as session:
        return [row[0] for row in session.rows(LEAVES)]


@contextmanager
def another_writer(url: str, script: str = HOLD_THE_WRITE_LOCK) -> Iterator["subprocess.Popen[str]"]:
    """Another process in the middle of a write; it commits when its input ends."""
    command = [sys.executable, "-c", script, url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.communicate()
        assert process.returncode == 0


def test_leaving_a_write_commits_it(database: Database) -> None:
    add(database, "a", "b")

    assert leaves_of(database) == ["a", "b"]


def test_an_exception_takes_back_the_whole_write(database: Database) -> None:
    def fail() -> None:
        with database.write() as session:
            session.run(ADD, {"house": "home", "leaf_id": "a", "title": ""})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert leaves_of(database) == []
    add(database, "b")
    assert leaves_of(database) == ["b"]


def test_a_failed_statement_takes_back_the_whole_write(database: Database) -> None:
    add(database, "a")

    with pytest.raises(Exception, match="a"):
        add(database, "b", "a")

    assert leaves_of(database) == ["a"]


def test_a_read_sees_one_state_while_others_write(database: Database) -> None:
    add(database, "a")

    with database.read() as session:
        before = session.value(COUNT)
        writer = threading.Thread(target=add, args=(database, "b"))
        writer.start()
        writer.join()
        after = session.value(COUNT)

    assert (before, after) == (1, 1)
    assert leaves_of(database) == ["a", "b"]


def test_a_read_cannot_write(database: Database) -> None:
    with pytest.raises(Exception, match=r"read.?only|may not be written"), database.read() as session:
        session.run(ADD, {"house": "home", "leaf_id": "a", "title": ""})

    assert leaves_of(database) == []


@pytest.mark.parametrize("outer", ["read", "write"])
@pytest.mark.parametrize("inner", ["read", "write"])
def test_a_session_inside_a_session_is_refused(database: Database, outer: str, inner: str) -> None:
    add(database, "a")

    with (
        pytest.raises(RuntimeError, match="already open"),
        getattr(database, outer)(),
        getattr(database, inner)() as session,
    ):
        session.value(COUNT)

    add(database, "b")
    assert leaves_of(database) == ["a", "b"]


def test_each_thread_works_by_itself(database: Database) -> None:
    threads = [
        threading.Thread(target=lambda start=start: [add(database, f"{start}-{index}") for index in range(10)])
        for start in "abcd"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert leaves_of(database) == sorted(f"{start}-{index}" for start in "abcd" for index in range(10))


def test_run_tells_how_many_rows_changed(database: Database) -> None:
    add(database, "a", "b", "c")

    with database.write() as session:
        changed = session.run("UPDATE history_titles SET title = 'x' WHERE leaf_id <> :leaf", {"leaf": "b"})
        none = session.run("DELETE FROM history_titles WHERE leaf_id = 'z'")

    assert (changed, none) == (2, 0)


def test_one_and_value_of_nothing_are_nothing(database: Database) -> None:
    with database.read() as session:
        assert session.one("SELECT leaf_id, title FROM history_titles") is None
        assert session.value("SELECT leaf_id FROM history_titles") is None


def test_many_takes_a_generator_and_nothing(database: Database) -> None:
    with database.write() as session:
        session.many(ADD, (("home", str(index), "") for index in range(3)))
        session.many(ADD, [])

    assert leaves_of(database) == ["0", "1", "2"]


def test_a_percent_sign_a_colon_and_a_cast_in_sql_are_what_they_are(database: Database) -> None:
    add(database, "50%", "a:b")

    with database.read() as session:
        assert session.value("SELECT leaf_id FROM history_titles WHERE leaf_id LIKE '5_%'") == "50%"
        assert session.value("SELECT count(*) FROM history_titles WHERE leaf_id = 'a:b'") == 1
        assert session.value("SELECT :given || '%s'", {"given": "x"}) == "x%s"


@pytest.mark.parametrize("number", [0, 1, 199, 200, 201, 1000])
def test_any_number_of_values_can_be_looked_up(database: Database, number: int) -> None:
    add(database, *(f"{index:04}" for index in range(1100)))
    wanted = [f"{index:04}" for index in range(number)]

    with database.read() as session:
        rows = session.among(
            "SELECT leaf_id FROM history_titles WHERE house = :house AND leaf_id IN (:values)",
            wanted,
            {"house": "home"},
        )

    assert sorted(row[0] for row in rows) == wanted


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    wanted=st.lists(st.sampled_from([f"k{index}" for index in range(450)]), unique=True, max_size=450),
)
def test_looking_up_gives_each_value_that_is_there_once(database: Database, wanted: list[str]) -> None:
    present = [f"k{index}" for index in range(0, 450, 2)]
    if not leaves_of(database):
        add(database, *present)

    with database.read() as session:
        rows = session.among("SELECT leaf_id FROM history_titles WHERE leaf_id IN (:values)", wanted)

    assert sorted(row[0] for row in rows) == sorted(set(wanted) & set(present))


def test_each_gives_row_by_row_what_rows_gives_at_once(database: Database) -> None:
    add(database, *(f"{index:05}" for index in range(5000)))

    with database.read() as session:
        assert list(session.each(LEAVES)) == session.rows(LEAVES)


def test_two_results_can_be_walked_side_by_side(database: Database) -> None:
    add(database, *(f"{index:05}" for index in range(3000)))

    with database.read() as session:
        pairs = list(zip(session.each(LEAVES), session.each(LEAVES), strict=True))

    assert len(pairs) == 3000
    assert all(one == other for one, other in pairs)


def test_a_result_left_half_read_does_no_harm(database: Database) -> None:
    add(database, *(f"{index:05}" for index in range(5000)))
    with database.read() as session:
        rows = session.each(LEAVES)
        assert next(rows)[0] == "00000"

    with database.read() as session:
        assert session.value(COUNT) == 5000
        del rows
        assert session.value(COUNT) == 5000
    add(database, "z")


def test_keys_sort_by_their_bytes(database: Database) -> None:
    names = ["b", "B", "a", "ä", "_", "-", "10", "9", "é", "e"]
    add(database, *names)

    assert leaves_of(database) == sorted(names, key=str.encode)


def test_bytes_come_back_as_they_went(database: Database) -> None:
    raw = bytes(range(256))
    line = (
        "INSERT INTO history_lines (house, file_id, generation, start_byte, length, line, digest, kind, parser, raw) "
        "VALUES ('home', 'f', 0, 0, 256, 1, :digest, 'user', 1, :raw)"
    )
    with database.write() as session:
        session.run(line, {"raw": raw, "digest": -(2**63)})

    with database.read() as session:
        kept, digest = session.rows("SELECT raw, digest FROM history_lines")[0]
    assert (bytes(kept), digest) == (raw, -(2**63))


def test_a_second_writer_waits_for_the_first(database: Database, engine: str) -> None:
    done = threading.Event()

    def write() -> None:
        add(database, "second")
        done.set()

    with another_writer(engine):
        second = threading.Thread(target=write)
        second.start()
        assert not done.is_set()
    second.join()

    assert leaves_of(database) == ["held", "second"]


def test_a_writer_that_waits_too_long_is_told_so_and_changes_nothing(database: Database, engine: str) -> None:
    with another_writer(engine), pytest.raises(Unavailable, match="busy"):
        add(database, "second")

    assert leaves_of(database) == ["held"]


def test_a_reader_is_never_blocked_by_a_writer(database: Database, engine: str) -> None:
    add(database, "a")

    with another_writer(engine):
        assert leaves_of(database) == ["a"]
        newcomer = open_database(engine)
        assert leaves_of(newcomer) == ["a"]
        newcomer.close()

    assert leaves_of(database) == ["a", "held"]


def test_a_writer_that_dies_leaves_nothing_and_blocks_nobody(database: Database, engine: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD_THE_WRITE_LOCK, engine],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        process.kill()

    add(database, "after")
    assert leaves_of(database) == ["after"]


def test_the_database_tells_its_size_and_that_it_is_sound(database: Database) -> None:
    assert database.size_bytes() > 0
    assert database.check() == []


def test_a_closed_database_can_be_closed_again(database: Database) -> None:
    database.close()
    database.close()


def test_an_unknown_address_is_refused_with_what_is_known() -> None:
    with pytest.raises(Invalid, match="postgresql://"):
        open_database("mysql://somewhere/else")


def test_a_password_is_never_shown(database: Database) -> None:
    with pytest.raises(Unavailable) as caught:
        open_database("postgresql://ada:open-sesame@localhost:1/nowhere")

    assert "open-sesame" not in str(caught.value)
    assert "open-sesame" not in database.location


def test_what_is_deleted_is_not_in_the_files_any_more(database: Database) -> None:
    with database.write() as session:
        for number in range(100):
            session.run(ADD, {"house": "home", "leaf_id": f"{number:03}", "title": f"words of {number}, and no other"})
    with database.write() as session:
        session.run("DELETE FROM history_titles WHERE leaf_id = '050'")
    database.settle()

    raw = b"".join(chunk for path in database.files() for chunk in database.read_file(path, 10_000))

    assert b"words of 50, and" not in raw
    assert not raw or b"words of 51, and" in raw


def test_who_reads_the_files_keeps_its_locks_on_them(database: Database, engine: str) -> None:
    """Without them another process that ends would take the log away under it."""
    with another_writer(engine, READ_ITS_FILES):
        database.close()
        assert all(path.exists() for path in database.files())
        assert not database.files() or any(path.name.endswith("-wal") for path in database.files())


def test_what_is_given_back_while_resting_is_read_again(database: Database) -> None:
    with database.write() as session:
        session.run(
            "INSERT INTO scopes (house, id, kind, parent_id, made_at) VALUES ('h', 'ada', 'agent', 'house', '')"
        )
    with database.read() as session:
        before = session.rows("SELECT id FROM scopes WHERE house = 'h'")
        database.rest()
        assert session.rows("SELECT id FROM scopes WHERE house = 'h'") == before == [("ada",)]
