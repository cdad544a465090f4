"""What others wrote on a shelf since it was last read, version by version, each as a change by who wrote it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from recollect.database import Database
from recollect.knowledge import Knowledge
from recollect.librarian.shelves.anchors import Anchor, anchor_of, anchors_in, without_anchors
from recollect.librarian.shelves.applying import Applying, source_of
from recollect.librarian.shelves.layout import Place
from recollect.librarian.shelves.reading_back import changes
from recollect.librarian.shelves.rendering import ADDED_TO
from recollect.librarian.shelves.store import ShelfStore
from recollect.lineage import Edge
from recollect.notes import Action, Note, Problem, Version
from recollect.notes.lines import own_edges
from recollect.notes.store import NoteStore
from recollect.scopes import OWNER, Actor, Principal, ScopeStore
from recollect.scopes.agents import principal_named

MOST_BASES = 20
"""Versions among which one is looked for that somebody started from."""


@dataclass(slots=True, kw_only=True)
class TakenIn:
    """What was read from one shelf."""

    seen: int
    """The latest version that there was; 0: none."""
    number: int | None = None
    """Up to which version it is read by now. None: nothing new was there."""
    is_forgotten: bool = False
    """Whether it was read before, and not even a version is left of it."""
    counts: Counter[str] = field(default_factory=Counter[str])
    problems: list[Problem] = field(default_factory=list[Problem])
    edges: list[Edge] = field(default_factory=list[Edge])
    """To lines that others wrote, from what they go with."""
    anchored: list[tuple[str, Anchor]] = field(default_factory=list[tuple[str, Anchor]])
    """Lines that are the librarian's from now on."""
    copied: list[Anchor] = field(default_factory=list[Anchor])
    """Of lines that are others' from now on."""


class TakingIn:
    def __init__(self, database: Database, house: str, now: str, knowledge: Knowledge, forgotten: int) -> None:
        """`forgotten`: how many acts of forgetting there were. After one more it raises `ForgottenMeanwhile`."""
        self._database = database
        self._house = house
        self._now = now
        self._knowledge = knowledge
        self._forgotten = forgotten

    def read(self, place: Place) -> TakenIn:
        with self._database.read() as session:
            versions = NoteStore(session, self._house).versions(place.path)
            number = ShelfStore(session, self._house).numbers([place.path]).get(place.path)
        is_forgotten = number is not None and not versions
        taken = TakenIn(seen=versions[-1].number if versions else 0, is_forgotten=is_forgotten)
        number = _read_up_to(number, versions)
        for index, version in enumerate(versions):
            if number is not None and version.number > number:
                if _is_others(version):
                    self._take(place, versions[: index + 2], version, taken)
                taken.number = version.number
        return taken

    def _take(self, place: Place, versions: Sequence[Version], version: Version, taken: TakenIn) -> None:
        """`versions`: all up to the one after it."""
        with self._database.read() as session:
            store = NoteStore(session, self._house)
            now = store.note(place.path, version.number)
            if now and not now.is_utf8:
                return
            new = text_of(now)
            is_sure = not version.unseen and versions[-1].action is not Action.KEPT
            old = _base(store, [one for one in versions if one.number < version.number], new, is_sure=is_sure)
            principal = _author(ScopeStore(session, self._house), version)
        applying = Applying(
            self._database, self._house, self._now, self._knowledge, self._forgotten, place, version, principal
        )
        applied = applying.apply(changes(old, new, ADDED_TO))
        known = set(old.splitlines())
        pairs = [(line, source_of(one)) for line in new.splitlines() if line not in known for one in anchors_in(line)]
        copies = [(without_anchors(line), source) for line, source in pairs if anchor_of(line) in applied.copied]
        taken.edges += own_edges(place.path, [*pairs, *copies, *applied.origins])
        taken.counts += applied.counts
        taken.problems += applied.problems
        taken.anchored += applied.anchored
        taken.copied += applied.copied


def text_of(note: Note | None) -> str:
    return note.text if note and not note.is_gone else ""


def _read_up_to(number: int | None, versions: Sequence[Version]) -> int | None:
    """None: the librarian never wrote there, and what others wrote is their own note. A number that no version has is
    that of a note which was forgotten."""
    if number is None:
        return next((one.number for one in versions if one.actor == Actor.LIBRARIAN), None)
    return number if versions and number <= versions[-1].number else 0


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
            texts.append(text_of(note))
            if is_sure:
                break
    return min(texts, key=lambda old: len(changes(old, new, ADDED_TO)), default="")


def _author(store: ScopeStore, version: Version) -> Principal:
    """An agent is told from the people of the house, who write with any tool."""
    return principal_named(store, version.actor_name) if version.actor == Actor.AGENT else OWNER
