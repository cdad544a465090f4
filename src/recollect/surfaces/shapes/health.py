"""How the house is: what is kept, and how each part stands."""

from typing import TYPE_CHECKING, Any

from recollect.surfaces.shapes.librarian import librarian_json
from recollect.surfaces.shapes.showings import showings_json

if TYPE_CHECKING:
    from recollect.memory import Memory

MAX_LISTED_REPORTS = 100
"""Of markers that could not be kept, the latest."""


def health_json(memory: "Memory") -> dict[str, Any]:
    figures = memory.history.figures()
    by_author: dict[str, int] = {}
    by_standing: dict[str, int] = {}
    for author, standing, gone, number in figures.messages:
        by_author[author] = by_author.get(author, 0) + number
        kind = "gone" if gone else standing
        by_standing[kind] = by_standing.get(kind, 0) + number
    files = memory.history.files()
    by_status: dict[str, int] = {}
    for file in files:
        by_status[file.status] = by_status.get(file.status, 0) + 1
    attention = [file for file in files if file.status != "idle" or file.counts.bad]
    records, bytes_read, bytes_kept = figures.vault
    return {
        "conversations": {
            "total": figures.conversations,
            "months": figures.months,
            "first_at": figures.first_at,
            "last_at": figures.last_at,
            "by_status": figures.by_status,
        },
        "messages": {
            "total": sum(by_author.values()),
            "by_author": dict(sorted(by_author.items())),
            "by_standing": dict(sorted(by_standing.items())),
        },
        "files": {
            "total": len(files),
            "by_status": by_status,
            "attention": [
                {
                    "file": file.key,
                    "path": file.path,
                    "status": file.status,
                    "reason": file.reason,
                    "lines_bad": file.counts.bad,
                }
                for file in attention
            ],
        },
        "vault": {"records": records, "bytes_read": bytes_read, "bytes_kept": bytes_kept},
        "database": {"location": memory.database.location, "bytes": memory.database.size_bytes()},
        "index": index_json(memory),
        "knowledge": _knowledge_json(memory),
        "notes": _notes_json(memory),
        "librarian": librarian_json(memory),
        "markers": markers_json(memory),
        "showings": showings_json(memory),
        "forgotten": _forgotten_json(memory),
        "paused_since": memory.history.paused_since(),
        "parts": parts_json(memory),
    }


def parts_json(memory: "Memory") -> list[dict[str, Any]]:
    """Each part of the daemon that runs for this house, as it last said of itself. Empty: none runs here."""
    from dataclasses import asdict

    from recollect.daemon.status import read_status
    from recollect.lock import is_locked

    runtime = memory.settings.runtime
    status = read_status(runtime) if is_locked(runtime) else None
    return [asdict(part) for part in status.parts] if status else []


def _knowledge_json(memory: "Memory") -> dict[str, Any]:
    figures = memory.knowledge.figures()
    return {
        "records": figures.total,
        "by_state": figures.by_state,
        "by_category": figures.by_category,
        "events": figures.events,
    }


def _notes_json(memory: "Memory") -> dict[str, Any]:
    figures = memory.notes.figures()
    return {
        "notes": figures.notes,
        "versions": figures.versions,
        "bytes": figures.bytes,
        "reviews": figures.reviews,
    }


def _forgotten_json(memory: "Memory") -> dict[str, Any]:
    figures = memory.forgetting.figures()
    return {"receipts": figures.receipts, "unfinished": figures.unfinished, "tombstones": figures.tombstones}


def markers_json(memory: "Memory") -> dict[str, Any]:
    """What agents marked: how much was kept, and what could not be, the latest first."""
    figures = memory.learnings.figures()
    reported = memory.learnings.reports(MAX_LISTED_REPORTS) if figures.reported else []
    return {
        "kept": figures.kept,
        "problems": figures.reported,
        "reported": [
            {
                "message": item.message,
                "conversation": item.conversation,
                "place": item.place,
                "problem": item.problem,
                "excerpt": item.excerpt,
            }
            for item in reported
        ],
    }


def index_json(memory: "Memory") -> dict[str, Any]:
    """How far the search index is. `problem` says why nothing can be told of it."""
    from recollect.errors import RecollectError
    from recollect.recall import IndexState

    problem, models = "", dict[str, str]()
    state = IndexState(documents=0, waiting=0, deepened=0, generation=0, static="", deep="", bytes=0)
    try:
        models = {item.name: str(item.state) for item in memory.models.listed() if item.is_used}
        state = memory.recall.state()
    except RecollectError as error:
        problem = str(error)
    return {
        "documents": state.documents,
        "waiting": state.waiting,
        "deepened": state.deepened,
        "to_deepen": state.documents - state.deepened if state.deep else 0,
        "generation": state.generation,
        "static_model": state.static,
        "deep_model": state.deep,
        "models": models,
        "bytes": state.bytes,
        "problem": problem,
    }
