"""A supervised thread begins again whatever ended it, waits longer each time, and ends by one deadline with others."""

import logging
import threading
import time
import weakref
from collections.abc import Iterator

import pytest
from commands import wait_for

from recollect import supervision
from recollect.errors import Unavailable
from recollect.supervision import PartHealth, Shift, State, Supervised, end_all

FOREVER = 60.0


class Work:
    """Raises what it is given, then goes on until it is told to end."""

    def __init__(self, *crashes: BaseException | None) -> None:
        """None: it comes back by itself."""
        self.crashes = list(crashes)
        self.begun = 0
        self.waits: list[float] = []
        self.told: list[str] = []

    def __call__(self, shift: Shift) -> None:
        self.begun += 1
        if self.crashes:
            crash = self.crashes.pop(0)
            if crash is None:
                return
            raise crash
        shift.ended.wait(FOREVER)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "RETRY_SECONDS", 0.001)


@pytest.fixture
def parts() -> Iterator[list[Supervised]]:
    made: list[Supervised] = []
    yield made
    end_all(made, time.monotonic() + FOREVER)


@pytest.mark.parametrize(
    ("crash", "told"),
    [
        (Unavailable("The port is taken."), "The port is taken."),
        (ValueError("my diagnosis"), "it died of ValueError"),
        (SystemExit("my diagnosis"), "it died of SystemExit"),
        (KeyboardInterrupt(), "it died of KeyboardInterrupt"),
        (None, "it ended by itself"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_whatever_ends_it_it_begins_again_and_tells_why_without_the_words_of_others(
    crash: BaseException | None, told: str, parts: list[Supervised]
) -> None:
    work = Work(crash)
    part = Supervised("librarian", work, on_crash=work.told.append)
    parts.append(part)
    assert part.health.state is State.OFF

    part.start()

    wait_for("a second beginning", lambda: work.begun == 2)
    wait_for("its state", lambda: part.health.state is State.RUNNING)
    assert [reason.partition(" in ")[0] for reason in work.told] == [told]
    assert part.health.restarts == 1
    assert part.health.problem.startswith(told)
    assert "diagnosis" not in part.health.problem
    assert part.health.since
    part.end()
    assert part.wait(time.monotonic() + FOREVER)
    assert part.health.state is State.STOPPED


def test_what_the_work_had_in_hand_when_it_crashed_is_let_go(
    parts: list[Supervised], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision.log, "disabled", True)  # pytest keeps what is logged, errors included.
    let_go = threading.Event()

    def crash(shift: Shift) -> None:
        if part.restarts:
            shift.ended.wait()
            return
        connection = Work(None)
        weakref.finalize(connection, let_go.set)
        raise ValueError

    part = Supervised("switchboard", crash)
    parts.append(part)

    part.start()

    assert let_go.wait(FOREVER)


def test_each_wait_is_twice_the_one_before_up_to_a_limit(
    parts: list[Supervised], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(supervision, "RETRY_SECONDS", 0.001)
    monkeypatch.setattr(supervision, "LONGEST_RETRY_SECONDS", 0.004)
    work = Work(*(ValueError() for _ in range(5)))
    part = Supervised("mind", work)
    parts.append(part)

    part.start()

    wait_for("the last beginning", lambda: work.begun == 6)
    waits = [record.args[2] for record in caplog.records if isinstance(record.args, tuple) and len(record.args) == 3]
    assert waits == [0.001, 0.002, 0.004, 0.004, 0.004]


def test_what_went_well_for_a_while_has_no_problem_any_more_and_waits_shortly_again(
    parts: list[Supervised], caplog: pytest.LogCaptureFixture
) -> None:
    seconds = [0.0]
    crash = threading.Event()

    def work(shift: Shift) -> None:
        while not shift.ended.wait(0.001):
            if crash.is_set():
                crash.clear()
                raise ValueError

    part = Supervised("mind", work, now=lambda: seconds[0])
    parts.append(part)
    part.start()
    for number in (1, 2):
        crash.set()
        wait_for("a restart", lambda number=number: part.health.restarts == number)
        wait_for("its end", lambda: part.health.state is State.RUNNING)
        assert part.health.problem
        seconds[0] += supervision.SETTLED_SECONDS + 1
        assert part.health.problem == ""
    waits = [record.args[2] for record in caplog.records if isinstance(record.args, tuple) and len(record.args) == 3]
    assert waits == [0.001, 0.001]


def test_a_thread_that_hangs_is_replaced_and_ends_when_it_comes_back(parts: list[Supervised]) -> None:
    seconds, goes_on = [0.0], threading.Event()
    threads: list[threading.Thread] = []

    def work(shift: Shift) -> None:
        threads.append(threading.current_thread())
        if len(threads) == 1:
            goes_on.wait(FOREVER)
        else:
            shift.ended.wait(FOREVER)

    told: list[str] = []
    part = Supervised("notes", work, hanging_seconds=60, now=lambda: seconds[0], on_crash=told.append)
    parts.append(part)
    part.start()
    wait_for("the first", lambda: threads)
    part.check()
    assert part.restarts == 0

    seconds[0] += 61
    part.check()

    wait_for("the second", lambda: len(threads) == 2)
    assert told == ["the thread of the notes has not moved for 61 seconds; it was started again"]
    goes_on.set()
    threads[0].join(FOREVER)
    assert not threads[0].is_alive()
    assert threads[1].is_alive()
    assert len(threads) == 2


def test_work_that_waits_for_something_else_is_woken_to_end(parts: list[Supervised]) -> None:
    woken = threading.Event()

    def work(shift: Shift) -> None:
        shift.on_end(woken.set)
        woken.wait(FOREVER)

    part = Supervised("http", work)
    parts.append(part)
    part.start()

    assert end_all([part], time.monotonic() + FOREVER) == []


def test_who_does_not_end_by_the_deadline_is_left_behind_and_keeps_no_other_waiting(parts: list[Supervised]) -> None:
    goes_on, left = threading.Event(), list[str]()

    def hang(shift: Shift) -> None:
        goes_on.wait(FOREVER)

    hanging = [Supervised(f"hanging {number}", hang, on_left=lambda: left.append("told")) for number in range(3)]
    well = Supervised("well", Work())
    for part in (*hanging, well):
        part.start()
        parts.append(part)
    begun = time.monotonic()

    behind = end_all([*hanging, well], begun + 0.2)

    assert behind == [part.name for part in hanging]
    assert left == ["told"] * 3
    assert well.health.state is State.STOPPED
    goes_on.set()


def test_in_the_thread_of_the_caller_it_begins_again_too_and_control_c_passes() -> None:
    work = Work(SystemExit(), KeyboardInterrupt())
    part = Supervised("watcher", work)

    with pytest.raises(KeyboardInterrupt):
        part.run(threading.Event())

    assert (work.begun, part.restarts) == (2, 1)


def test_a_change_of_state_is_told(parts: list[Supervised]) -> None:
    states: list[State] = []
    work = Work(ValueError())
    part = Supervised("index", work)
    part.on_change = lambda: states.append(part.health.state)
    parts.append(part)

    part.start()
    wait_for("the way back", lambda: len(states) == 3)
    part.end()

    assert states == [State.RUNNING, State.RESTARTING, State.RUNNING, State.STOPPED]


def test_nobody_sees_a_crash_of_a_part_that_runs(parts: list[Supervised], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[PartHealth] = []
    look = logging.Handler()
    monkeypatch.setattr(look, "emit", lambda record: seen.append(part.health))
    monkeypatch.setattr(supervision.log, "handlers", [look])
    part = Supervised("index", Work(ValueError()))
    parts.append(part)

    part.start()
    wait_for("its first crash", lambda: seen)

    assert (seen[0].restarts, seen[0].state) == (1, State.RESTARTING)
