"""The files of notes on the disk: reading, putting in place, taking away. Knows nothing of versions.

A file is made whole in the holding folder and then changes places with the one before it, which lies in the holding
folder from then on: what another program wrote there until the last moment, or is still writing, can be read and kept.
Nothing is followed that is a link, and nothing is opened that is not a plain file.
"""

import errno
import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from recollect.errors import Conflict, Denied, Unavailable
from recollect.notes.exchange import exchange, link_or_move
from recollect.notes.paths import HOLDING, is_name
from recollect.notes.versions import MOST_BYTES, Problem

FILE_MODE = 0o600
FOLDER_MODE = 0o700
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


@dataclass(slots=True)
class Seen:
    """All files of the folder."""

    files: dict[str, Look] = field(default_factory=dict[str, Look])
    problems: list[Problem] = field(default_factory=list[Problem])
    unknown: list[str] = field(default_factory=list[str])
    """Paths of which nothing can be said, and of nothing below them: that a note is not seen does not mean that it is
    gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A file took its place, or was taken away."""

    target: Path
    content: bytes | None
    """What lies there now; None: nothing."""
    look: Look | None
    held: Path
    """Where the file lies that was there before."""
    before: bytes | None
    """What stood in it; None: there was none."""


class Files:
    def __init__(self, root: Path) -> None:
        self.root = root

    def is_there(self) -> bool:
        return self.root.is_dir()

    # Reading

    def look(self, path: str) -> Look | None:
        """None: there is nothing."""
        target = self._target(path)
        try:
            return _look(_lstat_file(target, path)) if self._parents(path) else None
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _explained(error, path) from error

    def read(self, path: str) -> Contents | None:
        """None: there is nothing."""
        target = self._target(path)
        if not self._parents(path):
            return None
        try:
            return _contents(target, path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _explained(error, path) from error

    def names_in(self, folder: str) -> set[str]:
        """What is in a folder, as it is spelled there."""
        try:
            return set(os.listdir(self.root / folder))
        except OSError:
            return set()

    def walk(self) -> Seen:
        seen = Seen()
        self._walk("", seen)
        return seen

    def _walk(self, folder: str, seen: Seen) -> None:
        try:
            entries = sorted(os.scandir(self.root / folder), key=lambda entry: entry.name)
        except FileNotFoundError:
            return
        except OSError as error:
            seen.unknown.append(folder)
            seen.problems.append(Problem(path=folder, reason=f"cannot be read: {error.strerror}"))
            return
        for entry in entries:
            if entry.name.startswith("."):
                continue
            path = f"{folder}/{entry.name}" if folder else entry.name
            if not is_name(entry.name):
                seen.problems.append(Problem(path=path, reason="has a name that some systems do not allow"))
            elif entry.is_dir(follow_symlinks=False):
                self._walk(path, seen)
            else:
                self._see(entry, path, seen)

    def _see(self, entry: os.DirEntry[str], path: str, seen: Seen) -> None:
        try:
            seen.files[path] = _look(_checked(entry.stat(follow_symlinks=False), path))
        except FileNotFoundError:
            pass
        except Obstructed as error:
            seen.unknown.append(path)
            seen.problems.append(Problem(path=path, reason=str(error)))
        except OSError as error:
            seen.unknown.append(path)
            seen.problems.append(Problem(path=path, reason=f"cannot be read: {error.strerror}"))

    # Writing

    def make_root(self) -> bool:
        """Whether it had to be made."""
        if self.is_there():
            return False
        try:
            self.root.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        except OSError as error:
            raise _explained(error, str(self.root)) from error
        return True

    def place(self, path: str, content: bytes) -> Placed:
        """Let the file of a note be this; what was there before is in the holding folder."""
        target = self._target(path)
        held = self._stage(path, content)
        try:
            self._make_folders(path)
            was_there = _swap_in(held, target, path)
            before = _displaced(held, target, path) if was_there else None
        except OSError as error:
            _drop(held)
            raise _explained(error, path) from error
        except Obstructed:
            self.drop(held)
            raise
        if not was_there:
            self.drop(held)
            with suppress(OSError):
                os.rmdir(self.holding)
        return Placed(target=target, content=content, look=_look_at(target), held=held, before=before)

    def take(self, path: str) -> Placed | None:
        """Take the file of a note away, into the holding folder. None: there was none."""
        target = self._target(path)
        if not self._parents(path):
            return None
        held = self._new_place(path)
        try:
            _lstat_file(target, path)
            os.rename(target, held)
            before = _displaced(held, target, path)
        except FileNotFoundError:
            self.drop(held)
            return None
        except OSError as error:
            self.drop(held)
            raise _explained(error, path) from error
        return Placed(target=target, content=None, look=None, held=held, before=before)

    def revert(self, placed: Placed) -> None:
        """Put back what was there, as far as nobody has changed it since; what cannot go back stays in the holding
        folder, where the next look finds it."""
        with suppress(OSError, Obstructed):
            if placed.content is None:
                link_or_move(placed.held, placed.target)
            elif placed.before is not None:
                exchange(placed.held, placed.target)
            else:
                placed.held.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
                os.rename(placed.target, placed.held)
            if placed.content is not None and _contents(placed.held, "").content != placed.content:
                return
            self.drop(placed.held)

    def remove_folders(self, folder: str) -> None:
        """Folders with nothing in them."""
        for parent, _, _ in os.walk(self.root / folder, topdown=False):
            with suppress(OSError):
                os.rmdir(parent)

    # The holding folder

    @property
    def holding(self) -> Path:
        return self.root / HOLDING

    def held(self) -> Iterator[tuple[str, Path]]:
        """(path of the note, file) of all that lie there."""
        try:
            tokens = sorted(os.listdir(self.holding))
        except OSError:
            return
        for token in tokens:
            base = self.holding / token
            for parent, _, names in os.walk(base):
                for name in names:
                    file = Path(parent, name)
                    yield file.relative_to(base).as_posix(), file

    def read_held(self, file: Path) -> Contents | None:
        try:
            return _contents(file, file.name)
        except (OSError, Obstructed):
            return None

    def drop(self, file: Path) -> None:
        """With the folders above it, as far as they are empty."""
        _drop(file)
        for parent in file.parents:
            if parent == self.holding:
                return
            try:
                os.rmdir(parent)
            except FileNotFoundError:
                continue
            except OSError:
                return

    def tidy(self) -> None:
        """Remove what is empty there. Only while nobody else can be putting a file there."""
        for parent, _, _ in os.walk(self.holding, topdown=False):
            with suppress(OSError):
                os.rmdir(parent)

    def _new_place(self, path: str) -> Path:
        held = self.holding / uuid.uuid4().hex / path
        try:
            os.makedirs(held.parent, mode=FOLDER_MODE)
        except OSError as error:
            raise _explained(error, path) from error
        return held

    def _stage(self, path: str, content: bytes) -> Path:
        held = self._new_place(path)
        mode = FILE_MODE
        with suppress(OSError):
            mode = stat.S_IMODE(os.lstat(self._target(path)).st_mode) & 0o777
        try:
            opened = os.open(held, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), FILE_MODE)
            try:
                view = memoryview(content)
                while view:
                    view = view[os.write(opened, view) :]
                os.fsync(opened)
            finally:
                os.close(opened)
            if mode != FILE_MODE:
                os.chmod(held, mode | 0o600)
        except OSError as error:
            self.drop(held)
            raise _explained(error, path) from error
        return held

    # Places

    def _target(self, path: str) -> Path:
        return self.root / path

    def _parents(self, path: str) -> bool:
        """Whether the folders above a note are there, and are folders."""
        place = self.root
        for part in path.split("/")[:-1]:
            place = place / part
            try:
                mode = os.lstat(place).st_mode
            except FileNotFoundError:
                return False
            except OSError as error:
                raise _explained(error, path) from error
            if stat.S_ISLNK(mode):
                raise Obstructed(f"{path} lies behind a link ({place.name}). Notes are plain files in plain folders.")
            if not stat.S_ISDIR(mode):
                raise Obstructed(f"{path} cannot be: {place.name} is a file, not a folder. Choose another name.")
        return True

    def _make_folders(self, path: str) -> None:
        self._parents(path)
        parent = self._target(path).parent
        missing = [folder for folder in (parent, *parent.parents) if not folder.exists()]
        for folder in reversed(missing):
            with suppress(FileExistsError):
                os.mkdir(folder, FOLDER_MODE)


def _swap_in(held: Path, target: Path, path: str) -> bool:
    """Whether there was a file before; it is the one that is held now."""
    for _ in range(TRIES):
        try:
            _lstat_file(target, path)
            exchange(held, target)
        except FileNotFoundError:
            with suppress(FileExistsError):
                link_or_move(held, target)
                return False
            continue
        return True
    raise Unavailable(f"{path} is made and removed all the time by another program. Try again when it is done.")


def _displaced(held: Path, target: Path, path: str) -> bytes:
    """What stood in the file that was there. If it was no note after all, it is put back."""
    try:
        return _contents(held, path).content
    except Obstructed:
        with suppress(OSError):
            if os.path.lexists(target):
                exchange(held, target)
            else:
                os.rename(held, target)
        raise


def _contents(file: Path, path: str) -> Contents:
    opened = os.open(file, _OPEN)
    try:
        for _ in range(TRIES):
            before = _checked(os.fstat(opened), path)
            os.lseek(opened, 0, os.SEEK_SET)
            parts: list[bytes] = []
            size = 0
            while part := os.read(opened, 1 << 20):
                parts.append(part)
                size += len(part)
                if size > MOST_BYTES:
                    break
            after = _checked(os.fstat(opened), path)
            if _look(before) == _look(after):
                break
        return Contents(b"".join(parts), _look(after))
    finally:
        os.close(opened)


def _lstat_file(target: Path, path: str) -> os.stat_result:
    return _checked(os.lstat(target), path)


def _checked(found: os.stat_result, path: str) -> os.stat_result:
    if stat.S_ISLNK(found.st_mode):
        raise Obstructed(f"{path} is a link, and links are not followed. Put the file itself there.")
    if stat.S_ISDIR(found.st_mode):
        raise Obstructed(f"{path} is a folder, not a note. Name a file in it, or move the folder away.")
    if not stat.S_ISREG(found.st_mode):
        raise Obstructed(f"{path} is no plain file. Move it out of the folder of notes.")
    if found.st_size > MOST_BYTES:
        raise Obstructed(
            f"{path} has {found.st_size / 1e6:,.0f} MB, and a note at most {MOST_BYTES / 1e6:,.0f} MB. It is left as "
            "it is and not kept: shorten it, or move it out of the folder of notes."
        )
    return found


def _look(found: os.stat_result) -> Look:
    return Look(found.st_size, found.st_mtime_ns, found.st_ino)


def _look_at(target: Path) -> Look | None:
    try:
        return _look(os.lstat(target))
    except OSError:
        return None


def _drop(file: Path) -> None:
    with suppress(OSError):
        os.unlink(file)


def _explained(error: OSError, path: str) -> Exception:
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
