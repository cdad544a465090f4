"""Nights of reflection, as JSON."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.librarian.nights.nights import Night


def night_json(night: "Night") -> dict[str, Any]:
    changes = [
        {"record": one.record, "path": one.path, "before": one.before, "after": one.after, "what": one.what}
        for one in night.changes
    ]
    return {"id": night.id, "at": night.at, "state": night.state, "counts": night.counts, "changes": changes}
