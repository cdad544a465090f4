"""How long the channel waits for what, in one place: tests have less of it."""

from dataclasses import dataclass

MOST_DOUBLINGS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """All in seconds."""

    poll: float = 25.0
    """Telegram answers at once when somebody writes, and after so long when nobody does."""
    first: float = 1.0
    """After the first failure; doubled by each further one."""
    longest: float = 60.0
    refused: float = 600.0
    """After the token was refused: only a person changes that."""
    standby: float = 5.0
    """How often a program looks whether the one that reads for this bot is gone."""
    typing: float = 4.5
    """Telegram shows for five that somebody types."""

    def after(self, failures: int) -> float:
        return min(self.first * 2.0 ** min(max(failures - 1, 0), MOST_DOUBLINGS), self.longest)
