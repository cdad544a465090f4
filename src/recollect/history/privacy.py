"""What stays out of history: ignored projects, pauses, private stretches, and Recollect's own doings.

Left out means left out of everything, the vault too; only a count remains. What was taken in before stays until it is
forgotten.

- `.recollectignore` beside transcripts: lines of gitignore patterns for the files at and below it.
- `.recollectignore` in a project's folder or above it: keeps conversations held there out; empty means all of them,
  patterns choose folders below it.
- `.recollectignore` in Recollect's home: patterns for absolute paths of projects and transcripts.
- A line `[private]` in a message starts a private stretch of that session, `[/private]` ends it.
- `recollect pause` … `recollect resume`: what was said in between.
- Calls that Recollect makes itself: made in its home, or marked with `OWN_MARK`.
- What Recollect told an agent at the beginning of a session: it stands inside `OWN_TEXT`.
"""

import os
import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from recollect.history.messages import Author, Entry
from recollect.markers import OWN_TEXT

if TYPE_CHECKING:
    from pathspec import PathSpec

    Patterns = PathSpec[Any]

IGNORE_NAME = ".recollectignore"
OWN_MARK = "<recollect-own-call/>"
"""Opens the first prompt of every model call that Recollect makes through an agent's command line."""

_OWN_OPENING = f"<{OWN_TEXT}>"
_OWN_BYTES = _OWN_OPENING.encode()

_PRIVATE = re.compile(r"^[ \t]*\[(/?)private\][ \t]*$", re.IGNORECASE | re.MULTILINE)


def private_mark(entry: Entry) -> str:
    """`start`, `end` or nothing: the last mark that a person wrote on a line of its own."""
    if not _is_owners(entry) or "rivate]" not in entry.text.lower():
        return ""
    marks = _PRIVATE.findall(entry.text)
    return ("end" if marks[-1] else "start") if marks else ""


def is_own_call(entry: Entry) -> bool:
    return _is_owners(entry) and entry.text.lstrip().startswith(OWN_MARK)


def is_own_text(entry: Entry, raw: bytes) -> bool:
    """Whether a record only carries what Recollect told an agent: kept, it would be learned from, and outlive what is
    forgotten. Agents write it down as an attachment, a message of the system or a copy of a request."""
    if _OWN_BYTES not in raw:
        return False
    return not entry.key or (entry.author is Author.MACHINE and entry.text.lstrip().startswith(_OWN_OPENING))


def begins_with_mark(text: str) -> bool:
    """Whether a word put before this text would hide a mark."""
    return bool(_PRIVATE.match(text)) or text.lstrip().startswith(OWN_MARK)


def keeps_itself_out(text: str) -> bool:
    """Whether words of a person say by a mark that they are to stay out."""
    return bool(_PRIVATE.search(text)) or text.lstrip().startswith(OWN_MARK)


def _is_owners(entry: Entry) -> bool:
    """In a chat of several people only one of them owns this memory."""
    return entry.author is Author.USER and entry.message_kind not in ("other_person", "forwarded")


class Ignore:
    """Reads `.recollectignore` files as it meets them, each once."""

    def __init__(self, home: str) -> None:
        self._home = os.path.realpath(home) if home else ""
        self.keeps_out_project: Callable[[str], bool] = lru_cache(maxsize=4096)(self._keeps_out_project)
        self._rules: dict[tuple[str, str], list[tuple[int, Patterns]]] = {}
        self._patterns: Callable[[str], Patterns | None] = lru_cache(maxsize=4096)(_read_patterns)

    def keeps_out_file(self, path: str, root: str) -> bool:
        """Whether an ignore file at the root, between it and the transcript, or in the home, names the transcript."""
        folder = path.rpartition(os.sep)[0]
        rules = self._rules.get((folder, root))
        if rules is None:
            rules = self._rules[folder, root] = self._rules_for(folder, root)
        return any(patterns.match_file(path[prefix:]) for prefix, patterns in rules)

    def _rules_for(self, folder: str, root: str) -> "list[tuple[int, Patterns]]":
        """(length of the path that the patterns do not look at, patterns) for the files of a folder."""
        rules: list[tuple[int, Patterns]] = []
        in_home = self._patterns(self._home) if self._home else None
        if in_home:
            rules.append((1, in_home))
        while True:
            patterns = self._patterns(folder)
            if patterns:
                rules.append((len(folder.rstrip(os.sep)) + 1, patterns))
            parent = os.path.dirname(folder)
            if len(folder) <= len(root) or parent == folder:
                return rules
            folder = parent

    def _keeps_out_project(self, cwd: str) -> bool:
        """Whether conversations held in this working folder stay out."""
        if not os.path.isabs(cwd):
            return False
        if self._home and _is_below(cwd, self._home):
            return True
        in_home = self._patterns(self._home) if self._home else None
        if in_home and in_home.match_file(cwd.strip("/") + "/"):
            return True
        folder = cwd
        while True:
            patterns = self._patterns(folder)
            if patterns is not None:
                below = os.path.relpath(cwd, folder)
                if not len(patterns) or patterns.match_file("./" if below == "." else below + "/"):
                    return True
            parent = os.path.dirname(folder)
            if parent == folder:
                return False
            folder = parent


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)


def _read_patterns(folder: str) -> "Patterns | None":
    try:
        with open(os.path.join(folder, IGNORE_NAME), encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    from pathspec import PathSpec

    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return PathSpec.from_lines("gitignore", lines)
