"""/v1/export, backup, import and claude-memory: copies of the house, and memory folders of Claude Code, from and into
paths on the computer where the server runs.

Copies hold everything as it was said, so a person alone may ask, and nothing of them goes over the line.
"""

from typing import Annotated, Any

from fastapi import Body
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from recollect.memory import Memory
from recollect.surfaces.http.asking import OwnerWriter
from recollect.surfaces.http.errands import BEGUN, Errand, begin
from recollect.surfaces.http.history import path_of
from recollect.surfaces.http.routes import Given, new_router
from recollect.surfaces.shapes.exchange import memory_export_json, memory_import_json
from recollect.surfaces.shapes.transfer import backed_up_json, exported_json, imported_json

router = new_router("transfer")


class Place(Given):
    path: str = Field(min_length=1, max_length=4_000, examples=["~/recollect-2026-02-21.zip"])
    """A whole path on the computer where the server runs; ~ is the home of who runs it."""


@router.post("/export", **BEGUN)
def export(
    given: Annotated[Place, Body(examples=[{"path": "~/recollect-2026-02-21.zip"}])],
    request: Request,
    memory: OwnerWriter,
) -> Response:
    """Write everything into a new folder, or a new .zip file. What is forgotten later stays in it."""
    path = path_of(given.path)

    def work(errand: Errand) -> dict[str, Any]:
        return exported_json(memory.transfer.export_to(path, _counting(errand)))

    return begin(request, "export", work)


@router.post("/backup", **BEGUN)
def backup(
    given: Annotated[Place, Body(examples=[{"path": "~/recollect-2026-02-21.zip"}])],
    request: Request,
    memory: OwnerWriter,
) -> Response:
    """Copy the database into a new file, while it is in use. For SQLite; on PostgreSQL use pg_dump, or export."""
    path = path_of(given.path)

    def work(errand: Errand) -> dict[str, Any]:
        return backed_up_json(memory.transfer.backup_to(path))

    return begin(request, "backup", work)


@router.post("/import", **BEGUN)
def import_export(
    given: Annotated[Place, Body(examples=[{"path": "~/recollect-2026-02-21.zip"}])],
    request: Request,
    memory: OwnerWriter,
) -> Response:
    """Take an export into this house, which must hold nothing yet. All of it is taken in, or nothing."""
    path = path_of(given.path)

    def work(errand: Errand) -> dict[str, Any]:
        return imported_json(memory.transfer.import_from(path, _counting(errand)))

    return begin(request, "import", work)


class FoldersRead(Given):
    folders: list[str] = Field(default=[], max_length=1_000, fail_fast=True)
    """Whole paths on the computer where the server runs. None: all memory folders there."""
    dry_run: bool = False
    """Only tell what would be learned."""
    agent: str = Field(default="", max_length=200)
    """As this agent: ada, ada/kitchen. Empty: as the person."""


class FolderWritten(Given):
    folder: str = Field(min_length=1, max_length=4_000)
    """A whole path on the computer where the server runs."""
    project: str = Field(default="", max_length=1_000)
    """Only what comes from projects with this in their path."""
    agent: str = Field(default="", max_length=200)
    """What this agent may see. Empty: the person."""


@router.post("/claude-memory/import", **BEGUN)
def import_claude_memory(
    given: Annotated[FoldersRead, Body(examples=[{"folders": [], "dry_run": True}])],
    request: Request,
    memory: OwnerWriter,
) -> Response:
    """Make a learning of each fact in memory folders of Claude Code. Done again, it makes nothing twice."""
    folders, seen = [path_of(folder) for folder in given.folders], _seen(memory, given.agent)

    def work(errand: Errand) -> dict[str, Any]:
        return memory_import_json(seen.exchange.import_from(folders, dry_run=given.dry_run))

    return begin(request, "claude-memory", work)


@router.post("/claude-memory/export", **BEGUN)
def export_claude_memory(
    given: Annotated[FolderWritten, Body(examples=[{"folder": "~/memory"}])], request: Request, memory: OwnerWriter
) -> Response:
    """Write what is known into a folder as Claude Code keeps its memory. Files of others stay as they are."""
    folder, seen = path_of(given.folder), _seen(memory, given.agent)

    def work(errand: Errand) -> dict[str, Any]:
        return memory_export_json(seen.exchange.export_to(folder, project=given.project))

    return begin(request, "claude-memory", work)


def _seen(memory: Memory, agent: str) -> Memory:
    name, _, room = agent.partition("/")
    return memory.as_agent(name, room) if agent else memory


def _counting(errand: Errand) -> Any:
    """Rows of all tables: each table is told from its first row on."""
    tables: dict[str, int] = {}

    def count(table: str, rows: int) -> None:
        tables[table] = rows
        errand.reach(sum(tables.values()))

    return count
