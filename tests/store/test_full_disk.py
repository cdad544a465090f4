"""A full disk: a clear word, nothing half-written, and with space again the same rows as if nothing had happened.

SQLite only: a server's disk is not ours to fill. PostgreSQL reports the same condition as `DiskFull`.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import FrozenClock
from snapshots import snapshot_of
from transcripts import Transcript, append

import recollect
from recollect import Unavailable
from recollect.database.sqlite import SqliteDatabase
from recollect.doctor import examine

PADDING = "word " * 2_000


def long_session(name: str, exchanges: int) -> Transcript:
    told = Transcript(name)
    for index in range(exchanges):
        told.user(f"Question {index}: {PADDING}")
        # Different every time, so that compression does not make it small.
        told.assistant(f"Answer {index}: " + " ".join(str(hash((index, number)) % 10**9) for number in range(2_000)))
    return told


def open_memory(home: Path, clock: FrozenClock) -> recollect.Memory:
    return recollect.open(home=home, clock=clock)


def assert_sound(memory: recollect.Memory) -> None:
    assert memory.database.check() == []
    with memory.database.read() as session:
        orphans = session.value(
            "SELECT count(*) FROM history_messages m LEFT JOIN history_lines l "
            "ON l.house = m.house AND l.message_id = m.id WHERE l.message_id IS NULL"
        )
        beyond = session.value(
            "SELECT count(*) FROM history_lines l JOIN history_files f ON f.id = l.file_id "
            "WHERE l.start_byte + l.length > f.read_to"
        )
    assert (orphans, beyond) == (0, 0)


def limit_pages(memory: recollect.Memory, spare: int | None) -> None:
    """Let the database file grow by so many pages, or without limit."""
    with memory.database.read() as session:
        pages = session.value("PRAGMA page_count")
        session.value(f"PRAGMA max_page_count = {pages + spare if spare is not None else 4_294_967_294}")


def test_a_database_that_may_not_grow_says_so_and_goes_on_later(
    home: Path, tmp_path: Path, projects: Path, clock: FrozenClock
) -> None:
    first, second = long_session("first", 2), long_session("second", 30)
    with open_memory(home, clock) as memory:
        memory.history.ingest([first.save(projects)])
        before = snapshot_of(memory)
        second.save(projects)
        limit_pages(memory, 10)

        with pytest.raises(Unavailable, match=r"disk .* full.*Free some space"):
            memory.history.ingest([projects])

        assert_sound(memory)
        assert snapshot_of(memory)["messages"] == before["messages"]
        assert snapshot_of(memory)["conversations"] == before["conversations"]
        limit_pages(memory, None)
        memory.history.ingest([projects])
        assert_sound(memory)
        with open_memory(tmp_path / "clean", clock) as clean:
            clean.history.ingest([projects])
            assert snapshot_of(memory) == snapshot_of(clean)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MB."""
    folder = tmp_path / "small disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=5m", "tmpfs", str(folder)]
    if sys.platform != "linux" or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("only root may mount a small file system, and only on Linux")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_explained_and_with_space_again_nothing_is_lost_or_doubled(
    small_disk: Path, tmp_path: Path, projects: Path, clock: FrozenClock
) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(3_450_000))
    told = long_session("long", 3)
    path = told.save(projects)
    with open_memory(small_disk / "home", clock) as memory:
        memory.history.ingest([path])
        while True:
            said = len(told.records)
            extra = long_session(f"more {said}", 3)
            for record in extra.records:
                record["sessionId"] = told.session_id
            told.records += extra.records
            append(path, extra.raw)
            before = snapshot_of(memory)
            try:
                memory.history.ingest([path])
            except Unavailable as error:
                problem = str(error)
                break
            assert len(told.records) < 2_000, "the disk never filled"

        assert "is full. Free some space" in problem
        assert snapshot_of(memory)["messages"] == before["messages"]
        assert_sound(memory)

    with open_memory(small_disk / "home", clock) as memory:
        assert snapshot_of(memory)["messages"] == before["messages"]
        assert_sound(memory)

    ballast.unlink()
    with open_memory(small_disk / "home", clock) as memory:
        memory.history.ingest([path])
        assert_sound(memory)
        with open_memory(tmp_path / "clean", clock) as clean:
            clean.history.ingest([path])
            assert snapshot_of(memory) == snapshot_of(clean)


def test_doctor_fails_where_almost_nothing_is_free(small_disk: Path, clock: FrozenClock) -> None:
    with open_memory(small_disk / "home", clock) as memory:
        (disk,) = [finding for finding in examine(memory) if finding.check == "disk"]

    assert disk.level == "failure"
    assert "is full" in disk.message


def test_a_new_home_on_a_full_disk_is_explained(small_disk: Path, clock: FrozenClock) -> None:
    ballast = small_disk / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))

    with pytest.raises(Unavailable, match=r"full|cannot be read or written|No space"):
        open_memory(small_disk / "home", clock)

    ballast.unlink()
    with open_memory(small_disk / "home", clock) as memory:
        assert isinstance(memory.database, SqliteDatabase)
        assert memory.database.check() == []
