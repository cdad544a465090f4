"""/v1/agents, grants and bindings: agents and rooms, and what they see and may write."""

from typing import Annotated, Any

from fastapi import Body, Path, Query
from pydantic import Field
from starlette.responses import Response

from recollect.surfaces.http.asking import OwnerWriter, Reader
from recollect.surfaces.http.paging import Page, cut
from recollect.surfaces.http.routes import After, Given, Limit, Shape, answered, gives, new_router
from recollect.surfaces.shapes.agents import described_json, scope_json

router = new_router("agents")
HELD = {409: "It is there already, or something of it is kept; `detail` says what."}
Name = Annotated[str, Path(min_length=1, max_length=200, description="ada, ada/kitchen.", examples=["ada"])]
Asked = Annotated[str, Query(min_length=1, max_length=200, examples=["ada"])]
Source = Annotated[str, Query(min_length=1, max_length=200, description="As /v1/sources names it.", examples=["codex"])]
Below = Annotated[str, Query(max_length=1_000, description="Files whose names begin so. Empty: all.", examples=[""])]


class ScopeShape(Shape):
    id: str
    kind: str
    """agent or room."""
    parent: str
    made_at: str


class BoundShape(Shape):
    source: str
    below: str


class AgentShape(ScopeShape):
    may_write_in: list[str]
    """Beside itself."""
    bound: list[BoundShape]
    """Sources whose history is its own."""


class GrantShape(Shape):
    scope: str
    target: str
    granted: bool


class MovedShape(Shape):
    source: str
    below: str
    scope: str | None
    files_moved: int


class Added(Given):
    name: str = Field(min_length=1, max_length=200, examples=["ada"])
    """With a slash it is a room: ada/kitchen."""
    parent: str = Field(default="house", max_length=200, examples=["house"])


class Granted(Given):
    scope: str = Field(min_length=1, max_length=200, examples=["ada"])
    target: str = Field(min_length=1, max_length=200, examples=["house"])


class Bound(Given):
    scope: str = Field(min_length=1, max_length=200, examples=["ada"])
    source: str = Field(min_length=1, max_length=200, examples=["codex"])
    below: str = Field(default="", max_length=1_000, examples=[""])


SCOPE: dict[str, Any] = {"id": "ada", "kind": "agent", "parent": "house", "made_at": "2026-02-21T09:30:00.000Z"}
AGENT: dict[str, Any] = {**SCOPE, "may_write_in": ["house"], "bound": [{"source": "codex", "below": ""}]}
GRANT: dict[str, Any] = {"scope": "ada", "target": "house", "granted": True}
MOVED: dict[str, Any] = {"source": "codex", "below": "", "scope": "ada", "files_moved": 12}


@router.get("/agents", **gives(Page[AgentShape], {"items": [AGENT], "next": ""}, "For an agent, its own chain."))
def list_agents(memory: Reader, limit: Limit = 100, after: After = "") -> Response:
    """Agents and rooms, what each may write, and whose history is its own."""
    return answered(cut(memory.agents.list(), limit, after, lambda item: item.scope.id, described_json))


@router.post("/agents", **gives(ScopeShape, SCOPE, "It is there.", status=201, also=HELD))
def add_agent(given: Annotated[Added, Body(examples=[{"name": "ada/kitchen"}])], memory: OwnerWriter) -> Response:
    """Make an agent, or a room."""
    return answered(scope_json(memory.agents.add(given.name, given.parent)), status=201)


class RemovedShape(Shape):
    removed: str


@router.delete("/agents/{name:path}", **gives(RemovedShape, {"removed": "ada"}, "It is gone.", also=HELD))
def remove_agent(name: Name, memory: OwnerWriter) -> Response:
    """Remove an agent or room for which nothing is kept."""
    memory.agents.remove(name)
    return answered({"removed": name})


@router.post("/grants", **gives(GrantShape, GRANT))
def grant(
    given: Annotated[Granted, Body(examples=[{"scope": "ada", "target": "house"}])], memory: OwnerWriter
) -> Response:
    """Let an agent or room write in a scope above it."""
    made = memory.agents.grant(given.scope, given.target)
    return answered({"scope": made.scope, "target": made.target, "granted": True})


@router.delete("/grants", **gives(GrantShape, {**GRANT, "granted": False}))
def revoke(scope: Asked, target: Asked, memory: OwnerWriter) -> Response:
    """Take a grant back. What was written stays."""
    ended = memory.agents.revoke(scope, target)
    return answered({"scope": ended.scope, "target": ended.target, "granted": False})


@router.post("/bindings", **gives(MovedShape, MOVED))
def bind(
    given: Annotated[Bound, Body(examples=[{"scope": "ada", "source": "codex"}])], memory: OwnerWriter
) -> Response:
    """Give the history of a source to an agent: others beside it do not see it any more."""
    moved = memory.agents.bind(given.scope, given.source, given.below)
    return answered({"source": given.source, "below": given.below, "scope": given.scope, "files_moved": moved})


@router.delete("/bindings", **gives(MovedShape, {**MOVED, "scope": None}))
def unbind(source: Source, memory: OwnerWriter, below: Below = "") -> Response:
    """Give the history of a source back to the house."""
    moved = memory.agents.unbind(source, below)
    return answered({"source": source, "below": below, "scope": None, "files_moved": moved})
