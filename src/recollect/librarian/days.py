"""What a day or a week brought: what was learned, what changed, what is doubted. Each line can be corrected.

Made of the stream of records and of what waits for a person; nothing is kept for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from recollect.clock import LOCAL, local, to_text
from recollect.knowledge import Event, Kind, Record, State
from recollect.librarian.proposals import Proposal, ProposalKind
from recollect.librarian.questions import Question
from recollect.scopes import Actor

LEARNED, CHANGED, DOUBTED = "learned", "changed", "doubted"
_CHANGES = {
    "edited": "corrected",
    "refined": "said better",
    "replaced": "no longer so",
    "retracted": "taken back",
    "withdrawn": "not found again",
    "restored": "back",
    "undone": "undone",
    "expired": "expired",
    "merged": "was there twice",
    "promoted": "told in several episodes",
}
"""What is shown beside a record that changed. Who only says something again changes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayLine:
    """`group`: learned, changed or doubted. `record_id`, or for a doubt the id of its proposal or question."""

    group: str
    text: str
    note: str = ""
    """In a few words how it changed, or what is asked."""
    kind: str = ""
    subject: str = ""
    record_id: str = ""
    proposal_id: str = ""
    question_id: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    since: str
    until: str
    conversations: int
    lines: list[DayLine] = field(default_factory=list[DayLine])

    def of(self, group: str) -> list[DayLine]:
        return [line for line in self.lines if line.group == group]


def period(now: datetime, days: int) -> tuple[str, str]:
    """From the midnight that began the first of these days, the last of which is today, until now."""
    first = local(to_text(now)).date() - timedelta(days=days - 1)
    return to_text(datetime(first.year, first.month, first.day, tzinfo=LOCAL)), to_text(now + timedelta(milliseconds=1))


def lines_of(
    events: Sequence[Event],
    records: dict[str, Record],
    proposals: Sequence[Proposal],
    questions: Sequence[Question],
) -> list[DayLine]:
    """`records`: as they are now. What was learned and taken back again on the same day is told as changed."""
    by_record: dict[str, list[Event]] = {}
    for event in events:
        by_record.setdefault(event.record_id, []).append(event)
    learned, changed = list[DayLine](), list[DayLine]()
    for record_id, found in by_record.items():
        record = records.get(record_id)
        if record is None or record.kind is Kind.SUMMARY:
            continue
        is_new = found[0].action in ("created", "promoted") and found[0].version == 1
        if is_new and record.state is State.CURRENT:
            learned.append(_line(LEARNED, record, found[-1], _who(found[0])))
        else:
            last = next((event for event in reversed(found) if event.action in _CHANGES), None)
            if last:
                changed.append(_line(CHANGED, record, last, _CHANGES[last.action]))
    return [*_ordered(learned), *_ordered(changed), *_doubts(proposals, questions)]


def _line(group: str, record: Record, event: Event, note: str) -> DayLine:
    return DayLine(
        group=group,
        text=record.text,
        note=note,
        kind=str(record.kind),
        subject=record.subject,
        record_id=record.id,
        at=event.at,
    )


def _who(event: Event) -> str:
    return "" if event.actor == Actor.LIBRARIAN else f"by {event.actor_name or event.actor}"


def _ordered(lines: list[DayLine]) -> list[DayLine]:
    return sorted(lines, key=lambda line: (line.kind, line.subject, line.at, line.record_id))


def _doubts(proposals: Sequence[Proposal], questions: Sequence[Question]) -> list[DayLine]:
    notes = {
        ProposalKind.RETRACT: "you deleted its line",
        ProposalKind.REPLACE: "instead of what you wrote?",
    }
    doubts = [
        DayLine(
            group=DOUBTED,
            text=f"No longer so: {one.text}" if one.kind is ProposalKind.RETRACT else one.text,
            note=notes[one.kind],
            record_id=one.record_id,
            proposal_id=one.id,
            at=one.made_at,
        )
        for one in proposals
    ]
    return doubts + [DayLine(group=DOUBTED, text=one.text, question_id=one.id, at=one.asked_at) for one in questions]
