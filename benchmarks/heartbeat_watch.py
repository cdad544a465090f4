"""The rules of writing first once more, told from the requirement and in other code, to hold a life against them.

Nothing of `recollect` is imported: who copies a mistake does not find it. A watch is told what happens, in its order,
by the clock of the computer. It says which rules forbid a message now, and notes each that was broken.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

QUIET_FROM, QUIET_TO = 22, 8
MOST_A_DAY = 2
REST = timedelta(minutes=45)
BETWEEN = timedelta(hours=4)
UNANSWERED = tuple(timedelta(hours=hours) for hours in (12, 24, 48, 96))
"""After the first that was not answered, the second, …; after the fifth, for ever."""


@dataclass(slots=True, kw_only=True)
class Watch:
    zone: str
    has_place: bool = False
    last_word: datetime | None = None
    waiting: int = 0
    is_turn_open: bool = False
    not_before: datetime | None = None
    is_unwelcome: bool = False
    topics: set[str] = field(default_factory=set[str])
    """That are not wanted."""
    written: list[datetime] = field(default_factory=list[datetime])
    unanswered: int = 0
    undelivered: int = 0
    broken: Counter[str] = field(default_factory=Counter[str])

    # What happens

    def said(self, at: datetime) -> None:
        self.last_word, self.unanswered = at, 0
        self.waiting += 1

    def answered(self, at: datetime, waiting: int = 0) -> None:
        """`waiting`: what was said while the answer was being made is still to be answered."""
        self.last_word, self.waiting, self.is_turn_open = at, waiting, False

    def wait_until(self, until: datetime) -> None:
        self.not_before = max(until, self.not_before) if self.not_before else until

    def wrote(self, at: datetime, text: str) -> None:
        """A message that nobody asked for."""
        self.broken.update(self.forbidden(at))
        if any(topic in text for topic in self.topics):
            self.broken["topic"] += 1
        self.written.append(at)
        self.last_word = at
        self.unanswered += 1
        self.undelivered += 1

    def delivered(self, at: datetime) -> None:
        """It arrived where the person is."""
        self.undelivered -= 1
        self.written[-1] = at  # It counts from when it was there to be read.
        self.unanswered = max(self.unanswered, 1)  # What was said before that is no answer to it.
        if self._is_quiet(at):
            self.broken["delivered in quiet hours"] += 1

    # What is allowed

    def forbidden(self, at: datetime) -> list[str]:
        rules = {
            "turn": self.is_turn_open or self.waiting > 0,
            "place": not self.has_place,
            "unwelcome": self.is_unwelcome,
            "not now": self.not_before is not None and at < self.not_before,
            "quiet hours": self._is_quiet(at),
            "active": self.last_word is not None and at - self.last_word < REST,
            "undelivered": self.undelivered > 0,
            "recent": bool(self.written) and at - self.written[-1] < BETWEEN,
            "unanswered": self._is_unanswered(at),
            "per day": sum(self.day(one) == self.day(at) for one in self.written) >= MOST_A_DAY,
        }
        return [rule for rule, is_broken in rules.items() if is_broken]

    def day(self, at: datetime) -> date:
        return at.astimezone(ZoneInfo(self.zone)).date()

    def _is_quiet(self, at: datetime) -> bool:
        hour = at.astimezone(ZoneInfo(self.zone)).hour
        return hour >= QUIET_FROM or hour < QUIET_TO

    def _is_unanswered(self, at: datetime) -> bool:
        if not self.unanswered:
            return False
        return self.unanswered > len(UNANSWERED) or at - self.written[-1] < UNANSWERED[self.unanswered - 1]
