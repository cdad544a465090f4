"""What was shown to sessions, and how much of it they used."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.context import Context
    from recollect.memory import Memory
    from recollect.showings import Counted


def shown_json(counted: "Counted | None") -> dict[str, Any]:
    """Of one record: in how many sessions it was shown, and how often it was used."""
    return {
        "shown": counted.shown if counted else 0,
        "used": counted.used if counted else 0,
        "last_shown_at": counted.last_shown_at if counted else "",
        "last_used_at": counted.last_used_at if counted else "",
    }


def shown_records_json(memory: "Memory", made: "Context") -> list[dict[str, Any]]:
    """The learnings of a rehydration, each with how it fared in the sessions before."""
    counted = memory.showings.counted(made.records) if made.records else {}
    return [{"id": one, **shown_json(counted.get(one))} for one in made.records]


def showings_json(memory: "Memory") -> dict[str, Any]:
    figures = memory.showings.figures()
    return {
        "records": figures.records,
        "used": figures.used,
        "sunk": figures.sunk,
        "open_sessions": figures.open_sessions,
    }
