"""Which state of a thing somebody saw: the number of its version, and a mark of what stands in it.

The number alone does not say it. Forgetting takes words out of a version, which keeps its number; and where the latest
version of a record goes, the next one has that number again.
"""

import hashlib
from dataclasses import dataclass

MARK_CHARACTERS = 8


@dataclass(frozen=True, slots=True)
class Seen:
    number: int
    """0: there is none."""
    mark: str = ""
    """Empty where there is none."""

    def __str__(self) -> str:
        return f"{self.number}-{self.mark}" if self.mark else str(self.number)


NOTHING = Seen(0)


def mark_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:MARK_CHARACTERS]


def is_as_seen(expected: int | Seen, now: Seen) -> bool:
    """`expected`: what was seen, or the number of it from who knows no more."""
    return expected == (now if isinstance(expected, Seen) else now.number)
