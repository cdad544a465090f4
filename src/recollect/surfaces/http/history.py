"""/v1/ingest, sources, files, pause and resume: taking in, from paths on the computer where the server runs."""

from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import Body, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from recollect.errors import Conflict, Invalid, NotFound
from recollect.history.store import File, FileStatus
from recollect.memory import Memory
from recollect.surfaces.http.asking import OwnerWriter, Reader
from recollect.surfaces.http.errands import BEGUN, Errand, begin
from recollect.surfaces.http.paging import Page, cut
from recollect.surfaces.http.routes import After, Given, Identity, Limit, Shape, answered, gives, new_router
from recollect.surfaces.shapes.history import report_json
from recollect.surfaces.shapes.sources import source_json

router = new_router("history")


class Ingested(Given):
    paths: list[str] = Field(min_length=1, max_length=1_000, fail_fast=True, examples=[["~/.claude/projects"]])
    """Files or folders on the computer where the server runs; ~ is the home of who runs it."""
    source: str | None = Field(default=None, examples=["claude-code"])
    """Whose format it is, when it is not recognised."""
    reimport: bool = False
    """Read again from the start; from the vault where the file is gone."""
    no_raw: bool = False
    """Keep the raw lines with their secrets masked too."""


class SourceShape(Shape):
    name: str
    title: str
    changes: str
    found: list[dict[str, Any]]
    files: int
    conversations: int
    messages: int
    last_message_at: str | None
    last_grew_at: str | None
    skipped: dict[str, Any]
    silent_since: str | None
    unknown_files: list[str]


class FileShape(Shape):
    id: str
    source: str
    file: str
    """Its key: what its conversations and messages name."""
    path: str
    host: str
    status: str
    """idle, ingesting or failed."""
    reason: str
    scope: str
    title: str
    lines: int
    lines_parsed: int
    lines_bad: int
    last_entry_at: str
    last_read_at: str


class PauseShape(Shape):
    paused: bool
    since: str | None


class ResumedShape(PauseShape):
    until: str | None


SOURCE: dict[str, Any] = {
    "name": "claude-code",
    "title": "Claude Code",
    "changes": "appended",
    "found": [],
    "files": 12,
    "conversations": 10,
    "messages": 420,
    "last_message_at": "2026-02-21T09:30:00.000Z",
    "last_grew_at": "2026-02-21T09:30:00.000Z",
    "skipped": {"left_out": {}, "failed": [], "lines_bad": 0, "not_messages": {}},
    "silent_since": None,
    "unknown_files": [],
}
FILE: dict[str, Any] = {
    "id": "4f6c2a1e9b0d4c58",
    "source": "claude-code",
    "file": "-home-mia-garden/6f1c.jsonl",
    "path": "/home/mia/.claude/projects/-home-mia-garden/6f1c.jsonl",
    "host": "garden",
    "status": "idle",
    "reason": "",
    "scope": "house",
    "title": "",
    "lines": 40,
    "lines_parsed": 40,
    "lines_bad": 0,
    "last_entry_at": "2026-02-21T09:30:00.000Z",
    "last_read_at": "2026-02-21T09:31:00.000Z",
}


@router.post("/ingest", **BEGUN)
def ingest(
    given: Annotated[Ingested, Body(examples=[{"paths": ["~/.claude/projects"]}])],
    request: Request,
    memory: OwnerWriter,
) -> Response:
    """Take in files and folders of this computer. Only what is new is read; nothing is doubled."""
    paths = [path_of(path) for path in given.paths]
    if given.source is not None and given.source not in memory.history.source_names():
        raise Invalid(f"No source is called {given.source[:100]!r}. /v1/sources lists them.")
    return _begin(request, memory, paths, given.source, reimport=given.reimport, no_raw=given.no_raw)


def _begin(
    request: Request, memory: Memory, paths: list[FilePath], source: str | None, *, reimport: bool, no_raw: bool = False
) -> Response:
    def work(errand: Errand) -> dict[str, Any]:
        report = memory.history.ingest(
            paths,
            source=source,
            reimport=reimport,
            keep_raw=False if no_raw else None,
            on_total=errand.set_total,
            on_progress=errand.advance,
        )
        return report_json(report)

    return begin(request, "ingest", work)


def path_of(given: str) -> FilePath:
    """Absolute: nobody who asks over HTTP knows in which folder the server was started."""
    if "\0" in given:
        raise Invalid("A path has no NUL in it.")
    try:
        path = FilePath(given).expanduser()
    except RuntimeError:
        raise Invalid(f"Nobody knows whose home is meant by {given[:100]!r}. Give the whole path.") from None
    if not path.is_absolute():
        raise Invalid(f"{given[:100]!r} is not a whole path. Give it from / or ~ on, as the server's computer has it.")
    return path


@router.get("/sources", **gives(Page[SourceShape], {"items": [SOURCE], "next": ""}, "Every source that can be read."))
def list_sources(memory: Reader, limit: Limit = 100, after: After = "") -> Response:
    """The agents and exports that can be read, and what came in of each. What lies on the disk is told a person."""
    return answered(cut(memory.history.sources(), limit, after, lambda item: item.name, source_json))


Status = Annotated[FileStatus | None, Query(description="Only files that stand so.", examples=["failed"])]
Source = Annotated[str, Query(max_length=200, description="Only files of this source.", examples=[""])]


@router.get("/files", **gives(Page[FileShape], {"items": [FILE], "next": ""}, "By their names."))
def list_files(
    memory: Reader, status: Status = None, source: Source = "", limit: Limit = 100, after: After = ""
) -> Response:
    """The files that were read, and how each stands."""
    found = [
        file
        for file in memory.history.files()
        if (status is None or file.status == status) and source in ("", file.source)
    ]
    shown = _without_place if memory.principal.is_confined else file_json
    return answered(cut(found, limit, after, lambda file: file.id, shown))


def _without_place(file: File) -> dict[str, Any]:
    """For an agent: where it lies on which computer is no business of its."""
    return {**file_json(file), "path": "", "host": ""}


def file_json(file: File) -> dict[str, Any]:
    same = ("id", "source", "path", "host", "status", "reason", "scope", "title", "last_entry_at", "last_read_at")
    counts = {"lines": file.counts.lines, "lines_parsed": file.counts.parsed, "lines_bad": file.counts.bad}
    return {"file": file.key, **{name: getattr(file, name) for name in same}, **counts}


@router.post("/files/{id}/reimport", **BEGUN)
def reimport_file(id: Identity, request: Request, memory: OwnerWriter) -> Response:  # noqa: A002  its name in the address
    """Read one file again from the start; from the vault where it is gone."""
    files = memory.history.files()
    found = [file for file in files if file.id.startswith(id)]
    if not found:
        raise NotFound(f"No file has the id {id[:100]!r}. /v1/files lists them.")
    if len(found) > 1:
        raise Conflict(f"{len(found)} files have ids like {id[:100]!r}. Give more of it.")
    around = next((file for file in files if file.id == found[0].container_id), found[0])
    if not FilePath(around.path).is_absolute():
        raise Conflict(f"{around.key!r} was said to Recollect itself: there is no file of it to be read again.")
    return _begin(request, memory, [FilePath(around.path)], None, reimport=True)


@router.get("/pause", **gives(PauseShape, {"paused": False, "since": None}))
def read_pause(memory: Reader) -> Response:
    """Whether taking in is paused, and since when."""
    since = memory.history.paused_since()
    return answered({"paused": since is not None, "since": since})


@router.post("/pause", **gives(PauseShape, {"paused": True, "since": "2026-02-21T09:30:00.000Z"}))
def pause(memory: OwnerWriter) -> Response:
    """Stop taking anything in. What is said until it goes on stays out for good."""
    return answered({"paused": True, "since": memory.history.pause()})


@router.post(
    "/resume",
    **gives(ResumedShape, {"paused": False, "since": "2026-02-21T09:30:00.000Z", "until": "2026-02-21T10:00:00.000Z"}),
)
def resume(memory: OwnerWriter) -> Response:
    """Go on after a pause; from when to when it was."""
    since, until = memory.history.resume() or (None, None)
    return answered({"paused": False, "since": since, "until": until})
