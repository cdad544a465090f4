"""From text to the terms of the keyword index. Pure; the same function reads documents and questions.

Prose is lower-cased and lightly stemmed. What people paste is findable whole and in part: `src/app/userService.ts`
gives the whole path, each name in it, and the words inside the names. Scripts that write without spaces are cut into
pairs of neighbouring characters. Stop words are indexed, so that nothing is unfindable, but a question that has other
words drops them.
"""

import re
import threading
import unicodedata
from functools import lru_cache
from typing import Protocol, cast

import Stemmer

WORDS_VERSION = 1
"""Changes whenever the same text would give other terms: an index made by another version is built anew."""
LONGEST_TERM = 80
"""Characters. Longer runs are hashes, tokens and base64: their parts are kept, not the whole."""
LONGEST_TEXT = 200_000
"""Characters of one document that are indexed; what is longer is a pasted file."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, Japanese, Chinese."""
_RUN = re.compile(rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])\w)+(?:['’](?=\w)\w+)?|\S")
_COMPOUND = re.compile(r"\w+(?:[-._/\\:@#+~$]+\w+)+|\w*_\w*")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_INNER = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

_STOP_TEXT = """
a about after all also am an and any are as at be because been before being but by can could did do does doing done
for from had has have having he her here hers him his how i if in into is it its just let like me might my no not now
of on or our out over please should so some such than that the their them then there these they this those through to
too up us very was we were what when where which while who whom whose why will with would you your yours s t d ll m re
ve don doesn didn isn wasn aren won wouldn couldn shouldn hasn haven hadn im ive
"""
STOP_WORDS = frozenset(_STOP_TEXT.split())


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
    words = [(word.lower(), _terms_of(word)) for word in _words(text[:LONGEST_TEXT])]
    telling = [
        terms for word, terms in words if word not in STOP_WORDS and not (len(terms) == 1 and terms[0] in STOP_WORDS)
    ]
    return list(dict.fromkeys(term for terms in telling or [terms for _, terms in words] for term in terms))


def _words(text: str) -> list[str]:
    """Compounds first, whole; the terms inside come from `_terms_of`."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("’", "'")
    found: list[str] = []
    at = 0
    for match in _COMPOUND.finditer(text):
        if match.start() > at:
            found.extend(_RUN.findall(text[at : match.start()]))
        found.append(match[0])
        at = match.end()
    found.extend(_RUN.findall(text[at:]))
    return found


@lru_cache(maxsize=200_000)
def _terms_of(word: str) -> tuple[str, ...]:
    if _IS_UNSPACED.search(word):
        return tuple(part for run in _RUN.findall(word) for part in _unspaced(run))
    if not any(character.isalnum() for character in word):
        return (word,) if len(word) == 1 and unicodedata.category(word) == "So" else ()
    whole = word.lower().strip("_")
    if not whole.isascii():
        word = _without_accents(word)
        whole = word.lower().strip("_")
    if "'" in whole:
        whole = whole.partition("'")[0]
        word = word.partition("'")[0]
    pieces = _INNER.findall(word)
    if len(pieces) == 1 and pieces[0] == word:
        camel = _CAMEL.findall(word)
        if len(camel) < 2 or not word.isascii():
            return (_stem(whole),)
        pieces = camel
    else:
        pieces = [part for piece in pieces for part in (_CAMEL.findall(piece) if piece.isascii() else [piece])]
    parts = dict.fromkeys(
        _stem(piece.lower()) for piece in pieces if len(piece) > 1 or piece.isdigit() or len(pieces) == 1
    )
    if len(whole) <= LONGEST_TERM:
        parts = {**parts, whole: None}
    return tuple(parts)


def _without_accents(word: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter))


def _unspaced(run: str) -> list[str]:
    if not _IS_UNSPACED.search(run):
        return list(_terms_of(run))
    if len(run) == 1:
        return [run]
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _stem(word: str) -> str:
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    with _stemming:
        return _stemmer.stemWord(word)


def spans(text: str) -> list[tuple[int, int, tuple[str, ...]]]:
    """Where each word of a text stands, and its terms: for showing what matched."""
    found: list[tuple[int, int, tuple[str, ...]]] = []
    at = 0
    for match in _COMPOUND.finditer(text):
        found.extend(_spans_between(text, at, match.start()))
        found.append((match.start(), match.end(), _terms_of(match[0])))
        at = match.end()
    found.extend(_spans_between(text, at, len(text)))
    return found


def _spans_between(text: str, start: int, end: int) -> list[tuple[int, int, tuple[str, ...]]]:
    return [
        (match.start(), match.end(), _terms_of(unicodedata.normalize("NFKC", match[0]).replace("’", "'")))
        for match in _RUN.finditer(text, start, end)
    ]
