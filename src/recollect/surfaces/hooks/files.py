"""Files of other programs: read as they are, written whole or not at all.

A file keeps its mode, and a link stays a link: what it leads to is changed. A backup lies beside the file, for its
owner alone, since settings may hold keys.
"""

import hashlib
import os
import re
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from recollect.errors import Conflict, Denied, Invalid

PRIVATE = 0o600


def read_text(path: str) -> str | None:
    """None: it is not there."""
    raw = read_bytes(path)
    if raw is None:
        return None
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise Invalid(
            f"{path} is not UTF-8 text (byte {error.start}). Mend it or move it away; nothing was changed."
        ) from error


def read_bytes(path: str) -> bytes | None:
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Invalid(f"{path} is no regular file. Nothing was changed.")
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Denied(f"{path} cannot be read: {error.strerror}. Check its permissions; nothing was changed.") from error


def _without_waiting(path: str, flags: int) -> int:
    """A pipe would keep whoever opens it until somebody writes into it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def digest_of(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def is_private(path: str) -> bool:
    """Whether only its owner can read it. One that is not there yet will be."""
    try:
        return not os.stat(path).st_mode & 0o077
    except OSError:
        return True


def check_writable(path: str) -> None:
    """Before anything is written anywhere. Whoever made a file read-only meant it, though its folder lets us replace
    it: its bits are asked, as root may write everything. The folder is needed for a new file, and to change places."""
    real = os.path.realpath(path)
    folder = os.path.dirname(real)
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Denied(f"{path} cannot be written: {folder} is read-only. Make it writable; nothing was changed.")
    try:
        mode = os.stat(real).st_mode
    except OSError:
        return
    if not mode & stat.S_IWUSR:
        raise Denied(f"{path} is read-only. `chmod u+w` it, then try again; nothing was changed.")


def write_over(path: str, before: bytes | None, after: bytes | None) -> bool:
    """Put `after` in the place of `before`, None being no file; False: something else stands there by now."""
    real = os.path.realpath(path)
    if after is None:
        if read_bytes(real) != before:
            return False
        remove(real)
        return True
    return write(path, after, is_wanted=lambda: read_bytes(real) == before)


def written_meanwhile(path: str) -> Conflict:
    return Conflict(f"{path} is being written by another program all the time. End the agent, then try again.")


def write(path: str, raw: bytes, mode: int = PRIVATE, is_wanted: Callable[[], bool] = lambda: True) -> bool:
    """`mode`: that of a file that is not there yet. `is_wanted`: asked when all that is left is to change places."""
    real = os.path.realpath(path)
    temporary = f"{real}.recollect-{secrets.token_hex(4)}.new"
    try:
        with suppress(OSError):
            mode = stat.S_IMODE(os.stat(real).st_mode)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
        with open(descriptor, "wb") as file:
            file.write(raw)
            file.flush()
            os.fchmod(file.fileno(), mode)
            _keep_owner(real, file.fileno())
            os.fsync(file.fileno())
        if not is_wanted():
            os.unlink(temporary)
            return False
        os.replace(temporary, real)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise Denied(f"{path} cannot be written: {error.strerror}. Check the permissions of its folder.") from error
    return True


def _keep_owner(path: str, descriptor: int) -> None:
    """Of interest where root does it for somebody."""
    with suppress(OSError):
        known = os.stat(path)
        if (known.st_uid, known.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(descriptor, known.st_uid, known.st_gid)


def backup_place(path: str, at: datetime) -> str:
    """Where a copy is to lie: beside the file, with the time in its name."""
    name = f"{os.path.realpath(path)}.recollect-{at:%Y%m%dT%H%M%SZ}"
    place, number = name, 1
    while os.path.lexists(place):
        number += 1
        place = f"{name}-{number}"
    return place


def copies_of(path: str) -> list[str]:
    """Those that a `backup_place` named and that still lie there."""
    folder, name = os.path.split(os.path.realpath(path))
    is_copy = re.compile(rf"{re.escape(name)}\.recollect-\d{{8}}T\d{{6}}Z(-\d+)?").fullmatch
    with suppress(OSError):
        return sorted(os.path.join(folder, found) for found in os.listdir(folder) if is_copy(found))
    return []


def sweep(path: str) -> None:
    """Take away what a `write` of this file, or of a copy of it, left when it was cut off."""
    folder, name = os.path.split(os.path.realpath(path))
    is_left = re.compile(rf"{re.escape(name)}(\.recollect-[0-9TZ-]+)?\.recollect-[0-9a-f]{{8}}\.new").fullmatch
    with suppress(OSError):
        for found in os.listdir(folder):
            if is_left(found):
                os.unlink(os.path.join(folder, found))


def missing_folders(path: str) -> list[str]:
    """Which folders would have to be made, the innermost first."""
    missing: list[str] = []
    folder = Path(path)
    while not folder.exists():
        missing.append(str(folder))
        folder = folder.parent
    return missing


def make_folder(path: str) -> None:
    try:
        for one in reversed(missing_folders(path)):
            os.mkdir(one, 0o700)
    except OSError as error:
        raise Denied(f"{path} cannot be made: {error.strerror}. Check the permissions above it.") from error


def remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise Denied(f"{path} cannot be removed: {error.strerror}. Check the permissions of its folder.") from error


def remove_empty(folders: list[str]) -> None:
    """Those of them that are empty, in this order."""
    for folder in folders:
        with suppress(OSError):
            os.rmdir(folder)
