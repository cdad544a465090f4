"""/v1/forget: erase something for good, with everything that came from it. It is shown first what would go."""

from typing import Annotated, Any

from fastapi import Body
from starlette.responses import Response

from recollect.surfaces.http.asking import Owner, OwnerWriter, Writer
from recollect.surfaces.http.paging import Page, cut
from recollect.surfaces.http.routes import After, Given, Limit, Shape, answered, gives, new_router
from recollect.surfaces.shapes.forgetting import forgotten_json, receipt_json

router = new_router("forget")


class Target(Given):
    """One of the first six, and whether it is really to go."""

    record: str = ""
    message: str = ""
    conversation: str = ""
    file: str = ""
    subject: str = ""
    """Every record about this."""
    note: str = ""
    with_sources: bool = False
    """Also the messages that the records or the note came from."""
    dry_run: bool = True
    """Only tell what would go. false: it goes, for good."""


class Looked(Given):
    receipt: str = ""
    """Empty: all of them."""


class ForgottenShape(Shape):
    target: str
    dry_run: bool
    removed: dict[str, int]
    reached: dict[str, list[str]]
    """Kind → ids, in a dry run."""
    receipt: str
    state: str
    out_of_reach: list[str]
    """Copies that only their owner can remove."""
    also_in: dict[str, list[str]]
    """Kind → ids of things that stay and have some of the same words."""
    residue: list[str]
    sources: list[str]
    """Messages that it came from and that stay."""
    note_lines: dict[str, list[str]]
    verified: bool


class ReceiptShape(Shape):
    """That something was forgotten: not what."""

    id: str
    at: str
    actor: str
    actor_name: str
    target: str
    state: str
    removed: dict[str, int]
    out_of_reach: list[str]
    verified_at: str


FORGOTTEN: dict[str, Any] = {
    "target": "record",
    "dry_run": True,
    "removed": {"records": 1, "record_versions": 1},
    "reached": {"record": ["0199a7f0-c3de-7b6c-8a52-d1f4e6b7a890"]},
    "receipt": "",
    "state": "",
    "out_of_reach": [],
    "also_in": {},
    "residue": [],
    "sources": ["5b1f0c7d9a3e4f60"],
    "note_lines": {},
    "verified": False,
}
RECEIPT: dict[str, Any] = {
    "id": "0199a7f0-d000-7b6c-8a52-d1f4e6b7a890",
    "at": "2026-05-02T10:00:00.000Z",
    "actor": "person",
    "actor_name": "",
    "target": "record",
    "state": "verified",
    "removed": {"records": 1},
    "out_of_reach": [],
    "verified_at": "2026-05-02T10:00:01.000Z",
}


@router.post("/forget", **gives(ForgottenShape, FORGOTTEN, "What would go, or went."))
def forget(
    memory: Writer,
    target: Annotated[Target, Body(examples=[{"record": "0199a7f0-c3de-7b6c-8a52-d1f4e6b7a890"}])],
) -> Response:
    """Tell what would go with one thing; with `dry_run` false, erase it everywhere and look for what is left."""
    return answered(forgotten_json(memory.forget(**target.model_dump())))


@router.get(
    "/forget/receipts",
    **gives(Page[ReceiptShape], {"items": [RECEIPT], "next": ""}, "Receipts, the oldest first."),
)
def list_receipts(memory: Owner, limit: Limit = 100, after: After = "") -> Response:
    """When something was forgotten and how much, not what. For a person alone."""
    return answered(cut(memory.forgetting.receipts(), limit, after, lambda one: one.id, receipt_json))


@router.post(
    "/forget/verify", **gives(Page[ForgottenShape], {"items": [FORGOTTEN], "next": ""}, "What was found, of each.")
)
def verify(memory: OwnerWriter, given: Annotated[Looked, Body(examples=[{"receipt": ""}])]) -> Response:
    """Look again for what was forgotten, and finish what was cut off. For a person alone."""
    found = memory.forgetting.verify(given.receipt)
    return answered({"items": [forgotten_json(one) for one in found], "next": ""})
