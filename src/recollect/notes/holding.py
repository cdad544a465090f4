"""Where files of notes lie for a moment: before they take their place, and after another one took it.

A program that had a file open when it was replaced writes on into the old one, so it is kept for a while and read once
more. Each lies in a folder of its own, below which its path is that of the note. A file that is not whole yet lies in a
folder whose name says so.
"""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from recollect.notes.paths import HOLDING
from recollect.notes.plain import Contents, Obstructed, contents_of, explained

FILE_MODE = 0o600
FOLDER_MODE = 0o700
UNFINISHED = "new-"
"""How the name of a folder begins whose file is still being written."""


class Holding:
    def __init__(self, root: Path) -> None:
        self.folder = root / HOLDING

    def is_there(self) -> bool:
        """As a folder: what lies behind a link is not ours."""
        return os.path.isdir(self.folder) and not os.path.islink(self.folder)

    def files(self) -> Iterator[tuple[str, Path]]:
        """(path of the note, file) of all that lie there and are whole."""
        for token in self._tokens():
            base = self.folder / token
            if token.startswith(UNFINISHED):
                continue
            for parent, _, names in os.walk(base):
                for name in names:
                    file = Path(parent, name)
                    yield file.relative_to(base).as_posix(), file

    def _tokens(self) -> list[str]:
        if not self.is_there():
            return []
        try:
            return sorted(entry.name for entry in os.scandir(self.folder) if entry.is_dir(follow_symlinks=False))
        except OSError:
            return []

    def read(self, file: Path) -> Contents | None:
        """None: it is gone."""
        try:
            return contents_of(file, file.name)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise explained(error, file.name) from error

    def drop(self, file: Path) -> None:
        """With the folders above it, as far as they are empty."""
        with suppress(OSError):
            os.unlink(file)
        for parent in file.parents:
            if parent == self.folder:
                return
            try:
                os.rmdir(parent)
            except FileNotFoundError:
                continue
            except OSError:
                return

    def drop_unfinished(self) -> None:
        """What somebody was writing who was killed. Only while nobody else can be putting a file there."""
        for token in self._tokens():
            if token.startswith(UNFINISHED):
                shutil.rmtree(self.folder / token, ignore_errors=True)

    def tidy(self) -> None:
        """Remove what is empty there. Only while nobody else can be putting a file there."""
        for parent, _, _ in os.walk(self.folder, topdown=False):
            with suppress(OSError):
                os.rmdir(parent)

    def new_place(self, path: str) -> Path:
        return self._made(self.folder / uuid.uuid4().hex, path)

    def unfinished_place(self, path: str) -> Path:
        return self._made(self.folder / f"{UNFINISHED}{uuid.uuid4().hex}", path)

    def _made(self, base: Path, path: str) -> Path:
        held = base / path
        if self.folder.is_symlink():
            raise Obstructed(
                f"{HOLDING} is a link, and links are not followed: {path} is as it was. Move the link away."
            )
        try:
            os.makedirs(held.parent, mode=FOLDER_MODE)
        except OSError as error:
            raise explained(error, path) from error
        return held

    def stage(self, path: str, content: bytes, mode: int) -> Path:
        """A file with this content, whole and on the disk, that can take its place."""
        held = self.unfinished_place(path)
        token = held.relative_to(self.folder).parts[0]
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
            base = self.folder / token.removeprefix(UNFINISHED)
            os.rename(self.folder / token, base)
        except OSError as error:
            self.drop(held)
            raise explained(error, path) from error
        return base / path
