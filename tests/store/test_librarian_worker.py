"""The worker: each conversation is filed once, whatever happens meanwhile, and one that is bad stops no other."""

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from commands import wait_for
from conftest import FrozenClock, OpenHouse
from desks import OneRecordDesk, filed, queue_of, tell, worker_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transcripts import Transcript

import recollect
from recollect.clock import to_text
from recollect.errors import Denied, Unavailable
from recollect.history import Conversation, Status
from recollect.jobs import JobStore, Presence, State
from recollect.librarian.queueing import KIND, queues_by_itself
from recollect.librarian.work import Outcome, Step
from recollect.librarian.worker import MOST_DEATHS, YIELD_SECONDS, Worker
from recollect.llm import BadReply, Busy, Usage
from recollect.runs.budget import OverBudget
from recollect.settings import LibrarianSettings
from recollect.testing import NOON


@pytest.fixture
def desk(memory: recollect.Memory) -> OneRecordDesk:
    return OneRecordDesk(memory.settings.house)


@pytest.fixture
def worker(memory: recollect.Memory, desk: OneRecordDesk) -> Worker[str]:
    return worker_of(memory, desk)


def queued(memory: recollect.Memory, projects: Path, number: int = 3) -> list[str]:
    """So many conversations, told and queued; their ids in the order in which they are taken."""
    ids = tell(memory, projects, number)
    assert queue_of(memory).ready().queued == number
    return ids


def status_of(memory: recollect.Memory, conversation_id: str) -> Status:
    return memory.history.conversation(conversation_id).conversation.status


def statuses(memory: recollect.Memory) -> set[Status]:
    return {listed.conversation.status for listed in memory.history.conversations(limit=1_000)}


def counts(memory: recollect.Memory) -> tuple[int, int, int]:
    found = queue_of(memory).state().counts
    return found.queued, found.held, found.aside


def outcomes(worker: Worker[str]) -> list[Outcome]:
    """Of all that is due."""
    steps: list[Step] = []
    while step := worker.step():
        steps.append(step)
    return [step.outcome for step in steps]


def more_is_said(memory: recollect.Memory, projects: Path, number: int = 0) -> None:
    """In the conversation with this number, a minute after its end."""
    told = Transcript(f"talk {number}").wait(hours=-1000 + number).exchanges(3).wait(minutes=1).exchanges(1)
    memory.history.ingest([told.save(projects)])


# Queueing


def test_what_has_ended_is_queued_and_what_is_too_short_is_skipped(memory: recollect.Memory, projects: Path) -> None:
    ids = tell(memory, projects, 3)
    Transcript("short").wait(hours=-2000).exchanges(1).save(projects)
    Transcript("open", start=memory.clock()).exchanges(3).save(projects)
    memory.history.ingest([projects])

    result = queue_of(memory).ready()

    assert (result.queued, result.already, result.skipped, result.refused) == (3, 0, 1, {})
    by_status = memory.history.figures().by_status
    assert by_status == {"active": 1, "queued": 3, "skipped": 1}
    with memory.database.read() as session:
        jobs = JobStore(session, memory.settings.house).listed(KIND, State.QUEUED)
    assert [job.target for job in jobs] == ids, "the one that ended first is read first"
    assert queue_of(memory).ready() == type(result)()


def test_more_than_one_batch_is_queued(
    memory: recollect.Memory, projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.librarian.queueing.BATCH", 2)
    tell(memory, projects, 5)
    assert queue_of(memory).ready().queued == 5
    assert counts(memory) == (5, 0, 0)


def test_what_somebody_asks_for_is_queued_again_whatever_became_of_it(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    done, bad, waiting = queued(memory, projects)
    desk.always[bad] = BadReply("It is no JSON.")
    assert len(worker.work_until_done(only=[done, bad]).aside) == 1
    Transcript("short").wait(hours=-2000).exchanges(1).save(projects)
    Transcript("open", start=memory.clock()).exchanges(3).save(projects)
    memory.history.ingest([projects])
    queue_of(memory).ready()
    named = {listed.conversation.session_id: listed.conversation.id for listed in memory.history.conversations()}
    short, still_open = (named[Transcript(name).session_id] for name in ("short", "open"))

    result = queue_of(memory).these([done, bad, waiting, short, still_open, "nobody", done])

    assert (result.queued, result.already, result.skipped) == (3, 1, 0)
    assert set(result.refused) == {still_open, "nobody"}
    assert {status_of(memory, one) for one in (done, bad, waiting, short)} == {Status.QUEUED}
    desk.always.clear()
    assert worker.work_until_done().processed == 4
    assert filed(memory) == {done: 2, bad: 1, waiting: 1, short: 1}


def test_one_that_is_being_read_is_not_queued_beside_that(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    (one,) = queued(memory, projects, 1)
    results: list[int] = []
    desk.happenings.append(lambda _: results.append(queue_of(memory).these([one]).already))

    assert outcomes(worker) == [Outcome.FILED]

    assert results == [1]
    assert filed(memory) == {one: 1}


@pytest.mark.parametrize(
    ("model", "is_paid", "ceilings", "expected"),
    [
        ("rules", False, {}, True),
        ("none", False, {"tokens_per_day": 9}, False),
        ("anthropic:a", True, {}, False),
        ("anthropic:a", True, {"tokens_per_day": 9}, True),
        ("anthropic:a", True, {"dollars_per_day": 0.5}, True),
        ("http://127.0.0.1:1/v1#a", False, {}, True),
    ],
)
def test_a_paid_model_is_asked_by_the_daemon_only_under_a_ceiling(
    model: str, is_paid: bool, ceilings: dict[str, float], expected: bool
) -> None:
    settings_ = LibrarianSettings(model=model, **ceilings)  # type: ignore[arg-type]
    assert queues_by_itself(settings_, is_paid=is_paid) is expected


# Reading and filing


def test_all_that_is_queued_is_filed_once_and_the_oldest_first(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    ids = queued(memory, projects)
    told: list[Step] = []

    worked = worker.work_until_done(told.append)

    assert (worked.processed, worked.failed, worked.kept, worked.dropped, worked.stopped) == (3, 0, 3, 6, "")
    assert desk.read_ids == [step.conversation_id for step in told] == ids
    assert filed(memory) == dict.fromkeys(ids, 1)
    assert statuses(memory) == {Status.ARCHIVED}
    assert counts(memory) == (0, 0, 0)
    assert desk.tidied == desk.closed == 1
    assert worker.work_until_done().processed == 0


def test_only_the_named_are_read_in_the_order_of_the_queue(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.librarian.worker.NAMED_AT_ONCE", 2)
    ids = queued(memory, projects, 7)
    named = [ids[number] for number in (5, 0, 4, 2, 6)]

    worked = worker.work_until_done(only=[*named, "nobody"])

    assert (worked.processed, worked.stopped) == (5, "")
    assert desk.read_ids == sorted(named, key=ids.index)
    assert counts(memory) == (2, 0, 0)
    assert worker.work_until_done(only=[]).processed == 0


def test_every_conversation_is_an_event_with_its_counts(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    one, other = queued(memory, projects, 2)
    desk.happenings.append(BadReply("It is no JSON.", Usage(input_tokens=70, output_tokens=7, calls=1)))

    worked = worker.work_until_done()

    events = {(event.outcome, event.detail["conversation"]): event.detail for event in memory.runs.latest("librarian")}
    assert set(events) == {("failed", one), ("done", one), ("done", other)}
    assert events["done", one] == {"conversation": one, "attempt": 2, "kept": 1, "dropped": 2}
    assert events["failed", one]["reason"] == "It is no JSON."
    assert events["failed", one]["input_tokens"] == worked.usage.input_tokens == 70, "what it cost is known"


def test_shelves_catch_up_now_and_then_and_at_the_end(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.librarian.worker.TIDY_EVERY", 2)
    queued(memory, projects, 5)

    worker.work_until_done()

    assert desk.tidied == 3


def test_shelves_that_cannot_be_written_stop_nothing(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    queued(memory, projects)

    def fail() -> None:
        raise Unavailable("The disk is full.")

    desk.while_tidying = fail
    worked = worker.work_until_done()

    assert (worked.processed, worked.problem) == (3, "The disk is full.")


def test_a_conversation_that_gains_words_while_it_is_read_is_not_filed_and_starts_again(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    one, other = queued(memory, projects, 2)
    desk.happenings.append(lambda _: more_is_said(memory, projects))

    assert outcomes(worker) == [Outcome.CHANGED, Outcome.FILED]

    assert filed(memory) == {other: 1}
    assert status_of(memory, one) is Status.READY
    assert counts(memory) == (0, 0, 0)
    assert queue_of(memory).ready().queued == 1
    assert worker.work_until_done().processed == 1


def test_a_conversation_that_goes_on_while_it_is_queued_is_left_until_it_has_ended(
    memory: recollect.Memory, projects: Path, clock: FrozenClock, worker: Worker[str], desk: OneRecordDesk
) -> None:
    told = Transcript("talk", start=clock.now).exchanges(3)
    memory.history.ingest([told.save(projects)])
    clock.move(hours=2)
    assert queue_of(memory).ready().queued == 1
    (one,) = (listed.conversation.id for listed in memory.history.conversations())
    told.wait(minutes=30).exchanges(1)
    memory.history.ingest([told.save(projects)])
    clock.now = told.now + timedelta(minutes=5)

    assert outcomes(worker) == desk.read_ids == []

    assert status_of(memory, one) is Status.ACTIVE
    assert counts(memory) == (0, 0, 0)
    clock.move(hours=2)
    queue_of(memory).ready()
    assert outcomes(worker) == [Outcome.FILED]


def test_what_is_forgotten_while_it_is_read_is_not_filed(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    queued(memory, projects, 1)
    desk.happenings.append(lambda one: memory.forget(conversation=one.id, verify=False))

    assert outcomes(worker) == [Outcome.CHANGED]

    assert filed(memory) == {}
    assert counts(memory) == (0, 0, 0)


def test_a_filing_that_fails_leaves_nothing_of_itself(
    memory: recollect.Memory, projects: Path, clock: FrozenClock, worker: Worker[str], desk: OneRecordDesk
) -> None:
    (one,) = queued(memory, projects, 1)

    def fail() -> None:
        raise ValueError("no")

    desk.while_filing = fail
    assert outcomes(worker) == [Outcome.FAILED]
    assert (filed(memory), status_of(memory, one)) == ({}, Status.QUEUED)

    desk.while_filing = lambda: None
    clock.move(minutes=1)
    assert outcomes(worker) == [Outcome.FILED]
    assert filed(memory) == {one: 1}


def test_what_was_read_is_filed_when_a_busy_database_is_free_again(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    (one,) = queued(memory, projects, 1)
    tries = 0

    def fail_twice() -> None:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise Unavailable("Another program is writing.")

    desk.while_filing = fail_twice
    assert outcomes(worker) == [Outcome.FILED]
    assert (desk.read_ids, filed(memory)) == ([one], {one: 1})


# Several workers, and those that die


def test_a_worker_whose_lease_ran_out_files_nothing(
    memory: recollect.Memory, projects: Path, clock: FrozenClock, worker: Worker[str], desk: OneRecordDesk
) -> None:
    (one,) = queued(memory, projects, 1)
    other = worker_of(memory, OneRecordDesk(memory.settings.house))

    def sleep_too_long(_: Conversation) -> None:
        clock.move(minutes=10)
        step = other.step()
        assert step
        assert (step.outcome, step.attempt) == (Outcome.FILED, 2)

    desk.happenings.append(sleep_too_long)

    assert outcomes(worker) == [Outcome.LOST]
    assert filed(memory) == {one: 1}


def test_two_late_failures_do_not_disturb_who_holds_it_now(
    memory: recollect.Memory, projects: Path, clock: FrozenClock, desk: OneRecordDesk
) -> None:
    (one,) = queued(memory, projects, 1)
    late, other = worker_of(memory, desk, most_attempts=1), worker_of(memory, OneRecordDesk(memory.settings.house))

    def fail_too_late(_: Conversation) -> None:
        clock.move(minutes=10)
        assert other.step()
        raise BadReply("It is no JSON.")

    desk.happenings.append(fail_too_late)
    assert outcomes(late) == [Outcome.LOST]
    assert (filed(memory), status_of(memory, one), counts(memory)) == ({one: 1}, Status.ARCHIVED, (0, 0, 0))


def test_threads_that_work_on_one_house_file_everything_once(memory: recollect.Memory, projects: Path) -> None:
    ids = queued(memory, projects, 20)
    desks = [OneRecordDesk(memory.settings.house) for _ in range(3)]
    threads = [threading.Thread(target=worker_of(memory, desk).work_until_done) for desk in desks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert filed(memory) == dict.fromkeys(ids, 1)
    assert sorted(one for desk in desks for one in desk.read_ids) == sorted(ids)


def die(worker: Worker[str], presence: Presence) -> None:
    """As a process that is killed while it reads: nothing is handed back, and its file is let go of."""
    presence.enter(worker.owner)
    worker._take(None, False)  # pyright: ignore[reportPrivateUsage]
    for file in presence._files.values():  # pyright: ignore[reportPrivateUsage]
        file.close()


def test_what_a_dead_worker_of_this_home_held_is_queued_again_at_once(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    one, other = queued(memory, projects, 2)
    die(worker_of(memory, desk), Presence(memory.settings.runtime))
    assert status_of(memory, one) is Status.PROCESSING

    assert queue_of(memory).recover() == 1

    assert status_of(memory, one) is Status.QUEUED
    assert worker.work_until_done().processed == 2
    assert filed(memory) == {one: 1, other: 1}


def test_what_a_living_worker_holds_is_left_to_it_by_who_starts_later(
    memory: recollect.Memory, projects: Path, clock: FrozenClock, worker: Worker[str], desk: OneRecordDesk
) -> None:
    (one,) = queued(memory, projects, 1)
    recovered: list[int] = []
    desk.happenings.append(lambda _: recovered.append(queue_of(memory).recover()))

    assert worker.work_until_done().processed == 1

    assert recovered == [0]
    assert filed(memory) == {one: 1}


def test_a_worker_elsewhere_is_held_to_live_until_its_lease_runs_out(
    memory: recollect.Memory, projects: Path, clock: FrozenClock, desk: OneRecordDesk, tmp_path: Path
) -> None:
    (one,) = queued(memory, projects, 1)
    die(worker_of(memory, desk, owner="other host"), Presence(tmp_path / "elsewhere"))

    assert queue_of(memory).recover() == 0
    assert status_of(memory, one) is Status.PROCESSING
    clock.move(minutes=3)
    assert queue_of(memory).recover() == 1
    assert status_of(memory, one) is Status.QUEUED


def test_a_lease_that_ran_out_is_taken_over_without_a_restart(
    memory: recollect.Memory, projects: Path, clock: FrozenClock, worker: Worker[str], tmp_path: Path
) -> None:
    (one,) = queued(memory, projects, 1)
    die(worker_of(memory, OneRecordDesk(memory.settings.house)), Presence(tmp_path / "elsewhere"))
    assert outcomes(worker) == []

    clock.move(minutes=3)

    assert outcomes(worker) == [Outcome.FILED]
    assert filed(memory) == {one: 1}


def test_a_conversation_that_ends_its_workers_is_set_aside_in_the_end(
    memory: recollect.Memory, projects: Path, clock: FrozenClock, worker: Worker[str], desk: OneRecordDesk
) -> None:
    (one,) = queued(memory, projects, 1)
    for _ in range(MOST_DEATHS):
        die(worker_of(memory, desk), Presence(memory.settings.runtime))
        assert queue_of(memory).recover() == 1

    worked = worker.work_until_done()

    assert worked.aside == {one: f"its worker ended {MOST_DEATHS} times while it read it"}
    assert (desk.read_ids, status_of(memory, one)) == ([], Status.SKIPPED)


def test_conversations_and_jobs_that_do_not_agree_are_made_to(
    memory: recollect.Memory, projects: Path, worker: Worker[str]
) -> None:
    """As after an import, which brings the one and not the other."""
    no_job, processing_without, gone, archived = tell(memory, projects, 4)
    for one in (no_job, processing_without, archived):
        memory.history.queue(memory.history.conversation(one).conversation)
    for expected in (no_job, processing_without, archived):
        claimed = memory.history.claim()
        assert claimed
        assert claimed.id == expected
    memory.history.archive(memory.history.conversation(archived).conversation)
    queue_of(memory).these([gone])
    with memory.database.write() as session:
        jobs = JobStore(session, memory.settings.house)
        jobs.add(KIND, archived, memory.clock())
        jobs.add(KIND, "nobody", memory.clock())
    memory.forget(conversation=gone, verify=False)

    assert queue_of(memory).recover() == 2

    assert counts(memory) == (2, 0, 0)
    assert worker.work_until_done().processed == 2
    assert set(filed(memory)) == {no_job, processing_without}


# What goes wrong


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


# Pausing, stopping, waking


def test_a_pause_holds_between_conversations_for_all_workers(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    queued(memory, projects)
    desk.happenings.append(lambda _: queue_of(memory).pause("I want to look at it first"))

    worked = worker.work_until_done()

    assert worked.processed == 1
    assert "paused" in worked.stopped
    assert worker_of(memory, desk).step() is None
    assert queue_of(memory).resume()
    assert worker.work_until_done().processed == 2


def test_who_is_told_to_stop_finishes_what_it_reads(
    memory: recollect.Memory, projects: Path, worker: Worker[str]
) -> None:
    queued(memory, projects)
    told: list[Step] = []

    worked = worker.work_until_done(told.append, lambda: len(told) == 1)

    assert (worked.processed, worked.stopped, counts(memory)) == (1, "it was stopped", (2, 0, 0))


class Running:
    """A worker that runs in a thread of its own, as in the daemon."""

    def __init__(self, memory: recollect.Memory, worker: Worker[str], poll_seconds: float = 3_600) -> None:
        self.memory = memory
        self.stop, self.wake = threading.Event(), threading.Event()
        self.rounds = 0
        self.before: Callable[[], object] = lambda: None
        self.steps: list[Step] = []
        options = {"before": self._before, "notify": self.steps.append}
        self.thread = threading.Thread(
            target=worker.run, args=(self.stop, self.wake, poll_seconds), kwargs=options, daemon=True
        )

    def _before(self) -> None:
        self.rounds += 1
        self.before()

    def __enter__(self) -> "Running":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.wake.set()
        self.thread.join(30)
        assert not self.thread.is_alive()

    def wait_until_at_rest(self, rounds: int) -> None:
        wait_for("the worker to sleep", lambda: self.rounds >= rounds and not self.wake.is_set())


def test_a_worker_sleeps_until_it_is_woken_and_then_works_at_once(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    with Running(memory, worker) as running:
        wait_for("the first round", lambda: desk.tidied == 1)
        ids = queued(memory, projects)
        assert (desk.read_ids, running.rounds) == ([], 1), "it does not look by itself before its interval"
        running.wake.set()
        wait_for("all to be filed", lambda: desk.tidied == 2)
        assert filed(memory) == dict.fromkeys(ids, 1)
        assert [step.outcome for step in running.steps] == [Outcome.FILED] * 3
    assert desk.closed == 1


def test_a_worker_looks_by_itself_at_its_interval(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    tell(memory, projects, 2)
    with Running(memory, worker, poll_seconds=0.02) as running:
        running.before = queue_of(memory).ready
        wait_for("both to be filed", lambda: len(running.steps) == 2)


def test_a_worker_goes_on_after_an_error_that_nobody_foresaw(
    memory: recollect.Memory, projects: Path, worker: Worker[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.librarian.worker.RETRY_SECONDS", 0.01)
    queued(memory, projects)
    running = Running(memory, worker)
    problems: list[str] = []

    def fail_once() -> None:
        problems.append(worker.problem)
        if running.rounds == 1:
            raise RuntimeError("no")

    running.before = fail_once
    with running:
        wait_for("all to be filed", lambda: len(running.steps) == 3)
    assert problems[1].startswith("RuntimeError in ")
    assert worker.problem == ""


def test_a_worker_that_is_stopped_ends_after_the_conversation_it_reads(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    ids = queued(memory, projects)
    running = Running(memory, worker)
    desk.happenings.append(lambda _: running.stop.set())
    with running:
        running.thread.join(30)
    assert filed(memory) == {ids[0]: 1}
    assert counts(memory) == (2, 0, 0)


def test_a_worker_rests_while_the_model_cannot_be_had_and_goes_on_when_its_time_has_come(
    memory: recollect.Memory, projects: Path, clock: FrozenClock, worker: Worker[str], desk: OneRecordDesk
) -> None:
    ids = queued(memory, projects)
    desk.happenings.append(Unavailable("No network."))
    with Running(memory, worker) as running:
        wait_for("the first try", lambda: running.steps)
        for rounds in (2, 3):
            running.wait_until_at_rest(rounds - 1)
            running.wake.set()
            wait_for("a round", lambda rounds=rounds: running.rounds >= rounds)
        assert desk.read_ids == ids[:1], "nothing is read before"
        clock.move(minutes=1)
        running.wait_until_at_rest(3)
        running.wake.set()
        wait_for("all to be filed", lambda: len(running.steps) == 4)
    assert filed(memory) == dict.fromkeys(ids, 1)


# Whatever happens in whatever order

HAPPENINGS = st.lists(
    st.sampled_from(["well", "bad", "busy", "unavailable", "late", "die", "more", "interrupt", "let go"]), max_size=12
)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(HAPPENINGS)
def test_whatever_happens_each_conversation_is_filed_once_for_what_it_says(
    open_house: OpenHouse, tmp_path: Path, clock: FrozenClock, happenings: list[str]
) -> None:
    memory, start = open_house(), clock.now
    projects = memory.settings.home / "projects"
    tell(memory, projects, 3)
    queue_of(memory).ready()
    desk, presence = OneRecordDesk(memory.settings.house), Presence(memory.settings.runtime)
    worker = worker_of(memory, desk, most_attempts=100)

    def late(_: Conversation) -> None:
        clock.move(minutes=5)
        worker_of(memory, OneRecordDesk(memory.settings.house)).step()

    def interrupt(_: Conversation) -> None:
        raise KeyboardInterrupt

    meaning = {
        "bad": BadReply("No."),
        "busy": Busy("No."),
        "unavailable": Unavailable("No."),
        "late": late,
        "more": lambda _: more_is_said(memory, projects),
        "interrupt": interrupt,
        "let go": lambda _: worker.let_go(),
    }
    for what in happenings:
        if what == "die":
            die(worker_of(memory, desk), presence)
            continue
        desk.happenings.append(meaning.get(what))
        with suppress(KeyboardInterrupt):
            worker.step(even_waiting=True)
        desk.happenings.clear()
    queue_of(memory).recover()
    for _ in range(2):
        queue_of(memory).ready()
        worker.work_until_done()

    assert statuses(memory) == {Status.ARCHIVED}
    assert counts(memory) == (0, 0, 0)
    grown = memory.history.conversations(limit=9)
    for listed in grown:
        times = filed(memory)[listed.conversation.id]
        # The one that grew may have been filed before, for what it said then.
        assert 1 <= times <= (2 if listed.conversation.messages > 6 else 1)
    clock.now = start
