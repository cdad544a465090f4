"""A clock that lets something happen between two steps of our code: in the moment in which it is asked."""

from collections.abc import Callable
from datetime import datetime

from recollect.testing import FrozenClock


class InterruptingClock(FrozenClock):
    then: Callable[[], object] | None = None
    """Called once, the next time that somebody asks for the time."""

    def __call__(self) -> datetime:
        happening, self.then = self.then, None
        if happening:
            happening()
        return super().__call__()
