"""For the tests of programs that use Recollect, and for our own: a clock that stands still, a house that vanishes."""

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from recollect.memory import Memory, open_memory

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


class FrozenClock:
    """Shows the same time until it is moved."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        """`clock.move(minutes=61)`"""
        self.now += timedelta(**by)


@contextmanager
def temporary_memory(clock: FrozenClock | None = None, database: str | None = None) -> Generator[Memory]:
    """A Memory in a home of its own that is gone afterwards."""
    with (
        tempfile.TemporaryDirectory(prefix="recollect-") as home,
        open_memory(home, database, clock or FrozenClock()) as memory,
    ):
        yield memory
