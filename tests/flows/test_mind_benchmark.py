"""The benchmark of a month of the mind: a very short one comes out whole, and what it reckons with is right."""

import importlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.llm.model import Usage

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
MODEL = "anthropic:claude-opus-5-5"
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def mind() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield importlib.import_module("mind")


@pytest.fixture(scope="module")
def costs(mind: ModuleType) -> ModuleType:
    return mind.mind_costs


def test_a_short_month_is_lived_under_every_design(mind: ModuleType, tmp_path: Path) -> None:
    month = mind.Month(days=2, exchanges_a_day=3, seed=3, model="claude-opus-5-5")

    result = mind.run(month, [8.0, 0.0], tmp_path, None)

    designs = result["designs"]
    assert list(designs) == ["mind, kept warm 8 h", "mind, not kept warm", "window", "rebuilt"]
    assert all(set(found["days"]) == {1, 2} for found in designs.values())
    for name in ("mind, kept warm 8 h", "mind, not kept warm"):
        found = designs[name]
        assert found["failed_turns"] == 0
        assert found["ledger_agrees"]
        assert found["against_least"] >= 1
        assert not any("unexplained" in reason for reason in found["prefix_breaks"])
        assert found["sum"]["cached_tokens"] > 0
    assert designs["mind, kept warm 8 h"]["sum"]["warm_requests"] > 0
    assert designs["mind, not kept warm"]["sum"]["warm_requests"] == 0
    said: list[str] = []
    mind.show(json.loads(json.dumps(result), object_hook=_numbered), said.append)
    assert any("the least" in line for line in said)


def _numbered(pairs: dict[str, Any]) -> dict[Any, Any]:
    return {int(name) if name.isdigit() else name: value for name, value in pairs.items()}


def test_the_same_seed_gives_the_same_month(mind: ModuleType) -> None:
    month = mind.Month(days=3, exchanges_a_day=10, seed=5, model="claude-opus-5-5")

    assert month.exchanges() == month.exchanges()
    assert month.exchanges() != replace(month, seed=6).exchanges()


def test_a_month_has_its_nights_its_tools_a_change_a_day_and_a_restart_a_week(mind: ModuleType) -> None:
    made = mind.Month(days=9, exchanges_a_day=50, seed=5, model="claude-opus-5-5").exchanges()

    assert len(made) == 450
    assert [one.at for one in made] == sorted(one.at for one in made)
    gaps = mind.mind_month.gaps_of(made)
    assert gaps["8–9 h"] == 8
    assert gaps["longer"] == 0
    assert sum(one.call is not None for one in made) == 150
    assert sum(one.edits_note for one in made) == 9
    assert [one.day for one in made if one.restarts] == [8]
    assert all(60 <= len(one.asked) <= 1_200 and 150 <= len(one.answered) <= 1_800 for one in made)


def answers(costs: ModuleType, *sizes_and_minutes: tuple[int, float]) -> list[Any]:
    at, made = NOON, []
    for size, minutes in sizes_and_minutes:
        at += timedelta(minutes=minutes)
        usage = Usage(input_tokens=size, written_tokens=size, written_hour_tokens=size, calls=1)
        made.append(costs.Call(at=at, day=1, kind="answer", usage=usage, head_tokens=1_000))
    return made


def test_at_best_every_token_is_written_once_and_read_by_each_later_request(costs: ModuleType) -> None:
    prices = costs.Prices.of(MODEL)

    least = costs.least_dollars(MODEL, answers(costs, (10_000, 0), (15_000, 5), (16_000, 59)))

    assert least["written"] == round(16_000 * prices.written_1h / 1e6, 4)
    assert least["read"] == round(25_000 * prices.read / 1e6, 4)
    assert least["silences"] == 0


def test_at_best_a_night_is_bridged_and_a_week_is_not(costs: ModuleType) -> None:
    prices = costs.Prices.of(MODEL)

    night = costs.least_dollars(MODEL, answers(costs, (100_000, 0), (100_000, 8 * 60 + 30)))
    week = costs.least_dollars(MODEL, answers(costs, (100_000, 0), (100_000, 7 * 24 * 60)))

    assert night["silences"] == round(8 * 100_000 * prices.read / 1e6, 4)
    assert week["silences"] == round(100_000 * (prices.written_1h - prices.read) / 1e6, 4)


def test_at_best_only_the_opening_is_read_behind_a_new_summary(costs: ModuleType) -> None:
    prices = costs.Prices.of(MODEL)
    first, second = answers(costs, (100_000, 0), (12_000, 5))

    least = costs.least_dollars(MODEL, [first, replace(second, follows_compaction=True)])

    assert least["written"] == round(111_000 * prices.written_1h / 1e6, 4)
    assert least["read"] == round(1_000 * prices.read / 1e6, 4)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(1, 100_000), st.integers(0, 60 * 48)), min_size=1, max_size=8))
def test_nothing_that_writes_all_of_its_input_costs_less_than_the_bound(
    costs: ModuleType, steps: list[tuple[int, int]]
) -> None:
    calls = answers(costs, *steps)

    assert costs.least_dollars(MODEL, calls)["all"] <= costs.dollars(MODEL, calls) + 0.001
