"""One plain file of the folder: what it looks like, what is in it, and what to say where it is none.

Nothing is followed that is a link, and nothing is opened that is not a plain file.
"""

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from recollect.errors import Conflict, Denied, RecollectError, Unavailable
from recollect.notes.versions import MOST_BYTES

TRIES = 5
"""Of reading a file that is written meanwhile, and of taking a place that others take too."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Obstructed(Conflict):
    """Something lies there that is no note. It stays as it is."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a file looks from outside."""

    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Contents:
    content: bytes
    look: Look


def contents_of(file: Path, path: str) -> Contents:
    """`path`: what it is called in messages. A file that is written meanwhile is read again, a few times."""
    opened = os.open(file, _OPEN)
    try:
        before = look_of(checked_stat(os.fstat(opened), path))
        for _ in range(TRIES):
            os.lseek(opened, 0, os.SEEK_SET)
            content = _read(opened)
            after = look_of(checked_stat(os.fstat(opened), path))
            if before == after:
                break
            before = after
        return Contents(content, after)  # pyright: ignore[reportPossiblyUnboundVariable]  there is a first try
    finally:
        os.close(opened)


def _read(opened: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while size <= MOST_BYTES and (part := os.read(opened, 1 << 20)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def lstat_file(target: Path, path: str) -> os.stat_result:
    return checked_stat(os.lstat(target), path)


def checked_stat(found: os.stat_result, path: str) -> os.stat_result:
    if stat.S_ISLNK(found.st_mode):
        raise Obstructed(f"{path} is a link, and links are not followed. Put the file itself there.")
    if stat.S_ISDIR(found.st_mode):
        raise Obstructed(f"{path} is a folder, not a note. `recollect notes list {path}` shows what is in it.")
    if not stat.S_ISREG(found.st_mode):
        raise Obstructed(f"{path} is no plain file. Move it out of the folder of notes.")
    if found.st_size > MOST_BYTES:
        raise Obstructed(
            f"{path} has {found.st_size / 1e6:,.0f} MB, and a note at most {MOST_BYTES / 1e6:,.0f} MB. It is left as "
            "it is and not kept: shorten it, or move it out of the folder of notes."
        )
    return found


def look_of(found: os.stat_result) -> Look:
    return Look(found.st_size, found.st_mtime_ns, found.st_ino)


def look_at(target: Path) -> Look | None:
    try:
        return look_of(os.lstat(target))
    except OSError:
        return None


def explained(error: OSError, path: str) -> RecollectError:
    if error.errno in _FULL:
        return Unavailable(
            f"The disk is full: {path} was not written, and is as it was. Free some space and try again."
        )
    if error.errno == errno.ELOOP:
        return Obstructed(f"{path} is a link, and links are not followed. Put the file itself there.")
    if error.errno in (errno.EISDIR, errno.ENOTDIR, errno.EEXIST):
        return Obstructed(f"{path} cannot be a note: there is a folder where a file should be, or a file above it.")
    if error.errno == errno.ENAMETOOLONG:
        return Obstructed(f"{path[:80]}… is too long a name for this disk.")
    return Denied(f"{path} cannot be read or written: {error.strerror}. Check the permissions of the folder of notes.")
