"""The memory tool and the SDK's own on files, side by side: the same calls must come to the same."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anthropic.tools import BetaLocalFilesystemMemoryTool, ToolError

from recollect.errors import RecollectError
from recollect.notes import Notes

DONE, REFUSED, BROKEN = "done", "refused", "broken"
_FOLDER_SIZE = re.compile(r"^[\d.]+[BKMG]\t(?=.*/$)", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    how: str
    text: str = ""


class Twins:
    def __init__(self, notes: Notes, folder: Path) -> None:
        """Both begin with the same files."""
        notes.prepare()
        self.notes = notes
        self.tool = notes.tool()
        self.other_root = folder / "memories"
        shutil.copytree(notes.folder, self.other_root)
        self.other = BetaLocalFilesystemMemoryTool(str(folder))
        self.log: list[object] = []

    def place(self, name: str, content: bytes) -> None:
        """As somebody with another tool does, in both folders."""
        for root in (self.notes.folder, self.other_root):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)

    def same(self, command: dict[str, Any]) -> Outcome:
        """Both give the same result or refuse with the same words, and their files are the same then. Where the SDK
        breaks with an error of Python's, ours explains."""
        self.log.append(command)
        theirs, ours = self._theirs(command), self._ours(command)
        if theirs.how == BROKEN:
            assert ours.how == REFUSED, self.log
        else:
            assert ours == theirs, (ours, theirs, self.log)
        assert files_in(self.notes.folder) == files_in(self.other_root), self.log
        return ours

    def _ours(self, command: dict[str, Any]) -> Outcome:
        try:
            return Outcome(DONE, _comparable(self.tool.execute(command)))
        except RecollectError as error:
            return Outcome(REFUSED, str(error))

    def _theirs(self, command: dict[str, Any]) -> Outcome:
        try:
            return Outcome(DONE, _comparable(str(self.other.call(command))))
        except ToolError as error:
            return Outcome(REFUSED, str(error))
        except (OSError, ValueError, RuntimeError, AttributeError, NotImplementedError):
            return Outcome(BROKEN)


def files_in(root: Path) -> dict[str, bytes]:
    """Without hidden ones."""
    names = [(file.relative_to(root), file) for file in root.rglob("*") if file.is_file() and not file.is_symlink()]
    return {
        name.as_posix(): file.read_bytes()
        for name, file in names
        if not any(part.startswith(".") for part in name.parts)
    }


def _comparable(text: str) -> str:
    """Without the sizes of folders, which a file system counts as it likes."""
    if not text.startswith("Here're the files"):
        return text
    header, first, *rest = text.split("\n")
    return "\n".join([header, first.partition("\t")[2], *(_FOLDER_SIZE.sub("", line) for line in rest)])
