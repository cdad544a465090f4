"""Sections as a model reads them: a block with a count, and one line for each thing in it.

What stands in a line was said by somebody, perhaps by a page that an agent read. Nothing in it may close its block,
open another or begin a line, whatever it is.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from recollect import tokens

_BREAKS = re.compile(r"\s*[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]\s*")
"""Whatever any program takes for the end of a line, and the other control characters; with the space around them."""
_UNSEEN = re.compile(r"[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
"""They reorder or hide characters: a person would read something else than the model."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    name: str
    tokens: int
    """Estimated, its tags included."""
    text: str
    documents: int
    """How many lines it has between its tags."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    sections: list[Section]
    left_out: int
    """What could have been shown and was not, for want of room."""
    budget_tokens: int

    @property
    def text(self) -> str:
        return "".join(section.text for section in self.sections)

    @property
    def tokens(self) -> int:
        """Never more than the budget."""
        return sum(section.tokens for section in self.sections)

    @property
    def fingerprint(self) -> str:
        """Equal for equal bytes."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]


def line_of(text: str, speaker: str = "") -> str:
    """One line of a block; empty when there is nothing to be read in the text."""
    words = escaped(text)
    if not words:
        return ""
    return f"- {speaker}: {words}\n" if speaker else f"- {words}\n"


def escaped(text: str) -> str:
    """On one line and without markup. The words stay as they are."""
    plain = _SURROGATE.sub("\ufffd", _UNSEEN.sub("", text))
    return _BREAKS.sub(" ", plain).strip().translate(_MARKUP)


def section_of(name: str, lines: Sequence[str]) -> Section:
    text = f"{_opening(name, len(lines))}{''.join(lines)}{_CLOSING}"
    return Section(name=name, tokens=tokens.estimate(text), text=text, documents=len(lines))


def section_tokens(name: str, documents: int, line_bytes: int) -> int:
    """What a section of so many lines with so many bytes costs; nothing when there are none."""
    if not documents:
        return 0
    return tokens.of_bytes(len(_opening(name, documents)) + line_bytes + len(_CLOSING))


_CLOSING = "</context>\n"


def _opening(name: str, documents: int) -> str:
    return f'<context category="{name}" document-count="{documents}">\n'
