"""Times are text that sorts; ids are new and ordered, or derived and the same (H8)."""

import re
import time
import uuid
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.clock import LOCAL, from_text, local, parse_time, system_clock, to_text
from recollect.ids import derived_id, new_id

STORED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=zones)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ("2026-02-21T02:54:11.688Z", "2026-02-21T02:54:11.688Z"),
        ("2026-02-21T02:54:11Z", "2026-02-21T02:54:11.000Z"),
        ("2026-02-21T03:54:11.688123+01:00", "2026-02-21T02:54:11.688Z"),
        ("2026-02-21 02:54:11", "2026-02-21T02:54:11.000Z"),
        ("2026-02-21", "2026-02-21T00:00:00.000Z"),
        ("2026-W08-6T02:54:11.688Z", "2026-02-21T02:54:11.688Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
        (1_771_642_451, "2026-02-21T02:54:11.000Z"),
        (1_771_642_451.688, "2026-02-21T02:54:11.688Z"),
        (1_771_642_451_688, "2026-02-21T02:54:11.688Z"),
        (0, "1970-01-01T00:00:00.000Z"),
    ],
)
def test_usual_spellings_of_a_moment_are_read(value: object, stored: str) -> None:
    assert parse_time(value) == stored


@pytest.mark.parametrize(
    "value",
    [
        "",
        "yesterday",
        "2026-13-01T00:00:00Z",
        "2026-02-30T00:00:00.000Z",
        "\ud83d",
        None,
        True,
        [],
        {},
        10**18,
        10**400,
        -(10**400),
        float("nan"),
        float("inf"),
        "0001-01-01T00:00:00+05:00",
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_what_is_no_moment_is_none_case_32(value: object) -> None:
    assert parse_time(value) is None


@given(moments)
@settings(max_examples=100)
def test_stored_times_have_one_width_and_come_back(moment: datetime) -> None:
    stored = to_text(moment)
    assert STORED.fullmatch(stored)
    assert abs(from_text(stored) - moment) < timedelta(milliseconds=1)
    assert parse_time(stored) == stored
    assert parse_time(moment.isoformat()) == stored


@given(moments, moments)
@settings(max_examples=100)
def test_stored_times_sort_as_they_happened(first: datetime, second: datetime) -> None:
    if abs(first - second) >= timedelta(milliseconds=1):
        assert (to_text(first) < to_text(second)) == (first < second)


@given(st.text(max_size=30) | st.integers() | st.floats())
@settings(max_examples=100)
def test_reading_a_time_never_fails(value: object) -> None:
    stored = parse_time(value)
    assert stored is None or STORED.fullmatch(stored)


def test_the_clock_is_aware_and_people_see_their_own_zone() -> None:
    assert system_clock().tzinfo is UTC
    assert local("2026-02-21T02:54:11.688Z") == datetime(2026, 2, 21, 2, 54, 11, 688_000, tzinfo=UTC)
    assert local("2026-02-21T02:54:11.688Z").tzinfo is not None


def test_new_ids_are_version_7_uuids_in_the_order_of_their_making() -> None:
    made = [new_id() for _ in range(200)]
    assert len(set(made)) == 200
    assert {uuid.UUID(item).version for item in made} == {7}
    assert {uuid.UUID(item).variant for item in made} == {uuid.RFC_4122}
    milliseconds = [uuid.UUID(item).int >> 80 for item in made]
    assert milliseconds == sorted(milliseconds)


def test_derived_ids_are_the_same_on_every_computer() -> None:
    assert derived_id("conversation", "claude-code", "m1") == derived_id("conversation", "claude-code", "m1")
    assert re.fullmatch(r"[0-9a-f]{24}", derived_id())
    assert derived_id("a", "b") != derived_id("ab")
    assert derived_id("a", "b") != derived_id("b", "a")
    assert derived_id("\ud83d") != derived_id("\ud83e")


@given(st.lists(st.text("ab", max_size=3), max_size=4), st.lists(st.text("ab", max_size=3), max_size=4))
@settings(max_examples=100)
def test_different_parts_give_different_ids(first: list[str], second: list[str]) -> None:
    if len(first) > 1 or len(second) > 1:
        assert (derived_id(*first) == derived_id(*second)) == (first == second)


def test_the_local_zone_knows_summer_and_winter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        assert datetime(2026, 1, 10, 12, tzinfo=LOCAL).utcoffset() == timedelta(hours=1)
        assert datetime(2026, 7, 10, 12, tzinfo=LOCAL).utcoffset() == timedelta(hours=2)
        summer = datetime(2026, 7, 10, 22, 30, tzinfo=UTC).astimezone(LOCAL)
        assert (summer.day, summer.hour, summer.tzname()) == (11, 0, "CEST")
    finally:
        monkeypatch.undo()
        time.tzset()


def test_of_two_new_ids_the_later_is_greater() -> None:
    made = [new_id() for _ in range(20_000)]
    assert made == sorted(set(made))
