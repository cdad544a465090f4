"""Times that stay out of history: pauses, and private stretches of a session."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A time that stays out: of every session (session_id empty), or of one. No end: it still lasts."""

    session_id: str
    starts_at: str
    ends_at: str | None
    reason: str

    def covers(self, session_id: str, at: str) -> bool:
        if self.session_id and self.session_id != session_id:
            return False
        return self.starts_at <= at and (self.ends_at is None or at <= self.ends_at)
