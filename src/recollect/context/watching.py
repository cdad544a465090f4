"""The notes a context is made of, as they are now, and what is told of one that changed.

A note has a place in the context (`soul.md`, `daily/2026-03-02.md`), and a path, which may be that of the agent's own
note or, where it has none, that of the house's. What is told is compared by content: a note that was changed and put
back is no change.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import unified_diff
from itertools import islice

import msgspec

from recollect import redaction
from recollect.clock import LOCAL, local
from recollect.context.blocks import tagged
from recollect.context.pipelines import SYSTEM, Pipeline
from recollect.context.state import Seen
from recollect.errors import Denied, NotFound
from recollect.notes import Note, Notes, Version, paths
from recollect.notes.lines import readable_text
from recollect.notes.plain import Obstructed
from recollect.notes.versions import OUTSIDE
from recollect.scopes import Actor

SHORT_CHARACTERS = 1_500
"""A note that is no longer is told as a whole when it changed."""
MOST_CHANGED_CHARACTERS = 3_000
"""Of the lines that changed in a longer one. The note itself has the rest."""
MOST_COMPARED_LINES = 4_000
MOST_KEPT_CHARACTERS = 200_000
"""Of a note, for comparing it with what it will be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A note in the system prompt."""

    place: str
    share: float
    """Of what the prompt has left for notes."""
    keep_end: bool = False
    """Its end is worth more: it is written from top to bottom, day by day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """Notes of the system prompt under one heading."""

    heading: str
    notes: tuple[Shown, ...]


IDENTITY = Chapter(
    heading="Identity",
    notes=(Shown(place=paths.IDENTITY, share=0.08), Shown(place=paths.TOOLS, share=0.08)),
)
DURABLE = Chapter(
    heading="Notes",
    notes=(
        Shown(place=paths.MEMORY, share=0.28),
        Shown(place=paths.THREADS, share=0.12),
        Shown(place=paths.DEV_NOTES, share=0.10, keep_end=True),
        Shown(place=paths.SELF_AWARENESS, share=0.06),
    ),
)
STATUS = Chapter(heading="Status", notes=(Shown(place=paths.STATUS, share=0.10),))
WRITABLE = (
    paths.SOUL,
    paths.USER,
    *(note.place for chapter in (IDENTITY, DURABLE, STATUS) for note in chapter.notes),
)
"""What may be there; what is not is named in the prompt."""


def days(now: datetime) -> Chapter:
    """Yesterday's page and today's, as the user's clock has the days."""
    today = now.astimezone(LOCAL).date()
    yesterday, page = today - timedelta(days=1), f"{paths.DAILY}/{{:%Y-%m-%d}}.md"
    return Chapter(
        heading="Days",
        notes=(
            Shown(place=page.format(yesterday), share=0.08, keep_end=True),
            Shown(place=page.format(today), share=0.10, keep_end=True),
        ),
    )


def chapters(now: datetime) -> list[Chapter]:
    return [IDENTITY, DURABLE, days(now), STATUS]


def places_of(pipeline: Pipeline, now: datetime) -> list[str]:
    """Every note that a context of this pipeline shows, if it is there."""
    named = [section.note for section in pipeline.sections if section.note]
    system = [note.place for chapter in chapters(now) for note in chapter.notes] if pipeline.the(SYSTEM) else []
    return list(dict.fromkeys([*system, *named]))


def seen_notes(notes: Notes, places: Sequence[str]) -> dict[str, Seen]:
    """Place → the note that stands there now. A place is not in it where something lies that is no note or cannot be
    read: nothing can be told of it, and no context has to wait until somebody moved it away."""
    found: dict[str, Seen] = {}
    for place in places:
        with suppress(Obstructed, Denied):
            found[place] = _seen(_note_at(notes, place), notes.principal.name)
    return found


def _note_at(notes: Notes, place: str) -> Note | None:
    """A page of a day and a status are an agent's own; everything else may be the house's."""
    if place == paths.STATUS or place.startswith(f"{paths.DAILY}/"):
        return notes.find(paths.within(notes.own_folder, place))
    return notes.nearest(place)


def _seen(note: Note | None, reader: str) -> Seen:
    if note is None:
        return Seen()
    return Seen(
        path=note.path,
        number=note.number,
        digest=note.digest,
        text=redaction.mask(readable_text(note.text)) if note.is_text else "",
        at=note.at,
        by=_writer(note, reader),
    )


def kept(seen: Seen) -> Seen:
    """As the state has it: with enough of its text to compare it."""
    return msgspec.structs.replace(seen, text=seen.text[:MOST_KEPT_CHARACTERS])


def gone(notes: Notes, before: Seen) -> Seen:
    """Who took a note away, and when, as far as that is known."""
    try:
        last = notes.history(before.path)[-1]
    except NotFound:
        return Seen()
    return Seen(at=last.at, by=_writer(last, notes.principal.name)) if last.is_gone else Seen()


def _writer(version: Version, reader: str) -> str:
    """No agent learns the name of another one."""
    if version.actor == OUTSIDE:
        return "another program"
    if version.actor == Actor.AGENT and version.actor_name != reader:
        return "another agent"
    return version.actor_name or str(version.actor)


def change_text(before: Seen, after: Seen, *, is_brief: bool = False) -> str:
    """What an agent is told of a note that is another now. `is_brief`: only that it is."""
    what = "removed" if not after.digest else "changed" if before.digest and before.path == after.path else "new"
    given = {"path": after.path or before.path, "change": what, "at": _minute(after.at), "by": after.by}
    if what == "removed" or is_brief:
        return tagged("note", given, "")
    if len(after.text) <= SHORT_CHARACTERS:
        return tagged("note", given, after.text)
    old = before.text if what == "changed" else ""
    lines = _changed_lines(old, after.text[:MOST_KEPT_CHARACTERS])
    return tagged("note", {**given, "shown": "changed lines"}, lines)


def _changed_lines(before: str, after: str) -> str:
    old, new = before.splitlines(), after.splitlines()
    if len(old) + len(new) > MOST_COMPARED_LINES:
        return f"[… the note is too long to be compared: {len(new):,} lines]"
    lines = list(islice(unified_diff(old, new, n=1, lineterm=""), 2, None))
    kept: list[str] = []
    room = MOST_CHANGED_CHARACTERS
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    left = len(lines) - len(kept)
    return "\n".join([*kept, *([f"[… {left:,} more lines left out: the note has them]"] if left else [])])


def _minute(at: str) -> str:
    return f"{local(at):%Y-%m-%d %H:%M}" if at else ""
