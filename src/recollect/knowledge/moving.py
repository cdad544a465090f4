"""A record follows its origin into another scope: with all its versions and events, as if it had always been there.

Who could see it before and may not now finds nothing of it, not even what was believed earlier.
"""

from dataclasses import replace

from recollect.knowledge.records import Record
from recollect.knowledge.writing import Writer


def move(writer: Writer, record: Record, scope: str, reason: str) -> Record:
    versions = writer.records.versions([record.id])[record.id]
    writer.records.delete([record.id])
    writer.records.add([replace(version, scope=scope) for version in versions])
    for event in writer.events.of_record(record.id):
        if event.after:
            writer.events.rewrite(event.number, replace(event.after, scope=scope))
    return writer.change(replace(record, scope=scope), "moved", reason, {})
