"""Time: aware UTC inside, local only when shown.

Stored times are text of one fixed width, `2026-02-21T02:54:11.688Z`, so that they sort as text, read well
in SQL, and mean the same on both database engines.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from recollect.errors import Invalid

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    return datetime.now(UTC)


def to_text(moment: datetime) -> str:
    utc = moment.astimezone(UTC)
    return f"{utc.year:04d}-{utc:%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"


def from_text(text: str) -> datetime:
    return datetime.fromisoformat(text)


def parse_time(value: object) -> str | None:
    """Any usual spelling of a moment (ISO text, epoch seconds or milliseconds) as stored text, else None."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            if len(value) == 24 and value[4] == value[7] == "-" and value[10] + value[19] + value[23] == "T.Z":
                return value
            return to_text(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
        except (OverflowError, ValueError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        seconds = value / 1000 if abs(value) > 100_000_000_000 else value
        return to_text(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, ValueError, OSError):
        return None


def local(text: str) -> datetime:
    """A stored time in the zone of the person who looks at it."""
    moment = from_text(text)
    try:
        return moment.astimezone(_chosen)
    except (OverflowError, ValueError, OSError):  # A clock that says the year 1 or 9999.
        return moment


_chosen: ZoneInfo | None = None
"""The zone of the settings. None: that of this computer."""


def choose_zone(name: str) -> None:
    """From now on, and in the whole program, times are shown in this zone. Empty: in that of this computer."""
    global _chosen  # noqa: PLW0603  one person looks at one program
    _chosen = zone_named(name) if name else None


def zone_named(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Invalid(f"zone is {name!r}, which no zone is called. Write one such as Europe/Berlin.") from None


class LocalZone(tzinfo):
    """The zone of the person, asked anew for each moment: summer and winter differ."""

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        return None if dt is None else _placed(dt).utcoffset()

    def dst(self, dt: datetime | None) -> timedelta | None:
        return None

    def tzname(self, dt: datetime | None) -> str | None:
        return None if dt is None else _placed(dt).tzname()

    def fromutc(self, dt: datetime) -> datetime:
        shown = dt.replace(tzinfo=UTC).astimezone(_chosen)
        placed = shown.replace(tzinfo=self)
        # Of an hour that is shown twice, this computer's zone does not tell by itself which of the two it is.
        return placed if placed.utcoffset() == shown.utcoffset() else placed.replace(fold=1)


def _placed(dt: datetime) -> datetime:
    """What a clock on the wall showed, as a moment."""
    return dt.replace(tzinfo=_chosen) if _chosen else dt.replace(tzinfo=None).astimezone()


LOCAL = LocalZone()
