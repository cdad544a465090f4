"""A hard ceiling for each day, in tokens and in money, that holds for all workers on all hosts together.

Before a call all that it may take is reserved, in one write transaction with the look at what is spent; after it the
reservation is settled to what it took. A worker that dies in between leaves its reservation counted: the ceiling errs
on the side of the person who pays. The conversation, the librarian and the heartbeat have a ceiling each: none spends
what is another's. A day is the person's own.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from recollect.clock import LOCAL, Clock, local, to_text
from recollect.database import Database
from recollect.errors import Denied, Unavailable
from recollect.ids import new_id
from recollect.llm.model import Usage
from recollect.runs.store import SpendingStore

MICRO = 1_000_000


class Account(StrEnum):
    """Whose money: named as its table in the settings."""

    LIBRARIAN = "librarian"
    MIND = "mind"
    HEARTBEAT = "heartbeat"


class OverBudget(Unavailable):
    """Nothing was asked. `goes_on_at`: a stored time, the next midnight of the person."""

    def __init__(self, message: str, goes_on_at: str) -> None:
        super().__init__(message)
        self.goes_on_at = goes_on_at


class UnknownPrice(Denied):
    """There is a ceiling in money and nobody knows what this model takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    id: str
    tokens: int
    dollars: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """What a day took so far, calls that are under way with all that they may take."""

    day: str
    calls: int
    tokens: int
    dollars: float
    tokens_per_day: int
    """0: no such ceiling."""
    dollars_per_day: float
    goes_on_at: str
    """When the next day begins."""

    @property
    def share(self) -> float | None:
        """Of the ceiling that is nearer. None: there is none."""
        parts = [
            spent / ceiling
            for spent, ceiling in ((self.tokens, self.tokens_per_day), (self.dollars, self.dollars_per_day))
            if ceiling
        ]
        return max(parts, default=None)


class Budget:
    def __init__(
        self,
        database: Database,
        house: str,
        clock: Clock,
        tokens_per_day: int = 0,
        dollars_per_day: float = 0,
        *,
        account: Account = Account.LIBRARIAN,
    ) -> None:
        """`account`: only what is spent for it counts against these ceilings."""
        self._database = database
        self._house = house
        self._clock = clock
        self._tokens_per_day = tokens_per_day
        self._dollars_per_day = dollars_per_day
        self._account = account

    @property
    def has_ceiling(self) -> bool:
        return bool(self._tokens_per_day or self._dollars_per_day)

    def today(self) -> Meter:
        now = self._clock()
        day = day_of(now)
        with self._database.read() as session:
            calls, tokens, microdollars = SpendingStore(session, self._house).spent_on(day, self._account)
        return self._meter(now, calls, tokens, microdollars)

    def reserve(
        self,
        purpose: str,
        model: str,
        input_tokens: int,
        most_output_tokens: int,
        dollars: float | None,
        *,
        turn: str = "",
    ) -> Reservation:
        """Raises OverBudget when the day could end above a ceiling, UnknownPrice when that cannot be told. `turn`: that
        of a mind which it is for, such as `assistant#12`."""
        if dollars is None and self._dollars_per_day:
            raise self._unknown_price(model)
        now = self._clock()
        reservation = Reservation(id=new_id(), tokens=input_tokens + most_output_tokens, dollars=dollars)
        with self._database.write() as session:
            store = SpendingStore(session, self._house)
            self._check(reservation, self._meter(now, *store.spent_on(day_of(now), self._account)))
            store.reserve(
                {
                    "id": reservation.id,
                    "day": day_of(now),
                    "at": to_text(now),
                    "purpose": purpose,
                    "model": model,
                    "turn": turn,
                    "input_tokens": input_tokens,
                    "output_tokens": most_output_tokens,
                    "microdollars": _micro(dollars or 0),
                }
            )
        return reservation

    def settle(self, reservation: Reservation, usage: Usage, dollars: float | None) -> None:
        """What the call took, once; never less than nothing, whatever a server says. With no price known the money that
        was reserved stays counted. It counts for the day on which it was asked."""
        with self._database.write() as session:
            SpendingStore(session, self._house).settle(
                {
                    "id": reservation.id,
                    "input_tokens": max(usage.input_tokens, 0),
                    "cached_tokens": max(usage.cached_tokens, 0),
                    "written_tokens": max(usage.written_tokens, 0),
                    "output_tokens": max(usage.output_tokens, 0),
                    "microdollars": None if dollars is None else max(_micro(dollars), 0),
                }
            )

    def _check(self, wanted: Reservation, spent: Meter) -> None:
        if self._tokens_per_day and spent.tokens + wanted.tokens > self._tokens_per_day:
            most, used, more = (f"{n:,} tokens" for n in (self._tokens_per_day, spent.tokens, wanted.tokens))
            raise _over(
                f"{self._account}.tokens_per_day", most, used, more, spent, wanted.tokens > self._tokens_per_day
            )
        ceiling, dollars = _micro_below(self._dollars_per_day), _micro(wanted.dollars or 0)
        if self._dollars_per_day and _micro(spent.dollars) + dollars > ceiling:
            most, used, more = (_money(n) for n in (self._dollars_per_day, spent.dollars, dollars / MICRO))
            raise _over(f"{self._account}.dollars_per_day", most, used, more, spent, dollars > ceiling)

    def _unknown_price(self, model: str) -> UnknownPrice:
        instead = "a ceiling in tokens instead" if self._account is Account.LIBRARIAN else "0 for no ceiling"
        return UnknownPrice(
            f"Nobody knows what {model} costs, and {self._account}.dollars_per_day is {self._dollars_per_day:g}. Give "
            f"{self._account}.price_per_million = [input, output] in recollect.toml, or {instead}."
        )

    def _meter(self, now: datetime, calls: int, tokens: int, microdollars: int) -> Meter:
        return Meter(
            day=day_of(now),
            calls=calls,
            tokens=tokens,
            dollars=microdollars / MICRO,
            tokens_per_day=self._tokens_per_day,
            dollars_per_day=self._dollars_per_day,
            goes_on_at=_next_midnight(now),
        )


def _over(setting: str, most: str, spent: str, more: str, meter: Meter, is_hopeless: bool) -> OverBudget:
    """`is_hopeless`: no new day would help."""
    remedy = f"raise {setting} in recollect.toml"
    if is_hopeless:
        return OverBudget(f"One call may take {more}, a whole day {most}: {remedy}.", meter.goes_on_at)
    when = f"{local(meter.goes_on_at):%H:%M on %A, %d %B}"
    text = (
        f"The next call may take {more}, and of the {most} of a day {spent} are spent or reserved. It goes on at "
        f"{when}; or {remedy}."
    )
    return OverBudget(text, meter.goes_on_at)


def _money(dollars: float) -> str:
    return f"${dollars:.2f}" if dollars >= 1 or not dollars else f"${dollars:.4f}"


def day_of(now: datetime) -> str:
    return local(to_text(now)).date().isoformat()


def _next_midnight(now: datetime) -> str:
    tomorrow = local(to_text(now)).date() + timedelta(days=1)
    return to_text(datetime(tomorrow.year, tomorrow.month, tomorrow.day, tzinfo=LOCAL))


def _micro(dollars: float) -> int:
    """Rounded up: a call that costs less than a millionth of a dollar still counts. The last digits of a binary number
    do not."""
    return math.ceil(round(dollars * MICRO, 3))


def _micro_below(dollars: float) -> int:
    return math.floor(round(dollars * MICRO, 3))
