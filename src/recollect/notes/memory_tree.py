"""The notes as a tree of files and folders, as one who asks may see it: what the memory tool moves about in.

Notes have versions; folders are only on the disk, and so are asked for there. A name that no note can have, and all
that belongs to a sibling, is nothing.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.errors import Denied, NotFound, Unavailable
from recollect.notes.files import Files
from recollect.notes.holding import FOLDER_MODE
from recollect.notes.paths import checked, is_name, is_path, within
from recollect.notes.versions import Note

if TYPE_CHECKING:
    from recollect.notes.notes import Notes


class Place(Enum):
    FOLDER = "folder"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    path: str
    size: int
    is_folder: bool


class NoteTree:
    """`name`: relative to the folder, empty for the folder itself. `path`: the same as the caller wrote it, for
    messages."""

    def __init__(self, notes: "Notes") -> None:
        self._notes = notes
        self._files = Files(notes.folder)

    def there(self, name: str, path: str, hint: str = "") -> Note | Place:
        """A note or a folder, never nothing: NotFound."""
        found = self.at(name, path)
        # A folder that was made on another computer is here after a look at everything, which `list` takes.
        if found is Place.NOTHING and not (is_path(name) and self._notes.list(name)):
            raise NotFound(f"The path {path} does not exist{hint}")
        return Place.FOLDER if found is Place.NOTHING else found

    def at(self, name: str, path: str) -> Note | Place:
        if not name:
            return Place.FOLDER
        if not is_path(name) or not self._notes.sees(name):
            return Place.NOTHING
        place = self._files.root
        for part in name.split("/"):
            place = place / part
            try:
                mode = os.lstat(place).st_mode
            except OSError:  # Not here, but perhaps on another computer.
                break
            if stat.S_ISLNK(mode):
                raise self._refusal(place, path)
            if not stat.S_ISDIR(mode):
                if place != self._files.root / name:
                    return Place.NOTHING
                break
        else:
            return Place.FOLDER
        return self._notes.find(name) or Place.NOTHING

    def entries(self, name: str, levels: int) -> Iterator[Entry]:
        """What is in a folder, by name, each folder before what is in it; nothing hidden, and no links."""
        try:
            found = sorted(os.scandir(self._files.root / name), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in found:
            path = within(name, entry.name)
            is_folder = entry.is_dir(follow_symlinks=False)
            if not (is_folder or entry.is_file(follow_symlinks=False)):
                continue
            if not is_name(entry.name) or not self._notes.sees(path):
                continue
            try:
                size = entry.stat(follow_symlinks=False).st_size
            except OSError:
                continue
            yield Entry(path=path, size=size, is_folder=is_folder)
            if is_folder and levels > 1:
                yield from self.entries(path, levels - 1)

    def size(self, name: str) -> int:
        """Of a folder itself."""
        try:
            return os.stat(self._files.root / name).st_size
        except OSError:
            return 0

    def make_folder(self, name: str) -> None:
        """A folder without notes, for which nobody else asks whether it may be made."""
        checked(name)
        self._notes.check_write(name)
        try:
            os.makedirs(self._files.root / name, FOLDER_MODE, exist_ok=True)
        except OSError as error:
            raise Unavailable(f"The folder {name} could not be made: {error.strerror}.") from error

    def remove_folder(self, name: str) -> None:
        """As far as nothing is in it."""
        self._notes.check_write(name)
        self._files.remove_folders(name)

    def _refusal(self, place: Path, path: str) -> Denied:
        """Of a link. Those that lead out are told as the SDK tells them."""
        root = os.path.realpath(self._files.root)
        if not os.path.realpath(place).startswith(root + os.sep):
            return Denied(f"Path {path} would escape /memories directory")
        return Denied(f"The path {path} leads over a link ({place.name}), and links are not followed. Use its target.")
