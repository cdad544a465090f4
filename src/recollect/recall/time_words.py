"""Single expressions of time in English text: "last Friday", "in May 2023", "a few weeks ago", "2023-05-07".

A table of rules: a pattern, and a function from its match and the present to the stretches it may mean: two for
05/07/2023, none where the words turn out to mean something else ("may I", "march on", "in 404"). What stands around an
expression (since, before, between … and …) is the work of `time_phrases`.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from recollect.recall.stretches import (
    DAY,
    SLACKS,
    Stretch,
    around,
    half,
    holiday,
    latest,
    midnight,
    named_day,
    named_month,
    next_one,
    part_of,
    season,
    shift,
)
from recollect.recall.time_patterns import (
    COUNTED,
    DAY_NUMBER,
    DECADE,
    DECADES,
    HOLIDAY,
    HOURS,
    LEADS,
    MONTH,
    MONTH_STARTS,
    NUMBER,
    NUMBERS,
    OF_YEAR,
    PART,
    PLAIN_MONTHS,
    TIME_OF_DAY,
    UNIT,
    WEEKDAY,
    WEEKDAY_BEFORE,
    WEEKDAYS,
    WHICH,
    YEAR,
    YEAR_LEADS,
    amounts,
    unit_of,
)

Resolve = Callable[[re.Match[str], datetime], list[Stretch]]


def _is_led(match: re.Match[str], leads: re.Pattern[str] = LEADS) -> bool:
    return leads.search(match.string[max(0, match.start() - 30) : match.start()]) is not None


def _month_number(match: re.Match[str]) -> int:
    return MONTH_STARTS.index(match["month"].lower()[:3]) + 1


def _in_years(make: Callable[[int], Stretch], now: datetime) -> dict[int, Stretch]:
    """The same thing in the years around now; 29 February is not in each."""
    found: dict[int, Stretch] = {}
    for year in range(max(1, now.year - 8), min(9999, now.year + 8) + 1):
        try:
            found[year] = make(year)
        except (ValueError, OverflowError):
            continue
    if not found:
        raise ValueError
    return found


def _chosen(make: Callable[[int], Stretch], year: str | None, which: str, now: datetime) -> Stretch:
    """In the year that is named, else as "last", "this" or "next" say, else the latest that has begun."""
    if year:
        return make(int(year))
    years = _in_years(make, now)
    if which in ("next", "coming"):
        return next_one(years, now)
    if which == "this" and now.year in years:
        return replace(years[now.year], floats=True)
    found = latest(years, now)
    if which in ("last", "past", "previous") and found.end > now:
        return latest(years, found.start - DAY)
    return found


# Days that are named


def _iso_day(match: re.Match[str], now: datetime) -> list[Stretch]:
    return [named_day(now, int(match[1]), int(match[2]), int(match[3]))]


def _iso_month(match: re.Match[str], now: datetime) -> list[Stretch]:
    return [named_month(now, int(match[1]), int(match[2]))]


def _dotted_day(match: re.Match[str], now: datetime) -> list[Stretch]:
    return [named_day(now, int(match[3]), int(match[2]), int(match[1]))]


_SLASH_LEADS = re.compile(
    r"(?:\b(?:on|before|after|since|until|till|by|from|between|the|around)|\d/\d{1,2}\s+(?:and|to))\s+$", re.IGNORECASE
)


def _slashed_day(match: re.Match[str], now: datetime) -> list[Stretch]:
    """Month first, as Americans write, and day first, as others do: both where both are days."""
    first, second, year = int(match[1]), int(match[2]), match[3] or ""
    if not year and not _is_led(match, _SLASH_LEADS):
        return []
    year = f"20{year}" if len(year) == 2 else year
    found: list[Stretch] = []
    for month, day in dict.fromkeys([(first, second), (second, first)]):
        try:
            found.append(_chosen(lambda chosen, m=month, d=day: named_day(now, chosen, m, d), year, "", now))
        except (ValueError, OverflowError):
            continue
    return found


def _month_day(match: re.Match[str], now: datetime) -> list[Stretch]:
    month, day = _month_number(match), int(match["day"])
    groups = match.groupdict()
    shaky = match["month"].lower() in ("may", "march", "mar")
    sure = groups.get("ordinal") or groups.get("year") or match["month"][0].isupper() or _is_led(match)
    if shaky and not sure and not _ON.search(match.string[max(0, match.start() - 10) : match.start()].lower()):
        return []
    found = _chosen(lambda year: named_day(now, year, month, day), groups.get("year"), "", now)
    last = groups.get("last_day")
    if last and int(last) > day:
        found = replace(found, end=found.start + (int(last) - day + 1) * DAY)
    return [found]


_ON = re.compile(r"\bon\s+$")
_REPEATED = re.compile(r"\b(?:every|each|black|good|ash)\s+$")


def _weekday(match: re.Match[str], now: datetime) -> list[Stretch]:
    name, which = match["weekday"].lower(), (match["which"] or "").lower()
    before = match.string[max(0, match.start() - 10) : match.start()].lower()
    if name not in WEEKDAYS and not (
        which in ("last", "next") or (match["weekday"][0].isupper() and _ON.search(before))
    ):
        return []  # "the cat sat", "in the sun", "we wed"
    if _REPEATED.search(before):
        return []
    number = next(index for index, full in enumerate(WEEKDAYS) if full.startswith(name[:3]))
    today = midnight(now)
    back = (today.weekday() - number) % 7
    if which in ("next", "coming") or (which == "this" and back):
        start = today + (7 - back) * DAY
    else:
        start = today - (back or (7 if which else 0)) * DAY
    found = Stretch(start=start, end=start + DAY, slack=DAY, kind="relative", floats=True)
    return [_at_hours(found, match["hours"])]


# Longer stretches that are named


def _month(match: re.Match[str], now: datetime) -> list[Stretch]:
    month, word = _month_number(match), match["month"].lower()
    which, part, year = (match["which"] or "").lower(), match["part"], match["year"]
    if not (year or which or part or word in PLAIN_MONTHS or _is_led(match)):
        return []
    if word in ("may", "march", "mar") and not (year or part) and _is_verb(match):
        return []
    found = _chosen(lambda chosen: named_month(now, chosen, month), year, which, now)
    return [_part(found, part)]


def _is_verb(match: re.Match[str]) -> bool:
    """`this may help`, `what came before may be …`, `in march on …`"""
    if match["month"].islower() and (match["which"] or "").lower() == "this":
        return True
    after = match.string[match.end() : match.end() + 12].lower().split()
    return bool(after) and after[0] in ("be", "not", "have", "i", "we", "you", "on", "it", "he", "she", "they")


def _part(whole: Stretch, name: str | None) -> Stretch:
    return part_of(whole, " ".join(name.lower().split())) if name else whole


def _year(match: re.Match[str], now: datetime) -> list[Stretch]:
    if not match["part"] and (not _is_led(match, YEAR_LEADS) or COUNTED.match(match.string, match.end())):
        return []
    year = int(match["year"])
    if year > now.year + 10:
        return []
    return [_part(replace(around(named_day(now, year, 1, 1).start, "year"), kind="named"), match["part"])]


def _decade(match: re.Match[str], now: datetime) -> list[Stretch]:
    word, digits = match["decade"], match["digits"]
    if word:
        first = 1920 + 10 * DECADES.index(word.lower())
    else:
        number = int(digits)
        first = number if number >= 1900 else (2000 if number <= now.year - 2000 else 1900) + number
    return [_part(replace(around(named_day(now, first, 1, 1).start, "decade"), kind="named"), match["part"])]


_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}


def _quarter(match: re.Match[str], now: datetime) -> list[Stretch]:
    word = match["ordinal"]
    if not match["year"] and (not _is_led(match) or (word and word.lower() == "last")):
        return []
    number = _QUARTERS[word.lower()] if word else int(match["digit"])

    def make(year: int) -> Stretch:
        return replace(around(named_month(now, year, 3 * number - 2).start, "quarter"), kind="named")

    return [_chosen(make, match["year"], "", now)]


def _season(match: re.Match[str], now: datetime) -> list[Stretch]:
    name, which, year = match["season"].lower(), (match["which"] or "").lower(), match["year"]
    is_other_word = name in ("spring", "fall")
    before = match.string[max(0, match.start() - 20) : match.start()]
    the = r"the\s+" if is_other_word else r"(?:the\s+)?"
    led = re.search(rf"\b(?:in|during|since|before|after|over|until)\s+{the}$", before, re.IGNORECASE)
    if not (which or year or match["part"] or led):
        return []
    return [_part(_chosen(lambda chosen: season(now, chosen, name), year, which, now), match["part"])]


def _holiday(match: re.Match[str], now: datetime) -> list[Stretch]:
    name, which, year = match["holiday"].lower(), (match["which"] or "").lower(), match["year"]
    name = "new year" if name.startswith("new") else "valentine" if name.startswith("valentine") else name
    if (
        name == "new year"
        and "'" not in match[0].replace("’", "'")
        and not match["holiday"][0].isupper()
        and not _is_led(match)
    ):
        return []
    return [_chosen(lambda chosen: holiday(now, chosen, name), year, which, now)]


# Relative to now


def _at_hours(day: Stretch, name: str | None) -> Stretch:
    if not name:
        return day
    first, last = HOURS[name.lower()]
    start = midnight(day.start)
    return replace(
        day, start=start + timedelta(hours=first), end=start + timedelta(hours=last), slack=timedelta(hours=3)
    )


_DAYS = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}


def _near_day(match: re.Match[str], now: datetime) -> list[Stretch]:
    words = match[0].lower().split()
    if words[0] == "this":
        return [_at_hours(around(now, "day"), words[1])]
    if words[:2] == ["last", "night"]:
        return [_at_hours(around(now - DAY, "day"), "night")]
    if len(words) > 2:
        return [around(now + (2 if words[-1] == "tomorrow" else -2) * DAY, "day")]
    hours = "night" if words[0] == "tonight" else match["hours"]
    return [_at_hours(around(now + _DAYS[words[0]] * DAY, "day"), hours)]


def _ago(match: re.Match[str], now: datetime) -> list[Stretch]:
    unit = unit_of(match)
    if not match["number"] and f"{match['unit']}s" not in match[0]:
        return []
    low, high = amounts(match["number"]) if match["number"] else NUMBERS["many"]
    if unit == "day":
        start, end = midnight(shift(now, unit, -high)), midnight(shift(now, unit, -low)) + DAY
        return [Stretch(start=start, end=end, slack=DAY, kind="relative")]
    if unit == "weekend":
        first = around(shift(now, unit, -high), unit).start
        return [Stretch(start=first, end=around(shift(now, unit, -low), unit).end, slack=DAY, kind="relative")]
    start, end = shift(now, unit, -high) - half(unit), shift(now, unit, -low) + half(unit)
    return [Stretch(start=start, end=end, slack=max(half(unit), (now - end) / 10), kind="relative")]


def _last_units(match: re.Match[str], now: datetime) -> list[Stretch]:
    """`the last two months`, `the past week`, `next three days`: from now, not by the calendar."""
    _, high = amounts(match["number"]) if match["number"] else (1, 1)
    unit = unit_of(match)
    which = match["which"].lower()
    slack = max(SLACKS[unit], high * half(unit) / 5)
    if which in ("next", "coming"):
        return [Stretch(start=now, end=shift(now, unit, high), slack=slack, kind="relative")]
    start = shift(now, unit, -high)
    start = start if unit in ("minute", "hour") else midnight(start)
    return [Stretch(start=start, end=now, slack=slack, kind="relative")]


def _calendar_unit(match: re.Match[str], now: datetime) -> list[Stretch]:
    """`last week`, `this month`, `next year`: by the calendar."""
    unit, which = unit_of(match), match["which"].lower()
    if which.startswith("over"):
        which = "this" if now.weekday() >= 5 else "last"
    step = 1 if which in ("next", "coming") else 0 if which == "this" else -1
    found = around(now, unit, floats=True)
    if unit == "weekend" and now.weekday() < 5 and step:
        step = min(step, 0)
    moved = around(shift(now, unit, step), unit, floats=True) if step else found
    return [moved] if moved.start < moved.end else []


def _since_start(days_from: int, days_to: int, slack_days: int) -> Resolve:
    """A vague phrase: so many days back to so many days back."""

    def resolve(_: re.Match[str], now: datetime) -> list[Stretch]:
        start, end = midnight(now) - days_from * DAY, now - days_to * DAY
        return [Stretch(start=start, end=max(end, start + DAY), slack=slack_days * DAY, kind="relative")]

    return resolve


_NOT_IN_NAME = r"(?<![\w.,/:$€£#-])"
_ENDS = r"(?![\w/-]|\.\w)"

RULES: list[tuple[re.Pattern[str], Resolve]] = [
    (re.compile(pattern, re.IGNORECASE), resolve)
    for pattern, resolve in (
        (rf"{_NOT_IN_NAME}(\d{{4}})-(\d\d)-(\d\d)(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?{_ENDS}", _iso_day),
        (rf"{_NOT_IN_NAME}((?:19|20)\d\d)-(0[1-9]|1[0-2]){_ENDS}", _iso_month),
        (rf"{_NOT_IN_NAME}(\d{{1,2}})\.\s?(\d{{1,2}})\.\s?((?:19|20)\d\d){_ENDS}", _dotted_day),
        (rf"{_NOT_IN_NAME}(\d{{1,2}})/(\d{{1,2}})(?:/((?:19|20)?\d\d))?{_ENDS}", _slashed_day),
        (rf"{_NOT_IN_NAME}{WEEKDAY_BEFORE}{DAY_NUMBER}\s+(?:of\s+)?{MONTH}{OF_YEAR}\b", _month_day),
        (rf"\b{WEEKDAY_BEFORE}{MONTH}\s+(?:the\s+)?{DAY_NUMBER}(?![\d.:%]){OF_YEAR}(?!\w)", _month_day),
        (
            rf"\b{MONTH}\s+(?P<day>\d{{1,2}})\s?(?:-|–|to)\s?(?P<last_day>\d{{1,2}}){OF_YEAR}(?!\w)",
            _month_day,
        ),
        (rf"\b(?:{WHICH}\s+)?{WEEKDAY}{TIME_OF_DAY}\b(?!-|\s+(?:mornings|afternoons|evenings|nights)\b)", _weekday),
        (rf"\b{PART}(?:{WHICH}\s+)?{MONTH}{OF_YEAR}(?!\w)", _month),
        (rf"{_NOT_IN_NAME}{PART}{YEAR}(?![\w-])", _year),
        (rf"\bthe\s+(?P<part>early|mid|late)?[\s-]*{DECADE}\b", _decade),
        (rf"\b(?:q(?P<digit>[1-4])|(?P<ordinal>first|second|third|fourth|last)\s+quarter){OF_YEAR}(?!\w)", _quarter),
        (rf"\b{PART}(?:{WHICH}\s+)?(?P<season>spring|summer|autumn|fall|winter){OF_YEAR}(?!\w)", _season),
        (rf"\b(?:{WHICH}\s+)?{HOLIDAY}{OF_YEAR}(?!\w)", _holiday),
        (rf"\b(?:today|tonight|yesterday|tomorrow){TIME_OF_DAY}\b(?!['’]s\s+world)", _near_day),
        (r"\b(?:this\s+(?:morning|afternoon|evening)|last\s+night|the\s+day\s+before\s+yesterday)\b", _near_day),
        (r"\bthe\s+day\s+after\s+tomorrow\b", _near_day),
        (rf"(?<!how )(?<!how many )\b(?:{NUMBER}\s+)?{UNIT}(?:\s+or\s+(?:so|two|more))?\s+ago\b", _ago),
        (rf"\b{WHICH}\s+{NUMBER}\s+{UNIT}\b", _last_units),
        (
            rf"\b(?:the|over|during|within)\s+(?:the\s+)?(?P<which>last|past)(?P<number>)\s+{UNIT}\b(?!\s+of)",
            _last_units,
        ),
        (rf"\b(?P<which>past)(?P<number>)\s+{UNIT}\b", _last_units),
        (rf"\b{WHICH}\s+{UNIT}\b(?!\s+of\b)", _calendar_unit),
        (r"\b(?P<which>over\s+the)\s+(?P<unit>weekend)\b", _calendar_unit),
        (r"\bthe\s+other\s+(?:day|night|evening|morning)\b", _since_start(8, 1, 4)),
        (r"(?<!most )\b(?:recently|lately|of\s+late)\b", _since_start(45, 0, 45)),
        (r"\ba\s+(?:little\s+)?while\s+(?:ago|back)\b|\bsome\s+time\s+ago\b", _since_start(365, 14, 90)),
        (r"(?<!how )\b(?:a\s+long\s+time|ages|long)\s+ago\b", _since_start(7300, 180, 180)),
    )
]
"""In no order: of two matches at one place the longer counts, and the first of those as long."""
