"""What a day brought, as JSON, and the correction of one of its lines."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from recollect.errors import Invalid

if TYPE_CHECKING:
    from recollect.librarian.days import Day
    from recollect.memory import Memory

Deed = Literal["edit", "wrong", "right", "undo"]
WAITS = "That line waits for you, and nothing was changed yet: decide it with --right N or --wrong N."
ASKS = "That line is a question: answer it with --edit N TEXT, or `recollect questions`."


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line by what it is about, as `day_json` tells it: one of the three, or a record with a proposal."""

    record: str = ""
    proposal: str = ""
    question: str = ""


def day_json(day: "Day") -> dict[str, Any]:
    lines = [
        {
            "n": number,
            "group": line.group,
            "text": line.text,
            "note": line.note,
            "kind": line.kind,
            "subject": line.subject,
            "record": line.record_id or None,
            "proposal": line.proposal_id or None,
            "question": line.question_id or None,
            "at": line.at,
        }
        for number, line in enumerate(day.lines, 1)
    ]
    return {"since": day.since, "until": day.until, "conversations": day.conversations, "lines": lines}


def corrected(memory: "Memory", line: Line, deed: Deed, text: str = "") -> str:
    """Say a line better, take it back, accept it, or undo its last change; what came of it, in words."""
    if deed == "edit":
        return _edited(memory, line, text)
    if deed == "undo" and line.proposal:
        raise Invalid(WAITS)
    if deed == "undo":
        record = memory.knowledge.undo(_record_of(line))
    elif line.proposal:
        decide = memory.librarian.accept if deed == "right" else memory.librarian.reject
        decide(line.proposal)
        return "Accepted." if deed == "right" else "Rejected."
    elif deed == "right" and _record_of(line):
        return "Nothing to decide: it counts as it is."
    else:
        record = memory.knowledge.retract(_record_of(line), reason="wrong, by its number")
    memory.librarian.tidy()
    return f"{record.state}: {' '.join(record.text.split())}"


def _edited(memory: "Memory", line: Line, text: str) -> str:
    if line.question:
        return f"Answered: {' '.join(memory.librarian.answer(line.question, text).split())}."
    record = memory.knowledge.edit(_record_of(line), text, reason="corrected by its number")
    memory.librarian.tidy()
    return f"Now: {' '.join(record.text.split())}"


def _record_of(line: Line) -> str:
    if not line.record:
        raise Invalid(ASKS)
    return line.record
