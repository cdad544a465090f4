"""`status.json` in the runtime folder: how a daemon is and where it listens, for `doctor`, `health` and others who ask.

Written by the daemon alone, whole or not at all, at every change of a part; gone when it ends. Nothing in it is an only
copy: what it says of a daemon that was killed is thrown away by the next one.
"""

import json
import logging
import os
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import msgspec

from recollect.clock import from_text
from recollect.daemon.indexing import IndexProgress
from recollect.daemon.librarianship import LibrarianProgress
from recollect.daemon.minding import MindingProgress
from recollect.daemon.notekeeping import NotesProgress
from recollect.daemon.serving import ServingProgress
from recollect.supervision import PartHealth, Supervised

NAME = "status.json"

log = logging.getLogger("recollect.daemon")


@dataclass(slots=True, kw_only=True)
class DaemonStatus:
    pid: int
    started_at: str
    roots: list[str]
    last_scan_at: str = ""
    last_change_at: str = ""
    messages_added: int = 0
    problem: str = ""
    status_problem: str = ""
    """Why what is told here could not be written."""
    poll_interval_seconds: float = 0
    socket: str = ""
    """Where it answers searches. Empty: nowhere."""
    documents: int = 0
    waiting: int = 0
    """Changes of history that the index has not followed."""
    deepened: int = 0
    to_deepen: int = 0
    index_problem: str = ""
    notes_looked_at: str = ""
    """When all files of notes were last looked at."""
    notes_problem: str = ""
    notes_restarts: int = 0
    """How often the thread that watches the notes had to be started again."""
    librarian: LibrarianProgress = field(default_factory=LibrarianProgress)
    minding: MindingProgress = field(default_factory=MindingProgress)
    serving: ServingProgress = field(default_factory=ServingProgress)
    parts: list[PartHealth] = field(default_factory=list[PartHealth])
    """Each part of the daemon: whether it runs, and how often it had to begin again."""


class StatusFile:
    """Keeps the status of a daemon, and writes it down. Parts tell it from their own threads."""

    def __init__(self, runtime: Path, status: DaemonStatus, stop: threading.Event) -> None:
        """`stop`: from then on parts tell nothing more."""
        self.status = status
        self.parts: list[Supervised] = []
        self._path = runtime / NAME
        self._temporary = self._path.with_suffix(".new")
        self._stop = stop
        self._telling = threading.Lock()
        self._logged: dict[str, str] = {}

    def write(self) -> None:
        with self._telling:
            self.status.parts = [part.health for part in self.parts]
            self.status.status_problem = ""
            try:
                self._path.parent.mkdir(exist_ok=True)
                self._temporary.write_text(json.dumps(asdict(self.status)), encoding="utf-8")
                os.replace(self._temporary, self._path)
            except OSError as error:
                self.status.status_problem = f"{self._path} cannot be written: {error.strerror}"
            self._log_problems()

    def remove(self) -> None:
        for path in (self._path, self._temporary):  # A disk that is full leaves the second one.
            with suppress(OSError):  # The folder may not be writable any more.
                path.unlink(missing_ok=True)

    def tell(self) -> None:
        """Something changed. Before the first scan is over there is nothing to be told."""
        if self.status.last_scan_at and not self._stop.is_set():
            self.write()

    def tell_index(self, figures: IndexProgress) -> None:
        status = self.status
        status.documents, status.waiting, status.deepened = figures.documents, figures.waiting, figures.deepened
        status.to_deepen, status.index_problem = figures.to_deepen, figures.problem
        self.tell()

    def tell_notes(self, notes: NotesProgress) -> None:
        status = self.status
        status.notes_looked_at, status.notes_problem = notes.looked_at, notes.problem
        status.notes_restarts = notes.restarts
        self.tell()

    def tell_librarian(self, progress: LibrarianProgress) -> None:
        self.status.librarian = progress
        self.tell()

    def tell_minding(self, progress: MindingProgress) -> None:
        self.status.minding = progress
        self.tell()

    def tell_serving(self, progress: ServingProgress) -> None:
        self.status.serving = progress
        self.tell()

    def _log_problems(self) -> None:
        """Each once, and when it is over."""
        told = problems_of(self.status)
        for part, problem in told.items():
            if problem != self._logged.get(part, ""):
                log.log(logging.WARNING if problem else logging.INFO, "%s: %s", part, problem or "all is well again")
        self._logged = told


def problems_of(status: DaemonStatus) -> dict[str, str]:
    """What each part has to say by itself; empty where all is well."""
    told = {
        "watcher": status.problem,
        "status": status.status_problem,
        "index": status.index_problem,
        "notes": status.notes_problem,
        "librarian": status.librarian.problem,
        "mind": status.minding.problem,
        "http": status.serving.problem,
    }
    return {**told, **status.minding.channels}


def read_status(runtime: Path) -> DaemonStatus | None:
    """What the daemon of this home last said of itself. None: nothing, or nothing that makes sense."""
    try:
        status = msgspec.json.decode((runtime / NAME).read_bytes(), type=DaemonStatus)
    except (OSError, ValueError, msgspec.DecodeError):
        return None
    return status if all(map(_is_time, _times_in(status))) else None


def _times_in(status: DaemonStatus) -> list[str]:
    mind, librarian = status.minding, status.librarian
    times = [status.last_scan_at, status.last_change_at, status.notes_looked_at, librarian.filed_at]
    times += [librarian.paused_since, librarian.goes_on_at, mind.outreach_due_at, mind.reflection_due_at]
    return [status.started_at, *filter(None, [*times, *(part.since for part in status.parts)])]


def _is_time(text: str) -> bool:
    try:
        return from_text(text).tzinfo is not None
    except ValueError:
        return False
