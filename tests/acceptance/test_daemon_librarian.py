"""`recollect up` reads what has ended, by itself: shelves appear, and no signal and no kill loses a conversation."""

import signal
from pathlib import Path

import pytest
from commands import end, wait_for
from computers import Computer, session

import recollect

WISH = "Remember that I only drink decaf coffee after lunch."


@pytest.fixture
def computer(tmp_path: Path) -> Computer:
    return Computer(tmp_path)


def told(computer: Computer, number: int) -> None:
    for index in range(number):
        one = session(f"talk {index}")
        one.user(f"{WISH} That is number {index}.")
        one.assistant("I will.")
        one.save(computer.projects)


def by_status(computer: Computer) -> dict[str, int]:
    with recollect.open(computer.home) as memory:
        return memory.history.figures().by_status


def test_what_was_asked_to_be_remembered_stands_on_a_shelf_soon(computer: Computer) -> None:
    told(computer, 1)

    with computer.up() as process:
        shelf = computer.home / "notes" / "core" / "facts.md"
        wait_for("the shelf", lambda: shelf.exists() and "decaf" in shelf.read_text())
        wait_for("word of it", lambda: computer.status()["librarian"]["filed"] == 1)
        librarian = computer.status()["librarian"]
        assert (librarian["is_at_work"], librarian["queued"], librarian["problem"]) == (True, 0, "")
        assert end(process) == 0

    assert by_status(computer) == {"archived": 1}


def test_a_daemon_that_is_stopped_or_killed_loses_no_conversation(computer: Computer) -> None:
    told(computer, 60)

    for number in (signal.SIGTERM, signal.SIGKILL):
        with computer.up() as process:
            wait_for("some to be read", lambda: by_status(computer).get("archived"))
            end(process, number)
        if number is signal.SIGTERM:
            assert set(by_status(computer)) <= {"archived", "queued"}, "nothing is left in the middle"
    with computer.up() as process:
        wait_for("all to be read", lambda: by_status(computer) == {"archived": 60})
        assert end(process) == 0

    with recollect.open(computer.home) as memory:
        assert memory.librarian.figures()["conversations"] == 60
        assert memory.librarian.status().counts.held == 0


def test_with_nobody_to_read_nothing_is_read(computer: Computer) -> None:
    computer.librarian = "none"
    computer.configure(poll_interval_seconds=0.2)
    told(computer, 1)

    with computer.up() as process:
        looked = computer.status()["last_scan_at"]
        wait_for("the next look", lambda: computer.status().get("last_scan_at", looked) > looked)
        assert end(process) == 0

    assert by_status(computer) == {"ready": 1}
