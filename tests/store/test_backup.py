"""A backup is the whole database in one sound file, made while others use it."""

import sqlite3
import stat
import threading
from pathlib import Path

import pytest
from conftest import FrozenClock, Postgres
from packages import tell
from snapshots import snapshot_of

import recollect
from recollect import Conflict, Invalid
from recollect.lineage import ReceiptStore

ADD_TITLE = "INSERT INTO history_titles (house, leaf_id, title) VALUES ('home', :leaf_id, '')"


def test_a_backup_is_one_sound_file_that_opens_as_a_house(
    home: Path, tmp_path: Path, clock: FrozenClock, projects: Path
) -> None:
    with recollect.open(home=home, clock=clock) as memory:
        tell(memory, projects)
        before = snapshot_of(memory)

        done = memory.transfer.backup_to(tmp_path / "copy.db")

        memory.knowledge.remember("Said after the backup")
        with memory.database.read() as session:
            assert [copy.kind for copy in ReceiptStore(session, "home").exports()] == ["backup"]

    assert done.bytes == (tmp_path / "copy.db").stat().st_size
    assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o600
    with sqlite3.connect(f"file:{tmp_path / 'copy.db'}?mode=ro", uri=True) as copy:
        assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert copy.execute("PRAGMA journal_mode").fetchall() == [("delete",)]
    copy.close()
    assert sorted(path.name for path in tmp_path.glob("copy.db*")) == ["copy.db"]
    with recollect.open(home=tmp_path / "restored", database=str(tmp_path / "copy.db"), clock=clock) as restored:
        assert snapshot_of(restored) == before
        assert "Said after the backup" not in [record.text for record in restored.knowledge.records()]


def test_a_backup_is_made_while_another_program_is_in_the_middle_of_a_write(
    home: Path, tmp_path: Path, clock: FrozenClock
) -> None:
    with recollect.open(home=home, clock=clock) as memory:
        with memory.database.write() as session:
            session.run(ADD_TITLE, {"leaf_id": "committed"})
        copied: list[None] = []

        def copy() -> None:
            copied.append(memory.database.backup(tmp_path / "copy.db"))

        with memory.database.write() as session:
            session.run(ADD_TITLE, {"leaf_id": "not yet"})
            thread = threading.Thread(target=copy)
            thread.start()
            thread.join()
        assert copied

    with sqlite3.connect(tmp_path / "copy.db") as connection:
        assert connection.execute("SELECT leaf_id FROM history_titles").fetchall() == [("committed",)]
    connection.close()


def test_a_backup_overwrites_nothing(home: Path, tmp_path: Path, clock: FrozenClock) -> None:
    with (
        recollect.open(home=home, clock=clock) as memory,
        pytest.raises(Conflict, match=r"recollect\.db is there already"),
    ):
        memory.transfer.backup_to(home / "recollect.db")


def test_a_backup_of_a_server_names_what_does_it(postgres: Postgres, tmp_path: Path, clock: FrozenClock) -> None:
    name = postgres.create()
    with recollect.open(home=tmp_path / "home", database=postgres.url(name), clock=clock) as memory:
        with pytest.raises(Invalid, match=r"pg_dump.*recollect export"):
            memory.transfer.backup_to(tmp_path / "copy.db")
        with memory.database.read() as session:
            assert ReceiptStore(session, "home").exports() == []
    postgres.drop(name)
    assert not (tmp_path / "copy.db").exists()
