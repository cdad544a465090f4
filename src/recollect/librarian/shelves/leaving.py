"""Notes that go whole when what they show is forgotten: their names say something of it.

Only a note in which nobody but the librarian ever wrote, in no version, and on which nothing else is shown.
"""

from collections.abc import Iterable

from recollect.database import Session
from recollect.librarian.episodes import LINE, EpisodeStore
from recollect.librarian.shelves.anchors import AnchorKind, anchors_in
from recollect.librarian.shelves.applying import source_of
from recollect.librarian.shelves.gathering import Gathering
from recollect.librarian.shelves.layout import PageKind, project_place
from recollect.librarian.shelves.merging import merged
from recollect.librarian.shelves.pages import Page, heading_key
from recollect.librarian.shelves.rendering import HEADINGS
from recollect.librarian.shelves.store import ShelfStore
from recollect.lineage import RECORD
from recollect.notes.store import NoteStore

NAMED = frozenset({PageKind.PROJECT, PageKind.PERSON, PageKind.MILESTONE, PageKind.INSIGHT})
"""Pages that are called after what they show."""
KEYS = ("title", "kind", "librarian", "updated", "tags")


def notes_that_go(session: Session, house: str, records: set[str], origins: set[tuple[str, str]]) -> dict[str, int]:
    """Path → its last version. `origins`: all that goes and may stand on a shelf besides records."""
    gone = origins | {(RECORD, one) for one in records}
    store = NoteStore(session, house)
    found: dict[str, int] = {}
    for path in _named(session, house, records, {one for kind, one in origins if kind == LINE}):
        texts = {note.number: note.text for note in store.contents(path) if not note.is_gone}
        if texts and all(_is_only_of(text, gone) for text in texts.values()):
            found[path] = max(one.number for one in store.versions(path))
    return found


def drop_shelves(session: Session, house: str, records: set[str]) -> None:
    """What is known of shelves that went whole. To be called while the records are still there."""
    store, shelves = NoteStore(session, house), ShelfStore(session, house)
    for path in _named(session, house, records):
        if not store.versions(path):
            shelves.drop(path)


def _named(session: Session, house: str, records: set[str], lines: Iterable[str] = ()) -> list[str]:
    """The notes that are called after one of these records, or after the project of one of these lines' episodes."""
    places = {place for place, _ in Gathering(session, house, "").places_of_records(sorted(records))}
    store = EpisodeStore(session, house)
    told = {line.conversation_id for line in store.some_lines(sorted(lines)).values()}
    for episode in store.get(sorted(told)).values():
        places.update([place] if (place := project_place(episode.scope, episode.project)) else [])
    return sorted({place.path for place in places if place.kind in NAMED})


def _is_only_of(text: str, gone: set[tuple[str, str]]) -> bool:
    """Whether a text says nothing but what goes. A line about a conversation says what its episode says."""
    sources = (source_of(anchor) for anchor in anchors_in(text) if anchor.kind is not AnchorKind.META)
    return all((source.kind, source.id) in gone for source in sources) and not merged(text, _nothing(text))


def _nothing(text: str) -> Page:
    """The page of a text without any line."""
    title = next((line[2:] for line in text.splitlines() if line.startswith("# ")), "")
    headings: Iterable[str] = (heading_key(heading) for heading in HEADINGS)
    return Page(title=title, front=dict.fromkeys(KEYS, ""), sections=(), headings=frozenset(headings))
