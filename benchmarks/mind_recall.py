"""Whether the mind finds what was said ten minutes, a day and three weeks ago, with its own tools.

    python benchmarks/mind_recall.py [--days 22] [--exchanges-per-day 50] [--seed 7] [--facts 12]

Facts are said in passing, inside longer messages, on the first day, on the day before the last and ten minutes before
the end of a made-up month; between them the conversation is condensed several times, by summaries that know nothing of
them. Then a scripted model is asked for each: it gives the question to `search_memory`, word for word, and nothing
else. Found: the answer stands in what the tool gave. The questions use other words than the facts do, and each kind of
fact was said of three things, so that the right one has to be told from the others.
"""

import argparse
import asyncio
import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import mind_month
from mind_living import CHANNEL, House, Quiet
from mind_month import Speech

import recollect
from recollect.llm.talking import Abilities, Condensing, Request
from recollect.mind.channel import Said
from recollect.mind.mind import Mind
from recollect.testing import FrozenClock
from recollect.testing.scripted_talk import ScriptedTalk, Step, use

LETTERS = "bdfgklmnprtvz"
AGES = {
    "10 minutes": timedelta(minutes=10),
    "1 day": timedelta(days=1),
    "3 weeks": timedelta(days=21),
}
KINDS = (
    ("The spare key of the {} hangs on a nail marked {}.", "Where is the spare key of the {}?"),
    ("On the plate of our {} stands the serial number {}.", "Which serial number does the {} have?"),
    ("My friend {} has moved to a village called {}.", "In which village does {} live now?"),
    ("The wireless password of the {} is {} since today.", "What is the wireless password of the {}?"),
    ("For the {} we have agreed on the colour {}.", "Which colour did we choose for the {}?"),
    ("The vet wrote down {} as the medicine for the {}.", "Which medicine did the vet give the {}?"),
    ("I have promised my {} a copy of the book {}.", "Which book did I promise to my {}?"),
    ("The insurance of the {} runs under the number {}.", "Under which number is the {} insured?"),
    ("The best bakery for {} is the one called {}.", "At which bakery do they make the best {}?"),
    ("Our landlord wants the {} to be repaired by a firm named {}.", "Which firm shall repair the {}?"),
    ("The recipe for the {} needs a spice called {}.", "Which spice belongs into the {}?"),
    ("The school of {} begins its holidays on the day of {}.", "When do the holidays of the school of {} begin?"),
)
"""What is said and what is asked: first the thing, then the answer, but for the vet's."""
THINGS = (
    ("boat house", "garden shed", "cellar"),
    ("dishwasher", "espresso machine", "heat pump"),
    ("Ulrike", "Tomasz", "Henrietta"),
    ("office", "holiday flat", "library"),
    ("kitchen wall", "front door", "bathroom tiles"),
    ("cat", "old dog", "parrot"),
    ("sister", "colleague Anouk", "uncle"),
    ("car", "bicycle", "piano"),
    ("rye bread", "croissants", "almond cake"),
    ("balcony", "roof gutter", "lift"),
    ("lentil soup", "fish pie", "pumpkin curry"),
    ("Mira", "Jonas", "Béatrice"),
)
VET = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    text: str
    question: str
    answer: str


@dataclass(slots=True, kw_only=True)
class Found:
    asked: dict[str, int] = field(default_factory=dict[str, int])
    found: dict[str, int] = field(default_factory=dict[str, int])
    missed: list[str] = field(default_factory=list[str])
    compactions_since: dict[str, int] = field(default_factory=dict[str, int])
    """How often it was condensed after a fact was said, before the first was asked for."""


def facts_of(seed: int, number: int) -> dict[str, list[Fact]]:
    """`number` for each age, at most as many as there are kinds. The things of one kind are spread over the ages."""
    chance = random.Random(f"facts {seed}")
    found: dict[str, list[Fact]] = {age: [] for age in AGES}
    for kind in range(number):
        text, question = KINDS[kind]
        for age, thing in zip(AGES, THINGS[kind], strict=True):
            answer = "".join(chance.choices(LETTERS, k=4)).capitalize() + "a" + str(chance.randrange(100, 1_000))
            said = text.format(*((answer, thing) if kind == VET else (thing, answer)))
            found[age].append(Fact(text=said, question=question.format(thing), answer=answer))
    return found


class Model:
    """Searches with the words of a question, and has no memory of its own."""

    def __init__(self) -> None:
        self.question = ""
        self.result = ""
        self.answer = ""
        self.talk = ScriptedTalk(
            self._next,
            summaries=lambda request, _: f"They talked of {len(request.turns)} things, and of nothing in particular.",
            abilities=Abilities(condensing=Condensing.ON_DEMAND, most_input_tokens=1_000_000),
        )

    def _next(self, request: Request) -> Step:
        self.talk.requests.clear()
        last = request.turns[-1].content[-1]
        if last["type"] == "tool_result":
            self.result = str(last["content"])
            return "I have looked."
        return use("search_memory", {"query": self.question}) if self.question else self.answer


class Talk:
    def __init__(self, memory: recollect.Memory, clock: FrozenClock, speech: Speech) -> None:
        self._memory = memory
        self._clock = clock
        self._speech = speech
        self._model = Model()
        self._mind: Mind | None = None
        self.compacted_at: list[datetime] = []

    async def __aenter__(self) -> "Talk":
        self._mind = self._memory.mind("", lambda: self._model.talk)
        self._mind.attach(Quiet())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._mind
        await self._mind.close()

    async def say(self, at: datetime, text: str, answer: str = "") -> None:
        self._model.question, self._model.answer = "", answer or self._speech.about(mind_month.ANSWER_TOKENS)
        await self._held(at, text)

    async def ask(self, at: datetime, question: str) -> str:
        """What the tool gave."""
        self._model.question, self._model.result = question, ""
        await self._held(at, question)
        return self._model.result

    async def _held(self, at: datetime, text: str) -> None:
        assert self._mind
        self._clock.now = at
        before = len(self._model.talk.condensed)
        await self._mind.hear(Said(text=text, channel=CHANNEL))
        await self._mind.turn()
        await self._mind.settle()
        if len(self._model.talk.condensed) > before:
            self.compacted_at.append(at)


def in_passing(speech: Speech, fact: Fact) -> str:
    return f"{speech.text(40)} {fact.text} {speech.text(25)}"


async def recall(
    memory: recollect.Memory,
    clock: FrozenClock,
    *,
    seed: int,
    days: int,
    exchanges_a_day: int,
    facts: int,
    say_day: Callable[[int], None] = lambda _: None,
) -> Found:
    speech = Speech(random.Random(seed + 2))
    told = facts_of(seed, facts)
    exchanges = mind_month.month(seed, days, exchanges_a_day)
    end = max(exchanges[-1].at, exchanges[0].at + AGES["3 weeks"]) + timedelta(minutes=30)
    said_at = {age: end - passed for age, passed in AGES.items()}
    waiting = sorted((at, age) for age, at in said_at.items())
    async with Talk(memory, clock, speech) as talk:
        day = 0
        for exchange in exchanges:
            while waiting and waiting[0][0] <= exchange.at:
                await _tell(talk, speech, *waiting.pop(0), told)
            await talk.say(exchange.at, exchange.asked, exchange.answered)
            if exchange.day != day:
                day = exchange.day
                say_day(day)
        for at, age in waiting:
            await _tell(talk, speech, at, age, told)
        since = {age: sum(one >= at for one in talk.compacted_at) for age, at in said_at.items()}
        found = await _asked(talk, end, told)
        found.compactions_since = since
        return found


async def _tell(talk: Talk, speech: Speech, at: datetime, age: str, told: dict[str, list[Fact]]) -> None:
    for fact in told[age]:
        await talk.say(at, in_passing(speech, fact))


async def _asked(talk: Talk, at: datetime, told: dict[str, list[Fact]]) -> Found:
    found = Found()
    for age, facts in told.items():
        found.asked[age], found.found[age] = len(facts), 0
        for fact in facts:
            is_found = fact.answer in await talk.ask(at, fact.question)
            found.found[age] += is_found
            found.missed += [] if is_found else [f"{age}: {fact.question}"]
    return found


def show(found: Found, say: Callable[[str], None]) -> None:
    for age in found.asked:
        since = found.compactions_since[age]
        say(f"{age} ago: {found.found[age]} of {found.asked[age]} found, after {since} compactions")
    for missed in found.missed:
        say(f"  not found: {missed}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=22)
    parser.add_argument("--exchanges-per-day", type=int, default=50)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--facts", type=int, default=len(KINDS), help="for each age")
    given = parser.parse_args(arguments)
    clock = FrozenClock(mind_month.FIRST_MORNING)
    with tempfile.TemporaryDirectory(prefix="rc-") as folder:
        house = House(Path(folder) / "home", clock, {"model": "scripted"})
        try:
            house.write_notes(Speech(random.Random(given.seed + 1)))
            found = asyncio.run(
                recall(
                    house.memory,
                    clock,
                    seed=given.seed,
                    days=given.days,
                    exchanges_a_day=given.exchanges_per_day,
                    facts=given.facts,
                    say_day=lambda day: print(f"recall: day {day}", file=sys.stderr),
                )
            )
        finally:
            house.memory.close()
    show(found, print)


if __name__ == "__main__":
    main()
