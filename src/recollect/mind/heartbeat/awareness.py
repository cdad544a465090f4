"""Whether the agent may write first now: rules that no model is asked about. Pure.

Each rule is always judged, in one fixed order, and says why in one sentence: who asks for an explanation sees all of
them. A time that lies in the future, because the clock was set back, counts as now: it never allows more.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from recollect.clock import local, parse_time
from recollect.errors import Invalid
from recollect.recall.words import document_terms, query_terms

ACTIVE_MINUTES = 45
"""After the last word of anybody a conversation still goes on: an answer may come yet."""
RECENT_HOURS = 4
"""Between two messages that nobody asked for, even when the first was answered at once."""
UNANSWERED_HOURS = 12
"""After one that was not answered; twice as long after each further one."""
MOST_UNANSWERED = 5
"""Who has not answered so many hears no more until they speak."""

LEAST_STEM = 6
"""Characters: a shorter word begins many others."""
_GERMAN = ("der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "mein", "meine", "meinen", "meiner")
_ROMANCE = ("la", "le", "les", "un", "une", "mon", "ma", "mes", "el", "los", "las", "una", "mi", "mis")
_ARTICLES = frozenset((*_GERMAN, *_ROMANCE))

_HOURS = re.compile(r"\s*(\d{1,2}):(\d{2})\s*[-–]\s*(\d{1,2}):(\d{2})\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outreach:
    """A message with which the agent wrote first."""

    turn: int
    at: datetime
    is_answered: bool
    topic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietHours:
    """From the first to before the second, by the clock on the person's wall; over midnight when it is the later."""

    start: time
    end: time

    @classmethod
    def parse(cls, text: str) -> "QuietHours | None":
        """As it is written in the settings. Empty: there are none."""
        if not text.strip():
            return None
        found = _HOURS.fullmatch(text)
        try:
            if found is None:
                raise ValueError
            start_hour, start_minute, end_hour, end_minute = (int(number) for number in found.groups())
            if (end_hour, end_minute) == (24, 0):
                end_hour = 0
            quiet = cls(start=time(start_hour, start_minute), end=time(end_hour, end_minute))
        except ValueError:
            raise Invalid(
                f"heartbeat.quiet_hours is {text[:100]!r}, which are no hours of a day. "
                "Write from and to, such as 22:00-08:00, or nothing if there are none."
            ) from None
        if quiet.start == quiet.end:
            raise Invalid(
                f"heartbeat.quiet_hours is {text[:100]!r}: they end when they begin. Write nothing if there are none; "
                "if it shall never write first, set heartbeat.most_per_day to 0."
            )
        return quiet

    def contains(self, moment: datetime) -> bool:
        """`moment`: in the person's zone."""
        shown = moment.time()
        if self.start < self.end:
            return self.start <= shown < self.end
        return shown >= self.start or shown < self.end

    def end_after(self, moment: datetime) -> datetime:
        """When those end that contain this moment."""
        day = moment.date() + timedelta(days=int(self.start > self.end and moment.time() >= self.start))
        return _shown_at(day, self.end, moment)

    def __str__(self) -> str:
        return f"{self.start:%H:%M} to {self.end:%H:%M}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    now: datetime
    """In the person's zone."""
    spoke_at: datetime | None
    """When the person last said something to the agent."""
    last_word_at: datetime | None
    """When anybody last said something in that conversation."""
    outreaches: tuple[Outreach, ...]
    """The newest first."""
    is_turn_open: bool
    waiting: int
    """Messages that are not answered yet."""
    undelivered: int
    """Outreaches that did not go out yet."""
    has_place: bool
    """There is somewhere to write to."""
    paused_since: str = ""
    not_before: datetime | None = None
    """So long holds a "not now"."""
    is_unwelcome: bool = False
    """The person asked never to be written to first."""
    unwelcome_topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    quiet: QuietHours | None
    most_per_day: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    rule: str
    is_allowed: bool
    reason: str
    until: datetime | None = None
    """When this rule allows again by itself. None: nobody knows, or it does now."""


def judge(facts: Facts, limits: Limits) -> tuple[Verdict, ...]:
    """By every rule, in their order."""
    return tuple(rule(facts, limits) for rule in RULES)


def barred(topic: str, message: str, unwelcome_topics: Sequence[str]) -> str:
    """The unwelcome topic that this message touches: all its telling words are in it. Empty: none."""
    said = set(document_terms(f"{topic}\n{message}"))
    for unwelcome in unwelcome_topics:
        terms = _telling(unwelcome)
        if terms and all(_is_said(term, said) for term in terms):
            return unwelcome
    return ""


def subject_of(topic: str, message: str) -> str:
    """What of a topic a message is about, in its own words: a topic may be told in many ("Checking in on the hearing"),
    and what has to be said again to touch it are those that the message has too. Where it has none, all of it."""
    said = set(document_terms(message))
    telling = {term for term in _telling(topic) if _is_said(term, said)}
    shared = [word for word in topic.split() if not telling.isdisjoint(query_terms(word))]
    return " ".join(shared).strip(" .,:;!?\"'") or topic


def _telling(topic: str) -> list[str]:
    """Its words without articles, in the languages in which a wish is read, and without a compound whose parts are
    among them."""
    terms = [term for term in query_terms(topic) if "-" not in term]
    return [term for term in terms if term not in _ARTICLES] or terms


def _is_said(term: str, said: Collection[str]) -> bool:
    """Only English words come in one form. Of others, a longer word that begins so is taken for the same."""
    return term in said or (len(term) >= LEAST_STEM and any(word.startswith(term) for word in said))


# The rules


def _paused(facts: Facts, limits: Limits) -> Verdict:
    if not facts.paused_since:
        return _allowed("paused", "Nothing is paused.")
    stored = parse_time(facts.paused_since)
    since = f"{local(stored):%Y-%m-%d %H:%M}" if stored else facts.paused_since
    return _denied("paused", f"It is paused since {since}; `recollect resume` goes on.")


def _turn(facts: Facts, limits: Limits) -> Verdict:
    if facts.is_turn_open:
        return _denied("turn", "A turn is in flight.")
    if facts.waiting > 0:
        return _denied("turn", f"{_messages(facts.waiting, 'of the person')} not answered yet.")
    return _allowed("turn", "No turn is in flight, and nobody waits for an answer.")


def _place(facts: Facts, limits: Limits) -> Verdict:
    if facts.has_place:
        return _allowed("place", "There is a place to write to.")
    return _denied(
        "place",
        "There is no place that takes a message: `recollect channels` tells which there are, and how to make one.",
    )


def _unwelcome(facts: Facts, limits: Limits) -> Verdict:
    if facts.is_unwelcome:
        return _denied("unwelcome", "The person asked not to be written to first.")
    return _allowed("unwelcome", "The person did not ask to be left alone for good.")


def _not_now(facts: Facts, limits: Limits) -> Verdict:
    if facts.not_before and _is_later(facts.not_before, facts.now):
        until = _in_zone(facts.not_before, facts.now)
        return _denied("not now", f"The person asked not to be written to before {_shown(until, facts.now)}.", until)
    return _allowed("not now", "No request to wait holds now.")


def _quiet_hours(facts: Facts, limits: Limits) -> Verdict:
    if limits.quiet is None:
        return _allowed("quiet hours", "There are no quiet hours.")
    hours = f"The quiet hours are {limits.quiet}, and it is {facts.now:%H:%M}."
    if limits.quiet.contains(facts.now):
        return _denied("quiet hours", hours, limits.quiet.end_after(facts.now))
    return _allowed("quiet hours", hours)


def _active(facts: Facts, limits: Limits) -> Verdict:
    if facts.last_word_at is None:
        return _allowed("active", "Nobody has said anything yet.")
    ago = _ago(facts.last_word_at, facts.now)
    reason = f"The last word was said {_duration(ago)} ago; a conversation rests after {ACTIVE_MINUTES} minutes."
    return _distant("active", reason, facts, facts.last_word_at, timedelta(minutes=ACTIVE_MINUTES))


def _undelivered(facts: Facts, limits: Limits) -> Verdict:
    if facts.undelivered > 0:
        return _denied("undelivered", f"{_messages(facts.undelivered, 'with which it wrote first')} still to go out.")
    return _allowed("undelivered", "All that it wrote first has gone out.")


def _recent(facts: Facts, limits: Limits) -> Verdict:
    if not facts.outreaches:
        return _allowed("recent", "It has not written first yet.")
    last = facts.outreaches[0].at
    reason = f"It last wrote first {_duration(_ago(last, facts.now))} ago; {RECENT_HOURS} hours must lie between."
    return _distant("recent", reason, facts, last, timedelta(hours=RECENT_HOURS))


def _unanswered(facts: Facts, limits: Limits) -> Verdict:
    number = unanswered(facts)
    if not number:
        return _allowed("unanswered", "Nothing that it wrote first waits for an answer.")
    said = "The last message with which it wrote first is not answered"
    if number > 1:
        said = f"The last {number} messages with which it wrote first are not answered"
    if number >= MOST_UNANSWERED:
        return _denied("unanswered", f"{said}: it waits until the person speaks.")
    hours = UNANSWERED_HOURS * 2 ** (number - 1)
    last = facts.outreaches[0].at
    reason = f"{said}; it last wrote {_duration(_ago(last, facts.now))} ago, and {hours} hours must lie between."
    return _distant("unanswered", reason, facts, last, timedelta(hours=hours))


def unanswered(facts: Facts) -> int:
    """How many it wrote first since the person last spoke."""
    number = 0
    for outreach in facts.outreaches:
        is_over = facts.spoke_at and _ago(facts.spoke_at, facts.now) < _ago(outreach.at, facts.now)
        if outreach.is_answered or is_over:
            break
        number += 1
    return number


def _per_day(facts: Facts, limits: Limits) -> Verdict:
    today = facts.now.date()
    number = sum(_in_zone(outreach.at, facts.now).date() >= today for outreach in facts.outreaches)
    if limits.most_per_day <= 0:
        return _denied("per day", "heartbeat.most_per_day is 0: it never writes first.")
    times = "once" if number == 1 else f"{number} times"
    reason = f"It wrote first {times} today; {limits.most_per_day} a day are the most."
    if number >= limits.most_per_day:
        return _denied("per day", reason, _shown_at(today + timedelta(days=1), time(), facts.now))
    return _allowed("per day", reason)


RULES: tuple[Callable[[Facts, Limits], Verdict], ...] = (
    _paused,
    _turn,
    _place,
    _unwelcome,
    _not_now,
    _quiet_hours,
    _active,
    _undelivered,
    _recent,
    _unanswered,
    _per_day,
)


def _allowed(rule: str, reason: str) -> Verdict:
    return Verdict(rule=rule, is_allowed=True, reason=reason)


def _denied(rule: str, reason: str, until: datetime | None = None) -> Verdict:
    return Verdict(rule=rule, is_allowed=False, reason=reason, until=until)


def _distant(rule: str, reason: str, facts: Facts, since: datetime, least: timedelta) -> Verdict:
    """Allowed when so much time has passed."""
    left = least - _ago(since, facts.now)
    if left <= timedelta():
        return _allowed(rule, reason)
    return _denied(rule, reason, _in_zone(facts.now.astimezone(UTC) + left, facts.now))


# Times. Two of one zone are subtracted and compared by what they show, so it is done in UTC


def _ago(moment: datetime, now: datetime) -> timedelta:
    return max(now.astimezone(UTC) - moment.astimezone(UTC), timedelta())


def _is_later(moment: datetime, other: datetime) -> bool:
    return moment.astimezone(UTC) > other.astimezone(UTC)


def _in_zone(moment: datetime, now: datetime) -> datetime:
    return moment.astimezone(UTC).astimezone(now.tzinfo)


def _shown_at(day: date, shown: time, now: datetime) -> datetime:
    """The next moment at which the clock on the wall shows this."""
    first = datetime.combine(day, shown, tzinfo=now.tzinfo)
    moment = first if _is_later(first, now) else first.replace(fold=1)
    return _in_zone(moment, now)


# Words


def _messages(number: int, which: str) -> str:
    return f"One message {which} is" if number == 1 else f"{number} messages {which} are"


def _shown(moment: datetime, now: datetime) -> str:
    return f"{moment:%H:%M}" if moment.date() == now.date() else f"{moment:%Y-%m-%d %H:%M}"


def _duration(length: timedelta) -> str:
    minutes = int(length.total_seconds() // 60)
    for size, name in ((24 * 60, "day"), (60, "hour"), (1, "minute")):
        number = minutes // size
        if number > 1 or (number == 1 and size == 1):
            return f"{number} {name}{'s' if number > 1 else ''}"
    return "less than a minute"
