"""The measures of retrieval against values that were worked out by hand, and what must be true of any of them."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.evaluation.measures import (
    MEASURES,
    all_at,
    any_at,
    by_best,
    mean,
    ndcg,
    ndcg_lme,
    percentile,
    recall_at,
    reciprocal_rank,
    score,
)

RANKED = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]


def test_any_asks_for_one_all_for_each_and_recall_for_the_share() -> None:
    gold = {"b", "f", "z"}

    assert [any_at(k, RANKED, gold) for k in (1, 2, 5)] == [0, 1, 1]
    assert [all_at(k, RANKED, {"b", "f"}) for k in (5, 6)] == [0, 1]
    assert all_at(12, RANKED, gold) == 0
    assert recall_at(5, RANKED, gold) == pytest.approx(1 / 3)
    assert recall_at(10, RANKED, gold) == pytest.approx(2 / 3)


def test_the_textbook_ndcg_by_hand() -> None:
    # Ranks 2 and 4 of two: 1/log2(3) + 1/log2(5) over 1/log2(2) + 1/log2(3).
    assert ndcg(RANKED, {"b", "d"}) == pytest.approx((0.6309297536 + 0.4306765581) / (1 + 0.6309297536))
    assert ndcg(RANKED, {"a"}) == 1
    assert ndcg(RANKED, {"b"}) == pytest.approx(0.6309297536)
    assert ndcg(RANKED, {"k"}) == 0  # Rank 11.


def test_the_ndcg_of_longmemeval_by_hand() -> None:
    # Ranks 1 and 2 weigh the same; ranks 2 and 4 of two: 1 + 1/2 over 1 + 1.
    assert ndcg_lme(RANKED, {"b"}) == ndcg_lme(RANKED, {"a"}) == 1
    assert ndcg_lme(RANKED, {"b", "d"}) == pytest.approx(0.75)
    assert ndcg_lme(RANKED, {"c"}) == pytest.approx(1 / math.log2(3))


def test_more_evidence_than_the_depth_can_still_be_ranked_perfectly() -> None:
    assert ndcg(RANKED, set(RANKED)) == ndcg_lme(RANKED, set(RANKED)) == 1


def test_the_reciprocal_rank_is_that_of_the_first_evidence() -> None:
    assert reciprocal_rank(RANKED, {"c", "h"}) == pytest.approx(1 / 3)
    assert reciprocal_rank(RANKED, {"z"}) == 0


def test_a_session_stands_where_its_best_turn_stands() -> None:
    session_of = {"a": "two", "b": "one", "c": "two", "d": "three"}

    assert by_best(["a", "b", "c", "d"], session_of) == ["two", "one", "three"]


def test_the_mean_is_over_questions() -> None:
    found = mean([score(["a"], {"a"}), score(["b"], {"a"})])

    assert found.keys() == MEASURES.keys()
    assert set(found.values()) == {0.5}
    assert mean([]) == {}


def test_percentiles_are_values_that_occurred() -> None:
    assert [percentile([4.0, 1.0, 3.0, 2.0], share) for share in (0, 0.5, 0.75, 0.95)] == [1, 2, 3, 4]
    assert percentile([], 0.5) == 0


rankings = st.permutations(RANKED)
evidence = st.frozensets(st.sampled_from([*RANKED, "y", "z"]), min_size=1)


@given(rankings, evidence)
@settings(max_examples=200, derandomize=True, deadline=None)
def test_every_measure_is_a_share_and_all_is_at_most_recall_is_at_most_any(
    ranked: list[str], gold: frozenset[str]
) -> None:
    found = score(ranked, gold)

    assert all(0 <= value <= 1 for value in found.values())
    for k in (5, 10):
        assert all_at(k, ranked, gold) <= recall_at(k, ranked, gold) <= any_at(k, ranked, gold)
    assert found["any@1"] <= found["mrr"] <= (found["any@10"] or 0.1)


@given(rankings, evidence, st.integers(0, 10))
@settings(max_examples=200, derandomize=True, deadline=None)
def test_moving_evidence_up_never_lowers_a_measure(ranked: list[str], gold: frozenset[str], place: int) -> None:
    upper, lower = ranked[place], ranked[place + 1]
    if lower in gold and upper not in gold:
        better = [*ranked[:place], lower, upper, *ranked[place + 2 :]]
        before, after = score(ranked, gold), score(better, gold)
        assert all(after[name] >= before[name] for name in MEASURES)


@given(evidence)
@settings(max_examples=50, derandomize=True, deadline=None)
def test_evidence_in_front_is_perfect(gold: frozenset[str]) -> None:
    ranked = [*sorted(gold), *(item for item in RANKED if item not in gold)]

    assert ndcg(ranked, gold) == ndcg_lme(ranked, gold) == reciprocal_rank(ranked, gold) == 1
