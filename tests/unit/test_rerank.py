"""What a reranker reads, and that its judgement is passed on."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.recall.rerank import CHARACTERS, Candidate, judged, shown_text

STEADY = settings(derandomize=True, deadline=None, database=None)


class Lengths:
    """Judges by length, and remembers what it was shown."""

    name = "lengths"

    def __init__(self) -> None:
        self.shown: list[tuple[str, str]] = []

    def scores(self, question: str, passages: Sequence[str]) -> np.ndarray:
        self.shown += [(question, passage) for passage in passages]
        return np.array([len(passage) for passage in passages], np.float32)


def test_a_short_text_is_read_with_what_was_said_before() -> None:
    assert shown_text(Candidate("Yes, in May!", "When do we sow?"), {}) == "When do we sow? Yes, in May!"


def test_a_text_without_anything_before_is_read_alone() -> None:
    assert shown_text(Candidate(" Yes,\n in May! ", ""), {}) == "Yes, in May!"


def test_of_what_was_said_before_the_end_is_read_from_a_whole_word_on() -> None:
    shown = shown_text(Candidate("Yes!", " ".join(f"word{number}" for number in range(200))), {})
    assert shown.endswith("word199 Yes!")
    assert shown.startswith("word")
    assert len(shown) <= CHARACTERS + 1


def test_of_a_long_text_the_telling_part_is_read() -> None:
    text = "filler words " * 100 + "we sow beans in May " + "filler words " * 100
    shown = shown_text(Candidate(text, "before"), {"bean": 3.0})
    assert "beans" in shown
    assert "before" not in shown
    assert len(shown) <= CHARACTERS


def test_each_candidate_is_judged_in_its_place_against_the_question() -> None:
    reranker = Lengths()
    found = judged("when?", [Candidate("aa", ""), Candidate("bbbb", ""), Candidate("", "")], {}, reranker)
    assert found.tolist() == [2.0, 4.0, 0.0]
    assert found.dtype == np.float64
    assert reranker.shown == [("when?", "aa"), ("when?", "bbbb"), ("when?", "")]


def test_nothing_to_judge_is_no_judgement() -> None:
    assert judged("when?", [], {}, Lengths()).tolist() == []


@STEADY
@given(st.text(max_size=1_000), st.text(max_size=1_000))
def test_what_is_read_is_one_bounded_line(text: str, before: str) -> None:
    shown = shown_text(Candidate(text, before), {})
    assert len(shown) <= CHARACTERS + 1
    assert shown == " ".join(shown.split())
