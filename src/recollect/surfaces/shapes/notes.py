"""Notes and their versions, the diary and the status."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.notes import Note, Version, Written
    from recollect.notes.diary import Entry
    from recollect.notes.status import Board


def version_json(version: "Version") -> dict[str, Any]:
    return {
        "path": version.path,
        "version": version.number,
        "at": version.at,
        "actor": version.actor,
        "actor_name": version.actor_name,
        "action": version.action,
        "reason": version.reason,
        "size": version.size,
        "digest": version.digest,
        "unseen": version.unseen,
        "moved_from": version.moved_from,
        "review": version.review,
    }


def note_json(note: "Note") -> dict[str, Any]:
    """`is_utf8`: whether the text is all that stands there; what is no text shows as �."""
    return {**version_json(note), "text": note.text, "is_utf8": note.is_utf8}


def written_json(written: "Written") -> dict[str, Any]:
    replaced = written.unseen.number if written.unseen else 0
    return {**version_json(written.version), "unseen": replaced, "is_new": written.is_new, "masked": written.masked}


def entry_json(entry: "Entry") -> dict[str, Any]:
    return {
        "name": entry.name,
        "path": entry.path,
        "at": entry.at,
        "text": entry.text,
        "is_changed": entry.is_changed,
        "is_gone": entry.is_gone,
        "original": version_json(entry.original),
        "latest": version_json(entry.latest),
    }


def board_json(board: "Board") -> dict[str, Any]:
    fields = {name: {"value": field.value, "at": field.at} for name, field in board.fields.items()}
    return {"path": board.path, "version": board.number, "fields": fields, "problem": board.problem}
