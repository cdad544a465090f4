"""Pages of what is too long to be told at once, and the cursors between them. Pure.

A cursor says where the next page begins and what it is a page of; it is made anew each time, and nothing is kept for
it. What changed meanwhile is seen as it is then.

A page is measured as the object that programs are given: clients show that to their model, or the text, and the text
is the shorter one of the two.
"""

import base64
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, overload

import msgspec

from recollect import tokens
from recollect.errors import Invalid

PAGE_TOKENS = 3_800
"""About 11,400 bytes. The least that a client takes whole is 12,000: Codex, with a model that it does not know, cuts
the middle out of more. Claude Code puts what has more than some 50,000 into a file."""
LEAST_TOKENS = 200
"""What is left of a page is worth beginning a long text."""
MOST_CURSOR_CHARACTERS = 200
MOST_POSITION = 1 << 40
_WRONG = "This cursor is none of this question's. Without a cursor it is answered from the beginning."


Measure = Callable[[str], int]
S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some or all of one text."""

    index: int
    text: str
    is_begun_before: bool
    goes_on: bool


class Lazily(Sequence[T]):
    """What is made of each of these, when it is first asked for: of a long conversation a page shows little."""

    def __init__(self, make: Callable[[S], T], of: Sequence[S]) -> None:
        self._make = make
        self._of = of
        self._made: dict[int, T] = {}

    def __len__(self) -> int:
        return len(self._of)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        if index not in self._made:
            self._made[index] = self._make(self._of[index])
        return self._made[index]


def cursor_of(about: str, *position: int) -> str:
    content = msgspec.json.encode([_digest(about), *position])
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def position_of(cursor: str, about: str, number: int) -> tuple[int, ...]:
    """Where the page begins, as `number` numbers; from the beginning where there is no cursor."""
    if not cursor:
        return (0,) * number
    if len(cursor) > MOST_CURSOR_CHARACTERS:
        raise Invalid(_WRONG)
    try:
        content = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        digest, *position = msgspec.json.decode(content, type=list[str | int])
    except (ValueError, msgspec.MsgspecError):
        raise Invalid(_WRONG) from None
    numbers = tuple(one for one in position if isinstance(one, int) and 0 <= one < MOST_POSITION)
    if digest != _digest(about) or len(numbers) != number or len(position) != number:
        raise Invalid(_WRONG)
    return numbers


def page_of(
    texts: Sequence[str],
    start: tuple[int, ...],
    most_tokens: int = PAGE_TOKENS,
    beside: Callable[[int], int] = lambda index: 0,
    measure: Measure | None = None,
) -> tuple[list[Part], tuple[int, int] | None]:
    """As many of these texts as fit, from (which text, which character) on; and where the next page begins, if there is
    one. A text that is longer than a page goes on in the next. `beside`: how many tokens stand beside a text; even
    where that leaves no room the next page begins further on. `measure`: tokens of a text; without it, `cost`."""
    measure = measure or cost
    index, offset = start
    parts: list[Part] = []
    left = most_tokens
    while index < len(texts):
        text = texts[index][offset:]
        room = left - beside(index) - 1
        rest = room - measure(text)
        if rest >= 0:
            parts.append(Part(index=index, text=text, is_begun_before=offset > 0, goes_on=False))
            index, offset, left = index + 1, 0, rest
            continue
        if room >= LEAST_TOKENS or not parts:
            kept = beginning(text, room, measure)
            goes_on = len(kept) < len(text)
            parts.append(Part(index=index, text=kept, is_begun_before=offset > 0, goes_on=goes_on))
            index, offset = (index, offset + len(kept)) if goes_on else (index + 1, 0)
        return parts, (index, offset) if index < len(texts) else None
    return parts, None


def cost(value: Any) -> int:
    """Tokens of a text or an object, as it stands in an object."""
    return tokens.of_bytes(len(msgspec.json.encode(value)))


def beginning(text: str, most_tokens: int, measure: Measure) -> str:
    """At most so many tokens of it and at least one character, to the end of a line where that loses little."""
    kept = _within(text, max(most_tokens, 4), measure)
    line_end = kept.rfind("\n") + 1
    return kept[:line_end] if line_end > len(kept) // 2 else kept


def _within(text: str, most_tokens: int, measure: Measure) -> str:
    kept = text[: most_tokens * tokens.BYTES_PER_TOKEN]
    while len(kept) > 1 and (too_much := measure(kept) / most_tokens) > 1:
        kept = kept[: max(1, min(len(kept) - 1, int(len(kept) / too_much)))]
    return kept


def _digest(about: str) -> str:
    return hashlib.sha256(about.encode("utf-8", "surrogatepass")).hexdigest()[:8]
