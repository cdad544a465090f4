"""Keeping the provider's cache from lapsing in a silence, as long as that is cheaper than to fill it again.

A provider forgets a prefix some time after its last use. Reading it costs a small part of its price, writing it anew
more than all of it. So it is touched shortly before it would lapse, for as many hours as the settings allow: with
Anthropic's prices one hour costs a fortieth to a twentieth of what writing it anew does.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

TOUCHED_AT = 0.92
"""Of the lifetime: late, yet before its end, whatever a request takes."""
LEAST_TOKENS = 4_096
"""A shorter prefix is not worth a request; many are not even kept."""


@dataclass(slots=True, kw_only=True)
class Warmth:
    """What is known of the provider's cache of this conversation."""

    lifetime_seconds: float = 0
    """0: nobody knows how long it is kept."""
    touched_at: datetime | None = None
    spoken_at: datetime | None = None
    """When somebody last said something, rather than that it was only touched."""
    tokens: int = 0

    def spoken(self, now: datetime, tokens: int) -> None:
        self.touched_at = self.spoken_at = now
        self.tokens = tokens

    def is_warm(self, now: datetime) -> bool:
        if self.touched_at is None or not self.lifetime_seconds:
            return False
        return abs(now - self.touched_at) < timedelta(seconds=self.lifetime_seconds)

    def due_at(self, keep_hours: float) -> datetime | None:
        """When it should be touched next. None: not at all."""
        if self.touched_at is None or self.spoken_at is None or not self.lifetime_seconds or not keep_hours:
            return None
        if self.tokens < LEAST_TOKENS:
            return None
        due = self.touched_at + timedelta(seconds=self.lifetime_seconds * TOUCHED_AT)
        return due if due <= self.spoken_at + timedelta(hours=keep_hours) else None
