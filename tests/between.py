"""A database that lets something happen before one of its transactions, as another program would do it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from recollect import Memory
from recollect.database import Database, Session


class Between:
    """To be used in the place of a `Database`. `act` is called once: before the transaction of this number."""

    def __init__(self, database: Database, number: int, act: Callable[[], object]) -> None:
        self._database = database
        self.left = number
        """Transactions until then."""
        self._act = act
        self.has_happened = False

    def read(self) -> AbstractContextManager[Session]:
        self._begin()
        return self._database.read()

    def write(self) -> AbstractContextManager[Session]:
        self._begin()
        return self._database.write()

    def _begin(self) -> None:
        if not self.left and not self.has_happened:
            self.has_happened = True
            self._act()
        self.left -= 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


def interrupted(house: Memory, number: int, act: Callable[[Memory], object]) -> tuple[Memory, Between]:
    """The same house for a program in which `act` happens before the transaction of this number."""
    between = Between(house.database, number, lambda: act(house))
    return Memory(house.settings, between, house.clock), between  # type: ignore[arg-type]
