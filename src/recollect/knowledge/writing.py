"""Changing records: every change makes a version, an event of the stream, the edges of its evidence and a word to those
who follow, all in the transaction of one session."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from recollect.database import Session
from recollect.errors import Conflict
from recollect.feed import RECORD as FEED_RECORD
from recollect.feed import FeedStore
from recollect.knowledge import claims
from recollect.knowledge.records import Event, Record, State, Statement
from recollect.knowledge.statements import reason_of
from recollect.knowledge.store import EventStore, RecordStore
from recollect.lineage import MESSAGE, RECORD, Edge, EdgeStore, TombstoneStore, hasher
from recollect.scopes import Principal, Sight, sight_of

EVENT_ORIGIN = "event:"
"""Tombstones that a correction put up carry the number of its event, so that undoing it takes them down."""


class Writer:
    """Writes records of one house for one principal, at one moment."""

    def __init__(self, session: Session, house: str, principal: Principal, now: str) -> None:
        self.session = session
        self.house = house
        self.principal = principal
        self.now = now
        self.sight: Sight = sight_of(session, house, principal)
        self.records = RecordStore(session, house, self.sight)
        self.events = EventStore(session, house)
        self._edges = EdgeStore(session, house)
        self._tombstones = TombstoneStore(session, house)
        self._feed = FeedStore(session, house)
        self._hasher = hasher(session, house)

    def check_write(self, scope: str) -> None:
        self.sight.check_write(scope, self.principal.called)

    def is_taken(self, record_id: str) -> bool:
        """Whether a record has this id, seen or not."""
        return bool(RecordStore(self.session, self.house).get([record_id]))

    # Making and changing

    def create(self, record: Record, action: str, reason: str) -> Record:
        self.check_write(record.scope)
        self.records.add([record])
        self._note(record, action, reason)
        return record

    def change(
        self, before: Record, action: str, reason: str, changes: Mapping[str, Any], *, is_correction: bool = False
    ) -> Record:
        """The next version of a record. `is_correction`: what it said before may not be extracted again."""
        self.check_write(before.scope)
        # A clock that was put back must not make a version that was never believed.
        now = max(self.now, before.believed_from)
        after = replace(before, version=before.version + 1, believed_from=now, believed_until="", **changes)
        if not self.records.end(before, now):
            raise Conflict(f"Record {before.id} was changed by somebody else just now. Look at it and try again.")
        self.records.add([after])
        number = self._note(after, action, reason)
        if is_correction:
            self.bury(before, number)
        return after

    def confirm(self, record: Record, statement: Statement, true_from: str, reason: str) -> Record:
        """It was said again. Where it was read for the first time is added, from when on it was said to be true, and an
        end that was not known. What has expired holds again. Who only repeats, such as who reads a source again, adds
        nothing."""
        known = {source.message_id for source in record.sources}
        new = tuple(source for source in statement.sources if source.message_id not in known)
        if statement.sources and not new:
            return record
        changes: dict[str, Any] = {"sources": (*record.sources, *new)} if new else {}
        if record.is_expired(self.now) and not statement.is_expired(self.now):
            changes["expires_at"] = statement.expires_at
        if record.state is State.CURRENT and not record.true_until and statement.true_until > record.true_from:
            changes["true_until"] = statement.true_until
        if true_from < record.true_from:
            changes |= {"true_from": true_from, "restated": (record.true_from, *record.restated)}
        elif true_from > record.true_from and true_from not in record.restated:
            changes["restated"] = tuple(sorted({*record.restated, true_from}))
        if changes:
            return self.change(record, "confirmed", reason, changes)
        self.check_write(record.scope)
        self._append(record, "confirmed", reason)
        return record

    def touch(self, record_id: str) -> None:
        """Whoever follows shall look at it again, though it is as it was."""
        self._feed.note(FEED_RECORD, [record_id])

    def _note(self, record: Record, action: str, reason: str) -> int:
        self._edges.add(edges_of(record))
        self._feed.note(FEED_RECORD, [record.id])
        return self._append(record, action, reason)

    def _append(self, record: Record, action: str, reason: str) -> int:
        return self.events.append(
            Event(
                number=0,
                record_id=record.id,
                version=record.version,
                at=self.now,
                action=action,
                actor=str(self.principal.actor),
                actor_name=self.principal.name,
                reason=reason_of(reason),
                after=record,
            )
        )

    # What may not come back

    def bury(self, record: Record, event: int) -> None:
        """What a record said before an event of this number corrected it may not be read again where it was read."""
        if not record.sources:
            return
        self._hasher = self._hasher or hasher(self.session, self.house, make=True)
        assert self._hasher
        scope = claims.barred_scope(self.principal, record)
        hashes = set[str]().union(*claims.hashes_of(self._hasher, record, scope))
        self._tombstones.bury(claims.CLAIM, hashes, f"{EVENT_ORIGIN}{event}")

    def unbury(self, event: int) -> None:
        """What this event corrected may be read again."""
        self._tombstones.lift(f"{EVENT_ORIGIN}{event}")

    def without_forgotten(self, statement: Statement) -> Statement:
        """With what is still there of its sources: no quote of a forgotten message comes back with another's help."""
        if self._hasher is None or not statement.sources:
            return statement
        hashes = {source.message_id: self._hasher.hash(MESSAGE, source.message_id) for source in statement.sources}
        buried = self._tombstones.buried(sorted(hashes.values()))
        kept = tuple(source for source in statement.sources if hashes[source.message_id] not in buried)
        return replace(statement, sources=kept)

    def is_refused(self, statement: Statement, scope: str) -> bool:
        """Whether it was corrected or forgotten at every place it is said to be from, or the place itself was."""
        if self._hasher is None:
            return False
        if statement.id and self._tombstones.buried([claims.id_hash(self._hasher, statement.id)]):
            return True
        gone = [{self._hasher.hash(MESSAGE, source.message_id)} for source in statement.sources]
        everywhere, here = (claims.hashes_of(self._hasher, statement, one) for one in ("", scope))
        places = [sorted(set[str]().union(*place)) for place in zip(gone, everywhere, here, strict=True)]
        return bool(places) and all(self._tombstones.buried(hashes) for hashes in places)


def first_version(statement: Statement, record_id: str, scope: str, now: str) -> Record:
    return Record(
        id=record_id,
        version=1,
        scope=scope,
        kind=statement.kind,
        subject=statement.subject,
        attribute=statement.attribute,
        value=statement.value,
        text=statement.text,
        category=statement.category,
        tags=statement.tags,
        confidence=statement.confidence,
        importance=statement.importance,
        origin=statement.origin,
        learned_at=now,
        true_from=statement.true_from or now,
        true_until=statement.true_until,
        expires_at=statement.expires_at,
        state=State.CURRENT,
        replaces="",
        replaced_by="",
        sources=statement.sources,
        believed_from=now,
    )


def edges_of(record: Record) -> Iterable[Edge]:
    return [Edge(MESSAGE, source.message_id, RECORD, record.id) for source in record.sources]
