"""Where transcripts come from, as JSON."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from recollect.clock import to_text

if TYPE_CHECKING:
    from recollect.history.overview import OnDisk, SourceOverview


def source_json(item: "SourceOverview") -> dict[str, Any]:
    return {
        "name": item.name,
        "title": item.title,
        "changes": item.growth,
        "found": [_disk_json(disk) for disk in item.places],
        "files": item.files,
        "conversations": item.conversations,
        "messages": item.messages,
        "last_message_at": item.last_message_at or None,
        "last_grew_at": item.last_grew_at or None,
        "skipped": {
            "left_out": {why: number for disk in item.places for why, number in disk.left_out.items()},
            "failed": [{"file": file, "reason": why} for file, why in item.failed],
            "lines_bad": item.lines_bad,
            "not_messages": item.not_messages,
        },
        "silent_since": item.silent_since or None,
        "unknown_files": item.moved,
    }


def _disk_json(disk: "OnDisk") -> dict[str, Any]:
    changed = to_text(datetime.fromtimestamp(disk.changed_at, UTC)) if disk.changed_at else None
    return {"path": disk.path, "files": disk.files, "bytes": disk.size, "changed_at": changed}
