"""From text to the terms of the keyword index. Pure; the same functions read documents and questions.

Prose is folded to lower case without accents and lightly stemmed. What people paste is findable whole and in part:
`src/app/userService.ts` gives the whole path, each name in it, and the words inside the names. Scripts that write
without spaces are cut into characters and pairs of neighbouring characters; a question looks for the pairs. Stop words
are indexed, so that nothing is unfindable, but a question that has other words drops them.
"""

import re
import threading
import unicodedata
from functools import lru_cache
from typing import Protocol, cast

import Stemmer

WORDS_VERSION = 3
"""Changes whenever the same text would give other terms: an index made by another version is built anew."""
LONGEST_TERM = 80
"""Characters. Longer runs are hashes, tokens and base64: they are cut, in documents and in questions alike."""
LONGEST_TEXT = 200_000
"""Characters of one document that are indexed; what is longer is a pasted file."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, Japanese, Chinese; Korean, which has spaces but joins particles to its words."""
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff"
"""Accents, points and vowel signs that belong to the word although they are no letters. Indic scripts as a whole."""
_LETTER = rf"(?:(?![{_UNSPACED}])[\w{_MARKS}])"
_RUN_PATTERN = rf"[{_UNSPACED}]++|{_LETTER}++(?:['’]{_LETTER}++)*+|\S"
_COMPOUND_PATTERN = r"(?<!\w)(?:\w++(?:[-./\\:@#+~$]++\w++)++|[^\W_]*+_\w*+)"
_RUN = re.compile(_RUN_PATTERN)
_WORD = re.compile(f"{_COMPOUND_PATTERN}|{_RUN_PATTERN}")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_UNSPACED_RUN = re.compile(rf"[{_UNSPACED}]++")
_INNER = re.compile(rf"(?:(?![\d_])[\w{_MARKS}])++|\d++")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]++|[A-Z]++|\d++")
_ENDINGS = frozenset({"s", "t", "d", "m", "ll", "re", "ve"})
"""What English puts after an apostrophe. What other languages put there (l'école, O'Brien) is a word."""

_STOP_TEXT = """
a about after all also am an and any are as at be because been before being but by can could did do does doing done
for from had has have having he her here hers him his how i if in into is it its just let like me might my no not now
of on or our out over please should so some such than that the their them then there these they this those through to
too up us very was we were what when where which while who whom whose why will with would you your yours s t d ll m re
ve don doesn didn isn wasn aren won wouldn couldn shouldn hasn haven hadn im ive
"""
STOP_WORDS = frozenset(_STOP_TEXT.split())

Span = tuple[int, int, tuple[str, ...]]
"""From, to, and the terms of the word that stands there."""


class _WordStemmer(Protocol):
    """PyStemmer brings no types."""

    def stemWord(self, word: str) -> str: ...  # noqa: N802


_stemmer = cast(_WordStemmer, Stemmer.Stemmer("english"))  # pyright: ignore[reportUnknownMemberType]
_stemming = threading.Lock()


def document_terms(text: str) -> list[str]:
    """The terms of a text, with repetitions, in order."""
    terms: list[str] = []
    for word in _words(text[:LONGEST_TEXT]):
        terms.extend(_terms_of(word))
    return terms


def query_terms(text: str) -> list[str]:
    """The terms of a question, each once, without stop words unless there is nothing else."""
    asked = [(word.lower(), _asked_terms(word)) for word in _words(text[:LONGEST_TEXT])]
    words = [(word, terms) for word, terms in asked if terms]  # A question mark is none that tells anything.
    telling = [terms for word, terms in words if word not in STOP_WORDS and not _is_stop(terms)]
    return list(dict.fromkeys(term for terms in telling or [terms for _, terms in words] for term in terms))


def spans(text: str) -> list[Span]:
    """Where each word of a text stands, and its terms: for showing what matched."""
    found: list[Span] = []
    for match in _WORD.finditer(text):
        run = match[0]
        if _UNSPACED_RUN.fullmatch(run):
            first = match.start()
            found.extend((first + at, first + at + len(part), (part,)) for at, part in _parts(run))
        else:
            found.append((match.start(), match.end(), _terms_of(_plain(run))))
    return found


def _words(text: str) -> list[str]:
    """Compounds whole; the terms inside come from `_terms_of`."""
    return _WORD.findall(_plain(text))


def _plain(text: str) -> str:
    """One spelling for what looks the same."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text).replace("’", "'")


def _is_stop(terms: tuple[str, ...]) -> bool:
    return len(terms) == 1 and terms[0] in STOP_WORDS


def _asked_terms(word: str) -> tuple[str, ...]:
    """A question asks for the pairs of a run without spaces; documents have its characters too."""
    terms = _terms_of(word)
    if len(terms) > 1 and _IS_UNSPACED.search(word):
        return tuple(term for term in terms if len(term) > 1 or not _IS_UNSPACED.match(term))
    return terms


def _terms_of(word: str) -> tuple[str, ...]:
    """Remembered for words; pasted blobs are read anew each time, they would fill the memory."""
    return _remembered_terms(word) if len(word) <= LONGEST_TERM else _read_terms(word)


@lru_cache(maxsize=100_000)
def _remembered_terms(word: str) -> tuple[str, ...]:
    return _read_terms(word)


def _read_terms(word: str) -> tuple[str, ...]:
    if _IS_UNSPACED.search(word):
        runs = _RUN.findall(word)
        return tuple(term for run in runs for term in _unspaced(run))
    if not any(character.isalnum() for character in word):
        return (word,) if len(word) == 1 and unicodedata.category(word) == "So" else ()
    if "'" in word:
        pieces = word.split("'")
        if len(pieces) != 2 or pieces[1].lower() not in _ENDINGS:
            return tuple(dict.fromkeys(term for piece in pieces if piece for term in _terms_of(piece)))
        word = pieces[0]
    if not word.isascii():
        word = _without_accents(word)
    return _word_and_parts(word)


def _word_and_parts(word: str) -> tuple[str, ...]:
    whole = word.casefold().strip("_")
    pieces = _INNER.findall(word)
    if len(pieces) == 1 and pieces[0] == word:
        camel = _CAMEL.findall(word) if word.isascii() else []
        if len(camel) <= 1:
            return (_stem(whole),)
        pieces = camel
    else:
        pieces = [part for piece in pieces for part in _with_words_inside(piece)]
    parts = dict.fromkeys(
        _stem(piece.casefold()) for piece in pieces if len(piece) > 1 or piece.isdigit() or len(pieces) == 1
    )
    if len(whole) <= LONGEST_TERM:
        parts = {**parts, _stem(whole): None}
    return tuple(parts)


def _with_words_inside(name: str) -> list[str]:
    """`userService` → user, Service, userService."""
    camel = _CAMEL.findall(name) if name.isascii() else []
    return [*camel, name] if len(camel) > 1 else [name]


def _unspaced(run: str) -> list[str]:
    return [part for _, part in _parts(run)] if _IS_UNSPACED.match(run) else list(_terms_of(run))


def _parts(run: str) -> list[tuple[int, str]]:
    """(place, part): the characters of a run and its pairs."""
    return [(at, run[at : at + size]) for at in range(len(run)) for size in (1, 2) if at + size <= len(run)]


def _without_accents(word: str) -> str:
    """Of letters that have them. Marks that carry the vowels of a script stay."""
    parts = unicodedata.normalize("NFKD", word)
    return unicodedata.normalize("NFC", "".join(part for part in parts if not "\u0300" <= part <= "\u036f"))


def _stem(word: str) -> str:
    if len(word) > LONGEST_TERM:
        return word[:LONGEST_TERM]
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    with _stemming:
        return _stemmer.stemWord(word)
