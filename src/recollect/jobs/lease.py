"""Keeping a lease while something takes long, and telling the dead from the slow.

A lease is renewed by a thread, as whoever works may be inside one call for minutes. A worker also holds a locked file
in the runtime folder: the operating system lets it go when the process ends, however it ends, so that the next worker
of the same home need not wait for the lease to run out. A worker of another home or host has no file here: its lease
alone tells.
"""

import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO

from recollect.clock import Clock
from recollect.database import Database
from recollect.errors import RecollectError
from recollect.jobs.job import Job
from recollect.jobs.store import JobStore
from recollect.lock import try_lock

RENEWALS = 3
"""In the time of one lease: two may fail before it runs out."""


class Renewal:
    """`with Renewal(…):` the lease holds. A renewal that fails is tried again at the next; one that finds the job in
    another's hands is the last."""

    def __init__(self, database: Database, house: str, clock: Clock, job: Job, lease_seconds: float) -> None:
        self._database = database
        self._house = house
        self._clock = clock
        self._job = job
        self._lease_seconds = lease_seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="lease", daemon=True)

    def __enter__(self) -> "Renewal":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _renew(self) -> None:
        is_mine = True
        while is_mine and not self._ended.wait(self._lease_seconds / RENEWALS):
            with suppress(RecollectError), self._database.write() as session:  # Busy: at the next one.
                is_mine = JobStore(session, self._house).renew(self._job, self._clock(), self._lease_seconds)


class Presence:
    """That a worker lives, for others of the same home."""

    def __init__(self, runtime: Path) -> None:
        self._folder = runtime / "workers"
        self._files: dict[str, IO[str]] = {}

    def enter(self, owner: str) -> None:
        """Where the file cannot be made, the lease alone tells."""
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            file = self._path(owner).open("a+", encoding="utf-8")
            if try_lock(file):
                self._files[owner] = file
            else:
                file.close()

    def leave(self, owner: str) -> None:
        file = self._files.pop(owner, None)
        if file:
            with suppress(OSError):
                self._path(owner).unlink(missing_ok=True)
            file.close()

    def is_dead(self, owner: str) -> bool:
        """Whether it was a worker of this home, and its process has ended."""
        try:
            with self._path(owner).open("r+", encoding="utf-8") as file:
                return try_lock(file)
        except (OSError, ValueError):
            return False

    def clear_up(self) -> None:
        """Take away the files of the dead."""
        with suppress(OSError):
            for path in self._folder.glob("*.lock"):
                if self.is_dead(path.stem):
                    with suppress(OSError):
                        path.unlink()

    def _path(self, owner: str) -> Path:
        return self._folder / f"{owner}.lock"
