"""Keeps the versions of a daemon's notes up to date with their folder.

One thread looks at everything at the interval of the settings, and at single files when the operating system says that
they changed. Such events are hints: they are lost on network disks, in new folders and under load, and nothing depends
on them. Whatever fails is recorded and tried again; it never ends the daemon (`supervision`). A look that hangs on a
broken disk must not be the last one: its thread is replaced.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from recollect.clock import to_text
from recollect.errors import RecollectError
from recollect.memory import Memory
from recollect.notes.paths import MOST_DEPTH, is_name
from recollect.supervision import Shift, Supervised

DEBOUNCE_MILLISECONDS = 100
"""A program saves a file in several steps: those within this time are one change."""
TICK_SECONDS = 1.0
"""Between two signs of life when nothing changes."""
EXPIRY_SECONDS = 600.0
"""At most so often scratch pages are looked through for old ones: they live for days, and it is one more look."""
HANGING_INTERVALS = 5
HANGING_SECONDS = 60.0
"""A thread that has not moved for so many intervals, and for so long, hangs."""

EVERYTHING: None = None
Hint = list[str] | None
"""Notes that may have changed; EVERYTHING: look at all."""
Events = Iterable[tuple[int, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesProgress:
    looked_at: str = ""
    """When everything was last looked at."""
    problem: str = ""
    restarts: int = 0


class Notekeeping:
    def __init__(
        self, memory: Memory, tell: Callable[[NotesProgress], None], now: Callable[[], float] = time.monotonic
    ) -> None:
        """`tell` is called from both threads. `now`: seconds, to see who hangs."""
        self._memory = memory
        self._tell = tell
        self._now = now
        self._interval = memory.settings.poll_interval_seconds
        self._looked_at = ""
        self._problems: dict[str, str] = {}
        self._expire_at = now()
        self.part = Supervised(
            "notes",
            self._work,
            on_crash=self._note_crash,
            hanging_seconds=max(HANGING_SECONDS, HANGING_INTERVALS * self._interval),
            now=now,
            clock=memory.clock,
        )

    # Called by the daemon

    def look(self, hint: Hint = EVERYTHING) -> None:
        """At the files of these notes, or of all, and on the way throw away what has had its time."""
        started = time.monotonic()
        try:
            looked = self._memory.notes.look(hint)
            if hint is EVERYTHING:
                self._looked_at = to_text(self._memory.clock())
                self._expire()
            if looked.found or looked.put_back:
                detail: dict[str, object] = {"found": len(looked.found), "put_back": len(looked.put_back)}
                self._memory.runs.record("notes", "done", time.monotonic() - started, detail)
            self._problems.pop("look", None)
        except RecollectError as error:
            self._note("look", str(error), time.monotonic() - started)
        self._tell_progress()

    def _expire(self) -> None:
        now = self._now()
        if now >= self._expire_at:
            self._memory.notes.scratch.expire()
            self._expire_at = now + EXPIRY_SECONDS

    def start(self) -> None:
        self.part.start()

    # In the background

    def _work(self, shift: Shift) -> None:
        watch = FolderWatch(self._memory.notes.folder, self._interval, shift.ended)
        self._problems.pop("watch", None)
        for hint in watch.hints():
            shift.moved_at = self._now()
            if hint is EVERYTHING or hint:
                self.look(hint)
                shift.moved_at = self._now()
            if watch.problem:
                self._note("watch", watch.problem, 0.0)
            elif self._problems.pop("watch", ""):
                self._tell_progress()

    def _note_crash(self, reason: str) -> None:
        self._note("look", reason, 0.0)
        self._tell_progress()

    def _note(self, what: str, problem: str, seconds: float) -> None:
        """Each problem is recorded once, however often it is met."""
        if problem == self._problems.get(what):
            return
        self._problems[what] = problem
        with suppress(RecollectError):  # The database may be what fails.
            self._memory.runs.record("notes", "failed", seconds, {"reason": problem})
        self._tell_progress()

    def _tell_progress(self) -> None:
        problem = next(iter(list(self._problems.values())), "")
        self._tell(NotesProgress(looked_at=self._looked_at, problem=problem, restarts=self.part.restarts))


class FolderWatch:
    """Hints about a folder until `stop` is set: also before the folder is there, and after it was replaced.

    Each folder below it is watched by itself: to watch it as a whole would follow links out of it, and would report our
    own files on their way.
    """

    def __init__(self, folder: Path, interval_seconds: float, stop: threading.Event) -> None:
        self._folder = folder
        self._interval = interval_seconds
        self._stop = stop
        self.problem = ""
        """Why there are no events. Then only the interval is left, after which they are asked for again."""

    def hints(self) -> Iterator[Hint]:
        """An empty one now and then: nothing changed, and the watch is alive."""
        yield EVERYTHING
        due = time.monotonic() + self._interval
        for hint in self._changes():
            now = time.monotonic()
            if now >= due:
                due, hint = now + self._interval, EVERYTHING
            yield hint

    def _changes(self) -> Iterator[Hint]:
        again_at = 0.0
        while not self._stop.is_set():
            folders = folders_below(str(self._folder))
            if folders and time.monotonic() >= again_at:
                yield from self._watched(folders)
                again_at = time.monotonic() + self._interval if self.problem else 0.0
            elif not self._stop.wait(self._tick):
                # The folder itself may be new.
                yield EVERYTHING if not self.problem and os.path.exists(self._folder) else []

    def _watched(self, folders: dict[str, int]) -> Iterator[Hint]:
        """Until a folder comes or goes."""
        check_at = time.monotonic() + self._interval
        is_new = True
        try:
            for events in self._events(folders):
                self.problem = ""
                now = time.monotonic()
                is_moved = any(_is_folder(path, folders) for _, path in events)
                if not is_moved and now >= check_at:
                    check_at = now + self._interval
                    is_moved = folders_below(str(self._folder)) != folders
                # What happened just before the watch began has no event.
                yield EVERYTHING if is_new or is_moved else self._notes(events)
                is_new = False
                if is_moved:
                    return
        except FileNotFoundError:  # A folder went between the listing and the watch: list again.
            return
        except (OSError, RuntimeError) as error:
            self.problem = f"the operating system gives no events for {self._folder} ({error})"

    def _events(self, folders: dict[str, int]) -> Iterator[Events]:
        from watchfiles import watch

        return watch(
            *folders,
            debounce=DEBOUNCE_MILLISECONDS,
            rust_timeout=int(self._tick * 1000),
            yield_on_timeout=True,
            stop_event=self._stop,
            raise_interrupt=False,
            ignore_permission_denied=True,
            recursive=False,
            watch_filter=None,
        )

    def _notes(self, events: Events) -> Hint:
        """The names of what changed. What is gone may have been a folder: then nobody knows which notes were in it."""
        names: set[str] = set()
        for _, path in events:
            name = os.path.relpath(path, self._folder).replace(os.sep, "/")
            if all(is_name(part) for part in name.split("/")):
                if not os.path.lexists(path) and "." not in os.path.basename(path):
                    return EVERYTHING
                names.add(name)
        return sorted(names)

    @property
    def _tick(self) -> float:
        return min(self._interval, TICK_SECONDS)


def folders_below(folder: str, levels: int = MOST_DEPTH - 1) -> dict[str, int]:
    """Path → inode of a folder and of all that may have notes below it; links are not followed."""
    try:
        found = {folder: os.stat(folder).st_ino}
        with os.scandir(folder) as entries:
            below = [entry.path for entry in entries if is_name(entry.name) and entry.is_dir(follow_symlinks=False)]
    except OSError:
        return {}
    for path in below if levels else ():
        found |= folders_below(path, levels - 1)
    return found


def _is_folder(path: str, folders: dict[str, int]) -> bool:
    """One that is not watched yet, or that is not there any more."""
    if path in folders:
        return not os.path.isdir(path)
    return is_name(os.path.basename(path)) and os.path.isdir(path) and not os.path.islink(path)
