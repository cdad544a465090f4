"""The tokeniser gives the numbers that BERT's own gives."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import VOCABULARY, WORDS

from recollect.embedding.wordpiece import WordPiece, read_tokenizer_json, read_vocabulary, words
from recollect.errors import Corrupt

PIECES = WordPiece({word: number for number, word in enumerate(WORDS)})
PROPERTY = settings(max_examples=200, derandomize=True, deadline=None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sowing BEANS, in May?", ["sowing", "beans", ",", "in", "may", "?"]),
        ("Café naïve Ångström İstanbul", ["cafe", "naive", "angstrom", "istanbul"]),
        ("東京 tower豆", ["東", "京", "tower", "豆"]),
        ("ひらがな", ["ひらかな"]),
        ("a\tb\nc\r\nd\u00a0e\u2028f", ["a", "b", "c", "d", "e", "f"]),
        ("zero\u200bwidth nul\x00 bell\x07 tab\x0bvertical \ufffd", ["zerowidth", "nul", "bell", "tabvertical"]),
        ("$5+3=8 a_b ~x` C:\\d", ["$", "5", "+", "3", "=", "8", "a", "_", "b", "~", "x", "`", "c", ":", "\\", "d"]),
        ("“real” quotes – and … ¿qué?", ["“", "real", "”", "quotes", "–", "and", "…", "¿", "que", "?"]),
        ("1€ ☃ 🙂", ["1€", "☃", "🙂"]),
        ("ΟΔΟΣ", ["οδοσ"]),
        ("\U0002b820\U0002b920", ["\U0002b820", "\U0002b920"]),
        ("private\ue000use", ["privateuse"]),
        ("unassigned\u0378 stays", ["unassigned\u0378", "stays"]),
        ("", []),
    ],
)
def test_a_text_is_cleaned_and_split_as_bert_does(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_word_is_cut_into_the_longest_pieces_of_the_vocabulary() -> None:
    assert [WORDS[number] for number in PIECES.ids("Sowing watermelon", 9)] == ["sow", "##ing", "water", "##melon"]


def test_a_word_that_cannot_be_cut_whole_is_unknown() -> None:
    assert [WORDS[number] for number in PIECES.ids("sowed beans " + "water" * 21, 9)] == ["[UNK]", "beans", "[UNK]"]


def test_markers_written_in_a_text_are_text() -> None:
    assert PIECES.separator not in PIECES.ids("beans [SEP] beans", 99)


def test_a_pair_keeps_the_question_and_cuts_the_passage() -> None:
    ids, types = PIECES.pair("sow beans?", "water " * 50, 12)
    assert [WORDS[number] for number in ids] == ["[CLS]", "sow", "beans", "?", "[SEP]", *["water"] * 6, "[SEP]"]
    assert types == [0] * 5 + [1] * 7


def test_a_question_that_would_leave_no_room_is_cut_to_half() -> None:
    ids, types = PIECES.pair("beans " * 500, "water " * 500, 13)
    assert [WORDS[number] for number in ids] == ["[CLS]", *["beans"] * 5, "[SEP]", *["water"] * 5, "[SEP]"]
    assert types.count(1) == 6


@PROPERTY
@given(first=st.text(), second=st.text(), limit=st.integers(8, 40))
def test_nothing_is_longer_than_it_may_be(first: str, second: str, limit: int) -> None:
    marked = PIECES.marked(first, limit)
    ids, types = PIECES.pair(first, second, limit)
    assert len(marked) <= limit
    assert len(ids) == len(types) <= limit
    assert ids.count(PIECES.separator) == 2
    assert (marked[0], marked[-1]) == (PIECES.start, PIECES.separator)


@PROPERTY
@given(text=st.text(), limit=st.integers(0, 20))
def test_a_limit_gives_the_beginning_of_the_same_numbers(text: str, limit: int) -> None:
    assert PIECES.ids(text, limit) == PIECES.ids(text, 10_000)[:limit]


def test_a_vocabulary_is_read_with_any_line_ending(tmp_path: Path) -> None:
    for ending in ("\n", "\r\n"):
        path = tmp_path / "vocab.txt"
        path.write_bytes(VOCABULARY.replace("\n", ending).encode())
        assert list(read_vocabulary(path)) == list(WORDS)


def test_a_vocabulary_of_another_kind_is_refused() -> None:
    with pytest.raises(Corrupt, match="CLS"):
        WordPiece({"beans": 0})


def test_a_tokenizer_file_that_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    for content in ("{", "{}", '{"model": 3, "normalizer": null}', "[]"):
        path.write_text(content)
        with pytest.raises(Corrupt, match=r"tokenizer\.json"):
            read_tokenizer_json(path)
