"""The files of notes on the disk: reading, putting in place, taking away. Knows nothing of versions.

A file is made whole in the holding folder and then changes places with the one before it, which lies in the holding
folder from then on: what another program wrote there until the last moment, or is still writing, can be read and kept.
Nothing is followed that is a link, and nothing is opened that is not a plain file.
"""

import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from recollect.errors import Denied, RecollectError, Unavailable
from recollect.notes.exchange import exchange, link_or_move
from recollect.notes.holding import FILE_MODE, FOLDER_MODE, Holding
from recollect.notes.paths import MOST_DEPTH, MOST_PATH_BYTES, is_leftover, is_name, is_placed, is_short
from recollect.notes.plain import (
    TRIES,
    Contents,
    Look,
    Obstructed,
    checked_stat,
    contents_of,
    explained,
    look_at,
    look_of,
    lstat_file,
)
from recollect.notes.starter import GITIGNORE_TEXT
from recollect.notes.versions import Problem


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
        self.holding = Holding(root)

    def is_there(self) -> bool:
        return self.root.is_dir()

    def is_lost(self) -> bool:
        """Nothing is there, not even what a folder of notes begins with: as when it was deleted, or its disk is not
        mounted."""
        try:
            with os.scandir(self.root) as entries:
                return next(entries, None) is None
        except OSError:
            return not self.is_there()

    def check_root(self) -> None:
        """Obstructed where something else lies in the place of the folder."""
        if os.path.lexists(self.root) and not self.is_there():
            raise Obstructed(f"{self.root} is no folder, and notes lie in a folder of that name. Move it away.")

    def check_access(self) -> None:
        if self.is_there() and not os.access(self.root, os.R_OK | os.X_OK):
            raise Denied(f"{self.root} may not be read. Check its permissions.")

    # Reading

    def has(self, path: str) -> bool:
        """Whether anything lies there, a note or not."""
        return os.path.lexists(self._target(path))

    def look(self, path: str) -> Look | None:
        """None: there is nothing."""
        target = self._target(path)
        try:
            return look_of(lstat_file(target, path)) if self._parents(path) else None
        except FileNotFoundError:
            return None
        except OSError as error:
            self.check_root()
            raise explained(error, path) from error

    def read(self, path: str) -> Contents | None:
        """None: there is nothing."""
        target = self._target(path)
        if not self._parents(path):
            return None
        try:
            return contents_of(target, path)
        except FileNotFoundError:
            return None
        except OSError as error:
            self.check_root()
            raise explained(error, path) from error

    def names_in(self, folder: str) -> set[str]:
        """What is in a folder, as it is spelled there."""
        try:
            return set(os.listdir(self.root / folder))
        except OSError:
            return set()

    def names_below(self, path: str) -> list[str]:
        """The file of this name, or those in the folder of this name; nothing of what is no note."""
        seen = Seen()
        with suppress(OSError, RecollectError):
            if self._parents(path) and stat.S_ISDIR(os.lstat(self._target(path)).st_mode):
                self._walk(path, seen)
            elif self.look(path):
                return [path]
        return list(seen.files)

    def is_displaced(self, path: str) -> bool:
        """Whether there are notes where this one, or a folder above it, was: then it is not there."""
        above = [path.rsplit("/", levels)[0] for levels in range(1, path.count("/") + 1)]
        return any(self.names_below(one) == [one] for one in above) or self.names_below(path) not in ([], [path])

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
            if entry.name.startswith(".") or is_leftover(entry.name):
                continue
            path = f"{folder}/{entry.name}" if folder else entry.name
            wrong = _wrong(entry, path)
            if wrong:
                seen.problems.append(Problem(path=path, reason=wrong))
            elif entry.is_dir(follow_symlinks=False):
                self._walk(path, seen)
            else:
                self._see(entry, path, seen)

    def _see(self, entry: os.DirEntry[str], path: str, seen: Seen) -> None:
        try:
            seen.files[path] = look_of(checked_stat(entry.stat(follow_symlinks=False), path))
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
        """Whether it had to be made. It is private from the first moment."""
        if not self.is_lost():
            return False
        self.check_root()
        try:
            self.root.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        except OSError as error:
            raise explained(error, str(self.root)) from error
        self.make_private()
        return True

    def make_private(self) -> None:
        """Keep it out of a repository around it. A new folder for which that fails goes again: the next time begins
        anew."""
        ignore = self.root / ".gitignore"
        try:
            with ignore.open("x", encoding="utf-8") as file:
                file.write(GITIGNORE_TEXT)
        except FileExistsError:
            return
        except OSError as error:
            with suppress(OSError):
                ignore.unlink(missing_ok=True)
                self.root.rmdir()
            raise explained(error, ignore.name) from error

    def place(self, path: str, content: bytes) -> Placed:
        """Let the file of a note be this; what was there before is in the holding folder."""
        target = self._target(path)
        held = self.holding.stage(path, content, self._mode(path))
        # Not after it took its place: by then it may be somebody else's file that lies there.
        look = look_at(held)
        try:
            was_there = self._swap_in(held, target, path)
        except OSError as error:
            self.holding.drop(held)
            raise explained(error, path) from error
        except RecollectError:
            self.holding.drop(held)
            raise
        before = self._displaced(held, target, path, look) if was_there else None
        if not was_there:
            self.holding.drop(held)
            with suppress(OSError):
                os.rmdir(self.holding.folder)
        return Placed(target=target, content=content, look=look, held=held, before=before)

    def take(self, path: str) -> Placed | None:
        """Take the file of a note away, into the holding folder. None: there was none."""
        target = self._target(path)
        if not self._parents(path):
            return None
        held = self.holding.new_place(path)
        try:
            lstat_file(target, path)
            os.rename(target, held)
        except FileNotFoundError:
            self.holding.drop(held)
            return None
        except OSError as error:
            self.holding.drop(held)
            raise explained(error, path) from error
        before = self._displaced(held, target, path, None)
        return Placed(target=target, content=None, look=None, held=held, before=before)

    def _swap_in(self, held: Path, target: Path, path: str) -> bool:
        """Whether there was a file before; it is the one that is held now."""
        for _ in range(TRIES):
            try:
                if self._parents(path):
                    lstat_file(target, path)
                    exchange(held, target)
                    return True
            except FileNotFoundError:
                pass
            with suppress(FileExistsError, FileNotFoundError):  # Others make and remove files and folders too.
                self._make_folders(path)
                link_or_move(held, target)
                return False
        raise Unavailable(f"{path} is made and removed all the time by another program. Try again when it is done.")

    def _displaced(self, held: Path, target: Path, path: str, ours: Look | None) -> bytes:
        """What stood in the file that was there. If it is no note after all, or cannot be read, it is put back, and
        only what is ours is dropped."""
        try:
            return contents_of(held, path).content
        except (Obstructed, OSError) as error:
            with suppress(OSError):
                if ours:
                    exchange(held, target)
                else:
                    link_or_move(held, target)
            now = look_at(held)
            if ours and now and now.inode == ours.inode:
                self.holding.drop(held)
            if isinstance(error, OSError):
                raise explained(error, path) from error
            raise

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
            if placed.content is not None and contents_of(placed.held, "").content != placed.content:
                return
            self.holding.drop(placed.held)

    def remove_folders(self, folder: str) -> None:
        """Folders with nothing in them."""
        for parent, _, _ in os.walk(self.root / folder, topdown=False):
            with suppress(OSError):
                os.rmdir(parent)

    def remove_above(self, path: str) -> None:
        """The folders that a note was in, as far as nothing is in them any more."""
        with suppress(OSError):
            for parent in self._target(path).parents:
                if parent == self.root:
                    break
                os.rmdir(parent)

    # Places

    def _mode(self, path: str) -> int:
        """A file keeps the permissions it has."""
        try:
            return stat.S_IMODE(os.lstat(self._target(path)).st_mode) & 0o777
        except OSError:
            return FILE_MODE

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
                raise explained(error, path) from error
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


def _wrong(entry: os.DirEntry[str], path: str) -> str:
    """Why this, and what is below it, is not looked at. Empty: it is."""
    if not is_name(entry.name):
        return "has a name that some systems do not allow: rename it, and it is kept"
    if not is_placed(path):
        return "has capitals in the name of an agent or room, which some systems do not tell from small letters"
    is_too_deep = path.count("/") == MOST_DEPTH - 1 and entry.is_dir(follow_symlinks=False)
    if is_too_deep or not is_short(path):
        return f"lies too deep or has too long a name: {MOST_DEPTH} levels and {MOST_PATH_BYTES} bytes at most"
    return ""
