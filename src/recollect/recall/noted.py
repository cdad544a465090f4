"""Notes as they are searched: one document for each section of the version that holds.

Text is masked before it is cut: what somebody typed into a file by hand is in the file and its versions, and goes no
further. A section is named by its words, so that one that only moves inside its note keeps its vectors, and one that is
shown is the one that was found.
"""

import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from recollect.clock import LOCAL, to_text
from recollect.feed import NOTE
from recollect.ids import derived_id
from recollect.notes import Note
from recollect.notes.notes import FOLDER
from recollect.notes.paths import Kind, kind_of
from recollect.recall.index.documents import NOTE_SIGN, Document, section_name
from recollect.recall.sections import sections
from recollect.redaction import find, mask

AUTHOR, SOURCE = "note", "notes"
"""In the place of who said it, and of where it was read."""
_DAY, _SECOND = timedelta(days=1), timedelta(seconds=1)
_EPISODES = re.compile(r"(?:^|/)episodes/\d{4}-\d{2}/\d{4}-\d{2}-\d{2}\.md$")
"""What the librarian tells of a day."""
_ANCHOR = re.compile(r"(?:(?<![ \t])[ \t]+)?<!--[a-z]:[0-9a-f.-]{1,80}-->")
"""Blanks are looked at from their first one on alone: a long row of them would else be looked at from each."""
_FRONT = re.compile(r"---\r?\n(?:[^\n]*\n){0,50}?---[ \t]*(?:\r?\n|$)")
_LIBRARIAN = re.compile(r"^librarian:", re.MULTILINE)
_NAMED = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d)-(\d\d)-(\d\d))?(?!\d)")
"""How pages of the diary and of days are named, in the zone of whoever keeps them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """One section of a note."""

    id: str
    """Of the document."""
    path: str
    scope: str
    at: str
    """When it is from."""
    written_at: str
    """When the note came to be as it is."""
    is_evergreen: bool
    place: int
    line: int
    text: str

    @property
    def file(self) -> str:
        return f"{FOLDER}/{self.path}"


def noted(note: Note) -> list[Noted]:
    """None of what is gone, of what is no text, and of a status, which is a state and no page."""
    kind = kind_of(note.path)
    if note.is_gone or not note.is_text or kind is Kind.STATUS:
        return []
    is_dated = kind in (Kind.DAILY, Kind.DIARY) or bool(_EPISODES.search(note.path))
    at = _dated(note) if is_dated else note.at
    found: list[Noted] = []
    seen = Counter[str]()
    for place, section in enumerate(sections(_said(_masked(note.text)))):
        words = derived_id(section.text)
        seen[words] += 1
        found.append(
            Noted(
                id=section_name(note.path, words if seen[words] == 1 else f"{words}.{seen[words]}"),
                path=note.path,
                scope=note.scope,
                at=at,
                written_at=note.at,
                is_evergreen=not is_dated,
                place=place,
                line=section.line,
                text=section.text,
            )
        )
    return found


def noted_document(part: Noted) -> Document:
    """The sections of one note are neighbours, as the turns of a conversation are."""
    return Document(
        id=part.id,
        kind=NOTE,
        text=part.text,
        conversation=f"{NOTE_SIGN}{part.path}",
        place=part.place,
        at=part.at,
        known_at=part.written_at,
        author=AUTHOR,
        source=SOURCE,
        scope=part.scope,
        is_evergreen=part.is_evergreen,
    )


def _said(text: str) -> str:
    """Without what nobody sees of a shelf: the anchors of its lines, and the front matter that the librarian writes.
    Lines keep their numbers."""
    front = _FRONT.match(text)
    if front and _LIBRARIAN.search(front.group()):
        text = "\n" * front.group().count("\n") + text[front.end() :]
    return _ANCHOR.sub("", text)


def _masked(text: str) -> str:
    """A mark is one line. What it stands for may have been several: the lines after it keep their numbers."""
    for finding in reversed(find(text)):
        text = text[: finding.end] + "\n" * text.count("\n", finding.start, finding.end) + text[finding.end :]
    return mask(text)


def _dated(note: Note) -> str:
    """When it was written, or as near to that as the day or the second in its name allows: a page of last year may be
    put into the folder today."""
    named = _NAMED.match(note.path.rpartition("/")[2])
    if not named:
        return note.at
    day, *time = named.groups()
    try:
        start = datetime.fromisoformat(f"{day}T{':'.join(time)}" if time[0] else day).replace(tzinfo=LOCAL)
        end = start + (_SECOND if time[0] else _DAY)
        return min(max(note.at, to_text(start)), to_text(end - timedelta(milliseconds=1)))
    except (OverflowError, ValueError, OSError):  # No such day, or one at the edge of what calendars hold.
        return note.at
