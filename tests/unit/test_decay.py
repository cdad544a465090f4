"""Recency halves in 30 days."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.recall.decay import recency
from recollect.recall.index.formats import NO_TIME

NOW = 1_800_000_000_000
DAY = 86_400_000
STEADY = settings(derandomize=True, deadline=None, database=None)


def days_ago(*days: float) -> np.ndarray:
    return np.array([NOW - round(day * DAY) for day in days], np.int64)


def test_recency_halves_every_thirty_days() -> None:
    assert recency(days_ago(0, 30, 60, 90), NOW) == pytest.approx([1.0, 0.5, 0.25, 0.125])


def test_fifteen_days_are_the_root_of_a_half() -> None:
    assert recency(days_ago(15), NOW) == pytest.approx([0.5**0.5])


def test_the_future_is_as_recent_as_now() -> None:
    assert recency(days_ago(-1, -1_000), NOW).tolist() == [1.0, 1.0]


def test_what_has_no_time_counts_as_long_ago() -> None:
    assert recency(np.array([NO_TIME], np.int64), NOW).tolist() == [0.0]


def test_evergreen_things_keep_it_all() -> None:
    assert recency(days_ago(30, 30), NOW, np.array([True, False])) == pytest.approx([1.0, 0.5])


@STEADY
@given(st.lists(st.floats(0, 40_000), min_size=2))
def test_the_older_is_never_fresher(days: list[float]) -> None:
    found = recency(days_ago(*sorted(days)), NOW)
    assert (np.diff(found) <= 0).all()
    assert ((found >= 0) & (found <= 1)).all()
