"""A text is cut into passages: bounded, in order, and nothing is lost below the limit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.recall.passages import MOST_PASSAGES, PASSAGE_CHARACTERS, passages

LONGEST = PASSAGE_CHARACTERS * 5 // 4
LIMIT = PASSAGE_CHARACTERS * MOST_PASSAGES
STEADY = settings(derandomize=True, deadline=None, database=None)


def squeezed(texts: list[str]) -> str:
    return "".join("".join(texts).split())


def sentences(count: int, size: int) -> str:
    return " ".join(f"Number {number} {'w' * (size - 12 - len(str(number)))} end." for number in range(count))


def test_an_empty_text_has_no_passage() -> None:
    assert passages("") == passages(" \n ") == []


def test_a_short_text_is_one_passage_without_the_space_around_it() -> None:
    assert passages("  Yes, in May!\n") == ["Yes, in May!"]


def test_a_text_a_little_longer_than_a_passage_is_one_passage() -> None:
    text = ("word " * 400)[:LONGEST].strip()
    assert passages(text) == [text]


def test_cuts_fall_between_sentences() -> None:
    found = passages(sentences(20, 150))
    assert len(found) > 1
    assert all(passage.startswith("Number ") and passage.endswith(" end.") for passage in found)


def test_a_paragraph_ends_a_sentence() -> None:
    found = passages("\n\n".join("a paragraph without a stop " * 15 for _ in range(6)))
    assert len(found) > 1
    assert all(passage.strip().startswith("a paragraph") for passage in found)


def test_a_sentence_without_an_end_is_cut_at_a_space() -> None:
    found = passages("word " * 1_000)
    assert all(set(passage.split()) == {"word"} for passage in found)


def test_a_run_without_spaces_is_cut_all_the_same() -> None:
    found = passages("x" * 5_000)
    assert all(len(passage) <= LONGEST for passage in found)
    assert "".join(found) == "x" * 5_000


@pytest.mark.parametrize("size", [30, 150, 399, 401, 445, 790, 900])
def test_nothing_is_lost_below_the_limit(size: int) -> None:
    """Half of what all passages hold: two in a row are always longer than one may be."""
    text = sentences((LIMIT // 2 - PASSAGE_CHARACTERS) // (size + 1), size)
    assert squeezed(passages(text)) == squeezed([text])


@pytest.mark.parametrize("size", [30, 445, 790])
def test_of_a_pasted_file_the_beginning_and_the_end_are_kept(size: int) -> None:
    text = f"First of all. {sentences(100_000 // size, size)} Last of all."
    found = passages(text)
    assert len(found) <= MOST_PASSAGES
    assert found[0].startswith("First of all.")
    assert found[-1].endswith("Last of all.")


def test_chinese_without_spaces_is_cut_after_a_stop() -> None:
    found = passages("我们在东京开会，讨论了很多事情呢。" * 200)
    assert all(passage.endswith("。") for passage in found)


PIECES = st.lists(
    st.sampled_from(["word ", "sentence. ", "\n", "x" * 300, "。", "猫", "Ende! ", "y" * 900, "tab\t", "?  "]),
    max_size=120,
).map("".join)


@STEADY
@given(PIECES)
def test_passages_are_bounded_and_not_empty(text: str) -> None:
    found = passages(text)
    assert len(found) <= MOST_PASSAGES
    assert all(passage.strip() and len(passage) <= LONGEST for passage in found)
    assert bool(found) == bool(text.strip())


@STEADY
@given(PIECES)
def test_passages_follow_the_order_of_the_text(text: str) -> None:
    rest = squeezed([text])
    for passage in passages(text):
        place = rest.find(squeezed([passage]))
        assert place >= 0
        rest = rest[place + len(squeezed([passage])) :]


@STEADY
@given(PIECES)
def test_the_same_text_has_the_same_passages_whatever_surrounds_it(text: str) -> None:
    assert passages(text) == passages(f" \n{text}\n ")
