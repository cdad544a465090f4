"""Making something whole before it has its name.

It is made in a folder of its own beside the place, for its owner's eyes only, and moved when it is whole and on the
disk. A killed program leaves that folder; the next one that makes something there removes it, told by a lock that the
operating system drops with its holder.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from recollect.errors import Conflict, Denied, Invalid, NotFound, RecollectError, Unavailable
from recollect.lock import try_lock

TEMPORARY = ".recollect-part-"
LOCK = "lock"


@contextmanager
def placing(target: Path) -> Generator[Path]:
    """Where to make what shall lie at the target. Leaving the block moves it there, an exception leaves nothing."""
    with explained(target):
        _refuse_existing(target)
        _clear(target.parent)
        folder, file = _locked_folder(target.parent)
        try:
            with file:
                made = folder / target.name
                yield made
                _sync_all(made)
                _refuse_existing(target)
                os.rename(made, target)
                _sync(target.parent)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _sync_all(path: Path) -> None:
    """To the disk, with everything below it."""
    for item in path.iterdir() if path.is_dir() else ():
        _sync_all(item)
    _sync(path)


def _sync(path: Path) -> None:
    if path.is_dir() and os.name == "nt":  # pragma: no cover
        return  # Windows opens no folder.
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@contextmanager
def explained(target: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise _explain(target, error) from error


def _explain(target: Path, error: OSError) -> RecollectError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Unavailable(f"The disk of {target} is full. Free some space, or choose another place.")
    if isinstance(error, FileNotFoundError) and target.parent.is_dir():  # As /proc says it.
        return Denied(f"{target} cannot be made: nobody can make a file in {target.parent}. Choose another place.")
    if isinstance(error, FileNotFoundError):
        return NotFound(f"{target.parent} does not exist. Make that folder first, or choose another place.")
    if isinstance(error, NotADirectoryError) or error.errno == errno.ENAMETOOLONG:
        return Invalid(f"{target} cannot be made: {error.strerror}. Choose another place.")
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return Denied(f"{target} cannot be made: {error.strerror}. Choose a folder that you may write to.")
    return Unavailable(f"{target} cannot be written: {error.strerror}. Choose another place, or try again.")


def _refuse_existing(target: Path) -> None:
    if os.path.lexists(target):
        raise Conflict(f"{target} is there already. Choose a new name, or move it away; nothing was written.")


def _locked_folder(parent: Path) -> tuple[Path, TextIO]:
    """A new folder and its lock. Who clears up may take away a folder that has no lock yet: then another is made."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=TEMPORARY, dir=parent))
        try:
            file = open(folder / LOCK, "w", encoding="utf-8")  # noqa: SIM115  closed by who works in the folder
        except FileNotFoundError:
            continue
        try_lock(file)
        return folder, file


def _clear(folder: Path) -> None:
    """What killed programs left."""
    for left in folder.glob(f"{TEMPORARY}*"):
        with suppress(OSError):
            left.rmdir()  # Killed before it had a lock: there is nothing in it.
        with suppress(OSError), open(left / LOCK, "r+", encoding="utf-8") as file:
            if try_lock(file):
                shutil.rmtree(left, ignore_errors=True)
