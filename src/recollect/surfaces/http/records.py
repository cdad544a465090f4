"""/v1/records: what was learned; to list, read, trace, make, correct and move."""

from typing import Annotated

from fastapi import Body, Query
from starlette.responses import Response

from recollect.errors import Conflict, Invalid
from recollect.knowledge.records import Category, Kind, Learned, Record, Relation
from recollect.surfaces import times
from recollect.surfaces.http.asking import OwnerWriter, Reader, Writer
from recollect.surfaces.http.paging import Page, cut, paged
from recollect.surfaces.http.record_shapes import (
    EVENT,
    LEARNED,
    RECORD,
    WHY,
    EventShape,
    LearnedShape,
    RecordShape,
    WhyShape,
)
from recollect.surfaces.http.routes import (
    After,
    Given,
    Identity,
    Limit,
    LongGiven,
    Texts,
    Why,
    answered,
    gives,
    new_router,
)
from recollect.surfaces.http.versions import (
    CHANGED,
    IfMatch,
    IfNoneMatch,
    is_known,
    named_version,
    not_changed,
)
from recollect.surfaces.shapes.records import chain_json, event_json, learned_json, record_json, sources_of

router = new_router("records")
CONFLICT = {409: "It was not kept, or it is retracted already; `detail` says why."}
When = Annotated[str, Query(max_length=200, description="A day, a time, or words such as `last week`.", examples=[""])]
Name = Annotated[str, Query(max_length=500, examples=[""])]


class Remembered(LongGiven):
    """One statement."""

    text: str
    kind: Kind = Kind.LEARNING
    category: Category = Category.KNOWLEDGE
    tags: Texts = ()
    subject: str = ""
    """Whom or what it is about."""
    attribute: str = ""
    """What about it: the next statement about the same replaces this one."""
    value: str = ""
    scope: str = ""
    """For whom: house, an agent, a room. Empty: who remembers."""
    confidence: float = 1.0
    importance: float = 0.5
    true_from: str = ""
    true_until: str = ""
    expires: str = ""
    """A time to come, `in 30 days`, or `never`."""
    reason: Why = ""
    replaces: str = ""
    """The id of the record whose place it takes."""
    refines: str = ""
    """The id of the record that it says more exactly."""


class Edited(LongGiven):
    """What is to become different. What is not given stays."""

    text: str | None = None
    category: Category | None = None
    tags: Texts | None = None
    value: str | None = None
    importance: float | None = None
    confidence: float | None = None
    expires: str | None = None
    reason: Why = ""


class Reasoned(Given):
    reason: Why = ""


class UndoneRecord(Reasoned):
    version: int | None = None
    """The one to go back to. None: the one before."""


class Moved(Reasoned):
    scope: str


@router.get("/records", **gives(Page[RecordShape], {"items": [RECORD], "next": ""}, "Records, the newest first."))
def list_records(
    memory: Reader,
    kind: Annotated[Kind | None, Query(examples=["preference"])] = None,
    category: Annotated[Category | None, Query(examples=["knowledge"])] = None,
    tag: Annotated[tuple[str, ...], Query(description="With each of these tags.", examples=[["kitchen"]])] = (),
    subject: Name = "",
    attribute: Name = "",
    scope: Name = "",
    state: Annotated[str, Query(max_length=20, description="current, replaced, retracted or all.")] = "",
    as_of: When = "",
    true_at: When = "",
    expired: bool = False,
    limit: Limit = 30,
    after: After = "",
) -> Response:
    """What is known. `as_of`: as it was believed at the end of then; `true_at`: what was true at the end of then."""
    believed, true = times.last_moment(as_of), times.last_moment(true_at)

    def fetch(number: int) -> list[Record]:
        return memory.knowledge.records(
            kind=kind or "",
            category=category or "",
            tags=tag,
            subject=subject,
            attribute=attribute,
            scope=scope,
            state=state,
            as_of=believed,
            true_at=true,
            expired=expired,
            limit=number,
        )

    return answered(paged(fetch, limit, after, lambda record: record.id, record_json))


@router.post(
    "/records",
    **gives(
        LearnedShape,
        LEARNED,
        "It is kept; `outcome` tells how it stands to what was known.",
        status=201,
        also=CONFLICT,
        etag=True,
    ),
)
def remember(
    memory: Writer,
    given: Annotated[Remembered, Body(examples=[{"text": "The user drinks green tea.", "tags": ["kitchen"]}])],
) -> Response:
    """Keep a statement for good. A later one about the same subject and attribute takes its place."""
    if given.replaces and given.refines:
        raise Invalid("A statement replaces a record or refines it: give one of `replaces` and `refines`.")
    relation = Relation.REPLACES if given.replaces else Relation.REFINES if given.refines else None
    learned = memory.knowledge.remember(
        **given.model_dump(exclude={"expires", "true_from", "true_until", "replaces", "refines"}),
        true_from=times.beginning(given.true_from),
        true_until=times.end(given.true_until),
        expires_at=times.expiry(given.expires),
        relation=relation,
        other=given.replaces or given.refines,
    )
    return told_learned(learned)


def told_learned(learned: Learned) -> Response:
    if learned.record is None:
        raise Conflict(f"It was not remembered: {learned.reason}")
    return answered(learned_json(learned), status=201, etag=learned.record.seen)


@router.get("/records/{id}", **gives(RecordShape, RECORD, "The record.", etag=True))
def read_record(memory: Reader, id: Identity, if_none_match: IfNoneMatch = "") -> Response:  # noqa: A002
    """One record as it is now."""
    record = memory.knowledge.record(id)
    if is_known(if_none_match, record.seen):
        return not_changed(record.seen)
    return _told(record)


@router.patch("/records/{id}", **gives(RecordShape, RECORD, "The record as it is now.", also=CHANGED, etag=True))
def edit_record(
    memory: Writer,
    id: Identity,  # noqa: A002
    given: Annotated[Edited, Body(examples=[{"text": "The user drinks green tea in the morning."}])],
    if_match: IfMatch = "",
) -> Response:
    """Change a record. Earlier versions are kept."""
    changes = given.model_dump(exclude_none=True, exclude={"expires"})
    if given.expires is not None:
        changes["expires_at"] = times.expiry(given.expires)
    return _told(memory.knowledge.edit(id, expected_version=named_version(if_match), **changes))


@router.post(
    "/records/{id}/retract", **gives(RecordShape, RECORD, "It counts no more.", also=CHANGED | CONFLICT, etag=True)
)
def retract_record(
    memory: Writer,
    id: Identity,  # noqa: A002
    given: Annotated[Reasoned, Body(examples=[{"reason": "It was a joke."}])],
    if_match: IfMatch = "",
) -> Response:
    """It is wrong or not wanted: kept, but no longer believed. `undo` brings it back."""
    expected = named_version(if_match)
    return _told(memory.knowledge.retract(id, expected_version=expected, reason=given.reason))


@router.post(
    "/records/{id}/undo", **gives(RecordShape, RECORD, "As it was before.", also=CHANGED | CONFLICT, etag=True)
)
def undo_record(
    memory: Writer,
    id: Identity,  # noqa: A002
    given: Annotated[UndoneRecord, Body(examples=[{"reason": "The first was right."}])],
    if_match: IfMatch = "",
) -> Response:
    """An earlier version holds again, as a new one."""
    expected = named_version(if_match)
    return _told(memory.knowledge.undo(id, version=given.version, expected_version=expected, reason=given.reason))


@router.post("/records/{id}/move", **gives(RecordShape, RECORD, "In its new scope.", also=CHANGED, etag=True))
def move_record(
    memory: OwnerWriter,
    id: Identity,  # noqa: A002
    given: Annotated[Moved, Body(examples=[{"scope": "house", "reason": "All may know it."}])],
    if_match: IfMatch = "",
) -> Response:
    """Into another scope, with all its versions. For a person alone."""
    expected = named_version(if_match)
    return _told(memory.knowledge.move(id, given.scope, expected_version=expected, reason=given.reason))


@router.get(
    "/records/{id}/versions",
    **gives(Page[RecordShape], {"items": [RECORD], "next": ""}, "Every version, the first one first."),
)
def list_record_versions(memory: Reader, id: Identity, limit: Limit = 30, after: After = "") -> Response:  # noqa: A002
    """What a record said before."""
    versions = memory.knowledge.versions(id)
    return answered(cut(versions, limit, after, lambda one: str(one.version), record_json))


@router.get(
    "/records/{id}/events",
    **gives(Page[EventShape], {"items": [EVENT], "next": ""}, "Every change, the first one first."),
)
def list_record_events(memory: Reader, id: Identity, limit: Limit = 30, after: After = "") -> Response:  # noqa: A002
    """How a record came to be as it is: who changed what, when and why."""
    events = memory.knowledge.events(id)
    return answered(cut(events, limit, after, lambda one: str(one.number), event_json))


@router.get("/records/{id}/why", **gives(WhyShape, WHY, "The whole chain.", etag=True))
def tell_why(memory: Reader, id: Identity) -> Response:  # noqa: A002
    """Where a record is from: the words and the message, who decided and why, what it replaced."""
    chain = memory.knowledge.why(id)
    value = {"record": record_json(chain.record), **chain_json(chain, sources_of(memory, chain.record))}
    return answered(value, etag=chain.record.seen)


def _told(record: Record) -> Response:
    return answered(record_json(record), etag=record.seen)
