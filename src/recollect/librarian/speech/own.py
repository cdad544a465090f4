"""Which parts of a message are its author's own words.

People paste: code, logs, mails, articles, other people's sentences. Whatever stands in them was not said by whoever
sent the message, and a memory that believes it can be led by the nose. Three classes of characters:

* own: what the author says;
* foreign: blocks and quotations that somebody or something else wrote;
* neutral: addresses and code inside a sentence. They say nothing by themselves, but a sentence may name them.

When in doubt it is foreign: a statement that is lost is said again, a false one stays. Nothing here knows who the
author is. Linear in the length of the text: lines are looked at once, no pattern repeats over an unbounded stretch.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from recollect.librarian.speech.pasted import foreign_blocks

OWN_SHARE = 0.6
"""Of the letters of a span that are own or foreign: as many must be own. A short quotation does no harm."""
MOST_NAME_WORDS = 3
"""Words in quotation marks or backticks that are still a name: “Blue Harbor”, `uv`. More of them are a quotation."""

_CODE = re.compile(r"(`{1,3})(?!`)([^`\n]{1,400})\1(?!`)")
_URL = re.compile(r"(?:https?|ftp|file|ssh|git)://[^\s<>\"')\]]{1,2000}|www\.[^\s<>\"')\]]{1,500}")
_INLINE_JSON = re.compile(r"\{\s{0,9}\"[^{}\n]{0,2000}\}|\[\s{0,9}[{\"][^\[\]\n]{0,2000}\]")
_TAG = re.compile(r"</?[A-Za-z][\w:-]{0,60}(?:\s[^<>\n]{0,400})?/?>")
_QUOTATIONS = (
    re.compile(r'"([^"\n]{0,4000})"'),
    re.compile(r"“([^“”\n]{0,4000})[”“]"),
    re.compile(r"„([^„“”\n]{0,4000})[“”]"),
    re.compile(r"«([^«»\n]{0,4000})»"),
    re.compile(r"»([^«»\n]{0,4000})«"),
    re.compile(r"‘([^‘’\n]{12,4000})’(?!\w)"),
    re.compile(r"「([^「」\n]{0,4000})」"),
    re.compile(r"『([^『』\n]{0,4000})』"),
)
_WORD = re.compile(r"[^\W\d_]+")
_LONG_WORDLESS = 12
"""Characters of a quotation in a script without spaces that are still a name."""

MOST_SPOKEN_CHARACTERS = 200_000
"""Of one message. Nobody writes more by hand; what is behind it is foreign and not looked at."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """One text, taken apart. Each list is sorted and its spans do not touch."""

    own: tuple[Span, ...]
    foreign: tuple[Span, ...]


def own_spans(text: str) -> list[Span]:
    """Where the author speaks, in order. Neutral parts are left out."""
    return list(_taken_apart(text).own)


def own_words(text: str) -> str:
    """The text with everything else blanked; each character and each line keeps its place."""
    pieces: list[str] = []
    at = 0
    for start, end in own_spans(text):
        pieces.append(_blank(text[at:start]))
        pieces.append(text[start:end])
        at = end
    pieces.append(_blank(text[at:]))
    return "".join(pieces)


def is_own(text: str, start: int, end: int) -> bool:
    """Whether the words from `start` to `end` are the author's. Names in backticks and addresses do not count."""
    speech = _taken_apart(text)
    around = bisect_right(speech.own, (start, len(text))) - 1
    if around >= 0 and end <= speech.own[around][1]:
        return any(map(str.isalpha, text[start:end]))
    own = _letters(text, speech.own, start, end)
    return own > 0 and own >= OWN_SHARE * (own + _letters(text, speech.foreign, start, end))


def foreign_spans(text: str) -> list[Span]:
    """What somebody or something else wrote."""
    return list(_taken_apart(text).foreign)


def _letters(text: str, spans: tuple[Span, ...], start: int, end: int) -> int:
    count = 0
    for low, high in spans[max(0, bisect_right(spans, (start, len(text))) - 1) :]:
        if low >= end:
            break
        count += sum(map(str.isalpha, text[max(low, start) : min(high, end)]))
    return count


def _blank(text: str) -> str:
    if "\n" not in text:
        return " " * len(text)
    return "\n".join(" " * len(line) for line in text.split("\n"))


@lru_cache(maxsize=16)
def _taken_apart(text: str) -> Speech:
    """Kept for the last few texts: one message is asked about many times in a row."""
    length = len(text)
    blocks = foreign_blocks(text[:MOST_SPOKEN_CHARACTERS])
    if length > MOST_SPOKEN_CHARACTERS:
        blocks = merged([*blocks, (MOST_SPOKEN_CHARACTERS, length)])
    quotations: list[Span] = []
    neutral: list[Span] = []
    for start, end in _complement(blocks, length):
        part = text[start:end]
        neutral += [(start + low, start + high) for low, high in _neutral(part)]
        quotations += [(start + low, start + high) for low, high in _quotations(part)]
    foreign = merged(blocks + quotations)
    own = _complement(merged(foreign + neutral), length)
    return Speech(own=tuple(span for span in own if not text[span[0] : span[1]].isspace()), foreign=tuple(foreign))


def _neutral(text: str) -> list[Span]:
    spans: list[Span] = []
    if "`" in text:
        spans += [match.span() for match in _CODE.finditer(text) if not _is_name(match[2])]
    if "://" in text or "www." in text:
        spans += [match.span() for match in _URL.finditer(text)]
    if "{" in text or "[" in text:
        spans += [match.span() for match in _INLINE_JSON.finditer(text)]
    if "<" in text:
        spans += [match.span() for match in _TAG.finditer(text)]
    return spans


def _quotations(text: str) -> list[Span]:
    return [
        match.span()
        for pattern in _QUOTATIONS
        if pattern.pattern[0] in text
        for match in pattern.finditer(text)
        if not _is_name(match[1])
    ]


def _is_name(words: str) -> bool:
    found = _WORD.findall(words[:400])
    is_code = any(sign in words for sign in "=;{}()")
    longest = max(map(len, found), default=0)
    is_wordless = longest > _LONG_WORDLESS and not words.isascii() and not any(map(str.islower, words))
    return len(found) <= MOST_NAME_WORDS and not is_code and not is_wordless


def merged(spans: list[Span]) -> list[Span]:
    """Sorted, those that touch made one."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(result[-1][1], end))
        elif end > start:
            result.append((start, end))
    return result


def _complement(spans: list[Span], length: int) -> list[Span]:
    result: list[Span] = []
    at = 0
    for start, end in spans:
        if start > at:
            result.append((at, start))
        at = end
    if at < length:
        result.append((at, length))
    return result
