"""/v1/reflect and /v1/nights: looking over what was filed, and taking a night back."""

from typing import Annotated, Any

from fastapi import Body
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from recollect.errors import Conflict
from recollect.surfaces.http.asking import Owner, OwnerWriter
from recollect.surfaces.http.errands import BEGUN, Errand, begin
from recollect.surfaces.http.paging import Page, cut
from recollect.surfaces.http.routes import After, Given, Limit, Shape, answered, gives, new_router
from recollect.surfaces.shapes.nights import night_json

router = new_router("nights")


class NightShape(Shape):
    id: str
    at: str
    state: str
    counts: dict[str, int]
    changes: list[dict[str, Any]]


class UndoneNightShape(NightShape):
    stay: int
    """Changes that stay, as somebody went on from them."""


class UndoneNight(Given):
    night: str = Field(default="", max_length=200, examples=[""])
    """Its id, or the beginning or end of it. Empty: the latest."""


NIGHT: dict[str, Any] = {
    "id": "0199a7f0c3de7b6c8a52d1f4e6b7a890",
    "at": "2026-02-21T03:00:00.000Z",
    "state": "done",
    "counts": {"pruned": 1},
    "changes": [{"record": "0199a7f0c3de7b6c8a52d1f4e6b7a891", "path": "", "before": 1, "after": 2, "what": "pruned"}],
}


@router.post("/reflect", **BEGUN)
def reflect(request: Request, memory: OwnerWriter) -> Response:
    """Have a night now. It prunes, promotes, and writes the agent's page about itself; and goes on after the answer."""

    def work(errand: Errand) -> dict[str, Any]:
        night = memory.librarian.reflect()
        if night is None:
            raise Conflict("Somebody else reflects at this moment. Look at /v1/nights later.")
        return night_json(night)

    return begin(request, "reflect", work)


@router.get("/nights", **gives(Page[NightShape], {"items": [NIGHT], "next": ""}, "The latest first."))
def list_nights(memory: Owner, limit: Limit = 30, after: After = "") -> Response:
    """The nights there were, and what each changed."""
    return answered(cut(memory.librarian.reflection.nights(), limit, after, lambda night: night.id, night_json))


@router.post("/nights/undo", **gives(UndoneNightShape, {**NIGHT, "stay": 0}, also={409: "It was undone before."}))
def undo_night(given: Annotated[UndoneNight, Body(examples=[{"night": ""}])], memory: OwnerWriter) -> Response:
    """Take back all that a night changed."""
    night, stay = memory.librarian.undo_night(given.night)
    return answered({**night_json(night), "stay": stay})
