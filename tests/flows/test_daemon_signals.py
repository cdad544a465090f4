"""A signal ends a pass of the daemon at once, but for the loading of a module, where Python would swallow it."""

import importlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw
import pytest
from commands import wait_for

import recollect
from recollect.daemon import daemon as daemons
from recollect.daemon.daemon import KILLED, Daemon
from recollect.errors import Unavailable

LOADED = "a_module_that_is_interrupted"
BODY = """
import os, signal, time
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(0)
IS_LOADED = True
"""


@pytest.fixture
def signals() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # Who starts the tests by nohup has it ignored.
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


def wait_to_be_interrupted() -> None:
    for _ in range(1_000):
        time.sleep(0.01)
    pytest.fail("nothing came")


@pytest.mark.usefixtures("signals")
def test_a_terminal_that_is_closed_leaves_one_alone_that_was_to_outlive_it(memory: recollect.Memory) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # As nohup does.
    reached: list[str] = []

    def first_pass(_memory: recollect.Memory, _roots: list[Path]) -> None:
        signal.raise_signal(signal.SIGHUP)
        reached.append("what follows")
        signal.raise_signal(signal.SIGTERM)

    Daemon(memory, lambda status, report: None).run(first_pass)
    assert reached == ["what follows"]


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_inside_a_pass_it_interrupts(memory: recollect.Memory, number: signal.Signals) -> None:
    reached: list[str] = []

    def first_pass(_memory: recollect.Memory, _roots: list[Path]) -> None:
        signal.raise_signal(number)
        reached.append("what follows")

    Daemon(memory, lambda status, report: None).run(first_pass)
    assert reached == []


@pytest.mark.usefixtures("signals")
def test_while_a_module_is_loaded_it_comes_again_a_moment_later(
    memory: recollect.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"{LOADED}.py").write_text(BODY)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, LOADED, raising=False)
    loaded: list[bool] = []

    def first_pass(_memory: recollect.Memory, _roots: list[Path]) -> None:
        loaded.append(importlib.import_module(LOADED).IS_LOADED)
        wait_to_be_interrupted()

    Daemon(memory, lambda status, report: None).run(first_pass)
    assert loaded == [True]


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize(("times", "code"), [(1, 0), (2, KILLED + signal.SIGTERM)])
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="it looks into /proc whether a signal was delivered")
def test_it_is_heard_while_the_database_keeps_the_main_thread_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int, code: int
) -> None:
    """SQLite waits for somebody who writes, and Python runs no handler meanwhile."""
    monkeypatch.setattr(daemons, "LAST_SECONDS", 0.1)
    codes: list[int] = []
    with recollect.open(tmp_path / "home") as memory:
        writer = apsw.Connection(memory.database.location)
        writer.execute("BEGIN IMMEDIATE")  # pyright: ignore[reportUnknownMemberType]

        def give_up(code: int) -> None:
            codes.append(code)
            writer.close()

        def first_pass(_memory: recollect.Memory, _roots: list[Path]) -> None:
            threading.Thread(target=lambda: send_while_it_waits(times)).start()
            with suppress(Unavailable), memory.database.write():
                pass

        # Where a second one is to come, the first one's time is never over.
        daemon = Daemon(memory, lambda status, report: None, give_up=give_up, stop_seconds=0.1 if times == 1 else 999.0)
        daemon.run(first_pass, once=True)
    assert codes == [code]


def send_while_it_waits(times: int) -> None:
    main, frames = threading.main_thread().ident or 0, getattr(sys, "_current_frames")  # noqa: B009  private by its name
    wait_for("the wait", lambda: frames()[main].f_code.co_name == "_transaction")
    for _ in range(times):
        os.kill(os.getpid(), signal.SIGTERM)
        wait_for("its delivery", lambda: "ShdPnd:\t0000000000000000" in Path("/proc/self/status").read_text())


@pytest.mark.usefixtures("signals")
def test_who_heard_signals_before_hears_them_again(memory: recollect.Memory) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing)
    try:
        Daemon(memory, lambda status, report: None).run(lambda _memory, _roots: None, once=True)
        assert signal.set_wakeup_fd(before) == writing
    finally:
        signal.set_wakeup_fd(before)
        os.close(reading)
        os.close(writing)
