"""A provider's prompt cache: what was marked once and begins the same again is read, not paid in full.

- What is kept ends at a mark; a request reads at its own marks, and up to `LOOK_BACK` blocks before each. What was
  never marked is never read.
- It is kept for five minutes or an hour from its last use, by the clock of the server, and can be read as soon as the
  answer to the request that brought it has begun (`begin`).
- Tools, system, messages, in this order: a change makes everything behind it new. Another model makes all of it new,
  and a setting such as `thinking` the messages.

`log` tells for each request what came of it and why it was not more.
"""

import hashlib
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any

from recollect.clock import Clock, system_clock
from recollect.testing.anthropic_conversation import Piece, field_of, hash_of
from recollect.testing.anthropic_models import ModelCard

LOOK_BACK = 20
"""Blocks that are looked at from a mark backwards, its own among them."""
LIFETIMES = {"5m": timedelta(minutes=5), "1h": timedelta(hours=1)}
LONG_AGO = datetime.min.replace(tzinfo=UTC)
MOST_ENTRIES = 10_000
"""When there are more, those that are over are dropped."""
REMEMBERED_PROMPTS = 8
"""For `CacheUse.missed`: a request is compared with so many before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputTokens:
    fresh: int
    read: int = 0
    written_5m: int = 0
    written_1h: int = 0

    @property
    def written(self) -> int:
        return self.written_5m + self.written_1h

    @property
    def all(self) -> int:
        return self.fresh + self.read + self.written

    def as_json(self) -> dict[str, Any]:
        return {
            "input_tokens": self.fresh,
            "cache_read_input_tokens": self.read,
            "cache_creation_input_tokens": self.written,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.written_5m,
                "ephemeral_1h_input_tokens": self.written_1h,
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheUse:
    """One line of the log."""

    number: int
    """Of the request (`Request.number`). A request that compacts at its threshold has two lines."""
    read: int
    written: int
    fresh: int
    missed: str
    """Why not more was read. Empty: there was no more. Else `unmarked`, `short` (for this model), `first`, `expired`,
    `too far` (more than `LOOK_BACK` blocks before a mark) or such as `changed at messages[3].content[0]`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What is looked up."""

    settings: dict[str, str]
    """The hash of each that is part of what is kept."""
    opening: int
    """Pieces before the messages."""
    places: Sequence[str]
    prefixes: Sequence[bytes]
    """The hash of all up to and with each piece."""
    totals: Sequence[int]
    """The tokens of the same."""
    marks: Sequence[tuple[int, str]]
    """Number of a piece, and for how long: `5m` or `1h`."""
    least_tokens: int

    @classmethod
    def of(cls, body: dict[str, Any], card: ModelCard, pieces: Sequence[Piece]) -> "Prompt":
        return cls(
            settings=_settings_of(body, card),
            opening=sum(piece.place in ("tools", "system") for piece in pieces),
            places=[piece.place for piece in pieces],
            prefixes=_running([piece.hash for piece in pieces]),
            totals=list(accumulate(piece.tokens for piece in pieces)),
            marks=[(at, str(piece.mark.get("ttl") or "5m")) for at, piece in enumerate(pieces) if piece.mark],
            least_tokens=card.least_cached_tokens,
        )

    def key(self, at: int) -> bytes:
        names = ALL_NEW if at < self.opening else ALL_NEW + MESSAGES_NEW
        return self.prefixes[at] + "".join(self.settings[name] for name in names).encode()

    def tokens(self, at: int) -> int:
        return self.totals[at] if at >= 0 else 0

    @property
    def kept(self) -> list[tuple[int, str]]:
        """The marks that are long enough."""
        return [(at, ttl) for at, ttl in self.marks if self.totals[at] >= self.least_tokens]


ALL_NEW = ("model", "speed", "output_config.format")
"""Of another model, or with another format in the prompt, nothing is the same."""
MESSAGES_NEW = ("thinking", "tool_choice", "output_config.effort")
"""Tools and system prompt stay. What is said of effort differs: here it counts, so that nobody relies on it."""


def _settings_of(body: dict[str, Any], card: ModelCard) -> dict[str, str]:
    output, thinking = field_of(body, "output_config"), field_of(body, "thinking")
    values = {
        "model": card.id,
        "speed": body.get("speed"),
        "output_config.format": output.get("format"),
        "output_config.effort": output.get("effort"),
        "thinking": [thinking.get("type"), thinking.get("budget_tokens")],
        "tool_choice": body.get("tool_choice") or {"type": "auto"},
    }
    return {name: hash_of(value) for name, value in values.items()}


def _running(hashes: list[str]) -> list[bytes]:
    running = hashlib.sha256()
    found: list[bytes] = []
    for one in hashes:
        running.update(f"{one}\n".encode())
        found.append(running.copy().digest())
    return found


@dataclass(slots=True, kw_only=True)
class _Entry:
    lifetime: timedelta
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a request finds. Nothing comes of it before its answer begins."""

    number: int
    prompt: Prompt
    hits: Sequence[int]
    """The pieces at which something was read; refreshed when the answer begins."""
    tokens: InputTokens
    missed: str


class PromptCache:
    def __init__(self, clock: Clock = system_clock) -> None:
        self.log: list[CacheUse] = []
        """In the order in which answers began; requests that were refused are not in it."""
        self._clock = clock
        self._entries: dict[bytes, _Entry] = {}
        self._recent: deque[Prompt] = deque(maxlen=REMEMBERED_PROMPTS)
        self._lock = threading.Lock()

    def clear(self) -> None:
        """All of it is over, whatever the clock says."""
        with self._lock:
            for entry in self._entries.values():
                entry.until = LONG_AGO

    def look(self, number: int, prompt: Prompt) -> Look:
        with self._lock:
            now = self._clock()
            found = [self._look_back(prompt, at, now) for at, _ in prompt.marks]
            hits = [at for at in found if at is not None]
            reached = max(hits, default=-1)
            missed = self._why_not_more(prompt, reached, now)
        tokens = _split(prompt, reached)
        return Look(number=number, prompt=prompt, hits=hits, tokens=tokens, missed=missed)

    def begin(self, look: Look) -> None:
        """The answer begins: what was read lives on, what is new can be read."""
        prompt, tokens = look.prompt, look.tokens
        with self._lock:
            now = self._clock()
            for at in look.hits:
                if entry := self._entries.get(prompt.key(at)):
                    entry.until = now + entry.lifetime
            for at, ttl in prompt.kept:
                if not self._is_alive(prompt.key(at), now):
                    self._entries[prompt.key(at)] = _Entry(lifetime=LIFETIMES[ttl], until=now + LIFETIMES[ttl])
            if len(self._entries) > MOST_ENTRIES:
                self._entries = {key: entry for key, entry in self._entries.items() if entry.until > now}
            if prompt.kept:
                self._recent.append(prompt)
            self.log.append(
                CacheUse(
                    number=look.number,
                    read=tokens.read,
                    written=tokens.written,
                    fresh=tokens.fresh,
                    missed=look.missed,
                )
            )

    def _is_alive(self, key: bytes, now: datetime) -> bool:
        entry = self._entries.get(key)
        return entry is not None and entry.until > now

    def _look_back(self, prompt: Prompt, mark: int, now: datetime) -> int | None:
        positions = range(mark, max(-1, mark - LOOK_BACK), -1)
        return next((at for at in positions if self._is_alive(prompt.key(at), now)), None)

    def _why_not_more(self, prompt: Prompt, reached: int, now: datetime) -> str:
        if not prompt.marks:
            return "unmarked"
        if not prompt.kept:
            return "short"
        if any(self._is_alive(prompt.key(at), now) for at in range(reached + 1, len(prompt.places))):
            return "too far"
        nearest, shared = self._nearest(prompt)
        if nearest is None:
            return "first"
        lost = [at for at, _ in nearest.kept if reached < at < shared]
        if changed := _changed_setting(prompt, nearest, lost):
            return f"changed at {changed}"
        if lost:
            return "expired"
        if any(at >= shared for at, _ in nearest.kept) and shared < len(prompt.places):
            return f"changed at {prompt.places[shared]}"
        return ""

    def _nearest(self, prompt: Prompt) -> tuple[Prompt | None, int]:
        """Of the last prompts that kept something the one that is most like this, and how many pieces both begin with.
        None: there was nothing like it, not even for its model."""
        best, most = None, (0, -len(prompt.settings))
        for other in self._recent:
            likeness = (_shared(prompt, other), -len(_changed(prompt, other)))
            is_alike = likeness[0] or "model" not in _changed(prompt, other)
            if is_alike and likeness >= most:
                best, most = other, likeness
        return best, most[0]


def _split(prompt: Prompt, reached: int) -> InputTokens:
    read = done = prompt.tokens(reached)
    written = {"5m": 0, "1h": 0}
    for at, ttl in prompt.kept:
        written[ttl] += max(0, prompt.totals[at] - done)
        done = max(done, prompt.totals[at])
    everything = prompt.tokens(len(prompt.totals) - 1)
    return InputTokens(fresh=everything - done, read=read, written_5m=written["5m"], written_1h=written["1h"])


def _shared(one: Prompt, other: Prompt) -> int:
    """Pieces that both begin with."""
    low, high = 0, min(len(one.prefixes), len(other.prefixes))
    while low < high:
        middle = (low + high + 1) // 2
        if one.prefixes[middle - 1] == other.prefixes[middle - 1]:
            low = middle
        else:
            high = middle - 1
    return low


def _changed(one: Prompt, other: Prompt) -> list[str]:
    return [name for name in one.settings if one.settings[name] != other.settings[name]]


def _changed_setting(prompt: Prompt, nearest: Prompt, lost: list[int]) -> str:
    """The setting for which something of the nearest was not read."""
    for name in _changed(prompt, nearest):
        if any(name in ALL_NEW or at >= prompt.opening for at in lost):
            return name
    return ""
