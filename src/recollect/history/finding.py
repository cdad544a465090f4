"""Finding transcripts below a folder: quick, because it runs every half minute over tens of thousands of files."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.history.privacy import Ignore
from recollect.history.sources import Source, sources


@dataclass(slots=True)
class Found:
    path: str
    root: str
    status: os.stat_result

    @property
    def order(self) -> tuple[bool, str]:
        """Sessions before their sub-agents, so that what is private in a session is known when its agents are read."""
        return ("/subagents/" in self.path or "/agent-" in self.path, self.path)


def find(root: str, ignore: Ignore, below: str | None = None) -> list[Found]:
    """Every file at or below a root that could be a transcript by its name. Folder links are not followed."""
    known = tuple(sources().values())
    found = list(_walk(below or root, root, ignore, known))
    found.sort(key=lambda item: item.order)
    return found


def _walk(folder: str, root: str, ignore: Ignore, known: tuple[Source, ...]) -> Iterator[Found]:
    folders = [folder]
    while folders:
        current = folders.pop()
        try:
            entries = os.scandir(current)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
        with entries:
            for entry in entries:
                path = entry.path
                if path.endswith(".jsonl") or any(source.is_candidate(path) for source in known):
                    try:
                        if entry.is_file() and not ignore.keeps_out_file(path, root):
                            yield Found(path, root, entry.stat())
                    except OSError:
                        continue
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(path)
