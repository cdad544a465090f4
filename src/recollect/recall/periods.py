"""What the times named in a question say about documents: how much a moment lies in one of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

import numpy as np
from numpy.typing import NDArray

from recollect.recall.time_phrases import Period, find_periods

LEAST_SLACK = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time in milliseconds since 1970, and how far outside it a moment still counts for half."""

    start: int
    end: int
    slack: int


def asked_periods(text: str, now: datetime, zone: tzinfo) -> list[Period]:
    """The times a question looks back to. Nothing was said yet in those that begin later: tonight, next week."""
    return [period for period in find_periods(text, now, zone) if period.start < now]


def spans(periods: Sequence[Period]) -> list[Span]:
    return [
        Span(_milliseconds(period.start), _milliseconds(period.end), _length(max(period.slack, LEAST_SLACK)))
        for period in periods
    ]


def inside(at: NDArray[np.int64], spans: Sequence[Span]) -> NDArray[np.float64]:
    """1 inside one of the spans, a half at its slack outside, then less and less; 0 where no time is known."""
    best = np.zeros(len(at))
    moments = at.astype(np.float64)
    for span in spans:
        away = np.maximum(span.start - moments, 0.0) + np.maximum(moments - span.end, 0.0)
        best = np.maximum(best, np.exp2(-away / span.slack))
    return best


def near(at: NDArray[np.int64], spans: Sequence[Span]) -> NDArray[np.bool_]:
    """Whether a moment counts for a half or more."""
    found = np.zeros(len(at), np.bool_)
    for span in spans:
        found |= (at >= span.start - span.slack) & (at <= span.end + span.slack)
    return found


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _length(duration: timedelta) -> int:
    return round(duration.total_seconds() * 1000)
