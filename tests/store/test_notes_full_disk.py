"""A disk that is full in the middle of a write of a note: a clear word, the old text everywhere, and nothing left over.

SQLite only: a server's disk is not ours to fill.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import FrozenClock
from writing_notes import every_version

import recollect
from recollect import Unavailable
from recollect.notes.paths import HOLDING

OLD = "Ada grows beans.\n"
LONG = "Leeks stand behind the shed.\n" * 70_000
"""2 MB that compress to nothing: the file needs the space, the database does not."""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB."""
    folder = tmp_path / "small disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if sys.platform != "linux" or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("only root may mount a small file system, and only on Linux")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(disk: Path) -> Path:
    ballast = disk / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return ballast


def texts(memory: recollect.Memory, path: str) -> list[str]:
    """The newest first."""
    return [note.text for note in every_version(memory, path)]


def assert_as_it_was(memory: recollect.Memory, path: str = "user.md") -> None:
    memory.notes.look()
    assert (memory.notes.folder / path).read_text() == OLD
    assert texts(memory, path) == [OLD]
    assert not (memory.notes.folder / HOLDING).exists()
    assert memory.database.check() == []


def limit_pages(memory: recollect.Memory, spare: int | None) -> None:
    """Let the database file grow by so many pages, or without limit."""
    with memory.database.read() as session:
        pages = session.value("PRAGMA page_count")
        session.value(f"PRAGMA max_page_count = {pages + spare if spare is not None else 4_294_967_294}")


@pytest.mark.parametrize("act", ["write", "append", "move"])
def test_a_note_for_whose_file_there_is_no_space_is_as_it_was(
    act: str, small_disk: Path, tmp_path: Path, clock: FrozenClock
) -> None:
    with recollect.open(home=small_disk / "home", database=str(tmp_path / "notes.db"), clock=clock) as memory:
        memory.notes.write("user.md", OLD)
        ballast = fill(small_disk)

        with pytest.raises(Unavailable, match=r"The disk is full: .* Free some space"):
            getattr(memory.notes, act)("user.md", "people/ada/user.md" if act == "move" else LONG)

        assert_as_it_was(memory)
        ballast.unlink()
        memory.notes.write("user.md", "Ada grows leeks.\n")
        memory.notes.look()
        assert (memory.notes.folder / "user.md").read_text() == "Ada grows leeks.\n"
        assert texts(memory, "user.md") == ["Ada grows leeks.\n", OLD]


def test_a_new_note_for_which_there_is_no_space_leaves_nothing(
    small_disk: Path, tmp_path: Path, clock: FrozenClock
) -> None:
    with recollect.open(home=small_disk / "home", database=str(tmp_path / "notes.db"), clock=clock) as memory:
        memory.notes.write("user.md", OLD)
        fill(small_disk)

        with pytest.raises(Unavailable, match="The disk is full"):
            memory.notes.write("projects/garden/overview.md", LONG)

        assert_as_it_was(memory)
        assert [note.path for note in memory.notes.list(gone=True)] == ["user.md"]


def test_the_first_use_on_a_full_disk_is_explained(small_disk: Path, tmp_path: Path, clock: FrozenClock) -> None:
    (small_disk / "home").mkdir()
    with recollect.open(home=small_disk / "home", database=str(tmp_path / "notes.db"), clock=clock) as memory:
        ballast = fill(small_disk)

        with pytest.raises(Unavailable, match="full"):
            memory.notes.prepare()

        ballast.unlink()
        memory.notes.prepare()
        assert (memory.notes.folder / ".gitignore").read_text()
        assert [note.path for note in memory.notes.list()] == ["agents/assistant/COMPACTION.md"]


def test_a_note_for_whose_version_there_is_no_space_is_as_it_was(home: Path, clock: FrozenClock) -> None:
    with recollect.open(home=home, clock=clock) as memory:
        memory.notes.write("user.md", OLD)
        limit_pages(memory, 3)

        with pytest.raises(Unavailable, match=r"full.*Free some space"):
            memory.notes.write("user.md", os.urandom(500_000).hex())

        limit_pages(memory, None)
        assert_as_it_was(memory)


def test_what_another_tool_wrote_stays_in_its_file_until_there_is_space_for_its_version(
    home: Path, clock: FrozenClock
) -> None:
    with recollect.open(home=home, clock=clock) as memory:
        memory.notes.write("user.md", OLD)
        new = os.urandom(500_000).hex()
        (memory.notes.folder / "user.md").write_text(new)
        limit_pages(memory, 3)

        with pytest.raises(Unavailable, match=r"full.*Free some space"):
            memory.notes.look()

        assert (memory.notes.folder / "user.md").read_text() == new
        limit_pages(memory, None)
        memory.notes.look()
        assert texts(memory, "user.md") == [new, OLD]
