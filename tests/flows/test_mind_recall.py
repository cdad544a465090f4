"""What was said ten minutes, a day and three weeks ago is found with the tools of the mind, however often it was
condensed since. The long form is `benchmarks/mind_recall.py`."""

import asyncio
import importlib
from pathlib import Path

import pytest
from conftest import FrozenClock, OpenHouse

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
SEVERAL = 3


def test_facts_of_ten_minutes_a_day_and_three_weeks_ago_are_all_found_through_the_tools(
    open_house: OpenHouse, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    mind_recall = importlib.import_module("mind_recall")
    memory = open_house(mind={"model": "scripted", "compact_at_tokens": 2_000})

    found = asyncio.run(mind_recall.recall(memory, clock, seed=3, days=3, exchanges_a_day=4, facts=2))

    assert found.missed == []
    assert found.asked == found.found == {"10 minutes": 2, "1 day": 2, "3 weeks": 2}
    assert found.compactions_since["3 weeks"] >= SEVERAL
    assert found.compactions_since["1 day"] >= 1
