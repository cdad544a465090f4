"""What becomes of files that were replaced: what stands in them and was never seen becomes a version, then they go.

A program that had a file open when it was replaced writes on into the old one. So each is kept for a while and read
once more, and goes only when a later sweep finds it among the versions: a transaction that fails loses nothing.
"""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.database import Session
from recollect.errors import Conflict, Denied
from recollect.notes.paths import is_path
from recollect.notes.plain import Look
from recollect.notes.versions import Action, Looked, Problem, digest_of

if TYPE_CHECKING:
    from recollect.notes.folder import Folder, Writing

GRACE_SECONDS = 2.0
"""How long a replaced file is kept at least."""

Purge = Callable[[Session, str, bytes], bytes]
"""(session, path, content) → the content without what was forgotten."""


class Sweeping:
    def __init__(self, folder: "Folder", purge: Purge, grace_seconds: float = GRACE_SECONDS) -> None:
        self._folder = folder
        self._purge = purge
        self._grace = grace_seconds
        self._swept_at = 0.0

    def is_due(self) -> bool:
        """Whether a writer should do it: not after each write of many."""
        now = time.monotonic()
        if now - self._swept_at <= self._grace:
            return False
        self._swept_at = now
        return True

    def sweep(self, looked: Looked, *, at_once: bool = False) -> None:
        """Files that were replaced: what is in them and was never seen becomes a version; a later sweep, which finds it
        among the versions, lets them go. `at_once`: without waiting for who may still write into one."""
        holding = self._folder.files.holding
        if not holding.is_there():
            return
        if at_once:
            self.sweep(looked)
        # Whoever writes puts files there while it holds the lock of writers: with it, nobody is at it.
        with self._folder.writing() as writing:
            holding.drop_unfinished()
            for path, file in holding.files():
                if self._is_done(writing, path, file, at_once=at_once):
                    holding.drop(file)
            holding.tidy()
        looked.found += writing.looked.found
        looked.problems += writing.looked.problems

    def _is_done(self, writing: "Writing", path: str, file: Path, *, at_once: bool) -> bool:
        """Whether a file that is held is not needed any more. One that cannot be kept stays, and is told."""
        try:
            held = self._folder.files.holding.read(file)
            if held is None:
                return False
            is_known = self._keep(writing, path, held.content)
        except (Conflict, Denied) as error:
            name = file.relative_to(self._folder.files.root).as_posix()
            writing.looked.problems.append(Problem(path=name, reason=str(error)))
            return False
        return is_known and (at_once or _age_seconds(file, held.look) > self._grace)

    def _keep(self, writing: "Writing", path: str, content: bytes) -> bool:
        """Whether it is a version already, or need not be one. Else it becomes one, that comes before what is in the
        file now, which is written down once more after it."""
        if not content or not is_path(path) or writing.store.was_there(path, digest_of(content)):
            return True
        content = self._purge(writing.session, path, content)
        if not content or writing.store.was_there(path, digest_of(content)):
            return True
        head = self._folder.settle(writing, path)
        if writing.store.was_there(path, digest_of(content)):
            return False
        found = self._folder.next_found(writing, path, content, head, unseen=0)
        writing.store.add(found, content)
        writing.looked.found.append(found)
        now = writing.store.note(path, head.number) if head else None
        after = replace(
            found,
            number=found.number + 1,
            action=Action.KEPT,
            digest=now.digest if now else "",
            size=now.size if now else 0,
            unseen=found.number,
            review="",
        )
        writing.store.add(after, now.content if now else b"")
        copy = writing.store.copy(self._folder.copy, path)
        if copy:
            writing.store.save_copy(self._folder.copy, replace(copy, number=after.number))
        return False


def _age_seconds(file: Path, look: Look) -> float:
    """Since it was last written, or came here. A time that is still to come, as some tools set it, says nothing."""
    now = time.time()
    try:
        came = os.lstat(file).st_ctime
    except OSError:
        came = 0.0
    return now - max((moment for moment in (came, look.mtime_ns / 1e9) if moment <= now), default=0.0)
