"""A reader that dies in the middle of a file with many conversations: whoever comes next ends where it would have.

The interruption is a Ctrl-C between two conversations, which leaves what a kill there leaves, or a process that ends
without a word at one of its commits.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import OpenHouse
from exports import SERVICES, Record, Service, document, export_file, export_zip, telegram
from snapshots import contents_of, conversations_of, messages_of
from transcripts import write

import recollect
from recollect.history.store import CONTAINER, FileStatus

DIE_AT_A_COMMIT = """
import os, sys
import apsw, psycopg, recollect
from recollect.history import reading

reading.BLOCK_BYTES = 2_000  # Several transactions for each conversation.
home, address, path, left, reimport = *sys.argv[1:4], int(sys.argv[4]), sys.argv[5] == "again"

def count_down():
    global left
    left -= 1
    if not left:
        os._exit(9)
    return False

leave = psycopg.Transaction.__exit__

def leave_or_die(transaction, *error):
    if transaction.connection.execute("SELECT pg_current_xact_id_if_assigned()").fetchone()[0]:
        count_down()  # Something was written.
    return leave(transaction, *error)

psycopg.Transaction.__exit__ = leave_or_die
apsw.connection_hooks.append(lambda connection: connection.set_commit_hook(count_down))
with recollect.open(home=home, database=address) as memory:
    memory.history.ingest([path], reimport=reimport)
"""


def die_at_a_commit(home: Path, engine: str, path: Path, number: int, *, reimport: bool = False) -> None:
    how = "again" if reimport else "once"
    command = [sys.executable, "-c", DIE_AT_A_COMMIT, str(home), engine, str(path), str(number), how]
    assert subprocess.run(command).returncode == 9


def clean(open_house: OpenHouse, *paths: Path) -> dict[str, Any]:
    memory = open_house()
    assert memory.history.ingest(paths).failed == 0
    return contents_of(memory)


def several(service: Service, messages: int = 4) -> list[Record]:
    return [service.conversation(f"subject {number}", messages, number * 100) for number in range(8)]


@pytest.fixture(params=SERVICES, ids=lambda service: service.name)
def service(request: pytest.FixtureRequest) -> Service:
    return request.param


@pytest.fixture(params=["document", "archive"])
def save(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[bytes], Path]:
    def make(raw: bytes) -> Path:
        if request.param == "document":
            return export_file(tmp_path / "Downloads", raw)
        return export_zip(tmp_path / "Downloads" / "export.zip", raw[: raw.rindex(b", {")] + b"]", raw)

    return make


def interrupt(memory: recollect.Memory, path: Path, after: int) -> None:
    """Ctrl-C when the reader has come forward this many times."""
    left = after

    def press_ctrl_c(_bytes_read: int) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.history.ingest([path], on_progress=press_ctrl_c)


def states(memory: recollect.Memory) -> set[str]:
    return {str(file.status) for file in memory.history.files()}


@pytest.mark.parametrize("after", [1, 2])
def test_the_next_import_ends_in_the_rows_of_a_clean_one(
    memory: recollect.Memory, open_house: OpenHouse, service: Service, tmp_path: Path, after: int
) -> None:
    told = [*several(service), {"padding": "x" * 3_000_000}, *several(service, messages=6)]
    path = export_file(tmp_path / "Downloads", document(*told))
    interrupt(memory, path, after)
    assert [file.status for file in memory.history.files() if file.kind == CONTAINER] == [FileStatus.INGESTING]
    assert 0 < len(messages_of(memory)) < 48

    report = memory.history.ingest([path])

    assert report.failed == 0
    assert contents_of(memory) == clean(open_house, path)
    assert states(memory) == {FileStatus.IDLE}
    assert memory.history.ingest([path]).skipped == 1


def test_recovery_finishes_what_was_begun(
    memory: recollect.Memory, open_house: OpenHouse, service: Service, save: Callable[[bytes], Path]
) -> None:
    path = save(document(*several(service)))
    interrupt(memory, path, 1)

    report = memory.history.recover()

    assert (report.files, report.failed) == (1, 0)
    assert contents_of(memory) == clean(open_house, path)
    assert states(memory) == {FileStatus.IDLE}


def test_an_export_that_is_replaced_before_the_next_import(
    memory: recollect.Memory, open_house: OpenHouse, service: Service, save: Callable[[bytes], Path]
) -> None:
    path = save(document(*several(service)))
    interrupt(memory, path, 1)
    save(document(*several(service, messages=7)))

    assert memory.history.ingest([path]).failed == 0

    assert contents_of(memory) == clean(open_house, path)
    assert states(memory) == {FileStatus.IDLE}


def test_an_export_that_vanished_keeps_what_was_read(
    memory: recollect.Memory, service: Service, save: Callable[[bytes], Path]
) -> None:
    path = save(document(*several(service)))
    interrupt(memory, path, 1)
    before = contents_of(memory)
    path.unlink()

    report = memory.history.recover()

    assert report.failed == 0
    assert contents_of(memory) == before
    assert states(memory) == {FileStatus.IDLE}


@pytest.mark.parametrize("number", [1, 3, 6, 13, 24])
def test_a_reader_that_died_in_a_conversation_leaves_nothing_torn(
    memory: recollect.Memory,
    open_house: OpenHouse,
    home: Path,
    engine: str,
    save: Callable[[bytes], Path],
    number: int,
) -> None:
    path = save(document(*several(SERVICES[0], messages=20)))
    die_at_a_commit(home, engine, path, number)

    assert memory.history.ingest([path]).failed == 0

    assert contents_of(memory) == clean(open_house, path)
    assert states(memory) == {FileStatus.IDLE}


@pytest.mark.parametrize("number", [8, 21])
def test_a_conversation_whose_reader_died_is_finished_from_another_export(
    memory: recollect.Memory, open_house: OpenHouse, home: Path, engine: str, tmp_path: Path, number: int
) -> None:
    told = several(SERVICES[0], messages=20)
    first = export_file(tmp_path / "one", document(*told))
    die_at_a_commit(home, engine, first, number)
    first.unlink()
    second = export_zip(tmp_path / "two.zip", document(*told))

    assert memory.history.ingest([second]).failed == 0
    memory.history.recover()

    assert contents_of(memory) == clean(open_house, second)
    assert states(memory) == {FileStatus.IDLE}


def test_reading_again_that_was_interrupted_is_done_again(
    memory: recollect.Memory, service: Service, save: Callable[[bytes], Path]
) -> None:
    path = save(document(*several(service)))
    memory.history.ingest([path])
    before = contents_of(memory)
    calls = iter(range(1))

    def press_ctrl_c(_bytes_read: int) -> None:
        if next(calls, None) is not None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.history.ingest([path], reimport=True, on_progress=press_ctrl_c)
    report = memory.history.ingest([path])

    assert (report.failed, report.messages_added) == (0, 0)
    assert contents_of(memory) == before
    assert states(memory) == {FileStatus.IDLE}


@pytest.mark.parametrize("is_gone", [False, True], ids=["from the file", "from the vault"])
@pytest.mark.parametrize("number", [4, 9, 14])
def test_a_reader_that_died_while_it_read_an_export_again_leaves_nothing_torn(
    memory: recollect.Memory, home: Path, engine: str, tmp_path: Path, number: int, is_gone: bool
) -> None:
    path = export_zip(tmp_path / "export.zip", document(*several(SERVICES[0], messages=20)))
    memory.history.ingest([path])
    before = contents_of(memory)
    if is_gone:
        path.unlink()
    die_at_a_commit(home, engine, path, number, reimport=True)

    assert memory.history.recover().failed == 0

    assert contents_of(memory) == before
    assert states(memory) == {FileStatus.IDLE}


@pytest.mark.parametrize("number", [2, 3, 5, 7])
def test_a_reader_that_died_while_it_put_a_stretch_into_a_chat_loses_nothing_of_the_chat(
    memory: recollect.Memory, open_house: OpenHouse, home: Path, engine: str, tmp_path: Path, number: int
) -> None:
    whole = write(tmp_path / "whole" / "result.json", telegram(range(1, 61)))
    edited = telegram(range(4, 7), lambda number: f"Message {number}, edited")
    stretch = write(tmp_path / "stretch" / "result.json", edited)
    memory.history.ingest([whole])
    die_at_a_commit(home, engine, stretch, number)

    assert memory.history.ingest([stretch]).failed == 0

    other = open_house()
    other.history.ingest([whole])
    other.history.ingest([stretch])
    assert messages_of(memory) == messages_of(other)
    assert conversations_of(memory) == conversations_of(other)
    assert not any(message["gone"] for message in messages_of(memory))
    assert states(memory) == {FileStatus.IDLE}
