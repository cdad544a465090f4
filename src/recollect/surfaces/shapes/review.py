"""What waits for a person, as JSON: proposals, changes of notes, questions."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.knowledge import Record
    from recollect.librarian.proposals import Proposal
    from recollect.librarian.questions import Question
    from recollect.notes import Version


def proposal_json(proposal: "Proposal", known: "dict[str, Record]") -> dict[str, Any]:
    record = known.get(proposal.record_id)
    return {
        "id": proposal.id,
        "kind": str(proposal.kind),
        "text": proposal.text,
        "record": proposal.record_id,
        "says_now": record.text if record else None,
        "path": proposal.path,
        "made_at": proposal.made_at,
    }


def waiting_note_json(version: "Version") -> dict[str, Any]:
    return {
        "id": f"{version.path}@{version.number}",
        "kind": "note",
        "text": version.reason,
        "record": None,
        "says_now": None,
        "path": version.path,
        "made_at": version.at,
    }


def question_json(question: "Question") -> dict[str, Any]:
    return {
        "id": question.id,
        "kind": str(question.kind),
        "text": question.text,
        "about": list(question.about.names),
        "messages": list(question.about.messages),
        "asked_at": question.asked_at,
    }
