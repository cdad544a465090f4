"""What search is compared with, and the embedder that computes a text once."""

import math
from collections.abc import Sequence

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.embedding.vectors import Vectors
from recollect.evaluation.baselines import PlainBm25, VectorsOnly, words
from recollect.evaluation.datasets import Turn
from recollect.evaluation.remembering import RememberingEmbedder


class Letters:
    """An embedder: how often each letter occurs. Counts the texts it was given."""

    name = "letters"
    dimensions = 26

    def __init__(self) -> None:
        self.computed: list[str] = []

    def passages(self, texts: Sequence[str]) -> Vectors:
        self.computed += texts
        rows = numpy.zeros((len(texts), self.dimensions), numpy.float32)
        for row, text in zip(rows, texts, strict=True):
            for letter in text.lower():
                if "a" <= letter <= "z":
                    row[ord(letter) - ord("a")] += 1
            row /= max(float(numpy.linalg.norm(row)), 1.0)
        return rows

    def query(self, text: str) -> Vectors:
        return self.passages([text])[0]


def turns(*texts: str) -> list[Turn]:
    return [Turn(id=f"t{number}", speaker="user", text=text) for number, text in enumerate(texts)]


def test_words_are_neither_stemmed_nor_stopped() -> None:
    assert words("The beans' poles, 3_a É!") == ["the", "beans", "poles", "3_a", "é"]


def test_bm25_ranks_as_worked_out_by_hand() -> None:
    # Lengths 2, 4, 6, mean 4. "bean" stands in two of three turns, once in the short one and twice in the long one.
    found = PlainBm25(turns("bean pole", "one two three four", "bean bean soup with some bread"))
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    short = idf * 1 * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 2 / 4))
    long = idf * 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 6 / 4))

    assert found.rank("BEAN") == ["t0", "t2"]
    assert found.rank("bean soup") == ["t2", "t0"]
    assert found.scores("bean") == pytest.approx({0: short, 2: long})


def test_bm25_leaves_out_what_shares_no_word_and_keeps_the_order_of_equals() -> None:
    found = PlainBm25(turns("green beans", "red beans", "soup"))

    assert found.rank("beans") == ["t0", "t1"]
    assert found.rank("tulips") == []
    assert PlainBm25(turns("", "!")).rank("beans") == []
    assert PlainBm25([]).rank("beans") == []


def test_vectors_rank_a_turn_by_its_nearest_passage() -> None:
    hidden = " ".join(["Zzz zz zzz."] * 120) + " " + " ".join(["Beans bean beans."] * 80)
    found = VectorsOnly(turns("Mud and rain.", hidden, "A tin of soup."), Letters())

    assert found.rank("beans")[0] == "t1"
    assert sorted(found.rank("beans")) == ["t0", "t1", "t2"]


def test_vectors_of_nothing_find_nothing() -> None:
    assert VectorsOnly(turns("", "  "), Letters()).rank("beans") == []


@given(st.lists(st.lists(st.sampled_from(["bean", "soup", "mud", "tin"]), max_size=6), max_size=5))
@settings(max_examples=50, derandomize=True, deadline=None)
def test_a_remembered_vector_is_the_computed_one_and_computed_once(batches: list[list[str]]) -> None:
    plain, behind = Letters(), Letters()
    remembering = RememberingEmbedder(behind)

    for texts in batches:
        assert numpy.array_equal(remembering.passages(texts), plain.passages(texts))

    assert sorted(behind.computed) == sorted({text for texts in batches for text in texts})
    assert (remembering.name, remembering.dimensions) == (plain.name, plain.dimensions)


def test_no_more_vectors_are_remembered_than_allowed() -> None:
    behind = Letters()
    remembering = RememberingEmbedder(behind, most=2)

    for text in ("bean", "soup", "mud", "mud", "bean"):
        remembering.passages([text])

    assert behind.computed == ["bean", "soup", "mud", "bean"]


def test_a_question_is_computed_each_time() -> None:
    behind = Letters()
    remembering = RememberingEmbedder(behind)

    assert numpy.array_equal(remembering.query("bean"), remembering.query("bean"))
    assert behind.computed == ["bean", "bean"]
