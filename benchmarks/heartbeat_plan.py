"""Some weeks of a person and their computer, made up from one seed: when they talk and what they wish, when the
computer sleeps, when its clock is wrong, when the line is down, and where they travel."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

NEVER_ABOUT = "Please never write to me about the boat."
ABOUT_AGAIN = "You can write to me about the boat again."
NEVER = "Please never write to me first."
AGAIN = "You can write to me first again."
NOT_NOW = "Not now."
NOT_TODAY = "Please don't write to me today."
THREE_DAYS = "Leave me alone for three days."
TOPICS = ("boat", "garden", "letter", "birthday")
ANSWERS = (
    *["Thank you, that helps.", "Good that you say so.", "I know, I did that yesterday."] * 3,
    *(NOT_NOW, NOT_NOW, NOT_TODAY, THREE_DAYS, NEVER_ABOUT, ABOUT_AGAIN),
)
ANSWERED_SHARE = 0.5
"""Of what it writes first. The others are read, and nothing is said."""
LONG_SHARE = 0.1
"""Of its answers, so many take an hour: a moment falls into them."""
WORDS = ("the", "a", "we", "of", "plan", "day", "note", "key", "house", "book", "door", "time", "plant", "tool", "soup")
MINUTE = timedelta(minutes=1)

Kind = Literal["off", "on", "clock", "zone", "line", "place"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    at: datetime
    text: str
    is_long: bool = False
    """Its answer takes an hour or so."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Change:
    at: datetime
    kind: Kind
    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    zone: str
    start: datetime
    days: int
    seed: int = 7
    yes_share: float = 1.0
    """How often the model would write when it is asked. 1: always, which is the worst case."""
    schedule: str = "0 * * * *"
    reflection: str = "30 21 * * *"
    flight: tuple[datetime, datetime, str] | None = None
    """Off, on again, and the zone there."""
    talks_a_day: float = 1.5
    words: int = 12
    """Of a message, about."""
    searches: int = 0
    """How often it looks something up before it writes its diary."""
    silent_days: tuple[int, int] = (35, 50)
    """The person is away from everything from the one to before the other."""
    wrong_clock_day: int = 24
    """On its evening the clock is set back by two hours, just after the agent looked back; three days later it is right
    again."""

    @property
    def end(self) -> datetime:
        return self.start + timedelta(days=self.days)

    def zone_at(self, moment: datetime) -> str:
        return self.flight[2] if self.flight and moment >= self.flight[1] else self.zone

    def at(self, day: int, hour: float) -> datetime:
        """What the clock on the wall shows on a day of the plan, as a moment."""
        noon = self.start + timedelta(days=day, hours=12)
        zone = ZoneInfo(self.zone_at(noon))
        return (datetime.combine(noon.astimezone(zone).date(), time(), zone) + timedelta(hours=hour)).astimezone(UTC)

    # The person

    def sayings(self) -> list[Saying]:
        chance = random.Random(self.seed)
        return sorted(self._sayings(chance), key=lambda one: one.at)

    def _sayings(self, chance: random.Random) -> Iterator[Saying]:
        for day in range(self.days):
            number = sum(chance.random() < self.talks_a_day / 3 for _ in range(3))
            if self.silent_days[0] <= day < self.silent_days[1]:
                continue
            for _ in range(number):
                text = sentence(chance, self.words)
                yield Saying(at=self.at(day, chance.uniform(7, 23)), text=text, is_long=chance.random() < LONG_SHARE)
        agenda = ((10, NEVER_ABOUT), (56, ABOUT_AGAIN), (66, NEVER), (70, AGAIN), (12, NOT_TODAY), (58, THREE_DAYS))
        yield from (Saying(at=self.at(day, 9.2), text=text) for day, text in agenda)

    def reaction(self, chance: random.Random, at: datetime) -> Saying | None:
        """To a message that they did not ask for."""
        day = (at - self.start).days
        is_away = self.silent_days[0] <= day < self.silent_days[1]
        if is_away or chance.random() >= ANSWERED_SHARE:
            return None
        return Saying(at=at + MINUTE * chance.uniform(1, 180), text=chance.choice(ANSWERS))

    # The computer

    def changes(self) -> list[Change]:
        chance = random.Random(self.seed + 1)
        offs = [(self.at(day, 23.2), self.at(day + 1, 7.4)) for day in range(self.days) if chance.random() < 0.4]
        offs += [(self.at(14, 15.5), self.at(17, 11.3)), (self.at(30, 8.4), self.at(30, 12.2))]
        if self.flight:
            offs.append(self.flight[:2])
        found = [Change(at=self.at(2, 10), kind="place")]
        found += [Change(at=at, kind="zone", value=self.zone_at(at)) for at in (self.flight or ())[1:2]]
        for off, on in _joined(offs):
            found += [Change(at=off, kind="off"), Change(at=on, kind="on")]
        for day in (4, 8, 22, 61):
            found += [Change(at=self.at(day, 7), kind="line", value="down"), Change(at=self.at(day, 22.5), kind="line")]
        minute, hour, *_ = self.reflection.split()
        wrong = self.at(self.wrong_clock_day, int(hour) + int(minute) / 60 + 0.4)
        found += [Change(at=wrong, kind="clock", value="-2"), Change(at=wrong + timedelta(days=3), kind="clock")]
        return sorted(one for one in found if one.at < self.end)


def _joined(spans: list[tuple[datetime, datetime]]) -> Iterator[tuple[datetime, datetime]]:
    """Those that touch, as one."""
    current: tuple[datetime, datetime] | None = None
    for off, on in sorted(spans):
        if current and off <= current[1]:
            current = current[0], max(on, current[1])
            continue
        if current:
            yield current
        current = off, on
    if current:
        yield current


def sentence(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=max(3, round(chance.uniform(0.5, 1.5) * words)))).capitalize() + "."
