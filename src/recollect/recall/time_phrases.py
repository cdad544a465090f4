"""Phrases about time in a question, as intervals that guide the ranking (R4).

`find_periods` reads English and dates in figures. An expression by itself ("last week", "in May 2023") is the work of
`time_words`; here it is joined with what stands around it: since, before, until, between … and …, two days before …

Pure. The present is when the question is asked, and is passed in. Days are those of the person's zone; results are UTC,
`start` counts and `end` does not. Code, paths and file names are not read.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo

from recollect.recall.stretches import DAY, SLACKS, Kind, Stretch, around, half, shift
from recollect.recall.time_patterns import NUMBER, UNIT, amounts, unit_of
from recollect.recall.time_words import RULES, Resolve

LONGEST_TEXT = 4_000
"""Characters of a question that are read. What is longer has something pasted into it."""
BEGINNING_YEAR = 1900
"""Where "before …" begins: earlier than any message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    start: datetime
    end: datetime
    text: str
    span: tuple[int, int]
    kind: Kind
    """named: a date, a month, a holiday. relative: counted from now. open: with one end, as after "since"."""
    slack: timedelta
    """How far outside it a moment still counts, as people round and remember dimly."""


@dataclass(frozen=True, slots=True)
class _Found:
    """One expression, and how to see it from another present."""

    start: int
    end: int
    stretches: list[Stretch]
    match: re.Match[str]
    resolve: Resolve

    def seen_from(self, now: datetime) -> list[Stretch]:
        return _resolved(self.resolve, self.match, now)


@dataclass(frozen=True, slots=True)
class _Phrase:
    start: int
    end: int
    stretches: list[Stretch]


def find_periods(text: str, now: datetime, zone: tzinfo = UTC) -> list[Period]:
    """The times that a text names, in its order. A date that can be read in two ways gives two with one span."""
    readable = _without_code(text[:LONGEST_TEXT])
    here = now.astimezone(zone)
    expressions = _seen_from_date(readable, _expressions(readable, here))
    periods: list[Period] = []
    for phrase in _phrases(readable, expressions, here):
        for stretch in phrase.stretches:
            period = _period(stretch, text, phrase)
            if period:
                periods.append(period)
    return periods


_PAST_WORDS = re.compile(
    r"\bwhen\s+(?:did|was|were|had)\b|\bhow\s+(?:long|many\s+\w+)\s+ago\b|\b(?:used\s+to|back\s+(?:then|when|in)|originally"
    r"|at\s+first|in\s+the\s+past|at\s+(?:the|that)\s+time|first\s+time|previously|years\s+ago)\b"
    r"|\bwh(?:at|ich)\s+(?:day|date|week|month|year)\s+(?:did|was|were)\b",
    re.IGNORECASE,
)


def asks_about_past(text: str, now: datetime, zone: tzinfo = UTC) -> bool:
    """Whether it asks for a time that is over, or when something was: then the new is no better than the old (R3).

    Today, this week, recently and "since June" are not over.
    """
    if _PAST_WORDS.search(_without_code(text[:LONGEST_TEXT])):
        return True
    today = around(now.astimezone(zone), "day").start
    return any(period.end <= today for period in find_periods(text, now, zone))


# What is not prose

_QUOTED_CODE = re.compile(r"```.*?(?:```|$)|`[^`\n]*`", re.DOTALL)
_WORD = re.compile(r"\S+")
_GAP = re.compile(r"\s{9,}")
_FILE_NAME = re.compile(r"[\w.-]*\.[a-z]\w{0,4}", re.IGNORECASE)
_PATH_START = re.compile(r"(?:~|\.{0,2})[/\\]|https?:|--?[a-z]", re.IGNORECASE)
_IN_CODE = re.compile(r"[=_]|::|->|\w\(")


def _without_code(text: str) -> str:
    """The text with code, paths, file names and wide gaps blanked; every other character keeps its place."""
    return _GAP.sub(_blank, _WORD.sub(_prose, _QUOTED_CODE.sub(_blank, text)))


def _blank(match: re.Match[str]) -> str:
    return "\x00" * len(match[0])


def _prose(match: re.Match[str]) -> str:
    word = match[0].strip(".,;:!?()[]{}\"'“”‘’…")
    slashes = word.count("/") + word.count("\\")
    is_path = _PATH_START.match(word) or (slashes and re.search("[A-Za-z]", word) and (slashes > 1 or "." in word))
    return _blank(match) if is_path or _FILE_NAME.fullmatch(word) or _IN_CODE.search(word) else match[0]


# Expressions


def _expressions(text: str, now: datetime) -> list[_Found]:
    """Those that do not overlap, in the order of the text; of two at one place the longer."""
    candidates = [
        (match.start(), -len(match[0]), match, resolve) for rule, resolve in RULES for match in rule.finditer(text)
    ]
    candidates.sort(key=lambda candidate: candidate[:2])
    found: list[_Found] = []
    for start, _, match, resolve in candidates:
        if found and start < found[-1].end:
            continue
        stretches = _resolved(resolve, match, now)
        if stretches:
            found.append(_Found(start, match.end(), stretches, match, resolve))
    return found


def _resolved(resolve: Resolve, match: re.Match[str], now: datetime) -> list[Stretch]:
    """Nothing for 31 February, and for what lies outside the calendar."""
    try:
        return [stretch for stretch in resolve(match, now) if stretch.start < stretch.end]
    except (ValueError, OverflowError):
        return []


_ON = re.compile(r"\b(?:on|as\s+of)\s+(?:the\s+)?$", re.IGNORECASE)


def _seen_from_date(text: str, found: list[_Found]) -> list[_Found]:
    """`what she did last week, as she wrote on 20 March 2019`: beside such a day, the rest is meant from it."""
    for this in found:
        day = this.stretches[0]
        if day.kind == "named" and not day.floats and day.end - day.start <= DAY and _ON.search(text[: this.start]):
            others = [other for other in found if other.stretches[0].kind == "relative"]
            seen = {other.start: other.seen_from(day.start) for other in others}
            return [replace(other, stretches=seen.get(other.start) or other.stretches) for other in found]
    return found


# What stands around them

_LIGHT = r"(?:(?:the|in|on|at|about|around|roughly|sometime|of)\s+){0,3}"
_OPEN = re.compile(
    rf"\b(?P<word>since|until|till|up\s+to|before|prior\s+to|earlier\s+than|after|later\s+than|following|by)\s+{_LIGHT}$",
    re.IGNORECASE,
)
_OFFSET = re.compile(
    rf"\b(?:{NUMBER}\s+|the\s+)?{UNIT}\s+(?P<side>before|prior\s+to|after|following|of)\s+{_LIGHT}$", re.IGNORECASE
)
_BETWEEN = re.compile(rf"\bbetween\s+{_LIGHT}$", re.IGNORECASE)
_FROM = re.compile(rf"\bfrom\s+{_LIGHT}$", re.IGNORECASE)
_JOINS: list[tuple[re.Pattern[str] | None, re.Pattern[str]]] = [
    (_BETWEEN, re.compile(rf"\s*(?:and|&|to)\s+{_LIGHT}", re.IGNORECASE)),
    (_FROM, re.compile(rf"\s*(?:to|until|till|through|up\s+to|-|–)\s*{_LIGHT}", re.IGNORECASE)),
    (None, re.compile(r"\s*(?:–|-|through)\s*", re.IGNORECASE)),
]
_BESIDE = re.compile(rf"\s+(?P<side>before|prior\s+to|after|following)\s+{_LIGHT}", re.IGNORECASE)
_ONWARDS = re.compile(r"\s+(?:on|onwards?|forward)\b", re.IGNORECASE)
_ROUGHLY = re.compile(r"\b(?:around|about|roughly|circa|sometime)\s+(?:in\s+|on\s+)?(?:the\s+)?$", re.IGNORECASE)


def _phrases(text: str, found: list[_Found], now: datetime) -> list[_Phrase]:
    phrases: list[_Phrase] = []
    at = 0
    index = 0
    while index < len(found):
        this, following = found[index], found[index + 1] if index + 1 < len(found) else None
        before = text[at : this.start]
        joined = _joined(text, before, this, following) if following else None
        phrase = joined or _widened(text, before, this, now)
        phrases.append(phrase)
        at = phrase.end
        index += 2 if joined else 1
    return phrases


def _joined(text: str, before: str, this: _Found, following: _Found) -> _Phrase | None:
    """`between A and B`, `from A to B`, `the Friday before A`"""
    between = text[this.end : following.start]
    for opening, join in _JOINS:
        led = opening.search(before) if opening else None
        if (led or not opening) and join.fullmatch(between):
            start = this.start - (len(before) - led.start()) if led else this.start
            return _Phrase(start, following.end, _range(this, following))
    beside = _BESIDE.fullmatch(between)
    if beside and this.stretches[0].floats and this.stretches[0].kind == "relative":
        is_before = beside["side"].lower() in ("before", "prior to")
        return _Phrase(this.start, following.end, _beside(this, following.stretches[0], is_before))
    return None


def _beside(this: _Found, anchor: Stretch, is_before: bool) -> list[Stretch]:
    """The last Friday or weekend before a date, the first after it: what is meant when one stands on that date."""
    seen = this.seen_from(anchor.start) if is_before else this.seen_from(anchor.end + 6 * DAY)
    if is_before and seen and seen[0].end > anchor.start:
        seen = this.seen_from(anchor.start - DAY)
    return [replace(stretch, floats=False) for stretch in seen]


def _range(first: _Found, last: _Found) -> list[Stretch]:
    """From one to the other. A first one without a year is the latest before the last one: March to May 2022."""
    stretches: list[Stretch] = []
    for end in last.stretches:
        starts = first.seen_from(end.start) if first.stretches[0].floats else first.stretches
        for start in starts[:1]:
            low, high = sorted((start, end), key=lambda stretch: stretch.start)
            kind: Kind = "named" if start.kind == end.kind == "named" else "relative"
            slack = max(start.slack, end.slack)
            stretches.append(Stretch(start=low.start, end=max(low.end, high.end), slack=slack, kind=kind))
    return stretches


def _widened(text: str, before: str, this: _Found, now: datetime) -> _Phrase:
    """`since A`, `before A`, `two days before A`, `around A`, or A itself."""
    start = this.start - len(before)
    offset = _OFFSET.search(before)
    if offset:
        return _Phrase(start + offset.start(), this.end, _each(this, lambda stretch: _offset(stretch, offset)))
    opening = _OPEN.search(before)
    if opening:
        word = " ".join(opening["word"].lower().split())
        return _Phrase(start + opening.start(), this.end, _each(this, lambda stretch: _opened(stretch, word, now)))
    onwards = _ONWARDS.match(text, this.end)
    source = _FROM.search(before)
    if onwards and source:
        return _Phrase(
            start + source.start(), onwards.end(), _each(this, lambda stretch: _opened(stretch, "since", now))
        )
    if _ROUGHLY.search(before):
        return _Phrase(this.start, this.end, [replace(stretch, slack=2 * stretch.slack) for stretch in this.stretches])
    return _Phrase(this.start, this.end, this.stretches)


def _each(this: _Found, change: Callable[[Stretch], Stretch]) -> list[Stretch]:
    changed: list[Stretch] = []
    for stretch in this.stretches:
        try:
            changed.append(change(stretch))
        except (ValueError, OverflowError):
            continue
    return changed


def _opened(stretch: Stretch, word: str, now: datetime) -> Stretch:
    beginning = around(now, "day").start.replace(year=BEGINNING_YEAR, month=1, day=1)
    if word == "since":
        start, end = stretch.start, max(now, stretch.end)
    elif word in ("after", "later than", "following"):
        start = min(stretch.end, now - DAY) if stretch.start < now else stretch.end
        end = now if stretch.start < now else stretch.end + DAY
    else:
        start, end = beginning, stretch.start if word in ("before", "prior to", "earlier than") else stretch.end
    return replace(stretch, start=start, end=end, kind="open")


def _offset(stretch: Stretch, match: re.Match[str]) -> Stretch:
    """`two days before A`: that day. `the week before A`: all of it. `the week of A`: the one it lies in."""
    unit, side = unit_of(match), match["side"].lower()
    if side == "of":
        return around(stretch.start, unit, "named")
    sign = -1 if side in ("before", "prior to") else 1
    low, high = amounts(match["number"]) if match["number"] else (1, 1)
    origin = stretch.start if sign < 0 else stretch.end
    if unit == "weekend":
        found = around(shift(origin, "week", sign * high), unit, "named")
        nearer = around(origin, unit, "named")
        return nearer if high == 1 and (nearer.end <= origin if sign < 0 else nearer.start >= origin) else found
    if not match["number"] and unit != "day":
        ends = sorted((origin, shift(origin, unit, sign)))
        return replace(stretch, start=ends[0], end=ends[1], slack=SLACKS[unit], floats=False)
    last_day = stretch.start if sign < 0 else stretch.end - DAY
    ends = sorted((shift(last_day, unit, sign * low), shift(last_day, unit, sign * high)))
    wide = timedelta() if unit in ("day", "hour", "minute") else half(unit) / 2
    return replace(stretch, start=ends[0] - wide, end=ends[1] + DAY + wide, slack=max(SLACKS[unit], DAY), floats=False)


def _period(stretch: Stretch, text: str, phrase: _Phrase) -> Period | None:
    try:
        start, end = stretch.start.astimezone(UTC), stretch.end.astimezone(UTC)
        if end <= start:  # An hour that the clocks skipped.
            end = start + (stretch.end - stretch.start)
    except (ValueError, OverflowError):
        return None
    if end <= start:
        return None
    span = (phrase.start, phrase.end)
    return Period(start=start, end=end, text=text[span[0] : span[1]], span=span, kind=stretch.kind, slack=stretch.slack)
