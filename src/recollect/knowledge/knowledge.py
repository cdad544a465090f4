"""Knowledge: the one object through which records are made, read, corrected and traced.

Who may write: this class, and who forgets. Every call is limited to what its principal may see and change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recollect.clock import Clock, to_text
from recollect.database import Database, Session
from recollect.errors import Changed, Conflict, Denied, Invalid, NotFound
from recollect.knowledge.learning import learn
from recollect.knowledge.moving import move
from recollect.knowledge.naming import named
from recollect.knowledge.quoting import Quoting, Readable
from recollect.knowledge.records import (
    Chain,
    Event,
    Kind,
    Learned,
    Record,
    Relation,
    State,
    Statement,
)
from recollect.knowledge.statements import (
    category_named,
    kind_named,
    name_of,
    prepared,
    relation_named,
    share,
    states_named,
    stored_time,
    tags_of,
    text_of,
    words,
)
from recollect.knowledge.store import EventStore, Filter, RecordStore
from recollect.knowledge.stream import rebuild
from recollect.knowledge.undoing import undo
from recollect.knowledge.writing import Writer
from recollect.lineage import ReceiptStore
from recollect.scopes import HOUSE, OWNER, Principal, ScopeStore, sight_of
from recollect.seen import Seen, is_as_seen

MOST_LISTED = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeFigures:
    total: int
    by_state: dict[str, int]
    by_kind: dict[str, int]
    by_category: dict[str, int]
    by_scope: dict[str, int]
    events: int


class Knowledge:
    """`memory.knowledge`."""

    def __init__(
        self,
        database: Database,
        house: str,
        clock: Clock,
        principal: Principal = OWNER,
        readable: Readable | None = None,
    ) -> None:
        """`readable`: which messages the principal may read, for who is told where records are from."""
        self._database = database
        self._house = house
        self._clock = clock
        self._principal = principal
        self._quoting = Quoting(principal, readable)

    def seen_by(self, principal: Principal) -> "Knowledge":
        """The same records, for somebody else."""
        return Knowledge(self._database, self._house, self._clock, principal)

    # Learning

    def remember(
        self,
        text: str,
        *,
        kind: str = Kind.LEARNING,
        category: str = "knowledge",
        tags: Sequence[str] = (),
        subject: str = "",
        attribute: str = "",
        value: str = "",
        scope: str = "",
        confidence: float = 1.0,
        importance: float = 0.5,
        true_from: str = "",
        true_until: str = "",
        expires_at: str = "",
        reason: str = "",
        relation: Relation | None = None,
        other: str = "",
    ) -> Learned:
        """Keep something that somebody says here and now."""
        statement = Statement(
            text=text,
            kind=kind_named(kind),
            category=category_named(category),
            tags=tags_of(tags),
            subject=subject,
            attribute=attribute,
            value=value,
            scope=scope,
            confidence=confidence,
            importance=importance,
            true_from=true_from,
            true_until=true_until,
            expires_at=expires_at,
        )
        return self.learn(statement, relation=relation, other=other, reason=reason)

    def learn(
        self,
        statement: Statement,
        *,
        relation: Relation | None = None,
        other: str = "",
        reason: str = "",
        forgotten: int | None = None,
    ) -> Learned:
        """Keep a statement. Without a `relation` it is compared with what is known about the same subject and
        attribute; with one, who says it has decided how it stands to the record `other`. `forgotten`: how many acts of
        forgetting there were before it was read somewhere; after one more it raises `ForgottenMeanwhile`."""
        statement, relation = prepared(statement), relation_named(relation)
        with self._database.write() as session:
            ReceiptStore(session, self._house).check(forgotten)
            learned = learn(self._writer(session), statement, relation, other, reason)
        return self._quoting.learned(learned)

    def learn_many(self, statements: Sequence[Statement], *, reason: str = "") -> list[Learned]:
        """All of them or, when one is wrong, none."""
        ready = [prepared(statement) for statement in statements]
        with self._database.write() as session:
            writer = self._writer(session)
            learned = [learn(writer, statement, None, "", reason) for statement in ready]
        return [self._quoting.learned(one) for one in learned]

    # Correcting

    def edit(
        self,
        name: str,
        text: str | None = None,
        *,
        expected_version: int | Seen | None = None,
        category: str | None = None,
        tags: Sequence[str] | None = None,
        importance: float | None = None,
        confidence: float | None = None,
        expires_at: str | None = None,
        value: str | None = None,
        reason: str = "",
        forgotten: int | None = None,
    ) -> Record:
        """Change a record. What it said before cannot be read out of its sources again. `forgotten`: as in `learn`."""
        changes: dict[str, Any] = {}
        if text is not None:
            changes["text"] = text_of(text)
        if value is not None:
            changes["value"] = words("value", value)
        if category is not None:
            changes["category"] = category_named(category)
        if tags is not None:
            changes["tags"] = tags_of(tags)
        if expires_at is not None:
            changes["expires_at"] = stored_time("expires", expires_at)
        for field_name, number in (("importance", importance), ("confidence", confidence)):
            if number is not None:
                changes[field_name] = share(field_name, number)
        if not changes:
            raise Invalid("There is nothing to change. Give another text, category, tags or expiry.")
        with self._database.write() as session:
            ReceiptStore(session, self._house).check(forgotten)
            writer = self._writer(session)
            record = self._expected(writer, name, expected_version, changes.get("text", ""))
            changes = {key: value for key, value in changes.items() if getattr(record, key) != value}
            is_correction = bool({"text", "value"} & changes.keys())
            if "text" in changes and "value" not in changes and record.value and record.value not in changes["text"]:
                changes["value"] = ""  # The old value would speak against the new words.
            edited = record
            if changes:
                edited = writer.change(record, "edited", reason, changes, is_correction=is_correction)
        return self._quoting.record(edited)

    def retract(self, name: str, *, expected_version: int | Seen | None = None, reason: str = "") -> Record:
        """It is wrong or not wanted: kept, but no longer believed. `undo` brings it back, `forget` erases it."""
        with self._database.write() as session:
            writer = self._writer(session)
            record = self._expected(writer, name, expected_version, "")
            if record.state is State.RETRACTED:
                raise Conflict(f"Record {record.id} is retracted already.")
            retracted = writer.change(record, "retracted", reason, {"state": State.RETRACTED}, is_correction=True)
        return self._quoting.record(retracted)

    def undo(
        self, name: str, *, version: int | None = None, expected_version: int | Seen | None = None, reason: str = ""
    ) -> Record:
        """An earlier version holds again: the one before, or this one. Doing it twice takes the undo back."""
        with self._database.write() as session:
            writer = self._writer(session)
            record = self._expected(writer, name, expected_version, "")
            undone = undo(writer, record, version, reason)
        return self._quoting.record(undone)

    def move(self, name: str, scope: str, *, expected_version: int | Seen | None = None, reason: str = "") -> Record:
        """Into another scope, with all its versions: who may not see it there finds nothing of it any more."""
        if self._principal.is_confined:
            raise Denied(f"{self._principal.name} may not move records between scopes: only a person may.")
        with self._database.write() as session:
            writer = self._writer(session)
            record = self._expected(writer, name, expected_version, "")
            ScopeStore(session, self._house).get(scope)
            return record if record.scope == scope else move(writer, record, scope, reason)

    def _expected(self, writer: Writer, name: str, expected: int | Seen | None, wanted: str) -> Record:
        record = named(writer.records, writer.events, name, self._principal)
        writer.check_write(record.scope)
        if expected is not None and not is_as_seen(expected, record.seen):
            raise Changed(f"Record {record.id}", expected, record.seen, record.text, wanted)
        return record

    # Reading

    def record(self, name: str) -> Record:
        """By its id, or by the beginning or the end of it."""
        with self._database.read() as session:
            found = named(self._records(session), EventStore(session, self._house), name, self._principal)
        return self._quoting.record(found)

    def records(
        self,
        *,
        kind: str = "",
        category: str = "",
        tags: Sequence[str] = (),
        subject: str = "",
        attribute: str = "",
        scope: str = "",
        state: str = "",
        as_of: str = "",
        true_at: str = "",
        expired: bool = False,
        limit: int = 100,
    ) -> list[Record]:
        """The newest first. `as_of`: as they were believed then. `true_at`: those that were true then. Without a
        `state` the current ones and those that are replaced only from a later time on, and with `true_at` also those
        replaced since. `expired`: also what has expired."""
        if not 1 <= limit <= MOST_LISTED:
            raise Invalid(f"The limit is {limit}; it must be from 1 to {MOST_LISTED:,}.")
        as_of, true_at = stored_time("as of", as_of), stored_time("true at", true_at)
        chosen = Filter(
            kind=kind_named(kind) if kind else "",
            category=category_named(category) if category else "",
            tags=tags_of(tags),
            subject=name_of("subject", subject),
            attribute=name_of("attribute", attribute),
            scope=scope,
            states=states_named(state, true_at) if state or true_at else (),
            counting_at="" if state or true_at else as_of or self._now(),
            as_of=as_of,
            true_at=true_at,
            unexpired_at="" if expired else as_of or self._now(),
        )
        with self._database.read() as session:
            if scope and not sight_of(session, self._house, self._principal).sees(scope):
                # Whether it is there is nothing for who may not see it.
                raise NotFound(f"No agent or room that {self._principal.scope} may see is called {scope!r}.")
            if scope:
                ScopeStore(session, self._house).get(scope)
            found = self._records(session).listed(chosen, limit)
        return self._quoting.records(found)

    def fact(self, subject: str, attribute: str, *, as_of: str = "", true_at: str = "") -> Record | None:
        """What holds for a subject's attribute now or at a time, by what is or was believed. The nearest scope wins."""
        as_of, true_at = stored_time("as of", as_of), stored_time("true at", true_at)
        moment = true_at or as_of or self._now()
        chosen = Filter(
            subject=name_of("subject", subject),
            attribute=name_of("attribute", attribute),
            states=(State.CURRENT, State.REPLACED),
            as_of=as_of,
            true_at=moment,
            unexpired_at=moment,
        )
        with self._database.read() as session:
            sight = sight_of(session, self._house, self._principal)
            found = RecordStore(session, self._house, sight).listed(chosen, MOST_LISTED)
        order = sight.scopes or (HOUSE, *sorted({record.scope for record in found} - {HOUSE}))
        for scope in order:
            inside = [record for record in found if record.scope == scope]
            if inside:
                latest = max(inside, key=lambda record: (record.true_from, record.learned_at, record.id))
                return self._quoting.record(latest)
        return None

    def versions(self, record_id: str) -> list[Record]:
        """Every version of a record, the first one first."""
        with self._database.read() as session:
            record = named(self._records(session), EventStore(session, self._house), record_id, self._principal)
            found = self._records(session).versions([record.id])[record.id]
        return self._quoting.records(found)

    def events(self, record_id: str) -> list[Event]:
        """How a record came to be as it is."""
        with self._database.read() as session:
            events = EventStore(session, self._house)
            record = named(self._records(session), events, record_id, self._principal)
            found = self._numbered(events, events.of_record(record.id))
        return self._quoting.events(found)

    def events_between(self, since: str, until: str, limit: int = MOST_LISTED) -> list[Event]:
        """All changes of a time that the principal may see, in order. Of what was forgotten only that it was."""
        with self._database.read() as session:
            sight = sight_of(session, self._house, self._principal)
            events = EventStore(session, self._house)
            found = events.between(since, until, limit)
            if sight.scopes is None:
                return found
            records = self._records(session).get(sorted({event.record_id for event in found}))
            seen = self._numbered(events, [event for event in found if event.record_id in records])
        return self._quoting.events(seen)

    def why(self, name: str) -> Chain:
        """Everything that is known of how a record came to be."""
        with self._database.read() as session:
            store, events = self._records(session), EventStore(session, self._house)
            record = named(store, events, name, self._principal)
            chain = Chain(
                record=record,
                versions=store.versions([record.id])[record.id],
                events=self._numbered(events, events.of_record(record.id)),
                replaced=_followed(store, record, "replaces"),
                replaced_by=_followed(store, record, "replaced_by"),
            )
        return self._quoting.chain(chain)

    def figures(self) -> KnowledgeFigures:
        with self._database.read() as session:
            store = self._records(session)
            numbers, events = store.numbers(), store.events()
        sums: list[dict[str, int]] = [{}, {}, {}, {}]
        for *names, number in numbers:
            for name, counts in zip(names, sums, strict=True):
                counts[str(name)] = counts.get(str(name), 0) + number
        by_scope, by_kind, by_category, by_state = sums
        total = sum(by_state.values())
        return KnowledgeFigures(
            total=total,
            by_state=by_state,
            by_kind=by_kind,
            by_category=by_category,
            by_scope=by_scope,
            events=events,
        )

    # For contexts

    def most_important(self, limit: int) -> list[Record]:
        """Current records that have not expired, the most important first."""
        with self._database.read() as session:
            return self._records(session).most_important(self._now(), limit)

    def newest(self, limit: int) -> list[Record]:
        return self.records(limit=limit)

    def open_commitments(self, limit: int) -> list[Record]:
        """What was promised and still holds, the newest first."""
        with self._database.read() as session:
            return self._records(session).commitments(self._now(), limit)

    def count_current(self) -> int:
        with self._database.read() as session:
            return self._records(session).current(self._now())

    # For the index, which keeps every version

    def indexed(self, record_ids: Sequence[str]) -> dict[str, list[Record]]:
        """All versions of these records. A forgotten one is not among them."""
        with self._database.read() as session:
            return self._records(session).versions(record_ids)

    def pages(self, after: tuple[str, int], limit: int) -> list[Record]:
        """All versions of all records, in the order of (id, version)."""
        with self._database.read() as session:
            return self._records(session).page(after, limit)

    def shown(self, record_ids: Sequence[str]) -> dict[str, Record]:
        """Those of these records that the principal may see, as they are now."""
        with self._database.read() as session:
            return self._records(session).get(record_ids)

    # Rebuilding

    def rebuild(self) -> int:
        """Make the records again from the stream alone; how many there are."""
        if self._principal.is_confined:
            raise Denied("Only a person may rebuild the records.")
        with self._database.write() as session:
            return rebuild(session, self._house)

    def _writer(self, session: Session) -> Writer:
        return Writer(session, self._house, self._principal, self._now())

    def _numbered(self, events: EventStore, found: list[Event]) -> list[Event]:
        return events.numbered_within(found) if self._principal.is_confined else found

    def _records(self, session: Session) -> RecordStore:
        return RecordStore(session, self._house, sight_of(session, self._house, self._principal))

    def _now(self) -> str:
        return to_text(self._clock())


def _followed(store: RecordStore, record: Record, field_name: str) -> list[Record]:
    """The chain of replacements in one direction. What was forgotten or is not to be seen ends it."""
    found: list[Record] = []
    seen = {record.id}
    following: str = getattr(record, field_name)
    while following and following not in seen:
        one = store.get([following]).get(following)
        if one is None:
            break
        seen.add(following)
        found.append(one)
        following = getattr(one, field_name)
    return found
