"""Records made again from the stream alone: what the table holds is what the events say."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, pairwise

from recollect.database import Session
from recollect.feed import RECORD, FeedStore
from recollect.knowledge.records import Record
from recollect.knowledge.store import EventStore, RecordStore
from recollect.knowledge.writing import edges_of
from recollect.lineage import EdgeStore

BATCH = 1_000


def rebuild(session: Session, house: str) -> int:
    """Every version of every record, from the events; how many records there are."""
    store, edges, feed = RecordStore(session, house), EdgeStore(session, house), FeedStore(session, house)
    store.delete_all()
    made: list[Record] = []
    number = 0
    for versions in _versions(EventStore(session, house)):
        made += versions
        number += 1
        if len(made) >= BATCH:
            _keep(store, edges, feed, made)
            made.clear()
    _keep(store, edges, feed, made)
    return number


def _keep(store: RecordStore, edges: EdgeStore, feed: FeedStore, made: list[Record]) -> None:
    store.add(made)
    edges.add(edge for record in made for edge in edges_of(record))
    feed.note(RECORD, {record.id for record in made})


def _versions(events: EventStore) -> Iterator[list[Record]]:
    """The versions of each record. A forgotten one has events and no versions."""
    for _, found in groupby(events.each(), key=lambda event: event.record_id):
        versions = {event.version: event.after for event in found if event.after}
        if versions:
            kept = list(versions.values())
            ended = [replace(one, believed_until=after.believed_from) for one, after in pairwise(kept)]
            yield [*ended, kept[-1]]
