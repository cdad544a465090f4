"""Undo: an earlier version holds again, as a new version. Nothing is taken out of the stream.

A record that took another's place and the one it replaced move together: where one comes back the other goes. What a
correction barred from being read again is barred exactly as long as the correction holds.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from recollect.errors import Conflict, NotFound
from recollect.knowledge.line import end, ended_by, following, link, place_of, take_out, there
from recollect.knowledge.records import Event, Record, State
from recollect.knowledge.writing import Writer

_RESTORED = [
    item.name
    for item in fields(Record)
    if item.name not in ("id", "version", "scope", "learned_at", "believed_from", "believed_until")
]


def undo(writer: Writer, record: Record, version: int | None, reason: str) -> Record:
    """Back to this version; None: to the one before. The first one is taken back as a whole."""
    versions = {found.version: found for found in writer.records.versions([record.id]).get(record.id, [])}
    # Versions of which nothing may be known any more were forgotten: the one before may be some steps back.
    wanted = max((one for one in versions if one < record.version), default=0) if version is None else version
    if version is not None and version == record.version:
        raise Conflict(f"Record {record.id} is at version {version} already.")
    if version is not None and version not in versions:
        raise NotFound(f"Record {record.id} has no version {version}; it has {', '.join(map(str, versions))}.")
    if wanted < 1:
        if record.state is State.RETRACTED:
            raise Conflict(f"Record {record.id} is taken back already.")
        return _retract(writer, record, reason or "undo of its making")
    moved = _moved_with_it(writer, record, versions[wanted])
    if moved:
        _restore(writer, *moved, reason)
        return writer.records.get([record.id])[record.id]
    return _restore(writer, record, versions[wanted], reason)


def _moved_with_it(writer: Writer, record: Record, target: Record) -> tuple[Record, Record] | None:
    """What ends the record, and its version before, where all that happened is that it was said to begin earlier: then
    that is what is undone, and the end of the record goes back with it."""
    behind = following(writer, record)
    if behind is None or not record.replaced_by == target.replaced_by == behind.id:
        return None
    earlier = [one for one in writer.records.versions([behind.id])[behind.id] if one.version < behind.version]
    is_moved = (
        bool(earlier)
        and behind.believed_from == record.believed_from
        and (behind.true_from, earlier[-1].true_from) == (record.true_until, target.true_until)
    )
    return (behind, earlier[-1]) if is_moved else None


def _retract(writer: Writer, record: Record, reason: str) -> Record:
    after = writer.change(record, "retracted", reason, {"state": State.RETRACTED}, is_correction=True)
    take_out(writer, record)
    return after


def _restore(writer: Writer, record: Record, target: Record, reason: str) -> Record:
    content: dict[str, Any] = {name: getattr(target, name) for name in _RESTORED}
    reason = reason or f"back to version {target.version}"
    if target.state is State.RETRACTED:
        after = writer.change(record, "undone", reason, content)
        if record.state is not State.RETRACTED:
            take_out(writer, record)
    else:
        before, behind = _neighbours(writer, record, target)
        content |= end(writer, target, behind)
        after = writer.change(record, "undone", reason, content)
        for one in {found.id: found for found in (*ended_by(writer, after), *before)}.values():
            link(writer, one, after, "what comes behind it holds again")
    _bar_again(writer, after.id, target.version)
    return after


def _neighbours(writer: Writer, record: Record, target: Record) -> tuple[list[Record], Record | None]:
    """(what ends where the record begins, what ends it) once the target holds again."""
    if record.state is State.RETRACTED:
        before, behind = place_of(writer, replace(target, replaced_by=record.replaced_by))
        return [before] if before else [], behind
    behind = _replacing(writer, record, target)
    if record.key is None or target.true_from == record.true_from:
        return [], behind
    before, behind = place_of(writer, replace(target, replaced_by=""))
    # What it ended and will end again moves once, with it.
    take_out(writer, record, but=before)
    return [before] if before else [], behind


def _replacing(writer: Writer, record: Record, target: Record) -> Record | None:
    """What ends a record that holds or held. What replaced the target comes back; what replaced it later goes."""
    replacing = there(writer, target.replaced_by, record.scope)
    if replacing and replacing.state is State.RETRACTED:
        return _bring_back(writer, replacing, record)
    undone = there(writer, record.replaced_by, record.scope)
    if undone is None or undone.id == target.replaced_by or undone.state is State.RETRACTED:
        return following(writer, record)
    behind = following(writer, undone)
    writer.change(
        undone, "retracted", "what it had replaced holds again", {"state": State.RETRACTED}, is_correction=True
    )
    for one in ended_by(writer, undone):
        if one.id != record.id:
            link(writer, one, behind, "what had ended it was taken back")
    return behind


def _bring_back(writer: Writer, replacing: Record, record: Record) -> Record | None:
    """What replaced a record comes back, and ends it again, unless something stands between them by now."""
    before, behind = place_of(writer, replacing)
    after = writer.change(replacing, "restored", "it takes its place again", end(writer, replacing, behind))
    _bar_again(writer, after.id, replacing.version - 1)
    if before is None or before.id == record.id:
        return after
    link(writer, before, after, "what comes behind it holds again")
    return following(writer, record)


# What may not be read again


def _bar_again(writer: Writer, record_id: str, version: int) -> None:
    """What was barred when this version held is barred now, and nothing else that this record barred."""
    events = writer.events.of_record(record_id)
    for event in events:
        writer.unbury(event.number)
    for barred in _barred(events).get(version, []):
        writer.bury(barred, events[-1].number)


def _barred(events: Sequence[Event]) -> dict[int, list[Record]]:
    """Version → what the record said before and was corrected. An undo barred what the version barred it went to."""
    found: dict[int, list[Record]] = {}
    said: dict[tuple[str, str, bool], int] = {}
    before: Record | None = None
    for event in events:
        record = event.after
        if record is None:
            continue
        saying = (record.text, record.value, record.state is State.RETRACTED)
        if before and record.version > before.version:
            known = found[before.version]
            if event.action in ("undone", "restored"):
                known = found.get(said.get(saying, before.version), known)
            elif event.action == "retracted" or (
                event.action == "edited" and (before.text, before.value) != (record.text, record.value)
            ):
                known = [*known, before]
            found[record.version] = known
        else:
            found.setdefault(record.version, [])
        said[saying] = record.version
        before = record
    return found
