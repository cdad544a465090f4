"""How much a moment lies in the times that a question names."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.recall.index.formats import NO_TIME
from recollect.recall.periods import LEAST_SLACK, Span, asked_periods, inside, spans

NOW = datetime(2024, 6, 12, 15, 30, tzinfo=UTC)
"""A Wednesday."""
DAY = 86_400_000
STEADY = settings(derandomize=True, deadline=None, database=None)
WEEK = Span(10 * DAY, 17 * DAY, 2 * DAY)


def days(*numbers: float) -> np.ndarray:
    return np.array([round(number * DAY) for number in numbers], np.int64)


def test_a_moment_inside_counts_whole() -> None:
    assert inside(days(10, 13.5, 17), [WEEK]).tolist() == [1.0, 1.0, 1.0]


def test_a_moment_outside_counts_a_half_at_the_slack_and_less_beyond() -> None:
    assert inside(days(8, 19, 6, 21, 12), [WEEK]) == pytest.approx([0.5, 0.5, 0.25, 0.25, 1.0])


def test_the_best_of_several_spans_counts() -> None:
    other = Span(30 * DAY, 31 * DAY, DAY)
    assert inside(days(12, 30, 32, 23), [WEEK, other]) == pytest.approx([1.0, 1.0, 0.5, 0.125])


def test_without_spans_and_without_a_time_nothing_counts() -> None:
    assert inside(days(12), []).tolist() == [0.0]
    assert inside(np.array([NO_TIME], np.int64), [WEEK]).tolist() == [0.0]


@STEADY
@given(st.lists(st.floats(-1_000, 1_000), min_size=1), st.floats(0, 500), st.floats(0, 500), st.floats(0.1, 50))
def test_a_moment_never_counts_less_than_nothing_or_more_than_all(
    moments: list[float], start: float, length: float, slack: float
) -> None:
    span = Span(round(start * DAY), round((start + length) * DAY), round(slack * DAY))
    found = inside(days(*moments), [span])
    assert ((found >= 0) & (found <= 1)).all()
    assert (found[(days(*moments) >= span.start) & (days(*moments) <= span.end)] == 1).all()


def test_a_period_becomes_a_span_in_milliseconds() -> None:
    (span,) = spans(asked_periods("what did we say last week?", NOW, UTC))
    assert span.start == datetime(2024, 6, 3, tzinfo=UTC).timestamp() * 1000
    assert span.end == datetime(2024, 6, 10, tzinfo=UTC).timestamp() * 1000


def test_days_are_those_of_the_zone() -> None:
    """It is half past midnight in Tokyo, on the 13th."""
    (span,) = spans(asked_periods("yesterday", NOW, ZoneInfo("Asia/Tokyo")))
    assert span.start == datetime(2024, 6, 11, 15, tzinfo=UTC).timestamp() * 1000


def test_a_span_has_at_least_some_slack() -> None:
    (span,) = spans(asked_periods("yesterday evening", NOW, UTC))
    assert span.slack >= LEAST_SLACK / timedelta(milliseconds=1)


@pytest.mark.parametrize("text", ["what shall I cook tonight?", "the plan for next week", "tomorrow"])
def test_what_lies_ahead_is_not_where_to_look(text: str) -> None:
    assert asked_periods(text, NOW, UTC) == []


@pytest.mark.parametrize(
    "text", ["two weeks ago", "in May 2023", "since March", "last Friday", "this year", "today", "this morning"]
)
def test_what_lies_behind_is(text: str) -> None:
    assert asked_periods(text, NOW, UTC)
