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
from typing import Any

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some or all of one text."""

    index: int
    text: str
    is_begun_before: bool
    goes_on: bool


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
) -> tuple[list[Part], tuple[int, int] | None]:
    """As many of these texts as fit, from (which text, which character) on; and where the next page begins, if there is
    one. A text that is longer than a page goes on in the next. `beside`: how many tokens stand beside a text. Even where
    that leaves no room the next page begins further on."""
    index, offset = start
    parts: list[Part] = []
    left = most_tokens
    while index < len(texts):
        text = texts[index][offset:]
        room = left - beside(index) - 1
        rest = room - cost(text)
        if rest >= 0:
            parts.append(Part(index=index, text=text, is_begun_before=offset > 0, goes_on=False))
            index, offset, left = index + 1, 0, rest
            continue
        if room >= LEAST_TOKENS or not parts:
            kept = beginning(text, room)
            goes_on = len(kept) < len(text)
            parts.append(Part(index=index, text=kept, is_begun_before=offset > 0, goes_on=goes_on))
            index, offset = (index, offset + len(kept)) if goes_on else (index + 1, 0)
        return parts, (index, offset) if index < len(texts) else None
    return parts, None


def cost(value: Any) -> int:
    """Tokens of a text or an object, as it stands in an object."""
    return tokens.of_bytes(len(msgspec.json.encode(value)))


def beginning(text: str, most_tokens: int) -> str:
    """At most so many tokens of it and at least one character, to the end of a line where that loses little."""
    kept = _within(text, max(most_tokens, 4))
    line_end = kept.rfind("\n") + 1
    return kept[:line_end] if line_end > len(kept) // 2 else kept


def _within(text: str, most_tokens: int) -> str:
    kept = text[: most_tokens * tokens.BYTES_PER_TOKEN]
    while len(kept) > 1 and (too_much := cost(kept) / most_tokens) > 1:
        kept = kept[: max(1, min(len(kept) - 1, int(len(kept) / too_much)))]
    return kept


def _digest(about: str) -> str:
    return hashlib.sha256(about.encode("utf-8", "surrogatepass")).hexdigest()[:8]
