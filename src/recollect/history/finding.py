"""Finding transcripts below a folder: quick, because it runs every half minute over tens of thousands of files."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from recollect.history.opening import Status, stamp_of
from recollect.history.privacy import Ignore
from recollect.history.sources import comes_later, sources

GUESSED = (".json", ".zip")
"""Endings of exports, which people rename."""


@dataclass(slots=True)
class Found:
    path: str
    root: str
    status: Status
    is_guess: bool = False
    """Its folder was named by the user, but nothing in its own name says that it is a transcript."""
    is_named: bool = False
    """The user named this very file. What no source knows is a mistake then, and none that has to be kept."""

    @property
    def order(self) -> tuple[bool, str]:
        """In which they are read."""
        return (comes_later(self.path), self.path)


def find(
    root: str,
    ignore: Ignore,
    below: str | None = None,
    on_denied: Callable[[str], None] = lambda _: None,
    *,
    guess: bool = False,
) -> list[Found]:
    """Every file at or below a root that could be a transcript by its name. Folder links are not followed.

    `on_denied` hears of folders that may not be read. `guess`: take documents and archives with other names too.
    """
    is_candidate = [source.is_candidate for source in sources().values()]
    found: list[Found] = []
    folders = [below or root]
    while folders:
        folder = folders.pop()
        try:
            entries = os.scandir(folder)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            on_denied(folder)
            continue
        with entries:
            for entry in entries:
                path = entry.path
                is_named = any(judge(path) for judge in is_candidate)
                if is_named or (guess and path.endswith(GUESSED)):
                    if not ignore.keeps_out_file(path, root):
                        _add(found, entry, root, is_guess=not is_named)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(path)
    return found


def is_left_out(path: str) -> bool:
    """Whether a source knows that a file is no transcript, though its name looks like one."""
    return any(source.leaves_out(path) for source in sources().values())


def found_at(place: str, ignore: Ignore, on_denied: Callable[[str], None] = lambda _: None) -> list[Found]:
    """The transcripts at a place, which may be a single file. `on_denied`: as of `find`."""
    if os.path.isdir(place):
        return find(place, ignore, on_denied=on_denied)
    try:
        return [Found(place, os.path.dirname(place), stamp_of(place, os.stat(place)))]
    except PermissionError:
        on_denied(place)
        return []
    except OSError:
        return []


def _add(found: list[Found], entry: os.DirEntry[str], root: str, is_guess: bool) -> None:
    try:
        if entry.is_file():
            found.append(Found(entry.path, root, stamp_of(entry.path, entry.stat()), is_guess))
    except OSError:
        return
