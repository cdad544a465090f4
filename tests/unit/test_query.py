"""Mistakes in a question are named, with the next step; times are read as people give them."""

import contextlib
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from recollect.clock import LOCAL
from recollect.errors import Invalid
from recollect.recall import moment_of
from recollect.recall.query import MOST_HITS, Query, check

NOW = datetime(2024, 6, 12, 15, 30, tzinfo=UTC)
"""A Wednesday."""
BERLIN = ZoneInfo("Europe/Berlin")


def asked(**fields: Any) -> Query:
    return Query(**{"text": "beans", "now": NOW, **fields})


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"limit": 1},
        {"limit": MOST_HITS},
        {"authors": ("user", "assistant", "subagent")},
        {"statuses": ("ready", "active")},
        {"since": NOW - timedelta(days=1), "until": NOW},
        {"since": NOW},
        {"as_of": NOW - timedelta(days=3)},
        {"text": "?"},
        {"text": "x" * 100_000},
        {"projects": ("/home/mara/grün haus",)},
    ],
)
def test_a_question_without_mistakes_passes(fields: dict[str, Any]) -> None:
    check(asked(**fields))


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"text": ""}, "nothing to search for"),
        ({"text": " \n\t"}, "nothing to search for"),
        ({"text": "\u2003"}, "nothing to search for"),
        ({"limit": 0}, "limit is 0"),
        ({"limit": -3}, "limit is -3"),
        ({"limit": MOST_HITS + 1}, str(MOST_HITS)),
        ({"since": datetime(2024, 1, 1)}, "'since' has no zone"),  # noqa: DTZ001
        ({"until": datetime(2024, 1, 1)}, "'until' has no zone"),  # noqa: DTZ001
        ({"as_of": datetime(2024, 1, 1)}, "'as of' has no zone"),  # noqa: DTZ001
        ({"now": datetime(2024, 1, 1)}, "'now' has no zone"),  # noqa: DTZ001
        ({"since": NOW, "until": NOW - timedelta(hours=1)}, "upside down"),
        ({"since": NOW, "until": NOW}, "upside down"),
        ({"since": NOW, "as_of": NOW - timedelta(days=2)}, "upside down"),
        ({"since": NOW, "until": NOW + timedelta(days=1), "as_of": NOW - timedelta(days=1)}, "upside down"),
        ({"authors": ("user", "tool")}, "'tool'"),
        ({"authors": ("",)}, "''"),
        ({"statuses": ("done",)}, "'done'"),
        ({"projects": ("\x00",)}, "project"),
        ({"projects": ("\ud800",)}, "project"),
        ({"conversations": ("\x00",)}, "conversation"),
        ({"conversations": ("\ud800",)}, "conversation"),
        ({"now": datetime.max.replace(tzinfo=UTC)}, "'now'"),
        ({"since": datetime.min.replace(tzinfo=timezone(timedelta(hours=14)))}, "'since'"),
        ({"limit": 2.5}, "limit"),
        ({"text": None}, "text"),
    ],
)
def test_a_mistake_is_named(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(Invalid) as caught:
        check(asked(**fields))
    assert named in str(caught.value)
    str(caught.value).encode()  # It can be printed.


def test_what_is_known_is_listed_beside_what_is_not() -> None:
    with pytest.raises(Invalid, match=r"Known: user, assistant, subagent"):
        check(asked(authors=("nobody",)))


def test_the_earlier_of_until_and_as_of_counts() -> None:
    earlier, later = NOW - timedelta(days=2), NOW - timedelta(days=1)
    assert asked().before is None
    assert asked(until=later).before == later
    assert asked(until=later, as_of=earlier).before == earlier
    assert asked(until=earlier, as_of=later).before == earlier


# Moments


def day(number: int, month: int = 6, year: int = 2024) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2024-05-01", day(1, 5), day(2, 5)),
        (" 2024-05-01 ", day(1, 5), day(2, 5)),
        ("20240501", day(1, 5), day(2, 5)),
        ("yesterday", day(11), day(12)),
        ("last week", day(3), day(10)),
        ("last month", day(1, 5), day(1, 6)),
        ("2024-05", day(1, 5), day(1, 6)),
        ("2024-12-31", day(31, 12), day(1, 1, 2025)),
        ("between 2024-05-01 and 2024-05-03", day(1, 5), day(4, 5)),
    ],
)
def test_a_stretch_of_time_has_a_beginning_and_an_end(text: str, start: datetime, end: datetime) -> None:
    assert moment_of(text, NOW, UTC) == start
    assert moment_of(text, NOW, UTC, end=True) == end


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-05-01T12:00", datetime(2024, 5, 1, 12, tzinfo=UTC)),
        ("2024-05-01 12:00", datetime(2024, 5, 1, 12, tzinfo=UTC)),
        ("2024-05-01T12:00:30Z", datetime(2024, 5, 1, 12, 0, 30, tzinfo=UTC)),
        ("2024-05-01T12:00+02:00", datetime(2024, 5, 1, 10, tzinfo=UTC)),
    ],
)
def test_a_time_is_the_same_as_beginning_and_end(text: str, moment: datetime) -> None:
    assert moment_of(text, NOW, UTC) == moment_of(text, NOW, UTC, end=True) == moment


def test_a_time_without_a_zone_is_that_of_the_person() -> None:
    assert moment_of("2024-05-01T12:00", NOW, BERLIN) == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert moment_of("2024-05-01", NOW, BERLIN) == datetime(2024, 4, 30, 22, tzinfo=UTC)
    assert moment_of("yesterday", NOW, BERLIN) == datetime(2024, 6, 10, 22, tzinfo=UTC)


def test_the_end_of_a_day_on_which_clocks_change_is_midnight() -> None:
    assert moment_of("2024-03-31", NOW, BERLIN, end=True) == datetime(2024, 3, 31, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["", "  ", "soon", "2024-13-45", "2024-02-30", "99:99", "beans", "\x00", "\ud800", "x" * 100_000, "-5", "🎉"],
)
def test_what_is_no_time_is_named(text: str) -> None:
    with pytest.raises(Invalid, match="no time that is understood") as caught:
        moment_of(text, NOW, UTC)
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("text", ["9999-12-31", "0001-01-01", "9999-12-31T23:59", "0001-01-01T00:00+14:00"])
@pytest.mark.parametrize(
    "zone",
    [UTC, LOCAL, timezone(timedelta(hours=14)), timezone(-timedelta(hours=12))],
    ids=["UTC", "local", "+14", "-12"],
)
def test_at_the_edge_of_the_calendar_nothing_breaks(text: str, zone: tzinfo) -> None:
    for end in (False, True):
        with contextlib.suppress(Invalid):
            assert moment_of(text, NOW, zone, end=end).tzinfo is UTC
