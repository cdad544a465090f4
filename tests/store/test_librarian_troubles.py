"""When a conversation cannot be read: tried again, set aside, or all of them wait; none is lost, and none blocks."""

from datetime import timedelta
from pathlib import Path

import pytest
from conftest import FrozenClock
from desks import OneRecordDesk, counts, filed, more_is_said, outcomes, queue_of, queued, status_of, statuses, worker_of

import recollect
from recollect.clock import to_text
from recollect.errors import Denied, Unavailable
from recollect.history import Conversation, Status
from recollect.jobs import JobStore, State
from recollect.librarian.working.queueing import KIND
from recollect.librarian.working.work import Outcome
from recollect.librarian.working.worker import YIELD_SECONDS, Worker
from recollect.llm import BadReply, Busy
from recollect.runs.budget import OverBudget
from recollect.testing import NOON


@pytest.fixture
def desk(memory: recollect.Memory) -> OneRecordDesk:
    return OneRecordDesk(memory.settings.house)


@pytest.fixture
def worker(memory: recollect.Memory, desk: OneRecordDesk) -> Worker[str]:
    return worker_of(memory, desk)


def test_a_conversation_that_cannot_be_read_is_tried_again_later_and_then_set_aside(
    memory: recollect.Memory, projects: Path, clock: FrozenClock, worker: Worker[str], desk: OneRecordDesk
) -> None:
    bad, good = queued(memory, projects, 2)
    desk.always[bad] = BadReply("It is no JSON.")

    assert outcomes(worker) == [Outcome.FAILED, Outcome.FILED]
    assert status_of(memory, bad) is Status.QUEUED
    assert outcomes(worker) == [], "it waits"
    clock.move(seconds=30)
    assert outcomes(worker) == [Outcome.FAILED]
    clock.move(seconds=30)
    assert outcomes(worker) == [], "it waits longer"
    clock.move(seconds=30)
    assert outcomes(worker) == [Outcome.ASIDE]

    assert (status_of(memory, bad), counts(memory)) == (Status.SKIPPED, (0, 0, 1))
    assert [(job.target, job.reason) for job in queue_of(memory).state().aside] == [(bad, "It is no JSON.")]
    assert queue_of(memory).aside() == [bad]
    assert filed(memory) == {good: 1}
    clock.move(days=9)
    assert (queue_of(memory).ready().queued, queue_of(memory).recover(), outcomes(worker)) == (0, 0, [])


def test_who_asks_for_all_to_be_done_gets_every_attempt_at_once_with_the_failed_ones_last(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    bad, *good = queued(memory, projects)
    desk.always[bad] = BadReply("It is no JSON.")

    worked = worker.work_until_done()

    assert desk.read_ids == [bad, *good, bad, bad]
    assert (worked.processed, worked.failed, worked.aside) == (2, 3, {bad: "It is no JSON."})


def test_one_that_was_set_aside_starts_again_when_more_is_said(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    (one,) = queued(memory, projects, 1)
    desk.happenings += [BadReply("No.")] * 3
    assert one in worker.work_until_done().aside
    more_is_said(memory, projects)

    assert queue_of(memory).ready().queued == 1

    assert worker.work_until_done().processed == 1
    assert counts(memory) == (0, 0, 0)


def test_an_error_that_nobody_foresaw_is_kept_without_its_words(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    (one,) = queued(memory, projects, 1)
    desk.always[one] = ValueError("my diagnosis is secret")

    worked = worker.work_until_done()

    assert worked.aside[one].startswith("ValueError in desks.py, line ")
    assert "diagnosis" not in str(memory.runs.latest("librarian"))


def test_a_reason_holds_no_credential_and_is_short(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    (one,) = queued(memory, projects, 1)
    credential = "sk-ant-" + "api03-" + "Ab1" * 30
    desk.always[one] = BadReply(f"The server says\n {credential} " + "and so on " * 1_000)

    reason = worker.work_until_done().aside[one]

    assert "Ab1Ab1Ab1" not in reason
    assert len(reason) <= 400
    assert "\n" not in reason


@pytest.mark.parametrize("trouble", [Unavailable("No network."), Denied("The key does not count."), Busy("Slow down.")])
def test_what_is_nobodys_fault_makes_all_wait_and_counts_against_none(
    memory: recollect.Memory, projects: Path, desk: OneRecordDesk, worker: Worker[str], trouble: Exception
) -> None:
    ids = queued(memory, projects)
    desk.happenings += [trouble] * 5

    for _ in range(5):
        worked = worker.work_until_done()
        assert (worked.processed, worked.failed, worked.stopped) == (0, 0, str(trouble))
        assert worked.goes_on_at > to_text(memory.clock())

    with memory.database.read() as session:
        jobs = JobStore(session, memory.settings.house).listed(KIND, State.QUEUED)
    assert {(job.target, job.attempts) for job in jobs} == {(one, 0) for one in ids}
    assert statuses(memory) == {Status.QUEUED}
    assert len(memory.runs.latest("librarian")) == 1, "the same reason is told once"
    assert worker.work_until_done().processed == 3


def test_a_conversation_that_alone_finds_no_answer_is_set_aside(
    memory: recollect.Memory, projects: Path, clock: FrozenClock, desk: OneRecordDesk, worker: Worker[str]
) -> None:
    """A model that never answers one conversation in time would else be asked for ever."""
    ids = queued(memory, projects, 15)
    endless = ids[0]
    desk.always[endless] = Unavailable("No answer in time.")

    while counts(memory)[0]:
        step = worker.step()
        clock.move(seconds=30 if step and step.outcome is Outcome.LATER else 20)

    assert status_of(memory, endless) is Status.SKIPPED
    assert desk.read_ids.count(endless) == 4, "the first try may have been the model's fault: nothing went well before"
    assert filed(memory) == dict.fromkeys(ids[1:], 1)


def test_a_conversation_that_is_alone_waits_as_long_as_nothing_answers(
    memory: recollect.Memory, projects: Path, clock: FrozenClock, desk: OneRecordDesk, worker: Worker[str]
) -> None:
    (one,) = queued(memory, projects, 1)
    desk.happenings += [Unavailable("No network.")] * 20
    tries: list[str] = []
    while not filed(memory):
        if worker.step():
            tries.append(to_text(clock()))
        clock.move(minutes=1)

    assert len(tries) == 21
    assert clock.now > NOON + timedelta(hours=12), "each wait is longer than the one before, up to an hour"
    assert filed(memory) == {one: 1}


def test_a_server_says_itself_when_to_come_again(
    memory: recollect.Memory, projects: Path, clock: FrozenClock, desk: OneRecordDesk, worker: Worker[str]
) -> None:
    queued(memory, projects, 1)
    desk.happenings.append(Busy("Slow down.", 7))
    assert outcomes(worker) == [Outcome.LATER]
    clock.move(seconds=7)
    assert outcomes(worker) == [], "others are taken before it"
    clock.move(seconds=YIELD_SECONDS)
    assert outcomes(worker) == [Outcome.FILED]


def test_at_the_ceiling_the_queue_stops_and_says_when_it_goes_on(
    memory: recollect.Memory, projects: Path, clock: FrozenClock, desk: OneRecordDesk, worker: Worker[str]
) -> None:
    one, other = queued(memory, projects, 2)
    midnight = to_text(clock() + timedelta(hours=12))
    desk.happenings += [None, OverBudget("The ceiling of today is reached.", midnight)]

    worked = worker.work_until_done()

    assert (worked.processed, worked.failed, worked.goes_on_at) == (1, 0, midnight)
    assert worked.stopped == "The ceiling of today is reached."
    assert queue_of(memory).state().next_due_at[:16] == midnight[:16]
    with memory.database.read() as session:
        job = JobStore(session, memory.settings.house).get(KIND, other)
    assert job
    assert (job.attempts, job.reason) == (0, worked.stopped)
    clock.move(hours=12)
    assert outcomes(worker) == []
    clock.move(seconds=YIELD_SECONDS)
    assert outcomes(worker) == [Outcome.FILED]
    assert filed(memory) == {one: 1, other: 1}


def test_an_interruption_hands_the_conversation_back(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    (one,) = queued(memory, projects, 1)

    def interrupt(_: Conversation) -> None:
        raise KeyboardInterrupt

    desk.happenings.append(interrupt)
    with pytest.raises(KeyboardInterrupt):
        worker.work_until_done()

    assert (status_of(memory, one), counts(memory), desk.closed) == (Status.QUEUED, (1, 0, 0), 1)
    with memory.database.read() as session:
        job = JobStore(session, memory.settings.house).get(KIND, one)
    assert job
    assert job.attempts == 0
    assert worker.work_until_done().processed == 1


def test_what_is_let_go_of_is_not_filed_and_can_be_taken_at_once(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    (one,) = queued(memory, projects, 1)
    desk.happenings.append(lambda _: worker.let_go())

    step = worker.step()

    assert step
    assert step.outcome is Outcome.LOST
    assert (filed(memory), status_of(memory, one), counts(memory)) == ({}, Status.QUEUED, (1, 0, 0))
    assert outcomes(worker) == [Outcome.FILED]
    worker.let_go()
    assert status_of(memory, one) is Status.ARCHIVED
