"""What lies in the holding folder of the notes: a text in it goes only when it is a version for good."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FrozenClock
from writing_notes import every_version

import recollect
from recollect import Unavailable
from recollect.database import Session
from recollect.notes.folder import Folder
from recollect.notes.paths import HOLDING


def as_it_is(_session: Session, _path: str, content: bytes) -> bytes:
    return content


def impatient(memory: recollect.Memory) -> Folder:
    """A folder for which whatever is held has lain there long enough."""
    settings = memory.settings
    return Folder(
        memory.database,
        settings.house,
        memory.clock,
        memory.notes.folder,
        as_it_is,
        lambda _mine, _theirs: None,
        grace_seconds=-60.0,
    )


def hold(memory: recollect.Memory, token: str, path: str, content: bytes) -> Path:
    """As a process leaves it that was killed, or that another program still writes into."""
    file = memory.notes.folder / HOLDING / token / path
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    return file


def texts(memory: recollect.Memory, path: str) -> set[bytes]:
    return {note.content for note in every_version(memory, path)}


@pytest.fixture
def in_sqlite(home: Path, clock: FrozenClock) -> Iterator[recollect.Memory]:
    with recollect.open(home=home, clock=clock) as opened:
        yield opened


def test_what_is_held_becomes_a_version_and_goes(memory: recollect.Memory) -> None:
    memory.notes.write("user.md", "Ada grows beans.\n")
    hold(memory, "a", "user.md", b"Ada grows leeks.\n")
    folder = impatient(memory)

    for _ in range(2):
        folder.look()

    assert b"Ada grows leeks.\n" in texts(memory, "user.md")
    assert memory.notes.read("user.md").text == "Ada grows beans.\n"
    assert not (memory.notes.folder / HOLDING).exists()
    assert not folder.look().found


def test_what_is_held_stays_when_the_versions_could_not_be_stored(in_sqlite: recollect.Memory) -> None:
    memory = in_sqlite
    memory.notes.write("user.md", "Ada grows beans.\n")
    held = {"one.md": b"Beans need poles.\n", "two.md": os.urandom(1_000_000)}
    for path, content in held.items():
        hold(memory, path[:3], path, content)
    with memory.database.read() as session:
        pages = session.value("PRAGMA page_count")
        session.value(f"PRAGMA max_page_count = {pages + 20}")

    with pytest.raises(Unavailable, match="full"):
        impatient(memory).look()

    with memory.database.read() as session:
        session.value("PRAGMA max_page_count = 4294967294")
    impatient(memory).look()
    for path, content in held.items():
        assert content in texts(memory, path), path


def test_what_is_held_and_too_large_for_a_note_stays_and_is_told(memory: recollect.Memory) -> None:
    memory.notes.write("user.md", "Ada grows beans.\n")
    file = hold(memory, "a", "user.md", b"x" * 5_000_000)

    looked = impatient(memory).look()

    assert file.stat().st_size == 5_000_000
    assert [problem.path for problem in looked.problems] == [f"{HOLDING}/a/user.md"]


def test_what_is_held_stays_while_its_place_is_taken(memory: recollect.Memory) -> None:
    memory.notes.write("user.md", "Ada grows beans.\n")
    hold(memory, "a", "garden", b"Beds and paths.\n")
    (memory.notes.folder / "garden").mkdir()

    for _ in range(2):
        looked = impatient(memory).look()

    assert f"{HOLDING}/a/garden" in [problem.path for problem in looked.problems]
    (memory.notes.folder / "garden").rmdir()
    for _ in range(2):
        impatient(memory).look()
    assert b"Beds and paths.\n" in texts(memory, "garden")
    assert not (memory.notes.folder / HOLDING).exists()


def test_half_a_text_of_a_process_that_was_killed_is_no_version(memory: recollect.Memory) -> None:
    """Before it takes its place a file is made under a name of its own."""
    memory.notes.write("user.md", "Ada grows beans.\n")
    files = impatient(memory).files
    half = files.holding.unfinished_place("user.md")
    half.write_bytes(b"Ada gro")

    impatient(memory).look()

    assert texts(memory, "user.md") == {b"Ada grows beans.\n"}
    assert not (memory.notes.folder / HOLDING).exists()


def test_what_bears_a_time_to_come_is_not_held_until_then(memory: recollect.Memory) -> None:
    memory.notes.write("user.md", "Ada grows beans.\n")
    file = hold(memory, "a", "user.md", b"Ada grows beans.\n")
    os.utime(file, (4e9, 4e9))

    impatient(memory).look()

    assert not (memory.notes.folder / HOLDING).exists()


def test_forgetting_leaves_nothing_held_and_keeps_what_was_never_seen(memory: recollect.Memory) -> None:
    memory.notes.write("user.md", "Ada grows beans.\n")
    hold(memory, "a", "user.md", b"Ada grows leeks.\n")

    memory.notes.clear_held()

    assert b"Ada grows leeks.\n" in texts(memory, "user.md")
    assert not (memory.notes.folder / HOLDING).exists()
