"""A long conversation in parts that each fit into a budget, cut where people pause or ask for something new.

Each part but the first repeats the last words of the one before, and has room for a summary of all that went before, so
that nothing said near a cut is lost. The same turns and budget always give the same parts: replies that were kept are
found again by them. Every character of every turn stands in a part.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollect import tokens
from recollect.clock import from_text
from recollect.history.transcript import TURN_GAP_SECONDS
from recollect.librarian.items import USER, Turn
from recollect.librarian.reading import TOOL_LINES_SHOWN

LEAST_BUDGET_TOKENS = 3_000
"""A smaller budget is taken for this one: the calls of one turn alone may take most of it."""
CARRIED_SHARE = 8
"""A part of this share of the budget is kept free for what is carried over, and as much for repeated turns."""
MOST_CARRIED_TOKENS = 700
MOST_REPEATED_TURNS = 4
LONG_PAUSE_SECONDS = 3_600
LEAST_HALVED_CHARACTERS = 400
"""What is shorter is not divided again: a reply about it that is cut off has another cause than its length."""

_HEADING_BYTES = 100
"""Day or pause, number, time and speaker: more than any of them takes."""
_TOOL_BYTES = 10
_BREAKS = re.compile(r"\r\n?|[\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_PLACES = ("\n\n", "\n", ". ", "! ", "? ", "。", "; ", ", ", " ")
"""Where a text may be cut, best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    turns: tuple[Turn, ...]
    repeated: tuple[Turn, ...] = ()
    """The last turns of the part before, or the end of the last one: shown again, and marked as such."""
    carried: str = ""
    """What the parts before were about, as a model put it."""


def split(turns: Sequence[Turn], budget_tokens: int) -> list[Part]:
    """At least one part, unless there are no turns."""
    budget = max(budget_tokens, LEAST_BUDGET_TOKENS)
    carried, repeating = carried_tokens(budget), budget // CARRIED_SHARE
    pieces = [piece for turn in turns for piece in _divided(turn, budget - carried - repeating)]
    parts: list[Part] = []
    repeated: tuple[Turn, ...] = ()
    at = 0
    while at < len(pieces):
        room = budget - sum(map(cost, repeated)) - (carried if parts else 0)
        end = _end(pieces, at, room)
        parts.append(Part(turns=tuple(pieces[at:end]), repeated=repeated))
        repeated = _last(pieces[at:end], repeating)
        at = end
    return parts


def carried_tokens(budget_tokens: int) -> int:
    """How long a carried summary may be."""
    return min(max(budget_tokens, LEAST_BUDGET_TOKENS) // CARRIED_SHARE, MOST_CARRIED_TOKENS)


def halved(part: Part) -> tuple[Part, Part] | None:
    """The same in two, for a reply that was too long. None: it is as short as it gets."""
    pieces = list(part.turns)
    if sum(len(piece.text) for piece in pieces) < LEAST_HALVED_CHARACTERS:
        return None
    if len(pieces) == 1:
        text = pieces[0].text
        place = _good_place(text, 0, len(text) * 2 // 3)
        pieces = [replace(pieces[0], text=text[:place], tools=()), replace(pieces[0], text=text[place:])]
    total = sum(map(cost, pieces))
    end = min(_end(pieces, 0, total // 2), len(pieces) - 1)
    first, second = tuple(pieces[:end]), tuple(pieces[end:])
    return replace(part, turns=first), replace(part, turns=second, repeated=_last(first, total // CARRIED_SHARE))


def cost(turn: Turn) -> int:
    """The most tokens that a turn takes when it is rendered, among others or alone."""
    calls = turn.tools[:TOOL_LINES_SHOWN]
    tool_bytes = sum(len(call.encode()) + 4 * _marks(call) + _TOOL_BYTES for call in calls)
    return tokens.of_bytes(_HEADING_BYTES + _text_bytes(turn.text) + tool_bytes)


def _text_bytes(text: str) -> int:
    """Further lines are indented, and tags are written otherwise."""
    return len(text.encode("utf-8", "surrogatepass")) + 4 * len(_BREAKS.findall(text)) + 3 * text.count("<")


def _marks(text: str) -> int:
    return sum(map(text.count, "&<>"))


# One turn that is too long


def _divided(turn: Turn, room_tokens: int) -> list[Turn]:
    """The turn, or pieces of it whose texts joined are its text. The calls of its tools stand behind the last."""
    if cost(turn) <= room_tokens:
        return [turn]
    pieces = [replace(turn, text=text, tools=()) for text in _texts(turn.text, room_tokens)]
    last = replace(pieces[-1], tools=turn.tools) if pieces else turn
    if cost(last) <= room_tokens or not turn.text or not turn.tools:
        return [*pieces[:-1], last]
    return [*pieces, replace(turn, text="")]


def _texts(text: str, room_tokens: int) -> list[str]:
    room = max(room_tokens * tokens.BYTES_PER_TOKEN - _HEADING_BYTES, 16)
    texts: list[str] = []
    at = 0
    while at < len(text):
        end = _furthest(text, at, room)
        if end < len(text):
            end = _good_place(text, at, end)
        texts.append(text[at:end])
        at = end
    return texts


def _furthest(text: str, at: int, room_bytes: int) -> int:
    """As many characters as fit, one at the least."""
    low, high = at + 1, min(at + room_bytes, len(text))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _text_bytes(text[at:middle]) <= room_bytes else (low, middle - 1)
    return low


def _good_place(text: str, at: int, end: int) -> int:
    """The end of a paragraph, sentence or word in the second half of what fits; else where it is full."""
    half = at + (end - at) // 2
    for place in _PLACES:
        found = text.rfind(place, half, end)
        if found >= 0:
            return found + len(place)
    return end


# Many turns


def _end(pieces: Sequence[Turn], at: int, room_tokens: int) -> int:
    """Behind the last turn of the part that begins here: the best place in the second half of what fits."""
    taken, full, half = 0, at, at
    while full < len(pieces) and (full == at or taken + cost(pieces[full]) <= room_tokens):
        taken += cost(pieces[full])
        full += 1
        if taken <= room_tokens // 2:
            half = full
    if full == len(pieces):
        return full
    return max(range(max(half, at + 1), full + 1), key=lambda place: (_worth(pieces, place), place))


def _worth(pieces: Sequence[Turn], place: int) -> int:
    """How good it is to cut before this turn."""
    before, after = pieces[place - 1], pieces[place]
    if before.number == after.number:
        return 0
    pause = _pause_seconds(before, after)
    is_request = after.author == USER and before.author != USER
    return 1 + is_request + 2 * (pause > TURN_GAP_SECONDS) + 2 * (pause > LONG_PAUSE_SECONDS)


def _pause_seconds(before: Turn, after: Turn) -> float:
    if not before.at or not after.at:
        return 0
    return (from_text(after.at) - from_text(before.at)).total_seconds()


def _last(pieces: Sequence[Turn], room_tokens: int) -> tuple[Turn, ...]:
    """The last turns that fit, or the end of the last one; calls of tools say nothing twice."""
    said = [replace(piece, tools=()) for piece in pieces if piece.text]
    found: list[Turn] = []
    left = room_tokens
    for turn in said[: -MOST_REPEATED_TURNS - 1 : -1]:
        left -= cost(turn)
        if left < 0:
            break
        found.insert(0, turn)
    if not found and said:
        found = [replace(said[-1], text=_tail(said[-1].text, room_tokens))]
    return tuple(found)


def _tail(text: str, room_tokens: int) -> str:
    """From the start of a paragraph, sentence or word on."""
    room = max(room_tokens * tokens.BYTES_PER_TOKEN - _HEADING_BYTES, 16)
    start = max(len(text) - room, 0)
    while start < len(text) - 1 and _text_bytes(text[start:]) > room:
        start += max((_text_bytes(text[start:]) - room) // 8, 1)
    for place in _PLACES:
        found = text.find(place, start, start + (len(text) - start) // 2)
        if found >= 0:
            return text[found + len(place) :]
    return text[start:]
