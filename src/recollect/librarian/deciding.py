"""What a person decides: proposals that they accept or reject, questions that they answer.

Each decision is one transaction: the row says who decided, and the records follow.
"""

from dataclasses import replace

from recollect.errors import Conflict, Invalid
from recollect.ids import derived_id
from recollect.knowledge import Evidence, Kind, Origin, Record, Relation, State, Statement
from recollect.knowledge.learning import learn
from recollect.knowledge.line import take_out
from recollect.knowledge.statements import prepared, words
from recollect.knowledge.store import Filter
from recollect.knowledge.writing import Writer
from recollect.librarian.filing import claim_id
from recollect.librarian.items import USER, Shelf
from recollect.librarian.names import MOST_PEOPLE, Names, is_no, is_yes
from recollect.librarian.proposals import ACCEPTED, REJECTED, Proposal, ProposalKind, ProposalStore
from recollect.librarian.questions import ANSWERED, DROPPED, Question, QuestionKind, QuestionStore
from recollect.lineage import folded
from recollect.scopes import Actor, Principal


def accept(writer: Writer, proposal: Proposal) -> Record | None:
    """The record as it is then; None: it is not there any more."""
    _decide(writer, proposal, ACCEPTED)
    record = writer.records.get([proposal.record_id]).get(proposal.record_id)
    if proposal.kind is ProposalKind.REPLACE:
        statement = proposal.wanted
        is_there = record is not None and record.state is State.CURRENT
        relation = Relation.REPLACES if is_there else None
        return learn(writer, statement, relation, proposal.record_id if is_there else "", "accepted in review").record
    if record and record.state is not State.RETRACTED:
        reason = f"its line was deleted from {proposal.path}"
        changed = writer.change(record, "retracted", reason, {"state": State.RETRACTED}, is_correction=True)
        take_out(writer, record)
        return changed
    return record


def reject(writer: Writer, proposal: Proposal) -> Record | None:
    _decide(writer, proposal, REJECTED)
    record = writer.records.get([proposal.record_id]).get(proposal.record_id)
    if record:
        writer.touch(record.id)
    return record


def _decide(writer: Writer, proposal: Proposal, state: str) -> None:
    store = ProposalStore(writer.session, writer.house)
    if not store.decide(proposal, state, writer.now, writer.principal.name):
        raise Conflict(f"{proposal.id} was decided by somebody else just now.")


def answer(writer: Writer, question: Question, said: str) -> str:
    """What was done with the answer, in a few words."""
    said = words("answer", said)
    if not said:
        raise Invalid("The answer is empty. Say something, or drop the question.")
    done = _use(writer, question, said)
    store = QuestionStore(writer.session, writer.house)
    if not store.answer(question, ANSWERED, said, writer.now, writer.principal.name):
        raise Conflict(f"Question {question.id} was answered by somebody else just now.")
    return done


def drop(writer: Writer, question: Question) -> None:
    """It need not be asked: what waited for it is let go."""
    store = QuestionStore(writer.session, writer.house)
    if not store.answer(question, DROPPED, "", writer.now, writer.principal.name):
        raise Conflict(f"Question {question.id} was answered by somebody else just now.")


def _use(writer: Writer, question: Question, said: str) -> str:
    if question.kind is QuestionKind.SAME_PERSON:
        if is_no(said):
            return f"{question.about.names[1]} stays a person of their own"
        if not is_yes(said):
            raise Invalid(f"{said[:50]!r} is neither yes nor no. {question.text}")
        return _make_one(writer, question)
    if question.kind is QuestionKind.WHICH_PERSON:
        return _file_for(writer, question, said)
    statement = Statement(
        text=f"{question.text} {said}",
        kind=Kind.FACT,
        subject=USER,
        tags=(str(Shelf.CORE), "answer"),
        scope=question.scope,
        sources=tuple(Evidence(message_id=one) for one in question.about.messages),
        origin=Origin.PROMOTED,  # Half of its words are those of a message, and go with it.
    )
    learn(writer, prepared(statement), None, "", "answered")
    return "kept as a fact"


def _make_one(writer: Writer, question: Question) -> str:
    """All that is known of the second is known of the first from now on."""
    first, second = question.about.names[:2]
    found = writer.records.listed(Filter(subject=second, scope=question.scope), MOST_PEOPLE)
    for record in reversed(found):
        writer.change(record, "withdrawn", f"the same person as {first}", {"state": State.RETRACTED})
        moved = _statement_of(replace(record, subject=first))
        learn(writer, moved, None, "", f"the same person as {second}")
    return f"{second} is {first}: {len(found)} records moved"


def _file_for(writer: Writer, question: Question, said: str) -> str:
    names = question.about.names
    chosen = [name for name in names if folded(name) == folded(said)]
    chosen = chosen or [name for name in names if folded(said) in folded(name)]
    if len(chosen) != 1:
        raise Invalid(f"{said[:50]!r} does not say which. Answer with one of: {', '.join(names)}.")
    by_librarian = Writer(
        writer.session, writer.house, Principal(actor=Actor.LIBRARIAN, name="answered question"), writer.now
    )
    meant = Names(writer.session, writer.house, question.scope).meant_by(chosen[0])
    for statement in question.about.statements:
        about = replace(statement, subject=meant)
        learn(by_librarian, replace(about, id=_free_id(writer, claim_id(about))), None, "", "answered")
    return f"filed for {meant}"


def _free_id(writer: Writer, name: str) -> str:
    """The id under which who reads it again will look for it, unless that is somebody else's."""
    return "" if writer.is_taken(name) else name


def _statement_of(record: Record) -> Statement:
    return Statement(
        text=record.text,
        kind=record.kind,
        subject=record.subject,
        attribute=record.attribute,
        value=record.value,
        category=record.category,
        tags=record.tags,
        confidence=record.confidence,
        importance=record.importance,
        origin=record.origin,
        scope=record.scope,
        true_from=record.true_from,
        true_until=record.true_until,
        expires_at=record.expires_at,
        sources=record.sources,
        id=derived_id("claim", record.id, folded(record.subject)),
    )
