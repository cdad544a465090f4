"""The thread that watches the notes: it looks by itself, goes on after failures, and is replaced when it is lost."""

import threading
from collections.abc import Iterator

import pytest
from commands import wait_for
from conftest import OpenHouse
from parts import stop
from transcripts import write

import recollect
from recollect.daemon.notekeeping import HANGING_SECONDS, Notekeeping, NotesProgress
from recollect.testing import FrozenClock


class Daemon:
    """What the thread is told to tell, and a way to stop it there."""

    def __init__(self) -> None:
        self.progress = NotesProgress()
        self.seconds = 0.0
        self.dies = False
        self.hangs = False
        self.goes_on = threading.Event()

    def tell(self, progress: NotesProgress) -> None:
        self.progress = progress
        if threading.current_thread() is threading.main_thread():
            return
        if self.dies:
            self.dies = False
            raise SystemExit
        if self.hangs:
            self.hangs = False
            self.goes_on.wait()

    def now(self) -> float:
        return self.seconds


@pytest.fixture
def house(open_house: OpenHouse) -> recollect.Memory:
    return open_house(poll_interval_seconds=0.1)


@pytest.fixture
def daemon() -> Daemon:
    return Daemon()


@pytest.fixture
def keeping(house: recollect.Memory, daemon: Daemon) -> Iterator[Notekeeping]:
    made = Notekeeping(house, daemon.tell, daemon.now)
    yield made
    daemon.goes_on.set()
    stop(made.part)


def is_kept(house: recollect.Memory, path: str) -> bool:
    """Whether the note is a version, without looking at its file."""
    return bool(house.notes.indexed([path]))


def reasons(house: recollect.Memory) -> list[str]:
    return [event.detail["reason"] for event in house.runs.latest("notes", "failed")]


def test_a_look_tells_when_it_was_and_what_it_found(
    house: recollect.Memory, daemon: Daemon, keeping: Notekeeping
) -> None:
    write(house.settings.home / "notes" / "user.md", b"Ada grows beans.\n")

    keeping.look()

    assert is_kept(house, "user.md")
    assert (daemon.progress.looked_at != "", daemon.progress.problem) == (True, "")
    assert house.runs.latest("notes", "done")[0].detail == {"found": 1, "put_back": 0}


def test_a_scratch_page_expires_by_itself(house: recollect.Memory, keeping: Notekeeping, clock: FrozenClock) -> None:
    page = house.notes.scratch.write("idea.md", "Beans on the roof?\n").version
    clock.move(days=15)

    keeping.look()

    assert house.notes.find(page.path) is None


def test_a_watcher_that_died_is_started_again_and_that_is_told(
    house: recollect.Memory, daemon: Daemon, keeping: Notekeeping
) -> None:
    daemon.dies = True
    keeping.start()
    wait_for("the end of the thread", lambda: not daemon.dies)

    wait_for("a new one", lambda: keeping.part.check() or daemon.progress.restarts)

    write(house.settings.home / "notes" / "user.md", b"Ada grows beans.\n")
    wait_for("the note", lambda: is_kept(house, "user.md"))
    assert daemon.progress.restarts == 1
    assert any("died" in reason for reason in reasons(house))


def test_a_watcher_that_hangs_is_replaced_and_ends_when_it_comes_back(
    house: recollect.Memory, daemon: Daemon, keeping: Notekeeping
) -> None:
    daemon.hangs = True
    keeping.start()
    wait_for("a thread that hangs", lambda: not daemon.hangs)
    keeping.part.check()
    assert daemon.progress.restarts == 0

    daemon.seconds += HANGING_SECONDS + 1
    keeping.part.check()

    write(house.settings.home / "notes" / "user.md", b"Ada grows beans.\n")
    wait_for("the note", lambda: is_kept(house, "user.md"))
    daemon.goes_on.set()
    wait_for("its end", lambda: sum(thread.name == "notes" for thread in threading.enumerate()) == 1)
    assert daemon.progress.restarts == 1
    assert any("has not moved for 61 seconds" in reason for reason in reasons(house))


def test_what_fails_is_told_once_and_tried_again(house: recollect.Memory, daemon: Daemon, keeping: Notekeeping) -> None:
    """A file where the folder of notes should be."""
    folder = house.settings.home / "notes"
    house.notes.write("user.md", "Ada grows beans.\n")
    folder.rename(folder.with_name("aside"))
    folder.write_text("in the way")

    for _ in range(3):
        keeping.look()

    assert "notes" in daemon.progress.problem
    assert len(reasons(house)) == 1
    folder.unlink()
    keeping.look()
    assert daemon.progress.problem == ""
    assert (folder / "user.md").read_text() == "Ada grows beans.\n"
