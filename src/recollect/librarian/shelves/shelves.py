"""Shelves: the notes of the librarian follow the records, and the records follow what people write on the shelves.

It follows the feed: which records and notes changed, which pages these stand on, and only those are looked at. What
somebody else did to a page is read before the page is written. A page that cannot be read or written is reported, and
the others go on. A crash at any place leaves something that the next time is done again, to the same end.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from recollect.clock import Clock, to_text
from recollect.database import Database
from recollect.errors import Conflict, Denied, Invalid, NotFound
from recollect.feed import NOTE, RECORD, Change, Feed
from recollect.knowledge import Knowledge
from recollect.librarian.shelves.anchors import AnchorKind, anchor_of, anchors_in, without_anchors
from recollect.librarian.shelves.applying import Applied, Applying, source_of
from recollect.librarian.shelves.front import quoted
from recollect.librarian.shelves.gathering import Gathering
from recollect.librarian.shelves.layout import PageKind, Place, kind_of
from recollect.librarian.shelves.leaving import NAMED
from recollect.librarian.shelves.merging import merged
from recollect.librarian.shelves.pages import Page
from recollect.librarian.shelves.reading_back import changes, without_answers
from recollect.librarian.shelves.rendering import ADDED_TO
from recollect.librarian.shelves.store import ShelfStore
from recollect.lineage import Edge, EdgeStore
from recollect.notes import Action, Note, Notes, Problem, Version
from recollect.notes.lines import Source, own_edges
from recollect.notes.store import NoteStore
from recollect.scopes import OWNER, Actor, Principal, ScopeStore
from recollect.scopes.agents import principal_named
from recollect.settings import Settings

FOLLOWER = "shelves"
CHANGES = 2_000
"""Read from the feed at once."""
MOST_BASES = 20
"""Versions among which one is looked for that somebody started from."""
PAGES = 100
"""Gathered at once, before they are written."""


class _Moved(Exception):
    """Somebody changed the note after it was read."""


@dataclass(slots=True, kw_only=True)
class ShelfReport:
    written: list[str] = field(default_factory=list[str])
    removed: list[str] = field(default_factory=list[str])
    """Notes that have nothing to say any more."""
    read_back: Counter[str] = field(default_factory=Counter[str])
    """edited, added, proposed, hidden, removed, shown, answered, overtaken → how many lines."""
    problems: list[Problem] = field(default_factory=list[Problem])


@dataclass(slots=True)
class _Round:
    """One batch of pages."""

    numbers: dict[str, int] = field(default_factory=dict[str, int])
    """Path → the version up to which changes of others were read, to be kept."""
    seen: dict[str, int] = field(default_factory=dict[str, int])
    """Path → the latest version there was when it was read back."""
    edges: list[Edge] = field(default_factory=list[Edge])
    applied: dict[str, Applied] = field(default_factory=dict[str, Applied])


class Shelves:
    """`memory.librarian.shelves`."""

    def __init__(
        self, database: Database, settings: Settings, clock: Clock, notes: Notes, knowledge: Knowledge, feed: Feed
    ) -> None:
        """`notes`: as the librarian writes them."""
        self._database = database
        self._house = settings.house
        self._clock = clock
        self._notes = notes
        self._knowledge = knowledge
        self._feed = feed
        self._own: dict[str, int] = {}
        """Path → the version that this object wrote last."""

    def catch_up(self, *, look: bool = True) -> ShelfReport:
        """`look`: at the whole folder first, for what others did with other tools."""
        report = ShelfReport()
        if look:
            looked = self._notes.look()
            report.problems += [one for one in looked.problems if kind_of(one.path)]
        reached = self._feed.reached(FOLLOWER)
        if reached is None or not self._feed.can_follow(reached):
            return self._begin(report)
        self._follow(reached, report)
        return report

    def render_all(self) -> ShelfReport:
        """Every page there is or should be, whatever changed."""
        self._notes.look()
        return self._begin(ShelfReport())

    def _begin(self, report: ShelfReport) -> ShelfReport:
        newest = self._feed.newest()
        with self._database.read() as session:
            gathering = Gathering(session, self._house, self._now())
            wanted = _grouped(gathering.every_place())
            known = ShelfStore(session, self._house).paths()
            missing = [path for path in known if path not in {place.path for place in wanted}]
            wanted |= {place: set[str]() for path in missing if (place := gathering.place_at(path))}
        self._bring_up(wanted, report)
        self._feed.reach(FOLLOWER, newest)
        self._follow(newest, report)
        return report

    def _follow(self, after: int, report: ShelfReport) -> None:
        while found := self._feed.changes(after, CHANGES):
            self._take(found, report)
            after = found[-1].change
            self._feed.reach(FOLLOWER, after)

    def _take(self, found: Sequence[Change], report: ShelfReport) -> None:
        records = sorted({change.id for change in found if change.kind == RECORD})
        paths = sorted({change.id for change in found if change.kind == NOTE and kind_of(change.id)})
        with self._database.read() as session:
            heads = NoteStore(session, self._house).latest([path for path in paths if path in self._own])
            own = {path for path, head in heads.items() if head.number == self._own[path]}
            gathering = Gathering(session, self._house, self._now())
            wanted = _grouped(gathering.places_of_records(records))
            for path in paths:
                place = gathering.place_at(path) if path not in own else None
                if place:
                    wanted.setdefault(place, set())
        self._bring_up(wanted, report)

    # A batch of pages

    def _bring_up(self, wanted: dict[Place, set[str]], report: ShelfReport) -> None:
        places = sorted(wanted, key=lambda place: place.path)
        for start in range(0, len(places), PAGES):
            self._bring_some({place: wanted[place] for place in places[start : start + PAGES]}, report)

    def _bring_some(self, wanted: dict[Place, set[str]], report: ShelfReport) -> None:
        done = _Round()
        for place in wanted:
            with _reporting(place, report):
                self._read_back(place, done, report)
        for place, page in self._pages(wanted).items():
            with _reporting(place, report):
                self._put(place, page, done, report)
        self._keep(done)

    def _keep(self, done: _Round) -> None:
        if not done.numbers and not done.edges:
            return
        with self._database.write() as session:
            EdgeStore(session, self._house).add(set(done.edges))
            store = ShelfStore(session, self._house)
            for path, number in done.numbers.items():
                store.save(path, number)

    def _pages(self, wanted: dict[Place, set[str]]) -> dict[Place, Page]:
        for place, records in wanted.items():
            if place.kind in (PageKind.MILESTONE, PageKind.INSIGHT):
                records |= self._standing(place.path)
        with self._database.read() as session:
            gathering = Gathering(session, self._house, self._now())
            heads = NoteStore(session, self._house).latest([place.path for place in wanted])
            return {
                place: gathering.page(place, records)
                for place, records in wanted.items()
                if not (_is_taken_away(heads.get(place.path)) and gathering.is_withheld(place.path))
            }

    def _standing(self, path: str) -> set[str]:
        """Records whose lines stand in a note."""
        with self._database.read() as session:
            note = NoteStore(session, self._house).notes([path]).get(path)
        found = [anchor_of(line) for line in note.text.splitlines()] if note else []
        return {anchor.id for anchor in found if anchor and anchor.kind is AnchorKind.RECORD}

    # Reading back

    def _read_back(self, place: Place, done: _Round, report: ShelfReport) -> None:
        with self._database.read() as session:
            versions = NoteStore(session, self._house).versions(place.path)
            number = ShelfStore(session, self._house).numbers([place.path]).get(place.path)
        done.seen[place.path] = versions[-1].number if versions else 0
        if not versions:
            return
        if number is None:
            ours = [one.number for one in versions if one.actor == Actor.LIBRARIAN]
            if not ours:
                return
            number = ours[0]
        number = number if number <= versions[-1].number else 0
        for index, version in enumerate(versions):
            if version.number > number:
                if _is_others(version):
                    self._read_version(place, versions[: index + 2], version, done, report)
                done.numbers[place.path] = version.number

    def _read_version(
        self, place: Place, versions: Sequence[Version], version: Version, done: _Round, report: ShelfReport
    ) -> None:
        """`versions`: all up to the one after it."""
        with self._database.read() as session:
            store = NoteStore(session, self._house)
            now = store.note(place.path, version.number)
            if now and not now.is_utf8:
                return
            new = _text(now)
            is_sure = not version.unseen and versions[-1].action is not Action.KEPT
            old = _base(store, [one for one in versions if one.number < version.number], new, is_sure=is_sure)
        known = set(old.splitlines())
        pairs = [(line, source_of(one)) for line in new.splitlines() if line not in known for one in anchors_in(line)]
        found = changes(old, new, ADDED_TO)
        applying = Applying(
            self._database, self._house, self._now(), self._knowledge, place, version, self._author(version)
        )
        applied = applying.apply(found)
        report.read_back += applied.counts
        report.problems += applied.problems
        done.edges += own_edges(place.path, [*pairs, *applied.origins])
        kept = done.applied.setdefault(place.path, Applied())
        kept.anchored += applied.anchored
        kept.copied += applied.copied
        copies = [(without_anchors(line), source) for line, source in pairs if anchor_of(line) in applied.copied]
        done.edges += own_edges(place.path, copies)

    def _author(self, version: Version) -> Principal:
        """An agent is told from the people of the house, who write with any tool."""
        if version.actor != Actor.AGENT:
            return OWNER
        with self._database.read() as session:
            return principal_named(ScopeStore(session, self._house), version.actor_name)

    # Writing

    def _put(self, place: Place, page: Page, done: _Round, report: ShelfReport) -> None:
        note = self._notes.find(place.path)
        if self._latest(place.path) != done.seen[place.path]:
            return  # Somebody just changed it: that is in the feed, and read before it is written.
        if note and not (note.is_text and note.is_utf8):
            raise Conflict(f"{place.path} is not UTF-8 text: the librarian leaves it as it is. Save it as UTF-8.")
        text = note.text if note else ""
        applied = done.applied.get(place.path, Applied())

        def change(now: str | None) -> str:
            if (now or "") != text:
                raise _Moved
            return wanted

        wanted = merged(_prepared(text, place, page, applied), page)
        if wanted == text:
            if note and note.number > done.numbers.get(place.path, 0) and not page.is_empty:
                done.numbers[place.path] = note.number
            return
        try:
            if wanted:
                self._write(place, page, change, done, report)
            else:
                self._remove(place, text, done, report)
        except _Moved:
            self._notes.look([place.path])  # It is in the feed by then, and read before it is written again.

    def _latest(self, path: str) -> int:
        with self._database.read() as session:
            head = NoteStore(session, self._house).latest([path]).get(path)
        return head.number if head else 0

    def _write(
        self, place: Place, page: Page, change: Callable[[str | None], str], done: _Round, report: ShelfReport
    ) -> None:
        def origins(old: str, new: str) -> Iterable[tuple[str, Source]]:
            return _origins(page, old, new, has_name=place.kind in NAMED)

        written = self._notes.change(place.path, change, origins=origins)
        version = written.version
        if written.is_new:
            report.written.append(place.path)
        if version.unseen:
            done.numbers[place.path] = (
                version.unseen - 1
            )  # Somebody wrote in the very moment: that is still to be read.
        else:
            done.numbers[place.path] = self._own[place.path] = version.number

    def _remove(self, place: Place, text: str, done: _Round, report: ShelfReport) -> None:
        note = self._notes.find(place.path)
        if _text(note) != text:
            raise _Moved
        for version in self._notes.remove(place.path, reason="nothing is left to say"):
            done.numbers[version.path] = self._own[version.path] = version.number
        report.removed.append(place.path)

    def _now(self) -> str:
        return to_text(self._clock())


@contextmanager
def _reporting(place: Place, report: ShelfReport) -> Generator[None]:
    """A page that cannot be read or written keeps nobody from the others."""
    try:
        yield
    except (Conflict, Denied, Invalid, NotFound) as error:
        report.problems.append(Problem(path=place.path, reason=str(error)))


def _grouped(found: Iterable[tuple[Place, str]]) -> dict[Place, set[str]]:
    wanted: dict[Place, set[str]] = {}
    for place, record in found:
        wanted.setdefault(place, set()).update([record] if record else [])
    return wanted


def _is_taken_away(head: Version | None) -> bool:
    """Whether somebody else deleted the note as a whole."""
    return head is not None and head.is_gone and head.actor != Actor.LIBRARIAN


def _is_others(version: Version) -> bool:
    """Whether somebody else wrote it. What is only kept stood there before."""
    return version.actor not in (Actor.LIBRARIAN, Actor.RULE) and version.action is not Action.KEPT


def _base(store: NoteStore, earlier: Sequence[Version], new: str, *, is_sure: bool) -> str:
    """The text that somebody had before them when they wrote this one: the one before it. Where they had not seen that
    one, as on another computer, the one that it differs from least."""
    texts: list[str] = []
    for version in reversed(earlier[-MOST_BASES:]):
        note = store.note(version.path, version.number)
        if note is None or note.is_utf8:
            texts.append(_text(note))
            if is_sure:
                break
    return min(texts, key=lambda old: len(changes(old, new, ADDED_TO)), default="")


def _text(note: Note | None) -> str:
    return note.text if note and not note.is_gone else ""


def _prepared(text: str, place: Place, page: Page, applied: Applied) -> str:
    """With anchors behind the lines that became ours and none behind those that are others', and without the answers of
    questions that are none any more."""
    if applied.copied:
        lines = text.splitlines(keepends=True)
        text = "".join(without_anchors(one) if anchor_of(one) in applied.copied else one for one in lines)
    for line, anchor in applied.anchored:
        if str(anchor) not in text:
            lines = text.splitlines(keepends=True)
            at = next((place for place, one in enumerate(lines) if one.rstrip() == line), None)
            if at is not None:
                words = lines[at].rstrip("\r\n")
                lines[at] = f"{words.rstrip()} {anchor}{lines[at][len(words) :]}"
                text = "".join(lines)
    if place.kind is PageKind.QUESTIONS:
        asked = {line.anchor.id for line in page.lines}
        there = {one.id for one in anchors_in(text) if one.kind is AnchorKind.QUESTION}
        text = without_answers(text, there - asked)
    return text


def _origins(page: Page, old: str, new: str, *, has_name: bool) -> Iterable[tuple[str, Source]]:
    """What each line that is new goes with. A title goes with all that stands below it."""
    before = set(old.splitlines())
    sources = page.sources_of()
    found = [
        (line, source) for line in new.splitlines() if line not in before for source in sources.get(line.strip(), ())
    ]
    yield from found
    titles = [f"# {page.title}", f"title: {quoted(page.title)}"] if has_name else []
    below = {source for _, source in found}
    if any(title not in before for title in titles):
        below |= {source for line in page.lines for source in line.sources}
    yield from ((title, source) for title in titles for source in sorted(below, key=lambda one: (one.kind, one.id)))
