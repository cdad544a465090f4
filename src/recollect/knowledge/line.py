"""The line a record stands in: what it replaced, and what replaced it.

Where one is taken out of the line, what it had ended goes on until the next; where it comes back, what stands before it
ends there again. So one subject's attribute has one value at a time, whatever is taken back in whatever order.
"""

from typing import Any

from recollect.knowledge.records import Record, State
from recollect.knowledge.writing import Writer


def there(writer: Writer, record_id: str, scope: str) -> Record | None:
    """As it is now. A line lies in one scope: what moved elsewhere is not there."""
    found = writer.records.get([record_id]).get(record_id) if record_id else None
    return found if found and found.scope == scope else None


def following(writer: Writer, record: Record) -> Record | None:
    """What holds after it by now: what replaced it, or where that was taken back, what comes behind."""
    seen = {record.id}
    found = there(writer, record.replaced_by, record.scope)
    while found and found.state is State.RETRACTED and found.id not in seen:
        seen.add(found.id)
        found = there(writer, found.replaced_by, record.scope)
    return found if found and found.state is not State.RETRACTED else None


def ended_by(writer: Writer, record: Record) -> list[Record]:
    """What ends where this one begins."""
    line = writer.records.about(record.scope, record.key) if record.key else []
    replaced = there(writer, record.replaces, record.scope)
    found = {one.id: one for one in (*line, *([replaced] if replaced else []))}
    return [one for one in found.values() if one.replaced_by == record.id and one.state is not State.RETRACTED]


def place_of(writer: Writer, record: Record) -> tuple[Record | None, Record | None]:
    """(what stands before it, what stands behind it) when a record that was taken back comes back."""
    if record.key is None:
        before = there(writer, record.replaces, record.scope)
        return before if before and before.state is not State.RETRACTED else None, following(writer, record)
    line = [one for one in writer.records.about(record.scope, record.key) if one.id != record.id]
    behind = following(writer, record)
    if behind and behind.true_from == record.true_from:
        # Said about the same moment: the order in which they were said is the order in which they stand.
        earlier = [one for one in line[: line.index(behind)] if one.true_from <= record.true_from]
        return earlier[-1] if earlier else None, behind
    before = next((one for one in reversed(line) if one.true_from <= record.true_from), None)
    return before, next((one for one in line if one.true_from > record.true_from), None)


def end(writer: Writer, record: Record, after: Record | None) -> dict[str, Any]:
    """How a record ends: where the one after it begins, or earlier by its own word."""
    lost = _ended_by_lost(writer, record)
    until, restated = (lost.true_until, lost.restated) if lost else _own_end(writer, record)
    if after is None and lost:
        return {"state": State.REPLACED, "replaced_by": lost.replaced_by, "true_until": until, "restated": restated}
    if after is None:
        return {"state": State.CURRENT, "replaced_by": "", "true_until": until, "restated": restated}
    begins = max(after.true_from, record.true_from)
    until = min(until, begins) if until else begins
    return {
        "state": State.REPLACED,
        "replaced_by": after.id,
        "true_until": until,
        "restated": tuple(moment for moment in restated if moment < until),
    }


def link(writer: Writer, before: Record, after: Record | None, reason: str) -> None:
    """The one goes on until the other begins."""
    changes = end(writer, before, after)
    if any(getattr(before, name) != value for name, value in changes.items()):
        writer.change(before, "replaced" if after else "restored", reason, changes)


def take_out(
    writer: Writer, record: Record, reason: str = "what had ended it was taken back", but: Record | None = None
) -> None:
    """What it had ended goes on until what comes behind it."""
    behind = following(writer, record)
    for one in ended_by(writer, record):
        if but is None or one.id != but.id:
            link(writer, one, behind, reason)


def _ended_by_lost(writer: Writer, record: Record) -> Record | None:
    """The version of it, if there is one, that ended where something began that was forgotten since: that end stays,
    unless it was taken back before."""
    for version in reversed(writer.records.versions([record.id])[record.id]):
        if version.state is State.CURRENT:
            return None
        if (
            version.state is State.REPLACED
            and version.replaced_by
            and not writer.records.versions([version.replaced_by])
        ):
            return version
    return None


def _own_end(writer: Writer, record: Record) -> tuple[str, tuple[str, ...]]:
    """Until when it is true by its own word, and about which later times it was said again, as of this version."""
    versions = writer.records.versions([record.id])[record.id]
    open_ones = [one for one in versions if not one.replaced_by and one.version <= record.version]
    if open_ones:
        return open_ones[-1].true_until, open_ones[-1].restated
    first = versions[0]
    cut_by = there(writer, first.replaced_by, record.scope)
    is_cut = cut_by is None or first.true_until >= cut_by.true_from
    return "" if is_cut else first.true_until, first.restated
