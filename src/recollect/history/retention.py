"""When an agent deletes its own transcripts, and which of them it would delete next.

Claude Code removes session files by their modification time, silently, 30 days after the last change unless
`cleanupPeriodDays` in its settings says otherwise.
"""

import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

DEFAULT_DAYS = 30
SETTING = "cleanupPeriodDays"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleanup:
    """What an agent's settings say about deleting."""

    days: float
    settings_file: Path
    is_default: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Doomed:
    path: str
    deleted_at: datetime


def cleanup_of(root: Path) -> Cleanup | None:
    """The rule for a folder of Claude Code transcripts; None for any other folder."""
    is_transcripts_folder = root.name == "projects"
    if not is_transcripts_folder and not (root / "projects").is_dir():
        return None
    folder = root.parent if is_transcripts_folder else root
    path = folder / "settings.json"
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        settings = None
    days = cast(dict[str, Any], settings).get(SETTING) if isinstance(settings, dict) else None
    if isinstance(days, int | float) and not isinstance(days, bool):
        return Cleanup(days=days, settings_file=path, is_default=False)
    return Cleanup(days=DEFAULT_DAYS, settings_file=path, is_default=True)


def next_to_go(paths: list[str], rule: Cleanup, now: datetime, limit: int) -> list[Doomed]:
    """The files that will be deleted first, those overdue among them."""
    doomed: list[Doomed] = []
    for path in paths:
        try:
            changed = datetime.fromtimestamp(os.stat(path).st_mtime, UTC)
        except OSError:
            continue
        doomed.append(Doomed(path=path, deleted_at=changed + timedelta(days=rule.days)))
    doomed.sort(key=lambda item: (item.deleted_at, item.path))
    return [item for item in doomed if item.deleted_at < now + timedelta(days=365)][:limit]
