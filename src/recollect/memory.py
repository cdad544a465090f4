"""Memory: the one object a user holds, and the only place that wires the parts together."""

import threading
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from recollect.clock import Clock, system_clock
from recollect.database import Database, open_database
from recollect.history import History
from recollect.runs import Runs
from recollect.settings import Settings, load_settings

if TYPE_CHECKING:
    from recollect.embedding import Models
    from recollect.recall import Found, Recall


class Memory:
    """`history` takes in and reads what happened, `recall` finds it again, `runs` tells what the system did."""

    def __init__(
        self, settings: Settings, database: Database, clock: Clock = system_clock, models: "Models | None" = None
    ) -> None:
        self.settings = settings
        self.database = database
        self.clock = clock
        self.runs = Runs(database, settings.house, clock)
        self.history = History(database, settings, clock, self.runs.record)
        self._models = models
        self._recall: Recall | None = None
        self._opening = threading.RLock()

    @property
    def models(self) -> "Models":
        with self._opening:
            if self._models is None:
                from recollect.embedding import Models

                self._models = Models(self.settings)
            return self._models

    @property
    def recall(self) -> "Recall":
        """Loaded when it is first needed: commands that do not search start without numpy."""
        with self._opening:
            if self._recall is None:
                from recollect.recall import Recall

                self._recall = Recall(self.database, self.settings, self.history, self.models, self.clock)
            return self._recall

    def search_memory(self, query: str, search_type: str = "both") -> "Found":
        """For agents: `search_type` is conversations, facts or both. Reads the best hits twice, as agents can wait."""
        return self.recall.search(query, search_type=search_type, rerank=True)

    def close(self) -> None:
        if self._recall:
            self._recall.close()
        self.database.close()

    def __enter__(self) -> "Memory":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_memory(home: Path | str | None = None, database: str | None = None, clock: Clock = system_clock) -> Memory:
    """Open a home, making it when it is new. Without arguments: `RECOLLECT_HOME`, else `~/.recollect`."""
    settings = load_settings(home, database)
    return Memory(settings, open_database(settings.database_url), clock)
