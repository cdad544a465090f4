"""Who lends to whom, and how much a turn needs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.recall.lending import DISTANCES, REACH, Docs, need, neighbourhood

STEADY = settings(derandomize=True, deadline=None, database=None)


def row_of(size: int, *breaks: int):
    """Neighbours in a row of documents that is broken into conversations before these."""
    conversation = np.searchsorted(sorted(breaks), np.arange(size), side="right")

    def neighbours(docs: Docs, distance: int) -> Docs:
        others = docs + distance
        inside = (others >= 0) & (others < size)
        kept = np.where(inside, others, 0)
        return np.where(inside & (conversation[kept] == conversation[docs]), others, -1)

    return neighbours


def test_need_is_one_without_words_and_a_half_at_the_telling_number() -> None:
    assert need(np.array([0, 60, 180], np.uint32), 60.0).tolist() == [1.0, 0.5, 0.25]


@STEADY
@given(st.lists(st.integers(0, 2**32 - 1), min_size=1))
def test_need_falls_with_the_number_of_words_and_stays_between_zero_and_one(words: list[int]) -> None:
    found = need(np.array(sorted(words), np.uint32), 60.0)
    assert ((found > 0) & (found <= 1)).all()
    assert (np.diff(found) <= 0).all()


def test_the_neighbours_of_what_was_chosen_are_there_too() -> None:
    around = neighbourhood(np.array([5]), row_of(10))
    assert around.docs.tolist() == [3, 4, 5, 6, 7]


def test_neighbours_stay_inside_their_conversation() -> None:
    around = neighbourhood(np.array([5]), row_of(10, 5, 7))
    assert around.docs.tolist() == [5, 6]
    assert around.borrowed(np.array([8.0, 1.0])).tolist() == [1.0, 8.0]


def test_what_is_borrowed_counts_half_at_twice_the_distance() -> None:
    around = neighbourhood(np.arange(5), row_of(5))
    assert around.borrowed(np.array([0.0, 0.0, 8.0, 0.0, 0.0])).tolist() == [4.0, 8.0, 0.0, 8.0, 4.0]


def test_nobody_borrows_from_further_than_the_reach() -> None:
    around = neighbourhood(np.arange(9), row_of(9))
    values = np.zeros(9)
    values[0] = 1.0
    assert np.flatnonzero(around.borrowed(values)).tolist() == list(range(1, REACH + 1))


def test_a_document_alone_borrows_nothing() -> None:
    around = neighbourhood(np.array([0]), row_of(1))
    assert around.borrowed(np.array([7.0])).tolist() == [0.0]


def test_nothing_chosen_is_an_empty_neighbourhood() -> None:
    around = neighbourhood(np.empty(0, np.int64), row_of(3))
    assert len(around.docs) == 0
    assert len(around.borrowed(np.zeros(0))) == 0


def test_neighbours_on_both_sides_add_up() -> None:
    around = neighbourhood(np.arange(3), row_of(3))
    assert around.borrowed(np.array([1.0, 10.0, 100.0])) == pytest.approx([60.0, 101.0, 10.5])


@STEADY
@given(
    st.integers(1, 20), st.lists(st.integers(0, 20), max_size=4), st.lists(st.integers(0, 19), min_size=1, max_size=6)
)
def test_a_slot_is_where_the_neighbour_is(size: int, breaks: list[int], chosen: list[int]) -> None:
    neighbours = row_of(size, *breaks)
    picked = np.unique([number % size for number in chosen])
    around = neighbourhood(picked, neighbours)
    assert (np.diff(around.docs) > 0).all()
    assert set(picked.tolist()) <= set(around.docs.tolist())
    for distance, slots in zip(DISTANCES, around.slots, strict=True):
        others = neighbours(around.docs, distance)
        there = slots >= 0
        assert around.docs[slots[there]].tolist() == others[there].tolist()
        assert not set(others[~there].tolist()) & set(around.docs.tolist())
