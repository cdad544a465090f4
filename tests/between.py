"""A database that lets something happen before one of its transactions, as another program would do it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from recollect.database import Database, Session


class Between:
    """To be used in the place of a `Database`. `act` is called once: before the transaction of this number."""

    def __init__(self, database: Database, number: int, act: Callable[[], object]) -> None:
        self._database = database
        self._left = number
        self._act = act
        self.has_happened = False

    def read(self) -> AbstractContextManager[Session]:
        self._begin()
        return self._database.read()

    def write(self) -> AbstractContextManager[Session]:
        self._begin()
        return self._database.write()

    def _begin(self) -> None:
        if not self._left and not self.has_happened:
            self.has_happened = True
            self._act()
        self._left -= 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)
