"""Where on the shelves a record or an episode stands. Pure: the same record always has the same place."""

from dataclasses import dataclass
from enum import StrEnum

from recollect.clock import local
from recollect.knowledge import Origin, Record
from recollect.librarian.items import Shelf
from recollect.librarian.shelves.slugs import name_key, name_slug, text_slug
from recollect.notes.paths import QUESTIONS, folder_of, scope_of, within

CORE = "core/facts.md"
OVERVIEW = "overview.md"
EPISODES, PROJECTS, RELATIONSHIPS, MILESTONES, INSIGHTS = (
    "episodes",
    "projects",
    "relationships",
    "milestones",
    "insights",
)
SHOWN_ORIGINS = frozenset({Origin.EXTRACTED, Origin.TOLD})
"""An agent's own marks and what somebody promoted may bear any tag: they are not on shelves."""


class PageKind(StrEnum):
    EPISODES = "episodes"
    PROJECT = "project"
    PERSON = "person"
    MILESTONE = "milestone"
    INSIGHT = "insight"
    CORE = "core"
    QUESTIONS = "questions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One note of the librarian's."""

    path: str
    scope: str
    kind: PageKind
    name: str = ""
    """Of the project or person, as `slugs.name_key` compares it."""


def places_of(record: Record, first: Record | None = None) -> list[Place]:
    """Where this version of a record stands, whether or not it is to be shown. `first`: its first version, after which
    a note of its own is called whatever the record says later."""
    if record.origin not in SHOWN_ORIGINS:
        return []
    found = [place for shelf in Shelf if shelf in record.tags and (place := _place(record, first or record, shelf))]
    return list(dict.fromkeys(found))


def _place(record: Record, first: Record, shelf: Shelf) -> Place | None:
    if shelf is Shelf.CORE:
        return Place(path=_path(record.scope, CORE), scope=record.scope, kind=PageKind.CORE)
    if shelf is Shelf.PROJECT:
        return project_place(record.scope, record.subject)
    if shelf is Shelf.PERSON and name_key(record.subject):
        path = _path(record.scope, f"{RELATIONSHIPS}/{name_slug(record.subject)}/{OVERVIEW}")
        return Place(path=path, scope=record.scope, kind=PageKind.PERSON, name=name_key(record.subject))
    if shelf in (Shelf.MILESTONE, Shelf.INSIGHT):
        return _dated_place(record, first, shelf)
    return None


def _dated_place(record: Record, first: Record, shelf: Shelf) -> Place:
    day = day_of(first.true_from)
    name = f"{day}-{text_slug(first.text)}.md"
    if shelf is Shelf.MILESTONE:
        path, kind = f"{MILESTONES}/{day[:7]}/{name}", PageKind.MILESTONE
    else:
        path, kind = f"{INSIGHTS}/{name}", PageKind.INSIGHT
    return Place(path=_path(record.scope, path), scope=record.scope, kind=kind)


def project_place(scope: str, project: str) -> Place | None:
    if not name_key(project):
        return None
    path = _path(scope, f"{PROJECTS}/{name_slug(project)}/{OVERVIEW}")
    return Place(path=path, scope=scope, kind=PageKind.PROJECT, name=name_key(project))


def questions_place(scope: str) -> Place:
    return Place(path=_path(scope, QUESTIONS), scope=scope, kind=PageKind.QUESTIONS)


def kind_of(path: str) -> PageKind | None:
    """What a note is by its path; None: no shelf."""
    folder = folder_of(scope_of(path))
    own = path[len(folder) + 1 :] if folder else path
    parts = own.split("/")
    if own in (CORE, QUESTIONS):
        return PageKind.CORE if own == CORE else PageKind.QUESTIONS
    if parts[0] in (PROJECTS, RELATIONSHIPS):
        is_overview = len(parts) == 3 and parts[2] == OVERVIEW
        kind = PageKind.PROJECT if parts[0] == PROJECTS else PageKind.PERSON
        return kind if is_overview else None
    depths = {
        EPISODES: (3, PageKind.EPISODES),
        MILESTONES: (3, PageKind.MILESTONE),
        INSIGHTS: (2, PageKind.INSIGHT),
    }
    depth, kind = depths.get(parts[0], (0, None))
    return kind if len(parts) == depth and own.endswith(".md") else None


def day_of(moment: str) -> str:
    """Where the person is."""
    return f"{local(moment):%Y-%m-%d}" if moment else "undated"


def _path(scope: str, own: str) -> str:
    return within(folder_of(scope), own)
