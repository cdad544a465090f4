"""When the agent has a moment of its own: the times of a crontab in the person's zone, each late by a little. Pure.

A time that names its hour comes once on every day it names: when the clocks go forward over it, at the end of the gap;
when they go back, the first time. A time of every hour follows the clock on the wall, which then leaves an hour out or
shows it twice. How late a time is follows from its seed, so that two programs and a restart find the same moment.

What was missed while the computer slept is due once, and not for each time that was missed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

from cronsim import CronSim, CronSimError

from recollect.clock import LOCAL
from recollect.errors import Invalid

LONGEST_EXPRESSION = 200
"""Characters: what is longer was pasted by mistake."""
_FIELDS = 5
_SECOND = timedelta(seconds=1)
_STRIDE = timedelta(hours=12)
"""No zone changes its offset twice within it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    is_due: bool
    """A kept time has come."""
    due_at: datetime
    """The next one, to be kept: always later than now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    expression: str
    """Five fields that passed `check`."""
    jitter_minutes: float = 0
    seed: str = ""
    """Whose schedule it is: two with the same times need not be late by the same."""

    def next_after(self, moment: datetime) -> datetime:
        """The first time later than this moment, in UTC."""
        after = moment.astimezone(UTC)
        slots = _slots(self.expression, after - self._jitter - _SECOND)
        slot = next(slots)
        while True:
            following = next(slots)
            late = slot + self._lateness(slot, following)
            if late > after:
                return late
            slot = following

    def standing(self, now: datetime, kept_due: datetime | None, kept_schedule: str) -> Due:
        """What a kept time means now. Asked again with the `due_at` of the answer, it is due once."""
        now = now.astimezone(UTC)  # Two times of one zone are compared by what they show, not by when they are.
        following = self.next_after(now)
        if kept_due is None or kept_schedule != self.expression:
            return Due(is_due=False, due_at=following)
        if kept_due <= now:
            return Due(is_due=True, due_at=following)
        return Due(is_due=False, due_at=kept_due if self._is_credible(kept_due, now) else following)

    def _is_credible(self, kept_due: datetime, now: datetime) -> bool:
        """Whether a time that is still to come is one of this schedule, and no later than the next but one. A clock
        that was set back by less than its times are apart does not bring the last one again: a day has one diary entry.
        One that was set back by a year does not bring a year of silence."""
        slots = _slots(self.expression, now)
        _, second = next(slots), next(slots)
        return kept_due <= second + self._jitter and self.next_after(kept_due - _SECOND) == kept_due

    @property
    def _jitter(self) -> timedelta:
        return timedelta(minutes=self.jitter_minutes)

    def _lateness(self, slot: datetime, following: datetime) -> timedelta:
        """Less than the jitter and never into the next slot, in whole seconds, as times are kept."""
        digest = blake2b(f"{self.seed}|{slot:%Y-%m-%dT%H:%M:%S}".encode(), digest_size=6).digest()
        share = int.from_bytes(digest) / 2**48
        return timedelta(seconds=int(share * min(self._jitter, following - slot).total_seconds()))


def check(expression: str, setting: str) -> None:
    """Refuse what is no time of a crontab, by the name of the setting that holds it."""
    why = _mistake(expression)
    if why:
        shown = expression if len(expression) <= LONGEST_EXPRESSION else expression[:LONGEST_EXPRESSION] + "…"
        raise Invalid(
            f"{setting} is {shown!r}, which is no time of a crontab: {why}. Write five fields such as 0 * * * *."
        )


def _mistake(expression: str) -> str:
    fields = len(expression.split())
    if len(expression) > LONGEST_EXPRESSION:
        return f"it has {len(expression):,} characters"
    if fields != _FIELDS:
        return f"it has {fields} fields"
    try:
        next(CronSim(expression, datetime(2000, 1, 1)))  # noqa: DTZ001  any moment of any zone
    except CronSimError as error:
        return str(error).lower()
    except ValueError:
        return "a number in it is too large"
    except StopIteration:
        return "that never comes"
    return ""


# Times on the wall, as moments


def _slots(expression: str, after: datetime) -> Iterator[datetime]:
    """In UTC and in order, each later than the one before."""
    minute, hour, *_ = expression.split()
    is_by_the_wall = minute.startswith("*") or hour.startswith("*")
    return _shown_on_the_wall(expression, after) if is_by_the_wall else _once_a_day(expression, after)


def _once_a_day(expression: str, after: datetime) -> Iterator[datetime]:
    for slot in CronSim(expression, after.astimezone(LOCAL)):
        moment = slot.astimezone(UTC)
        if moment > after:  # In an hour that is shown twice, its first showing may be over.
            yield moment


def _shown_on_the_wall(expression: str, after: datetime) -> Iterator[datetime]:
    """From one change of the zone's offset to the next, in which wall time goes on evenly."""
    offset = _offset(after)
    while True:
        slot = next(CronSim(expression, (after + offset).replace(tzinfo=None))).replace(tzinfo=UTC) - offset
        change = _change(after + _SECOND, slot, offset)
        if change is None:
            yield slot
            after = slot
        else:
            after, offset = change - _SECOND, _offset(change)


def _change(start: datetime, end: datetime, offset: timedelta) -> datetime | None:
    """The first second, up to the end, at which the zone is not at this offset."""
    before, at = start, start
    while _offset(at) == offset:
        if at >= end:
            return None
        before, at = at, min(at + _STRIDE, end)
    while at - before > _SECOND:
        middle = before + (at - before) // 2
        before, at = (middle, at) if _offset(middle) == offset else (before, middle)
    return at.replace(microsecond=0)


def _offset(moment: datetime) -> timedelta:
    return moment.astimezone(LOCAL).utcoffset() or timedelta()
