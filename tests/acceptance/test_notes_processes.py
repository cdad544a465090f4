"""Notes that several processes, an editor and a daemon change at once: every text that anybody wrote is kept."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from commands import end, wait_for
from computers import Computer
from conftest import Postgres
from note_writers import assert_agreed, files_of, lost, settle, started_writer
from transcripts import write

import recollect
from recollect.notekeeping import Notekeeping, NotesProgress

STEPS = 120
"""Of each process in the suite; those of the soak are many more."""


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "shared.db")
        return
    server: Postgres = request.getfixturevalue("postgres")
    name = server.create()
    yield server.url(name)
    server.drop(name)


@pytest.fixture
def computer(tmp_path: Path) -> Computer:
    return Computer(tmp_path)


def ignore(_progress: NotesProgress) -> None:
    """Nobody wants to know."""


# A storm


def storm(home: Path, address: str, seed: str, steps: int) -> None:
    """Three processes that write through Recollect, an editor that asks nobody, and a watcher."""
    write(home / "recollect.toml", b"poll_interval_seconds = 0.2\n")
    with recollect.open(home=home, database=address) as memory, ExitStack() as stack:
        memory.notes.prepare()
        tasks = [("write", f"{seed}{letter}") for letter in "abc"] + [("edit", f"{seed}d")]
        writers = [
            stack.enter_context(started_writer(home, address, task, name, steps, home.parent / "told"))
            for task, name in tasks
        ]
        keeping = Notekeeping(memory, ignore)
        keeping.start()
        try:
            for writer in writers:
                writer.go()
            for writer in writers:
                writer.wait()
        finally:
            keeping.stop()
        settle(memory)
        told = [one for writer in writers for one in writer.told()]
        assert len(told) > steps
        assert lost(memory, told) == []
        assert_agreed(memory)


def test_every_text_of_three_writers_and_an_editor_is_found_in_the_versions(home: Path, address: str) -> None:
    storm(home, address, "storm", STEPS)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
def test_long_storms(home: Path, address: str, seed: int) -> None:
    storm(home, address, f"long {seed} ", 1_000)


# Two computers


def two_computers(first: Path, second: Path, address: str, seed: str, steps: int) -> None:
    with (
        recollect.open(home=first, database=address) as one,
        recollect.open(home=second, database=address) as other,
        ExitStack() as stack,
    ):
        writers = [
            stack.enter_context(started_writer(home, address, "write", f"{seed}{home.name}", steps, first.parent))
            for home in (first, second)
        ]
        for writer in writers:
            writer.go()
        for writer in writers:
            writer.wait()
        for _ in range(2):
            settle(one)
            settle(other)
        assert files_of(one.notes.folder) == files_of(other.notes.folder)
        assert lost(one, [told for writer in writers for told in writer.told()]) == []
        assert_agreed(one)
        assert_agreed(other)


def test_the_folders_of_two_computers_become_the_same(tmp_path: Path, address: str) -> None:
    two_computers(tmp_path / "one", tmp_path / "other", address, "two", STEPS)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
def test_the_folders_of_two_computers_become_the_same_after_long(tmp_path: Path, address: str, seed: int) -> None:
    two_computers(tmp_path / "one", tmp_path / "other", address, f"long {seed} ", 1_000)


# Beside a daemon


@pytest.fixture
def notes(computer: Computer) -> Callable[[], dict[str, list[str]]]:
    """A function that tells all texts of all notes, without looking at the files."""

    def texts() -> dict[str, list[str]]:
        with recollect.open(computer.home) as memory, memory.database.read() as session:
            rows = session.rows("SELECT path, actor FROM notes_versions ORDER BY path, number")
        found: dict[str, list[str]] = {}
        for path, actor in rows:
            found.setdefault(path, []).append(actor)
        return found

    return texts


def test_a_daemon_notices_what_other_tools_do_to_notes(
    computer: Computer, notes: Callable[[], dict[str, list[str]]]
) -> None:
    with computer.up() as process:
        folder = computer.home / "notes"
        write(folder / "user.md", b"Ada grows beans.\n")
        wait_for("a folder that is new", lambda: notes().get("user.md") == ["outside"])

        write(folder / "user.md", b"Ada grows leeks.\n")
        wait_for("a change", lambda: notes().get("user.md") == ["outside"] * 2)
        write(folder / "projects" / "garden" / "overview.md", b"Beds and paths.\n")
        wait_for("a folder in it", lambda: "projects/garden/overview.md" in notes())
        (folder / "projects" / "garden").rename(folder / "projects" / "yard")
        wait_for("a folder of another name", lambda: "projects/yard/overview.md" in notes())
        wait_for("its end under the old one", lambda: len(notes()["projects/garden/overview.md"]) == 2)
        (folder / "user.md").unlink()
        wait_for("a deletion", lambda: len(notes()["user.md"]) == 3)
        assert end(process) == 0
    assert computer.errors == ""


def test_a_link_in_the_folder_leads_no_watcher_out_of_it(
    computer: Computer, notes: Callable[[], dict[str, list[str]]], tmp_path: Path
) -> None:
    write(tmp_path / "elsewhere" / "diary.md", b"Not for you.\n")
    folder = computer.home / "notes"
    folder.mkdir(parents=True)
    (folder / "out").symlink_to(tmp_path / "elsewhere")
    (folder / "loop").symlink_to(folder)
    with computer.up() as process:
        write(tmp_path / "elsewhere" / "diary.md", b"Still not for you.\n")
        write(folder / "user.md", b"Ada grows beans.\n")
        wait_for("the note", lambda: "user.md" in notes())
        assert list(notes()) == ["user.md"]
        assert end(process) == 0
