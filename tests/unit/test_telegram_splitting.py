"""A long answer in several messages: where it is cut, and what is kept of it."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from wcwidth import iter_graphemes

from recollect.channels.telegram.entities import Entity, Formatted, is_visible, units_before
from recollect.channels.telegram.formatting import formatted
from recollect.channels.telegram.splitting import MOST_UNITS, parts

FAMILY = "👨‍👩‍👧‍👦"
FLAG = "🇩🇪"
KINDS = ["bold", "italic", "strikethrough", "text_link", "code", "pre", "blockquote"]
PIECES = [
    "word",
    "Satz. ",
    "\n",
    "\n\n",
    " ",
    "    ",
    "\t",
    FAMILY,
    FLAG,
    "👍🏽",
    "e\u0301",
    "漢字。",
    "שלום ",
    "x" * 9,
    "\u200b",
]


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def cut(text: str, entity: Entity) -> str:
    data = text.encode("utf-16-le")[2 * entity.start : 2 * (entity.start + entity.length)]
    return data.decode("utf-16-le")  # Raises in the middle of a character.


def without_space(text: str) -> str:
    return "".join(text.split())


def seen(text: str) -> str:
    return "".join(filter(is_visible, text))


def texts_of(whole: str, most: int = MOST_UNITS) -> list[str]:
    return [part.text for part in parts(Formatted(text=whole), most)]


@st.composite
def formatted_texts(draw: st.DrawFn) -> Formatted:
    text = "".join(draw(st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=80)))
    text = text.encode("utf-8", "replace").decode()
    before = units_before(text)
    entities: list[Entity] = []
    at = 0
    for kind in draw(st.lists(st.sampled_from(KINDS), max_size=6)):
        if at >= len(text):
            break
        start = draw(st.integers(at, len(text) - 1))
        end = draw(st.integers(start + 1, len(text)))
        entities.append(Entity(kind=kind, start=before[start], length=before[end] - before[start]))
        at = end
    return Formatted(text=text, entities=tuple(entities))


@settings(max_examples=400)
@given(formatted_texts(), st.integers(16, 60))
def test_nothing_is_lost_but_white_space_and_each_part_fits(whole: Formatted, most: int) -> None:
    found = parts(whole, most)
    joined = "".join(part.text for part in found)
    if any(not is_visible(character) for character in without_space(whole.text)):
        assert seen(joined) == seen(whole.text)  # A part with nothing to see is not sent.
    else:
        assert without_space(joined) == without_space(whole.text)
    for part in found:
        assert 1 <= units(part.text) <= most
        assert is_visible(part.text)


@settings(max_examples=400)
@given(formatted_texts(), st.integers(16, 60))
def test_each_formatted_character_is_formatted_the_same_in_its_part(whole: Formatted, most: int) -> None:
    found = parts(whole, most)
    for part in found:
        for entity in part.entities:
            assert entity.start >= 0
            assert entity.length > 0
            assert entity.start + entity.length <= units(part.text)
            assert is_visible(cut(part.text, entity)) or len(found) == 1
    for kind in KINDS:
        expected = "".join(cut(whole.text, entity) for entity in whole.entities if entity.kind == kind)
        kept = "".join(cut(part.text, entity) for part in found for entity in part.entities if entity.kind == kind)
        assert seen(kept) == seen(expected)


@given(formatted_texts())
def test_a_text_that_fits_is_one_part_as_it_is(whole: Formatted) -> None:
    assert parts(whole, MOST_UNITS) == ([whole] if is_visible(whole.text) else [])


@given(formatted_texts(), st.integers(16, 60))
def test_parts_are_not_cut_again(whole: Formatted, most: int) -> None:
    for part in parts(whole, most):
        assert parts(part, most) == [part]


@given(
    st.lists(
        st.sampled_from([FAMILY, FLAG, "👍🏽", "e\u0301", "a", "한", "🏴\U000e0067\U000e0062\U000e007f"]), max_size=60
    )
)
def test_no_sign_that_is_seen_as_one_is_cut(signs: list[str]) -> None:
    whole = "".join(signs)
    kept = [sign for text in texts_of(whole, 40) for sign in iter_graphemes(text)]
    assert kept == list(iter_graphemes(whole))


def test_4096_emoji_are_two_messages_of_2048() -> None:
    assert texts_of("😀" * 4096) == ["😀" * 2048] * 2


def test_4096_families_of_emoji_stay_families() -> None:
    found = texts_of(FAMILY * 4096)
    assert "".join(found) == FAMILY * 4096
    assert {len(text) % len(FAMILY) for text in found} == {0}
    assert {units(text) for text in found[:-1]} == {4092}


def test_4096_flags_stay_flags() -> None:
    found = texts_of(FLAG * 4096)
    assert "".join(found) == FLAG * 4096
    assert all(text == FLAG * (len(text) // 2) for text in found)


def test_a_letter_with_more_accents_than_a_message_holds_is_cut_all_the_same() -> None:
    whole = "a" + "\u0301" * 9000
    found = texts_of(whole)
    assert "".join(found) == whole
    assert max(map(units, found)) == MOST_UNITS


def test_it_is_cut_between_paragraphs_where_there_are_any() -> None:
    paragraphs = [f"{letter} " + "word. " * 300 for letter in "abcd"]
    found = texts_of("\n\n".join(paragraph.strip() for paragraph in paragraphs))
    assert [text[0] for text in found] == ["a", "c"]


def test_it_is_cut_between_lines_where_there_is_no_paragraph() -> None:
    found = texts_of("\n".join(f"{number} " + "word. " * 20 for number in range(60)))
    assert all(re.match(r"\d+ word", text) for text in found)


def test_it_is_cut_after_a_sentence_where_there_is_no_line() -> None:
    found = texts_of("She said so, twice. " * 500)
    assert all(text.startswith("She") and text.endswith("twice.") for text in found)


def test_it_is_cut_after_a_sentence_that_has_no_space_after_it() -> None:
    found = texts_of("今天天气很好。" * 1000)
    assert all(text.endswith("。") for text in found)


def test_it_is_cut_between_words_where_there_is_no_sentence() -> None:
    found = texts_of("word " * 3000)
    assert all(text.startswith("word") and text.endswith("word") for text in found)


def test_a_greeting_is_no_message_of_its_own() -> None:
    found = texts_of("Hello!\n\n" + "A sentence. " * 600)
    assert found[0].startswith("Hello!\n\nA sentence.")
    assert units(found[0]) > 3500


def test_code_that_fits_a_message_is_not_cut_for_the_text_before_it() -> None:
    code = "\n\n".join(["line = 1"] * 200)
    found = parts(formatted("Text. " * 500 + f"\n\n```python\n{code}\n```"))
    assert [part.text for part in found][1] == code
    assert found[1].entities == (Entity(kind="pre", start=0, length=units(code), language="python"),)


def test_code_of_10000_characters_goes_on_as_code_and_keeps_its_indentation() -> None:
    lines = [f"{'    ' * (number % 4)}line_{number} = {number}" for number in range(500)]
    found = parts(formatted("Look:\n\n```python\n" + "\n".join(lines) + "\n```\n\nThat is all."))
    assert len(found) > 2
    assert "\n".join(part.text for part in found).replace("\n\n", "\n").split("\n") == ["Look:", *lines, "That is all."]
    assert all([entity.kind for entity in part.entities] == ["pre"] for part in found)
    assert {entity.language for part in found for entity in part.entities} == {"python"}


def test_the_indentation_of_code_after_a_cut_is_kept() -> None:
    code = "    indented = 1\nnot = 2"
    found = parts(formatted("word " * 800 + f"\n\n```\n{code}\n```"), 4005)
    assert found[-1].text == code


def test_an_address_of_5000_characters_is_cut_and_kept_whole_in_sum() -> None:
    address = "https://example.org/" + "a" * 4980
    found = texts_of(f"See {address} there.")
    assert without_space("".join(found)) == without_space(f"See {address} there.")
    assert found[0] == "See"


def test_a_link_and_bold_words_over_a_cut_go_on_after_it() -> None:
    found = parts(formatted("**[" + "word " * 1500 + "end](https://example.org/)**"))
    assert len(found) == 2
    for part in found:
        assert sorted((entity.kind, entity.start, entity.length, entity.url) for entity in part.entities) == [
            ("bold", 0, units(part.text), ""),
            ("text_link", 0, units(part.text), "https://example.org/"),
        ]


def test_right_to_left_text_is_cut_between_its_words() -> None:
    found = texts_of("שלום עולם " * 1000)
    assert len(found) == 3
    assert {word for text in found for word in text.split(" ")} == {"שלום", "עולם"}


def test_nothing_to_see_is_no_message() -> None:
    assert texts_of("") == []
    assert texts_of(" \n\u200b\u00ad") == []
    assert texts_of("\u200b" * 9000) == []


def test_spaces_beyond_the_limit_go_with_the_cut() -> None:
    assert texts_of("x" * MOST_UNITS + " " * 5000 + "y") == ["x" * MOST_UNITS, "y"]
