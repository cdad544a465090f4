"""Shelves: the notes of the librarian follow the records, and the records follow what people write on the shelves.

It follows the feed: which records and notes changed, which pages these stand on, and only those are looked at. What
somebody else did to a page is read before the page is written. A page that cannot be read or written is reported, and
the others go on. A crash at any place leaves something that the next time is done again, to the same end. Nothing is
written from what was read before an act of forgetting: it is read anew.
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
from recollect.librarian.shelves.front import quoted
from recollect.librarian.shelves.gathering import Gathering
from recollect.librarian.shelves.layout import PageKind, Place, kind_of
from recollect.librarian.shelves.leaving import NAMED
from recollect.librarian.shelves.merging import merged
from recollect.librarian.shelves.pages import Page
from recollect.librarian.shelves.reading_back import without_answers
from recollect.librarian.shelves.store import ShelfStore
from recollect.librarian.shelves.taking_in import TakenIn, TakingIn, text_of
from recollect.lineage import EdgeStore, ForgottenMeanwhile, ReceiptStore
from recollect.notes import Notes, Problem, Version
from recollect.notes.lines import Source
from recollect.notes.store import NoteStore
from recollect.scopes import Actor
from recollect.settings import Settings

FOLLOWER = "shelves"
CHANGES = 2_000
"""Read from the feed at once."""
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

    forgotten: int
    """How many acts of forgetting there were before any of it was read."""
    taken: dict[str, TakenIn] = field(default_factory=dict[str, TakenIn])
    """Path → what was read there."""
    numbers: dict[str, int] = field(default_factory=dict[str, int])
    """Path → the version up to which the changes of others are read, to be kept."""


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
        problems = list(report.problems)
        while True:
            try:
                self._go_round(wanted, report)
                return
            except ForgottenMeanwhile:
                report.problems = problems[:]

    def _go_round(self, wanted: dict[Place, set[str]], report: ShelfReport) -> None:
        with self._database.read() as session:
            done = _Round(forgotten=ReceiptStore(session, self._house).number())
        for place in wanted:
            with _reporting(place, report):
                self._take_in(place, done, report)
        for place, page in self._pages(wanted).items():
            with _reporting(place, report):
                if place.path in done.taken:
                    self._put(place, page, done, report)
        self._keep(done)

    def _take_in(self, place: Place, done: _Round, report: ShelfReport) -> None:
        taking = TakingIn(self._database, self._house, self._now(), self._knowledge, done.forgotten)
        taken = taking.read(place)
        report.read_back += taken.counts
        report.problems += taken.problems
        done.taken[place.path] = taken
        if taken.number is not None:
            done.numbers[place.path] = taken.number

    def _keep(self, done: _Round) -> None:
        edges = {edge for taken in done.taken.values() for edge in taken.edges}
        gone = [path for path, taken in done.taken.items() if taken.is_forgotten and path not in done.numbers]
        if not done.numbers and not edges and not gone:
            return
        with self._database.write() as session:
            ReceiptStore(session, self._house).check(done.forgotten)
            EdgeStore(session, self._house).add(edges)
            store = ShelfStore(session, self._house)
            for path, number in done.numbers.items():
                store.save(path, number)
            for path in gone:
                store.drop(path)

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

    # Writing

    def _put(self, place: Place, page: Page, done: _Round, report: ShelfReport) -> None:
        note = self._notes.find(place.path)
        taken = done.taken[place.path]
        if self._latest(place.path) != taken.seen:
            return  # Somebody just changed it: that is in the feed, and read before it is written.
        if note and not (note.is_text and note.is_utf8):
            raise Conflict(f"{place.path} is not UTF-8 text: the librarian leaves it as it is. Save it as UTF-8.")
        text = note.text if note else ""

        def change(now: str | None) -> str:
            if (now or "") != text:
                raise _Moved
            return wanted

        wanted = merged(_prepared(text, place, page, taken), page)
        if wanted == text:
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

        written = self._notes.change(place.path, change, origins=origins, forgotten=done.forgotten)
        version = written.version
        if written.is_new:
            report.written.append(place.path)
        if version.unseen:
            # Somebody wrote in the very moment: that is still to be read.
            done.numbers[place.path] = version.unseen - 1
        else:
            done.numbers[place.path] = self._own[place.path] = version.number

    def _remove(self, place: Place, text: str, done: _Round, report: ShelfReport) -> None:
        note = self._notes.find(place.path)
        if text_of(note) != text:
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
    except ForgottenMeanwhile:
        raise
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


def _prepared(text: str, place: Place, page: Page, taken: TakenIn) -> str:
    """With anchors behind the lines that became ours and none behind those that are others', and without the answers of
    questions that are none any more."""
    if taken.copied:
        lines = text.splitlines(keepends=True)
        text = "".join(without_anchors(one) if anchor_of(one) in taken.copied else one for one in lines)
    for line, anchor in taken.anchored:
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
