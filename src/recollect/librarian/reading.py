"""A conversation as it is read by the librarian, and by a model: who said what, when, and which tools were used.

Only what a person and their assistant said is a turn. Tool results, sub-agents, machine text and branches that were
left are none, so that nothing in them can be quoted. Text is masked again: rules for credentials grow, and what was
taken in before a rule came still holds them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from recollect import markers, redaction
from recollect.clock import local
from recollect.context.blocks import readable, spoken
from recollect.history import Author, Message, Standing
from recollect.history.transcript import TURN_GAP_SECONDS
from recollect.librarian.items import Turn
from recollect.librarian.speech.injected import without_injected
from recollect.librarian.speech.pasted import foreign_blocks
from recollect.texts import clean

SHELL = "shell"
"""The kind of a message in which a person ran a command: typed by them, but not said."""
OTHER = "other"
"""The author of a turn that somebody else said, in a chat of several people: read, and believed in nothing."""
_OF_OTHERS = frozenset({"other_person", "person", "forwarded"})
"""Kinds of messages in such chats. `person`: nobody can tell whether it is the owner."""
TOOL_LINE_CHARACTERS = 160
MOST_PASTED_CHARACTERS = 800
SHOWN_CHARACTERS = 240
"""Of the start and the end of a longer block: enough to see what it is."""
TOOL_LINES_SHOWN = 6
"""Of the calls between two things that are said. An agent makes hundreds; what they were for is said beside them."""
_SPACE = re.compile(r"\s+")


# Turns


def turns_of(messages: Sequence[Message]) -> list[Turn]:
    """What was said, numbered from 1."""
    turns: list[Turn] = []
    for message in messages:
        if not _is_said(message):
            continue
        text, tools = words_of(message), _tool_lines(message)
        if text or tools:
            turns.append(
                Turn(
                    number=len(turns) + 1,
                    message_id=message.id,
                    author=OTHER if message.kind in _OF_OTHERS else str(message.author),
                    at=message.at,
                    text=text,
                    tools=tools,
                )
            )
    return turns


def _is_said(message: Message) -> bool:
    return (
        message.author in (Author.USER, Author.ASSISTANT)
        and message.standing is Standing.SAID
        and not message.gone
        and bool(message.text or message.blocks)
    )


def words_of(message: Message) -> str:
    """Without machine text and with a ◆ for what an assistant marked to be kept: that is known already."""
    if message.kind == SHELL:
        return ""
    texts = message.text_blocks or [message.text]
    if message.author is Author.ASSISTANT:
        texts = [markers.marked(markers.read(text)) for text in texts]
    shown = "\n\n".join(text.strip() for text in texts if text.strip())
    return redaction.mask(without_injected(clean(shown))).strip()


def _tool_lines(message: Message) -> tuple[str, ...]:
    if message.kind == SHELL:
        return (_tool_line(message.text),)
    return tuple(
        _tool_line(f"{block.get('name', '')}  {block.get('summary', '')}")
        for block in message.blocks
        if block["type"] == "tool_call"
    )


def _tool_line(text: str) -> str:
    line = redaction.mask(_SPACE.sub(" ", clean(text)).strip())
    return line if len(line) <= TOOL_LINE_CHARACTERS else line[: TOOL_LINE_CHARACTERS - 1].rstrip() + "…"


def shortened(turns: Sequence[Turn]) -> list[Turn]:
    """For who pays by the word: without the inside of long blocks that were pasted or are code. They cannot be quoted,
    so that nothing can be learned from them."""
    return [replace(turn, text=_without_long_blocks(turn.text)) for turn in turns]


def _without_long_blocks(text: str) -> str:
    if len(text) <= MOST_PASTED_CHARACTERS:
        return text
    parts: list[str] = []
    at = 0
    for start, end in foreign_blocks(text):
        if end - start > MOST_PASTED_CHARACTERS:
            head = text[start : start + SHOWN_CHARACTERS].rpartition("\n")[0] or text[start : start + SHOWN_CHARACTERS]
            tail = text[end - SHOWN_CHARACTERS : end].partition("\n")[2] or text[end - SHOWN_CHARACTERS : end]
            parts += [text[at:start], head, f"\n[… {end - start - len(head) - len(tail):,} characters …]\n", tail]
            at = end
    return "".join((*parts, text[at:]))


# The readable chat


def rendered(turns: Sequence[Turn], *, user: str = "You", assistant: str = "Assistant") -> str:
    """In local time, with days and pauses. Only we write at the left margin: no text can pass for another turn."""
    names = {str(Author.USER): user, str(Author.ASSISTANT): assistant, OTHER: "Somebody else"}
    return "".join(_rendered(turns, names)).strip("\n") + "\n"


def _rendered(turns: Sequence[Turn], names: dict[str, str]) -> Iterator[str]:
    day = previous = ""
    calls: list[str] = []
    for turn in turns:
        gap = _gap(previous, turn.at)
        moment = local(turn.at) if turn.at else None
        is_new_day = moment is not None and f"{moment:%Y-%m-%d}" != day
        if calls and (turn.text or gap or is_new_day):
            yield from _shown_calls(calls)
            calls = []
        if moment and is_new_day:
            day = f"{moment:%Y-%m-%d}"
            yield f"\n── {moment:%A, %d %B %Y} ──\n"
        elif gap:
            yield f"\n── {gap} later ──\n"
        clock = f" {moment:%H:%M}" if moment else ""
        if turn.text:
            yield spoken(f"[{turn.number}]{clock} {names.get(turn.author, turn.author)}", turn.text)
        calls += turn.tools
        previous = turn.at or previous
    yield from _shown_calls(calls)


def _shown_calls(calls: Sequence[str]) -> Iterator[str]:
    shown = calls if len(calls) <= TOOL_LINES_SHOWN else calls[: TOOL_LINES_SHOWN - 1]
    for call in shown:
        yield f"    → {readable(call)}\n"
    if len(calls) > len(shown):
        yield f"    → … and {len(calls) - len(shown):,} more calls\n"


def _gap(previous: str, at: str) -> str:
    """How long nobody said anything; empty: not long."""
    if not previous or not at:
        return ""
    seconds = (local(at) - local(previous)).total_seconds()
    if seconds <= TURN_GAP_SECONDS:
        return ""
    for unit, length in (("day", 86_400), ("hour", 3_600)):
        if seconds >= length * 2:
            return f"{seconds / length:,.0f} {unit}s"
    return f"{seconds / 60:,.0f} minutes"
