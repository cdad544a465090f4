"""Noticing that transcripts changed.

Events are hints: they are lost on network disks, in new folders and under load. So an event only says where to look,
the folder it names is looked through as a whole, and everything is scanned again at a fixed interval anyway.
"""

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DEBOUNCE_MILLISECONDS = 500
"""One turn of an agent is many writes: a burst is one pass."""


@dataclass(frozen=True, slots=True)
class Hint:
    """Where something changed; None: time for a scan of everything."""

    folders: list[str] | None


class Watcher:
    """Gives hints until `stop` is set. Without events (`problem` says why) only the interval is left; after each they
    are asked for again."""

    def __init__(self, roots: list[Path], interval_seconds: float, stop: threading.Event) -> None:
        self._roots = roots
        self._interval = interval_seconds
        self._stop = stop
        self.problem = ""

    def hints(self) -> Iterator[Hint]:
        due = time.monotonic() + self._interval
        for folders in self._changes():
            now = time.monotonic()
            if now >= due:
                due = now + self._interval
                yield Hint(None)
            elif folders:
                yield Hint(folders)

    def _changes(self) -> Iterator[list[str]]:
        """Folders in which something changed; an empty list now and then."""
        while not self._stop.is_set():
            existing = [str(root) for root in self._roots if os.path.exists(root)]
            files = [root for root in existing if not os.path.isdir(root)]
            if not existing:
                self.problem = "there is no folder to watch yet"
            try:
                for folders in self._events(existing, files) if existing else ():
                    self.problem = ""
                    yield folders
            except (OSError, RuntimeError) as error:
                self.problem = f"the operating system gives no events ({error})"
            again_at = time.monotonic() + self._interval
            while time.monotonic() < again_at and not self._stop.wait(min(self._interval, 1.0)):
                yield []

    def _events(self, paths: list[str], files: list[str]) -> Iterator[list[str]]:
        """A database changes in its log first."""
        from watchfiles import watch

        wait = int(min(self._interval, 1.0) * 1000)
        logs = [f"{file}-wal" for file in files if os.path.exists(f"{file}-wal")]
        changes = watch(
            *paths,
            *logs,
            debounce=DEBOUNCE_MILLISECONDS,
            rust_timeout=wait,
            yield_on_timeout=True,
            stop_event=self._stop,
            raise_interrupt=False,
            ignore_permission_denied=True,
            watch_filter=None,
        )
        for events in changes:
            yield sorted({place for _, path in events for place in _places(path, files)})


def _places(path: str, files: list[str]) -> list[str]:
    """Where to look: a new folder itself, for a file its folder; a file that is watched by itself is what changed."""
    own = [file for file in files if path in (file, f"{file}-wal")]
    return own or [path if os.path.isdir(path) else os.path.dirname(path)]
