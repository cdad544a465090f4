"""Undo: an earlier version holds again, as a new version. Nothing is taken out of the stream.

A record that took another's place and the one it replaced move together: where one comes back the other goes.
"""

from dataclasses import fields
from typing import Any

from recollect.errors import Conflict, NotFound
from recollect.knowledge.records import Record, State
from recollect.knowledge.writing import Writer

_RESTORED = [
    item.name
    for item in fields(Record)
    if item.name not in ("id", "version", "scope", "learned_at", "believed_from", "believed_until")
]


def undo(writer: Writer, record: Record, version: int | None, reason: str) -> Record:
    """Back to this version; None: to the one before. The first one is taken back as a whole."""
    versions = {found.version: found for found in writer.records.versions([record.id]).get(record.id, [])}
    wanted = record.version - 1 if version is None else version
    if version is not None and version == record.version:
        raise Conflict(f"Record {record.id} is at version {version} already.")
    if version is not None and version not in versions:
        raise NotFound(f"Record {record.id} has no version {version}; it has {', '.join(map(str, versions))}.")
    if wanted < 1:
        if record.state is State.RETRACTED:
            raise Conflict(f"Record {record.id} is taken back already.")
        after = writer.change(record, "retracted", reason or "undo of its making", {"state": State.RETRACTED})
    else:
        target = versions[wanted]
        content: dict[str, Any] = {name: getattr(target, name) for name in _RESTORED}
        after = writer.change(record, "undone", reason or f"back to version {wanted}", content)
        for undone in range(wanted + 1, record.version + 1):
            writer.unbury(record, undone)
    _move_neighbours(writer, record, after)
    return after


def _move_neighbours(writer: Writer, before: Record, after: Record) -> None:
    if before.state is State.REPLACED and after.state is State.CURRENT:
        _set(writer, before.replaced_by, State.CURRENT, State.RETRACTED, f"{after.id} holds again")
    if before.state is State.CURRENT and after.state is State.REPLACED:
        _set(writer, after.replaced_by, State.RETRACTED, State.CURRENT, f"it replaces {after.id} again")
    if before.state is State.CURRENT and after.state is State.RETRACTED and before.replaces:
        _reopen(writer, before.replaces, before.id)
    if before.state is State.RETRACTED and after.state is State.CURRENT and after.replaces:
        _close(writer, after.replaces, after)


def _get(writer: Writer, record_id: str) -> Record | None:
    return writer.records.get([record_id]).get(record_id) if record_id else None


def _set(writer: Writer, record_id: str, expected: State, state: State, reason: str) -> None:
    record = _get(writer, record_id)
    if record and record.state is expected:
        writer.change(record, "retracted" if state is State.RETRACTED else "restored", reason, {"state": state})


def _reopen(writer: Writer, record_id: str, replaced_by: str) -> None:
    """What was replaced holds again, as it was before that."""
    record = _get(writer, record_id)
    if record is None or record.state is not State.REPLACED or record.replaced_by != replaced_by:
        return
    versions = writer.records.versions([record_id])[record_id]
    open_ones = [found for found in versions if found.replaced_by != replaced_by]
    until = open_ones[-1].true_until if open_ones else ""
    reason = f"{replaced_by} was taken back"
    changes = {"state": State.CURRENT, "replaced_by": "", "true_until": until}
    writer.change(record, "restored", reason, changes)


def _close(writer: Writer, record_id: str, by: Record) -> None:
    record = _get(writer, record_id)
    if record and record.state is State.CURRENT:
        until = max(by.true_from, record.true_from)
        changes: dict[str, Any] = {"state": State.REPLACED, "replaced_by": by.id, "true_until": until}
        writer.change(record, "replaced", f"{by.id} holds again", changes)
