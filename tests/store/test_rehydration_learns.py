"""Rehydration learns from what was used: what never is sinks, in coarse steps that do not flutter (S6, K10)."""

from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import OpenHouse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transcripts import Transcript

import recollect
from recollect.context import Context
from recollect.showings.looking import OPEN_DAYS
from recollect.showings.standing import SINKS_AFTER
from recollect.showings.store import ShowingStore, ShownRecord
from recollect.testing import FrozenClock

ROOM = 150
"""Tokens: about half of the records below fit."""
NAMES = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "islet", "jetty", "knoll", "lotus")
FIRST, SECOND = SINKS_AFTER
LATER = "2026-03-02T12:00:01.000Z"
"""Than the clock shows at first."""


def learned(memory: recollect.Memory, text: str, **options: object) -> str:
    record = memory.knowledge.remember(text, **options).record  # type: ignore[arg-type]
    assert record
    return record.id


def beds(memory: recollect.Memory, number: int = 12, **options: object) -> list[str]:
    """As important as each other, and learned at once: only use tells them apart."""
    return [
        learned(memory, f"The {NAMES[place]} bed belongs to plot A{100 + place} of the north field.", **options)
        for place in range(number)
    ]


def passed_over(memory: recollect.Memory, record_id: str, sessions: int, scope: str = "house") -> None:
    """As if it had been shown so often since, and not used."""
    version = memory.knowledge.record(record_id).version
    with memory.database.write() as session:
        store = ShowingStore(session, memory.settings.house)
        for number in range(sessions):
            name = f"{record_id} {number}"
            store.add(scope, name, "session-start", {record_id: version}, LATER)
            (one,) = [one for one in store.sessions() if (one.scope, one.session_id) == (scope, name)]
            store.looked(one, "told", LATER, 1)
        store.close("2026-03-03T00:00:00.000Z", 10_000)


def shown(memory: recollect.Memory, budget: int = ROOM) -> Context:
    return memory.context.rehydration(budget_tokens=budget)


def test_in_thirty_sessions_what_is_never_used_sinks_below_what_is(
    memory: recollect.Memory, projects: Path, clock: FrozenClock
) -> None:
    records = beds(memory)
    first = shown(memory).records
    waiting = [record for record in records if record not in first]
    assert len(first) >= 3
    assert len(waiting) >= 3
    useful = first[0]
    plot = next(word for word in memory.knowledge.record(useful).text.split() if word.startswith("A1"))
    seen: list[tuple[str, ...]] = []
    for number in range(30):
        made = shown(memory)
        seen.append(made.records)
        transcript = Transcript(f"session {number}", start=clock.now + timedelta(seconds=5))
        memory.showings.note_shown(transcript.session_id, made.records)
        transcript.user("What is to be done?")
        transcript.assistant(
            f"The plot {plot} of the north field needs water." if number % 3 == 0 else "Nothing today."
        )
        memory.history.ingest([transcript.save(projects)])
        clock.move(days=1)
    last = shown(memory)
    counted = memory.showings.counted(list(records))
    assert useful in last.records
    assert all(useful in records for records in seen)
    assert counted[useful].used >= 3
    assert counted[useful].unused < FIRST
    assert set(first) - {useful} != set(last.records) - {useful}
    never = [record for record in first if record != useful]
    assert all(counted[record].unused >= FIRST for record in never)
    changes = sum(one != other for one, other in pairwise(seen))
    assert changes <= 4, seen
    assert last.tokens <= ROOM


def test_the_steps_are_coarse_and_between_them_every_byte_stays(memory: recollect.Memory) -> None:
    record, *_ = beds(memory)
    whole = shown(memory)
    assert record in whole.records
    passed_over(memory, record, FIRST - 1)
    assert shown(memory).text == whole.text
    passed_over(memory, record, FIRST)
    sunk = shown(memory)
    assert record not in sunk.records
    assert shown(memory).text == sunk.text
    assert len(sunk.records) == len(whole.records)


def test_one_use_brings_it_back_at_once(memory: recollect.Memory) -> None:
    record, *_ = beds(memory)
    passed_over(memory, record, SECOND)
    assert record not in shown(memory).records
    memory.showings.note_used([record], how="read_memory")
    assert record in shown(memory).records


def test_saying_it_again_in_other_words_brings_it_back(memory: recollect.Memory) -> None:
    record, *_ = beds(memory)
    passed_over(memory, record, SECOND)
    memory.knowledge.edit(record, "The amber bed belongs to plot A200 of the north field.")
    assert record in shown(memory).records


def test_what_matters_most_stays_though_nobody_repeats_it(memory: recollect.Memory) -> None:
    rule = learned(memory, "Run every check before a commit, without exception.", importance=0.9)
    beds(memory)
    passed_over(memory, rule, 3 * SECOND)
    assert rule in shown(memory).records


def test_who_one_is_sinks_half_as_far(memory: recollect.Memory) -> None:
    texts = [
        learned(memory, "Mara speaks plainly and slowly.", category="identity", importance=0.7),
        learned(memory, "Horses drink water gladly.", importance=0.7),
        learned(memory, "The well is deep.", importance=0.5),
    ]
    for record in texts[:2]:
        passed_over(memory, record, SECOND)
    identity, knowledge, other = (memory.knowledge.record(record) for record in texts)
    assert shown(memory, 40).records == (identity.id,)
    assert shown(memory, 65).records == (identity.id, other.id)
    assert shown(memory, 80).records == (identity.id, knowledge.id, other.id)


def test_everything_is_shown_while_there_is_room_for_it(memory: recollect.Memory) -> None:
    records = beds(memory)
    before = shown(memory, 100_000)
    for record in records:
        passed_over(memory, record, SECOND)
    assert shown(memory, 100_000).text == before.text


def test_what_is_passed_over_by_one_agent_stays_for_the_others(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    memory.agents.add("bob")
    record, *_ = beds(memory)
    passed_over(memory, record, SECOND, scope="ada")
    assert record not in shown(memory.as_agent("ada")).records
    assert record in shown(memory.as_agent("bob")).records
    assert record in shown(memory).records


def test_when_all_have_sunk_the_choice_comes_to_rest(memory: recollect.Memory) -> None:
    records = beds(memory)
    first = shown(memory)
    for record in records:
        passed_over(memory, record, SECOND)
    rested = shown(memory)
    assert rested.text == first.text
    for record in records:
        passed_over(memory, record, 2 * SECOND)
    assert shown(memory).text == rested.text


def test_what_was_judged_too_early_is_made_good(memory: recollect.Memory, clock: FrozenClock) -> None:
    record, *_ = beds(memory)
    passed_over(memory, record, FIRST)
    with memory.database.write() as session:
        store = ShowingStore(session, memory.settings.house)
        one = ShownRecord(record_id=record, version=1, shown_at=LATER)
        store.use_in("house", f"{record} 0", one, "2026-03-02T13:00:00.000Z")
    assert record in shown(memory).records
    clock.move(days=OPEN_DAYS)
    memory.learn()
    assert record in shown(memory).records


@pytest.mark.parametrize("budget", [40, 120])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(st.sampled_from([0, 1, FIRST, SECOND]), min_size=6, max_size=6),
    used=st.lists(st.booleans(), min_size=6, max_size=6),
    more=st.booleans(),
)
def test_whatever_was_used_the_budget_holds_and_the_order_and_the_bytes_stay(
    open_house: OpenHouse, clock: FrozenClock, budget: int, steps: list[int], used: list[bool], more: bool
) -> None:
    memory = open_house()
    records = beds(memory, 6)
    for record, sessions, is_used in zip(records, steps, used, strict=True):
        if is_used:
            memory.showings.note_used([record], how="read_memory")
        passed_over(memory, record, sessions)
    made = shown(memory, budget)
    assert made.tokens <= budget
    assert made.left_out == 6 - len(made.records)
    assert list(made.records) == sorted(made.records, key=records.index)
    clock.move(days=3)
    if more:
        memory.learn()
    assert shown(memory, budget).text == made.text
