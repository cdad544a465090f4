"""What is known of each source: where it lies on this computer, what came in, when it last grew, what was left out.

It compares what the database says with what lies on the disk, because a source that stopped growing looks healthy from
inside: its files are read, and give nothing.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from recollect.history.fold_state import FoldState
from recollect.history.places import Place
from recollect.history.sources import Source, sources
from recollect.history.store import CONTAINER, UNREAD, File, FileStatus, SourceTotals

QUIET_RECORDS = 50
"""A file that ends with so many records without a message is quiet; agents do write some dozens of notes in a row."""
SILENT_RECORDS = 200
"""So many records of quiet files, with nothing said in any file since, mean that the format moved."""
LATER = timedelta(days=1)
"""Files of an unknown kind that are newer than all known ones by this much mean that the agent writes elsewhere."""
TEXTS = (".jsonl", ".ndjson", ".zst", ".gz", ".db", ".sqlite", ".sqlite3")
"""Forms in which agents keep sessions; `.json` and `.md` beside them are mostly indexes, plans and notes."""


@dataclass(slots=True, kw_only=True)
class OnDisk:
    """What lies in one place of a source."""

    path: str
    files: int = 0
    size: int = 0
    changed_at: float = 0.0
    left_out: dict[str, int] = field(default_factory=dict[str, int])
    """Why, and how many."""
    unknown: list[str] = field(default_factory=list[str])
    """Files of a kind that could hold transcripts, none of which is known here; the latest first."""
    unknown_changed_at: float = 0.0


@dataclass(slots=True, kw_only=True)
class SourceOverview:
    name: str
    title: str
    growth: str
    places: list[OnDisk]
    files: int
    conversations: int
    messages: int
    last_message_at: str
    last_grew_at: str
    """When new records of it were last read."""
    failed: list[tuple[str, str]]
    """(file, why)"""
    lines_bad: int
    not_messages: dict[str, int]
    """Records that are kept but are no messages, by their type."""
    silent_since: str = ""
    """Its files have grown since without a single message."""
    silent_records: int = 0
    moved: list[str] = field(default_factory=list[str])
    """New files in its places that it does not know, while the known ones rest."""


def overview_of(places: list[Place], files: list[File], totals: dict[str, SourceTotals]) -> list[SourceOverview]:
    return [_overview(source, places, files, totals) for source in sources().values()]


def _overview(
    source: Source, places: list[Place], files: list[File], totals: dict[str, SourceTotals]
) -> SourceOverview:
    disks = [look_at(source, place, places) for place in places if place.source == source.name]
    own = [file for file in files if file.source == source.name]
    read = [file for file in own if file.kind != CONTAINER]
    failed = [file for file in own if file.status is FileStatus.FAILED]
    failed += [file for file in files if file.source == UNREAD and any(_is_in(file.path, disk.path) for disk in disks)]
    total = totals.get(source.name, SourceTotals())
    found = SourceOverview(
        name=source.name,
        title=source.title,
        growth=source.growth,
        places=disks,
        files=len(read),
        conversations=total.conversations,
        messages=total.messages,
        last_message_at=total.last_at,
        last_grew_at=max((file.last_read_at for file in own), default=""),
        failed=[(file.path, file.reason) for file in failed],
        lines_bad=sum(file.counts.bad for file in read),
        not_messages=_not_messages(read),
    )
    _notice_silence(found, read)
    if read:
        found.moved = [path for disk in disks if _rests(disk) for path in disk.unknown]
    return found


def _not_messages(files: list[File]) -> dict[str, int]:
    """Counted by type where no record of that type can be a message; what some types hold is told by the blocks."""
    kinds: dict[str, int] = {}
    for file in files:
        for kind, number in file.counts.silent_types.items():
            kinds[kind] = kinds.get(kind, 0) + number
    return dict(sorted(kinds.items(), key=lambda item: -item[1]))


def _notice_silence(found: SourceOverview, files: list[File]) -> None:
    quiet: list[tuple[str, int]] = []
    spoke_at = ""
    for file in files:
        records = FoldState.from_json(file.state).quiet_lines
        if records >= QUIET_RECORDS:
            quiet.append((file.last_read_at, records))
        else:
            spoke_at = max(spoke_at, file.last_read_at)
    since = [(at, records) for at, records in quiet if at > spoke_at]
    if sum(records for _, records in since) >= SILENT_RECORDS:
        found.silent_since = min(at for at, _ in since)
        found.silent_records = sum(records for _, records in since)


def look_at(source: Source, place: Place, places: list[Place]) -> OnDisk:
    disk = OnDisk(path=str(place.path))
    others = [sources()[other.source] for other in places if other.path == place.path]
    unknown: list[tuple[float, str]] = []
    for path, status in _files_below(disk.path):
        why = source.leaves_out(path)
        if why:
            disk.left_out[why] = disk.left_out.get(why, 0) + 1
        elif source.is_candidate(path):
            disk.files += 1
            disk.size += status.st_size
            disk.changed_at = max(disk.changed_at, status.st_mtime)
        elif path.endswith(TEXTS) and not any(other.is_candidate(path) for other in others):
            unknown.append((status.st_mtime, path))
    unknown.sort(reverse=True)
    disk.unknown = [path for _, path in unknown[:3]]
    disk.unknown_changed_at = unknown[0][0] if unknown else 0.0
    return disk


def _rests(disk: OnDisk) -> bool:
    return bool(disk.changed_at) and disk.unknown_changed_at - disk.changed_at > LATER.total_seconds()


def _files_below(place: str) -> Iterator[tuple[str, os.stat_result]]:
    if os.path.isfile(place):
        yield place, os.stat(place)
        return
    for folder, _, names in os.walk(place):
        for name in names:
            path = os.path.join(folder, name)
            try:
                yield path, os.stat(path)
            except OSError:
                continue


def _is_in(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")
