"""Finding transcripts below a folder: quick, because it runs every half minute over tens of thousands of files."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from recollect.history.privacy import Ignore
from recollect.history.sources import sources


@dataclass(slots=True)
class Found:
    path: str
    root: str
    status: os.stat_result

    @property
    def order(self) -> tuple[bool, str]:
        """Sessions before their sub-agents and the prompt log, so that what is private in them is known by then."""
        path = self.path
        return ("/subagents/" in path or "/agent-" in path or path.endswith("/history.jsonl"), path)


def find(
    root: str, ignore: Ignore, below: str | None = None, on_denied: Callable[[str], None] = lambda _: None
) -> list[Found]:
    """Every file at or below a root that could be a transcript by its name. Folder links are not followed.

    `on_denied` hears of folders that may not be read.
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
                if any(judge(path) for judge in is_candidate):
                    if not ignore.keeps_out_file(path, root):
                        _add(found, entry, root)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(path)
    return found


def _add(found: list[Found], entry: os.DirEntry[str], root: str) -> None:
    try:
        if entry.is_file():
            found.append(Found(entry.path, root, entry.stat()))
    except OSError:
        return
