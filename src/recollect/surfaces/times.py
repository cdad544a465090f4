"""Moments as people give them, as stored times. Days and words are those of the person's zone."""

import re
from datetime import UTC, datetime, timedelta

from recollect.clock import LOCAL, local, to_text
from recollect.errors import Invalid

NOW = "now"
NEVER = "never"
_SPAN = re.compile(r"(?:in\s+)?(\d{1,5})\s*(hour|day|week)s?", re.IGNORECASE)


def beginning(text: str) -> str:
    """When the named day or stretch begins. Nothing given: nothing."""
    return to_text(_moment(text, end=False)) if text else ""


def end(text: str) -> str:
    """When it is over."""
    return to_text(_moment(text, end=True)) if text else ""


def last_moment(text: str) -> str:
    """The last millisecond of it, for questions: what holds until the end of a day holds on that day."""
    if not text:
        return ""
    moment = _moment(text, end=True)
    is_stretch = moment != _moment(text, end=False)
    return to_text(moment - timedelta(milliseconds=1) if is_stretch else moment)


def expiry(text: str) -> str:
    """The end of a day or stretch that is to come, `in 30 days`, `now`; empty for `never`."""
    words = text.strip().lower()
    if words in ("", NEVER):
        return ""
    if span := _SPAN.fullmatch(words):
        return to_text(datetime.now(UTC) + timedelta(**{f"{span[2]}s": int(span[1])}))
    found = end(text)
    if words != NOW and found <= to_text(datetime.now(UTC)):
        raise Invalid(f"{text[:100]!r} was over at {local(found):%Y-%m-%d %H:%M}. Give a time to come.")
    return found


def _moment(text: str, *, end: bool) -> datetime:
    from recollect.recall import moment_of

    here = datetime.now(LOCAL)
    if text.strip().lower() == NOW:
        return here.astimezone(UTC)
    return moment_of(text, here, LOCAL, end=end)
