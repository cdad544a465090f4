"""Knowledge's side of forgetting: records go with all their versions, their events stay without what they said."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from recollect.database import Session
from recollect.feed import RECORD as FEED_RECORD
from recollect.feed import FeedStore
from recollect.knowledge import claims, reasons
from recollect.knowledge.records import Event, Evidence, Origin, Record
from recollect.knowledge.store import EventStore, RecordStore
from recollect.lineage import MESSAGE, RECORD, EdgeStore, Hasher, TombstoneStore
from recollect.scopes import Actor, Principal


class Erasing:
    """Inside one session, for one house."""

    def __init__(self, session: Session, house: str) -> None:
        self._records = RecordStore(session, house)
        self._events = EventStore(session, house)
        self._edges = EdgeStore(session, house)
        self._feed = FeedStore(session, house)

    def from_messages(self, message_ids: Sequence[str]) -> tuple[list[str], list[str]]:
        """(records that come from these messages alone, records that come from others too)"""
        gone = set(message_ids)
        derived = self._edges.derived_from(MESSAGE, message_ids)
        reached = sorted({edge.to_id for edge in derived if edge.to_kind == RECORD})
        found = self._records.get(reached)
        alone = {name for name, record in found.items() if _is_from_alone(record, gone)}
        alone |= {name for name, record in found.items() if name not in alone and self._lost_its_ground(record, gone)}
        return [one for one in reached if one in alone], [one for one in reached if one not in alone]

    def _lost_its_ground(self, record: Record, gone: set[str]) -> bool:
        """Whether it was read out of several messages together, some of which go, and nobody said it since: its words
        may be those of what goes. What a person wrote or confirmed stays."""
        if record.origin is not Origin.EXTRACTED:
            return False
        events = self._events.of_record(record.id)
        first = next((event.after for event in events if event.after), None)
        if first is None or any(event.actor == Actor.PERSON for event in events):
            return False
        together = {source.message_id for source in first.sources}
        said_since = {source.message_id for source in record.sources} - together - gone
        return bool(together & gone) and not said_since

    def standing_on_others(self, record_ids: Sequence[str], message_ids: Sequence[str]) -> list[str]:
        """Those of these records that may be read out of other messages again."""
        gone = set(message_ids)
        return sorted(
            name for name, record in self._records.get(record_ids).items() if not _is_from_alone(record, gone)
        )

    def sources_of(self, record_ids: Sequence[str]) -> list[str]:
        """The messages from which these records come."""
        edges = self._edges.origins_of(RECORD, record_ids)
        return sorted({edge.from_id for edge in edges if edge.from_kind == MESSAGE})

    def contents(self, record_ids: Sequence[str]) -> Iterator[bytes]:
        """Everything that is kept of these records in words of their own."""
        for record_id in record_ids:
            for event in self._events.of_record(record_id):
                if not reasons.is_own(event.reason):
                    yield event.reason.encode()
                if event.after:
                    yield from _words(event.after)

    def quotes(self, record_ids: Sequence[str], message_ids: Sequence[str]) -> Iterator[bytes]:
        """What these records, which stay, have from these messages: quotes, and versions that nothing else says."""
        gone = set(message_ids)
        for versions in self._records.versions(record_ids).values():
            for record in versions:
                yield from (source.quote.encode() for source in record.sources if source.message_id in gone)
                if _is_from_alone(record, gone):
                    yield from _words(record)

    def erase(
        self,
        record_ids: Sequence[str],
        hasher: Hasher,
        tombstones: TombstoneStore,
        origin: str,
        principal: Principal,
        now: str,
        *,
        chosen: Collection[str],
        messages: Collection[str],
    ) -> dict[str, int]:
        """`chosen`: those that shall be forgotten themselves, wherever they were read. The others go because of these
        `messages`, and one that stood on more than these may be read out of the rest again."""
        versions = self._records.versions(record_ids)
        gone = set(messages)
        whole = {one for one in record_ids if one in chosen or _is_from_alone(versions[one][-1], gone)}
        tombstones.bury(claims.IDENTITY, {claims.id_hash(hasher, record_id) for record_id in whole}, origin)
        for record in _flat(versions.values()):
            if record.id not in whole:
                record = replace(record, sources=tuple(one for one in record.sources if one.message_id in gone))
            scope = claims.barred_scope(principal, record)
            tombstones.bury(claims.CLAIM, set[str]().union(*claims.hashes_of(hasher, record, scope)), origin)
        blanked = self._events.blank(record_ids)
        removed = self._records.delete(record_ids)
        self._edges.delete(RECORD, record_ids)
        self._feed.note(FEED_RECORD, record_ids)
        for record_id in record_ids:
            self._events.append(
                Event(
                    number=0,
                    record_id=record_id,
                    version=versions[record_id][-1].version if record_id in versions else 0,
                    at=now,
                    action="forgotten",
                    actor=str(principal.actor),
                    actor_name=principal.name,
                    reason="",
                )
            )
        return {"records": len(record_ids), "record_versions": removed, "events": blanked}

    def scrub(self, record_ids: Sequence[str], message_ids: Sequence[str]) -> int:
        """These records stand on other messages too: what they took from these goes, in every version and event. A
        version that nothing else says goes whole, and its event says nothing any more."""
        gone = set(message_ids)
        for record_id in record_ids:
            versions = self._records.versions([record_id]).get(record_id, [])
            self._records.delete([record_id])
            self._records.add([_scrubbed(record, gone) for record in versions if not _is_from_alone(record, gone)])
            for event in self._events.of_record(record_id):
                if event.after and _is_from_alone(event.after, gone):
                    self._events.blank_one(event.number)
                elif event.after:
                    self._events.rewrite(event.number, _scrubbed(event.after, gone))
        self._feed.note(FEED_RECORD, record_ids)
        return len(record_ids)


def _is_from_alone(record: Record, gone: set[str]) -> bool:
    """Whether these messages, and nobody else, say it. What was told in person was not read out of any message."""
    is_told = record.origin is Origin.TOLD
    return not is_told and bool(record.sources) and all(source.message_id in gone for source in record.sources)


def _words(record: Record) -> Iterable[bytes]:
    for text in (record.text, record.value, record.subject, record.attribute, *record.tags):
        yield text.encode()
    for source in record.sources:
        yield source.quote.encode()


def _scrubbed(record: Record, gone: set[str]) -> Record:
    kept: tuple[Evidence, ...] = tuple(source for source in record.sources if source.message_id not in gone)
    return replace(record, sources=kept)


def _flat(lists: Iterable[list[Record]]) -> Iterator[Record]:
    for records in lists:
        yield from records
