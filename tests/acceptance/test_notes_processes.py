"""Notes that several processes, an editor and a daemon change at once: every text that anybody wrote is kept."""

import json
import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from commands import end, run, started, wait_for
from computers import Computer
from note_writers import assert_agreed, files_of, lost, settle, started_writer
from parts import stop
from transcripts import write

import recollect
from recollect.daemon.notekeeping import Notekeeping, NotesProgress

STEPS = 120
"""Of each process in the suite; those of the soak are many more."""


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
            stop(keeping.part)
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


def test_one_file_that_may_not_be_read_keeps_no_other_from_being_kept(
    computer: Computer, notes: Callable[[], dict[str, list[str]]]
) -> None:
    folder = computer.home / "notes"
    write(folder / "mine.md", b"Not for you.\n").chmod(0)
    write(folder / "user.md", b"Ada grows beans.\n")

    done = run("up", "--once", home=computer.home, obey_permissions=True)

    assert done.code == 0, done.err
    assert list(notes()) == ["user.md"]
    found = {item["check"]: item for item in doctor(computer, obey_permissions=True)}
    assert "mine.md" in found["notes on disk"]["message"]


def test_a_folder_of_notes_that_may_not_be_read_is_named(computer: Computer) -> None:
    folder = computer.home / "notes"
    write(folder / "user.md", b"Ada grows beans.\n")
    assert computer.run("up", "--once").code == 0
    folder.chmod(0)
    with started("up", home=computer.home, obey_permissions=True) as process:
        told = wait_for("a word about it", lambda: computer.status().get("notes_problem"))
        assert told == f"{folder} may not be read. Check its permissions."
        folder.chmod(0o700)
        wait_for("its end", lambda: not computer.status()["notes_problem"])
        assert end(process) == 0


# What doctor and health see


def doctor(computer: Computer, **options: bool) -> list[dict[str, str]]:
    return run("doctor", "--json", home=computer.home, **options).json()["findings"]


def test_doctor_sees_a_watcher_that_is_dead(computer: Computer) -> None:
    with computer.up() as process:
        wait_for("a look", lambda: computer.status().get("notes_looked_at"))
        write(computer.home / "notes" / "user.md", b"Ada grows beans.\n")
        wait_for("the note", lambda: "1 notes in 1 files, 1 versions" in computer.finding("notes")["message"])
        process.send_signal(signal.SIGSTOP)
        place = computer.home / "runtime" / "status.json"
        status = computer.status()
        place.write_text(json.dumps({**status, "notes_looked_at": "2026-01-01T00:00:00.000Z"}))
        write(computer.home / "notes" / "user.md", b"Ada grows leeks.\n")

        found = {item["check"]: item for item in doctor(computer)}

        assert "A dead watcher" in found["notes watcher"]["message"]
        assert "recollect up" in found["notes watcher"]["next_step"]
        assert "1 of 1 files are not what was last seen in them" in found["notes"]["message"]
        process.send_signal(signal.SIGCONT)
        assert end(process) == 0


def test_doctor_names_what_somebody_should_look_at_in_the_notes(computer: Computer) -> None:
    assert computer.finding("notes")["level"] == "ok"
    with recollect.open(computer.home) as memory:
        memory.agents.add("ada")
        ada = memory.as_agent("ada").notes
        ada.write("agents/ada/soul.md", "I am careful.\n", reason="a beginning")
        entry = ada.diary.write("A quiet day.").version.path
        memory.notes.write("user.md", "Ada grows beans.\n")
        memory.notes.write("user.md", "Ada grows leeks.\n")
        memory.notes.write("user.md", "Ada grows peas.\n", expected=1)
        write(memory.notes.folder / entry, b"A loud day.\n")
        write(memory.notes.folder / "agents" / "ada" / "status.json", b"{not json")
        with (memory.notes.folder / "huge.md").open("wb") as file:
            file.truncate(100_000_000)
        memory.notes.look()

    findings = {item["check"]: item for item in doctor(computer)}

    assert {item["level"] for check, item in findings.items() if check.startswith("notes")} == {"warning"}
    assert "agents/ada/soul.md" in findings["notes review"]["message"]
    assert entry in findings["notes diary"]["message"]
    assert "recollect diary restore" in findings["notes diary"]["next_step"]
    assert findings["notes conflicts"]["next_step"].endswith("recollect notes diff user.md 2 3")
    assert "2 in the folder" in findings["notes on disk"]["message"]
    assert "huge.md" in findings["notes on disk"]["message"]
    assert "notes" not in findings


def test_health_counts_notes_and_their_versions(computer: Computer) -> None:
    with recollect.open(computer.home) as memory:
        memory.notes.write("user.md", "Ada grows beans.\n")
        memory.notes.write("user.md", "Ada grows leeks.\n")

    figures = computer.run("health", "--json").json()["notes"]

    assert (figures["notes"], figures["versions"], figures["reviews"]) == (1, 2, 0)
    assert "1 in 2 versions" in computer.run("health").out
