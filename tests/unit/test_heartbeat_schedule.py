"""When a heartbeat is due: over daylight saving, sleep, and clocks that are set."""

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.clock import LOCAL, choose_zone
from recollect.errors import Invalid
from recollect.mind.heartbeat.schedule import Due, Schedule, check

ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"]
EXPRESSIONS = [
    "0 * * * *",
    "30 21 * * *",
    "30 2 * * *",
    "15 2 * * *",
    "*/20 3 * * *",
    "0 9-17/2 * * 1-5",
    "45 1,2,3 * * *",
]
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)

moments = st.timedeltas(timedelta(), timedelta(days=1000)).map(lambda since: datetime(2025, 1, 1, tzinfo=UTC) + since)
near_changes = st.builds(
    lambda day, seconds: day + timedelta(seconds=seconds),
    st.sampled_from(
        [
            datetime(2026, *day, tzinfo=UTC)
            for day in ((3, 8), (3, 29), (4, 4), (10, 3), (10, 25), (11, 1))  # Of these zones
        ]
    ),
    st.integers(-12 * 3600, 36 * 3600),
)
schedules = st.builds(
    Schedule,
    expression=st.sampled_from(EXPRESSIONS),
    jitter_minutes=st.sampled_from([0, 0.5, 10, 45, 600]),
    seed=st.sampled_from(["", "ada", "bob"]),
)


@contextmanager
def zone(name: str) -> Iterator[None]:
    choose_zone(name)
    try:
        yield
    finally:
        choose_zone("")


@contextmanager
def computer_in(name: str) -> Iterator[None]:
    """No zone in the settings: that of the computer."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def following(schedule: Schedule, start: datetime, number: int) -> list[datetime]:
    found: list[datetime] = []
    for _ in range(number):
        start = schedule.next_after(start)
        found.append(start)
    return found


def shown(moments_found: list[datetime]) -> list[str]:
    return [f"{moment.astimezone(LOCAL):%d %H:%M %z}" for moment in moments_found]


# Times


@given(schedules, st.one_of(moments, near_changes), st.sampled_from(ZONES))
def test_times_are_later_each_time_and_the_same_whoever_asks(schedule: Schedule, start: datetime, name: str) -> None:
    with zone(name):
        found = following(schedule, start, 6)
        assert [start, *found] == sorted({start, *found})
        middle = start + (found[0] - start) / 2
        assert schedule.next_after(middle) == found[0]
        assert schedule.next_after(found[0] - timedelta(microseconds=1)) == found[0]
    assert all(moment.tzinfo is UTC for moment in found)


@given(st.one_of(moments, near_changes), st.sampled_from(ZONES), st.sampled_from(EXPRESSIONS))
def test_lateness_is_less_than_the_jitter_and_never_into_the_next_time(start: datetime, name: str, text: str) -> None:
    with zone(name):
        plain = following(Schedule(expression=text), start, 8)
        for minutes in (10, 45, 600):
            late = following(
                Schedule(expression=text, jitter_minutes=minutes, seed="ada"), plain[0] - timedelta(seconds=1), 7
            )
            if late[0] < plain[0]:  # Still that of the time before.
                late = late[1:]
            for slot, after, moment in zip(plain, plain[1:], late, strict=False):
                assert slot <= moment < min(after, slot + timedelta(minutes=minutes))


@pytest.mark.parametrize("name", ZONES)
@pytest.mark.parametrize("text", ["30 21 * * *", "30 2 * * *", "15 2 * * *", "0 0 * * *", "45 1 * * *", "0 3 * * *"])
@pytest.mark.parametrize("minutes", [0, 25])
def test_a_daily_time_comes_once_on_each_day_of_two_years(name: str, text: str, minutes: int) -> None:
    with zone(name):
        found = following(Schedule(expression=text, jitter_minutes=minutes), at("2025-12-31T23:00Z"), 730)
        days = Counter(moment.astimezone(LOCAL).date() for moment in found[1:-1])
    assert set(days.values()) == {1}
    assert (max(days) - min(days)).days == len(days) - 1


@pytest.mark.parametrize("name", ZONES)
@pytest.mark.parametrize("start", [at("2026-03-01T00:00Z"), at("2026-09-28T00:00Z")])
def test_an_hourly_time_comes_whenever_the_clock_shows_the_hour(name: str, start: datetime) -> None:
    with zone(name):
        halves = (start + number * HOUR / 2 for number in range(1, 2 * 24 * 40 + 1))
        expected = [moment for moment in halves if moment.astimezone(LOCAL).minute == 0]
        assert following(Schedule(expression="0 * * * *"), start, len(expected)) == expected


def test_a_time_that_the_clocks_leave_out_comes_at_the_end_of_the_gap() -> None:
    with zone("Europe/Berlin"):
        found = following(Schedule(expression="30 2 * * *"), at("2026-03-28T12:00Z"), 2)
        assert shown(found) == ["29 03:00 +0200", "30 02:30 +0200"]


def test_a_time_that_the_clocks_show_twice_comes_the_first_time() -> None:
    with zone("Europe/Berlin"):
        schedule = Schedule(expression="30 2 * * *")
        assert shown(following(schedule, at("2026-10-24T12:00Z"), 2)) == ["25 02:30 +0200", "26 02:30 +0100"]
        between = at("2026-10-25T02:10+01:00")  # It shows 02:10 for the second time.
        assert shown([schedule.next_after(between)]) == ["26 02:30 +0100"]


def test_half_an_hour_of_daylight_saving_takes_no_time_away() -> None:
    with zone("Australia/Lord_Howe"):
        found = following(Schedule(expression="*/20 3 * * *"), at("2026-04-04T18:00+11:00"), 4)
        assert shown(found) == ["05 03:00 +1030", "05 03:20 +1030", "05 03:40 +1030", "06 03:00 +1030"]


@pytest.mark.parametrize("name", ZONES)
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_the_zone_of_the_computer_gives_the_same_times_as_that_of_the_settings(name: str, text: str) -> None:
    schedule = Schedule(expression=text, jitter_minutes=10)
    starts = [at(f"2026-{month:02}-{day:02}T00:00Z") for month, day in ((1, 1), (3, 28), (4, 4), (10, 3), (10, 24))]
    with zone(name):
        chosen = [following(schedule, start, 30) for start in starts]
    with computer_in(name):
        assert [following(schedule, start, 30) for start in starts] == chosen


@pytest.mark.parametrize("name", ZONES)
def test_in_the_zone_of_the_computer_an_hour_that_is_shown_twice_is_two_hours(name: str) -> None:
    with computer_in(name):
        for number in range(2 * 24 * 365):
            moment = at("2026-01-01T00:15Z") + number * HOUR / 2
            assert moment.astimezone(LOCAL).astimezone(UTC) == moment


def test_two_with_the_same_times_are_not_late_by_the_same() -> None:
    start = at("2026-01-01T00:00Z")
    ada = following(Schedule(expression="0 * * * *", jitter_minutes=10, seed="ada"), start, 50)
    bob = following(Schedule(expression="0 * * * *", jitter_minutes=10, seed="bob"), start, 50)
    assert len(set(ada) & set(bob)) < 5
    assert len({moment.minute for moment in ada}) == 10


# What a kept time means


def test_the_first_look_is_not_due_and_keeps_the_next_time() -> None:
    schedule = Schedule(expression="0 * * * *")
    assert schedule.standing(at("2026-01-01T10:20Z"), None, "") == Due(is_due=False, due_at=at("2026-01-01T11:00Z"))


@given(schedules, moments, st.sampled_from(ZONES), st.timedeltas(timedelta(), timedelta(days=400)))
def test_after_any_sleep_it_is_due_once(schedule: Schedule, start: datetime, name: str, slept: timedelta) -> None:
    with zone(name):
        kept = schedule.next_after(start)
        woken = schedule.standing(kept + slept, kept, schedule.expression)
        assert woken.is_due
        assert woken.due_at == schedule.next_after(kept + slept)
        assert schedule.standing(kept + slept, woken.due_at, schedule.expression) == Due(
            is_due=False, due_at=woken.due_at
        )


@given(schedules, st.one_of(moments, near_changes), st.sampled_from(ZONES), st.floats(0, 1))
def test_looking_before_it_is_due_changes_nothing(schedule: Schedule, start: datetime, name: str, part: float) -> None:
    with zone(name):
        kept = schedule.next_after(start)
        now = start + (kept - start) * part * 0.999
        assert schedule.standing(now, kept, schedule.expression) == Due(is_due=False, due_at=kept)


@given(schedules, moments, st.sampled_from(ZONES), st.timedeltas(timedelta(seconds=1), timedelta(days=400)))
@example(Schedule(expression="0 * * * *"), at("2026-03-01T00:00Z"), "UTC", DAY)
@example(Schedule(expression="30 21 * * *"), at("2026-03-01T00:00Z"), "UTC", 365 * DAY)
def test_a_clock_set_back_is_silent_no_longer_than_until_the_next_time_but_one(
    schedule: Schedule, start: datetime, name: str, back: timedelta
) -> None:
    with zone(name):
        kept = schedule.next_after(start)
        now = start - back
        due = schedule.standing(now, kept, schedule.expression)
        slots = following(Schedule(expression=schedule.expression), now, 2)
    assert not due.is_due
    assert now < due.due_at <= slots[1] + timedelta(minutes=schedule.jitter_minutes)


@pytest.mark.parametrize("back", [timedelta(seconds=30), 2 * HOUR, timedelta(hours=20)])
def test_a_clock_set_back_by_less_than_a_day_does_not_bring_the_time_of_a_day_again(back: timedelta) -> None:
    schedule = Schedule(expression="30 21 * * *", jitter_minutes=10)
    done = schedule.next_after(at("2026-01-01T12:00Z"))
    kept = schedule.standing(done, done, schedule.expression).due_at
    assert schedule.standing(done - back, kept, schedule.expression) == Due(is_due=False, due_at=kept)


@pytest.mark.parametrize("forward", [DAY, 365 * DAY])
def test_a_clock_set_forward_and_back_is_due_once_and_then_as_before(forward: timedelta) -> None:
    schedule = Schedule(expression="0 * * * *", jitter_minutes=10)
    now = at("2026-01-01T10:30Z")
    kept = schedule.next_after(now)
    ahead = schedule.standing(now + forward, kept, schedule.expression)
    assert ahead.is_due
    right = schedule.standing(now, ahead.due_at, schedule.expression)
    assert right == Due(is_due=False, due_at=kept)


def test_another_schedule_is_not_due_by_the_time_of_the_old_one() -> None:
    schedule = Schedule(expression="0 9 * * *")
    now = at("2026-01-01T10:20Z")
    for kept in (now - HOUR, now + 40 * DAY):
        assert schedule.standing(now, kept, "0 * * * *") == Due(is_due=False, due_at=at("2026-01-02T09:00Z"))


def test_another_zone_moves_a_time_that_is_to_come() -> None:
    schedule = Schedule(expression="30 21 * * *")
    now = at("2026-01-01T12:00Z")
    with zone("Europe/Berlin"):
        kept = schedule.next_after(now)
    with zone("America/New_York"):
        assert schedule.standing(now, kept, schedule.expression).due_at == at("2026-01-01T21:30-05:00")


# Bad input


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it has 0 fields"),
        ("* * * *", "it has 4 fields"),
        ("0 0 * * * *", "it has 6 fields"),
        ("@daily", "it has 1 fields"),
        ("60 * * * *", "bad minute"),
        ("0 24 * * *", "bad hour"),
        ("0 0 30 2 *", "bad day-of-month"),
        ("0 0 * * monkey", "bad day-of-week"),
        ("*/0 * * * *", "bad minute"),
        ("0 " * 500, "it has 1,000 characters"),
    ],
)
def test_what_is_no_time_is_refused_by_the_name_of_its_setting(text: str, why: str) -> None:
    with pytest.raises(Invalid, match=r"heartbeat\.schedule is ") as refused:
        check(text, "heartbeat.schedule")
    assert f"which is no time of a crontab: {why}. Write five fields such as 0 * * * *." in str(refused.value)


@pytest.mark.parametrize("text", [*EXPRESSIONS, "0 9 * * MON-FRI", "0 9 L * *", "0 0 29 2 *", " 0  9 * * 7 "])
def test_what_a_crontab_takes_is_taken(text: str) -> None:
    check(text, "heartbeat.schedule")
    assert Schedule(expression=text).next_after(at("2026-01-01T00:00Z")) > at("2026-01-01T00:00Z")


@given(st.lists(st.text("0123456789*/,-#LW A", max_size=6), min_size=5, max_size=5).map(" ".join))
def test_any_text_is_taken_or_refused(text: str) -> None:
    try:
        check(text, "heartbeat.schedule")
    except Invalid:
        return
    assert Schedule(expression=text, jitter_minutes=10).next_after(at("2026-01-01T00:00Z")) > at("2026-01-01T00:00Z")
