"""The part of a text that answers, with the matching words marked."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.recall.snippets import SNIPPET_CHARACTERS, Snippet, excerpt, snippet
from recollect.recall.words import document_terms, query_terms

STEADY = settings(derandomize=True, deadline=None, database=None)
FILLER = "nothing to see over there " * 40


def asked(question: str) -> dict[str, float]:
    return dict.fromkeys(query_terms(question), 1.0)


def marked(found: Snippet) -> list[str]:
    return [found.text[start:end] for start, end in found.highlights]


def test_a_short_text_is_shown_whole_with_its_matches_marked() -> None:
    found = snippet("We sow beans in May.", asked("when to sow a bean"))
    assert found.text == "We sow beans in May."
    assert marked(found) == ["sow", "beans"]


def test_a_text_without_matches_is_shown_from_its_beginning() -> None:
    found = snippet(FILLER, asked("beans"))
    assert found.text.startswith("nothing to see")
    assert found.text.endswith("…")
    assert found.highlights == []


def test_an_empty_text_has_an_empty_snippet() -> None:
    assert snippet("", asked("beans")) == Snippet("", [])


def test_a_match_far_inside_is_in_the_window() -> None:
    found = snippet(f"{FILLER}sow the beans {FILLER}", asked("beans"))
    assert marked(found) == ["beans"]
    assert found.text.startswith("…")
    assert found.text.endswith("…")


def test_a_match_at_the_very_end_is_in_the_window() -> None:
    found = snippet(f"{FILLER}beans", asked("beans"))
    assert marked(found) == ["beans"]
    assert not found.text.endswith("…")


def test_the_window_holds_the_most_different_words() -> None:
    text = f"beans beans beans beans {FILLER} beans in May {FILLER}"
    assert marked(snippet(text, asked("beans May"))) == ["beans", "May"]


def test_a_telling_word_wins_over_a_common_one() -> None:
    text = f"the garden {FILLER} the trellis {FILLER} the garden"
    assert marked(snippet(text, {"garden": 0.1, "trelli": 5.0})) == ["trellis"]


def test_a_snippet_is_one_line() -> None:
    found = snippet("one\n\n  two\tbeans \r\n three  ", asked("beans"))
    assert found.text == "one two beans three"
    assert marked(found) == ["beans"]


def test_a_part_of_an_identifier_marks_all_of_it() -> None:
    assert marked(snippet("see src/app/userService.ts there", asked("service"))) == ["src/app/userService.ts"]


@pytest.mark.parametrize(
    ("text", "question", "mark"),
    [
        ("Gestern im Café Grün", "cafe", "Café"),
        ("It is Mara’s garden", "mara", "Mara’s"),
        ("서울에서 만나요", "만나요", "만나요"),
        ("we 🎉 danced", "🎉", "🎉"),
        ("e\u0301te\u0301 à Paris", "été", "e\u0301te\u0301"),
    ],
)
def test_words_of_any_script_are_marked(text: str, question: str, mark: str) -> None:
    assert marked(snippet(text, asked(question))) == [mark]


def test_in_a_script_without_spaces_only_what_matches_is_marked() -> None:
    found = snippet("我们昨天在东京开会，讨论了很多事情。", asked("东京"))
    assert marked(found) == ["东京"]


def test_marks_that_touch_are_one() -> None:
    """Pairs overlap: each pair marked by itself would mark characters twice."""
    found = snippet("我们昨天在东京开会", asked("东京开会"))
    assert marked(found) == ["东京开会"]


def test_an_excerpt_is_the_same_stretch_without_marks() -> None:
    text = f"{FILLER}sow the beans {FILLER}"
    assert excerpt(text, asked("beans"), SNIPPET_CHARACTERS) == snippet(text, asked("beans")).text.strip("…")


PIECES = st.lists(
    st.sampled_from(
        ["beans ", "May\n", "filler words ", "東京", "東", "x" * 60, "Café ", "  ", "\n\n", "🎉", "a/beans.py "]
    ),
    max_size=60,
).map("".join)


@STEADY
@given(PIECES, st.integers(20, 300))
def test_highlights_lie_inside_apart_from_each_other_and_on_words_that_match(text: str, size: int) -> None:
    weights = asked("beans May 東京 café 🎉")
    found = snippet(text, weights, size)
    assert "\n" not in found.text
    assert "  " not in found.text
    assert len(found.text) <= size + 2
    assert all(0 <= start < end <= len(found.text) for start, end in found.highlights)
    assert all(before[1] <= after[0] for before, after in zip(found.highlights, found.highlights[1:], strict=False))
    assert all(set(document_terms(mark)) & set(weights) for mark in marked(found))


@STEADY
@given(PIECES, st.integers(80, 300))
def test_a_text_that_matches_has_a_mark(text: str, size: int) -> None:
    found = snippet(text, asked("beans"), size)
    assert bool(found.highlights) == ("bean" in document_terms(text))
