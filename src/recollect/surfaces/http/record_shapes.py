"""Records, as HTTP tells them. The fields are those of `recollect record --json`."""

from typing import Any

from recollect.knowledge.records import Category, Kind, Origin, State
from recollect.surfaces.http.routes import Shape


class EvidenceShape(Shape):
    message: str
    quote: str


class RecordShape(Shape):
    id: str
    version: int
    scope: str
    kind: Kind
    subject: str
    attribute: str
    value: str
    text: str
    category: Category
    tags: list[str]
    confidence: float
    importance: float
    origin: Origin
    learned_at: str
    true_from: str
    true_until: str
    expires_at: str
    state: State
    replaces: str
    replaced_by: str
    sources: list[EvidenceShape]
    restated: list[str]
    believed_from: str
    believed_until: str


class LearnedShape(RecordShape):
    outcome: str
    """new, same, refines, replaces or unrelated: how it stands to what was known."""
    reason: str
    replaced: RecordShape | None
    """The record whose place it took, as it is now."""


class SourceShape(Shape):
    message: str
    quote: str
    at: str
    author: str
    file: str
    line: int | None
    conversation: str | None
    there: bool
    """Whether the message is still there and may be seen."""


class EventShape(Shape):
    number: int
    """Its place among all changes of all records; for an agent, among those of this record."""
    record_id: str
    version: int
    at: str
    action: str
    actor: str
    actor_name: str
    reason: str
    before: RecordShape | None
    after: RecordShape | None


class WhyShape(Shape):
    record: RecordShape
    sources: list[SourceShape]
    events: list[EventShape]
    versions: list[RecordShape]
    replaced: list[RecordShape]
    replaced_by: list[RecordShape]


RECORD: dict[str, Any] = {
    "id": "0199a7f0-c3de-7b6c-8a52-d1f4e6b7a890",
    "version": 1,
    "scope": "house",
    "kind": "preference",
    "subject": "user",
    "attribute": "tea",
    "value": "green",
    "text": "The user drinks green tea.",
    "category": "knowledge",
    "tags": ["kitchen"],
    "confidence": 1.0,
    "importance": 0.5,
    "origin": "told",
    "learned_at": "2026-05-01T10:00:00.000Z",
    "true_from": "2026-05-01T10:00:00.000Z",
    "true_until": "",
    "expires_at": "",
    "state": "current",
    "replaces": "",
    "replaced_by": "",
    "sources": [{"message": "5b1f0c7d9a3e4f60", "quote": "I drink green tea"}],
    "restated": [],
    "believed_from": "2026-05-01T10:00:00.000Z",
    "believed_until": "",
}
LEARNED: dict[str, Any] = {**RECORD, "outcome": "new", "reason": "Nothing was known about it.", "replaced": None}
SOURCE: dict[str, Any] = {
    "message": "5b1f0c7d9a3e4f60",
    "quote": "I drink green tea",
    "at": "2026-05-01T09:59:00.000Z",
    "author": "user",
    "file": "claude-code/garden/1c0d.jsonl",
    "line": 12,
    "conversation": "7e2a9b64c1d80f35",
    "there": True,
}
EVENT: dict[str, Any] = {
    "number": 1,
    "record_id": RECORD["id"],
    "version": 1,
    "at": "2026-05-01T10:00:00.000Z",
    "action": "created",
    "actor": "person",
    "actor_name": "",
    "reason": "",
    "before": None,
    "after": RECORD,
}
WHY: dict[str, Any] = {
    "record": RECORD,
    "sources": [SOURCE],
    "events": [EVENT],
    "versions": [RECORD],
    "replaced": [],
    "replaced_by": [],
}
