"""/v1/review: what waits for a person's decision."""

from typing import Any

from starlette.responses import Response

from recollect.memory import Memory
from recollect.surfaces.http.asking import Owner, OwnerWriter
from recollect.surfaces.http.paging import Page, cut
from recollect.surfaces.http.record_shapes import RECORD, RecordShape
from recollect.surfaces.http.routes import After, Identity, Limit, Shape, answered, gives, new_router
from recollect.surfaces.shapes.records import record_json
from recollect.surfaces.shapes.review import proposal_json, waiting_note_json

router = new_router("review")


class ReviewShape(Shape):
    id: str
    """Of a note: its path, @ and the version, which /v1/notes accepts."""
    kind: str
    """replace, retract, or note: a change of a soul or of a diary entry."""
    text: str
    record: str | None
    says_now: str | None
    path: str
    made_at: str


class DecidedShape(Shape):
    record: RecordShape | None
    """As it is by now. None: it is not there any more."""


REVIEW: dict[str, Any] = {
    "id": "0199a7f0c3de7b6c8a52d1f4e6b7a890",
    "kind": "replace",
    "text": "Mia grows beans.",
    "record": "0199a7f0c3de7b6c8a52d1f4e6b7a891",
    "says_now": "Mia grows tomatoes.",
    "path": "",
    "made_at": "2026-02-21T09:30:00.000Z",
}
DECIDED: dict[str, Any] = gives(DecidedShape, {"record": RECORD}, also={409: "It was decided before, or is ambiguous."})


@router.get("/review", **gives(Page[ReviewShape], {"items": [REVIEW], "next": ""}, "The oldest first; then notes."))
def list_review(memory: Owner, limit: Limit = 100, after: After = "") -> Response:
    """What the librarian would do and does not do by itself, lines that were deleted, changes of souls."""
    if memory.principal.may_write:
        memory.librarian.tidy()
    proposals, versions = memory.librarian.proposals(), memory.notes.reviews()
    known = memory.knowledge.shown([one.record_id for one in proposals])
    waiting = [*(proposal_json(one, known) for one in proposals), *(waiting_note_json(one) for one in versions)]
    return answered(cut(waiting, limit, after, lambda one: one["id"], lambda one: one))


@router.post("/review/{id}/accept", **DECIDED)
def accept(id: Identity, memory: OwnerWriter) -> Response:  # noqa: A002  its name in the address
    """Do what is proposed."""
    return _decided(memory, id, is_accepted=True)


@router.post("/review/{id}/reject", **DECIDED)
def reject(id: Identity, memory: OwnerWriter) -> Response:  # noqa: A002  its name in the address
    """Do not; a deleted line comes back."""
    return _decided(memory, id, is_accepted=False)


def _decided(memory: Memory, name: str, *, is_accepted: bool) -> Response:
    record = memory.librarian.accept(name) if is_accepted else memory.librarian.reject(name)
    return answered({"record": record_json(record) if record else None})
