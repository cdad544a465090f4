"""What was spent, by day and by turn, with compactions and questions that need not have been asked (M10)."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from recollect.database import Database
from recollect.errors import Denied
from recollect.llm import Usage
from recollect.runs import Account, Budget, Runs, Spending
from recollect.scopes import Actor, Principal
from recollect.testing import FrozenClock


@pytest.fixture
def vienna(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Vienna")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


class Mind:
    """Spends as a mind does."""

    def __init__(self, database: Database, clock: FrozenClock, house: str = "home") -> None:
        self.budget = Budget(database, house, clock, account=Account.MIND)

    def took(self, purpose: str, turn: str, size: int, dollars: float) -> None:
        """`size` tokens in, half of them cached, a quarter written; a tenth out."""
        usage = Usage(
            input_tokens=size, cached_tokens=size // 2, written_tokens=size // 4, output_tokens=size // 10, calls=1
        )
        self.budget.settle(self.budget.reserve(purpose, "a", size, size, dollars, turn=turn), usage, dollars)


def test_a_turn_is_told_with_all_its_calls_and_what_of_them_was_compaction(database: Database, clock: FrozenClock):
    mind = Mind(database, clock)
    mind.took("mind", "assistant#1", 1_000, 0.01)
    clock.move(minutes=1)
    mind.took("mind", "assistant#2", 1_000, 0.01)
    mind.took("mind", "assistant#2", 2_000, 0.02)
    clock.move(minutes=1)
    mind.took("compaction", "assistant#2", 4_000, 0.04)
    mind.took("warm", "", 1_000, 0.01)
    latest, first = Spending(database, "home", clock).by_turn()
    assert (first.turn, first.calls, first.compaction_tokens, first.compaction_dollars) == ("assistant#1", 1, 0, 0)
    assert (latest.turn, latest.at, latest.calls, latest.open_calls) == (
        "assistant#2",
        "2026-03-02T12:01:00.000Z",
        3,
        0,
    )
    tokens = (latest.input_tokens, latest.cached_tokens, latest.written_tokens, latest.output_tokens)
    assert tokens == (7_000, 3_500, 1_750, 700)
    assert (latest.dollars, latest.compaction_tokens, latest.compaction_dollars) == (0.07, 4_400, 0.04)


def test_only_the_latest_turns_are_told_if_so_many_are_asked_for(database: Database, clock: FrozenClock):
    mind, other = Mind(database, clock), Mind(database, clock, "other")
    for number in range(1, 6):
        clock.move(minutes=1)
        mind.took("mind", f"assistant#{number}", 100, 0)
        other.took("mind", f"theirs#{number}", 100, 0)
    assert [one.turn for one in Spending(database, "home", clock).by_turn(2)] == ["assistant#5", "assistant#4"]


def test_a_call_that_never_ended_is_told_as_open(database: Database, clock: FrozenClock):
    Mind(database, clock).budget.reserve("mind", "a", 500, 100, 0.5, turn="assistant#1")
    (turn,) = Spending(database, "home", clock).by_turn()
    assert (turn.calls, turn.open_calls, turn.input_tokens, turn.dollars) == (1, 1, 500, 0.5)


def test_a_day_is_told_in_all_with_its_compactions_and_what_was_asked_in_vain(database: Database, clock: FrozenClock):
    mind, runs = Mind(database, clock), Runs(database, "home", clock)
    mind.took("mind", "assistant#1", 1_000, 0.01)
    mind.took("compaction", "assistant#1", 2_000, 0.02)
    Budget(database, "home", clock).reserve("librarian", "b", 100, 0, 0.5)
    for outcome in ("done", "failed", "done"):
        runs.record("compaction", outcome, 3.0, {})
    runs.record("asked_known", "done", 0, {"questions": 2})
    runs.record("asked_known", "done", 0, {"questions": 1})
    clock.move(days=2)
    runs.record("asked_known", "done", 0, {"questions": 4})
    spending = Spending(database, "home", clock)
    later, first = spending.days()
    assert (first.day, first.calls, first.dollars) == ("2026-03-02", 3, pytest.approx(0.53))
    tokens = (first.input_tokens, first.cached_tokens, first.written_tokens, first.output_tokens)
    assert tokens == (3_100, 1_500, 750, 300)
    assert (first.compaction_tokens, first.compaction_dollars) == (2_200, 0.02)
    assert (first.compactions, first.asked_known) == (2, 3)
    assert (later.day, later.calls, later.compactions, later.asked_known) == ("2026-03-04", 0, 0, 4)
    assert [one.day for one in spending.days(2)] == ["2026-03-04"]


def test_what_happened_after_midnight_of_the_person_is_of_their_new_day(database: Database, vienna: None):
    clock = FrozenClock(datetime(2026, 3, 2, 22, 30, tzinfo=UTC))
    runs, spending = Runs(database, "home", clock), Spending(database, "home", clock)
    runs.record("compaction", "done", 0, {})
    clock.move(hours=1)
    runs.record("compaction", "done", 0, {})
    assert [(one.day, one.compactions) for one in spending.days()] == [("2026-03-03", 1), ("2026-03-02", 1)]
    assert [(one.day, one.compactions) for one in spending.days(1)] == [("2026-03-03", 1)]


def test_a_day_is_measured_by_the_ceiling_of_who_spent_it(database: Database, clock: FrozenClock):
    Mind(database, clock).took("mind", "assistant#1", 1_000, 0.25)
    spending = Spending(database, "home", clock)
    mind = spending.today(Account.MIND, dollars_per_day=0.5)
    assert (mind.calls, mind.tokens, mind.share) == (1, 1_100, 0.5)
    assert spending.today(Account.LIBRARIAN, tokens_per_day=10).share == 0


def test_an_agent_is_told_of_nobodys_turns_and_days(database: Database, clock: FrozenClock):
    Mind(database, clock).took("mind", "assistant#1", 1_000, 0.25)
    spending = Spending(database, "home", clock, Principal(actor=Actor.AGENT, name="ada"))
    assert (spending.by_turn(), spending.days(), spending.by_day()) == ([], [], [])
    with pytest.raises(Denied, match="ada"):
        spending.today(Account.MIND)
