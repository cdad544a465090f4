"""What is read of a conversation that goes on, each time that something was added to it.

The rules are quick, and read the latest part of it as a whole: what a later message puts right is put right at once. A
model is paid by the word, and is only asked about what is new. Pure.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from recollect.librarian.items import Extract, Quote, Turn

MOST_RULED_TURNS = 400
"""A quarter of a second. A longer conversation is read as a whole when it has ended."""
UNSURE_TURNS = 20
"""The first of a passage that does not begin where its conversation does: what they answer to is not read."""
MOST_SHOWN_TURNS, MOST_SHOWN_CHARACTERS = 6, 4_000
"""Of what a model read before: enough to know what `yes, that one` means."""
ASSISTANT, USER = "assistant", "user"
_QUESTION = re.compile(r"[?？؟][\W_]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    turns: Sequence[Turn]
    before: Sequence[Turn] = ()
    """Read with them, to understand them: nothing is learned from these, or lost."""

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(turn.message_id for turn in self.turns)


def ruled_passage(turns: Sequence[Turn]) -> Passage:
    """The latest turns, whichever of them are new."""
    if len(turns) <= MOST_RULED_TURNS:
        return Passage(turns=turns)
    latest = turns[-MOST_RULED_TURNS:]
    return Passage(turns=latest[UNSURE_TURNS:], before=latest[:UNSURE_TURNS])


def asked_passage(turns: Sequence[Turn], new: Collection[str]) -> Passage:
    """From the first that is new on, with the end of what stands before it."""
    first = next((at for at, turn in enumerate(turns) if turn.message_id in new), len(turns))
    shown: list[Turn] = []
    left = MOST_SHOWN_CHARACTERS
    for turn in reversed(turns[max(first - MOST_SHOWN_TURNS, 0) : first]):
        left -= len(turn.text)
        if left < 0:
            break
        shown.insert(0, replace(turn, tools=()))
    return Passage(turns=turns[first:], before=shown)


def within(extract: Extract, ids: Collection[str]) -> Extract:
    """Without what is said in other messages alone."""

    def is_here(quotes: Sequence[Quote]) -> bool:
        return any(quote.message_id in ids for quote in quotes)

    return replace(
        extract,
        items=[item for item in extract.items if is_here(item.quotes)],
        endings=[ending for ending in extract.endings if is_here(ending.item.quotes)],
    )


def answered_questions(turns: Sequence[Turn], new: Collection[str]) -> dict[str, str]:
    """New message of the user → when the assistant asked what it answers. What the user says next is an answer."""
    found: dict[str, str] = {}
    spoken = [turn for turn in turns if turn.text]
    for asked, answer in pairwise(spoken):
        is_answered = asked.author == ASSISTANT and answer.author == USER and answer.message_id in new
        if is_answered and _QUESTION.search(asked.text):
            found[answer.message_id] = asked.at
    return found
