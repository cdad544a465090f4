"""How long somebody wants to be left alone, by the words that say it: until Monday, for a week, not today. Pure."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

MORNING = time(8)
"""When a day begins on which one may be written to again."""
LONGEST_HOURS = 366 * 24
"""Who names more means for ever, and can say so."""

_DAYS = (
    ("mon(?:day|tag)|lundi|lunes", 0),
    ("tuesday|dienstag|mardi|martes", 1),
    ("wednesday|mittwoch|mercredi|mi[eé]rcoles", 2),
    ("thursday|donnerstag|jeudi|jueves", 3),
    ("friday|freitag|vendredi|viernes", 4),
    ("saturday|samstag|samedi|s[aá]bado|the weekend|das wochenende", 5),
    ("sunday|sonntag|dimanche|domingo", 6),
    ("next week|n[aä]chste[rn]? woche|la semaine prochaine|la pr[oó]xima semana|after the weekend", 0),
)
_WEEKDAYS = tuple((re.compile(rf"(?:on |next |the |el |am )?(?:{words})", re.IGNORECASE), day) for words, day in _DAYS)
_TOMORROW = re.compile(r"(?:tomorrow|morgen|demain|ma[nñ]ana)", re.IGNORECASE)
_TODAY = re.compile(
    r"(?:today|tonight|this (?:morning|afternoon|evening)|heute(?: abend)?|aujourd'hui|ce soir|hoy|esta noche)",
    re.IGNORECASE,
)
_THIS_WEEK = re.compile(r"(?:this week|diese woche|cette semaine|esta semana)", re.IGNORECASE)
_THIS_WEEKEND = re.compile(r"(?:(?:this|over the|on the) weekend)", re.IGNORECASE)
_MONTH = re.compile(r"(?:next month|this month|n[aä]chsten monat|le mois prochain|el pr[oó]ximo mes)", re.IGNORECASE)
_HOUR = re.compile(r"(?:at )?(\d{1,2})(?::(\d\d))?(?: ?([ap])\.?m\b\.?| o'clock)?|noon|midnight", re.IGNORECASE)
_LENGTH = re.compile(
    r"(?:for |in |the )*(?:next )?(\d{1,4}|an?|the|one|two|three|four|five|six|seven|eight|nine|ten|few|a few|"
    r"(?:a )?couple of) (hour|day|week|month)s?",
    re.IGNORECASE,
)
_NUMBERS = {
    word: number
    for number, word in enumerate("one two three four five six seven eight nine ten".split(), start=1)  # noqa: SIM905
} | {"a": 1, "an": 1, "the": 1, "few": 3, "a few": 3, "couple of": 2, "a couple of": 2}
_HOURS = {"hour": 1, "day": 24, "week": 7 * 24, "month": 30 * 24}
_PART_OF_DAY = re.compile(r" (?:morning|afternoon|evening|night|at all)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """One of these is given; the others say nothing."""

    hours: int = 0
    days: int = 0
    """Until the morning so many days ahead."""
    weekday: int | None = None
    """Until the morning of the next such day, after today. 0: Monday."""
    is_month: bool = False
    """Until the next month begins."""
    shown: time | None = None
    """Until the clock next shows this."""
    is_either: bool = False
    """And it was not said whether before or after noon: the one that comes first."""

    def until(self, at: datetime) -> datetime:
        """`at`: when it was said, in the person's zone."""
        if self.hours:
            return at.astimezone(UTC) + timedelta(hours=self.hours)
        day, shown = at.date(), self.shown
        if shown and self.is_either and shown <= at.time() < shown.replace(hour=shown.hour + 12):
            shown = shown.replace(hour=shown.hour + 12)
        if shown:
            day += timedelta(days=int(at.time() >= shown))
        elif self.is_month:
            day = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
        elif self.weekday is not None:
            day += timedelta(days=(self.weekday - day.weekday() - 1) % 7 + 1)
        else:
            day += timedelta(days=self.days)
        return datetime.combine(day, shown or MORNING, tzinfo=at.tzinfo).astimezone(UTC)


def moment_named(words: str) -> Wait | None:
    """Of "until" and "before": when it is over."""
    words = words.strip()
    words = words if _HOUR.fullmatch(words) else _PART_OF_DAY.sub("", words)
    for pattern, weekday in _WEEKDAYS:
        if pattern.fullmatch(words):
            return Wait(weekday=weekday)
    if _TOMORROW.fullmatch(words):
        return Wait(days=1)
    if _MONTH.fullmatch(words) and words.lower() != "this month":
        return Wait(is_month=True)
    return _hour_named(words)


def span_named(words: str) -> Wait | None:
    """Of "not … today" and "for a week": how long it holds."""
    words = words.strip()
    if _TODAY.fullmatch(words):
        return Wait(days=1)
    if _THIS_WEEK.fullmatch(words):
        return Wait(hours=7 * 24)
    if _THIS_WEEKEND.fullmatch(words):
        return Wait(weekday=0)
    if words.lower() == "this month":
        return Wait(is_month=True)
    return length_named(words)


def length_named(words: str) -> Wait | None:
    found = _LENGTH.fullmatch(words.strip())
    if found is None:
        return None
    number = int(found[1]) if found[1].isdecimal() else _NUMBERS[found[1].lower()]
    hours = number * _HOURS[found[2].lower()]
    return Wait(hours=hours) if 0 < hours <= LONGEST_HOURS else None


def _hour_named(words: str) -> Wait | None:
    found = _HOUR.fullmatch(words)
    if found is None:
        return None
    if found[1] is None:
        return Wait(shown=time(12)) if words.lower() == "noon" else Wait(days=1)
    hour = int(found[1])
    if found[3]:
        hour = hour % 12 + (12 if found[3].lower() == "p" else 0)
    minute = int(found[2] or 0)
    is_either = not found[3] and 0 < hour < 12 and not found[1].startswith("0")
    return Wait(shown=time(hour, minute), is_either=is_either) if hour < 24 and minute < 60 else None
