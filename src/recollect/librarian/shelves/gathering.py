"""What a page is made of, out of the stores. Inside one session; reads no more than the page needs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

from recollect.database import Session
from recollect.history.store.messages import MessageStore
from recollect.knowledge import Record, State
from recollect.knowledge.store import Filter, RecordStore
from recollect.librarian.episodes import Episode, EpisodeStore
from recollect.librarian.items import Shelf
from recollect.librarian.proposals import Proposal, ProposalStore
from recollect.librarian.questions import QUESTION, QuestionStore
from recollect.librarian.shelves.anchors import Anchor, AnchorKind
from recollect.librarian.shelves.layout import (
    OVERVIEW,
    PageKind,
    Place,
    kind_of,
    places_of,
    project_place,
    questions_place,
)
from recollect.librarian.shelves.pages import Page
from recollect.librarian.shelves.rendering import Shown, questions_page, rendered
from recollect.librarian.shelves.slugs import name_key, name_slug
from recollect.notes.lines import Source
from recollect.notes.paths import scope_of
from recollect.scopes import HOUSE

MOST_RECORDS = 1_000
"""Of one page: the latest. A section shows fewer."""
_TAGS = {PageKind.CORE: Shelf.CORE, PageKind.PROJECT: Shelf.PROJECT, PageKind.PERSON: Shelf.PERSON}


class Gathering:
    def __init__(self, session: Session, house: str, now: str) -> None:
        self._records = RecordStore(session, house)
        self._episodes = EpisodeStore(session, house)
        self._messages = MessageStore(session, house)
        self._proposals = ProposalStore(session, house)
        self._questions = QuestionStore(session, house)
        self._now = now
        self._names: dict[str, dict[str, list[str]]] = {}
        self._projects: dict[str, dict[str, list[str]]] = {}
        self._slugs: dict[str, dict[str, str]] = {}

    # Which pages

    def places_of_records(self, record_ids: Sequence[str]) -> Iterable[tuple[Place, str]]:
        """(page, record) of where these records stand, or stood in an earlier version."""
        for name, versions in self._records.versions(record_ids).items():
            for version in versions:
                yield from ((place, name) for place in places_of(version, versions[0]))

    def place_at(self, path: str) -> Place | None:
        """The page that a note of this path is; None: no shelf. A name that nobody has any more is empty."""
        kind, scope = kind_of(path), scope_of(path)
        if kind is None:
            return None
        name = ""
        if kind in (PageKind.PROJECT, PageKind.PERSON):
            name = self._by_slug(scope).get(path.removesuffix(f"/{OVERVIEW}").rpartition("/")[2], "")
        return Place(path=path, scope=scope, kind=kind, name=name)

    def belongs(self, anchor: Anchor, place: Place) -> bool:
        """Whether a line with this anchor could be the librarian's on this page."""
        if anchor.kind is AnchorKind.QUESTION:
            return place.kind is PageKind.QUESTIONS
        if anchor.kind in (AnchorKind.RECORD, AnchorKind.REPLACED):
            return any(place.path == one.path for one, _ in self.places_of_records([anchor.id]))
        episode = self._episodes.get([anchor.id]).get(anchor.id)
        project = project_place(episode.scope, episode.project) if episode else None
        return bool(episode and place.path in (episode.page, project.path if project else ""))

    def every_place(self) -> Iterable[tuple[Place, str]]:
        """All pages there should be, some more than once, and a record that may stand on each."""
        last = ("", 0)
        first: Record | None = None
        while records := self._records.page(last, MOST_RECORDS):
            for record in records:
                first = first if first and first.id == record.id else record
                yield from ((place, record.id) for place in places_of(record, first))
            last = (records[-1].id, records[-1].version)
        after = ""
        while episodes := self._episodes.page(after, MOST_RECORDS):
            for episode in episodes:
                yield Place(path=episode.page, scope=episode.scope, kind=PageKind.EPISODES), ""
                place = project_place(episode.scope, episode.project)
                if place:
                    yield place, ""
            after = episodes[-1].conversation_id
        for question in self._questions.in_state():
            yield questions_place(question.scope), ""

    # One page

    def page(self, place: Place, record_ids: Iterable[str] = ()) -> Page:
        """As it shall be. `record_ids`: those that may stand on a page that nobody can ask the store for."""
        if place.kind is PageKind.QUESTIONS:
            return self._questions_page(place)
        page = rendered(self._shown(place, record_ids))
        return page.without(self._hidden(page, place))

    def _questions_page(self, place: Place) -> Page:
        asked = [one for one in self._questions.in_state() if one.scope == place.scope]
        return questions_page([(one.id, one.text, (Source(kind=QUESTION, id=one.id),)) for one in asked])

    def _shown(self, place: Place, record_ids: Iterable[str]) -> Shown:
        if place.kind is PageKind.EPISODES:
            episodes = self._episodes.of_page(place.path)
            return self._with_episodes(Shown(place=place, now=self._now), episodes)
        records = self._records_of(place, record_ids)
        material = Shown(place=place, records=records, now=self._now)
        if place.kind is PageKind.PROJECT:
            spelled = self._spellings(place.scope).get(place.name, [])
            episodes = [one for name in spelled for one in self._episodes.of_project(place.scope, name)]
            self._with_episodes(material, episodes)
        if place.kind is PageKind.PERSON:
            following = self._records.get([one.replaced_by for one in records if one.replaced_by])
            material.following = {one.id: following[one.replaced_by] for one in records if one.replaced_by in following}
        names = Counter([one.subject for one in records] + [one.project for one in material.episodes])
        material.name = min(names, key=lambda name: (-names[name], name), default="")
        self._with_pages(material)
        return material

    def _records_of(self, place: Place, record_ids: Iterable[str]) -> list[Record]:
        if place.kind in (PageKind.MILESTONE, PageKind.INSIGHT):
            versions = self._records.versions(sorted(set(record_ids))).values()
            there = [found[-1] for found in versions if place in places_of(found[-1], found[0])]
            return [one for one in there if one.counts(self._now)]
        tag = str(_TAGS[place.kind])
        if place.kind is PageKind.CORE:
            chosen = Filter(tags=(tag,), scope=place.scope, states=(), counting_at=self._now, unexpired_at=self._now)
            found = self._records.listed(chosen, MOST_RECORDS)
        else:
            spelled = self._subjects(place.scope).get(place.name, [])
            filters = [Filter(subject=one, tags=(tag,), scope=place.scope, states=()) for one in spelled]
            found = [one for chosen in filters for one in self._records.listed(chosen, MOST_RECORDS)]
        return [one for one in found if place in places_of(one) and one.state is not State.RETRACTED]

    def _with_episodes(self, material: Shown, episodes: Sequence[Episode]) -> Shown:
        material.episodes = episodes
        material.lines = self._episodes.lines([one.conversation_id for one in episodes])
        material.readers = frozenset(one.reader for one in episodes)
        return material

    def _with_pages(self, material: Shown) -> None:
        """In which episodes the sources of the records stand."""
        counting = [one for one in material.records if one.counts(self._now)]
        messages = sorted({source.message_id for one in counting for source in one.sources})
        conversations = self._messages.conversations_of(messages)
        episodes = self._episodes.get(sorted(set(conversations.values())))
        seen = {name: one for name, one in episodes.items() if one.scope in (material.place.scope, HOUSE)}
        material.pages = {message: seen[name].page for message, name in conversations.items() if name in seen}
        material.readers = material.readers | {one.reader for one in seen.values()}

    def _hidden(self, page: Page, place: Place) -> set[Anchor]:
        """What somebody took away from this page."""
        records = {line.anchor.id: line.anchor for line in page.lines if line.anchor.kind is AnchorKind.RECORD}
        others = {str(one.anchor): one.anchor for one in page.lines if one.anchor.kind is not AnchorKind.RECORD}
        if place.kind is PageKind.EPISODES:
            return set()
        withheld = self._proposals.withheld(sorted(records), place.path)
        hidden = self._proposals.hidden(sorted(others), place.path)
        return {records[one] for one in withheld} | {others[one] for one in hidden}

    def is_withheld(self, path: str) -> bool:
        """Whether it is still to be decided about lines that somebody deleted from this note."""
        return any(one.path == path for one in self._open)

    @cached_property
    def _open(self) -> list[Proposal]:
        return self._proposals.open()

    def subject_of(self, place: Place) -> str:
        """Whom or what a page is about, as records say it."""
        names = Counter(one.subject for one in self._records_of(place, ()))
        return min(names, key=lambda name: (-names[name], name), default="")

    # Names

    def _by_slug(self, scope: str) -> dict[str, str]:
        """Slug → the name of a person or project."""
        if scope not in self._slugs:
            self._slugs[scope] = {name_slug(one): one for one in {*self._subjects(scope), *self._spellings(scope)}}
        return self._slugs[scope]

    def _subjects(self, scope: str) -> dict[str, list[str]]:
        """Name → the ways in which records spell it."""
        if scope not in self._names:
            self._names[scope] = _by_key(self._records.subjects(scope))
        return self._names[scope]

    def _spellings(self, scope: str) -> dict[str, list[str]]:
        """Name of a project → the ways in which episodes spell it."""
        if scope not in self._projects:
            self._projects[scope] = _by_key(self._episodes.projects(scope))
        return self._projects[scope]


def _by_key(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name_key(name), []).append(name)
    return found
