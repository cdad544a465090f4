"""The word score: BM25 where nobody lends, and words that are joined before they saturate where somebody does."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.recall.keyword import (
    Term,
    conversation_scores,
    length_norms,
    lent_scores,
    merged,
    own_scores,
    weight,
)
from recollect.recall.lending import DISTANCES, Neighbourhood
from recollect.recall.recipes import Recipe

STEADY = settings(derandomize=True, deadline=None, database=None)
PLAIN = Recipe(keyword_saturation=1.5, keyword_length=0.75, lending=0.5)
DOCUMENTS = st.lists(st.text(alphabet="abcde", max_size=12), min_size=1, max_size=12)


def term_of(letter: str, documents: list[str]) -> Term:
    having = [(place, text.count(letter)) for place, text in enumerate(documents) if letter in text]
    return Term(
        (letter,),
        weight(len(documents), len(having)),
        np.array([place for place, _ in having], np.int32),
        np.array([count for _, count in having], np.uint8),
    )


def terms_of(question: str, documents: list[str]) -> list[Term]:
    return [term for letter in question if len((term := term_of(letter, documents)).docs)]


def norms_of(documents: list[str], recipe: Recipe = PLAIN) -> np.ndarray:
    lengths = np.array([len(text) for text in documents], np.uint32)
    return length_norms(lengths, float(lengths.mean()), recipe)


def alone(documents: list[str]) -> Neighbourhood:
    """All documents, none the neighbour of another."""
    nobody = np.full(len(documents), -1, np.int64)
    return Neighbourhood(np.arange(len(documents)), tuple(nobody for _ in DISTANCES))


def in_a_row(documents: list[str]) -> Neighbourhood:
    places = np.arange(len(documents))
    shifted = [np.where((places + by >= 0) & (places + by < len(documents)), places + by, -1) for by in DISTANCES]
    return Neighbourhood(places, tuple(shifted))


def lent(question: str, documents: list[str], around: Neighbourhood, needs: float = 1.0) -> np.ndarray:
    slots = np.arange(len(documents), dtype=np.int32)
    everyone = np.full(len(documents), needs)
    return lent_scores(terms_of(question, documents), slots, around, norms_of(documents), everyone, PLAIN)


def bm25(question: str, documents: list[str]) -> list[float]:
    """As in the textbook, without its factor k1 + 1, divided by what all words together can give."""
    mean = max(sum(map(len, documents)) / len(documents), 1.0)
    weights = {}
    for letter in question:
        having = sum(letter in text for text in documents)
        if having:
            weights[letter] = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
    scores = []
    for text in documents:
        counts = Counter(text)
        norm = 1.5 * (0.25 + 0.75 * len(text) / mean)
        parts = [worth * counts[letter] / (counts[letter] + norm) for letter, worth in weights.items()]
        scores.append(sum(parts) / sum(weights.values()) if weights else 0.0)
    return scores


def test_a_rare_word_tells_more() -> None:
    assert weight(3, 1) == pytest.approx(math.log(1 + 2.5 / 1.5))
    assert weight(1_000, 1) > weight(1_000, 10) > weight(1_000, 1_000) > 0


def test_a_document_of_average_length_has_norm_one() -> None:
    norms = length_norms(np.array([0, 10, 20], np.uint32), 10.0, PLAIN)
    assert norms.tolist() == [0.25, 1.0, 1.75]


def test_norms_of_nothing_are_finite() -> None:
    assert np.isfinite(length_norms(np.array([0], np.uint32), 0.0, PLAIN)).all()


@STEADY
@given(DOCUMENTS, st.sets(st.sampled_from("abcdef"), min_size=1).map(sorted).map("".join))
def test_own_scores_are_bm25(documents: list[str], question: str) -> None:
    found = own_scores(terms_of(question, documents), norms_of(documents).astype(np.float32), PLAIN)
    assert found.tolist() == pytest.approx(bm25(question, documents), abs=1e-6)


@STEADY
@given(DOCUMENTS, st.sets(st.sampled_from("abcdef"), min_size=1).map(sorted).map("".join))
def test_where_nobody_lends_the_score_is_bm25(documents: list[str], question: str) -> None:
    # Division by a length comes first here, so a document without letters has no norm to divide by but has no words.
    assert lent(question, documents, alone(documents)).tolist() == pytest.approx(bm25(question, documents), abs=1e-9)


@STEADY
@given(DOCUMENTS, st.sets(st.sampled_from("abcdef"), min_size=1).map(sorted).map("".join))
def test_a_document_that_needs_nothing_borrows_nothing(documents: list[str], question: str) -> None:
    found = lent(question, documents, in_a_row(documents), needs=0.0)
    assert found.tolist() == pytest.approx(bm25(question, documents), abs=1e-9)


@STEADY
@given(DOCUMENTS, st.sets(st.sampled_from("abcdef"), min_size=1).map(sorted).map("".join))
def test_lending_takes_nothing_away_and_stays_below_one(documents: list[str], question: str) -> None:
    found = lent(question, documents, in_a_row(documents))
    assert (found >= np.array(bm25(question, documents)) - 1e-9).all()
    assert (found < 1).all()


def test_neighbours_lend_words_and_not_scores() -> None:
    """A turn with "a" beside one with "b" is worth more than beside one that has "a" again."""
    other_word = lent("ab", ["ax", "bx", "xx", "xx", "xx", "xx"], in_a_row(["x"] * 6))
    same_word = lent("ab", ["ax", "ax", "xx", "xx", "xb", "xx"], in_a_row(["x"] * 6))
    assert other_word[0] > same_word[0]


def test_the_next_neighbour_lends_more_than_the_one_after() -> None:
    found = lent("a", ["a", "x", "x", "x", "x"], in_a_row(["x"] * 5))
    assert found[0] > found[1] > found[2] > 0
    assert found[3] == found[4] == 0


def test_what_a_neighbour_lends_is_computed_by_hand() -> None:
    # One term of four documents of equal length: every norm is 1. Half of one occurrence, then a quarter.
    found = lent("a", ["a", "x", "x", "x"], in_a_row(["x"] * 4))
    assert found.tolist() == pytest.approx([1 / 2.5, 0.5 / 2.0, 0.25 / 1.75, 0.0])


@STEADY
@given(st.integers(1, 200), st.integers(1, 50))
def test_a_word_said_more_often_counts_more(times: int, more: int) -> None:
    terms = [Term(("a",), 1.0, np.array([0, 1], np.int32), np.array([times, times + more], np.uint8))]
    few, many = own_scores(terms, np.ones(2, np.float32), PLAIN)
    assert few < many < 1


def test_documents_outside_the_neighbourhood_do_not_count() -> None:
    around = Neighbourhood(np.array([1]), tuple(np.array([-1]) for _ in DISTANCES))
    slots = np.array([-1, 0], np.int32)
    terms = [Term(("a",), 1.0, np.array([0], np.int32), np.array([9], np.uint8))]
    assert lent_scores(terms, slots, around, np.ones(1), np.ones(1), PLAIN).tolist() == [0.0]


def test_spellings_are_one_word() -> None:
    one = (np.array([1, 4], np.int32), np.array([2, 200], np.uint8))
    other = (np.array([0, 4], np.int32), np.array([1, 100], np.uint8))
    docs, frequencies = merged([one, other])
    assert docs.tolist() == [0, 1, 4]
    assert frequencies.tolist() == [1, 2, 255]


# Conversations


def test_a_conversation_is_scored_by_what_users_said_in_all_of_it() -> None:
    conversations = np.array([0, 0, 1, 1, 2], np.int32)
    by_users = np.array([True, True, True, False, True])
    lengths = np.array([4.0, 4.0, 4.0])
    terms = [
        Term(("a",), 1.0, np.array([0, 2, 3], np.int32), np.array([1, 1, 1], np.uint8)),
        Term(("b",), 1.0, np.array([1, 3], np.int32), np.array([1, 1], np.uint8)),
    ]
    both, one, none = conversation_scores(terms, conversations, by_users, lengths, PLAIN)
    rare, usual = weight(3, 1), weight(3, 2)
    assert both == pytest.approx(1 / 2.5)
    assert one == pytest.approx(usual / (rare + usual) / 2.5)
    assert none == 0.0


def test_a_conversation_in_which_no_user_spoke_has_no_score() -> None:
    terms = [Term(("a",), 1.0, np.array([0], np.int32), np.array([1], np.uint8))]
    found = conversation_scores(terms, np.array([0], np.int32), np.array([False]), np.array([0.0]), PLAIN)
    assert found.tolist() == [0.0]
