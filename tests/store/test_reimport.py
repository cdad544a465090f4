"""Reading again, from the file or from the vault, names everything the same and redoes no finished work."""

from datetime import timedelta
from pathlib import Path

import pytest
from conftest import OpenHouse
from snapshots import messages_of, snapshot_of
from transcripts import START, Transcript, line, prompt_log, subagent, write

import recollect
from recollect import NotFound
from recollect.history import Status


def garden(projects: Path) -> Transcript:
    """A folder with most of what can be there."""
    told = Transcript("garden", start=START - timedelta(hours=6)).exchanges(3)
    reply = told.assistant("First half.")
    told.queue("enqueue", "Typed ahead")
    told.queue("remove")
    told.assistant("Second half.", message_id=reply)
    agent = subagent(told, "a1b2c3")
    agent.user("Look up beans")
    agent.assistant("Found.")
    fork = told.fork("fork")
    fork.exchanges(1, "peas")
    told.custom_title("The garden")
    told.wait(hours=3).exchanges(3, "weeds")
    for one in (told, agent, fork):
        one.save(projects)
    write(projects.parent / "history.jsonl", prompt_log((told.session_id, "Question 0 about beans?", told.now)))
    return told


def archive_all(memory: recollect.Memory) -> None:
    for listed in memory.history.conversations():
        assert memory.history.queue(listed.conversation) in (Status.QUEUED, Status.SKIPPED)
    while conversation := memory.history.claim():
        assert memory.history.archive(conversation) is Status.ARCHIVED


def statuses(memory: recollect.Memory) -> dict[str, str]:
    return {listed.conversation.id: listed.conversation.status for listed in memory.history.conversations()}


def test_reading_the_files_again_changes_nothing(memory: recollect.Memory, projects: Path) -> None:
    garden(projects)
    memory.history.ingest([projects.parent])
    before = snapshot_of(memory)

    report = memory.history.ingest([projects.parent], reimport=True)

    assert report.messages_added == 0
    assert report.bytes_read > 0
    assert snapshot_of(memory) == before


def test_reading_the_vault_again_changes_nothing(memory: recollect.Memory, projects: Path) -> None:
    garden(projects)
    memory.history.ingest([projects.parent])
    before = snapshot_of(memory)
    for path in projects.parent.rglob("*.jsonl"):
        path.unlink()

    report = memory.history.ingest([projects.parent], reimport=True)

    assert (report.files, report.messages_added) == (4, 0)
    assert snapshot_of(memory) == before


def test_a_file_read_again_from_the_vault_can_come_back(memory: recollect.Memory, projects: Path) -> None:
    told = garden(projects)
    memory.history.ingest([projects.parent])
    path = projects / told.key
    path.unlink()
    memory.history.ingest([path], reimport=True)
    before = snapshot_of(memory)

    told.save(projects)
    report = memory.history.ingest([projects.parent])

    assert (report.bytes_read, report.messages_added) == (0, 0)
    assert snapshot_of(memory) == before


def test_finished_work_stays_finished_when_nothing_changed(memory: recollect.Memory, projects: Path) -> None:
    told = garden(projects)
    memory.history.ingest([projects.parent])
    archive_all(memory)
    before = statuses(memory)
    assert set(before.values()) == {Status.ARCHIVED, Status.SKIPPED}

    memory.history.ingest([projects.parent], reimport=True)
    assert statuses(memory) == before

    (projects / told.key).unlink()
    memory.history.ingest([projects.parent], reimport=True)
    assert statuses(memory) == before


def test_finished_work_stays_finished_when_the_original_of_a_copy_turns_up(
    memory: recollect.Memory, projects: Path
) -> None:
    told = Transcript("original").exchanges(3)
    copy = told.fork("copy")
    memory.history.ingest([copy.save(projects)])
    archive_all(memory)
    before = statuses(memory)

    memory.history.ingest([told.save(projects)])

    assert statuses(memory) == before


def test_work_on_a_conversation_that_lost_lines_is_done_again(memory: recollect.Memory, projects: Path) -> None:
    told = Transcript("beans").exchanges(4)
    path = told.save(projects)
    memory.history.ingest([path])
    archive_all(memory)
    write(path, b"".join(line(record) for record in told.records[:6]))

    memory.history.ingest([path])

    assert list(statuses(memory).values()) == [Status.READY]


def test_a_rewritten_file_read_again_keeps_what_is_gone(memory: recollect.Memory, projects: Path) -> None:
    told = Transcript("beans").exchanges(4)
    path = told.save(projects)
    memory.history.ingest([path])
    lines = [line(record) for record in told.records]
    write(path, b"".join(lines[:2] + lines[4:]))
    memory.history.ingest([path])
    before = snapshot_of(memory)
    assert sum(message["gone"] for message in messages_of(memory)) == 2

    memory.history.ingest([path], reimport=True)
    assert snapshot_of(memory) == before

    path.unlink()
    memory.history.ingest([path], reimport=True)
    assert snapshot_of(memory) == before


def test_a_moved_file_read_again_is_still_one_file(
    memory: recollect.Memory, open_house: OpenHouse, projects: Path
) -> None:
    told = Transcript("beans").exchanges(3)
    path = told.save(projects)
    memory.history.ingest([projects])
    moved = projects / "-elsewhere" / path.name
    moved.parent.mkdir()
    path.rename(moved)
    memory.history.ingest([projects])

    memory.history.ingest([projects], reimport=True)

    clean = open_house()
    clean.history.ingest([projects])
    assert len(memory.history.files()) == 1
    assert [item["text"] for item in messages_of(memory)] == [item["text"] for item in messages_of(clean)]
    assert memory.history.figures().vault[0] == clean.history.figures().vault[0]


def test_a_path_that_never_was_is_not_found(memory: recollect.Memory, tmp_path: Path) -> None:
    for reimport in (False, True):
        with pytest.raises(NotFound, match="does not exist"):
            memory.history.ingest([tmp_path / "nowhere"], reimport=reimport)
