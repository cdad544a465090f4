"""The same thing said twice is shown once; the other sinks, and nothing is lost."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.recall.diversity import ALIKE, diversified, likeness

STEADY = settings(derandomize=True, deadline=None, database=None)
ITEMS = st.lists(st.tuples(st.integers(-50, 50), st.frozensets(st.sampled_from("abcdefgh"))), max_size=12)


def words(*texts: str) -> list[frozenset[str]]:
    return [frozenset(text.split()) for text in texts]


@pytest.mark.parametrize(
    ("one", "other", "share"), [("a b", "a b", 1.0), ("a b c", "b c d", 0.5), ("a", "b", 0.0), ("", "", 0.0)]
)
def test_likeness_is_the_share_of_common_words(one: str, other: str, share: float) -> None:
    assert likeness(*words(one, other)) == share


def test_a_duplicate_sinks_by_the_whole_penalty() -> None:
    order = diversified([5.0, 4.9, 3.0], words("a b c", "a b c", "x y z"), 4.0, 3)
    assert [place for place, _ in order] == [0, 2, 1]
    assert order[2][1] == pytest.approx(0.9)


def test_what_is_alike_below_the_threshold_stays() -> None:
    order = diversified([5.0, 4.0], words("a b c d", "b c d e"), 100.0, 2)
    assert likeness(*words("a b c d", "b c d e")) < ALIKE
    assert order == [(0, 5.0), (1, 4.0)]


def test_a_duplicate_of_two_better_ones_is_punished_once() -> None:
    order = dict(diversified([5.0, 5.0, 5.0], words("a b", "a b", "a b"), 4.0, 3))
    assert order == pytest.approx({0: 5.0, 1: 1.0, 2: 1.0})


def test_texts_without_words_are_no_duplicates() -> None:
    assert diversified([2.0, 1.0], words("", ""), 4.0, 2) == [(0, 2.0), (1, 1.0)]


def test_nothing_stays_nothing() -> None:
    assert diversified([], [], 4.0, 10) == []


@STEADY
@given(ITEMS)
def test_every_hit_is_kept_and_none_gains(items: list[tuple[int, frozenset[str]]]) -> None:
    scores = [float(score) for score, _ in items]
    order = diversified(scores, [said for _, said in items], 4.0, len(items))
    assert sorted(place for place, _ in order) == list(range(len(items)))
    assert all(scores[place] - 4.0 - 1e-9 <= score <= scores[place] for place, score in order)


@STEADY
@given(ITEMS, st.integers(0, 12))
def test_the_first_few_are_the_beginning_of_all(items: list[tuple[int, frozenset[str]]], count: int) -> None:
    scores, said = [float(score) for score, _ in items], [said for _, said in items]
    assert diversified(scores, said, 4.0, count) == diversified(scores, said, 4.0, len(items))[:count]


@STEADY
@given(st.frozensets(st.sampled_from("abcdefgh")), st.frozensets(st.sampled_from("abcdefgh")))
def test_likeness_is_right_wherever_it_counts(one: frozenset[str], other: frozenset[str]) -> None:
    share = len(one & other) / max(len(one | other), 1)
    assert likeness(one, other) == likeness(other, one)
    if share > ALIKE:
        assert likeness(one, other) == share
    else:
        assert likeness(one, other) <= ALIKE


@STEADY
@given(ITEMS)
def test_the_new_scores_descend(items: list[tuple[int, frozenset[str]]]) -> None:
    order = diversified([float(score) for score, _ in items], [said for _, said in items], 4.0, len(items))
    assert all(before >= after for (_, before), (_, after) in itertools.pairwise(order))


@STEADY
@given(ITEMS)
def test_without_a_penalty_the_order_is_that_of_the_scores_and_stable(items: list[tuple[int, frozenset[str]]]) -> None:
    scores = [float(score) for score, _ in items]
    order = [place for place, _ in diversified(scores, [said for _, said in items], 0.0, len(items))]
    assert order == sorted(range(len(items)), key=lambda place: (-scores[place], place))
