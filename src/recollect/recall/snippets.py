"""The part of a text that answers a question, with the words that matched marked. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from recollect.recall.words import LONGEST_TEXT, spans

SNIPPET_CHARACTERS = 280
_EDGE = "…"
_UNEVEN = re.compile(r"[^\S ]|  |^ | $")


@dataclass(frozen=True, slots=True)
class Snippet:
    text: str
    highlights: list[tuple[int, int]]
    """From and to, in the text."""


def snippet(text: str, weights: Mapping[str, float], size: int = SNIPPET_CHARACTERS) -> Snippet:
    """The stretch with the most telling words of the question, each counted once. `weights`: term → how telling."""
    found = [
        (start, end, terms)
        for start, end, terms in spans(text[:LONGEST_TEXT])
        if any(term in weights for term in terms)
    ]
    start = _best_start(text, found, weights, size)
    end = min(len(text), start + size)
    start, end = _whole_words(text, start, end)
    shown, marks = _one_line(
        text[start:end], _joined([(a - start, b - start) for a, b, _ in found if start <= a < b <= end])
    )
    before, after = _EDGE if start else "", _EDGE if end < len(text) else ""
    return Snippet(before + shown + after, [(a + len(before), b + len(before)) for a, b in marks])


def excerpt(text: str, weights: Mapping[str, float], size: int) -> str:
    """The same stretch without marks, for a model to read."""
    found = [item for item in spans(text[:LONGEST_TEXT]) if any(term in weights for term in item[2])]
    start = _best_start(text, found, weights, size)
    start, end = _whole_words(text, start, min(len(text), start + size))
    return text[start:end]


def _best_start(
    text: str, found: list[tuple[int, int, tuple[str, ...]]], weights: Mapping[str, float], size: int
) -> int:
    """Where a window of this size begins that holds the most; a little before its first match."""
    if len(text) <= size or not found:
        return 0
    best, best_start = 0.0, 0
    for place, (start, _, _) in enumerate(found):
        held: set[str] = set()
        for index in range(place, len(found)):
            _, end, terms = found[index]
            if end > start + size * 3 // 4:
                break
            held.update(term for term in terms if term in weights)
        worth = sum(weights[term] for term in held)
        if worth > best:
            best, best_start = worth, start
    return max(0, min(best_start - size // 5, len(text) - size))


def _joined(marks: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Marks that overlap or touch become one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(marks):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Moved inwards to spaces, where there are any near."""
    if start:
        space = text.find(" ", start, start + 24)
        start = space + 1 if space >= 0 else start
    if end < len(text):
        space = text.rfind(" ", max(start, end - 24), end)
        end = space if space > start else end
    return start, end


def _one_line(text: str, marks: list[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """White space becomes single spaces; the marks move along."""
    if not _UNEVEN.search(text):
        return text.rstrip(), marks
    places: list[int] = []
    shown: list[str] = []
    for character in text:
        places.append(len(shown))
        if character.isspace():
            if shown and shown[-1] != " ":
                shown.append(" ")
        else:
            shown.append(character)
    places.append(len(shown))
    line = "".join(shown).rstrip()
    return line, [(places[start], min(places[end], len(line))) for start, end in marks if places[start] < len(line)]
