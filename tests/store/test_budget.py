"""The ceilings of a day hold, whoever calls, in whatever order, and after a crash."""

import itertools
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.database import Database, open_database
from recollect.llm import Usage
from recollect.runs import Account, Budget, OverBudget, Reservation, Spending, UnknownPrice
from recollect.scopes import Actor, Principal
from recollect.testing import FrozenClock

HOUSES = itertools.count()
ON_BOTH = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def reserve(budget: Budget, tokens: int, dollars: float | None = 0) -> Reservation:
    return budget.reserve("extract", "anthropic:m", tokens, 0, dollars)


def test_what_a_call_may_take_is_counted_before_it_and_what_it_took_after_it(database: Database, clock: FrozenClock):
    budget = Budget(database, "home", clock, tokens_per_day=10_000, dollars_per_day=2)
    held = budget.reserve("extract", "anthropic:m", 3_000, 2_000, 0.5)
    before = budget.today()
    assert (before.calls, before.tokens, before.dollars, before.share) == (1, 5_000, 0.5, 0.5)
    budget.settle(held, Usage(input_tokens=2_500, cached_tokens=1_000, output_tokens=500, calls=1), 0.125)
    after = budget.today()
    assert (after.calls, after.tokens, after.dollars, after.share) == (1, 3_000, 0.125, 0.3)


def test_a_reservation_is_settled_once(database: Database, clock: FrozenClock):
    budget = Budget(database, "home", clock)
    held = reserve(budget, 100)
    budget.settle(held, Usage(input_tokens=50), 0)
    budget.settle(held, Usage(input_tokens=1), 0)
    assert budget.today().tokens == 50


def test_at_the_ceiling_the_next_call_is_refused_and_told_when_it_goes_on(
    database: Database, clock: FrozenClock, berlin: None
):
    budget = Budget(database, "home", clock, tokens_per_day=10_000)
    reserve(budget, 9_000)
    with pytest.raises(
        OverBudget, match=r"1,001 tokens.*10,000 tokens of a day.*9,000.*00:00 on Tuesday, 03 March.*tokens_per_day"
    ) as over:
        reserve(budget, 1_001)
    assert over.value.goes_on_at == "2026-03-02T23:00:00.000Z"
    assert reserve(budget, 1_000).tokens == 1_000


def test_the_ceiling_in_money_holds_to_the_millionth(database: Database, clock: FrozenClock):
    budget = Budget(database, "home", clock, dollars_per_day=0.3)
    for _ in range(3):
        reserve(budget, 10, 0.1)
    assert budget.today().dollars == 0.3
    with pytest.raises(OverBudget, match=r"\$0\.3000 of a day.*dollars_per_day"):
        reserve(budget, 10, 0.000_001)


def test_a_call_that_no_day_could_hold_says_so(database: Database, clock: FrozenClock):
    with pytest.raises(OverBudget, match=r"One call may take 20,000 tokens, a whole day 10,000 tokens: raise"):
        reserve(Budget(database, "home", clock, tokens_per_day=10_000), 20_000)


def test_no_ceiling_means_that_all_is_counted_and_nothing_refused(database: Database, clock: FrozenClock):
    budget = Budget(database, "home", clock)
    reserve(budget, 10**12, None)
    assert (budget.has_ceiling, budget.today().share, budget.today().tokens) == (False, None, 10**12)


def test_a_price_that_nobody_knows_is_refused_where_money_has_a_ceiling(database: Database, clock: FrozenClock):
    with pytest.raises(UnknownPrice, match=r"librarian\.price_per_million"):
        reserve(Budget(database, "home", clock, dollars_per_day=1), 10, None)
    reserve(Budget(database, "home", clock, tokens_per_day=100), 10, None)


def test_an_unknown_price_after_the_call_leaves_the_money_that_was_reserved(database: Database, clock: FrozenClock):
    budget = Budget(database, "home", clock, dollars_per_day=1)
    budget.settle(reserve(budget, 10, 0.25), Usage(input_tokens=5), None)
    assert (budget.today().tokens, budget.today().dollars) == (5, 0.25)


def test_a_server_that_tells_less_than_nothing_gives_nothing_back(database: Database, clock: FrozenClock):
    budget = Budget(database, "home", clock)
    budget.settle(reserve(budget, 10, 0.25), Usage(input_tokens=-500, output_tokens=-1), -3.0)
    assert (budget.today().tokens, budget.today().dollars) == (0, 0)


def test_a_day_is_the_day_of_the_person(database: Database, berlin: None):
    clock = FrozenClock(datetime(2026, 3, 28, 22, 30, tzinfo=UTC))
    budget = Budget(database, "home", clock, tokens_per_day=100)
    late = reserve(budget, 100)
    assert (budget.today().day, budget.today().goes_on_at) == ("2026-03-28", "2026-03-28T23:00:00.000Z")
    clock.move(hours=1)
    assert (budget.today().day, budget.today().tokens) == ("2026-03-29", 0)
    # In this night the clocks go forward: the day has 23 hours.
    assert budget.today().goes_on_at == "2026-03-29T22:00:00.000Z"
    budget.settle(late, Usage(input_tokens=40), 0)
    assert budget.today().tokens == 0, "it counts for the day on which it was asked"


def test_a_house_does_not_spend_for_another(database: Database, clock: FrozenClock):
    reserve(Budget(database, "one", clock, tokens_per_day=100), 100)
    assert reserve(Budget(database, "two", clock, tokens_per_day=100), 100)


def test_the_mind_and_the_librarian_spend_from_ceilings_of_their_own(database: Database, clock: FrozenClock):
    librarian = Budget(database, "home", clock, 100, 1)
    mind = Budget(database, "home", clock, dollars_per_day=0.5, account=Account.MIND)
    reserve(librarian, 90, 0.9)
    for purpose in ("mind", "compaction", "warm"):
        mind.reserve(purpose, "anthropic:m", 1_000, 0, 0.1, turn="assistant#1")
    assert (librarian.today().calls, librarian.today().tokens, librarian.today().dollars) == (1, 90, 0.9)
    assert (mind.today().calls, mind.today().tokens, mind.today().dollars) == (3, 3_000, 0.3)
    with pytest.raises(OverBudget, match=r"raise librarian\.tokens_per_day"):
        reserve(librarian, 11)
    with pytest.raises(OverBudget, match=r"raise mind\.dollars_per_day"):
        mind.reserve("warm", "anthropic:m", 1, 0, 0.21)
    with pytest.raises(UnknownPrice, match=r"mind\.price_per_million.*or 0 for no ceiling"):
        mind.reserve("mind", "anthropic:m", 1, 0, None)


STEPS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["ask", "end", "crash"]), st.integers(0, 400), st.floats(0, 1)),
    max_size=25,
)


@ON_BOTH
@given(steps=STEPS, tokens=st.integers(1, 1000), dollars=st.sampled_from([0.0, 0.000_123, 0.07]))
def test_whatever_the_order_the_sum_never_passes_a_ceiling(
    engine: str, steps: list[tuple[int, str, int, float]], tokens: int, dollars: float
):
    clock, house = FrozenClock(), f"house-{next(HOUSES)}"
    database = open_database(engine)
    workers = [Budget(database, house, clock, tokens, dollars) for _ in range(3)]
    held: list[list[tuple[Reservation, int]]] = [[], [], []]
    try:
        for who, what, size, part in steps:
            if what == "ask":
                try:
                    held[who].append((reserve(workers[who], size, size * dollars / 300), size))
                except OverBudget:
                    assert workers[0].today().tokens + size > tokens or dollars
            elif what == "end" and held[who]:
                one, most = held[who].pop()
                budget_dollars = (one.dollars or 0) * part
                workers[who].settle(one, Usage(input_tokens=int(most * part)), budget_dollars)
            else:
                held[who].clear()
            spent = workers[0].today()
            assert spent.tokens <= tokens
            assert not dollars or spent.dollars <= dollars
    finally:
        database.close()


def test_workers_at_the_same_moment_do_not_pass_a_ceiling_together(engine: str, clock: FrozenClock):
    granted: list[int] = []
    begin = threading.Barrier(4)

    def work() -> None:
        database = open_database(engine)
        budget = Budget(database, "home", clock, tokens_per_day=1_000)
        begin.wait()
        for _ in range(15):
            try:
                granted.append(reserve(budget, 70).tokens)
            except OverBudget:
                break
        database.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(granted) == 980, "as much as fits, and no more"


def test_spending_is_told_by_day_model_and_purpose(database: Database, clock: FrozenClock):
    budget = Budget(database, "home", clock)
    for model, purpose in (
        ("anthropic:a", "extract"),
        ("anthropic:a", "extract"),
        ("anthropic:a", "reflect"),
        ("b", "extract"),
    ):
        held = budget.reserve(purpose, model, 1_000, 500, 0.5)
        if model != "b":
            budget.settle(held, Usage(input_tokens=100, cached_tokens=40, output_tokens=10, calls=1), 0.01)
    clock.move(days=1)
    budget.reserve("extract", "b", 1, 1, None)
    spending = Spending(database, "home", clock)
    rows = [(row.day, row.model, row.purpose, row.calls, row.open_calls, row.dollars) for row in spending.by_day()]
    assert rows == [
        ("2026-03-03", "b", "extract", 1, 1, 0),
        ("2026-03-02", "anthropic:a", "extract", 2, 0, 0.02),
        ("2026-03-02", "anthropic:a", "reflect", 1, 0, 0.01),
        ("2026-03-02", "b", "extract", 1, 1, 0.5),
    ]
    first = spending.by_day()[1]
    assert (first.input_tokens, first.cached_tokens, first.output_tokens) == (200, 80, 20)
    assert {row.day for row in spending.by_day(days=1)} == {"2026-03-03"}


def test_an_agent_is_told_of_nobodys_money(database: Database, clock: FrozenClock):
    Budget(database, "home", clock).reserve("extract", "a", 1, 1, None)
    assert Spending(database, "home", clock, Principal(actor=Actor.AGENT, name="ada")).by_day() == []
