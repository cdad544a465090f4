"""active → ready → queued → processing → archived | skipped, and back when more is said."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import FrozenClock, OpenHouse
from transcripts import Transcript, append, line

import recollect
from recollect import Conflict
from recollect.history import Conversation, Status
from recollect.librarian.working.queueing import Queue

CLAIM_AND_DIE = """
import os, sys, recollect
memory = recollect.open(home=sys.argv[1], database=sys.argv[2])
assert memory.history.claim() is not None
os._exit(9)
"""


def the_one(memory: recollect.Memory) -> Conversation:
    (listed,) = memory.history.conversations()
    return listed.conversation


def archived(memory: recollect.Memory) -> Conversation:
    memory.history.queue(the_one(memory))
    conversation = memory.history.claim()
    assert conversation is not None
    assert memory.history.archive(conversation) is Status.ARCHIVED
    return conversation


@pytest.fixture
def told(clock: FrozenClock) -> Transcript:
    return Transcript("beans", start=clock.now).exchanges(3)


def test_a_conversation_becomes_ready_by_the_clock_alone(
    memory: recollect.Memory, clock: FrozenClock, told: Transcript, projects: Path
) -> None:
    memory.history.ingest([told.save(projects)])
    assert the_one(memory).status is Status.ACTIVE

    clock.move(minutes=61)
    assert the_one(memory).status is Status.ACTIVE, "the last message is 100 seconds younger than the first"
    clock.move(minutes=1)

    assert the_one(memory).status is Status.READY
    assert memory.history.conversation(the_one(memory).id).conversation.status is Status.READY
    assert [item.conversation.status for item in memory.history.conversations(status="ready")] == [Status.READY]
    assert memory.history.conversations(status="active") == []
    assert memory.history.figures().by_status == {"ready": 1}
    assert memory.sql("SELECT status FROM conversations")[1] == [("ready",)]


def test_a_conversation_goes_through_its_life(
    memory: recollect.Memory, clock: FrozenClock, told: Transcript, projects: Path
) -> None:
    memory.history.ingest([told.save(projects)])
    clock.move(hours=2)

    assert memory.history.claim() is None
    assert memory.history.queue(the_one(memory)) is Status.QUEUED
    assert the_one(memory).status is Status.QUEUED
    claimed = memory.history.claim()
    assert claimed is not None
    assert claimed.status is the_one(memory).status is Status.PROCESSING
    assert memory.history.claim() is None
    assert memory.history.archive(claimed) is Status.ARCHIVED
    assert the_one(memory).status is Status.ARCHIVED


def test_only_a_ready_conversation_can_be_queued(
    memory: recollect.Memory, clock: FrozenClock, told: Transcript, projects: Path
) -> None:
    memory.history.ingest([told.save(projects)])
    with pytest.raises(Conflict, match="is active"):
        memory.history.queue(the_one(memory))

    clock.move(hours=2)
    stale = the_one(memory)
    archived(memory)

    with pytest.raises(Conflict, match="is archived"):
        memory.history.queue(stale)


def test_the_longest_finished_is_worked_on_first(memory: recollect.Memory, clock: FrozenClock, projects: Path) -> None:
    for name, hours in {"b": 2, "a": 1, "c": 3}.items():
        Transcript(name, start=clock.now).wait(hours=hours).exchanges(3).save(projects)
    memory.history.ingest([projects])
    clock.move(hours=9)
    for listed in memory.history.conversations():
        memory.history.queue(listed.conversation)

    claimed = [memory.history.claim() for _ in range(3)]

    sessions = [conversation.session_id for conversation in claimed if conversation]
    assert sessions == [Transcript(name).session_id for name in "abc"]


@pytest.mark.parametrize(("messages", "status"), [(4, Status.SKIPPED), (5, Status.QUEUED)])
def test_a_conversation_that_is_too_short_is_skipped_when_it_would_be_queued(
    memory: recollect.Memory, clock: FrozenClock, projects: Path, messages: int, status: Status
) -> None:
    told = Transcript("short", start=clock.now).exchanges(3)
    told.records = told.records[:messages]
    memory.history.ingest([told.save(projects)])
    clock.move(hours=2)

    assert the_one(memory).status is Status.READY
    assert memory.history.queue(the_one(memory)) is status
    assert the_one(memory).status is status


def test_how_short_is_too_short_and_how_long_a_silence_is_are_settings(
    open_house: OpenHouse, clock: FrozenClock, projects: Path
) -> None:
    told = Transcript("beans", start=clock.now).exchanges(1).wait(minutes=11).exchanges(1)
    path = told.save(projects)
    memory = open_house(min_conversation_messages=2, conversation_gap_minutes=10)
    memory.history.ingest([path])
    clock.move(minutes=24)

    listed = memory.history.conversations()

    assert [item.conversation.messages for item in listed] == [2, 2]
    assert {memory.history.queue(item.conversation) for item in listed} == {Status.QUEUED}


@pytest.mark.parametrize("short", [True, False])
def test_a_finished_conversation_that_gains_messages_starts_again(
    memory: recollect.Memory, clock: FrozenClock, projects: Path, short: bool
) -> None:
    told = Transcript("beans", start=clock.now).exchanges(1 if short else 3)
    path = told.save(projects)
    memory.history.ingest([path])
    clock.move(hours=2)
    if short:
        assert memory.history.queue(the_one(memory)) is Status.SKIPPED
    else:
        archived(memory)

    told.wait(minutes=50).exchanges(2)
    told.save(projects)
    memory.history.ingest([path])

    assert the_one(memory).status is Status.READY
    assert memory.history.queue(the_one(memory)) in (Status.QUEUED, Status.SKIPPED)


def test_words_after_a_long_silence_leave_the_finished_conversation_alone(
    memory: recollect.Memory, clock: FrozenClock, told: Transcript, projects: Path
) -> None:
    path = told.save(projects)
    memory.history.ingest([path])
    clock.move(hours=2)
    archived(memory)
    told.wait(hours=2).exchanges(1)
    append(path, b"".join(line(record) for record in told.records[-2:]))

    memory.history.ingest([path])

    later, earlier = memory.history.conversations()
    assert (earlier.conversation.status, later.conversation.status) == (Status.ARCHIVED, Status.ACTIVE)


def test_a_conversation_that_gained_messages_while_it_was_worked_on_is_not_archived(
    memory: recollect.Memory, clock: FrozenClock, told: Transcript, projects: Path
) -> None:
    path = told.save(projects)
    memory.history.ingest([path])
    clock.move(hours=2)
    memory.history.queue(the_one(memory))
    claimed = memory.history.claim()
    told.exchanges(1)
    told.save(projects)
    memory.history.ingest([path])

    assert claimed is not None
    assert memory.history.archive(claimed) is Status.ACTIVE
    assert the_one(memory).status is Status.READY


def test_a_reply_completed_while_it_was_worked_on_is_not_archived(
    memory: recollect.Memory, clock: FrozenClock, told: Transcript, projects: Path
) -> None:
    reply = told.assistant("One half of a reply,")
    path = told.save(projects)
    memory.history.ingest([path])
    clock.move(hours=2)
    memory.history.queue(the_one(memory))
    claimed = memory.history.claim()
    told.assistant("and the other half.", message_id=reply)
    told.save(projects)
    memory.history.ingest([path])

    assert claimed is not None
    assert memory.history.archive(claimed) is not Status.ARCHIVED
    assert the_one(memory).status is Status.READY


def test_work_that_died_is_queued_again(
    memory: recollect.Memory, clock: FrozenClock, told: Transcript, projects: Path, home: Path, engine: str
) -> None:
    memory.history.ingest([told.save(projects)])
    clock.move(hours=2)
    memory.history.queue(the_one(memory))
    died = subprocess.run([sys.executable, "-c", CLAIM_AND_DIE, str(home), engine])
    assert died.returncode == 9
    assert the_one(memory).status is Status.PROCESSING

    Queue(memory.database, memory.settings, clock).recover()

    assert the_one(memory).status is Status.QUEUED
    assert memory.history.claim() is not None


def test_a_conversation_is_claimed_by_one_worker_only(
    memory: recollect.Memory, clock: FrozenClock, projects: Path, home: Path, engine: str
) -> None:
    for index in range(6):
        Transcript(f"t{index}", start=clock.now).exchanges(3).save(projects)
    memory.history.ingest([projects])
    clock.move(hours=2)
    for listed in memory.history.conversations():
        memory.history.queue(listed.conversation)
    work = (
        "import sys, recollect\n"
        "memory = recollect.open(home=sys.argv[1], database=sys.argv[2])\n"
        "while conversation := memory.history.claim(): print(conversation.id)\n"
        "memory.close()\n"
    )
    command = [sys.executable, "-c", work, str(home), engine]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    claimed = [name for worker in workers for name in worker.communicate()[0].split()]

    assert sorted(claimed) == sorted(listed.conversation.id for listed in memory.history.conversations())
