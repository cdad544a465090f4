"""The worker: each conversation is filed once, whatever happens meanwhile, and one that is bad stops no other."""

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from commands import wait_for
from conftest import FrozenClock, OpenHouse
from desks import (
    OneRecordDesk,
    counts,
    die,
    filed,
    more_is_said,
    outcomes,
    queue_of,
    queued,
    status_of,
    statuses,
    tell,
    worker_of,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transcripts import Transcript

import recollect
from recollect.errors import Denied, Unavailable
from recollect.history import Conversation, Status
from recollect.jobs import JobStore, Presence
from recollect.librarian.working.claiming import MOST_DEATHS
from recollect.librarian.working.queueing import KIND
from recollect.librarian.working.work import Outcome, Step
from recollect.librarian.working.worker import Worker
from recollect.llm import BadReply, Busy, Usage


@pytest.fixture
def desk(memory: recollect.Memory) -> OneRecordDesk:
    return OneRecordDesk(memory.settings.house)


@pytest.fixture
def worker(memory: recollect.Memory, desk: OneRecordDesk) -> Worker[str]:
    return worker_of(memory, desk)


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
    monkeypatch.setattr("recollect.librarian.working.claiming.NAMED_AT_ONCE", 2)
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
    monkeypatch.setattr("recollect.librarian.working.worker.TIDY_EVERY", 2)
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


def test_a_filing_that_is_denied_is_the_conversations_own_failure(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    first, *others = queued(memory, projects)

    def fail_for_the_first() -> None:
        if desk.read_ids[-1] == first:
            raise Denied("It lies in a scope that may not be written.")

    desk.while_filing = fail_for_the_first
    worked = worker.work_until_done()

    assert list(worked.aside) == [first]
    assert filed(memory) == dict.fromkeys(others, 1)


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
        self.rests = 0
        options = {"before": self._before, "notify": self.steps.append, "after": self._after}
        self.thread = threading.Thread(
            target=worker.run, args=(self.stop, self.wake, poll_seconds), kwargs=options, daemon=True
        )

    def _before(self) -> None:
        self.rounds += 1
        self.before()

    def _after(self) -> None:
        self.rests += 1

    def __enter__(self) -> "Running":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.wake.set()
        self.thread.join(30)
        assert not self.thread.is_alive()

    def wait_until_at_rest(self, rounds: int) -> None:
        wait_for("the worker to sleep", lambda: self.rests >= rounds)


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


def test_a_worker_that_is_woken_often_looks_at_the_shelves_only_when_something_was_filed(
    memory: recollect.Memory, projects: Path, worker: Worker[str], desk: OneRecordDesk
) -> None:
    with Running(memory, worker) as running:
        for rounds in range(1, 6):
            wait_for("a round", lambda rounds=rounds: running.rounds >= rounds and running.rests >= rounds)
            running.wake.set()
        wait_for("a round", lambda: running.rests >= 6)
        assert desk.tidied == 1
        queued(memory, projects, 1)
        running.wake.set()
        wait_for("the shelves", lambda: desk.tidied == 2)


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
    monkeypatch.setattr("recollect.librarian.working.worker.RETRY_SECONDS", 0.01)
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
