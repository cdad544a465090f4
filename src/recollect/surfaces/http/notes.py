"""/v1/notes: what is written down, and every version of it.

A note is named by its path in the folder of notes, which the library confines: `..`, links and hidden files are no
notes. With If-Match a note is written only over the version that was read: the two editors both keep their text.
"""

from typing import Annotated

from fastapi import Body, Path, Query
from pydantic import Field
from starlette.responses import Response

from recollect.errors import Changed, Conflict
from recollect.memory import Memory
from recollect.notes import Version, Written
from recollect.surfaces.http.asking import OwnerWriter, Reader, Writer
from recollect.surfaces.http.note_shapes import (
    DIFF,
    NOTE,
    VERSION,
    WRITTEN,
    DiffShape,
    NoteShape,
    VersionShape,
    WrittenShape,
)
from recollect.surfaces.http.paging import Page, cut
from recollect.surfaces.http.routes import After, Given, Limit, LongGiven, Why, answered, gives, new_router
from recollect.surfaces.http.versions import (
    CHANGED,
    IfMatch,
    IfNoneMatch,
    OnlyNew,
    beside,
    is_known,
    not_changed,
    seen_version,
)
from recollect.surfaces.shapes.notes import note_json, version_json, written_json

router = new_router("notes")
CONFLICT = {409: "It may not be changed so; `detail` says why."}
NotePath = Annotated[
    str, Path(min_length=1, max_length=1_000, description="In the folder of notes.", examples=["user.md"])
]
Number = Annotated[int, Query(ge=0, le=2**31, description="A version. 0: the latest.", examples=[0])]
VERSIONS = {"items": [VERSION], "next": ""}


class Text(LongGiven):
    text: str
    reason: Why = ""
    """Why. A change of a soul needs one."""


class UndoneNote(Given):
    version: int = Field(default=0, ge=0, le=2**31)
    """0: the one before."""
    reason: Why = ""


class Renamed(Given):
    path: str
    to: str
    reason: Why = ""


class Reviewed(Given):
    path: str
    version: int = Field(ge=0, le=2**31)


class Folder(Given):
    path: str
    reason: Why = ""


@router.get("/notes", **gives(Page[VersionShape], VERSIONS, "Notes, in the order of their paths."))
def list_notes(
    memory: Reader,
    below: Annotated[str, Query(max_length=1_000, description="Only in this folder.", examples=["agents"])] = "",
    gone: Annotated[bool, Query(description="Also those that were removed.")] = False,
    limit: Limit = 100,
    after: After = "",
) -> Response:
    """What is written down. Changes with other tools are versions by now."""
    return answered(cut(memory.notes.list(below, gone=gone), limit, after, lambda one: one.path, version_json))


@router.get("/notes/files/{path:path}", **gives(NoteShape, NOTE, "The note.", etag=True))
def read_note(memory: Reader, path: NotePath, version: Number = 0, if_none_match: IfNoneMatch = "") -> Response:
    """What a note says, or said in one of its versions."""
    note = memory.notes.read(path, version)
    # A look at a version that waits for one changes what is told of it, and not its text.
    if not note.review and is_known(if_none_match, note.seen):
        return not_changed(note.seen)
    return answered(note_json(note), etag=note.seen)


@router.put(
    "/notes/files/{path:path}", **gives(WrittenShape, WRITTEN, "It is written.", also=CHANGED | CONFLICT, etag=True)
)
def write_note(
    memory: Writer,
    path: NotePath,
    given: Annotated[Text, Body(examples=[{"text": "Kim, who grows tomatoes"}])],
    if_match: IfMatch = "",
    if_none_match: OnlyNew = "",
) -> Response:
    """The whole of a note. What it replaces stays a version, named as `unseen` where nobody had read it."""
    memory.notes.prepare()
    expected = seen_version(if_match)
    if if_none_match:  # It is `*`: the route lets nothing else through.
        return _told(_created(memory, path, given))
    if expected is None:
        return _told(memory.notes.write(path, given.text, reason=given.reason))
    with beside(given.text):
        written = memory.notes.change(
            path, lambda _: given.text, reason=given.reason, is_whole=True, expected_version=expected
        )
    return _told(written)


def _created(memory: Memory, path: str, given: Text) -> Written:
    try:
        return memory.notes.create(path, given.text, reason=given.reason)
    except Conflict as error:
        found = memory.notes.find(path)
        if found is None:
            raise
        raise Changed(path, 0, found.seen, found.text, given.text) from error


@router.post(
    "/notes/files/{path:path}", **gives(WrittenShape, WRITTEN, "It is added.", also=CHANGED | CONFLICT, etag=True)
)
def append_to_note(
    memory: Writer,
    path: NotePath,
    given: Annotated[Text, Body(examples=[{"text": "And beans."}])],
    if_match: IfMatch = "",
) -> Response:
    """Add to the end of a note."""
    memory.notes.prepare()
    expected = seen_version(if_match)
    with beside(given.text):
        return _told(memory.notes.append(path, given.text, reason=given.reason, expected_version=expected))


@router.delete(
    "/notes/files/{path:path}", **gives(Page[VersionShape], VERSIONS, "They are gone.", also=CHANGED | CONFLICT)
)
def remove_note(
    memory: Writer,
    path: NotePath,
    reason: Annotated[str, Query(max_length=1_000, examples=[""])] = "",
    if_match: IfMatch = "",
) -> Response:
    """Take a note, or a folder of notes, away. Its versions stay, and `undo` brings it back. A folder has no `ETag`."""
    return _all(memory.notes.remove(path, reason=reason, expected_version=seen_version(if_match)))


@router.get("/notes/history/{path:path}", **gives(Page[VersionShape], VERSIONS, "Its versions, the oldest first."))
def list_note_versions(memory: Reader, path: NotePath, limit: Limit = 100, after: After = "") -> Response:
    """Every state of a note: when, by whom and why."""
    versions = memory.notes.history(path)
    return answered(cut(versions, limit, after, lambda one: str(one.number), version_json))


@router.get("/notes/diff/{path:path}", **gives(DiffShape, DIFF, "What changed."))
def compare_versions(memory: Reader, path: NotePath, older: Number = 0, newer: Number = 0) -> Response:
    """From one version to another. Without numbers: the last change."""
    text = memory.notes.diff(path, older, newer)
    return answered({"path": path, "older": older or None, "newer": newer or None, "diff": text})


@router.post(
    "/notes/undo/{path:path}", **gives(WrittenShape, WRITTEN, "As it was before.", also=CHANGED | CONFLICT, etag=True)
)
def undo_note(
    memory: Writer,
    path: NotePath,
    given: Annotated[UndoneNote, Body(examples=[{"version": 2}])],
    if_match: IfMatch = "",
) -> Response:
    """An earlier version, as a new one."""
    memory.notes.prepare()
    expected = seen_version(if_match)
    return _told(memory.notes.undo(path, given.version, reason=given.reason, expected_version=expected))


@router.post("/notes/move", **gives(Page[VersionShape], VERSIONS, "Under their new names.", also=CHANGED | CONFLICT))
def move_note(
    memory: Writer,
    given: Annotated[Renamed, Body(examples=[{"path": "ideas.md", "to": "garden/ideas.md"}])],
    if_match: IfMatch = "",
) -> Response:
    """Give a note, or a folder of notes, another name. `If-Match`: of the note that is moved."""
    memory.notes.prepare()
    expected = seen_version(if_match)
    return _all(memory.notes.move(given.path, given.to, reason=given.reason, expected_version=expected))


@router.post("/notes/promote", **gives(Page[VersionShape], VERSIONS, "Where they stay.", also=CONFLICT))
def promote_page(
    memory: Writer, given: Annotated[Renamed, Body(examples=[{"path": "ideas.md", "to": "garden/ideas.md"}])]
) -> Response:
    """Keep a page of scratch for good. Pages of scratch go when nobody changed them for 14 days."""
    memory.notes.prepare()
    return _all(memory.notes.scratch.promote(given.path, given.to, reason=given.reason))


@router.post("/notes/restore", **gives(Page[VersionShape], VERSIONS, "They are back.", also=CONFLICT))
def restore_folder(memory: Writer, given: Annotated[Folder, Body(examples=[{"path": "garden"}])]) -> Response:
    """Bring the notes of a folder back that was removed."""
    memory.notes.prepare()
    return _all(memory.notes.bring_back(given.path, reason=given.reason))


@router.get("/notes/reviews", **gives(Page[VersionShape], VERSIONS, "Changes that wait for a look."))
def list_reviews(memory: Reader, limit: Limit = 100, after: After = "") -> Response:
    """Changes of a soul, and of diary entries with another tool."""
    memory.notes.look()
    reviews = memory.notes.reviews()
    return answered(cut(reviews, limit, after, lambda one: f"{one.path}@{one.number}", version_json))


@router.post("/notes/reviews", **gives(VersionShape, VERSION, "It was looked at.", also=CONFLICT))
def accept_review(
    memory: OwnerWriter,
    given: Annotated[Reviewed, Body(examples=[{"path": "agents/assistant/soul.md", "version": 2}])],
) -> Response:
    """It is well. For a person alone."""
    return answered(version_json(memory.notes.accept(given.path, given.version)))


def _all(versions: list[Version]) -> Response:
    """What was done is told whole: it was done at once."""
    return answered({"items": [version_json(version) for version in versions], "next": ""})


def _told(written: Written) -> Response:
    return answered(written_json(written), etag=written.version.seen)
