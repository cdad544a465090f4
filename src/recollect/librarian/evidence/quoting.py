"""Where quoted words stand in a text, when space, quotation marks, dashes, emphasis or case were copied otherwise.

The words themselves must be there, whole and in their order. What is found is a place in the text, so that what is kept
is the text's own.
"""

import html
import re
from bisect import bisect_right
from functools import lru_cache

Span = tuple[int, int]

_FOLDED = {
    **dict.fromkeys("‘’‚‛′´`ʼ", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    "…": "...",
}
_UNSEEN = "*\u00ad\u200b-\u200f\u2060\ufeff\ufe0e\ufe0f"
"""Emphasis in Markdown, and characters that nobody sees."""
_SPECIAL = re.compile(rf"(?P<space>[\s{_UNSEEN}]*\s[\s{_UNSEEN}]*)|(?P<unseen>[{_UNSEEN}]+)|[{''.join(_FOLDED)}]")
_AROUND = " \t\r\n\"'“”„«»‘’`"
_STOPS = ".,;:!?…。！？、 "
_LEADING = re.compile(r"\s*(?:[>\-*•#]+\s+)+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
FEWEST_CHARACTERS = 2
"""Letters or digits of a quote: `no` is one, `a` is none."""


def find_quote(words: str, text: str) -> Span | None:
    """The first place where the words stand, from the start of a word to the end of one."""
    bare = _bare(words)
    for candidate in dict.fromkeys((words.strip(), bare, bare.rstrip(_STOPS))):
        if sum(map(str.isalnum, candidate)) < FEWEST_CHARACTERS:
            continue
        at = _whole(candidate, text)
        if at >= 0:
            return at, at + len(candidate)
        found = _find_folded(candidate, text)
        if found:
            return found
    return None


def _bare(words: str) -> str:
    """Without what people and models put around a quotation."""
    plain = _LEADING.sub("", html.unescape(words), count=1).strip(_AROUND)
    return plain.removesuffix("...").removesuffix("…").removeprefix("...").removeprefix("…").strip(_AROUND)


def _find_folded(words: str, text: str) -> Span | None:
    folded, places = _folding(text)
    wanted = _folding(words)[0].strip()
    if sum(map(str.isalnum, wanted)) < FEWEST_CHARACTERS:
        return None
    at = _whole(wanted, folded)
    return (_original(places, at), _original(places, at + len(wanted) - 1, is_end=True)) if at >= 0 else None


def _whole(words: str, text: str) -> int:
    """Where they stand and are no part of longer words; -1: nowhere."""
    at = text.find(words)
    while at >= 0:
        end = at + len(words)
        if not _is_inside(text, at) and not _is_inside(text, end):
            return at
        at = text.find(words, at + 1)
    return -1


def _is_inside(text: str, at: int) -> bool:
    """Whether a word goes on at this place."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    return before.isalnum() and after.isalnum() and not _UNSPACED.match(before) and not _UNSPACED.match(after)


_Pieces = tuple[tuple[int, int, int, bool], ...]
"""Start in the folded text, start and end in the original, and whether it is letter by letter the same."""


@lru_cache(maxsize=32)
def _folding(text: str) -> tuple[str, _Pieces]:
    """The text as it is compared, and where its pieces are from. Kept: one message is asked about several times."""
    parts: list[str] = []
    pieces: list[tuple[int, int, int, bool]] = []
    length = at = 0

    def add(part: str, start: int, end: int, is_same: bool) -> None:
        nonlocal length
        if part:
            parts.append(part)
            pieces.append((length, start, end, is_same))
            length += len(part)

    for match in _SPECIAL.finditer(text):
        add(_lower(text[at : match.start()]), at, match.start(), True)
        folded = " " if match["space"] else "" if match["unseen"] else _FOLDED[match[0]]
        add(folded, match.start(), match.end(), False)
        at = match.end()
    add(_lower(text[at:]), at, len(text), True)
    return "".join(parts), tuple(pieces)


def _lower(text: str) -> str:
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text


def _original(places: _Pieces, at: int, *, is_end: bool = False) -> int:
    """The place in the original of a character of the folded text, or the place behind it."""
    first, start, end, is_same = places[bisect_right(places, at, key=lambda piece: piece[0]) - 1]
    if is_same:
        return start + at - first + is_end
    return end if is_end else start


# The sentence around it

_ENDS = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+|(?<=[。！？])|\n+")
LOOK_CHARACTERS = 600
"""How far the start and the end of a sentence are looked for."""


def sentence_around(text: str, start: int, end: int) -> Span:
    """The sentences that the words stand in."""
    low, high = max(start - LOOK_CHARACTERS, 0), min(end + LOOK_CHARACTERS, len(text))
    first, last = low, high
    for match in _ENDS.finditer(text, low, high):
        if match.end() <= start:
            first = match.end()
        elif match.start() >= end:
            last = match.start()
            break
    return first, last
