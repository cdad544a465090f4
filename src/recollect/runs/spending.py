"""What was spent: by day, model and purpose; by day; and by turn of a mind."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from recollect.clock import LOCAL, Clock, local, to_text
from recollect.database import Database
from recollect.errors import Denied
from recollect.runs.budget import MICRO, Account, Budget, Meter
from recollect.runs.store import EventStore, SpendingStore
from recollect.scopes import OWNER, Principal

COMPACTION = "compaction"
"""An event of each compaction of a mind; `done` where its summary is in use."""
ASKED_KNOWN = "asked_known"
"""An event with `questions`: how many were asked whose answer was known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    day: str
    """The person's own, such as `2026-03-02`."""
    model: str
    purpose: str
    calls: int
    open_calls: int
    """Of these, under way or never ended: counted with all that they could have taken."""
    input_tokens: int
    """All of them, cached and written ones included."""
    cached_tokens: int
    written_tokens: int
    output_tokens: int
    dollars: float
    """What is known of it: a call whose price nobody knows counts as nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentDay:
    """What a day took in all, and what the mind did in it."""

    day: str
    calls: int
    input_tokens: int
    cached_tokens: int
    written_tokens: int
    output_tokens: int
    dollars: float
    compaction_tokens: int
    """Of all these, in and out, what compactions took; so with their money."""
    compaction_dollars: float
    compactions: int
    asked_known: int
    """Questions that the agent asked although it had the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentTurn:
    """What a turn of a mind took, with the compaction that it set off."""

    turn: str
    """Such as `assistant#12`."""
    at: str
    """When its first call was asked: a stored time."""
    calls: int
    open_calls: int
    input_tokens: int
    cached_tokens: int
    written_tokens: int
    output_tokens: int
    dollars: float
    compaction_tokens: int
    """Of all these, in and out, what compactions took; so with their money."""
    compaction_dollars: float


class Spending:
    """An agent is told of nobody's money."""

    def __init__(self, database: Database, house: str, clock: Clock, principal: Principal = OWNER) -> None:
        self._database = database
        self._house = house
        self._clock = clock
        self._principal = principal

    def by_day(self, days: int = 30) -> list[Spent]:
        """Of the last so many days, the latest first."""
        if self._principal.is_confined:
            return []
        with self._database.read() as session:
            rows = SpendingStore(session, self._house).by_day(self._first(days).isoformat())
        return [
            Spent(
                day=day,
                model=model,
                purpose=purpose,
                calls=calls,
                open_calls=open_calls,
                input_tokens=input_tokens,
                cached_tokens=cached_tokens,
                written_tokens=written_tokens,
                output_tokens=output_tokens,
                dollars=microdollars / MICRO,
            )
            for (
                day, model, purpose, calls, open_calls, input_tokens, cached_tokens, written_tokens, output_tokens,
                microdollars,
            ) in rows
        ]  # fmt: skip

    def days(self, days: int = 30) -> list[SpentDay]:
        """Of the last so many days those in which something happened, the latest first."""
        if self._principal.is_confined:
            return []
        compactions, asked_known = self._counted(COMPACTION, days), self._counted(ASKED_KNOWN, days)
        spent: dict[str, list[Spent]] = {day: [] for day in (*compactions, *asked_known)}
        for one in self.by_day(days):
            spent.setdefault(one.day, []).append(one)
        return [_day(day, spent[day], compactions[day], asked_known[day]) for day in sorted(spent, reverse=True)]

    def by_turn(self, limit: int = 20) -> list[SpentTurn]:
        """The latest first."""
        if self._principal.is_confined:
            return []
        with self._database.read() as session:
            rows = SpendingStore(session, self._house).by_turn(limit)
        return [
            SpentTurn(
                turn=turn,
                at=at,
                calls=calls,
                open_calls=open_calls,
                input_tokens=input_tokens,
                cached_tokens=cached_tokens,
                written_tokens=written_tokens,
                output_tokens=output_tokens,
                dollars=microdollars / MICRO,
                compaction_tokens=compaction_tokens,
                compaction_dollars=compaction_microdollars / MICRO,
            )
            for (
                turn, at, calls, open_calls, input_tokens, cached_tokens, written_tokens, output_tokens, microdollars,
                compaction_tokens, compaction_microdollars,
            ) in rows
        ]  # fmt: skip

    def today(self, account: Account, *, tokens_per_day: int = 0, dollars_per_day: float = 0) -> Meter:
        """Beside these ceilings."""
        if self._principal.is_confined:
            raise Denied(f"{self._principal.name} may not see what models took: that is for the person who pays.")
        return Budget(
            self._database, self._house, self._clock, tokens_per_day, dollars_per_day, account=account
        ).today()

    def _counted(self, name: str, days: int) -> Counter[str]:
        """By day. Events hold UTC times, and a day is the person's own: they are sorted into days here."""
        first = self._first(days)
        since = to_text(datetime(first.year, first.month, first.day, tzinfo=LOCAL))
        with self._database.read() as session:
            events = EventStore(session, self._house).since(name, since)
        counted: Counter[str] = Counter()
        for outcome, at, detail in events:
            if name == ASKED_KNOWN or outcome == "done":
                counted[local(at).date().isoformat()] += detail["questions"] if name == ASKED_KNOWN else 1
        return counted

    def _first(self, days: int) -> date:
        return local(to_text(self._clock())).date() - timedelta(days=max(days, 1) - 1)


def _day(day: str, spent: Sequence[Spent], compactions: int, asked_known: int) -> SpentDay:
    condensed = [one for one in spent if one.purpose == COMPACTION]
    return SpentDay(
        day=day,
        calls=sum(one.calls for one in spent),
        input_tokens=sum(one.input_tokens for one in spent),
        cached_tokens=sum(one.cached_tokens for one in spent),
        written_tokens=sum(one.written_tokens for one in spent),
        output_tokens=sum(one.output_tokens for one in spent),
        dollars=sum(one.dollars for one in spent),
        compaction_tokens=sum(one.input_tokens + one.output_tokens for one in condensed),
        compaction_dollars=sum(one.dollars for one in condensed),
        compactions=compactions,
        asked_known=asked_known,
    )
