"""The blocks of an answer, put together from what a stream brings, and the pieces that are heard meanwhile.

A stream brings what is new (increments) or all so far (snapshots); both come to the same blocks and the same words.
Text that follows the use of a tool is a block of its own, so that all of it keeps its place. What was heard cannot be
unsaid: of a snapshot that takes words back, only what is longer than they were counts.
"""

import json
import math
from dataclasses import dataclass, field
from typing import Any, cast

from recollect.llm.talking import Block, Hear, TextPiece, ThinkingPiece, ToolPiece

MOST_UNREAD = 2_000
"""Characters of a tool's input that is no JSON: the tool's complaint shows them to the model."""


@dataclass(slots=True, kw_only=True)
class Part:
    """One block while it is written."""

    block: Block
    into: str = ""
    """Where the text goes: `text`, `thinking`, `input`, `content`. Empty: the block is whole as it is."""
    texts: list[str] = field(default_factory=list[str])
    length: int = 0
    half: str = ""
    """Of a character that a server cut in two. Its other half comes next."""

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def add(self, more: str) -> str:
        """What can be heard of it now."""
        more = self.half + more
        whole = without_half(more)
        self.half = more[len(whole) :]
        whole = joined_halves(whole)
        self.texts.append(whole)
        self.length += len(whole)
        return whole

    def become(self, whole: str) -> None:
        self.texts, self.length, self.half = [joined_halves(whole)], len(whole), ""


class Assembly:
    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self.parts: list[Part] = []
        self.is_heard = False
        """Words or the use of a tool: from here on a second attempt would say things twice."""

    @property
    def characters(self) -> int:
        return sum(part.length for part in self.parts)

    def begin(self, block: Block, into: str) -> Part:
        part = Part(block=block, into=into)
        self.parts.append(part)
        if into == "input":
            self._tell(ToolPiece(name=str(block.get("name") or "")))
        elif into == "thinking":
            self._hear(ThinkingPiece())
        return part

    def write(self, part: Part, more: str) -> None:
        heard = part.add(more)
        if heard and part.into == "text":
            self._tell(TextPiece(text=heard))

    def text_at_the_end(self) -> Part:
        """The text block that is being written: a new one behind the use of a tool."""
        if self.parts and self.parts[-1].into == "text":
            return self.parts[-1]
        return self.begin({"type": "text"}, "text")

    def blocks(self, *, is_cut: bool = False) -> tuple[Block, ...]:
        """All that say something. `is_cut`: it ended at its limit, so the last use of a tool may be unfinished, and
        such a one is left out."""
        found = [_finished(part, is_last=part is self.parts[-1], is_cut=is_cut) for part in self.parts]
        return tuple(block for block in found if block is not None)

    def _tell(self, piece: TextPiece | ToolPiece) -> None:
        self.is_heard = True
        self._hear(piece)


def _finished(part: Part, *, is_last: bool, is_cut: bool) -> Block | None:
    text = part.text
    match part.into:
        case "text":
            return {**part.block, "text": text} if text else None  # No API takes an empty text back.
        case "input":
            given = _input(text or "{}")
            if given is None and is_cut and is_last:
                return None
            return {**part.block, "input": {"unreadable": text[:MOST_UNREAD]} if given is None else given}
        case "":
            return part.block
        case name:
            return {**part.block, name: text}


def without_half(text: str) -> str:
    """Without the first half of a surrogate pair at its end."""
    return text[:-1] if text and "\ud800" <= text[-1] <= "\udbff" else text


def joined_halves(text: str) -> str:
    """Each surrogate pair as the character it is; a half that is alone is none."""
    if text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _input(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text, parse_constant=_refused, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, Any], found) if isinstance(found, dict) else None


def _refused(name: str) -> float:
    raise ValueError(f"{name} is no JSON: it could not be sent back")


def _finite(text: str) -> float:
    return value if math.isfinite(value := float(text)) else _refused(text)
