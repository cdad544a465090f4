"""/v1/diary and /v1/status: of the agent who asks; for a person, of the house's own agent."""

from typing import Annotated, Any

from fastapi import Body, Path
from starlette.responses import Response

from recollect.clock import from_text
from recollect.surfaces import times
from recollect.surfaces.http.asking import Reader, Writer
from recollect.surfaces.http.note_shapes import (
    BOARD,
    ENTRY,
    WRITTEN,
    BoardShape,
    DiaryEntryShape,
    UpdatedShape,
    WrittenShape,
)
from recollect.surfaces.http.paging import Page, paged
from recollect.surfaces.http.records import When
from recollect.surfaces.http.routes import After, Given, Limit, LongGiven, answered, gives, new_router
from recollect.surfaces.http.versions import CHANGED, IfMatch, IfNoneMatch, is_known, not_changed, seen_version
from recollect.surfaces.shapes.notes import board_json, entry_json, written_json

router = new_router("diary and status")
EntryName = Annotated[
    str,
    Path(
        min_length=1,
        max_length=200,
        description="The name of an entry, the beginning of it, or `latest`.",
        examples=["latest"],
    ),
]


class Entry(LongGiven):
    text: str


class Named(Given):
    name: str


class Fields(Given):
    """JSON values; null takes a field away."""

    fields: dict[str, Any]


@router.get("/diary", **gives(Page[DiaryEntryShape], {"items": [ENTRY], "next": ""}, "Entries, the newest first."))
def list_diary(memory: Reader, since: When = "", limit: Limit = 30, after: After = "") -> Response:
    """What the agent wrote in its diary. One that was changed with another tool shows what was written first."""
    begin = from_text(times.beginning(since)) if since else None
    diary = memory.notes.diary
    return answered(
        paged(lambda number: diary.list(limit=number, since=begin), limit, after, lambda one: one.path, entry_json)
    )


@router.post("/diary", **gives(WrittenShape, WRITTEN, "It is written.", status=201, etag=True))
def write_diary(memory: Writer, given: Annotated[Entry, Body(examples=[{"text": "A day in the garden."}])]) -> Response:
    """Write an entry. Nobody changes it afterwards."""
    memory.notes.prepare()
    written = memory.notes.diary.write(given.text)
    return answered(written_json(written), status=201, etag=written.version.seen)


@router.post("/diary/restore", **gives(DiaryEntryShape, ENTRY, "As it was first written."))
def restore_entry(
    memory: Writer, given: Annotated[Named, Body(examples=[{"name": "2026-05-01T21-30-00"}])]
) -> Response:
    """Put what was written first back into the file of an entry."""
    return answered(entry_json(memory.notes.diary.restore(given.name)))


@router.get("/diary/{name:path}", **gives(DiaryEntryShape, ENTRY, "The entry."))
def read_entry(memory: Reader, name: EntryName) -> Response:
    """One entry, as it was first written."""
    return answered(entry_json(memory.notes.diary.show(name)))


@router.get("/status", **gives(BoardShape, BOARD, "The fields, each with when it was set.", etag=True))
def read_status(memory: Reader, if_none_match: IfNoneMatch = "") -> Response:
    """How the agent says it is."""
    board = memory.notes.status.show()
    if not board.problem and is_known(if_none_match, board.seen):
        return not_changed(board.seen)
    return answered(board_json(board), etag=board.seen)


@router.patch(
    "/status",
    **gives(UpdatedShape, {**BOARD, "aside": "", "masked": 0}, "The fields as they are now.", also=CHANGED, etag=True),
)
def update_status(
    memory: Writer,
    given: Annotated[Fields, Body(examples=[{"fields": {"mood": "calm", "task": None}}])],
    if_match: IfMatch = "",
) -> Response:
    """Set these fields; the others stay as they are."""
    memory.notes.prepare()
    updated = memory.update_status(given.fields, expected_version=seen_version(if_match))
    value = {**board_json(updated.board), "aside": updated.aside, "masked": updated.masked}
    return answered(value, etag=updated.board.seen)
