"""The doctor, whatever the database is and wherever it stands."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from exports import chatgpt, document, export_file
from transcripts import write

import recollect
from recollect.doctor import examine
from recollect.lock import HomeLock

OpenHouse = Callable[..., recollect.Memory]


def test_a_home_that_is_not_made_yet_is_no_failure(engine: str, tmp_path: Path) -> None:
    with recollect.open(home=tmp_path / "not" / "made", database=engine) as memory:
        findings = examine(memory)

    assert [finding for finding in findings if finding.level == "failure"] == []
    assert any(finding.check == "disk" for finding in findings)


@pytest.mark.parametrize("name", ["started_at", "last_scan_at", "notes_looked_at"])
@pytest.mark.parametrize("time", ["yesterday", "2026-13-40T00:00:00.000Z", "2026-01-01T00:00:00"])
def test_a_status_with_a_time_that_is_none_tells_nothing(memory: recollect.Memory, name: str, time: str) -> None:
    now = "2026-03-02T10:00:00.000Z"
    told: dict[str, object] = {"pid": 1, "started_at": now, "roots": [], "last_scan_at": now, name: time}
    lock = HomeLock(memory.settings.runtime)
    lock.acquire()
    write(memory.settings.runtime / "status.json", json.dumps(told).encode())

    (daemon,) = [finding for finding in examine(memory) if finding.check == "daemon"]

    assert daemon.message == "Running, in its first pass"
    lock.release()


def files_of(memory: recollect.Memory) -> tuple[str, str]:
    """(message, next step)"""
    (found,) = [finding for finding in examine(memory) if finding.check == "files"]
    return found.message, found.next_step


def test_a_file_named_by_mistake_leaves_nothing_to_mend(memory: recollect.Memory, tmp_path: Path) -> None:
    mistyped = write(tmp_path / "passwd", b"root:x:0:0:root:/root:/bin/bash\n")
    report = memory.history.ingest([mistyped])
    assert (report.failed, len(report.problems)) == (1, 1)
    assert files_of(memory) == ("0 known, none failed", "")


def test_a_file_that_turned_into_something_else_is_still_a_failure_when_it_is_named(
    memory: recollect.Memory, projects: Path
) -> None:
    export = export_file(projects, document(chatgpt("beans")))
    memory.history.ingest([export])
    write(export, bytes(range(256)) * 40)
    assert memory.history.ingest([export]).failed == 1
    message, next_step = files_of(memory)
    assert message.startswith("1 could not be read")
    assert "forget" not in next_step  # What was read from it would go too.


def test_a_file_in_a_watched_folder_that_is_no_transcript_is_let_go_as_the_doctor_says(
    open_house: OpenHouse, projects: Path
) -> None:
    memory = open_house(watch_paths=[str(projects)])
    photo = write(projects / "my photos" / "one.jsonl", bytes(range(256)) * 40)
    memory.history.scan([projects])
    _, next_step = files_of(memory)
    first, _, command = next_step.partition("`recollect forget --file ")
    assert first.endswith("name it in a .recollectignore beside it, and run ")
    write(photo.parent / ".recollectignore", photo.name.encode())
    (path,) = shlex.split(command.removesuffix("`."))
    memory.forgetting.forget(file=path)
    assert memory.history.scan([projects]).failed == 0
    assert files_of(memory) == ("0 known, none failed", "")


def test_a_file_elsewhere_that_is_no_transcript_is_let_go_by_one_command(
    memory: recollect.Memory, projects: Path
) -> None:
    write(projects / "one.jsonl", bytes(range(256)) * 40)
    memory.history.ingest([projects])
    _, next_step = files_of(memory)
    assert next_step.endswith(f" If it is no transcript, run `recollect forget --file {projects / 'one.jsonl'}`.")
    memory.forgetting.forget(file=str(projects / "one.jsonl"))
    assert files_of(memory) == ("0 known, none failed", "")
