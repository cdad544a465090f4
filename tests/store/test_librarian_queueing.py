"""Queueing for the librarian: what has ended, what somebody asks for, and what others left behind."""

from pathlib import Path

import pytest
from desks import OneRecordDesk, counts, filed, outcomes, queue_of, queued, status_of, tell, worker_of
from transcripts import Transcript

import recollect
from recollect.history import Status
from recollect.jobs import JobStore, State
from recollect.librarian.working.queueing import KIND, queues_by_itself
from recollect.librarian.working.work import Outcome
from recollect.librarian.working.worker import Worker
from recollect.llm import BadReply
from recollect.settings import LibrarianSettings


@pytest.fixture
def desk(memory: recollect.Memory) -> OneRecordDesk:
    return OneRecordDesk(memory.settings.house)


@pytest.fixture
def worker(memory: recollect.Memory, desk: OneRecordDesk) -> Worker[str]:
    return worker_of(memory, desk)


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
    monkeypatch.setattr("recollect.librarian.working.queueing.BATCH", 2)
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
