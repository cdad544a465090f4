"""/v1/questions: what the librarian asks, as it cannot know it by itself."""

from typing import Annotated, Any

from fastapi import Body
from pydantic import Field
from starlette.responses import Response

from recollect.surfaces.http.asking import Owner, OwnerWriter
from recollect.surfaces.http.paging import Page, cut
from recollect.surfaces.http.routes import After, Given, Identity, Limit, Shape, answered, gives, new_router
from recollect.surfaces.shapes.review import question_json

router = new_router("questions")
CLOSED = {409: "It was answered before, or the id is ambiguous."}


class QuestionShape(Shape):
    id: str
    kind: str
    text: str
    about: list[str]
    messages: list[str]
    asked_at: str


class DoneShape(Shape):
    done: str


class DroppedShape(Shape):
    dropped: int


class Answer(Given):
    text: str = Field(min_length=1, examples=["Yes, the same one."])


QUESTION: dict[str, Any] = {
    "id": "0199a7f0c3de7b6c8a52d1f4e6b7a890",
    "kind": "same_person",
    "text": "Is Tom of the garden the Tom of the choir?",
    "about": ["Tom"],
    "messages": [],
    "asked_at": "2026-02-21T09:30:00.000Z",
}


@router.get("/questions", **gives(Page[QuestionShape], {"items": [QUESTION], "next": ""}, "The oldest first."))
def list_questions(memory: Owner, limit: Limit = 100, after: After = "") -> Response:
    """Those that are open. What was answered in questions.md is taken over first, unless who asks may only read."""
    librarian = memory.librarian
    found = librarian.questions() if memory.principal.may_write else librarian.open_questions()
    return answered(cut(found, limit, after, lambda one: one.id, question_json))


@router.post("/questions/{id}/answer", **gives(DoneShape, {"done": "Tom is one person"}, also=CLOSED))
def answer_question(
    id: Identity,  # noqa: A002  its name in the address
    given: Annotated[Answer, Body(examples=[{"text": "Yes, the same one."}])],
    memory: OwnerWriter,
) -> Response:
    """Answer one."""
    return answered({"done": memory.librarian.answer(id, given.text)})


@router.delete("/questions/{id}", **gives(DroppedShape, {"dropped": 1}, also=CLOSED))
def drop_question(id: Identity, memory: OwnerWriter) -> Response:  # noqa: A002  its name in the address
    """Let it go unanswered."""
    memory.librarian.drop_question(id)
    return answered({"dropped": 1})
