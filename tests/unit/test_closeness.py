"""Closeness is counted in standard deviations, less what many passages reach by chance."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.recall.closeness import calibrated, expected_best, united, usual_passages, with_neighbours
from recollect.recall.lending import DISTANCES, Neighbourhood
from recollect.recall.recipes import Recipe

STEADY = settings(derandomize=True, deadline=None, database=None)
RECIPE = Recipe(chance=0.5, deep_share=0.75, lending=0.5)
SIMILARITIES = st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=30)


def test_closeness_is_counted_in_deviations_above_the_mean() -> None:
    found = calibrated(np.array([0.5, 0.75, 0.25], np.float32), np.ones(3), 0.5, 0.125, RECIPE)
    assert found.tolist() == [0.0, 2.0, -2.0]


@STEADY
@given(SIMILARITIES)
def test_calibrated_passages_have_mean_zero_and_deviation_one(similarities: list[float]) -> None:
    values = np.array(similarities, np.float32)
    mean, deviation = float(values.mean(dtype=np.float64)), float(values.std(dtype=np.float64))
    if deviation < 1e-3:
        return
    found = calibrated(values, np.ones(len(values)), mean, deviation, RECIPE)
    assert found.mean() == pytest.approx(0.0, abs=1e-6)
    assert found.std() == pytest.approx(1.0, abs=1e-6)


@STEADY
@given(SIMILARITIES, st.floats(0.01, 10), st.floats(-5, 5))
def test_the_scale_of_a_model_does_not_matter(similarities: list[float], scale: float, shift: float) -> None:
    values = np.array(similarities, np.float64)
    here = calibrated(values.astype(np.float32), np.ones(len(values)), 0.1, 0.2, RECIPE)
    moved = (values * scale + shift).astype(np.float32)
    there = calibrated(moved, np.ones(len(values)), 0.1 * scale + shift, 0.2 * scale, RECIPE)
    assert there == pytest.approx(here, abs=1e-3 / scale)


def test_where_all_passages_are_alike_nothing_is_divided_by_zero() -> None:
    assert calibrated(np.array([0.5], np.float32), np.ones(1), 0.5, 0.0, RECIPE).tolist() == [0.0]


def test_a_document_the_model_does_not_know_stays_unknown() -> None:
    found = calibrated(np.array([np.nan, 0.5], np.float32), np.ones(2), 0.5, 0.1, RECIPE)
    assert np.isnan(found).tolist() == [True, False]


def test_many_passages_lose_what_they_reach_by_chance() -> None:
    found = calibrated(np.array([0.9, 0.9], np.float32), np.array([1.0, math.e**2]), 0.5, 0.1, RECIPE)
    assert found[0] - found[1] == pytest.approx(0.5 * 2.0)


def test_the_best_of_one_is_not_better_by_chance() -> None:
    assert expected_best(np.array([1.0])).tolist() == [0.0]


@STEADY
@given(st.lists(st.floats(1, 1e6), min_size=2))
def test_the_expected_best_grows_with_the_number(passages: list[float]) -> None:
    found = expected_best(np.array(sorted(passages)))
    assert (np.diff(found) >= 0).all()
    assert np.isfinite(found).all()


@STEADY
@given(st.lists(st.integers(0, 1_000_000), min_size=1))
def test_there_is_at_least_one_passage_and_more_words_have_no_fewer(words: list[int]) -> None:
    found = usual_passages(np.array(sorted(words), np.uint32))
    assert (found >= 1).all()
    assert (np.diff(found) >= 0).all()
    assert expected_best(usual_passages(np.array([0, 100], np.uint32))).tolist() == [0.0, 0.0]


# Two models

NAN = math.nan


def test_both_models_share_where_both_know() -> None:
    assert united(np.array([4.0]), np.array([0.0]), RECIPE).tolist() == [3.0]


def test_where_one_model_does_not_know_a_document_the_other_speaks_alone() -> None:
    found = united(np.array([NAN, 4.0, NAN]), np.array([2.0, NAN, NAN]), RECIPE)
    assert found.tolist() == [2.0, 4.0, 0.0]


def test_without_a_deep_model_the_static_one_speaks_alone() -> None:
    assert united(None, np.array([2.0, NAN]), RECIPE).tolist() == [2.0, 0.0]


@STEADY
@given(st.lists(st.tuples(*[st.floats(-9, 9) | st.just(NAN)] * 2), min_size=1))
def test_the_united_lies_between_both_and_is_always_known(pairs: list[tuple[float, float]]) -> None:
    deep, static = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    found = united(deep, static, RECIPE)
    assert np.isfinite(found).all()
    for value, pair in zip(found, pairs, strict=True):
        known = [side for side in pair if not math.isnan(side)] or [0.0]
        assert min(known) - 1e-9 <= value <= max(known) + 1e-9


# Neighbours


def pair() -> Neighbourhood:
    """Two documents beside each other."""
    slots = {-1: np.array([-1, 0]), 1: np.array([1, -1])}
    return Neighbourhood(np.arange(2), tuple(slots.get(by, np.array([-1, -1])) for by in DISTANCES))


def test_a_turn_that_says_little_takes_after_its_neighbour() -> None:
    first, second = with_neighbours(np.array([0.0, 4.0]), pair(), np.ones(2), RECIPE)
    assert first == pytest.approx(2.0 / 1.45)
    assert second == pytest.approx(4.0 / 1.45)


def test_a_turn_that_needs_nothing_stays_as_close_as_it_is() -> None:
    assert with_neighbours(np.array([1.0, 4.0]), pair(), np.zeros(2), RECIPE).tolist() == [1.0, 4.0]
