"""An import that ends in the middle of a large file, and a file that changes before the next one.

The interruption is a Ctrl-C between two transactions, which leaves what a kill there leaves; `tests/acceptance/
test_kill.py` does it with real kills at any moment.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import FrozenClock
from snapshots import conversations_of, messages_of
from transcripts import Transcript, append, line, write

import recollect
from recollect.history.reading import BLOCK_BYTES
from recollect.history.store import FileStatus

WORDS = "compost " * 400


def long_session(exchanges: int = 1_000) -> Transcript:
    """More than one block, so more than one transaction."""
    told = Transcript("long", step_seconds=5)
    for number in range(exchanges):
        told.user(f"Question {number}: {WORDS}")
        told.assistant(f"Answer {number}: {WORDS}")
    assert len(told.raw) > BLOCK_BYTES
    return told


def interrupt_after_first_block(memory: recollect.Memory, path: Path) -> None:
    def press_ctrl_c(_bytes_read: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.history.ingest([path], on_progress=press_ctrl_c)
    (file,) = memory.history.files()
    assert file.status is FileStatus.INGESTING
    assert 0 < file.read_to < path.stat().st_size


def take_out_the_middle(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    write(path, b"".join(lines[: len(lines) // 3] + lines[len(lines) // 2 :]))


def put_something_before_it(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    mode = line({"type": "mode", "mode": WORDS * 3})
    write(path, b"".join([lines[0], mode, *lines[1:]]))


def cut_it_short(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    write(path, b"".join(lines[:10]))


def let_it_grow(path: Path) -> None:
    append(path, line({"type": "user", "uuid": "0b1f0a1e-0000-4000-8000-000000000001", "message": {"content": "hi"}}))


def move_it(path: Path) -> None:
    os.rename(path, path.with_name("0b1f0a1e-0000-4000-8000-000000000002.jsonl"))


def leave_it(_path: Path) -> None:
    pass


CHANGES = [leave_it, let_it_grow, put_something_before_it, take_out_the_middle, cut_it_short]


@pytest.mark.parametrize("change", CHANGES)
def test_the_next_import_ends_in_the_rows_of_a_clean_one(
    change: Callable[[Path], None], tmp_path: Path, projects: Path, clock: FrozenClock
) -> None:
    path = long_session().save(projects)
    with (
        recollect.open(tmp_path / "home", clock=clock) as memory,
        recollect.open(tmp_path / "clean", clock=clock) as clean,
    ):
        interrupt_after_first_block(memory, path)
        change(path)

        memory.history.ingest([projects])

        clean.history.ingest([projects])
        assert [message for message in messages_of(memory) if not message["gone"]] == messages_of(clean)
        assert conversations_of(memory) == conversations_of(clean)
        assert [(file.key, file.status) for file in memory.history.files()] == [
            (file.key, FileStatus.IDLE) for file in clean.history.files()
        ]


def test_a_file_moved_in_the_middle_of_its_first_reading_is_the_same_file(
    tmp_path: Path, projects: Path, clock: FrozenClock
) -> None:
    path = long_session().save(projects)
    with recollect.open(tmp_path / "home", clock=clock) as memory:
        interrupt_after_first_block(memory, path)
        move_it(path)

        memory.history.ingest([projects])

        assert [file.status for file in memory.history.files()] == [FileStatus.IDLE]
        assert len(list(memory.history.export())) == 2_000


def test_recovery_finishes_what_was_begun(tmp_path: Path, projects: Path, clock: FrozenClock) -> None:
    path = long_session().save(projects)
    with (
        recollect.open(tmp_path / "home", clock=clock) as memory,
        recollect.open(tmp_path / "clean", clock=clock) as clean,
    ):
        interrupt_after_first_block(memory, path)

        report = memory.history.recover()

        assert (report.files, report.failed) == (1, 0)
        clean.history.ingest([path])
        assert messages_of(memory) == messages_of(clean)
        assert conversations_of(memory) == conversations_of(clean)


def test_a_file_that_vanished_in_the_middle_keeps_what_was_read(
    tmp_path: Path, projects: Path, clock: FrozenClock
) -> None:
    path = long_session().save(projects)
    with recollect.open(tmp_path / "home", clock=clock) as memory:
        interrupt_after_first_block(memory, path)
        before = messages_of(memory)
        path.unlink()

        report = memory.history.recover()

        assert report.failed == 0
        assert messages_of(memory) == before
        assert [file.status for file in memory.history.files()] == [FileStatus.IDLE]
