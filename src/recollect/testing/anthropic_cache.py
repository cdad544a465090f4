"""A prompt cache that is simulated: what was marked once and begins the same again is read, not paid in full.

Nothing expires by itself; `clear` stands for the five minutes.
"""

import threading
from dataclasses import dataclass
from typing import Any

from recollect.testing.anthropic_conversation import Piece, hash_of

LEAST_CACHED_TOKENS = 1_024
"""A shorter beginning is not kept. Some real models ask for more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputTokens:
    fresh: int
    read: int
    written_5m: int
    written_1h: int

    @property
    def all(self) -> int:
        return self.fresh + self.read + self.written_5m + self.written_1h

    def as_json(self) -> dict[str, Any]:
        return {
            "input_tokens": self.fresh,
            "cache_read_input_tokens": self.read,
            "cache_creation_input_tokens": self.written_5m + self.written_1h,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.written_5m,
                "ephemeral_1h_input_tokens": self.written_1h,
            },
        }


class PromptCache:
    def __init__(self) -> None:
        self._kept: set[str] = set()
        self._lock = threading.Lock()

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()

    def take(self, model: str, pieces: list[Piece]) -> InputTokens:
        """What of the pieces is read, what is written, what is neither; and keeps what is marked."""
        prefix, total, read, written_to = hash_of(model), 0, 0, 0
        marks: list[tuple[str, int, str]] = []
        with self._lock:
            last_mark = max((number for number, piece in enumerate(pieces) if piece.mark), default=-1)
            for number, piece in enumerate(pieces):
                prefix, total = hash_of(prefix, piece.hash), total + piece.tokens
                if number > last_mark:
                    continue
                if prefix in self._kept:
                    read = total
                if piece.mark and total >= LEAST_CACHED_TOKENS:
                    marks.append((prefix, total, str(piece.mark.get("ttl") or "5m")))
            written = {"5m": 0, "1h": 0}
            for kept, until, ttl in marks:
                written[ttl] += max(0, until - max(read, written_to))
                written_to = until
                self._kept.add(kept)
        fresh = total - read - sum(written.values())
        return InputTokens(fresh=fresh, read=read, written_5m=written["5m"], written_1h=written["1h"])
