"""Notes, the diary and the status, as HTTP tells them. The fields are those of the commands with --json."""

from typing import Any

from recollect.notes.versions import Action
from recollect.surfaces.http.routes import Shape


class VersionShape(Shape):
    """One state of a note, without its text."""

    path: str
    version: int
    at: str
    actor: str
    actor_name: str
    action: Action
    reason: str
    size: int
    digest: str
    """Empty: there was no file."""
    unseen: int
    moved_from: str
    review: str


class NoteShape(VersionShape):
    text: str
    is_utf8: bool
    """Whether the text is all that stands there."""


class WrittenShape(VersionShape):
    """`unseen`: the version that was replaced without its writer having seen it; 0: none."""

    is_new: bool
    """Whether it changed anything."""
    masked: int
    """How many credentials were masked."""


class DiffShape(Shape):
    path: str
    older: int | None
    newer: int | None
    diff: str


class DiaryEntryShape(Shape):
    name: str
    path: str
    at: str
    text: str
    is_changed: bool
    is_gone: bool
    original: VersionShape
    latest: VersionShape


class FieldShape(Shape):
    value: Any
    at: str


class BoardShape(Shape):
    path: str
    version: int
    fields: dict[str, FieldShape]
    problem: str


class UpdatedShape(BoardShape):
    aside: str
    """Where what was there lies, if it was no status."""
    masked: int


VERSION: dict[str, Any] = {
    "path": "user.md",
    "version": 3,
    "at": "2026-05-01T10:00:00.000Z",
    "actor": "person",
    "actor_name": "",
    "action": "written",
    "reason": "",
    "size": 23,
    "digest": "8c0f61f1a9c2f4d6b0c8f3a0b7f8e1d2c3b4a5968778695a4b3c2d1e0f9e8d7c",
    "unseen": 0,
    "moved_from": "",
    "review": "",
}
NOTE: dict[str, Any] = {**VERSION, "text": "Kim, who grows tomatoes", "is_utf8": True}
WRITTEN: dict[str, Any] = {**VERSION, "is_new": True, "masked": 0}
DIFF = {"path": "user.md", "older": 2, "newer": 3, "diff": "--- user.md@2\n+++ user.md@3\n@@ -1 +1 @@\n-Kim\n+Kim, …\n"}
ENTRY: dict[str, Any] = {
    "name": "2026-05-01T21-30-00",
    "path": "agents/assistant/diary/2026-05-01T21-30-00.md",
    "at": "2026-05-01T19:30:00.000Z",
    "text": "A day in the garden.",
    "is_changed": False,
    "is_gone": False,
    "original": VERSION,
    "latest": VERSION,
}
BOARD: dict[str, Any] = {
    "path": "agents/assistant/status.json",
    "version": 2,
    "fields": {"mood": {"value": "calm", "at": "2026-05-01T10:00:00.000Z"}},
    "problem": "",
}
