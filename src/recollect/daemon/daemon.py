"""The one process: recover what a crash left, take in what there is, then keep up while agents write.

Messages, the search index behind them, notes, what the librarian files, the conversation of who is talked with by a
channel, and who asks by HTTP or by the local socket: each is a part. One daemon for each home. Its own thread watches
transcripts, and hears signals.
"""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import FrameType

from recollect.clock import to_text
from recollect.daemon.indexing import Fetching, Indexing
from recollect.daemon.librarianship import Librarianship
from recollect.daemon.minding import Minding
from recollect.daemon.notekeeping import Notekeeping
from recollect.daemon.serving import Serving, remove_hook_file
from recollect.daemon.status import DaemonStatus, StatusFile, read_status
from recollect.daemon.switchboard import Switchboard, remove_socket
from recollect.errors import Conflict, Denied, RecollectError, Unavailable
from recollect.history import IngestReport
from recollect.history.places import watched_roots
from recollect.history.watcher import Watcher
from recollect.listening import App
from recollect.loading import load_parts
from recollect.lock import HomeLock
from recollect.memory import Memory
from recollect.supervision import Hearing, Supervised, begin_apart, end_all, end_by_signals

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
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`fetching`: fetch models that the settings choose and that are not here, and tell about it. `open_app`: what
        answers over HTTP, for this daemon and the secret of its hooks. `on_begun`: hears how things are when all parts
        have begun, and where HTTP is answered, or why it is not. `give_up`: ends the process with this exit code
        at once, where it would not end by itself in time, or a second signal comes. `now`: seconds, for what is done
        now and then, as the clock may be set."""
        self._memory = memory
        self._now = now
        self._notify = notify
        self._on_begun = on_begun
        self._stop = threading.Event()
        self._is_busy = False
        self._lock = HomeLock(memory.settings.runtime)
        self._roots = watched_roots(memory.settings)
        self.status = DaemonStatus(
            pid=os.getpid(),
            started_at=to_text(memory.clock()),
            roots=[str(root) for root in self._roots],
            poll_interval_seconds=memory.settings.poll_interval_seconds,
        )
        self._file = StatusFile(memory.settings.runtime, self.status, self._stop)
        self._indexing = Indexing(memory, self._file.tell_index, fetching)
        self._notekeeping = Notekeeping(memory, self._file.tell_notes)
        self._librarianship = Librarianship(memory, self._file.tell_librarian)
        self._minding = Minding(memory, self._file.tell_minding)
        self._switchboard = Switchboard(memory)
        self._serving = Serving(memory, partial(open_app, self), self._file.tell_serving) if open_app else None
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
        self._file.parts = self.parts
        for part in self.parts:
            part.on_change = self._file.tell
        self._give_up = give_up
        self._stop_seconds = stop_seconds
        self._stopped_at = 0.0
        self._hearing: Hearing | None = None
        self._sent_again: list[int] = []
        """Signals that are our own: they are not a second one."""
        self.lost: Conflict | Unavailable | None = None
        """Why it ended: another daemon has the home, or its database is not there any more."""
        self._finish_at = now()
        self._forgetting_problem = ""

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
            self._file.write()
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
            self._file.remove()
        self._lock.release()

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
        begun meanwhile, this one ends. So it does without its database, and makes nothing again: who starts it anew
        begins with what is there then."""
        try:
            self._memory.database.check_place()
            self._lock.keep()
        except (Conflict, Unavailable) as error:
            log.error("%s", error)
            self.lost = error
            self._stop.set()
            return
        except Denied:  # The status cannot be written either, and that is told.
            pass
        self._switchboard.renew()
        if self._serving:
            self._serving.renew()
        self._file.write()

    def _finish_forgetting(self, *, everything: bool = False) -> None:
        """Acts that were cut off after the erasing. A younger one may still be at work in another process."""
        started = self._now()
        if not everything and started < self._finish_at:
            return
        self._finish_at = started + FINISH_AGAIN.total_seconds()
        before = "" if everything else to_text(self._memory.clock() - FINISH_AGAIN)
        try:
            done = self._memory.forgetting.finish(before)
            problem = next((f"{one.receipt} is {one.state}" for one in done if not one.is_verified), "")
        except RecollectError as error:
            problem = str(error)
        if problem and problem != self._forgetting_problem:
            self._memory.runs.record("forget", "failed", self._now() - started, {"reason": problem})
        self._forgetting_problem = problem

    def _note(self, report: IngestReport) -> None:
        if report.ingested or report.failed:
            self.status.last_change_at = to_text(self._memory.clock())
            self.status.messages_added += report.messages_added
            log.info("%d new messages from %d files, %d failed", report.messages_added, report.ingested, report.failed)
            self._librarianship.wake()
        self._notify(self.status, report)

    def _find_new_roots(self) -> bool:
        found = watched_roots(self._memory.settings)
        if found == self._roots:
            return False
        self._roots = found
        self.status.roots = [str(root) for root in found]
        self._file.write()
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

    def _note_crash(self, reason: str) -> None:
        """Of the watcher."""
        self._is_busy = False
        self.status.problem = reason
        with suppress(RecollectError):  # The database may be what fails.
            self._memory.runs.record("scan", "failed", 0.0, {"reason": reason})

    def _clear_up(self) -> None:
        """What a daemon that was killed said of itself, and where it listened."""
        before = read_status(self._memory.settings.runtime)
        if before and before.socket:
            remove_socket(before.socket)
        remove_hook_file(self._memory.settings.runtime, also_of_others=True)
        self._file.remove()


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
