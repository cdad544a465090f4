"""Memory: the one object a user holds, and the only place that wires the parts together."""

from pathlib import Path
from types import TracebackType

from recollect.clock import Clock, system_clock
from recollect.database import Database, open_database
from recollect.history import History
from recollect.runs import Runs
from recollect.settings import Settings, load_settings


class Memory:
    """`memory.history` takes in and reads what happened; `memory.runs` tells what the system did."""

    def __init__(self, settings: Settings, database: Database, clock: Clock = system_clock) -> None:
        self.settings = settings
        self.database = database
        self.clock = clock
        self.runs = Runs(database, settings.house, clock)
        self.history = History(database, settings, clock, self.runs.record)

    def close(self) -> None:
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
