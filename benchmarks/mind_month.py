"""A made-up month of talk with one agent: who says what, when, and with which tools. All of it follows from one seed.

A day is some bursts with pauses between them, most of 10 to 50 minutes and three or four of hours, and then a
night. Lengths are drawn by chance: a message of the user has 20 to 400 tokens, an answer 50 to 600, a thought 20 to
300. Every third answer needs a tool. Once a day a note changes, and once a week the program starts anew.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import accumulate, pairwise
from typing import Any

FIRST_MORNING = datetime(2026, 11, 2, 7, 30, tzinfo=UTC)
NIGHT_HOURS = (8.0, 9.0)
BURST_EXCHANGES = (3, 8)
IN_BURST_MINUTES = (2.5, 0.6, 1.0, 9.5)
"""Median, spread, least and most of a gap inside a burst."""
BREAK_MINUTES = (10.0, 50.0)
LEAST_LONG_MINUTES = 65.0
LONG_BREAKS = (3, 4)
"""Breaks of a day that last for hours: they share what the day has left."""
USER_TOKENS = (75, 0.8, 20, 400)
ANSWER_TOKENS = (170, 0.7, 50, 600)
THOUGHT_TOKENS = (90, 0.7, 20, 300)
"""Median, spread, least and most, as the loopback server counts: three bytes for one."""
BYTES_PER_TOKEN = 3
TOOL_EVERY = 3
RESTART_EVERY_DAYS = 7
TOPIC_WORDS = 40
TOPIC_SHARE = 0.25
WORDS = 8_000
"""Different ones, by Zipf's law."""
SUMMARY_TOKENS = 2_500
GAP_BOUNDS = {"under 5 min": 5, "5–10 min": 10, "10–60 min": 60, "1–4 h": 240, "4–8 h": 480, "8–9 h": 540.1}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    name: str
    given: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    number: int
    day: int
    """From 1."""
    at: datetime
    asked: str
    thought: str
    answered: str
    call: ToolCall | None = None
    edits_note: bool = False
    """Before it a note changes."""
    restarts: bool = False
    """Before it the program starts anew."""


@dataclass(slots=True)
class Speech:
    """Words drawn by Zipf's law, a quarter of them from the topic of the hour."""

    chance: random.Random
    topic: Sequence[str] = field(default_factory=list[str])

    def turn_to_a_new_topic(self) -> None:
        self.topic = self.chance.sample(_vocabulary()[0][150:], TOPIC_WORDS)

    def text(self, tokens: int) -> str:
        words, weights = _vocabulary()
        said: list[str] = []
        length = 0
        while length <= tokens * BYTES_PER_TOKEN:
            sentence = self.chance.choices(words, cum_weights=weights, k=self.chance.randrange(6, 16))
            if self.topic:
                sentence = [
                    self.chance.choice(self.topic) if self.chance.random() < TOPIC_SHARE else w for w in sentence
                ]
            said.append(f"{' '.join(sentence).capitalize()}.")
            length += len(said[-1]) + 1
        return " ".join(said)[: tokens * BYTES_PER_TOKEN]

    def drawn(self, median: float, spread: float, least: float, most: float) -> float:
        return min(most, max(least, median * self.chance.lognormvariate(0, spread)))

    def about(self, lengths: tuple[float, float, float, float]) -> str:
        return self.text(round(self.drawn(*lengths)))

    def page(self, title: str, tokens: int) -> str:
        return f"# {title}\n\n{self.text(tokens)}\n"


@cache
def _vocabulary() -> tuple[list[str], list[float]]:
    from corpus import Vocabulary

    words = [word for word in Vocabulary().words if word.isalpha()][:WORDS]
    return words, list(accumulate(1 / (rank + 2.7) for rank in range(WORDS)))


def month(seed: int, days: int, exchanges_a_day: int) -> list[Exchange]:
    speech = Speech(random.Random(seed))
    morning = FIRST_MORNING
    made: list[Exchange] = []
    for day in range(1, days + 1):
        night = timedelta(hours=speech.chance.uniform(*NIGHT_HOURS))
        tomorrow = FIRST_MORNING + timedelta(days=day, minutes=speech.chance.uniform(-25, 25))
        times, begins = _times(speech, morning, tomorrow - night, exchanges_a_day)
        changed = speech.chance.randrange(exchanges_a_day)
        for place, at in enumerate(times):
            if place in begins:
                speech.turn_to_a_new_topic()
            number = len(made)
            made.append(
                Exchange(
                    number=number,
                    day=day,
                    at=at,
                    asked=speech.about(USER_TOKENS),
                    thought=speech.about(THOUGHT_TOKENS),
                    answered=speech.about(ANSWER_TOKENS),
                    call=_call(speech, number, at) if number % TOOL_EVERY == TOOL_EVERY - 1 else None,
                    edits_note=place == changed,
                    restarts=place == 0 and day > 1 and day % RESTART_EVERY_DAYS == 1,
                )
            )
        morning = tomorrow
    return made


def _times(speech: Speech, morning: datetime, evening: datetime, number: int) -> tuple[list[datetime], set[int]]:
    """When something is said; and which of these begin a burst. The last is said in the evening."""
    begins, place = {0}, 0
    while (place := place + speech.chance.randrange(*BURST_EXCHANGES)) < number:
        begins.add(place)
    breaks = sorted(begins - {0})
    is_long = set(speech.chance.sample(breaks, min(len(breaks), speech.chance.choice(LONG_BREAKS))))
    gaps: dict[int, float] = {}
    for place in range(1, number):
        if place not in is_long:
            gaps[place] = speech.chance.uniform(*BREAK_MINUTES) if place in begins else speech.drawn(*IN_BURST_MINUTES)
    left = (evening - morning).total_seconds() / 60 - sum(gaps.values())
    shares = {place: speech.chance.uniform(0.5, 1.5) for place in is_long}
    for place, share in shares.items():
        over = left - LEAST_LONG_MINUTES * len(shares)
        gaps[place] = LEAST_LONG_MINUTES + max(0.0, over) * share / sum(shares.values())
    minutes = accumulate(gaps[place] for place in range(1, number))
    return [morning, *(morning + timedelta(minutes=passed) for passed in minutes)], begins


def _call(speech: Speech, number: int, at: datetime) -> ToolCall:
    """Half of them search; the others look at a note, write one, or set the status."""
    words = " ".join(speech.chance.sample(speech.topic, 3))
    match number // TOOL_EVERY % 6:
        case 0 | 2 | 4:
            return ToolCall(name="search_memory", given={"query": f"what was said about {words}"})
        case 1:
            return ToolCall(name="update_status", given={"updates": {"focus": words}})
        case 3:
            return ToolCall(name="memory", given={"command": "view", "path": "/memories/MEMORY.md"})
        case _:
            path = f"/memories/days/{at:%Y-%m-%d}-{number}.md"
            page = speech.page(words, 60)
            return ToolCall(name="memory", given={"command": "create", "path": path, "file_text": page})


def summary_of(seed: int, number: int) -> str:
    """What a model writes at a compaction."""
    speech = Speech(random.Random(f"{seed} {number}"))
    return speech.text(SUMMARY_TOKENS)


def gaps_of(exchanges: Sequence[Exchange]) -> dict[str, int]:
    """How many pauses between two messages are how long."""
    minutes = [(after.at - before.at).total_seconds() / 60 for before, after in pairwise(exchanges)]
    found: dict[str, int] = {}
    lower = 0.0
    for name, upper in GAP_BOUNDS.items():
        found[name] = sum(lower <= one < upper for one in minutes)
        lower = upper
    found["longer"] = sum(one >= lower for one in minutes)
    return found
