"""TOML as statements: where each of them stands in the text, what it is called, and where its comments are. Pure.

For text that tomllib has read: nothing is checked here, and values are passed over.
"""

import re
import tomllib
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

Names: TypeAlias = tuple[str, ...]
"""Of a table, from the root."""

_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*|[\[\]{}=\n]",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A header, or a key with its value; from the beginning of its first line to the end of its last."""

    names: Names
    """Whole: with those of the header above a key."""
    is_header: bool
    start: int
    end: int


def statements(text: str) -> list[Statement]:
    found: list[Statement] = []
    above: Names = ()
    for start, end, equals in _pieces(text):
        if equals < 0:
            above = _names(text[start:end])
            found.append(Statement(above, True, start, end))
        else:
            found.append(Statement((*above, *_names(f"{text[start:equals]}= 0")), False, start, end))
    return found


def comments(text: str) -> list[str]:
    """Sorted; those behind something too."""
    return sorted(token[0].rstrip() for token in _TOKEN.finditer(text) if token[0].startswith("#"))


def _pieces(text: str) -> Generator[tuple[int, int, int]]:
    """(start, end, place of the first `=`) of what is neither blank nor only a comment; no `=` in a header."""
    start = depth = 0
    equals = -1
    ends = [*_TOKEN.finditer(text), None]
    for token in ends:
        word = token[0] if token else "\n"
        if word in ("[", "{"):
            depth += 1
        elif word in ("]", "}"):
            depth -= 1
        elif word == "=" and depth == 0 and equals < 0:
            equals = token.start() if token else -1
        elif word == "\n" and depth == 0:
            end = token.end() if token else len(text)
            line = text[start:end].strip()
            if line and not line.startswith("#"):
                yield start, end, equals
            start, equals = end, -1


def _names(text: str) -> Names:
    """Of the one table or key that this text makes."""
    names: list[str] = []
    place: Any = tomllib.loads(text)
    while isinstance(place, dict | list) and place:
        if isinstance(place, list):
            place = cast(list[Any], place)[0]
            continue
        name, place = next(iter(cast(dict[str, Any], place).items()))
        names.append(name)
    return tuple(names)
