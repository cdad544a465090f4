"""Twelve weeks of an agent that may write first, on a clock that is moved: no rule is ever broken, and the diary has
one entry for each day, under its right name, across two changes of the clocks.

The weeks are made up by `benchmarks/heartbeat_plan.py` and lived by `benchmarks/heartbeat_life.py`: nights in which the
computer sleeps, a clock that is wrong, a line that is down, answers that take an hour, and what people wish. In
Casablanca the clocks change at the beginning and the end of Ramadan. The traveller sees them change in Berlin, and a
week later in New York.
"""

import importlib
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any
from zoneinfo import ZoneInfo

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
HOUR = timedelta(hours=1)
PLANS: dict[str, dict[str, Any]] = {
    "Casablanca": {
        "zone": "Africa/Casablanca",
        "start": datetime(2027, 1, 16, 23, tzinfo=UTC),
        "reflection": "30 2 * * *",
        "seed": 8,
    },
    "traveller": {
        "zone": "Europe/Berlin",
        "start": datetime(2026, 9, 20, 22, tzinfo=UTC),
        "flight": (
            datetime(2026, 10, 28, 8, tzinfo=UTC),
            datetime(2026, 10, 28, 19, tzinfo=UTC),
            "America/New_York",
        ),
        "yes_share": 0.4,
        "seed": 9,
    },
}
"""The model of the first would always write: that is the worst case. That of the second would at times; it has as long
a life and is left to `make soak`."""


@pytest.fixture(scope="module")
def living() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield importlib.import_module("heartbeat_life")


@pytest.mark.parametrize("who", ["Casablanca", pytest.param("traveller", marks=pytest.mark.soak)])
def test_twelve_weeks_break_no_rule_and_leave_one_diary_entry_a_day_across_two_changes_of_the_clocks(
    living: ModuleType, tmp_path: Path, who: str
) -> None:
    """One test for all that is to hold: the weeks are lived once for it."""
    plan = living.Plan(days=84, schedule="0 */3 * * *", talks_a_day=0.7, **PLANS[who])

    lived = living.Life(plan, tmp_path / "home").live()

    no_rule_was_broken(lived)
    it_was_held_back_by_just_the_rules_that_forbade_it(lived)
    what_arrived_is_within_the_hours_and_the_number_of_a_day(plan, lived)
    who_does_not_answer_hears_less_and_less_and_then_nothing(plan, lived)
    nobody_is_written_to_about_what_they_asked_not_to_be(lived)
    every_moment_is_one_event_and_a_model_is_asked_for_no_other(lived)
    each_day_on_which_the_computer_ran_has_one_entry(plan, lived)
    entries_are_named_after_the_clock_on_the_wall(lived)
    an_hour_that_is_left_out_or_shown_twice_has_its_one_entry(plan, lived)
    an_entry_is_not_written_again_when_the_clock_is_set_back(plan, lived)


def no_rule_was_broken(lived: Any) -> None:
    assert not lived.watch.broken
    assert len(lived.arrived) > 20
    assert lived.watch.undelivered == 0
    assert lived.unruled["quiet hours"] > 50, "a model that were asked at every moment would have broken them"


def it_was_held_back_by_just_the_rules_that_forbade_it(lived: Any) -> None:
    assert lived.disagreements == []
    assert all(one.was_asked == (not one.expected) for one in lived.moments)
    held_back = Counter(rule for one in lived.moments for rule in one.rules)
    rules = {"turn", "place", "unwelcome", "not now", "quiet hours", "active", "undelivered", "recent", "unanswered"}
    assert set(held_back) >= rules, "each of them had its day"


def what_arrived_is_within_the_hours_and_the_number_of_a_day(plan: Any, lived: Any) -> None:
    shown = [at.astimezone(ZoneInfo(plan.zone_at(at))) for at, _ in lived.arrived]

    assert all(8 <= one.hour < 22 for one in shown)
    assert max(Counter(one.date() for one in shown).values()) <= 2
    assert max(Counter(one.isocalendar()[:2] for one in shown).values()) <= 14


def who_does_not_answer_hears_less_and_less_and_then_nothing(plan: Any, lived: Any) -> None:
    first, last = (plan.start + timedelta(days=day) for day in plan.silent_days)
    written = [at for at in lived.watch.written if first <= at < last]
    gaps = [(after - before) / HOUR for before, after in pairwise(written)]

    assert 3 <= len(written) <= 5
    assert all(gap >= least for gap, least in zip(gaps, (12, 24, 48, 96), strict=False))


def nobody_is_written_to_about_what_they_asked_not_to_be(lived: Any) -> None:
    held_back = [one for one in lived.moments if one.outcome == "quiet" and "'the boat'" in one.reason]

    assert held_back, "the model would have written about it"
    assert all(one.was_asked for one in held_back)
    assert any("boat" in text for _, text in lived.arrived)
    assert lived.watch.broken["topic"] == 0


def every_moment_is_one_event_and_a_model_is_asked_for_no_other(lived: Any) -> None:
    events = [one for one in lived.events if one.name == "heartbeat"]
    asked = [one for one in lived.events if one.name == "model" and one.detail["purpose"] == "heartbeat"]

    assert Counter(one.outcome for one in events) == Counter(one.outcome for one in lived.moments)
    assert all(one.detail["reason"] for one in events)
    assert sum(one.outcome == "yes" for one in events) == len(lived.arrived) == len(lived.watch.written)
    assert len(asked) == sum(one.was_asked for one in lived.moments)


# The diary


def slots(plan: Any) -> list[tuple[date, datetime]]:
    """When it is to look back, on each day by the clock on the wall: where that leaves the time out, right after."""
    minute, hour, *_ = plan.reflection.split()
    found: list[tuple[date, datetime]] = []
    for number in range(plan.days):
        noon = plan.at(number, 12)
        zone = ZoneInfo(plan.zone_at(noon + 12 * HOUR))
        day = noon.astimezone(zone).date()
        moment = datetime.combine(day, time(int(hour), int(minute)), zone).astimezone(UTC)
        shown = moment.astimezone(zone)
        found.append((day, moment - timedelta(minutes=shown.minute) if shown.hour != int(hour) else moment))
    return found


def each_day_on_which_the_computer_ran_has_one_entry(plan: Any, lived: Any) -> None:
    written = [one for one in lived.reflections if one.wrote]
    begins = slots(plan)
    ends = [moment for _, moment in begins[1:]] + [plan.end]
    right_in_time = 0

    for (day, begin), end in zip(begins, ends, strict=True):
        is_on = any(max(on, begin) < min(off, end) for on, off in lived.on)
        entries = [one for one in written if begin <= one.at < end]
        assert len(entries) == is_on, day
        skipped = any(one.outcome == "skipped" and begin <= one.at < end for one in lived.reflections)
        if any(on <= begin and off >= begin + HOUR / 4 for on, off in lived.on) and not skipped:
            assert entries[0].at < begin + timedelta(minutes=10, seconds=15), day
            right_in_time += 1
    assert right_in_time > 40


def entries_are_named_after_the_clock_on_the_wall(lived: Any) -> None:
    names = [name for one in lived.reflections for name in one.wrote]

    for one in lived.reflections:
        shown = one.at.astimezone(ZoneInfo(one.zone))
        assert list(one.wrote) in ([f"{shown:%Y-%m-%dT%H-%M-%S}"], [])
    assert sorted(names) == lived.diary
    assert len(set(names)) == len(names)


def an_hour_that_is_left_out_or_shown_twice_has_its_one_entry(plan: Any, lived: Any) -> None:
    changes = {"Africa/Casablanca": ("2027-02-07", "2027-03-14"), "Europe/Berlin": ("2026-10-25", "2026-11-01")}
    entries = {day: [name for name in lived.diary if name.startswith(day)] for day in changes[plan.zone]}

    assert [len(names) for names in entries.values()] == [1, 1]
    (first,), (second,) = entries.values()
    if plan.zone == "Africa/Casablanca":
        assert first.startswith("2027-02-07T02-3")
        at = next(one.at for one in lived.reflections if first in one.wrote)
        assert at.hour == 1, "the first time that the clock shows half past two"
        assert second.startswith("2027-03-14T03-0"), "when the clock has left out half past two"
    else:
        assert {first[10:14], second[10:14]} == {"T21-"}


def an_entry_is_not_written_again_when_the_clock_is_set_back(plan: Any, lived: Any) -> None:
    day = plan.at(plan.wrong_clock_day, 12).astimezone(ZoneInfo(plan.zone)).date()

    assert sum(name.startswith(str(day)) for name in lived.diary) == 1


# The other engine


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_two_weeks_with_a_change_of_the_clocks_are_the_same_on_postgresql(
    living: ModuleType, engine: str, tmp_path: Path
) -> None:
    plan = living.Plan(
        zone="Africa/Casablanca",
        start=datetime(2027, 1, 30, 23, tzinfo=UTC),
        days=14,
        reflection="30 2 * * *",
        schedule="0 */3 * * *",
        silent_days=(9, 14),
        wrong_clock_day=4,
    )

    lived = living.Life(plan, tmp_path / "home", engine).live()

    assert not lived.watch.broken
    assert lived.disagreements == []
    assert len(lived.arrived) >= 5
    assert len(lived.diary) == 14
    assert sum(name.startswith("2027-02-07") for name in lived.diary) == 1
