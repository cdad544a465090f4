"""Filing: what was found in one conversation becomes records and an episode, in the caller's transaction.

The same source gives the same result: ids come from what is said, so that who reads again finds everything there.
What an earlier reading of the same conversation found and this one does not is withdrawn, unless somebody else says it
too or a person has touched it. What a person wrote is never replaced: that is proposed to them.
"""

from dataclasses import replace

from recollect.database import Session
from recollect.history.store import MessageStore
from recollect.ids import derived_id
from recollect.knowledge import Evidence, Origin, Record, Relation, State, Statement
from recollect.knowledge.learning import learn
from recollect.knowledge.line import end, ended_by, link, place_of, take_out
from recollect.knowledge.statements import prepared
from recollect.knowledge.timeline import place
from recollect.knowledge.writing import Writer
from recollect.librarian.endings import ended_record
from recollect.librarian.items import ENDED, Ending, Item, Quote, Shelf
from recollect.librarian.names import Names
from recollect.librarian.nights.pruning import MERGED, RECURRING, SAME_AS
from recollect.librarian.proposals import Proposal, ProposalStore
from recollect.librarian.questions import QuestionStore, doubt_of
from recollect.librarian.telling import Filed, Prepared, tell
from recollect.lineage import MESSAGE, RECORD, EdgeStore, folded
from recollect.scopes import Actor, Principal

WITHDRAWN, UNCONFIRMED = "withdrawn", "unconfirmed"
NOT_FOUND_AGAIN = "not found when its conversation was read again"


def file(session: Session, house: str, ready: Prepared, now: str) -> Filed:
    principal = Principal(actor=Actor.LIBRARIAN, name=ready.extract.reader)
    return _Filing(session, house, ready, Writer(session, house, principal, now)).run()


class _Filing:
    def __init__(self, session: Session, house: str, ready: Prepared, writer: Writer) -> None:
        self._session = session
        self._house = house
        self._ready = ready
        self._writer = writer
        self._names = Names(session, house, ready.scope)
        self._claims: set[str] = set()
        """What is said here. What held before something else and holds again after it is one claim and two records."""
        self._filed = Filed(conversation_id=ready.conversation.id, dropped=dict(ready.extract.dropped))

    def run(self) -> Filed:
        extract = self._ready.extract
        ended = {ending.item.quotes[0] for ending in extract.endings}
        self._let_go_on(ended)
        for item in extract.items:
            if item.quotes[0] not in ended:
                self._file(item)
        closed = {ending.item.quotes[0] for ending in extract.endings if self._end(ending)}
        for item in extract.items:
            if item.quotes[0] in ended - closed:
                self._file(item)
        if self._ready.is_whole:
            self._ask()
        kept = set(self._filed.records)
        for record in self._said_here():
            is_found = record.id in kept or claim_id(record) in self._claims
            if not is_found and not is_touched(self._writer, record):
                self._not_found_again(record.id)
        if self._ready.is_whole:
            tell(self._session, self._house, self._ready, self._filed, self._writer.now)
        return self._filed

    # Records

    def _said_here(self) -> list[Record]:
        """Records that this reading or an earlier one found here. What a night found in many conversations is its
        own."""
        here = set(self._ready.message_ids)
        edges = EdgeStore(self._session, self._house).derived_from(MESSAGE, self._ready.message_ids)
        found = self._writer.records.get(sorted({edge.to_id for edge in edges if edge.to_kind == RECORD}))
        return [
            record
            for record in found.values()
            if record.origin is Origin.EXTRACTED
            and record.state is not State.RETRACTED
            and RECURRING not in record.tags
            and any(source.message_id in here for source in record.sources)
        ]

    def _file(self, item: Item) -> None:
        subject = item.subject
        if item.shelf is Shelf.PERSON:
            found = self._names.subject_of(item) or self._filed_for(item)
            if found is None:
                self._hold(item)
                return
            subject = found
        statement = self._statement(item, subject)
        self._claims.add(claim_id(statement))
        outcome, record = self._learn(statement, item)
        self._filed.count(outcome)
        if record:
            self._filed.records.append(record.id)

    def _let_go_on(self, ended: set[Quote]) -> None:
        """What an earlier reading held to have ended, and this one does not, holds before anything is filed."""
        words = {(quote.message_id, quote.words) for quote in ended}
        for record in self._said_here():
            is_found = any((source.message_id, source.quote) in words for source in record.sources)
            if ENDED in record.tags and not is_found and not is_touched(self._writer, record):
                self._not_found_again(record.id)

    def _end(self, ending: Ending) -> bool:
        """Whether something is known that ends: what is said takes its place."""
        subject = ending.item.subject
        if ending.item.shelf is Shelf.PERSON:
            subject = self._names.subject_of(ending.item) or subject
        before = len(self._filed.records)
        about = self._statement(replace(ending.item, text=ending.held), subject)
        record = ended_record(self._writer.records, about)
        if record is None:
            return False
        item = replace(ending.item, value="", relation=Relation.REPLACES, other=record.id)
        self._file(item if record.attribute else replace(item, attribute=""))
        return len(self._filed.records) > before or is_touched(self._writer, record)

    def _filed_for(self, item: Item) -> str | None:
        """The one of several people of a name of whom it is known by now, by an earlier reading or an answer."""
        for subject in self._names.called(item.subject):
            statement = self._statement(item, subject)
            there = self._there(claim_id(statement))
            if there and there.state is not State.RETRACTED and _is_read(there, statement):
                return subject
        return None

    def _statement(self, item: Item, subject: str) -> Statement:
        said = min((self._ready.times.get(quote.message_id, "") for quote in item.quotes), default="")
        sources = {quote.message_id: Evidence(message_id=quote.message_id, quote=quote.words) for quote in item.quotes}
        return prepared(
            Statement(
                text=item.text,
                kind=item.kind,
                subject=subject,
                attribute=item.attribute,
                value=item.value,
                tags=(str(item.shelf), *item.tags),
                confidence=item.confidence,
                importance=item.importance,
                origin=Origin.EXTRACTED,
                scope=self._ready.scope,
                true_from=item.true_from or said,
                true_until=item.true_until,
                sources=tuple(sources.values()),
            )
        )

    def _learn(self, statement: Statement, item: Item) -> tuple[str, Record | None]:
        name, there = self._named(statement)
        if there and there.state is State.RETRACTED:
            return self._again(there, statement, item)
        if there and _is_read(there, statement):
            return Relation.SAME, there
        human = self._protected(statement, item)
        if human:
            return self._propose(human, statement), None
        relation, other = self._relation(item, statement)
        learned = learn(self._writer, replace(statement, id="" if there else name), relation, other, "")
        return learned.outcome, learned.record

    def _named(self, statement: Statement) -> tuple[str, Record | None]:
        """(its id, the record that has it). What was said elsewhere may be replaced, reworded or withdrawn by now: who
        says it here gets an id of this place. It is left unused where both turn out to be one."""
        name = claim_id(statement)
        there = self._there(name)
        if there and not _is_read(there, statement) and not self._is_taken_back(there):
            name = derived_id(name, *(source.message_id for source in statement.sources))
            there = self._there(name)
        return name, there

    def _is_taken_back(self, record: Record) -> bool:
        """By more than a reading that did not find it."""
        return record.state is State.RETRACTED and self._last_action(record) != WITHDRAWN

    def _last_action(self, record: Record) -> str:
        events = self._writer.events.of_record(record.id)
        return events[-1].action if events else ""

    def _there(self, record_id: str) -> Record | None:
        return self._writer.records.get([record_id]).get(record_id)

    def _relation(self, item: Item, statement: Statement) -> tuple[Relation | None, str]:
        """What a reader decided about a known record counts where that record is there, current and of this scope."""
        if not item.other or item.relation in (None, Relation.UNRELATED):
            end = self._end_of(statement)
            return (Relation.REPLACES, end.id) if end else (None, "")
        known = self._there(item.other)
        if known is None or known.state is not State.CURRENT or known.scope != self._ready.scope:
            return None, ""
        is_said = folded(known.text) == folded(statement.text)
        return (Relation.SAME if is_said else item.relation), item.other

    def _end_of(self, statement: Statement) -> Record | None:
        """What says that this had ended, where it is said anew after that. With an attribute the timeline knows."""
        before = None if statement.attribute else self._there(claim_id(statement))
        end = self._there(before.replaced_by) if before and before.state is State.REPLACED else None
        if end is None or end.state is not State.CURRENT or ENDED not in end.tags or end.scope != statement.scope:
            return None
        return end if end.true_from < statement.true_from else None

    def _again(self, there: Record, statement: Statement, item: Item) -> tuple[str, Record | None]:
        """It was taken back: by a person until somebody says it anew after that, by an earlier reading only until it is
        found again. What a night made one with another is that one's."""
        events = self._writer.events.of_record(there.id)
        last = events[-1] if events else None
        if last and last.action == MERGED:
            return self._said_by(last.reason.removeprefix(SAME_AS), statement, item)
        if last is None or self._writer.is_refused(statement, there.scope):
            return "refused", None
        if last.action != WITHDRAWN:
            return self._anew(statement, last.at)
        human = self._protected(statement, item)
        if human:
            return self._propose(human, statement), None
        if self._has_moved_on(statement):
            learned = learn(self._writer, statement, None, "", "")
            return learned.outcome, learned.record
        return Relation.SAME, self._bring_back(there, statement)

    def _anew(self, statement: Statement, taken_back_at: str) -> tuple[str, Record | None]:
        """Only what was said after it was taken back is said anew: older words elsewhere are the same mistake."""
        if statement.true_from <= taken_back_at:
            return "refused", None
        place_id = derived_id(claim_id(statement), *(source.message_id for source in statement.sources))
        learned = learn(self._writer, replace(statement, id=place_id), None, "", "")
        return learned.outcome, learned.record

    def _said_by(self, record_id: str, statement: Statement, item: Item) -> tuple[str, Record | None]:
        there = self._there(record_id)
        if there is None:
            return "refused", None
        if there.state is State.RETRACTED:
            return self._again(there, statement, item)
        if there.state is not State.CURRENT or _is_read(there, statement):
            return Relation.SAME, there
        learned = learn(self._writer, statement, Relation.SAME, there.id, "")
        return learned.outcome, learned.record

    def _has_moved_on(self, statement: Statement) -> bool:
        """Whether another record says it by now, or it stands inside the time of one that was said again since."""
        if statement.subject and statement.attribute:
            key = (folded(statement.subject), folded(statement.attribute))
            known = self._writer.records.about(statement.scope, key)
            found = place(statement, statement.true_from or self._writer.now, known)
            return found.same is not None or bool(found.resumed_at)
        said = self._writer.records.saying(statement.scope, statement.text)
        return any(record.kind is statement.kind for record in said)

    def _bring_back(self, there: Record, statement: Statement) -> Record:
        """Into its place among what is said about the same."""
        placed = replace(there, true_from=statement.true_from or there.true_from)
        before, behind = place_of(self._writer, placed)
        changes = {"true_from": placed.true_from, "sources": statement.sources}
        changes |= end(self._writer, placed, behind)
        after = self._writer.change(there, "restored", "found again", changes)
        if before:
            link(self._writer, before, after, "what comes behind it holds again")
        return after

    def _not_found_again(self, record_id: str) -> None:
        """What others say too stays theirs, from when on they said it. It is looked at anew: what was filed since may
        have changed it."""
        record = self._writer.records.get([record_id])[record_id]
        here = set(self._ready.message_ids)
        others = tuple(source for source in record.sources if source.message_id not in here)
        moments = self._moments(record, others)
        if not moments:
            self._writer.change(record, WITHDRAWN, NOT_FOUND_AGAIN, {"state": State.RETRACTED})
            take_out(self._writer, record)
            self._filed.count(WITHDRAWN)
            return
        changes = {"sources": others, "true_from": moments[0], "restated": tuple(moments[1:])}
        after = self._writer.change(record, UNCONFIRMED, NOT_FOUND_AGAIN, changes)
        for one in ended_by(self._writer, after):
            link(self._writer, one, after, "what ends it begins later")

    def _moments(self, record: Record, others: tuple[Evidence, ...]) -> list[str]:
        """For when it was said, inside of its time, without what was said here alone."""
        if not others:
            return []
        found = MessageStore(self._session, self._house).get([one.message_id for one in others]).values()
        until = record.true_until or "~"
        said = {one.at for one in found if record.true_from <= one.at < until}
        gone = {self._ready.times.get(one.message_id, "") for one in record.sources if one not in others}
        return sorted({record.true_from, *record.restated}.difference(gone) | said)

    # What a person decides

    def _protected(self, statement: Statement, item: Item) -> Record | None:
        """The record that a person wrote and that this statement would take the place of or reword."""
        known = list[Record]()
        if item.other and item.relation in (Relation.REFINES, Relation.REPLACES):
            known = list(self._writer.records.get([item.other]).values())
        if statement.subject and statement.attribute:
            key = (folded(statement.subject), folded(statement.attribute))
            known += self._writer.records.about(statement.scope, key)
        for record in known:
            is_other = folded(record.value or record.text) != folded(statement.value or statement.text)
            if record.state is State.CURRENT and is_other and is_touched(self._writer, record):
                return record
        return None

    def _propose(self, human: Record, statement: Statement) -> str:
        """A proposal that was made before, however it was decided, is not made again."""
        if self._writer.is_refused(statement, statement.scope):
            return Relation.SAME
        proposal = Proposal.to_replace(human, statement, self._writer.now)
        return "proposed" if ProposalStore(self._session, self._house).add(proposal) else Relation.SAME

    def _hold(self, item: Item) -> None:
        """Nobody can say which of several people of one name is meant: kept with the question. What is still being
        said may tell: it is asked when all of it was read."""
        if not self._ready.is_whole:
            return
        statement = self._statement(item, item.subject)
        if self._writer.is_refused(statement, statement.scope):
            self._filed.count("refused")
        elif self._names.ask_which(item, statement, self._writer.now):
            self._filed.count("asked")

    def _ask(self) -> None:
        store = QuestionStore(self._session, self._house)
        for doubt in self._ready.extract.doubts:
            if store.ask(doubt_of(doubt, self._ready.scope, self._writer.now)):
                self._filed.count("asked")
        for question in self._names.questions(self._writer.now):
            if store.ask(question):
                self._filed.count("asked")


def claim_id(statement: Statement | Record) -> str:
    """The same claim has the same id, wherever it is read."""
    said = folded(statement.value) if statement.value and statement.attribute else folded(statement.text)
    return derived_id(
        "claim", statement.scope, str(statement.kind), folded(statement.subject), folded(statement.attribute), said
    )


def _is_read(record: Record, statement: Statement) -> bool:
    """Whether it has all these sources: who reads them once more tells nothing new."""
    return {source.message_id for source in statement.sources} <= {source.message_id for source in record.sources}


def is_touched(writer: Writer, record: Record) -> bool:
    """Whether a person ever wrote, confirmed or corrected it."""
    if record.origin in (Origin.TOLD, Origin.PROMOTED):
        return True
    return any(event.actor == Actor.PERSON for event in writer.events.of_record(record.id))
