"""Codes that make an address a place: how they are drawn, read back and compared."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.mind.places.pairing import (
    ALPHABET,
    CHARACTERS,
    LIFETIME,
    MOST_TRIES,
    digest_of,
    folded,
    is_same,
    looks_like_code,
    new_salt,
    new_text,
)

SALT = "00" * 16
DRAWN = 3_000
codes = st.text(alphabet=ALPHABET, min_size=CHARACTERS, max_size=CHARACTERS)


def test_a_guesser_has_less_than_one_chance_in_a_hundred_million_million() -> None:
    assert MOST_TRIES / len(ALPHABET) ** CHARACTERS < 1e-14
    # Even where the person asked for a new code whenever one ran out, for a hundred years.
    assert 100 * 365 * 86_400 / LIFETIME.total_seconds() * MOST_TRIES / len(ALPHABET) ** CHARACTERS < 1e-7


def test_no_two_characters_of_the_alphabet_are_read_as_one() -> None:
    assert len({folded(character) for character in ALPHABET}) == len(ALPHABET) == 32


def test_codes_are_ten_characters_with_a_dash_and_never_twice_the_same() -> None:
    drawn = [new_text() for _ in range(DRAWN)]
    assert len(set(drawn)) == DRAWN
    assert all(len(text) == CHARACTERS + 1 and text[CHARACTERS // 2] == "-" for text in drawn)
    assert all(set(folded(text)) <= set(ALPHABET) for text in drawn)


def test_each_character_comes_equally_often_at_each_place() -> None:
    """The sum of squares over all places: with 310 degrees of freedom it is above 460 once in ten million runs."""
    places = zip(*(folded(new_text()) for _ in range(DRAWN)), strict=True)
    expected = DRAWN / len(ALPHABET)
    strayed = 0.0
    for place in places:
        counted = Counter(place)
        strayed += sum((counted[character] - expected) ** 2 / expected for character in ALPHABET)
    assert strayed < 460


@given(code=codes, data=st.data())
def test_every_way_to_type_a_code_is_the_same_code(code: str, data: st.DataObject) -> None:
    alike = {"0": "0Oo", "1": "1IiLl"}
    typed = ""
    for character in code:
        typed += data.draw(st.sampled_from(["", "", "", "-", " ", "\u2013", "\u2011", "\u00a0", "\u200b"]))
        typed += data.draw(st.sampled_from(alike.get(character, character + character.lower())))
    assert folded(f" {typed}\n") == code


@given(text=st.text(alphabet=st.characters(codec=None)))
def test_whatever_is_typed_is_read_as_a_code_or_is_none(text: str) -> None:
    assert not looks_like_code(text) or len(folded(text)) == CHARACTERS


@given(text=st.text(alphabet=st.characters(codec=None)))
@settings(max_examples=20, deadline=None)
def test_any_text_has_a_digest_even_half_characters(text: str) -> None:
    assert len(digest_of(text, SALT)) == 64


def test_a_digest_is_of_the_code_and_of_its_salt() -> None:
    text, salt = new_text(), new_salt()
    assert salt != new_salt()
    assert is_same(digest_of(text.lower(), salt), digest_of(text.replace("-", ""), salt))
    assert not is_same(digest_of(text, salt), digest_of(text, new_salt()))
    assert not is_same(digest_of("00000-00000", salt), digest_of("00000-00001", salt))


def test_only_one_word_of_ten_such_characters_looks_like_a_code() -> None:
    assert looks_like_code("7KQ2M-X04VD")
    assert looks_like_code(" 7kq2mxo4vd ")
    for words in (
        "",
        "hello",
        "hello there",
        "7KQ2M-X04V",
        "7KQ2M-X04VDD",
        "7KQ2M-X04VU",
        "/start 7KQ2M-X04VD",
        "…" * 10,
    ):
        assert not looks_like_code(words), words
