"""What is asked, checked: every mistake in a question gets an answer that names it and the next step."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from enum import StrEnum

from recollect.clock import local, parse_time
from recollect.errors import Invalid
from recollect.history import Author, Status
from recollect.recall.time_phrases import find_periods

MOST_HITS = 1_000
FIRST_YEAR, LAST_YEAR = 1900, 9000
SEARCHED_AUTHORS = (Author.USER, Author.ASSISTANT, Author.SUBAGENT)


class SearchType(StrEnum):
    CONVERSATIONS = "conversations"
    FACTS = "facts"
    BOTH = "both"
    NOTES = "notes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    text: str
    search_type: SearchType = SearchType.BOTH
    limit: int = 10
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    """What was known then: later things are left out."""
    authors: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    """Parts of their paths, as in `recollect conversations --project`."""
    statuses: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()
    """Their ids."""
    now: datetime
    """When it is asked: what "yesterday" counts from."""
    zone: tzinfo | None = None
    """Of the person who asks. None: that of this computer."""
    rerank: bool = False
    fast: bool = False
    """Leave out the deep model, which takes half a second to load."""
    explain: bool = False

    @property
    def can_find_notes(self) -> bool:
        """They have no author, and stand in no conversation."""
        is_about_chats = bool(self.authors or self.projects or self.statuses or self.conversations)
        return self.search_type in (SearchType.NOTES, SearchType.BOTH) and not is_about_chats

    @property
    def before(self) -> datetime | None:
        """What was said later is left out."""
        ends = [moment for moment in (self.until, self.as_of) if moment]
        return min(ends) if ends else None


def check(query: Query) -> None:
    if not isinstance(query.text, str) or not isinstance(query.limit, int):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid("A search needs a text and a limit that is a whole number.")
    if not query.text.strip():
        raise Invalid("There is nothing to search for. Give some words: recollect search 'what was decided about …'.")
    if not 1 <= query.limit <= MOST_HITS:
        raise Invalid(f"The limit is {query.limit}; it must be from 1 to {MOST_HITS}.")
    for name, moment in (("since", query.since), ("until", query.until), ("as of", query.as_of), ("now", query.now)):
        if moment is None:
            continue
        if not isinstance(moment, datetime) or moment.tzinfo is None:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise Invalid(f"The time in {name!r} has no zone. Give an aware datetime.")
        if not FIRST_YEAR <= moment.year <= LAST_YEAR:
            raise Invalid(
                f"The time in {name!r} is in the year {moment.year}. Give one from {FIRST_YEAR} to {LAST_YEAR}."
            )
    _check_order(query)
    for name, given in (("project", query.projects), ("conversation", query.conversations)):
        for value in given:
            if not value.isprintable():
                raise Invalid(f"No {name} is called {value!r}: it has characters that cannot be printed.")
    check_known("author", query.authors, [str(author) for author in SEARCHED_AUTHORS])
    check_known("status", query.statuses, [str(status) for status in Status])


def _check_order(query: Query) -> None:
    before = query.before
    if query.since and before and query.since >= before:
        raise Invalid(
            f"The time range is upside down: it begins at {_shown(query.since)} and ends at {_shown(before)}. "
            "Exchange --since and --until."
        )


def check_known(name: str, given: Sequence[str], known: Sequence[str]) -> None:
    for value in given:
        if value not in known:
            raise Invalid(f"No {name} is called {value!r}. Known: {', '.join(known)}.")


def _shown(moment: datetime) -> str:
    return f"{local(moment.astimezone(UTC).isoformat()):%Y-%m-%d %H:%M}"


def moment_of(text: str, now: datetime, zone: tzinfo, *, end: bool = False) -> datetime:
    """A moment as people give it on the command line, in UTC: `2026-05-01`, `2026-05-01T12:00`, "yesterday".

    A day without an hour, or a phrase, is a stretch of time: its beginning, or with `end` its end.
    """
    try:
        return _moment(text, now, zone, end=end).astimezone(UTC)
    except (OverflowError, ValueError):
        raise Invalid(f"{text[:100]!r} is at the edge of what calendars hold. Give a time between.") from None


def _moment(text: str, now: datetime, zone: tzinfo, *, end: bool) -> datetime:
    words = text.strip()
    day = None if any(sign in words for sign in "T :") else _day(words)
    if day:
        start = datetime(day.year, day.month, day.day, tzinfo=zone)
        return start + timedelta(days=1) if end and day != date.max else start
    parsed = _parsed(words, zone)
    if parsed:
        return parsed
    periods = find_periods(words, now, zone)
    if periods:
        return max(period.end for period in periods) if end else min(period.start for period in periods)
    raise Invalid(
        f"{text[:100]!r} is no time that is understood. Give a date such as 2026-05-01, a time such as "
        "2026-05-01T12:00, or words such as 'yesterday' or 'last week'."
    )


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _parsed(text: str, zone: tzinfo) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        stored = parse_time(text)
        return datetime.fromisoformat(stored) if stored else None
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)
