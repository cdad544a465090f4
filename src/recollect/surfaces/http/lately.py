"""/v1/today and /v1/week: what the last days brought, line by line, and the correction of a line."""

from typing import Annotated, Any

from fastapi import Body
from pydantic import Field
from starlette.responses import Response

from recollect.errors import Invalid
from recollect.memory import Memory
from recollect.surfaces.http.asking import Owner, OwnerWriter
from recollect.surfaces.http.routes import LongGiven, Shape, answered, gives, new_router
from recollect.surfaces.shapes.days import Deed, Line, corrected, day_json

router = new_router("today and week")


class LineShape(Shape):
    n: int
    group: str
    """learned, changed or doubted."""
    text: str
    note: str
    kind: str
    subject: str
    record: str | None
    proposal: str | None
    question: str | None
    at: str


class DayShape(Shape):
    since: str
    until: str
    conversations: int
    lines: list[LineShape]


class DoneShape(Shape):
    done: str
    """What came of it, in words."""


class Correction(LongGiven):
    """A line is named by what it is about, as the list tells it: numbers are for people, and change."""

    deed: Deed
    """edit: say it better, or answer the question. wrong: take it back, or reject it. right: accept it. undo: take its
    last change back."""
    record: str = Field(default="", max_length=200)
    proposal: str = Field(default="", max_length=200)
    question: str = Field(default="", max_length=200)
    text: str = ""
    """For edit."""


DAY: dict[str, Any] = {
    "since": "2026-02-20T23:00:00.000Z",
    "until": "2026-02-21T23:00:00.000Z",
    "conversations": 2,
    "lines": [
        {
            "n": 1,
            "group": "learned",
            "text": "Mia grows tomatoes.",
            "note": "",
            "kind": "fact",
            "subject": "user",
            "record": "0199a7f0c3de7b6c8a52d1f4e6b7a890",
            "proposal": None,
            "question": None,
            "at": "2026-02-21T09:30:00.000Z",
        }
    ],
}
CORRECTION: dict[str, Any] = {
    "deed": "edit",
    "record": "0199a7f0c3de7b6c8a52d1f4e6b7a890",
    "text": "Mia grows tomatoes and beans.",
}


@router.get("/today", **gives(DayShape, DAY))
def read_today(memory: Owner) -> Response:
    """What today brought: learned, changed, doubted."""
    return _told(memory, 1)


@router.get("/week", **gives(DayShape, DAY))
def read_week(memory: Owner) -> Response:
    """What the last seven days brought."""
    return _told(memory, 7)


def _told(memory: Memory, days: int) -> Response:
    """What people wrote on the shelves is taken over first, unless who asks may only read."""
    if memory.principal.may_write:
        memory.librarian.tidy()
    return answered(day_json(memory.librarian.day(days)))


@router.post(
    "/today/corrections",
    **gives(DoneShape, {"done": "Now: Mia grows tomatoes and beans."}, also={409: "It was decided or changed before."}),
)
def correct(given: Annotated[Correction, Body(examples=[CORRECTION])], memory: OwnerWriter) -> Response:
    """Correct a line of today or of the week."""
    line = Line(record=given.record, proposal=given.proposal, question=given.question)
    if line == Line():
        raise Invalid("Name the line: give its record, proposal or question.")
    if given.deed == "edit" and not given.text.strip():
        raise Invalid("An edit needs a text.")
    return answered({"done": corrected(memory, line, given.deed, given.text)})
