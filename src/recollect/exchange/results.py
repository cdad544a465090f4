"""What an import from a memory folder, or an export into one, came to."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A file that was left as it is, or left out, and why."""

    file: str
    reason: str


@dataclass(slots=True, kw_only=True)
class FolderImport:
    folder: str
    new: list[str] = field(default_factory=list[str])
    """Files that became a record."""
    changed: list[str] = field(default_factory=list[str])
    """Files whose record took the place of the one before."""
    known: list[str] = field(default_factory=list[str])
    """Files that say what was known already."""
    unchanged: list[str] = field(default_factory=list[str])
    refused: list[str] = field(default_factory=list[str])
    """Files that say what was forgotten."""
    missing: list[str] = field(default_factory=list[str])
    """Files that are not there any more; their records stay."""
    problems: list[Left] = field(default_factory=list[Left])


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryImport:
    is_dry: bool
    folders: list[FolderImport]

    def total(self, name: str) -> int:
        return sum(len(getattr(folder, name)) for folder in self.folders)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryExport:
    folder: Path
    written: list[str]
    """New or with other bytes than before."""
    unchanged: list[str]
    removed: list[str]
    """Files of an earlier export whose records are not to be shown any more."""
    left: list[Left]
    left_out: int
    """Records beyond the most that one folder gets."""
