"""Locks on files, which the operating system drops when their holder dies, however it dies; one daemon per home."""

import os
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from recollect.errors import Conflict, Denied

TRIES = 10
TRY_AGAIN_SECONDS = 0.05
"""Who only looks has a share of the lock for a moment; another daemon has all of it for good."""


class HomeLock:
    """Held from `acquire` until `release` or the end of the process."""

    def __init__(self, runtime: Path, wait: Callable[[float], object] = time.sleep) -> None:
        """`wait`: between two tries, for so many seconds."""
        self._path = runtime / "daemon.lock"
        self._wait = wait
        self._file: IO[str] | None = None

    def acquire(self) -> None:
        if not self._take():
            raise Conflict(
                f"Recollect already runs for {self._path.parent.parent} (process {self._holder}). "
                "One is enough: it takes everything in. Stop that one first, or use another --home."
            )

    def keep(self) -> None:
        """Take it anew where its file was removed, as nobody would see that it is held. Raises `Conflict` where
        somebody else has it by now. A home that was removed as a whole is not made again."""
        held = self._file
        if held is None or is_at(self._path, held) or not os.path.exists(self._path.parent.parent):
            return
        if not self._take():
            raise Conflict(
                f"{self._path} was removed while Recollect ran, and another one runs for {self._path.parent.parent} "
                f"by now (process {self._holder}). One is enough, so this one ends."
            )
        held.close()

    @property
    def _holder(self) -> str:
        return holder_of(self._path.parent) or "unknown"

    def _take(self) -> bool:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = open(self._path, "a+", encoding="utf-8")  # noqa: SIM115  held open as long as the lock is
        except OSError as error:
            raise Denied(f"{self._path} cannot be made: {error.strerror}. Choose another home with --home.") from error
        if not self._lock(file):
            file.close()
            return False
        self._file = file
        with suppress(OSError):  # The lock holds without it: the number is for messages only.
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
        return True

    def _lock(self, file: IO[str]) -> bool:
        for left in reversed(range(TRIES)):
            if try_lock(file):
                return True
            if left:
                self._wait(TRY_AGAIN_SECONDS)
        return False

    def release(self) -> None:
        file, self._file = self._file, None  # Two threads may do so at once, at a forced end.
        if file:
            with suppress(OSError):
                file.truncate(0)
            with suppress(OSError):
                file.close()


def holder_of(runtime: Path) -> str:
    """The number of the process that holds the lock. Empty: nobody does, or it is not known."""
    try:
        return (runtime / "daemon.lock").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def is_locked(runtime: Path) -> bool:
    """Whether a daemon holds the lock now. Others may look at the same moment; no file is made by looking."""
    try:
        with open(runtime / "daemon.lock", encoding="utf-8") as file:
            return not try_lock(file, is_shared=True)
    except OSError:
        return False


@contextmanager
def alone(path: Path) -> Generator[None]:
    """Waits until nobody else has the lock of this file. Where no file can be made, nothing can be kept beside it
    either, and everybody goes on without."""
    with ExitStack() as stack:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            wait_for_lock(stack.enter_context(open(path, "a+b")))
        yield


def is_at(path: Path, file: IO[Any]) -> bool:
    """Whether the path still leads to this open file: nobody moved it away or removed it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except (OSError, ValueError):  # It was closed meanwhile.
        return False


if os.name == "nt":  # pragma: no cover
    import msvcrt

    def try_lock(file: IO[str], *, is_shared: bool = False) -> bool:
        """Whether it is ours now: until the file is closed, or the process ends. Here nobody shares one."""
        try:
            file.seek(0x7FFF_0000)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def wait_for_lock(file: IO[bytes]) -> None:
        """It is ours when this returns, as above."""
        while True:
            try:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
            except OSError:  # After ten seconds of waiting.
                continue
            return
else:
    import fcntl

    def try_lock(file: IO[str], *, is_shared: bool = False) -> bool:
        """Whether it is ours now: until the file is closed, or the process ends. `is_shared`: with all who ask for it
        so, and nobody else."""
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def wait_for_lock(file: IO[bytes]) -> None:
        """It is ours when this returns, as above."""
        fcntl.flock(file, fcntl.LOCK_EX)
