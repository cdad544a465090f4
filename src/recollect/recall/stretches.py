"""Calendar arithmetic for phrases about time: days, weeks, months, seasons, holidays and parts of them.

Pure. Everything here is in the zone of the person, as people mean it: "yesterday" begins at their midnight, and adding
a day keeps the hour on the clock. `time_phrases` turns the result into UTC. A moment before year 1 or after 9999 raises
ValueError or OverflowError; callers take that as "no period".
"""

from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

Kind = Literal["named", "relative", "open"]
Unit = Literal["minute", "hour", "day", "week", "weekend", "fortnight", "month", "quarter", "year", "decade"]

DAY = timedelta(days=1)

_LENGTHS: dict[str, timedelta] = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": DAY,
    "week": 7 * DAY,
    "weekend": 7 * DAY,
    "fortnight": 14 * DAY,
}
_MONTHS: dict[str, int] = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_HALVES: dict[str, timedelta] = {"month": 15 * DAY, "quarter": 45 * DAY, "year": 182 * DAY, "decade": 1825 * DAY}
SLACKS: dict[str, timedelta] = {
    "minute": timedelta(minutes=5),
    "hour": timedelta(hours=1),
    "day": timedelta(hours=6),
    "week": 2 * DAY,
    "weekend": DAY,
    "fortnight": 4 * DAY,
    "month": 5 * DAY,
    "quarter": 14 * DAY,
    "year": 30 * DAY,
    "decade": 365 * DAY,
}
"""How far outside a stretch of this size people still mean it: they talk after midnight and round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A stretch of local time. `floats`: which one is meant depends on the moment it is seen from, as with "in May"."""

    start: datetime
    end: datetime
    slack: timedelta
    kind: Kind
    floats: bool = False


def midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)


def date(near: datetime, year: int, month: int, day: int) -> datetime:
    """The beginning of a day, in the zone of another moment."""
    return midnight(near).replace(year=year, month=month, day=day)


def shift(moment: datetime, unit: str, number: int) -> datetime:
    """So many units later; a day that the month does not have becomes its last."""
    if unit in _LENGTHS:
        return moment + number * _LENGTHS[unit]
    months = moment.year * 12 + moment.month - 1 + number * _MONTHS[unit]
    year, month = divmod(months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError
    return moment.replace(year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1]))


def half(unit: str) -> timedelta:
    return _HALVES[unit] if unit in _HALVES else _LENGTHS[unit] / 2


def around(moment: datetime, unit: str, kind: Kind = "relative", *, floats: bool = False) -> Stretch:
    """The calendar day, week, month … that a moment lies in. Weeks begin on Monday."""
    start = midnight(moment)
    if unit in ("minute", "hour"):
        start = moment.replace(second=0, microsecond=0) if unit == "minute" else moment.replace(minute=0, second=0)
    elif unit in ("week", "fortnight"):
        start -= start.weekday() * DAY
    elif unit == "weekend":
        start += (5 - start.weekday()) * DAY
    elif unit in _MONTHS:
        start = start.replace(day=1, month=_first_month(start.month, unit))
        start = start.replace(year=start.year // 10 * 10) if unit == "decade" else start
    end = start + 2 * DAY if unit == "weekend" else shift(start, unit, 1)
    return Stretch(start=start, end=end, slack=SLACKS[unit], kind=kind, floats=floats)


def _first_month(month: int, unit: str) -> int:
    if unit == "month":
        return month
    return (month - 1) // 3 * 3 + 1 if unit == "quarter" else 1


_PARTS: dict[str, tuple[float, float]] = {
    "early": (0, 1 / 3),
    "mid": (1 / 3, 2 / 3),
    "middle": (1 / 3, 2 / 3),
    "late": (2 / 3, 1),
    "beginning": (0, 1 / 4),
    "start": (0, 1 / 4),
    "end": (3 / 4, 1),
    "first half": (0, 1 / 2),
    "second half": (1 / 2, 1),
}
_WEEKS = {"first": 0, "second": 1, "third": 2, "fourth": 3}


def part_of(whole: Stretch, name: str) -> Stretch:
    """`late`, `end`, `first half`, `second week`, `last weekend` … of a longer stretch; the edges are not sharp."""
    words = name.split()
    if name in _PARTS:
        low, high = _PARTS[name]
        length = whole.end - whole.start
        start, end = midnight(whole.start + low * length), midnight(whole.start + high * length)
        return replace(whole, start=start, end=max(end, start + DAY), slack=max(whole.slack, (end - start) / 2))
    if words[-1] == "weekend":
        first = around(whole.start, "weekend").start
        number = _WEEKS.get(words[0])
        start = around(whole.end - DAY, "weekend").start if number is None else first + 7 * number * DAY
        start = start - 7 * DAY if start >= whole.end else start
        return replace(whole, start=start, end=start + 2 * DAY, slack=SLACKS["weekend"])
    number = _WEEKS.get(words[0])
    start = whole.end - 7 * DAY if number is None else whole.start + 7 * number * DAY
    return replace(whole, start=start, end=start + 7 * DAY, slack=SLACKS["week"])


def latest(make: dict[int, Stretch], now: datetime) -> Stretch:
    """Of the same stretch in several years the last that has begun, else the first."""
    begun = [year for year in make if make[year].start <= now]
    return replace(make[max(begun) if begun else min(make)], floats=True)


def next_one(make: dict[int, Stretch], now: datetime) -> Stretch:
    """Of the same stretch in several years the first that has not begun, else the last."""
    coming = [year for year in make if make[year].start > now]
    return replace(make[min(coming) if coming else max(make)], floats=True)


def named_month(near: datetime, year: int, month: int) -> Stretch:
    return around(date(near, year, month, 1), "month", "named")


def named_day(near: datetime, year: int, month: int, day: int) -> Stretch:
    return around(date(near, year, month, day), "day", "named")


_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


def season(near: datetime, year: int, name: str) -> Stretch:
    """Three months of the northern year. The winter of a year is the one that begins in it."""
    start = date(near, year, _SEASONS[name], 1)
    return Stretch(start=start, end=shift(start, "month", 3), slack=21 * DAY, kind="named")


def holiday(near: datetime, year: int, name: str) -> Stretch:
    """A holiday with the days around it that people count to it."""
    day, before, after = _HOLIDAYS[name]
    if name == "easter":
        moment = _easter(near, year)
    elif name == "thanksgiving":
        first = date(near, year, 11, 1)
        moment = first + ((3 - first.weekday()) % 7 + 21) * DAY
    else:
        moment = date(near, year, *day)
    return Stretch(start=moment - before * DAY, end=moment + after * DAY, slack=4 * DAY, kind="named")


_HOLIDAYS: dict[str, tuple[tuple[int, int], int, int]] = {
    "christmas": ((12, 25), 1, 2),
    "new year": ((1, 1), 1, 1),
    "easter": ((4, 1), 2, 2),
    "thanksgiving": ((11, 22), 0, 2),
    "halloween": ((10, 31), 0, 1),
    "valentine": ((2, 14), 0, 1),
}
"""Name → its usual month and day, days that belong to it before that day, and from it on."""


def _easter(near: datetime, year: int) -> datetime:
    """Easter Sunday of the Gregorian calendar (the computation of Meeus, Jones and Butcher)."""
    century, in_century = divmod(year, 100)
    skipped, rest = divmod(century, 4)
    correction = (century - (century + 8) // 25 + 1) // 3
    moon = (19 * (year % 19) + century - skipped - correction + 15) % 30
    leaps, odd = divmod(in_century, 4)
    weekday = (32 + 2 * rest + 2 * leaps - moon - odd) % 7
    shifted = (year % 19 + 11 * moon + 22 * weekday) // 451
    month, day = divmod(moon + weekday - 7 * shifted + 114, 31)
    return date(near, year, month, day + 1)
