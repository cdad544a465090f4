"""What calls of a model took: by day and in sum, in tokens and money; and the least that it could have been."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from recollect.llm.model import Usage
from recollect.llm.prices import price_of

LIFETIME = timedelta(hours=1)
MILLION = 1_000_000
ANSWER, COMPACTION, WARM = "answer", "compaction", "warm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    at: datetime
    day: int
    kind: str
    usage: Usage
    missed: str = ""
    """Why the cache did not give more, by the server's word."""
    head_tokens: int = 0
    """Of system prompt and tools, about."""
    follows_compaction: bool = False
    """The first with another summary at its beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Dollars for a million tokens."""

    fresh: float
    read: float
    written_5m: float
    written_1h: float
    output: float

    @classmethod
    def of(cls, model: str) -> "Prices":
        """From the table of the house, each by a call of a thousand tokens."""
        some = 1_000
        kinds = (
            Usage(input_tokens=some),
            Usage(input_tokens=some, cached_tokens=some),
            Usage(input_tokens=some, written_tokens=some),
            Usage(input_tokens=some, written_tokens=some, written_hour_tokens=some),
            Usage(output_tokens=some),
        )
        fresh, read, short, hour, output = (_price(model, one) for one in kinds)
        return cls(fresh=fresh, read=read, written_5m=short, written_1h=hour, output=output)


def _price(model: str, usage: Usage) -> float:
    found = price_of(model, usage)
    if found is None:
        raise SystemExit(f"The price table does not know {model}. Name another model.")
    return round(found * 1_000, 6)


def dollars(model: str, calls: Iterable[Call]) -> float:
    return sum(price_of(model, call.usage) or 0.0 for call in calls)


def sums(model: str, calls: Sequence[Call]) -> dict[str, Any]:
    """What these calls came to."""
    usage = sum((call.usage for call in calls), Usage())
    compacting = [call for call in calls if call.kind == COMPACTION]
    warming = [call for call in calls if call.kind == WARM]
    condensed = sum((call.usage for call in compacting), Usage())
    return {
        "requests": len(calls),
        "input_tokens": usage.input_tokens,
        "cached_tokens": usage.cached_tokens,
        "written_tokens": usage.written_tokens,
        "fresh_tokens": usage.input_tokens - usage.cached_tokens - usage.written_tokens,
        "output_tokens": usage.output_tokens,
        "cached_share": round(usage.cached_tokens / max(usage.input_tokens, 1), 4),
        "dollars": round(dollars(model, calls), 4),
        "compactions": len(compacting),
        "compaction_tokens": condensed.input_tokens + condensed.output_tokens,
        "compaction_cached_share": round(condensed.cached_tokens / max(condensed.input_tokens, 1), 4),
        "compaction_dollars": round(dollars(model, compacting), 4),
        "warm_requests": len(warming),
        "warm_dollars": round(dollars(model, warming), 4),
        "longest_request_tokens": max((call.usage.input_tokens for call in calls), default=0),
    }


def by_day(model: str, calls: Sequence[Call]) -> dict[int, dict[str, Any]]:
    days = sorted({call.day for call in calls})
    return {day: sums(model, [call for call in calls if call.day == day]) for day in days}


def late_against_early(days: dict[int, dict[str, Any]]) -> float | None:
    """What a day of the last third costs against one around the tenth. None: it was too short for that."""
    early = [one["dollars"] for day, one in days.items() if 6 <= day <= 15]
    late = [one["dollars"] for day, one in days.items() if 21 <= day <= 30]
    if len(early) < 10 or len(late) < 10:
        return None
    return round(sum(late) / sum(early), 3)


def misses(calls: Sequence[Call]) -> dict[str, int]:
    """Why requests read less than all of the one before, the places of changes left out."""
    kinds = Counter(_kind(call.missed) for call in calls if call.missed)
    return dict(kinds.most_common())


def _kind(missed: str) -> str:
    return missed.partition("[")[0] if missed.startswith("changed at messages[") else missed


# The bound


def least_dollars(model: str, calls: Sequence[Call]) -> dict[str, float]:
    """What the same requests would cost at best, with marks that live an hour.

    Every token is written once and read by each later request. In a silence that is longer than an hour the cache is
    touched or filled again, whichever is cheaper; somebody knew beforehand how long it would be. Behind a new summary
    all but system prompt and tools is written again, as it stands at another place. Answers and compactions cost what
    they cost.
    """
    prices = Prices.of(model)
    answers = [call for call in calls if call.kind == ANSWER]
    found = {"read": 0.0, "written": 0.0, "silences": 0.0}
    size, last = 0, answers[0].at
    for call in answers:
        kept = min(size, call.usage.input_tokens)
        if call.follows_compaction:
            kept = min(kept, call.head_tokens)
        touches = (call.at - last) // LIFETIME
        again = min(touches * prices.read, prices.written_1h - prices.read)
        found["read"] += kept * prices.read
        found["written"] += (call.usage.input_tokens - kept) * prices.written_1h
        found["silences"] += kept * again
        size, last = call.usage.input_tokens, call.at
    output = sum(call.usage.output_tokens for call in answers)
    found = {name: tokens / MILLION for name, tokens in found.items()}
    found["output"] = output * prices.output / MILLION
    found["compactions"] = dollars(model, [call for call in calls if call.kind == COMPACTION])
    return {name: round(money, 4) for name, money in (*found.items(), ("all", sum(found.values())))}
