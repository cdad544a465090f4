"""Notes: the one object through which notes are read and written, by whoever may.

Before something is read, its file is looked at: what anybody did to it with another tool is a version by then. A write
is one transaction: look, change, put in place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.clock import Clock, to_text
from recollect.database import Database, Session
from recollect.errors import Conflict, Denied, Invalid, NotFound
from recollect.notes.folder import Folder
from recollect.notes.lines import Origins, Source
from recollect.notes.paths import Kind, checked, folder_of, kind_of, scope_of, spellings, within
from recollect.notes.store import NoteStore
from recollect.notes.versions import ACCEPTED, Action, Looked, Note, Version, Written
from recollect.notes.writing import Change, Writer, missing
from recollect.scopes import HOUSE, OWNER, Actor, Grant, Principal, Scope, ScopeKind, ScopeStore, Sight, sight_of
from recollect.scopes.store import check_name
from recollect.seen import Seen

if TYPE_CHECKING:
    from recollect.notes.diary import Diary
    from recollect.notes.memory_tool import MemoryTool
    from recollect.notes.scratch import Scratch
    from recollect.notes.status import Status

FOLDER = "notes"
MOST_DIFFED_LINES = 20_000
"""Of both sides together: comparing more takes longer than anybody waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFigures:
    notes: int
    versions: int
    bytes: int
    """Of all versions, before they are compressed."""
    reviews: int
    """Versions that wait for somebody to look at them."""


class Notes:
    """`memory.notes`."""

    def __init__(
        self,
        database: Database,
        house: str,
        clock: Clock,
        home: Path,
        agent_name: str,
        principal: Principal = OWNER,
        folder: Folder | None = None,
    ) -> None:
        """`agent_name`: the house's own agent, for whom a person acts where a note belongs to an agent."""
        self.folder = home / FOLDER
        self.principal = principal
        self.clock = clock
        self._database = database
        self._house = house
        self._home = home
        self._agent_name = agent_name
        self._folder = folder or Folder(database, house, clock, self.folder, self._purged, _merged)

    def seen_by(self, principal: Principal) -> "Notes":
        return Notes(
            self._database, self._house, self.clock, self._home, self._agent_name, principal, folder=self._folder
        )

    @property
    def own_scope(self) -> str:
        return self.principal.scope if self.principal.is_confined else self._agent_name

    @property
    def own_folder(self) -> str:
        return folder_of(self.own_scope)

    @property
    def status(self) -> "Status":
        from recollect.notes.status import Status

        return Status(self)

    @property
    def diary(self) -> "Diary":
        from recollect.notes.diary import Diary

        return Diary(self)

    @property
    def scratch(self) -> "Scratch":
        from recollect.notes.scratch import Scratch

        return Scratch(self)

    def tool(self) -> "MemoryTool":
        """Anthropic's memory tool over this folder."""
        from recollect.notes.memory_tool import MemoryTool

        return MemoryTool(self)

    # The first time

    def prepare(self) -> list[str]:
        """Make what every folder of notes begins with; what was made. The rest appears when it is first written."""
        from recollect.notes.starter import COMPACTION_TEXT

        made: list[str] = []
        self._register()
        is_lost = self._folder.files.is_lost() and bool(self.number())
        if is_lost:
            self.look()
        elif self._folder.files.make_root():
            made.append(".gitignore")
        elif not self.number() and not (self.folder / ".gitignore").exists():
            self._folder.files.make_private()
            made.append(".gitignore")
        path = within(self.own_folder, "COMPACTION.md")
        with self._database.read() as session:
            was_there = any(NoteStore(session, self._house).versions(one) for one in spellings(path))
        is_agents = self.own_scope != HOUSE and "/" not in self.own_scope
        if is_agents and not was_there and self.find(path) is None:
            maker = Principal(actor=Actor.RULE, name="first use")
            self.seen_by(maker).write(path, COMPACTION_TEXT, reason="first use")
            made.append(path)
        return made

    def _register(self) -> None:
        """The house's own agent has a scope, and may write what is the house's, unless somebody takes that away."""
        name = self._agent_name
        check_name(name)
        with self._database.read() as session:
            if any(scope.id == name for scope in ScopeStore(session, self._house).every()):
                return
        with self._database.write() as session:
            store, now = ScopeStore(session, self._house), to_text(self.clock())
            if not any(scope.id == name for scope in store.every()):
                store.add(Scope(id=name, kind=ScopeKind.AGENT, parent_id=HOUSE, made_at=now))
                store.grant(Grant(scope=name, target=HOUSE), now)

    # Reading

    def look(self, paths: Sequence[str] | None = None) -> Looked:
        """Make what others did with other tools versions. None: everywhere. Told is what the principal may see."""
        looked = self._folder.look(paths)
        with self._database.read() as session:
            sees = self._sight(session).sees
        return Looked(
            found=[one for one in looked.found if sees(one.scope)],
            put_back=[one for one in looked.put_back if sees(scope_of(one))],
            problems=[one for one in looked.problems if sees(scope_of(one.path))],
        )

    def clear_held(self) -> None:
        """Of what was replaced a moment ago nothing stays beside the versions."""
        self._folder.sweeping.sweep(Looked(), at_once=True)

    def read(self, path: str, number: int = 0) -> Note:
        """What a note says now, or said in one of its versions."""
        name = self._resolved(path)
        if number:
            with self._database.read() as session:
                note = self._store(session).note(name, number)
            if note is None:
                raise NotFound(f"{name} has no version {number}. `recollect notes history {name}` lists them.")
            return note
        note = self.find(name)
        if note is None:
            with self._database.read() as session:
                raise NotFound(missing(name, was_there=bool(self._store(session).versions(name))))
        return note

    def find(self, path: str) -> Note | None:
        """What a note says now; None: there is none, or none that may be seen."""
        name = self._resolved(path)
        with self._database.read() as session:
            store = self._store(session)
            if not self._sight(session).sees(scope_of(name)):
                return None
            if self._folder.is_fresh(NoteStore(session, self._house), name):
                return store.notes([name]).get(name)
        with self._folder.writing() as writing:
            self._folder.settle(writing, name)
            return self._store(writing.session).notes([name]).get(name)

    def nearest(self, name: str) -> Note | None:
        """Of the notes with this name the one that is nearest: in the own folder, in those of the scopes above, in the
        house's."""
        with self._database.read() as session:
            known = ScopeStore(session, self._house)
            is_there = self.own_scope == HOUSE or any(scope.id == self.own_scope for scope in known.every())
            chain = known.chain(self.own_scope) if is_there else [self.own_scope, HOUSE]
        for scope in chain:
            note = self.find(within(folder_of(scope), name))
            if note:
                return note
        return None

    def is_folder(self, path: str) -> bool:
        """Whether there are notes below this path, or were, and none at it."""
        name = checked(path)
        with self._database.read() as session:
            store = self._store(session)
            return not store.versions(name) and bool(store.listed(name, gone=True, limit=1))

    def sees(self, path: str) -> bool:
        """Whether a note or a folder at this path would be there for who asks."""
        with self._database.read() as session:
            return self._sight(session).sees(scope_of(path))

    def check_write(self, path: str) -> None:
        """Denied where nothing may be written."""
        with self._database.read() as session:
            self._sight(session).check_write(scope_of(path), self.principal.called)

    def history(self, path: str) -> list[Version]:
        """All versions, the oldest first."""
        name = self._resolved(path)
        self.find(name)
        with self._database.read() as session:
            versions = self._store(session).versions(name)
        if not versions:
            raise NotFound(missing(name))
        return versions

    def diff(self, path: str, older: int = 0, newer: int = 0) -> str:
        """From one version to another; without numbers the last change."""
        versions = self.history(path)
        name, last = versions[-1].path, newer or versions[-1].number
        first = older or last - 1
        before = self.read(name, first) if first else None
        after = self.read(name, last)
        old, new = (_lines(before) if before else []), _lines(after)
        if len(old) + len(new) > MOST_DIFFED_LINES:
            raise Invalid(
                f"{name} is too long to be compared: {len(old) + len(new):,} lines, {MOST_DIFFED_LINES:,} at most. "
                "Compare two of its versions with a tool of your own: `recollect notes show --version`."
            )
        return "".join(unified_diff(old, new, f"{name}@{first}", f"{name}@{last}"))

    def reviews(self) -> list[Version]:
        """What somebody should look at: changes of a soul that no person made, and of diary entries."""
        with self._database.read() as session:
            return self._store(session).for_review()

    def accept(self, path: str, number: int) -> Version:
        """It was looked at. Only a person may say so."""
        if self.principal.is_confined:
            raise Denied(f"{self.principal.name} may not accept changes: only a person may.")
        found = self.read(path, number)
        with self._database.write() as session:
            self._store(session).accept(found.path, number)
        return replace(found.bare, review=ACCEPTED)

    def figures(self) -> NoteFigures:
        with self._database.read() as session:
            store = self._store(session)
            versions, size = store.count()
            return NoteFigures(notes=store.number(), versions=versions, bytes=size, reviews=len(store.for_review()))

    # For recall

    def indexed(self, paths: Sequence[str]) -> dict[str, Note]:
        """Those of these notes that are there, as they are searched; no file is looked at. A diary entry is what it
        was when it was made."""
        from recollect.notes.diary import original_of

        with self._database.read() as session:
            store = self._store(session)
            notes = store.notes(paths)
            for path, note in notes.items():
                if note.number > 1 and kind_of(path) is Kind.DIARY:
                    notes[path] = store.note(path, original_of(store.versions(path)).number) or note
        return notes

    def paths_after(self, path: str, limit: int) -> list[str]:
        with self._database.read() as session:
            return [found.path for found in self._store(session).listed(after=path, limit=limit)]

    def number(self) -> int:
        with self._database.read() as session:
            return NoteStore(session, self._house).number()

    # Writing

    def write(
        self, path: str, text: str, *, reason: str = "", expected: int | None = None, sources: Sequence[Source] = ()
    ) -> Written:
        """The whole of a note. `expected`: the version that the writer has seen; if another is the latest, this one
        still takes its place, and says so. `sources`: what the new lines came from."""
        return self._writer.write(path, text, reason=reason, expected=expected, sources=sources)

    def append(
        self,
        path: str,
        text: str,
        *,
        reason: str = "",
        sources: Sequence[Source] = (),
        expected_version: int | Seen | None = None,
    ) -> Written:
        """`expected_version`: as in `change`."""

        def joined(now: str | None) -> str:
            return f"{now}{'' if not now or now.endswith(chr(10)) else chr(10)}{text}" if now else text

        return self._writer.change(path, joined, reason=reason, sources=sources, expected_version=expected_version)

    def change(
        self,
        path: str,
        change: Change,
        *,
        reason: str = "",
        action: Action = Action.WRITTEN,
        is_whole: bool = False,
        origins: Origins | None = None,
        forgotten: int | None = None,
        expected_version: int | Seen | None = None,
    ) -> Written:
        """Nobody else can write between reading and writing. `change` may raise; then nothing happens. `is_whole`: it
        keeps nothing of the old text, which may be no text at all. `origins`: what each of its lines came from.
        `forgotten`: how many acts of forgetting there were before that was read; after one more nothing is written, and
        `ForgottenMeanwhile` is raised. `expected_version`: the one that was read, 0 for none and `THERE` for any; if
        another one is the latest, `Changed` is raised."""
        return self._writer.change(
            path,
            change,
            reason=reason,
            action=action,
            is_whole=is_whole,
            origins=origins,
            forgotten=forgotten,
            expected_version=expected_version,
        )

    def create(self, path: str, text: str, *, reason: str = "", forgotten: int | None = None) -> Written:
        """A note that is not there yet. `forgotten`: as in `change`."""

        def new(now: str | None) -> str:
            if now is not None:
                raise Conflict(f"{path} is there already. Choose another name, or change that one.")
            return text

        return self._writer.change(path, new, reason=reason, is_whole=True, forgotten=forgotten)

    def remove(
        self,
        path: str,
        *,
        reason: str = "",
        action: Action = Action.REMOVED,
        expected_version: int | Seen | None = None,
    ) -> list[Version]:
        """A note, or all notes of a folder. They can be restored. `expected_version`: as in `change`; of a folder
        there is none."""
        return self._writer.remove(path, reason=reason, action=action, expected_version=expected_version)

    def move(
        self,
        path: str,
        to: str,
        *,
        reason: str = "",
        action: Action = Action.MOVED,
        expected_version: int | Seen | None = None,
    ) -> list[Version]:
        """A note, or a folder of notes. The versions it had stay where they were. `expected_version`: as in
        `remove`."""
        return self._writer.move(path, to, reason=reason, action=action, expected_version=expected_version)

    def undo(
        self, path: str, number: int = 0, *, reason: str = "", expected_version: int | Seen | None = None
    ) -> Written:
        """Back to what a note was before the latest change, or to one of its versions. Undone again, it goes back one
        more. `expected_version`: as in `change`."""
        return self._writer.undo(path, number, reason=reason, expected_version=expected_version)

    def bring_back(self, folder: str, *, reason: str = "") -> list[Version]:
        """The notes of a folder that was removed, as they were."""
        return self._writer.bring_back(checked(folder), reason=reason)

    @property
    def _writer(self) -> Writer:
        return Writer(self._folder, self._house, self.clock, self.principal, self._resolved)

    # Names and sight

    def _resolved(self, path: str) -> str:
        """The path as it is spelled, for names that others write with other capitals; as it was given, where nobody
        shall learn how it is spelled."""
        name = checked(path)
        candidates = spellings(name)
        if len(candidates) == 1:
            return name
        with self._database.read() as session:
            if not self._sight(session).sees(scope_of(name)):
                return name
            known = NoteStore(session, self._house).latest(candidates)
        for one in candidates:
            if one in known and not known[one].is_gone:
                return one
        folder, _, _ = name.rpartition("/")
        there = self._folder.files.names_in(folder)
        on_disk = [one for one in candidates if one.rpartition("/")[2] in there]
        return (on_disk or [one for one in candidates if one in known] or candidates)[0]

    def _store(self, session: Session) -> NoteStore:
        return NoteStore(session, self._house, self._sight(session))

    def _sight(self, session: Session) -> Sight:
        return sight_of(session, self._house, self.principal)

    def _purged(self, session: Session, path: str, content: bytes) -> bytes:
        from recollect.notes.erasing import buried_lines_removed

        return buried_lines_removed(session, self._house, path, content)

    # Last, as its name is that of a type

    def list(self, below: str = "", *, gone: bool = False, look: bool = True) -> list[Version]:
        """In the order of their paths. `below`: in this folder. `gone`: also those that were removed. Without `look`:
        as they were when somebody last looked."""
        folder = checked(below) if below else ""
        if look:
            self.look()
        with self._database.read() as session:
            return self._store(session).listed(folder, gone=gone)


def _merged(mine: bytes, theirs: bytes, base: bytes, mine_at: str) -> bytes | None:
    from recollect.notes.status_fields import merge_status

    return merge_status(mine, theirs, base, mine_at)


def _lines(note: Note) -> list[str]:
    if not note.is_text:
        raise Invalid(f"{note.path} is not text in version {note.number}: there are no lines to compare.")
    return [f"{line}\n" for line in note.text.removesuffix("\n").split("\n")] if note.content else []
