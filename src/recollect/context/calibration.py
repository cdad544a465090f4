"""How many tokens a text really costs, learned from calls that were made.

`tokens.estimate` counts a token for every three bytes, which is safe for nearly every text and too much for most. Who
calls a model knows what it was billed for; `Usage` is one such call, kept as a run event by whoever makes it. Enough of
them for a model, and its own figure takes the place of the general one: a high one among the last, not their mean, so
that an estimate stays on the safe side. Each model has a tokenizer of its own, so none speaks for another.

A calibration is a value. Who keeps bytes stable keeps it too, and takes a new one when everything is built anew anyway.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from recollect.tokens import BYTES_PER_TOKEN

EVENT = "usage"
"""Name of the run event; its detail is that of `Usage`."""
LAST = 200
"""Calls of a model that are looked at: texts change with what one works on."""
FEWEST = 20
"""Below this, chance decides what a high figure is."""
QUANTILE_PERCENT = 95
SHORTEST_BYTES = 2_000
"""In a shorter call, what the provider adds of its own weighs more than the text."""
LEAST_TOKENS_PER_KILOBYTE = 200
"""Five bytes a token. Plain English comes to four and a half; less is a mistake of the count, not a thrifty model."""
MOST_TOKENS_PER_KILOBYTE = 1_000
"""A token for each byte. No text costs more; a call that did had images or tools that were not counted."""
READ = 2_000
"""Events read at once, of all models together."""

Recent = Callable[[int], Iterable[Mapping[str, object]]]
"""The details of the latest so many events of usage, the latest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """One call: what was sent, and what it was billed for."""

    model: str
    sent_bytes: int
    """All of it as UTF-8: system prompt, definitions of tools, messages."""
    input_tokens: int
    """Read from a cache, written to it or neither: they are all input."""

    def detail(self) -> dict[str, object]:
        return {"model": self.model, "bytes": self.sent_bytes, "tokens": self.input_tokens}


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """So many tokens for so many bytes."""

    tokens: int = 1
    per_bytes: int = BYTES_PER_TOKEN
    calls: int = 0
    """On which it rests. 0: none, it is the general estimate."""

    def estimate(self, text: str) -> int:
        """The same text always gives the same number; a text in two parts never less than the whole."""
        return self.of_bytes(len(text.encode("utf-8", "surrogatepass")))

    def of_bytes(self, number: int) -> int:
        return -(-number * self.tokens // self.per_bytes)


UNCALIBRATED = Calibration()


def calibration(recent: Recent, model: str = "") -> Calibration:
    """What the latest calls of this model tell. Without a model, or with one that was called too seldom: the general
    estimate. Without a name, the costliest of all models that were called: any of them may be the next."""
    by_model: dict[str, list[Usage]] = {}
    for detail in recent(READ):
        usage = usage_of(detail)
        if usage:
            by_model.setdefault(usage.model, []).append(usage)
    if model:
        return calibrated(by_model.get(model, []))
    found = [calibrated(usages) for usages in by_model.values()]
    return max(found, key=lambda one: one.of_bytes(1_000_000), default=UNCALIBRATED)


def calibrated(usages: Iterable[Usage]) -> Calibration:
    """From calls of one model, the latest first."""
    telling = [usage for usage in usages if usage.sent_bytes >= SHORTEST_BYTES and usage.input_tokens > 0][:LAST]
    if len(telling) < FEWEST:
        return UNCALIBRATED
    costs = sorted(-(-usage.input_tokens * 1_000 // usage.sent_bytes) for usage in telling)
    high = costs[-(-len(costs) * QUANTILE_PERCENT // 100) - 1]
    bounded = min(max(high, LEAST_TOKENS_PER_KILOBYTE), MOST_TOKENS_PER_KILOBYTE)
    return Calibration(tokens=bounded, per_bytes=1_000, calls=len(telling))


def usage_of(detail: Mapping[str, object]) -> Usage | None:
    """A call as it was kept; nothing when the detail is none, as others may write events too."""
    model, sent_bytes, input_tokens = detail.get("model"), detail.get("bytes"), detail.get("tokens")
    if not isinstance(model, str) or not isinstance(sent_bytes, int) or not isinstance(input_tokens, int):
        return None
    return Usage(model=model, sent_bytes=sent_bytes, input_tokens=input_tokens)
