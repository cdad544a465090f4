"""Cutting a page into sections: what stands under a heading, or a few paragraphs, with the line it begins at.

A hit in a note should name a place in it, and a page that says many things is found by each of them. Cuts fall before
headings and between paragraphs; only a paragraph that is longer than a section is cut in itself, between lines where it
has any. Pure: the same text always gives the same sections.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

SECTION_CHARACTERS = 1_200
"""About one screen: a passage or two for the models, and little enough to be read as a hit."""
MOST_HEADED = 4_000
"""Sections of one page. One that has more is a listing, and is cut by its length alone, whatever stands in it."""

_HEADING = re.compile(r" {0,3}#{1,6}(\s|$)")
_FENCE = re.compile(r"\s*(```|~~~)")


@dataclass(frozen=True, slots=True)
class Section:
    line: int
    """Where it begins, counted from 1."""
    text: str


@dataclass(frozen=True, slots=True)
class _Block:
    """A heading, a paragraph, or a part of one that is too long."""

    line: int
    text: str
    is_heading: bool = False


def sections(text: str) -> list[Section]:
    """Nothing but white space is in none of them."""
    blocks = list(_blocks(text))
    found = list(_joined(blocks))
    return found if len(found) <= MOST_HEADED else list(_joined(blocks, at_headings=False))


def _joined(blocks: list[_Block], *, at_headings: bool = True) -> Iterator[Section]:
    """Headings stay with what they stand above."""
    held: list[_Block] = []
    size, has_body = 0, False
    for block in blocks:
        is_full = size + len(block.text) > SECTION_CHARACTERS and (has_body or size > SECTION_CHARACTERS // 2)
        if held and (is_full or (at_headings and block.is_heading and has_body)):
            yield _section(held)
            held, size, has_body = [], 0, False
        held.append(block)
        size += len(block.text)
        has_body = has_body or not block.is_heading
    if held:
        yield _section(held)


def _section(blocks: list[_Block]) -> Section:
    return Section(blocks[0].line, "\n\n".join(block.text for block in blocks))


def _blocks(text: str) -> Iterator[_Block]:
    paragraph: list[tuple[int, str]] = []
    is_code = False
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.rstrip()
        is_heading = not is_code and bool(_HEADING.match(line))
        if (not line or is_heading) and paragraph:
            yield from _cut(paragraph)
            paragraph = []
        if _FENCE.match(line):
            is_code = not is_code
        if is_heading:
            yield from (_Block(number, part, is_heading=True) for part in _parts(line))
        elif line:
            paragraph.append((number, line))
    if paragraph:
        yield from _cut(paragraph)


def _cut(paragraph: list[tuple[int, str]]) -> Iterator[_Block]:
    held: list[str] = []
    first = size = 0
    for number, line in paragraph:
        for part in _parts(line):
            if held and size + len(part) >= SECTION_CHARACTERS:
                yield _Block(first, "\n".join(held))
                held, size = [], 0
            first = first if held else number
            held.append(part)
            size += len(part) + 1
    yield _Block(first, "\n".join(held))


def _parts(line: str) -> Iterator[str]:
    """A line that is longer than a section is cut at spaces, where there are any."""
    while len(line) > SECTION_CHARACTERS:
        cut = line.rfind(" ", SECTION_CHARACTERS // 2, SECTION_CHARACTERS)
        cut = cut if cut > 0 else SECTION_CHARACTERS
        yield line[:cut]
        line = line[cut:].strip()
    if line:
        yield line
