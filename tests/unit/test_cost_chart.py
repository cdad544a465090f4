"""The chart of `recollect costs`: bars that are true to their figures and fit the terminal."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.surfaces.cli.chart import BLOCKS, MOST_LINES, PLAIN, Bar, drawn, periods

FIGURES = st.one_of(st.just(0.0), st.floats(0.000_001, 1_000))
NOTES = st.sampled_from(["$0", "$1,234"])
BARS = st.lists(st.builds(Bar, label=st.just("2026-03-02"), parts=st.tuples(FIGURES, FIGURES, FIGURES), note=NOTES))
DAYS = st.dictionaries(
    st.integers(0, 1_200).map(lambda number: (date(2024, 1, 1) + timedelta(days=number)).isoformat()),
    st.tuples(st.integers(0, 9), st.integers(0, 9)),
    max_size=20,
)
LAST = "2027-12-31"


def test_a_bar_is_as_long_as_its_sum_and_its_parts_follow_each_other():
    bars = [
        Bar(label="one", parts=(1, 1, 2), note="4"),
        Bar(label="two", parts=(2, 0, 0), note="2"),
        Bar(label="none", parts=(0, 0, 0), note="0"),
    ]
    assert drawn(bars, 21, PLAIN) == [
        "one   ###===......  4",
        "two   ######        2",
        "none                0",
    ]


@given(BARS, st.integers(45, 200), st.sampled_from([BLOCKS, PLAIN]))
def test_no_line_is_wider_than_the_terminal_and_whatever_was_spent_is_seen(bars: list[Bar], columns: int, marks: str):
    lines = drawn(bars, columns, marks)
    lengths = [sum(map(line.count, marks)) for line in lines]
    assert all(len(line) <= columns for line in lines)
    for one, length in zip(bars, lengths, strict=True):
        assert (length > 0) == (one.sum > 0)
        assert all(length >= other for two, other in zip(bars, lengths, strict=True) if two.sum < one.sum)


@given(DAYS)
def test_every_figure_stands_in_one_period_and_there_are_never_too_many(days: dict[str, tuple[int, int]]):
    found = periods(days, max(days, default=LAST))
    assert len(found) <= 40
    for index in (0, 1):
        assert sum(sums[index] for sums in found.values()) == sum(figures[index] for figures in days.values())
    assert list(found) == list(dict.fromkeys(found))


@pytest.mark.parametrize(
    ("last", "labels", "number"),
    [
        ("2026-03-05", ["Mon 2026-03-02", "Tue 2026-03-03", "Wed 2026-03-04", "Thu 2026-03-05"], 4),
        ("2026-04-02", ["week of 2026-03-02", "week of 2026-03-09"], 5),
        ("2027-03-02", ["2026-03", "2026-04"], 13),
    ],
)
def test_days_become_weeks_and_weeks_months_where_there_are_too_many(last: str, labels: list[str], number: int):
    found = periods({"2026-03-02": (1, 2)}, last)
    assert list(found)[: len(labels)] == labels
    assert len(found) == number <= MOST_LINES
    assert found[labels[0]] == (1, 2)
    assert found[labels[1]] == (0, 0)


def test_nothing_spent_is_no_chart():
    assert (periods({}, LAST), drawn([], 80, PLAIN)) == ({}, [])
