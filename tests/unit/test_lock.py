"""The lock of a home: one daemon has it, and who looks for one is in nobody's way."""

import os
import shutil
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from recollect.errors import Conflict
from recollect.lock import TRIES, HomeLock, holder_of, is_locked, try_lock

NAME = "daemon.lock"


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "runtime"
    folder.mkdir(parents=True)
    (folder / NAME).touch()
    return folder


@contextmanager
def looking(runtime: Path) -> Generator[None]:
    """As `is_locked` does, and for longer."""
    with open(runtime / NAME, encoding="utf-8") as file:
        assert try_lock(file, is_shared=True)
        yield


def test_two_who_look_at_once_see_no_daemon_where_none_is(runtime: Path) -> None:
    with looking(runtime):
        assert not is_locked(runtime)


def test_looking_makes_no_lock(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    assert not os.listdir(tmp_path)


def test_who_starts_while_somebody_looks_is_not_refused(runtime: Path) -> None:
    with ExitStack() as looks:
        looks.enter_context(looking(runtime))
        lock = HomeLock(runtime, lambda _seconds: looks.close())
        lock.acquire()

    assert is_locked(runtime)
    lock.release()
    assert not is_locked(runtime)


def test_a_lock_whose_file_was_removed_is_taken_anew(runtime: Path) -> None:
    lock = HomeLock(runtime)
    lock.acquire()
    shutil.rmtree(runtime)
    assert not is_locked(runtime)

    lock.keep()

    assert is_locked(runtime)
    assert holder_of(runtime) == str(os.getpid())
    lock.keep()
    lock.release()
    assert not is_locked(runtime)


def test_a_lock_that_somebody_else_has_by_now_is_not_taken_back(runtime: Path) -> None:
    first, second = HomeLock(runtime, lambda _seconds: None), HomeLock(runtime)
    first.acquire()
    (runtime / NAME).unlink()
    second.acquire()

    with pytest.raises(Conflict, match=f"was removed while Recollect ran.* .process {os.getpid()}.*this one ends"):
        first.keep()

    first.release()
    assert holder_of(runtime) == str(os.getpid()), "the number is that of the second one"
    second.release()


def test_a_home_that_was_removed_is_not_made_again_for_its_lock(runtime: Path) -> None:
    lock = HomeLock(runtime)
    lock.acquire()
    shutil.rmtree(runtime.parent)

    lock.keep()

    assert not runtime.parent.exists()
    lock.release()


def test_a_second_daemon_is_refused_after_a_few_tries(runtime: Path) -> None:
    waits: list[float] = []
    first, second = HomeLock(runtime), HomeLock(runtime, waits.append)
    first.acquire()

    with pytest.raises(Conflict, match=f"already runs for {runtime.parent} .process {os.getpid()}"):
        second.acquire()

    assert len(waits) == TRIES - 1
    assert sum(waits) < 1, "a person waits for it"
    first.release()
    second.acquire()
    second.release()
