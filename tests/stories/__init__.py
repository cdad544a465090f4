"""Made-up conversations that grow as those of each agent do, written in the true form of its files.

A story is told move by move. After every move it gives all its files as they would lie on the disk then; whoever reads
them in between, also in the middle of a write, must end with what a reader of the last state gets.
"""

import uuid
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import ClassVar

Files = dict[str, bytes]
"""What lies in a folder, by path."""
Move = tuple[str, int]
"""What happens, and a number that decides how."""

START = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
WORDS = (
    "Where do the swifts nest?",
    "continue",
    "Water the tomatoes — Käferbohnen too 🌱",
    "two\nlines",
    "continue",
    "<b>bold</b> & \\ \"quoted\" 'words'",
    "a" * 300,
    "Count the seedlings.",
    "\u2028 odd \u0085 spaces \t in here",
)


class Story:
    """One agent at work. A subclass names its moves and has a method `_<move>(number)` for each."""

    moves: ClassVar[tuple[str, ...]]
    variants: ClassVar[int] = 1
    """How many forms the same story may be written in, of which one is chosen."""

    def __init__(self, variant: int = 0) -> None:
        self.variant = variant
        self.now = START
        self._count = 0

    def do(self, move: Move) -> None:
        kind, number = move
        act: Callable[[int], None] = getattr(self, f"_{kind}")
        act(number)

    def files(self) -> Files:
        raise NotImplementedError

    def last_files(self) -> Files:
        """What an agent that did everything at once would have written, if it is not what lies there at the end."""
        return self.files()

    def tick(self, seconds: float = 20) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now

    def stamp(self) -> str:
        return iso(self.tick())

    def count(self) -> int:
        """The next number: no two things of a story have the same one."""
        self._count += 1
        return self._count

    def _wait(self, number: int) -> None:
        """A silence: the next words begin another conversation."""
        self.tick(3_700 * (number % 3 + 1))


def iso(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"


def millis(at: datetime) -> int:
    return round(at.timestamp() * 1000)


def words(number: int) -> str:
    return WORDS[number % len(WORDS)]


def name_to_uuid(name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, name))


def states(story: Story, moves: Iterable[Move]) -> list[Files]:
    """All files after each move."""
    found: list[Files] = []
    for move in moves:
        story.do(move)
        found.append(story.files())
    return found


def torn(before: bytes, after: bytes, part: float) -> bytes:
    """A file that somebody looks at while it is being written: appended to, or written anew."""
    kept = len(before) if after.startswith(before) else 0
    return after[: kept + round((len(after) - kept) * part)]
