"""`recollect up`: everything on one machine, in the foreground.

Recover what a crash left, take in what there is, then keep up while agents write: messages, the search index behind
them, notes, what the librarian files, and the conversation of who is talked with by a channel. Other processes search
through it. One daemon per home. `status.json` in the runtime folder tells other processes how it is and where it
listens; nothing in it is an only copy.
"""

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from types import FrameType

import msgspec

from recollect.clock import to_text
from recollect.errors import RecollectError, Unavailable
from recollect.history import IngestReport
from recollect.history.places import transcript_roots
from recollect.history.watcher import Watcher
from recollect.indexing import Fetching, Indexing, IndexProgress
from recollect.librarianship import LibrarianProgress, Librarianship
from recollect.loading import load_parts
from recollect.lock import HomeLock
from recollect.memory import Memory
from recollect.minding import Minding, MindingProgress
from recollect.notekeeping import Notekeeping, NotesProgress
from recollect.settings import this_computer
from recollect.switchboard import Switchboard, remove_socket


@dataclass(slots=True, kw_only=True)
class DaemonStatus:
    pid: int
    started_at: str
    roots: list[str]
    last_scan_at: str = ""
    last_change_at: str = ""
    messages_added: int = 0
    problem: str = ""
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


FINISH_AGAIN = timedelta(minutes=5)
"""Between two tries to finish what was forgotten; an act that takes longer was cut off."""

SIGNAL_AGAIN_SECONDS = 0.05

Notify = Callable[[DaemonStatus, IngestReport], None]
FirstPass = Callable[[Memory, list[Path]], None]


def watched_roots(memory: Memory) -> list[Path]:
    """The folders of the settings, else those of the agents found on this computer."""
    configured = memory.settings.watch_paths
    return [Path(path).expanduser() for path in configured] if configured else transcript_roots(this_computer())


class Daemon:
    def __init__(self, memory: Memory, notify: Notify, fetching: Fetching | None = None) -> None:
        """`fetching`: fetch models that the settings choose and that are not here, and tell about it."""
        self._memory = memory
        self._notify = notify
        self._stop = threading.Event()
        self._is_busy = False
        self._lock = HomeLock(memory.settings.runtime)
        self._telling = threading.Lock()
        self._indexing = Indexing(memory, self._tell_index, fetching)
        self._notekeeping = Notekeeping(memory, self._tell_notes)
        self._librarianship = Librarianship(memory, self._tell_librarian)
        self._minding = Minding(memory, self._tell_minding)
        self._switchboard = Switchboard(memory)
        self._roots = watched_roots(memory)
        self._finish_at = memory.clock()
        self._forgetting_problem = ""
        self.status = DaemonStatus(
            pid=os.getpid(),
            started_at=to_text(memory.clock()),
            roots=[str(root) for root in self._roots],
            poll_interval_seconds=memory.settings.poll_interval_seconds,
        )

    def run(self, first_pass: FirstPass, *, once: bool = False) -> None:
        """Until a signal comes, or only the first pass."""
        self._lock.acquire()
        self._listen_to_signals()
        try:
            self._is_busy = True
            self._clear_up()
            if self._memory.settings.enabled and not self._memory.history.paused_since():
                recovered = self._memory.history.recover()
                if recovered.files:
                    self._note(recovered)
            first_pass(self._memory, self._roots)
            self.status.last_scan_at = to_text(self._memory.clock())
            if not once:
                load_parts()
                self._minding.load()
                self._indexing.catch_up()
                self.status.socket = self._switchboard.open()
                self._indexing.start()
                self._notekeeping.start()
                self._librarianship.start()
                self._minding.start()
            else:
                self._notekeeping.look()
            self._write_status()
            self._finish_forgetting(everything=True)
            self._is_busy = False
            while not once and not self._stop.is_set():
                self._watch()
        except KeyboardInterrupt:
            self._stop.set()
        finally:
            self._is_busy = False
            self._switchboard.close()
            self._minding.stop()
            self._librarianship.stop()
            self._notekeeping.stop()
            self._indexing.stop()
            self._status_path.unlink(missing_ok=True)
            self._lock.release()

    def stop(self) -> None:
        self._stop.set()

    def _watch(self) -> None:
        """Follow the folders there are now; back to the caller when agents with new folders appear, or at the end."""
        watcher = Watcher(self._roots, self._memory.settings.poll_interval_seconds, self._stop)
        for hint in watcher.hints():
            self.status.problem = watcher.problem
            if hint.folders is None and self._find_new_roots():
                return
            self._look(hint.folders)

    def _look(self, folders: list[str] | None) -> None:
        self._is_busy = True
        if folders is None:
            self.status.last_scan_at = to_text(self._memory.clock())
        try:
            with self._indexing.reading():
                if self._memory.settings.enabled:
                    self._note(self._memory.history.scan(self._roots, folders))
                self._indexing.catch_up()
                if folders is None:
                    self._finish_forgetting()
        except Unavailable as error:
            self.status.problem = str(error)
        except RecollectError as error:
            self.status.problem = str(error)
            self._memory.runs.record("scan", "failed", 0.0, {"reason": str(error)})
        finally:
            self._is_busy = False
        self._notekeeping.check()
        self._librarianship.check()
        self._minding.check()
        self._write_status()

    def _finish_forgetting(self, *, everything: bool = False) -> None:
        """Acts that were cut off after the erasing. A younger one may still be at work in another process."""
        now = self._memory.clock()
        if not everything and now < self._finish_at:
            return
        self._finish_at = now + FINISH_AGAIN
        started = time.monotonic()
        try:
            done = self._memory.forgetting.finish("" if everything else to_text(now - FINISH_AGAIN))
            problem = next((f"{one.receipt} is {one.state}" for one in done if not one.is_verified), "")
        except RecollectError as error:
            problem = str(error)
        if problem and problem != self._forgetting_problem:
            self._memory.runs.record("forget", "failed", time.monotonic() - started, {"reason": problem})
        self._forgetting_problem = problem

    def _note(self, report: IngestReport) -> None:
        if report.ingested or report.failed:
            self.status.last_change_at = to_text(self._memory.clock())
            self.status.messages_added += report.messages_added
            self._librarianship.wake()
        self._notify(self.status, report)

    def _find_new_roots(self) -> bool:
        found = watched_roots(self._memory)
        if found == self._roots:
            return False
        self._roots = found
        self.status.roots = [str(root) for root in found]
        self._write_status()
        self._look(None)
        return True

    def _listen_to_signals(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        """Between passes the watcher sees the event; inside one, the transaction under way is rolled back. While a
        module is being loaded it comes again a moment later: Python could only print there what is raised."""
        self._stop.set()
        if self._is_busy and _is_loading(frame):
            again = threading.Timer(SIGNAL_AGAIN_SECONDS, _send, [number])
            again.daemon = True
            again.start()
        elif self._is_busy:
            raise KeyboardInterrupt

    @property
    def _status_path(self) -> Path:
        return self._memory.settings.runtime / "status.json"

    def _tell_index(self, figures: IndexProgress) -> None:
        status = self.status
        status.documents, status.waiting, status.deepened = figures.documents, figures.waiting, figures.deepened
        status.to_deepen, status.index_problem = figures.to_deepen, figures.problem
        if status.last_scan_at and not self._stop.is_set():
            self._write_status()

    def _tell_notes(self, notes: NotesProgress) -> None:
        status = self.status
        status.notes_looked_at, status.notes_problem = notes.looked_at, notes.problem
        status.notes_restarts = notes.restarts
        if status.last_scan_at and not self._stop.is_set():
            self._write_status()

    def _tell_librarian(self, progress: LibrarianProgress) -> None:
        self.status.librarian = progress
        if self.status.last_scan_at and not self._stop.is_set():
            self._write_status()

    def _tell_minding(self, progress: MindingProgress) -> None:
        self.status.minding = progress
        if self.status.last_scan_at and not self._stop.is_set():
            self._write_status()

    def _clear_up(self) -> None:
        """What a daemon that was killed said of itself, and where it listened."""
        before = read_status(self._memory.settings.runtime)
        if before and before.socket:
            remove_socket(before.socket)
        self._status_path.unlink(missing_ok=True)

    def _write_status(self) -> None:
        path = self._status_path
        temporary = path.with_suffix(".new")
        with self._telling:
            try:
                temporary.write_text(json.dumps(asdict(self.status)), encoding="utf-8")
                os.replace(temporary, path)
            except OSError as error:
                self.status.problem = f"{path} cannot be written: {error.strerror}"


def _is_loading(frame: FrameType | None) -> bool:
    while frame and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None


def _send(number: int) -> None:
    if os.name == "nt":
        signal.raise_signal(number)
    else:  # So that the main thread is woken, which may wait for something.
        os.kill(os.getpid(), number)


def read_status(runtime: Path) -> DaemonStatus | None:
    """What the daemon of this home last said of itself."""
    try:
        return msgspec.json.decode((runtime / "status.json").read_bytes(), type=DaemonStatus)
    except (OSError, ValueError, msgspec.DecodeError):
        return None
