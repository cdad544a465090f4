"""What a model is shown of what is known: the records that a conversation could touch, the likeliest first."""

from collections.abc import Sequence

from recollect.database import Session
from recollect.knowledge import Kind, Record
from recollect.knowledge.store import EventStore, Filter, RecordStore
from recollect.librarian.extraction.known import Known
from recollect.librarian.items import USER, Shelf, Turn
from recollect.lineage import folded
from recollect.scopes import Actor

MOST_OF_A_SUBJECT = 60
MOST_PEOPLE = 400
"""Records about people that are looked at for a name that was said."""
MOST_SHOWN = 120


def known_to(session: Session, house: str, scope: str, project: str, turns: Sequence[Turn]) -> list[Known]:
    store, events = RecordStore(session, house), EventStore(session, house)
    said = folded(" ".join(turn.text for turn in turns))
    people = store.listed(Filter(tags=(str(Shelf.PERSON),), scope=scope), MOST_PEOPLE)
    found = [record for record in people if folded(record.subject.partition(" (")[0]) in said]
    for subject in (USER, project):
        if subject:
            found += store.listed(Filter(subject=subject, scope=scope), MOST_OF_A_SUBJECT)
    chosen = list({record.id: record for record in found if record.kind is not Kind.SUMMARY}.values())[:MOST_SHOWN]
    return [_known(number, record, events) for number, record in enumerate(chosen, 1)]


def _known(number: int, record: Record, events: EventStore) -> Known:
    return Known(
        ref=f"k{number}",
        record_id=record.id,
        kind=record.kind,
        subject=record.subject,
        attribute=record.attribute,
        value=record.value,
        text=record.text,
        is_human=any(event.actor == Actor.PERSON for event in events.of_record(record.id)),
    )
