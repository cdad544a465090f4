"""Whether requests only ever grow: does each begin with all of the one before it?

A conversation that is sent whole stays cheap, and its thinking blocks valid, only as long as nothing that was sent is
changed. `breaks` walks over the bodies of a server's requests and names the first place of each that differs, for a
person to read. Cache marks are not part of what is said, and a text is the same as a list of one text block.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, cast

import msgspec

from recollect.testing.anthropic_conversation import as_said

SETTINGS = ("model", "thinking", "tool_choice")
"""They stand before everything: a provider that sees another value begins anew, at least with the messages."""
OPENINGS = ("tools", "system", "instructions")
CONVERSATIONS = ("messages", "input")
"""Anthropic's and OpenAI's name."""
SHOWN_BEFORE, SHOWN_AFTER = 30, 90
"""Characters around a difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    where: str
    """`system`, `tools`, `messages[12].content[0]`, `messages[12].role`, or a setting such as `model`."""
    earlier_text: str
    later_text: str
    """From shortly before the first character that differs. Empty: there is nothing at this place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    number: int
    """Of the later body, from 0, in the order in which they were given."""
    where: str
    earlier_text: str
    later_text: str

    def __str__(self) -> str:
        return f"request {self.number} differs at {self.where}: {self.earlier_text!r} became {self.later_text!r}"


class PrefixWatch:
    """For runs that keep no bodies: each is shown once, and only the last is remembered."""

    def __init__(self) -> None:
        self.breaks: list[Break] = []
        self._last: Mapping[str, Any] | None = None
        self._seen = 0

    def take(self, body: Mapping[str, Any]) -> Break | None:
        """Nobody may change the body afterwards."""
        found = first_difference(self._last, body) if self._last is not None else None
        self._last = body
        self._seen += 1
        if found is None:
            return None
        broken = Break(
            number=self._seen - 1,
            where=found.where,
            earlier_text=found.earlier_text,
            later_text=found.later_text,
        )
        self.breaks.append(broken)
        return broken


def breaks(bodies: Iterable[Mapping[str, Any]]) -> list[Break]:
    """`breaks(server.asked)`: each request that does not begin with all of the one before it."""
    watch = PrefixWatch()
    for body in bodies:
        watch.take(body)
    return watch.breaks


def first_difference(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> Difference | None:
    """None: the later body begins with all of the earlier."""
    for name in SETTINGS:
        if earlier.get(name) != later.get(name):
            return _difference(name, earlier.get(name), later.get(name))
    for name in OPENINGS:
        if found := _compared(name, _blocks(earlier.get(name)), _blocks(later.get(name))):
            return found
    for name in CONVERSATIONS:
        if found := _first_in_messages(name, _items(earlier.get(name)), _items(later.get(name))):
            return found
    return None


def _items(value: Any) -> list[Any]:
    """`input` may be a text."""
    return [{"role": "user", "content": value}] if isinstance(value, str) else list(value or [])


def _blocks(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content or []


def _first_in_messages(name: str, earlier: list[Any], later: list[Any]) -> Difference | None:
    for number, before in enumerate(earlier):
        place = f"{name}[{number}]"
        if number >= len(later):
            return _difference(place, before, None)
        if _text(before) == _text(later[number]):
            continue
        if found := _in_message(place, before, later[number], may_grow=number == len(earlier) - 1):
            return found
    return None


def _in_message(place: str, earlier: Any, later: Any, *, may_grow: bool) -> Difference | None:
    """`may_grow`: the last message may have got more blocks behind its own."""
    first, second = cast("dict[str, Any]", as_said(earlier)), cast("dict[str, Any]", as_said(later))
    if first.get("role") != second.get("role"):
        return _difference(f"{place}.role", first.get("role"), second.get("role"))
    blocks, others = _blocks(first.pop("content", None)), _blocks(second.pop("content", None))
    for index, (block, other) in enumerate(zip_longest(blocks, others)):
        if block is None and may_grow:
            break
        if found := _compared(f"{place}.content[{index}]", block, other):
            return found
    return _compared(place, first, second)


def _compared(place: str, earlier: Any, later: Any) -> Difference | None:
    first, second = as_said(earlier), as_said(later)
    return _difference(place, first, second) if _text(first) != _text(second) else None


def _difference(where: str, earlier: Any, later: Any) -> Difference:
    first, second = _shown(earlier), _shown(later)
    if first == second:
        first, second = _text(earlier), _text(later)
    at = next((at for at, pair in enumerate(zip_longest(first, second)) if pair[0] != pair[1]), 0)
    part = slice(max(0, at - SHOWN_BEFORE), at + SHOWN_AFTER)
    return Difference(where=where, earlier_text=first[part], later_text=second[part])


def _shown(value: Any) -> str:
    """Of a text block only its text."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and isinstance(said := cast("dict[str, Any]", value).get("text"), str):
        return said
    return _text(value)


def _text(value: Any) -> str:
    """As JSON, in the order of its keys: what a model reads as JSON is not the same in another order."""
    if value is None:
        return ""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:  # Half of a surrogate pair.
        return repr(value)
