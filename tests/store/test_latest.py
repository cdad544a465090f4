"""What was said last, whatever conversation it was said in: the same as if all messages were put in order."""

from datetime import timedelta
from pathlib import Path

import pytest
from transcripts import START, Transcript

import recollect
from recollect.history import History, Message, Standing, Status
from recollect.testing import FrozenClock

DAYS_BACK = (0, 0.01, 0.02, 3, 3.001, 40, 400, 2_000)


@pytest.fixture
def talks(memory: recollect.Memory, projects: Path) -> recollect.Memory:
    """Conversations of today and of long ago; two of them side by side."""
    for number, days in enumerate(DAYS_BACK):
        talk = Transcript(f"talk {number}", start=START - timedelta(days=days), step_seconds=50 + number)
        talk.exchanges(3 + number % 3, f"bed {number}").save(projects)
    memory.history.ingest([projects])
    return memory


def in_order(history: History) -> list[Message]:
    said = [one for one in history.export() if one.standing is Standing.SAID and not one.gone]
    return sorted(said, key=lambda one: (one.at, one.conversation_id or "", one.start_byte, one.id))


@pytest.mark.parametrize("limit", [1, 7, 20, 1_000])
def test_the_last_are_those_that_come_last_in_time(talks: recollect.Memory, limit: int) -> None:
    everything = in_order(talks.history)
    assert [one.id for one in talks.history.latest(limit)] == [one.id for one in everything[-limit:]]
    users = [one.id for one in everything if one.author == "user"]
    assert [one.id for one in talks.history.latest(limit, author="user")] == users[-limit:]


@pytest.mark.parametrize("place", [-1, -5, -20, 0])
def test_only_what_was_said_later_than_a_time(talks: recollect.Memory, place: int) -> None:
    everything = in_order(talks.history)
    after = everything[place].at
    assert [one.id for one in talks.history.latest(1_000, after=after)] == [
        one.id for one in everything if one.at > after
    ]


def test_an_agent_is_told_only_what_it_may_see(talks: recollect.Memory) -> None:
    talks.agents.add("ada")
    talks.agents.add("bert")
    latest = talks.history.latest(1)[0]
    key = talks.history.file_keys([latest])[latest.file_id]
    talks.agents.bind("bert", "claude-code", key)
    ada = talks.as_agent("ada").history
    assert [one.id for one in ada.latest(9)] == [one.id for one in in_order(ada)[-9:]]
    assert latest.id not in [one.id for one in ada.latest(1_000)]
    assert ada.waiting(100)[Status.READY] == len(DAYS_BACK) - 1


def test_what_waits_is_counted_up_to_a_limit(talks: recollect.Memory, clock: FrozenClock) -> None:
    assert talks.history.waiting(100) == {Status.READY: len(DAYS_BACK), Status.QUEUED: 0, Status.PROCESSING: 0}
    assert talks.history.waiting(3)[Status.READY] == 3
    longest = next(one.conversation for one in talks.history.conversations() if one.conversation.messages >= 5)
    talks.history.queue(longest)
    talks.history.claim()
    assert talks.history.waiting(100) == {Status.READY: len(DAYS_BACK) - 1, Status.QUEUED: 0, Status.PROCESSING: 1}
    clock.now = START
    assert talks.history.waiting(100)[Status.READY] == len(DAYS_BACK) - 3  # Those of today go on.
