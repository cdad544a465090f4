"""A long answer in messages of a size that Telegram takes.

Cut where it hurts least: between paragraphs, else lines, else sentences, else words, else between two signs that a
reader sees as two. Nothing is lost but white space at a cut, and what was formatted is so in each part. Pure.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from wcwidth import iter_graphemes

from recollect.channels.telegram.entities import (
    Entity,
    Formatted,
    Span,
    is_visible,
    trimmed,
    units_before,
    with_entities,
)

MOST_UNITS = 4096
"""Of UTF-16, in one message."""
LEAST_FILL = 4
"""A good place to cut counts from a quarter of a message on: a greeting is no message of its own."""
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n")
_LINE_END = re.compile(r"\n")
_SENTENCE_END = re.compile(r"[.!?…؟۔][\"'”’»)\]]*(?=\s)|[。！？][”’』」）]*")
_WORD_END = re.compile(r"\s")
_WHITE_SPACE = re.compile(r"\s*")
_BLANK_LINES = re.compile(r"(?:[^\S\n]*\n)*")
_BEYOND = 2**63
"""More than any place in a text."""
_JOINER = "\u200d"
_LONGEST_SIGN = 64
"""Characters to look ahead: a family of emoji has eleven."""


def parts(whole: Formatted, most: int = MOST_UNITS) -> list[Formatted]:
    """None for a text with nothing to see."""
    text = whole.text
    if not is_visible(text):
        return []
    before = units_before(text)
    if before[-1] <= most:
        return [whole]
    spans = [_span(entity, before) for entity in whole.entities]
    code = sorted((span.start, span.end) for span in spans if span.kind == "pre")
    found: list[Formatted] = []
    start = len(text) - len(text.lstrip())
    while start < len(text):
        cut = _next_cut(text, code, before, start, most)
        if is_visible(text[start : cut.end]):
            found.append(_part(text, spans, start, cut.end))
        start = cut.next_start
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    end: int
    next_start: int
    """What is between the two is white space."""


def _next_cut(text: str, code: Sequence[tuple[int, int]], before: Sequence[int], start: int, most: int) -> _Cut:
    limit = max(bisect_right(before, before[start] + most) - 1, start + 1)
    if limit >= len(text):
        return _Cut(end=_without_space(text, start, limit), next_start=len(text))
    least = bisect_left(before, before[start] + most // LEAST_FILL)

    def last(ends: re.Pattern[str], *, in_code: bool, least: int = start + 1) -> _Cut | None:
        """The last such place."""
        best: _Cut | None = None
        for match in ends.finditer(text, start, limit + 1):
            end = match.start() + len(match[0].rstrip())
            if least <= end <= limit and _is_in(code, match.start()) == in_code:
                next_start = _next_start(text, code, match.end(), in_code=in_code)
                best = best if _goes_on(text, next_start) else _Cut(end=end, next_start=next_start)
        return best and replace(best, end=_without_space(text, start, best.end))

    return (
        last(_PARAGRAPH_END, in_code=False, least=least)
        or last(_LINE_END, in_code=False, least=least)
        or last(_LINE_END, in_code=True, least=least)
        or last(_SENTENCE_END, in_code=False, least=least)
        or last(_WORD_END, in_code=False)
        or last(_WORD_END, in_code=True)
        or _between_signs(text, start, limit)
    )


def _without_space(text: str, start: int, end: int) -> int:
    return start + len(text[start:end].rstrip())


def _next_start(text: str, code: Sequence[tuple[int, int]], at: int, *, in_code: bool) -> int:
    """Behind white space, but for the indentation of a line of code."""
    end = (_BLANK_LINES if in_code else _WHITE_SPACE).match(text, at).end()  # type: ignore[union-attr]
    index = bisect_left(code, (at, 0))
    return min(end, code[index][0]) if index < len(code) else end


def _is_in(code: Sequence[tuple[int, int]], at: int) -> bool:
    index = bisect_right(code, (at, _BEYOND)) - 1
    return index >= 0 and at < code[index][1]


def _goes_on(text: str, at: int) -> bool:
    """Whether the character there belongs to the one before it."""
    return at < len(text) and (text[at] == _JOINER or unicodedata.category(text[at])[0] == "M")


def _between_signs(text: str, start: int, limit: int) -> _Cut:
    """A flag, a family, a letter with its accents stay whole; unless one alone is more than a message."""
    end = start
    for sign in iter_graphemes(text[start : limit + _LONGEST_SIGN]):
        if end + len(sign) > limit:
            break
        end += len(sign)
    end = limit if end == start else end
    return _Cut(end=end, next_start=end)


def _span(entity: Entity, before: Sequence[int]) -> Span:
    return Span(
        kind=entity.kind,
        start=bisect_left(before, entity.start),
        end=bisect_left(before, entity.start + entity.length),
        url=entity.url,
        language=entity.language,
    )


def _part(text: str, spans: Iterable[Span], start: int, end: int) -> Formatted:
    words = text[start:end]
    clipped = (
        replace(span, start=max(span.start, start) - start, end=min(span.end, end) - start)
        for span in spans
        if span.start < end and span.end > start
    )
    return with_entities(words, [kept for span in clipped if (kept := trimmed(words, span))])
