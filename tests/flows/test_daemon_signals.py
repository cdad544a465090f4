"""A signal ends a pass of the daemon at once, but for the loading of a module, where Python would swallow it."""

import importlib
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from recollect.daemon import Daemon

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
