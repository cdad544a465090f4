"""A part of a daemon: a thread that begins again when it ends, whatever ended it.

`Supervised` does its work until it is told to end. What the work raises, `SystemExit` and the like included, is a
crash, and so is its coming back untold: it is told, and the work begins again after a wait that doubles from crash to
crash. A part that went well for a while starts with the short wait again. A thread that has not moved for long is
replaced by a new one. All parts of a daemon end by one deadline (`end_all`): who has not ended by then is left behind,
and the end of the process ends it.
"""

import _thread
import logging
import signal
import socket
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath
from types import FrameType

from recollect.clock import Clock, system_clock, to_text
from recollect.errors import RecollectError

RETRY_SECONDS = 1.0
"""After a crash; twice as long after each further one."""
LONGEST_RETRY_SECONDS = 300.0
SETTLED_SECONDS = 60.0
"""A part that has gone on for so long is well: why it had crashed is over."""
ENDED_UNTOLD = "it ended by itself"

log = logging.getLogger("recollect.parts")


class State(StrEnum):
    RUNNING = "running"
    RESTARTING = "restarting"
    """It crashed, and waits before it begins again."""
    STOPPED = "stopped"
    OFF = "off"
    """By the settings, or not begun yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartHealth:
    name: str
    state: State = State.OFF
    restarts: int = 0
    """Since the daemon started."""
    problem: str = ""
    """Why it crashed last, until it has gone on well for a while."""
    since: str = ""
    """When it came into this state."""


class Shift:
    """The time of one thread, and how it is told to end."""

    def __init__(self, now: float, ended: threading.Event | None = None) -> None:
        self.ended = ended or threading.Event()
        self.moved_at = now
        self.thread: threading.Thread | None = None
        self._calls: list[Callable[[], object]] = []
        self._lock = threading.Lock()

    def on_end(self, call: Callable[[], object]) -> None:
        """What wakes the work when it is to end: called once, from another thread. It holds until the work ends."""
        with self._lock:
            self._calls.append(call)
            is_late = self.ended.is_set()
        if is_late:
            call()

    def end(self) -> None:
        with self._lock:
            self.ended.set()
            calls = list(self._calls)
        for call in calls:
            with suppress(RuntimeError, OSError):  # A loop or a socket that has just ended.
                call()

    def begin(self) -> None:
        with self._lock:
            self._calls.clear()


class Supervised:
    def __init__(
        self,
        name: str,
        work: Callable[[Shift], None],
        *,
        on_crash: Callable[[str], None] = lambda reason: None,
        on_left: Callable[[], None] = lambda: None,
        hanging_seconds: float = 0.0,
        now: Callable[[], float] = time.monotonic,
        clock: Clock = system_clock,
    ) -> None:
        """`on_crash`: is told why, before the wait. `on_left`: it did not end in time. `hanging_seconds`: a thread
        whose shift has not moved for so long is replaced; 0: never."""
        self.name = name
        self._work = work
        self._on_crash = on_crash
        self._on_left = on_left
        self._hanging_seconds = hanging_seconds
        self._now = now
        self._clock = clock
        self._shift: Shift | None = None
        self._lock = threading.Lock()
        self._state = State.OFF
        self._since = ""
        self._begun = 0.0
        self._problem = ""
        self._failures = 0
        self.restarts = 0
        self.on_change: Callable[[], None] = lambda: None
        """Called when its state is another one, from any thread."""

    @property
    def health(self) -> PartHealth:
        with self._lock:
            is_settled = self._state is State.RUNNING and self._now() - self._begun > SETTLED_SECONDS
            problem = "" if is_settled else self._problem
            return PartHealth(
                name=self.name, state=self._state, restarts=self.restarts, problem=problem, since=self._since
            )

    @property
    def is_alive(self) -> bool:
        """Whether a thread of its own is at work."""
        thread = self._shift.thread if self._shift else None
        return thread is not None and thread.is_alive()

    def start(self) -> None:
        """In a thread of its own."""
        shift = self._begin()
        shift.thread = threading.Thread(target=self._live, args=(shift, ()), name=self.name, daemon=True)
        shift.thread.start()

    def run(self, ended: threading.Event) -> None:
        """In the thread of who calls, until this is set. Ctrl-C passes through."""
        self._live(self._begin(ended), (KeyboardInterrupt,))

    def check(self) -> None:
        """Replace a thread that is lost: one that hangs ends when it comes back."""
        shift = self._shift
        if shift is None or shift.thread is None or shift.ended.is_set():
            return
        still = self._now() - shift.moved_at
        if not shift.thread.is_alive():
            reason = f"the thread of the {self.name} died; it was started again"
        elif 0 < self._hanging_seconds < still:
            reason = f"the thread of the {self.name} has not moved for {still:.0f} seconds; it was started again"
        else:
            return
        shift.end()
        log.error("%s: %s", self.name, reason)
        with self._lock:
            self.restarts += 1
            self._problem = reason
        self.start()
        self._on_crash(reason)

    def end(self) -> None:
        """Tell it to; nobody waits here."""
        if self._shift:
            self._shift.end()
            self._set(State.STOPPED)

    def wait(self, deadline: float) -> bool:
        """Whether it has ended by then (`time.monotonic`). Who has not is left behind."""
        thread = self._shift.thread if self._shift else None
        if thread is None or thread is threading.current_thread():
            return True
        if thread.is_alive():  # A signal may have come before it began.
            thread.join(max(0.0, deadline - time.monotonic()))
        if not thread.is_alive():
            return True
        log.warning("%s did not end in time and was left behind", self.name)
        self._on_left()
        return False

    # In its thread

    def _begin(self, ended: threading.Event | None = None) -> Shift:
        self._shift = Shift(self._now(), ended)
        self._set(State.RUNNING)
        return self._shift

    def _live(self, shift: Shift, passing: tuple[type[BaseException], ...]) -> None:
        while not shift.ended.is_set():
            begun = self._now()
            shift.begin()
            shift.moved_at = begun
            try:
                self._work(shift)
                reason, error = ENDED_UNTOLD, None
            except passing:
                raise
            except BaseException as caught:  # noqa: BLE001 - whatever it is, the part begins again and doctor shows why
                reason, error = reason_of_crash(caught), caught
            if shift.ended.is_set():
                return
            seconds = self._note_crash(reason, error, begun)
            error = None  # It holds what the work had in hand: connections that somebody waits at, for example.
            shift.ended.wait(seconds)
            if not shift.ended.is_set():
                self._set(State.RUNNING)

    def _note_crash(self, reason: str, error: BaseException | None, begun: float) -> float:
        """How long to wait."""
        with self._lock:
            self._failures = 1 if self._now() - begun > SETTLED_SECONDS else self._failures + 1
            self.restarts += 1
            self._problem = reason
            wait = min(RETRY_SECONDS * 2 ** min(self._failures - 1, 30), LONGEST_RETRY_SECONDS)
            self._enter(State.RESTARTING)
        told = None if isinstance(error, RecollectError) else error  # Ours say all there is to say.
        log.error("%s: %s; it begins again in %.0f s", self.name, reason, wait, exc_info=told)
        self.on_change()
        try:
            self._on_crash(reason)
        except Exception:
            log.exception("%s: its crash could not be told", self.name)
        return wait

    def _set(self, state: State) -> None:
        with self._lock:
            self._enter(state)
        self.on_change()

    def _enter(self, state: State) -> None:
        """Under the lock."""
        self._state, self._since, self._begun = state, to_text(self._clock()), self._now()


def end_all(parts: Sequence[Supervised], deadline: float) -> list[str]:
    """All are told to end, then waited for until the one deadline; the names of those that were left behind."""
    for part in parts:
        part.end()
    return [part.name for part in parts if not part.wait(deadline)]


def ending_signals() -> list[int]:
    """Those that end a program, that of a closed terminal too, unless it was to outlive it (nohup)."""
    numbers = [int(signal.SIGINT), int(signal.SIGTERM)]
    closed = getattr(signal, "SIGHUP", None)  # Windows has none.
    if closed is not None and signal.getsignal(closed) is not signal.SIG_IGN:
        numbers.append(int(closed))
    return numbers


def end_by_signals(handler: Callable[[int, FrameType | None], object]) -> None:
    """The signals that end a program come here."""
    for number in ending_signals():
        signal.signal(number, handler)


class Hearing:
    """Hears signals in a thread of its own, at once. Python runs their handlers in the main thread, and only when that
    is back from what it called: SQLite, for example, which may wait for seconds there."""

    def __init__(self, hear: Callable[[int], object]) -> None:
        """Begins, in the main thread, before there are handlers. `hear` is called for each signal that is to end us."""
        self._numbers = ending_signals()
        self._hear = hear
        self._coming, self._told = socket.socketpair()
        self._told.setblocking(False)
        self._thread = threading.Thread(target=self._listen, name="signals", daemon=True)
        self._thread.start()
        self._before = signal.set_wakeup_fd(self._told.fileno(), warn_on_full_buffer=False)
        self.is_open = True

    def close(self) -> None:
        """Who heard signals before hears them again. What has come is heard to its end."""
        signal.set_wakeup_fd(self._before)
        self.is_open = False
        self._told.close()
        self._thread.join()
        self._coming.close()

    def _listen(self) -> None:
        while came := self._coming.recv(64):
            for number in came:
                if number in self._numbers:
                    self._hear(number)


def begin_apart(call: Callable[[], object]) -> None:
    """In a thread of its own, from the handler of a signal: it takes no lock, as what it interrupted may hold any."""
    _thread.start_new_thread(call, ())


def reason_of_crash(error: BaseException) -> str:
    """The words of an error that is not ours may be somebody's own: of such a one its kind is told, and its place."""
    if isinstance(error, RecollectError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {PurePath(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"it died of {type(error).__name__}{place}"
