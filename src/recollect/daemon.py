"""`recollect up`: everything on one machine, in the foreground.

Recover what a crash left, take in what there is, then keep up while agents write: messages, the search index behind
them, notes, what the librarian files, and the conversation of who is talked with by a channel. Other processes search
through it. One daemon per home. `status.json` in the runtime folder tells other processes how it is and where it
listens; nothing in it is an only copy.
"""

import json
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import FrameType

import msgspec

from recollect.clock import from_text, to_text
from recollect.errors import Conflict, Denied, RecollectError, Unavailable
from recollect.history import IngestReport
from recollect.history.places import transcript_roots
from recollect.history.watcher import Watcher
from recollect.indexing import Fetching, Indexing, IndexProgress
from recollect.librarianship import LibrarianProgress, Librarianship
from recollect.listening import App
from recollect.loading import load_parts
from recollect.lock import HomeLock
from recollect.memory import Memory
from recollect.minding import Minding, MindingProgress
from recollect.notekeeping import Notekeeping, NotesProgress
from recollect.serving import Serving, ServingProgress, remove_hook_file
from recollect.settings import this_computer
from recollect.supervision import Hearing, PartHealth, Supervised, begin_apart, end_all, end_by_signals
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


FINISH_AGAIN = timedelta(minutes=5)
"""Between two tries to finish what was forgotten; an act that takes longer was cut off."""

SIGNAL_AGAIN_SECONDS = 0.05
STOP_SECONDS = 4.0
"""After a signal, for all parts together: who has not ended by then is left behind."""
LAST_SECONDS = 0.7
"""After that, for the rest of the process: then it ends, whatever it does."""
WORD_SECONDS = 1.0
"""For the first word of who answers HTTP, before it is told that all is begun: it has a port to get."""
TELLING_SECONDS = 0.1
"""For the last word about who did not end."""
KILLED = 128
"""What shells add to the number of a signal that ended a program."""

log = logging.getLogger("recollect.daemon")

Notify = Callable[[DaemonStatus, IngestReport], None]
FirstPass = Callable[[Memory, list[Path]], None]


def watched_roots(memory: Memory) -> list[Path]:
    """The folders of the settings, else those of the agents found on this computer."""
    configured = memory.settings.watch_paths
    return [Path(path).expanduser() for path in configured] if configured else transcript_roots(this_computer())


class Daemon:
    def __init__(
        self,
        memory: Memory,
        notify: Notify,
        fetching: Fetching | None = None,
        open_app: "Callable[[Daemon, str], App] | None" = None,
        *,
        on_begun: Callable[[DaemonStatus], None] = lambda status: None,
        give_up: Callable[[int], None] | None = None,
        stop_seconds: float = STOP_SECONDS,
    ) -> None:
        """`fetching`: fetch models that the settings choose and that are not here, and tell about it. `open_app`: what
        answers over HTTP, for this daemon and the secret of its hooks. `on_begun`: hears how things are when all parts
        have begun, and where HTTP is answered, or why it is not. `give_up`: ends the process with this exit code
        at once, where it would not end by itself in time, or a second signal comes."""
        self._memory = memory
        self._notify = notify
        self._on_begun = on_begun
        self._stop = threading.Event()
        self._is_busy = False
        self._lock = HomeLock(memory.settings.runtime)
        self._telling = threading.Lock()
        self._indexing = Indexing(memory, self._tell_index, fetching)
        self._notekeeping = Notekeeping(memory, self._tell_notes)
        self._librarianship = Librarianship(memory, self._tell_librarian)
        self._minding = Minding(memory, self._tell_minding)
        self._switchboard = Switchboard(memory)
        self._serving = Serving(memory, partial(open_app, self), self._tell_serving) if open_app else None
        self._watching = Supervised("watcher", lambda _: self._watch(), on_crash=self._note_crash, clock=memory.clock)
        self.parts = [
            self._watching,
            *([self._serving.part] if self._serving else []),
            self._switchboard.part,
            self._minding.part,
            self._librarianship.part,
            self._notekeeping.part,
            self._indexing.part,
        ]
        for part in self.parts:
            part.on_change = self._tell_parts
        self._give_up = give_up
        self._stop_seconds = stop_seconds
        self._stopped_at = 0.0
        self._hearing: Hearing | None = None
        self._sent_again: list[int] = []
        """Signals that are our own: they are not a second one."""
        self._logged: dict[str, str] = {}
        self.lost: Conflict | None = None
        """Why it ended: another daemon has the home."""
        self._roots = watched_roots(memory)
        self._finish_at = memory.clock()
        self._forgetting_problem = ""
        self.status = DaemonStatus(
            pid=os.getpid(),
            started_at=to_text(memory.clock()),
            roots=[str(root) for root in self._roots],
            poll_interval_seconds=memory.settings.poll_interval_seconds,
        )

    def run(self, first_pass: FirstPass, *, once: bool = False) -> list[str]:
        """Until a signal comes, or only the first pass. The names of parts that did not end in time: their threads may
        still be at work, so the process should end now."""
        self._lock.acquire()
        self._listen_to_signals()
        left: list[str] = []
        log.info("up: process %d, home %s", self.status.pid, self._memory.settings.home)
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
                if self._serving:
                    self._serving.start()
                    self._serving.wait_for_word(WORD_SECONDS)
                self._on_begun(self.status)
            else:
                self._notekeeping.look()
            self._write_status()
            self._finish_forgetting(everything=True)
            self._is_busy = False
            if not once:
                self._watching.run(self._stop)
        except KeyboardInterrupt:
            self._stop.set()
        finally:
            self._is_busy = False
            log.info("ending")
            left += end_all(self.parts, (self._stopped_at or time.monotonic()) + self._stop_seconds)
            self._tidy_away()
            log.info("down")
            if self._hearing:
                self._hearing.close()
        return left

    def stop(self) -> None:
        self._stop.set()

    def _tidy_away(self) -> None:
        """As far as it may, and only what is ours: the lock is released in any case."""
        remove_hook_file(self._memory.settings.runtime)
        self._switchboard.remove()
        told = read_status(self._memory.settings.runtime)
        if told is None or told.pid == self.status.pid:
            self._remove_status()
        self._lock.release()

    def _remove_status(self) -> None:
        with suppress(OSError):  # The folder may not be writable any more.
            self._status_path.unlink(missing_ok=True)

    def wake(self) -> None:
        """Something was taken in by another way than the watcher: whoever follows history looks at it now."""
        self._librarianship.wake()

    def _watch(self) -> None:
        while not self._stop.is_set():
            self._follow()

    def _follow(self) -> None:
        """Follow the folders there are now; back to the caller when agents with new folders appear, or at the end."""
        watcher = Watcher(self._roots, self._memory.settings.poll_interval_seconds, self._stop)
        for hint in watcher.hints():
            if hint.folders is None and self._find_new_roots():
                return
            self._look(hint.folders, watcher.problem)

    def _look(self, folders: list[str] | None, problem: str = "") -> None:
        """`problem`: of the watcher. What was the matter before holds until this look has gone well: other threads tell
        meanwhile how things are."""
        self._is_busy = True
        if folders is None:
            self.status.last_scan_at = to_text(self._memory.clock())
        try:
            with self._indexing.reading():
                report = self._memory.history.scan(self._roots, folders) if self._memory.settings.enabled else None
                self.status.problem = problem
                if report:
                    self._note(report)
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
        for part in self.parts:
            part.check()
        self._keep_place()

    def _keep_place(self) -> None:
        """By which others find this daemon: whatever somebody removed of it is made again. Where another daemon has
        begun meanwhile, this one ends."""
        try:
            self._lock.keep()
        except Conflict as error:
            log.error("%s", error)
            self.lost = error
            self._stop.set()
            return
        except Denied:  # The status cannot be written either, and that is told.
            pass
        self._switchboard.renew()
        if self._serving:
            self._serving.renew()
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
            log.info("%d new messages from %d files, %d failed", report.messages_added, report.ingested, report.failed)
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
        if threading.current_thread() is threading.main_thread():
            self._hearing = Hearing(self._hear)
            end_by_signals(self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        """What only the main thread can do. Between passes the watcher sees the event; inside one, the transaction
        under way is rolled back. While a module is being loaded it comes again a moment later: Python could only print
        there what is raised."""
        if not (self._hearing and self._hearing.is_open):
            self._hear(number)
        if self._is_busy and _is_loading(frame):
            self._sent_again.append(number)
            begin_apart(lambda: _send(number))
        elif self._is_busy:
            raise KeyboardInterrupt

    def _hear(self, number: int) -> None:
        """Whatever the main thread is doing. Who sends a second one does not want to wait."""
        if number in self._sent_again:
            self._sent_again.remove(number)
        elif not self._stopped_at:
            self._stopped_at = time.monotonic()
            begin_apart(self._end_by_all_means)
        elif self._give_up:
            self._tidy_away()
            self._give_up(KILLED + number)

    def _end_by_all_means(self) -> None:
        self._stop.set()
        if self._give_up:
            time.sleep(self._stop_seconds + LAST_SECONDS)
            telling = threading.Thread(target=self._tell_last, daemon=True)
            with suppress(RuntimeError):  # No thread can be begun any more.
                telling.start()
                telling.join(TELLING_SECONDS)
            self._give_up(0)

    def _tell_last(self) -> None:
        """In a thread that nobody waits for long: who hangs may hold the lock of the log, or the disk may hang."""
        self._tidy_away()
        names = ["the main thread", *(part.name for part in self.parts if part.is_alive)]
        log.warning("%s did not end in time: the process is ended", ", ".join(names))

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

    def _tell_parts(self) -> None:
        if self.status.last_scan_at and not self._stop.is_set():
            self._write_status()

    def _note_crash(self, reason: str) -> None:
        """Of the watcher."""
        self._is_busy = False
        self.status.problem = reason
        with suppress(RecollectError):  # The database may be what fails.
            self._memory.runs.record("scan", "failed", 0.0, {"reason": reason})

    def _tell_serving(self, progress: ServingProgress) -> None:
        self.status.serving = progress
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
        remove_hook_file(self._memory.settings.runtime, also_of_others=True)
        self._remove_status()

    def _log_problems(self) -> None:
        """Each once, and when it is over."""
        told = problems_of(self.status)
        for part, problem in told.items():
            if problem != self._logged.get(part, ""):
                log.log(logging.WARNING if problem else logging.INFO, "%s: %s", part, problem or "all is well again")
        self._logged = told

    def _write_status(self) -> None:
        path = self._status_path
        temporary = path.with_suffix(".new")
        with self._telling:
            self.status.parts = [part.health for part in self.parts]
            self.status.status_problem = ""
            try:
                path.parent.mkdir(exist_ok=True)
                temporary.write_text(json.dumps(asdict(self.status)), encoding="utf-8")
                os.replace(temporary, path)
            except OSError as error:
                self.status.status_problem = f"{path} cannot be written: {error.strerror}"
            self._log_problems()


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


def _is_loading(frame: FrameType | None) -> bool:
    while frame and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None


def _send(number: int) -> None:
    time.sleep(SIGNAL_AGAIN_SECONDS)
    if os.name == "nt":
        signal.raise_signal(number)
    else:  # So that the main thread is woken, which may wait for something.
        os.kill(os.getpid(), number)


def read_status(runtime: Path) -> DaemonStatus | None:
    """What the daemon of this home last said of itself. None: nothing, or nothing that makes sense."""
    try:
        status = msgspec.json.decode((runtime / "status.json").read_bytes(), type=DaemonStatus)
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
