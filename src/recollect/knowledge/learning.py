"""What becomes of a statement: it is new, known already, refines or replaces what is known, or is refused."""

from dataclasses import replace

from recollect.errors import Conflict, Invalid, NotFound
from recollect.ids import new_id
from recollect.knowledge import reasons
from recollect.knowledge.naming import named
from recollect.knowledge.records import Evidence, Learned, Record, Relation, State, Statement
from recollect.knowledge.timeline import Placing, place
from recollect.knowledge.writing import Writer, first_version
from recollect.scopes import Actor, ScopeStore


def learn(writer: Writer, statement: Statement, relation: Relation | None, other: str, reason: str) -> Learned:
    scope = statement.scope or writer.principal.scope
    if writer.sight.sees(scope):
        ScopeStore(writer.session, writer.house).get(scope)
    writer.check_write(scope)
    there = writer.records.get([statement.id]).get(statement.id) if statement.id else None
    if there:
        return Learned(outcome=Relation.SAME, record=there, reason=reasons.KEPT)
    if statement.id and writer.is_taken(statement.id):
        raise Conflict(f"The id {statement.id} is in use. Leave it out, and the record gets one of its own.")
    if writer.principal.actor is not Actor.PERSON and writer.is_refused(statement, scope):
        return Learned(outcome="refused", record=None, reason="it was corrected or forgotten where it was read")
    statement = writer.without_forgotten(statement)
    record = first_version(statement, statement.id or new_id(), scope, writer.now)
    if record.true_until and record.true_until < record.true_from:
        raise Invalid(
            f"It cannot be true until {record.true_until} and only from {record.true_from} on. "
            "Give a time from which it was true; without one that is when it is learned."
        )
    placing = _placing(writer, statement, scope, relation, other)
    why = reason or placing.reason
    if placing.relation is Relation.SAME and placing.same:
        confirmed = writer.confirm(placing.same, statement, record.true_from, why)
        closed = _close(writer, placing.before, confirmed, placing.reason) if placing.before else None
        return Learned(outcome=Relation.SAME, record=confirmed, reason=why, replaced=closed)
    if placing.relation is Relation.REFINES and placing.same:
        return Learned(outcome=Relation.REFINES, record=_refine(writer, placing.same, statement, why), reason=why)
    return _create(writer, record, placing, why)


def _placing(writer: Writer, statement: Statement, scope: str, relation: Relation | None, other: str) -> Placing:
    if relation is Relation.UNRELATED:
        return Placing(relation=relation, reason=reasons.UNRELATED)
    if other or relation in (Relation.REFINES, Relation.SAME):
        return _decided(writer, statement, scope, relation or Relation.REPLACES, other)
    record = first_version(statement, "", scope, writer.now)
    if record.key:
        return place(statement, record.true_from, writer.records.about(scope, record.key))
    same = [found for found in writer.records.saying(scope, statement.text) if found.kind is statement.kind]
    if same:
        return Placing(relation=Relation.SAME, reason=reasons.KNOWN, same=same[0])
    return Placing(relation=None, reason=reasons.NEW)


def _decided(writer: Writer, statement: Statement, scope: str, relation: Relation, other: str) -> Placing:
    reason = f"{reasons.DECIDED}{relation}"
    known = named(writer.records, writer.events, other, writer.principal) if other else None
    if known is None:
        key = first_version(statement, "", scope, writer.now).key
        timeline = writer.records.about(scope, key) if key else []
        known = next((found for found in reversed(timeline) if found.state is State.CURRENT), None)
    if known is None:
        raise NotFound(f"Nothing current is known that this {relation}. Name the record it is about.")
    if known.state is not State.CURRENT:
        raise Conflict(
            f"Record {known.id} is {known.state}: it cannot be what this {relation}. `recollect undo` first."
        )
    if relation is not Relation.REPLACES:
        return Placing(relation=relation, reason=reason, same=known)
    if known.scope != scope:
        # Who sees the one and not the other would be left without either, and would be shown an id of nothing.
        raise Conflict(f"Record {known.id} lies in {known.scope!r}: what takes its place must lie there too.")
    return Placing(relation=relation, reason=reason, before=known)


def _refine(writer: Writer, known: Record, statement: Statement, why: str) -> Record:
    """The same thing, said better: the next version of the same record, with what it was read from before."""
    sources = _joined(known.sources, statement.sources)
    value = statement.value or known.value
    return writer.change(known, "refined", why, {"text": statement.text, "value": value, "sources": sources})


def _joined(known: tuple[Evidence, ...], added: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    there = {source.message_id for source in known}
    return (*known, *(source for source in added if source.message_id not in there))


def _create(writer: Writer, record: Record, placing: Placing, why: str) -> Learned:
    before, after = placing.before, placing.after
    resumed = _resumed(before, record, placing.resumed_at, writer.now) if before and placing.resumed_at else None
    following = resumed or after
    if before:
        record = replace(record, replaces=before.id)
    if following:
        until = min(record.true_until, following.true_from) if record.true_until else following.true_from
        record = replace(record, true_until=until, state=State.REPLACED, replaced_by=following.id)
    made = writer.create(record, "created", why)
    closed = _close(writer, before, made, placing.reason) if before else None
    if resumed:
        writer.create(resumed, "created", "it was said again for a later time")
    return Learned(outcome=str(placing.relation or "new"), record=made, reason=why, replaced=closed)


def _resumed(before: Record, record: Record, at: str, now: str) -> Record:
    """What held before, holding again from the time on at which it was said again."""
    return replace(
        before,
        id=new_id(),
        version=1,
        learned_at=now,
        believed_from=now,
        true_from=at,
        restated=tuple(moment for moment in before.restated if moment > at),
        replaces=record.id,
    )


def _close(writer: Writer, before: Record, made: Record, why: str) -> Record:
    """What held until then ends where the new one begins. It may have ended earlier by its own word. The reason that
    somebody gave for the new one stands there alone: it may be forgotten, and this one stay."""
    until = max(made.true_from, before.true_from)
    return writer.change(
        before,
        "replaced",
        why,
        {
            "state": State.REPLACED,
            "true_until": min(before.true_until, until) if before.true_until else until,
            "replaced_by": made.id,
            "restated": tuple(moment for moment in before.restated if moment < until),
        },
    )
