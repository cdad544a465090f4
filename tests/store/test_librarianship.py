"""The librarian's thread in the daemon: it works by itself when it may, goes on after failures, and ends well."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from commands import wait_for
from conftest import OpenHouse
from desks import tell
from parts import stop

import recollect
from recollect.daemon.librarianship import LibrarianProgress, Librarianship
from recollect.errors import Unavailable
from recollect.history import Status
from recollect.librarian.librarian import Librarian
from recollect.testing import FrozenClock


class Daemon:
    """What the thread is told to tell, and a way to end it there."""

    def __init__(self) -> None:
        self.progress = LibrarianProgress()
        self.dies = False
        self.ending: list[Librarianship] = []

    def tell(self, progress: LibrarianProgress) -> None:
        self.progress = progress
        if self.dies and threading.current_thread() is not threading.main_thread():
            self.dies = False
            raise SystemExit

    def employ(self, memory: recollect.Memory, **options: object) -> Librarianship:
        made = Librarianship(memory, self.tell, **options)  # type: ignore[arg-type]
        self.ending.append(made)
        return made


@pytest.fixture
def daemon() -> Iterator[Daemon]:
    made = Daemon()
    yield made
    for one in made.ending:
        stop(one.part)


def statuses(memory: recollect.Memory) -> dict[str, int]:
    return memory.history.figures().by_status


def test_what_has_ended_is_read_by_itself_and_told_of(open_house: OpenHouse, projects: Path, daemon: Daemon) -> None:
    house = open_house(poll_interval_seconds=3_600)
    tell(house, projects, 3)

    daemon.employ(house).start()

    wait_for("all to be filed", lambda: statuses(house) == {"archived": 3})
    assert house.librarian.figures()["conversations"] == 3
    wait_for("the figures", lambda: daemon.progress.filed >= 1)
    assert daemon.progress.is_at_work
    assert daemon.progress.problem == ""
    assert daemon.progress.filed_at


def test_it_is_woken_by_what_is_taken_in_and_finds_what_ends_by_the_clock(
    open_house: OpenHouse, projects: Path, daemon: Daemon
) -> None:
    house = open_house(poll_interval_seconds=3_600)
    employed = daemon.employ(house)
    employed.start()
    wait_for("the first look", lambda: daemon.progress.is_at_work)
    tell(house, projects, 2)

    employed.wake()

    wait_for("both to be filed", lambda: statuses(house) == {"archived": 2})


def test_it_looks_at_the_interval(open_house: OpenHouse, projects: Path, clock: FrozenClock, daemon: Daemon) -> None:
    house = open_house(poll_interval_seconds=0.1)
    clock.move(hours=-1001)
    tell(house, projects, 1)
    assert statuses(house) == {"active": 1}
    daemon.employ(house).start()
    wait_for("the first look", lambda: daemon.progress.is_at_work)

    clock.move(hours=1001)

    wait_for("it to be filed", lambda: statuses(house) == {"archived": 1})


@pytest.mark.parametrize("model", ["anthropic:claude-haiku-5-5", "none"])
def test_a_paid_model_without_a_ceiling_and_nobody_read_nothing(
    tmp_path: Path, engine: str, clock: FrozenClock, projects: Path, daemon: Daemon, model: str
) -> None:
    home = tmp_path / "paid"
    home.mkdir()
    (home / "recollect.toml").write_text(f'poll_interval_seconds = 0.1\n[librarian]\nmodel = "{model}"\n')
    with recollect.open(home=home, database=engine, clock=clock) as house:
        tell(house, projects, 1)
        employed = daemon.employ(house)
        employed.start()
        if model != "none":
            wait_for("a look", lambda: daemon.progress != LibrarianProgress() or daemon.progress.problem == "")
            employed.wake()
        employed.part.check()
        stop(employed.part)

        assert statuses(house) == {"ready": 1}
        assert not daemon.progress.is_at_work
        assert daemon.progress.restarts == 0


def test_a_pause_is_told_of_and_nothing_is_read(open_house: OpenHouse, projects: Path, daemon: Daemon) -> None:
    house = open_house(poll_interval_seconds=0.1)
    house.librarian.queue.pause("I am looking")
    tell(house, projects, 2)
    employed = daemon.employ(house)
    employed.start()

    wait_for("word of the pause", lambda: daemon.progress.paused_since and daemon.progress.queued == 2)
    assert statuses(house) == {"queued": 2}
    house.librarian.queue.resume()

    wait_for("all to be filed", lambda: statuses(house) == {"archived": 2})
    wait_for("word of it", lambda: not daemon.progress.paused_since)


def test_a_thread_that_died_is_started_again(open_house: OpenHouse, projects: Path, daemon: Daemon) -> None:
    house = open_house(poll_interval_seconds=3_600)
    employed = daemon.employ(house)
    daemon.dies = True
    employed.start()
    wait_for("its end", lambda: daemon.progress.restarts)
    tell(house, projects, 1)
    employed.wake()

    wait_for("it to be filed", lambda: statuses(house) == {"archived": 1})
    assert daemon.progress.restarts == 1
    (reason,) = [event.detail["reason"] for event in house.runs.latest("librarian", "failed")]
    assert reason.startswith("it died of SystemExit in test_librarianship.py, line ")


def test_a_librarian_that_cannot_begin_is_tried_again_and_told_of(
    open_house: OpenHouse, projects: Path, daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.supervision.RETRY_SECONDS", 0.01)
    house = open_house(poll_interval_seconds=3_600)
    tell(house, projects, 1)
    problems = [Unavailable("The key is not there."), Unavailable("The key is not there."), ValueError("my diagnosis")]

    def librarian() -> Librarian:
        if problems and threading.current_thread().name == "librarian":
            raise problems.pop(0)
        return house.librarian

    employed = daemon.employ(house, librarian=librarian)
    employed.start()

    wait_for("it to be filed", lambda: statuses(house) == {"archived": 1})
    reasons = [event.detail["reason"] for event in house.runs.latest("librarian", "failed")]
    assert "The key is not there." in reasons
    assert "diagnosis" not in str(reasons)


def test_the_night_comes_by_itself(open_house: OpenHouse, projects: Path, clock: FrozenClock, daemon: Daemon) -> None:
    house = open_house(poll_interval_seconds=0.1)
    tell(house, projects, 1)
    daemon.employ(house).start()
    wait_for("it to be filed", lambda: statuses(house) == {"archived": 1})

    clock.now += timedelta(days=1)

    wait_for("a night", lambda: house.runs.latest("reflect", "done"))


def test_its_end_is_graceful(open_house: OpenHouse, projects: Path, daemon: Daemon) -> None:
    house = open_house(poll_interval_seconds=3_600)
    tell(house, projects, 30)
    employed = daemon.employ(house)
    employed.start()
    wait_for("the work to begin", lambda: statuses(house).get("archived"))

    stop(employed.part)

    assert set(statuses(house)) <= {Status.ARCHIVED, Status.QUEUED}
    assert house.librarian.status().counts.held == 0
    assert not list((house.settings.runtime / "workers").iterdir())
