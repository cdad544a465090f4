"""What is worth the room: importance, recency, relevance, use and diversity, inside a budget. Pure and deterministic.

Recency counts from the newest of the candidates, not from the clock: the same knowledge gives the same choice on every
day. A dated record fades away, by half in 30 days. An evergreen one stays as true as it was, and search never lets it
fade; but room is short here, and of two that matter equally the later one is more often about what goes on. So it
fades too, down to half.

What was shown in many sessions and used in none sinks, in two steps; what was used rises a little. Both are small
against importance, so that what matters most stays; and who one is shapes what one says without being said, so identity
sinks half as far.

Only whole lines are taken. One that does not fit is passed over, so that a long one takes no room from the others.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace

from recollect.clock import from_text
from recollect.context.blocks import section_of, section_tokens
from recollect.knowledge.records import Category, Record
from recollect.showings.standing import UNKNOWN, Standing

IMPORTANCE = 1.0
RECENCY = 0.5
RELEVANCE = 1.5
"""Who names a topic wants it before everything else."""
REPETITION = 1.0
"""What a record loses when the same words are in already."""

USED = 0.1
SINK = 0.15
"""For each step that a record sank."""
IDENTITY_SINKS = 0.5
"""Of what others sink."""

HALF_LIFE_DAYS = 30.0
EVERGREEN_KEEPS = 0.5
ALIKE = 0.5
"""Share of common words from which two lines begin to say the same. Below it they are about the same thing, and both
are wanted."""
COMPARED_CHARACTERS = 2_000
"""Of each text; who repeats something at length repeats its beginning."""
_DAY_SECONDS = 86_400.0
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    record: Record
    line: str
    relevance: float = 0.0
    """To the topic, from 0 to 1."""
    standing: Standing = UNKNOWN
    """With those it is shown to."""

    @property
    def order(self) -> tuple[str, str]:
        """The oldest first: what is learned next comes at the end, and the lines before it stay where they are."""
        return self.record.learned_at, self.record.id


def chosen(candidates: Sequence[Candidate], budget_tokens: int) -> list[Candidate]:
    """The best of them that fit, sections' tags included, in their order.

    The next one is always the best after what those before it take off for repetition; of equals that with the smallest
    id. A loss only grows, so one is compared when its turn comes, and waits on if it lost.
    """
    if _fit_together(candidates, budget_tokens):
        return sorted(candidates, key=lambda candidate: candidate.order)
    newest = max(candidate.record.learned_at for candidate in candidates)
    waiting = [(-score(candidate, newest), candidate.record.id, _Compared(candidate)) for candidate in candidates]
    heapify(waiting)
    room = _Room(budget_tokens)
    taken: list[_Compared] = []
    while waiting:
        value, name, best = waiting[0]
        if not room.has_place_for(best):
            heappop(waiting)
        elif loss := best.further_loss(taken):
            heapreplace(waiting, (value + loss, name, best))
        else:
            heappop(waiting)
            room.take(best)
            taken.append(best)
    return sorted((one.candidate for one in taken), key=lambda candidate: candidate.order)


def latest_that_fit(lines: Sequence[str], section: str, budget_tokens: int) -> list[str]:
    """Of lines in the order of time, the last ones that the budget of their section holds, in that order."""
    kept: list[str] = []
    held = 0
    for line in reversed(lines):
        size = held + len(line.encode())
        if section_tokens(section, len(kept) + 1, size) <= budget_tokens:
            kept.append(line)
            held = size
    return kept[::-1]


def score(candidate: Candidate, newest: str) -> float:
    record = candidate.record
    parts = IMPORTANCE * record.importance + RECENCY * recency(record, newest) + RELEVANCE * candidate.relevance
    return round(parts + favour(candidate), 9)


def favour(candidate: Candidate) -> float:
    """What use adds, and the want of it takes off."""
    standing = candidate.standing
    share = IDENTITY_SINKS if candidate.record.category is Category.IDENTITY else 1.0
    return (USED if standing.was_used else 0.0) - SINK * standing.sunk * share


def recency(record: Record, newest: str) -> float:
    """From 0 to 1, which the newest has."""
    days = (from_text(newest) - from_text(record.learned_at)).total_seconds() / _DAY_SECONDS
    fresh = 0.5 ** (days / HALF_LIFE_DAYS)
    return EVERGREEN_KEEPS + (1.0 - EVERGREEN_KEEPS) * fresh if record.is_evergreen else fresh


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """0 for lines that say different things, up to 1 for the same words."""
    both = len(one) + len(other)
    if min(len(one), len(other)) * (1.0 + ALIKE) <= ALIKE * both:
        return 0.0  # They cannot have enough in common, whatever the words are.
    common = len(one & other)
    return max(0.0, common / (both - common) - ALIKE) / (1.0 - ALIKE)


def _fit_together(candidates: Sequence[Candidate], budget_tokens: int) -> bool:
    lines: dict[str, list[str]] = {}
    for candidate in candidates:
        lines.setdefault(candidate.record.category, []).append(candidate.line)
    return sum(section_of(name, inside).tokens for name, inside in lines.items()) <= budget_tokens


class _Compared:
    """A candidate, and what it loses to those before it."""

    def __init__(self, candidate: Candidate) -> None:
        self.candidate = candidate
        self.section = str(candidate.record.category)
        self.line_bytes = len(candidate.line.encode())
        self._words = frozenset(_WORD.findall(candidate.line[:COMPARED_CHARACTERS].casefold()))
        self._loss = 0.0
        self._seen = 0

    def further_loss(self, taken: Sequence["_Compared"]) -> float:
        """What those take off that were taken since it was asked last."""
        before = self._loss
        for one in taken[self._seen :]:
            self._loss = max(self._loss, REPETITION * likeness(self._words, one._words))
        self._seen = len(taken)
        return self._loss - before


class _Room:
    """What the sections hold so far, to the byte: a tag is paid with the first line below it."""

    def __init__(self, budget_tokens: int) -> None:
        self._free_tokens = budget_tokens
        self._held: dict[str, tuple[int, int]] = {}
        """Section → lines, bytes."""

    def has_place_for(self, one: _Compared) -> bool:
        return self._cost(one) <= self._free_tokens

    def take(self, one: _Compared) -> None:
        self._free_tokens -= self._cost(one)
        lines, held = self._held.get(one.section, (0, 0))
        self._held[one.section] = lines + 1, held + one.line_bytes

    def _cost(self, one: _Compared) -> int:
        lines, held = self._held.get(one.section, (0, 0))
        before = section_tokens(one.section, lines, held)
        return section_tokens(one.section, lines + 1, held + one.line_bytes) - before
