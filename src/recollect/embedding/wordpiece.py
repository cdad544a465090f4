"""BERT's WordPiece tokeniser, uncased, in plain Python: the same numbers as the reference, without its dependencies.

Text is cleaned (control characters out, any space is a space), Chinese characters and punctuation stand alone, accents
and capitals are dropped, and each word is cut into the longest pieces of the vocabulary. One thing is different on
purpose: "[SEP]" or "[MASK]" written in a text is text, not a control token.
"""

import json
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from recollect.errors import Corrupt

MAX_WORD_CHARACTERS = 100
"""A longer word is unknown, as in the reference."""
CACHED_WORDS = 50_000

CHINESE = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
"""The ranges of the reference, its slip at 2B820 included: the models were trained with it."""


class _Cleaned(dict[int, str]):
    """Code point → what it becomes before accents are taken off. Filled as characters are met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character in "\t\n\r":
            cleaned = " "
        elif code in (0, 0xFFFD) or unicodedata.category(character) in ("Cc", "Cf", "Co"):
            cleaned = ""
        elif character.isspace():
            cleaned = " "
        elif any(first <= code <= last for first, last in CHINESE):
            cleaned = f" {character} "
        else:
            cleaned = character
        self[code] = cleaned
        return cleaned


class _Folded(dict[int, str]):
    """Code point of decomposed text → lower case, without accents, punctuation apart."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if category == "Mn":
            folded = ""
        elif category[0] == "P" or (code < 128 and not character.isalnum() and not character.isspace()):
            folded = f" {character} "
        else:
            folded = character.lower()
        self[code] = folded
        return folded


_CLEANED, _FOLDED = _Cleaned(), _Folded()


def words(text: str) -> list[str]:
    """The words of a text as BERT sees them."""
    cleaned = text.translate(_CLEANED)
    return unicodedata.normalize("NFD", cleaned).translate(_FOLDED).split()


class WordPiece:
    """Holds a vocabulary; safe to share between threads."""

    def __init__(self, vocabulary: dict[str, int]) -> None:
        self._vocabulary = vocabulary
        try:
            self.start, self.separator = vocabulary["[CLS]"], vocabulary["[SEP]"]
            self._unknown = vocabulary["[UNK]"]
        except KeyError as error:
            raise Corrupt(f"The vocabulary has no {error} and is not of BERT's kind. Use another model.") from error
        self._cut = lru_cache(CACHED_WORDS)(self._pieces)

    def ids(self, text: str, limit: int) -> list[int]:
        """The first `limit` piece numbers of a text, without the markers around it."""
        found: list[int] = []
        for word in words(text):
            found += self._cut(word)
            if len(found) >= limit:
                break
        return found[:limit]

    def marked(self, text: str, limit: int) -> list[int]:
        """A text between its markers, `limit` numbers at most."""
        return [self.start, *self.ids(text, limit - 2), self.separator]

    def pair(self, first: str, second: str, limit: int) -> tuple[list[int], list[int]]:
        """Two texts between markers, and which of them each number belongs to.

        The first is kept and the second cut; only a first text that would take more than half is cut itself."""
        one = [self.start, *self.ids(first, (limit - 3) // 2), self.separator]
        two = [*self.ids(second, limit - len(one) - 1), self.separator]
        return one + two, [0] * len(one) + [1] * len(two)

    def _pieces(self, word: str) -> tuple[int, ...]:
        if len(word) > MAX_WORD_CHARACTERS:
            return (self._unknown,)
        found: list[int] = []
        at = 0
        while at < len(word):
            for end in range(len(word), at, -1):
                piece = self._vocabulary.get(word[at:end] if at == 0 else f"##{word[at:end]}")
                if piece is not None:
                    found.append(piece)
                    at = end
                    break
            else:
                return (self._unknown,)
        return tuple(found)


def read_vocabulary(path: Path) -> dict[str, int]:
    """`vocab.txt`: a piece a line, its number is the line's."""
    return {piece: number for number, piece in enumerate(_lines(path))}


def _lines(path: Path) -> Iterator[str]:
    with open(path, encoding="utf-8", newline="\n") as file:
        for line in file:
            yield line.rstrip("\r\n")


def read_tokenizer_json(path: Path) -> WordPiece | None:
    """The same vocabulary out of `tokenizer.json`; None when that file describes another kind of tokeniser."""
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
        model: dict[str, Any] = described["model"]
        normalizer: dict[str, Any] = described["normalizer"] or {}
        is_ours = model["type"] == "WordPiece" and normalizer.get("type") == "BertNormalizer"
        is_uncased = bool(normalizer.get("lowercase")) and normalizer.get("strip_accents") is not False
        vocabulary = cast(dict[str, int], model["vocab"]) if is_ours and is_uncased else None
    except (KeyError, TypeError, ValueError) as error:
        raise Corrupt(f"{path} does not describe a tokeniser. Take the model's files anew.") from error
    return WordPiece(vocabulary) if vocabulary is not None else None
