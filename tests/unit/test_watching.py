"""Events of the operating system, after a moment in which it gave none."""

import os
import resource
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest
import watchfiles  # noqa: F401  Loaded while there are files for it.

from recollect.daemon.notekeeping import FolderWatch
from recollect.history.watcher import Watcher

SPARE_FILES = 40
HINTS = 500
"""One for each tenth of a second, at least."""

T = TypeVar("T")


@contextmanager
def one_file_left() -> Generator[None]:
    """Enough to list a folder, not to watch one."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(map(int, os.listdir("/proc/self/fd"))) + SPARE_FILES
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest, before[1]))
    taken = [os.open(os.devnull, os.O_RDONLY)]
    try:
        try:
            while True:
                taken.append(os.dup(taken[0]))
        except OSError:
            os.close(taken.pop())
        yield
    finally:
        for number in taken:
            os.close(number)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="open files are counted in /proc")
@pytest.mark.parametrize("kind", ["notes", "transcripts"])
def test_after_a_moment_without_files_there_are_events_again(tmp_path: Path, kind: str) -> None:
    folder, stop = tmp_path / "watched", threading.Event()
    folder.mkdir()
    watch = FolderWatch(folder, 0.1, stop) if kind == "notes" else Watcher([folder], 0.1, stop)
    hints: Iterator[object] = watch.hints()
    with one_file_left():
        assert any(watch.problem for _ in first(HINTS, hints))
        assert "gives no events" in watch.problem

    assert any(not watch.problem for _ in first(HINTS, hints))

    stop.set()
    assert list(first(HINTS, hints))[HINTS - 1 :] == [], "and it ends"


def first(number: int, values: Iterator[T]) -> Iterator[T]:
    return (value for _, value in zip(range(number), values, strict=False))
