"""What goes when there is no room for all of it: whole paragraphs or whole messages, and a line that says so. Pure.

A paragraph is what a reader of Markdown takes for one thing: a fenced block of code and a table are whole, a list is
taken apart between its items and nowhere else, a heading goes with what follows it. Nothing is ever cut inside one.

Where a text grows at the end that is kept, its cut moves in large steps. All places where it may be cut follow from the
text before them, half a budget apart; so a paragraph more leaves the cut where it is, until the next place is due. A
text that is kept from its start is cut at the same place however long its end grows, and needs no steps.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

_MOST_COUNTED = 9_999_999
"""Room is kept for a line that says this, so that the number of paragraphs never decides where a text is cut."""
_ITEM = re.compile(r"[-*+][ \t]+\S|\d{1,9}[.)][ \t]+\S")
_BEGINS_A_LIST = re.compile(r"[-*+][ \t]+\S|1[.)][ \t]+\S")
"""Inside a paragraph another number may just have come to the beginning of a line."""
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
_NESTED_COLUMNS = 2
"""What is indented so far belongs to the item above it."""

Estimate = Callable[[str], int]
"""Tokens of a text; of a text in two parts never less than of the whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimmed:
    text: str
    left_out_paragraphs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    text: str
    tokens: int
    is_shown: bool = True
    """Otherwise `text` says that it was too long."""


def trimmed(text: str, budget_tokens: int, *, keep: Literal["start", "end"], name: str, estimate: Estimate) -> Trimmed:
    """As much of the text as the budget holds, with the line that tells what is missing.

    From its start, all that fits. From its end, the whole budget down to about half of it: the cut is the first of its
    places behind which the rest fits. A paragraph that is too long for the budget alone is left out where it stands,
    so that it takes nothing else with it. A budget that does not even hold the line gives no text.
    """
    if estimate(text) <= budget_tokens:
        return Trimmed(text=text)
    parts = paragraphs(text)
    room = budget_tokens - estimate(f"\n\n{_line(_MOST_COUNTED, keep, name, budget_tokens)}\n")
    if room < 0:
        return Trimmed(text="", left_out_paragraphs=len(parts))
    pieces = [_piece(part, room, name, budget_tokens, estimate) for part in parts]
    if sum(piece.tokens for piece in pieces) <= budget_tokens:
        return _result(pieces, len(parts))
    if keep == "start":
        kept = _first_that_fit(pieces, room)
        return _result([*kept, _cut_line(len(parts) - len(kept), keep, name, budget_tokens)], len(parts))
    kept = _last_that_fit(pieces, room)
    return _result([_cut_line(len(parts) - len(kept), keep, name, budget_tokens), *kept], len(parts))


def trimmed_messages(sizes: Sequence[int], budget_tokens: int, most: int) -> int:
    """How many of the oldest go; `sizes` has the oldest first, and none goes while both limits are kept.

    Then half of the limit that was passed is left, so that it lasts for a while. The newest stays as long as it fits.
    """
    if len(sizes) <= most and sum(sizes) <= budget_tokens:
        return 0
    room = budget_tokens if sum(sizes) <= budget_tokens else budget_tokens // 2
    number = most if len(sizes) <= most else most // 2
    kept = held = 0
    for size in reversed(sizes):
        if held + size > room or kept == number:
            break
        held += size
        kept += 1
    if not kept and sizes and most > 0 and sizes[-1] <= budget_tokens:
        kept = 1
    return len(sizes) - kept


# The cut


def _piece(part: str, room: int, name: str, budget_tokens: int, estimate: Estimate) -> _Piece:
    tokens = estimate(part)
    if tokens <= room:
        return _Piece(text=part, tokens=tokens)
    line = f"[… 1 paragraph left out: it is too long for {name} and its budget of {budget_tokens:,} tokens]\n\n"
    return _Piece(text=line, tokens=estimate(line), is_shown=False)


def _first_that_fit(pieces: Sequence[_Piece], room: int) -> list[_Piece]:
    kept: list[_Piece] = []
    held = 0
    for piece in pieces:
        held += piece.tokens
        if held > room:
            break
        kept.append(piece)
    while kept and not kept[-1].is_shown:
        kept.pop()
    return kept


def _last_that_fit(pieces: Sequence[_Piece], room: int) -> list[_Piece]:
    kept = list(pieces[_cut([piece.tokens for piece in pieces], room) :])
    while kept and not kept[0].is_shown:
        kept.pop(0)
    return kept


def _cut(sizes: Sequence[int], room: int) -> int:
    """The first place behind which the rest fits. A place is where half of the room is full, counted from the
    beginning of the text, and before whatever alone is longer than that."""
    step = max(room // 2, 1)
    rest = sum(sizes)
    before = 0
    for place, size in enumerate(sizes):
        is_full = place > 0 and before // step > (before - sizes[place - 1]) // step
        if rest <= room and (is_full or size > step):
            return place
        before += size
        rest -= size
    return len(sizes)


def _cut_line(number: int, keep: str, name: str, budget_tokens: int) -> _Piece:
    text = f"\n\n{_line(number, keep, name, budget_tokens)}\n\n"
    return _Piece(text=text, tokens=0, is_shown=False)


def _line(number: int, keep: str, name: str, budget_tokens: int) -> str:
    which = "more" if keep == "start" else "earlier"
    noun = "paragraph" if number == 1 else "paragraphs"
    return f"[… {number:,} {which} {noun} left out: {name} is longer than its budget of {budget_tokens:,} tokens]"


def _result(pieces: Sequence[_Piece], parts: int) -> Trimmed:
    """A line stands alone between blank lines; what is kept stays as it was."""
    text = ""
    for piece in pieces:
        text = f"{text.rstrip()}\n\n{piece.text.lstrip()}" if text and not piece.is_shown else text + piece.text
    shown = sum(piece.is_shown for piece in pieces)
    return Trimmed(text=f"{text.strip()}\n", left_out_paragraphs=parts - shown)


# Paragraphs of Markdown


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    line: int
    """Where it begins."""
    level: int = 0
    """Of a heading."""


def paragraphs(text: str) -> list[str]:
    """The text in parts; put together again they are the text. A text without a word has none."""
    lines = text.split("\n")
    blocks = _blocks(lines)
    starts: list[int] = []
    is_led = False
    for place, block in enumerate(blocks):
        before = blocks[place - 1] if place else None
        is_below = before is not None and before.level > 0 and (not block.level or block.level > before.level)
        leads = before is not None and not is_led and not block.level and _leads(lines, before.line, block.line)
        is_led = leads and not is_below
        if not is_below and not leads:
            starts.append(block.line)
    if not starts:
        return []
    starts[0] = 0
    ends = [*starts[1:], len(lines)]
    parts = ["\n".join(lines[start:end]) for start, end in zip(starts, ends, strict=True)]
    return [*(f"{part}\n" for part in parts[:-1]), *parts[-1:]]


def _leads(lines: Sequence[str], start: int, end: int) -> bool:
    """Whether it announces what follows: "What she likes:" """
    for line in reversed(lines[start:end]):
        if line.strip():
            return line.rstrip().endswith(":")
    return False


def _blocks(lines: Sequence[str]) -> list[_Block]:
    blocks: list[_Block] = []
    is_open = is_list = False  # A line goes on with what stands above it; that is an item of a list.
    place = 0
    fences = _Fences(lines)
    while place < len(lines):
        line = lines[place].expandtabs(4)
        bare = line.lstrip()
        end = place
        is_inside = is_list and len(line) - len(bare) >= _NESTED_COLUMNS
        if not bare:
            is_open = False
        elif not is_inside and (heading := _HEADING.match(line)):
            blocks.append(_Block(line=place, level=len(heading[1])))
            is_open = is_list = False
        else:
            end = fences.end(place)
            is_item = (_ITEM if is_list or not is_open else _BEGINS_A_LIST).match(bare) is not None
            if not is_inside and (is_item or end > place or not is_open):
                blocks.append(_Block(line=place))
                is_list = is_item
            is_open = is_inside or end == place
        place = end + 1
    return blocks


class _Fences:
    """Where a fenced block ends. One that is never closed is none: it would take the rest of the text with it."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._unclosed: dict[str, int] = {}
        """Kind of a fence → the shortest of which it is known that none closes it from here on."""

    def end(self, place: int) -> int:
        """The line that closes the fence opened here; this one when none is."""
        opened = _FENCE.match(self._lines[place])
        if not opened:
            return place
        kind, length = opened[1][0], len(opened[1])
        if length >= self._unclosed.get(kind, length + 1):
            return place
        for later in range(place + 1, len(self._lines)):
            line = self._lines[later].strip()
            if len(line) >= length and line == kind * len(line):
                return later
        self._unclosed[kind] = length
        return place
