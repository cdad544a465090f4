"""What a session is told when it begins: what this is, how something is kept, and what is known.

All of it stands inside one `<recollect-context>`, by which it is told from what people say. It describes; what becomes
of it is the agent's. The same knowledge gives the same bytes.

Claude Code replaces more than 10,000 UTF-16 units by a preview, Codex cuts more than 10,000 UTF-8 bytes in the middle.
No text has more units than bytes, so the bytes are what is kept to, for both.
"""

import os
from dataclasses import dataclass

from recollect import tokens
from recollect.context.blocks import escaped
from recollect.context.your_memory import marker_form
from recollect.markers import OWN_TEXT
from recollect.memory import Memory

MOST_BYTES = 10_000

_OPENING = f"<{OWN_TEXT}>\n"
_CLOSING = f"</{OWN_TEXT}>\n"
_WHAT_THIS_IS = """\
Recollect is the memory of the house: it keeps what {user} and the agents here say to each other, and what was learned \
from it. {below}The tools of the MCP server `recollect` look through all of it.
"""
BEGINNING = f"{_OPENING}{_WHAT_THIS_IS.partition(':')[0]}"
"""By which it is told from talk about the element."""
_BELOW = "What stands below is what it knows that may matter here. "
_NOT_KEPT = "Taking in is paused: what is said now is not kept."


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    text: str
    records: tuple[str, ...]
    """The ids of the learnings in it."""


def injection(memory: Memory, cwd: str, *, is_kept: bool) -> Injection:
    """For a session that begins in this folder. `memory`: as the agent sees it. `is_kept`: whether what is said in the
    session is taken in; only then it is told how something is kept."""
    user = escaped(memory.settings.user_name) or "the user"
    form = marker_form() if is_kept else f"{_NOT_KEPT}\n"
    longest = f"{_WHAT_THIS_IS.format(user=user, below=_BELOW)}\n{form}\n"
    room = MOST_BYTES - _size(_OPENING + longest + _CLOSING)
    topic = topic_of(cwd)
    while True:
        known = memory.context.rehydration(budget_tokens=max(1, room // tokens.BYTES_PER_TOKEN), topic=topic)
        told = _WHAT_THIS_IS.format(user=user, below=_BELOW if known.text else "")
        inside = f"{told}\n{form}" + (f"\n{known.text}" if known.text else "")
        excess = _size(_OPENING + inside + _CLOSING) - MOST_BYTES
        if excess <= 0 or not known.text:
            return Injection(text=_OPENING + inside + _CLOSING, records=known.records)
        room -= excess


def topic_of(cwd: str) -> str:
    """The name of the project. That of a person's own folder says nothing about what goes on there."""
    folder = os.path.normpath(cwd) if cwd else ""
    return "" if folder in ("", os.sep, os.path.expanduser("~")) else os.path.basename(folder)


def _size(text: str) -> int:
    return len(text.encode())
