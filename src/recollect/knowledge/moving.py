"""A record follows its origin into another scope: with all its versions and events, as if it had always been there.

Who could see it before and may not now finds nothing of it, not even what was believed earlier. It leaves the line it
stood in, and takes its place among what is said about the same over there.
"""

from dataclasses import replace

from recollect.knowledge.line import end, link, place_of, take_out
from recollect.knowledge.records import Record, State
from recollect.knowledge.writing import Writer


def move(writer: Writer, record: Record, scope: str, reason: str) -> Record:
    versions = writer.records.versions([record.id])[record.id]
    writer.records.delete([record.id])
    writer.records.add([replace(version, scope=scope) for version in versions])
    for event in writer.events.of_record(record.id):
        if event.after:
            writer.events.rewrite(event.number, replace(event.after, scope=scope))
    moved = replace(record, scope=scope)
    if record.state is State.RETRACTED:
        return writer.change(moved, "moved", reason, {"replaces": "", "replaced_by": ""})
    take_out(writer, record, "what had ended it is not here any more")
    before, behind = place_of(writer, replace(moved, replaces="", replaced_by=""))
    changes = {"replaces": before.id if before else "", **end(writer, moved, behind)}
    after = writer.change(moved, "moved", reason, changes)
    if before:
        link(writer, before, after, reason)
    return after
