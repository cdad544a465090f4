"""A text with what of it is formatted, as the Bot API takes it.

Entities instead of its HTML or its Markdown: nothing has to be escaped, and one that Telegram does not take can be left
out without touching a word. Telegram counts in units of UTF-16, Python in characters: a `Span` is an `Entity` that is
counted in characters.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate

STYLES = frozenset({"bold", "italic", "strikethrough"})
SOLID = frozenset({"pre", "code"})
TAB = "    "
"""Telegram makes one space of a tab, and code would lose its shape."""
_DROPPED = frozenset("\u202a\u202b\u202c\u202d\u202e")
"""Overrides of direction: Telegram takes them out of a text, and counts after that."""
_LINE_ENDS = frozenset("\u2028\u2029\u0085")
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks by name, with nothing to see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A stretch of the text that is formatted. Counted in units of UTF-16, as Telegram does."""

    kind: str
    """bold, italic, strikethrough, text_link, code, pre or blockquote."""
    start: int
    length: int
    url: str = ""
    language: str = ""

    def as_json(self) -> dict[str, str | int]:
        found: dict[str, str | int] = {"type": self.kind, "offset": self.start, "length": self.length}
        if self.url:
            found["url"] = self.url
        if self.language:
            found["language"] = self.language
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Formatted:
    text: str
    entities: tuple[Entity, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """An entity that is counted in characters, as Python does."""

    kind: str
    start: int
    end: int
    url: str = ""
    language: str = ""


def with_entities(text: str, spans: Iterable[Span]) -> Formatted:
    """The spans as entities, outer ones first."""
    before = units_before(text)
    found = [
        Entity(
            kind=span.kind,
            start=before[span.start],
            length=before[span.end] - before[span.start],
            url=span.url,
            language=span.language,
        )
        for span in spans
    ]
    found.sort(key=lambda entity: (entity.start, -entity.length, entity.kind != "blockquote"))
    return Formatted(text=text, entities=tuple(found))


def units_before(text: str) -> list[int]:
    """How many units of UTF-16 there are before each character, and before the end."""
    return list(accumulate((2 if character > "\uffff" else 1 for character in text), initial=0))


def is_visible(text: str) -> bool:
    """Whether there is anything to see: Telegram does not take a message without."""
    return any(not _is_blank(character) for character in text)


def shown(text: str) -> str:
    """Without controls, which Telegram would make spaces of or drop."""
    return text if text.isascii() and text.isprintable() else "".join(map(_shown_character, text))


def trimmed(text: str, span: Span) -> Span | None:
    """Without the white space at its ends, where that means nothing. None: nothing is left."""
    inside = text[span.start : span.end]
    if not is_visible(inside):
        return None
    if span.kind not in STYLES and span.kind != "text_link":
        return span
    start = span.start + len(inside) - len(inside.lstrip())
    return replace(span, start=start, end=span.start + len(inside.rstrip()))


def _is_blank(character: str) -> bool:
    return unicodedata.category(character)[0] in "ZC" or character in _INVISIBLE


def _shown_character(character: str) -> str:
    if character == "\n" or character in _LINE_ENDS:
        return "\n"
    if character == "\t":
        return TAB
    return "" if character in _DROPPED or unicodedata.category(character) in {"Cc", "Cs"} else character
