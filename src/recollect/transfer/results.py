"""What an export, an import and a backup tell."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Progress = Callable[[str, int], None]
"""Told now and then: which table, and how many of its rows are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    path: Path
    house: str
    exported_at: str
    tables: dict[str, int]
    """Table → rows."""
    files: list[str]
    """Of the home."""
    bytes: int
    """Before compression."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    path: Path
    from_house: str
    house: str
    exported_at: str
    tables: dict[str, int]
    """Table → rows."""
    files: list[str]
    """Put into the home."""
    kept: list[str]
    """Were in the home already, with other contents, and were left as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    path: Path
    bytes: int
