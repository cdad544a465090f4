"""What a shelf shall say, as values: front matter, a title, sections of anchored lines. Pure.

A section is known by its heading. That of a conversation has an anchor in it and is known by that, whatever its words.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from recollect.librarian.shelves.anchors import Anchor, anchor_of
from recollect.notes.lines import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class ShelfLine:
    anchor: Anchor
    text: str
    """All of the line, its anchor included."""
    sources: tuple[Source, ...] = ()
    """What it goes with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    heading: str
    """The whole line, such as `## Facts`."""
    lines: tuple[ShelfLine, ...] = ()
    sources: tuple[Source, ...] = ()
    """Of the heading, where it says something."""

    @property
    def key(self) -> str:
        return heading_key(self.heading)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One note of the librarian's."""

    title: str
    front: dict[str, str | tuple[str, ...]]
    """Keys of front matter that are the librarian's, in their order."""
    sections: tuple[Section, ...]
    is_kept: bool = False
    """A line that stands there is never written again."""
    headings: frozenset[str] = field(default_factory=frozenset[str])
    """All headings that are the librarian's on a page of this kind, also those that it has no line for."""

    @property
    def is_empty(self) -> bool:
        return not any(section.lines for section in self.sections)

    @property
    def lines(self) -> Iterable[ShelfLine]:
        return (line for section in self.sections for line in section.lines)

    def without(self, hidden: set[Anchor]) -> "Page":
        """Without what somebody took away."""
        if not hidden:
            return self
        sections = (
            replace(section, lines=tuple(line for line in section.lines if line.anchor not in hidden))
            for section in self.sections
        )
        return replace(self, sections=tuple(sections))

    def sources_of(self) -> dict[str, tuple[Source, ...]]:
        """Line → what it goes with, for every line that says something of its sources."""
        found: dict[str, tuple[Source, ...]] = {}
        for section in self.sections:
            if section.sources:
                found[section.heading.strip()] = section.sources
            for line in section.lines:
                found[line.text.strip()] = line.sources
        return found


def heading_key(heading: str) -> str:
    anchor = anchor_of(heading)
    return str(anchor) if anchor else " ".join(heading.split()).casefold()
