"""Records, with where they are from and how they came to be."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from recollect.history import Message
    from recollect.knowledge import Chain, Event, Learned, Record
    from recollect.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A message that a record is from, as far as it is still there and may be seen."""

    message_id: str
    quote: str
    message: "Message | None"
    file: str


def sources_of(memory: "Memory", record: "Record") -> list[Source]:
    messages = memory.history.documents([source.message_id for source in record.sources])
    files = memory.history.file_keys(list(messages.values()))
    sources: list[Source] = []
    for source in record.sources:
        message = messages.get(source.message_id)
        file = files[message.file_id] if message else ""
        sources.append(Source(message_id=source.message_id, quote=source.quote, message=message, file=file))
    return sources


def record_json(record: "Record") -> dict[str, Any]:
    value: dict[str, Any] = msgspec.to_builtins(record)
    return {**value, "sources": [{"message": item.message_id, "quote": item.quote} for item in record.sources]}


def learned_json(learned: "Learned") -> dict[str, Any]:
    """The record, and what became of the statement."""
    record = record_json(learned.record) if learned.record else {}
    replaced = record_json(learned.replaced) if learned.replaced else None
    return {**record, "outcome": learned.outcome, "reason": learned.reason, "replaced": replaced}


def source_json(source: Source) -> dict[str, Any]:
    message = source.message
    return {
        "message": source.message_id,
        "quote": source.quote,
        "at": message.at if message else "",
        "author": message.author if message else "",
        "file": source.file,
        "line": message.line if message else None,
        "conversation": message.conversation_id if message else None,
        "there": message is not None,
    }


def event_json(event: "Event") -> dict[str, Any]:
    value: dict[str, Any] = msgspec.to_builtins(event)
    before, after = (record_json(record) if record else None for record in (event.before, event.after))
    return {**value, "before": before, "after": after}


def chain_json(chain: "Chain", sources: Sequence[Source]) -> dict[str, Any]:
    """Everything beside the record itself."""
    return {
        "sources": [source_json(source) for source in sources],
        "events": [event_json(event) for event in chain.events],
        "versions": [record_json(version) for version in chain.versions],
        "replaced": [record_json(record) for record in chain.replaced],
        "replaced_by": [record_json(record) for record in chain.replaced_by],
    }
