"""Whatever is done to records, in whatever order: what holds when is right, and the stream tells it all."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect.clock import to_text
from recollect.errors import RecollectError
from recollect.knowledge import Record, State
from recollect.testing import FrozenClock

OpenHouse = Callable[..., recollect.Memory]

DAYS = [f"2025-01-{day:02d}T00:00:00.000Z" for day in range(1, 29)]
TOWNS = ["Paris", "Lyon", "Rome", "Oslo"]
QUICK = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))


def learn(memory: recollect.Memory, day: str, town: str) -> None:
    memory.knowledge.remember(
        f"Ada lives in {town}.", kind="fact", subject="Ada", attribute="home", value=town, true_from=day
    )


def homes(memory: recollect.Memory) -> list[str]:
    found = [memory.knowledge.fact("Ada", "home", true_at=day) for day in DAYS]
    return [fact.value if fact else "" for fact in found]


def expected(statements: dict[str, str]) -> list[str]:
    known, result = "", list[str]()
    for day in DAYS:
        known = statements.get(day, known)
        result.append(known)
    return result


@QUICK
@given(st.dictionaries(st.sampled_from(DAYS), st.sampled_from(TOWNS), min_size=1, max_size=8), st.randoms())
def test_the_order_of_learning_does_not_matter(
    open_house: OpenHouse, statements: dict[str, str], random: object
) -> None:
    memory = open_house()
    order = list(statements.items())
    random.shuffle(order)  # type: ignore[attr-defined]
    for day, town in order:
        learn(memory, day, town)
    assert homes(memory) == expected(statements)
    check_consistent(memory)


@QUICK
@given(st.data())
def test_any_changes_leave_records_that_the_stream_can_make_again(
    open_house: OpenHouse, clock: FrozenClock, data: st.DataObject
) -> None:
    memory = open_house()
    believed: list[tuple[str, dict[str, Record]]] = []
    for _ in range(data.draw(st.integers(1, 12))):
        clock.move(seconds=data.draw(st.sampled_from([0.0, 1.0, 60.0])))
        change(memory, data)
        clock.move(seconds=0.001)
        believed.append((to_text(clock()), current(memory)))
        clock.move(seconds=0.001)
    check_consistent(memory)
    for moment, records in believed:
        then = {record.id: record for record in memory.knowledge.records(as_of=moment, expired=True, limit=1_000)}
        assert {name: _without_end(record) for name, record in then.items()} == {
            name: _without_end(record) for name, record in records.items()
        }


def _without_end(record: Record) -> tuple[object, ...]:
    return record.version, record.text, record.value, record.state, record.true_from, record.true_until, record.tags


def change(memory: recollect.Memory, data: st.DataObject) -> None:
    ids = [record.id for record in memory.knowledge.records(state="all", expired=True)]
    action = data.draw(st.sampled_from(["learn", "learn", "say", "edit", "retract", "undo", "undo to"]))
    name = data.draw(st.sampled_from(sorted(ids))) if ids else ""
    try:
        if action == "learn" or not name:
            learn(memory, data.draw(st.sampled_from(DAYS)), data.draw(st.sampled_from(TOWNS)))
        elif action == "say":
            memory.knowledge.remember(data.draw(st.sampled_from(["one", "two", "three"])))
        elif action == "edit":
            memory.knowledge.edit(name, data.draw(st.sampled_from(["four", "five"])), tags=["edited"])
        elif action == "retract":
            memory.knowledge.retract(name)
        elif action == "undo":
            memory.knowledge.undo(name)
        else:
            memory.knowledge.undo(name, version=data.draw(st.integers(1, 3)))
    except RecollectError:
        return  # Refused with a reason: nothing has changed, which the check at the end sees.


def current(memory: recollect.Memory) -> dict[str, Record]:
    return {record.id: record for record in memory.knowledge.records(expired=True, limit=1_000)}


def check_consistent(memory: recollect.Memory) -> None:
    before = memory.knowledge.pages(("", 0), 10_000)
    versions: dict[str, list[Record]] = {}
    for record in before:
        versions.setdefault(record.id, []).append(record)
    for found in versions.values():
        assert [record.version for record in found] == list(range(1, len(found) + 1))
        assert [record.believed_until for record in found[:-1]] == [record.believed_from for record in found[1:]]
        assert found[-1].believed_until == ""
    memory.knowledge.rebuild()
    assert memory.knowledge.pages(("", 0), 10_000) == before


def test_a_change_that_is_refused_changes_nothing(memory: recollect.Memory) -> None:
    learn(memory, DAYS[3], "Paris")
    before = memory.knowledge.pages(("", 0), 10)
    with pytest.raises(RecollectError):
        memory.knowledge.undo(before[0].id, version=7)
    with pytest.raises(RecollectError):
        memory.knowledge.edit(before[0].id)
    assert memory.knowledge.pages(("", 0), 10) == before
    assert before[0].state is State.CURRENT
