"""Changes of notes, by one principal: look, change, put in place, in one transaction.

The rules of who may write what stand here: the scope of the path, a reason for a soul, a diary that is never changed,
no credential in any text.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

from recollect import redaction
from recollect.clock import Clock, from_text, to_text
from recollect.database import Session
from recollect.errors import Changed, Conflict, Invalid, NotFound
from recollect.lineage import EdgeStore, ReceiptStore
from recollect.notes.diary import original_of
from recollect.notes.erasing import first_number
from recollect.notes.folder import Folder, Writing
from recollect.notes.lines import Origins, Source, line_edges, own_edges
from recollect.notes.paths import Kind, checked, kind_of, scope_of
from recollect.notes.shown import masked_but
from recollect.notes.store import NoteStore
from recollect.notes.versions import MOST_BYTES, OPEN, THERE, UNDONE, Action, Note, Version, Written, digest_of
from recollect.scopes import HOUSE, Actor, Principal, Sight, sight_of
from recollect.seen import NOTHING, Seen, is_as_seen
from recollect.texts import check_reason, clean

Change = Callable[[str | None], str]
"""What a note says (None: it is not there) → what it shall say."""


class Writer:
    def __init__(
        self, folder: Folder, house: str, clock: Clock, principal: Principal, resolved: Callable[[str], str]
    ) -> None:
        """`resolved`: the path as it is spelled."""
        self._folder = folder
        self._house = house
        self._clock = clock
        self._principal = principal
        self._resolved = resolved

    def write(self, path: str, text: str, *, reason: str, expected: int | None, sources: Sequence[Source]) -> Written:
        """The whole of a note, whatever it was."""
        return self._write(path, lambda _: text, reason, Action.WRITTEN, expected, sources, is_whole=True)

    def change(
        self,
        path: str,
        change: Change,
        *,
        reason: str = "",
        action: Action = Action.WRITTEN,
        sources: Sequence[Source] = (),
        is_whole: bool = False,
        origins: Origins | None = None,
        forgotten: int | None = None,
        expected_version: int | Seen | None = None,
    ) -> Written:
        """Nobody else can write between reading and writing. `change` may raise; then nothing happens. `is_whole`:
        nothing of what is no text is kept in it. `origins`: what each line came from, where they differ. `forgotten`:
        how many acts of forgetting there were before that was read (`ReceiptStore.check`). `expected_version`: if
        another one is the latest, `Changed` is raised."""

        def changed(now: Note | None) -> str:
            if now and not is_whole and not (now.is_text and now.is_utf8):
                raise Conflict(f"{path} is not UTF-8 text: it cannot be changed in part. Write it anew as a whole.")
            return change(now.text if now else None)

        return self._write(
            path,
            changed,
            reason,
            action,
            None,
            sources,
            origins=origins,
            forgotten=forgotten,
            expected_version=expected_version,
            is_part=not is_whole,
        )

    def _write(
        self,
        path: str,
        change: Callable[[Note | None], str],
        reason: str,
        action: Action,
        expected: int | None,
        sources: Sequence[Source],
        *,
        is_whole: bool = False,
        origins: Origins | None = None,
        forgotten: int | None = None,
        expected_version: int | Seen | None = None,
        is_part: bool = False,
    ) -> Written:
        """`is_part`: of the old text something stays, and its credentials are its owner's."""
        name = self._resolved(path)
        with self._folder.writing() as writing:
            ReceiptStore(writing.session, self._house).check(forgotten)
            self._check_write(writing.session, name)
            head, now = self._settled(writing, name)
            _check_expected(name, head, now, expected_version)
            self._check_diary(name, head)
            text, masked = _checked_text(name, change(now), now.text if now and is_part else "")
            content = text.encode()
            if now and now.content == content:
                return Written(version=now.bare, is_new=False, masked=masked)
            unseen = _unseen(name, head, expected)
            if is_whole and expected is None and any(one.path == name for one in writing.looked.found):
                unseen = head.number if head else 0  # Changed with another tool, and nobody had looked.
            version = self._next(writing, name, head, content, action, _checked_reason(name, reason), unseen)
            version = self._folder.write(writing, version, content)
            before = now.text if now else ""
            edges = line_edges(name, before, text, sources)
            edges += own_edges(name, origins(before, text)) if origins else []
            EdgeStore(writing.session, self._house).add(edges)
            other = writing.store.note(name, version.unseen) if version.unseen else None
        return Written(version=version, unseen=other.bare if other else None, masked=masked)

    def remove(
        self,
        path: str,
        *,
        reason: str = "",
        action: Action = Action.REMOVED,
        expected_version: int | Seen | None = None,
    ) -> list[Version]:
        """A note, or all notes of a folder. They can be restored."""
        name = self._resolved(path)
        with self._folder.writing() as writing:
            removed: list[Version] = []
            for one in self._notes_at(writing, name):
                self._check_write(writing.session, one)
                _check_is_note(name, one, expected_version)
                head, note = self._settled(writing, one)
                if head is None or head.is_gone:
                    continue
                _check_expected(one, head, note, expected_version)
                self._check_diary(one, head)
                version = self._next(writing, one, head, None, action, _checked_reason(one, reason))
                removed.append(self._folder.write(writing, version, None))
            if not removed:
                if self._sight(writing.session).sees(scope_of(name)):
                    self._folder.files.look(name)  # Something that is no note is named as what it is.
                raise NotFound(missing(name))
        self._folder.files.remove_folders(name)
        return removed

    def move(
        self,
        path: str,
        to: str,
        *,
        reason: str = "",
        action: Action = Action.MOVED,
        expected_version: int | Seen | None = None,
    ) -> list[Version]:
        """A note, or a folder of notes. The versions it had stay where they were."""
        name, target = self._resolved(path), checked(to)
        with self._folder.writing() as writing:
            self._check_write(writing.session, target)
            if self._notes_at(writing, target) or self._folder.files.read(target):
                raise Conflict(f"{target} is there already. Choose another name, or remove it first.")
            moved: list[Version] = []
            for one in self._notes_at(writing, name):
                place = target + one[len(name) :]
                self._check_write(writing.session, one)
                self._check_write(writing.session, place)
                _check_is_note(name, one, expected_version)
                head, note = self._settled(writing, one)
                if head is None or note is None:
                    continue
                _check_expected(one, head, note, expected_version)
                self._check_diary(one, head)
                self._folder.write(
                    writing, self._next(writing, one, head, None, Action.REMOVED, _told_move(one, place)), None
                )
                before, _ = self._settled(writing, place)
                version = self._next(writing, place, before, note.content, action, _checked_reason(place, reason))
                moved.append(self._folder.write(writing, replace(version, moved_from=one), note.content))
            if not moved:
                raise NotFound(missing(name))
        self._folder.files.remove_folders(name)
        return moved

    def undo(
        self, path: str, number: int = 0, *, reason: str = "", expected_version: int | Seen | None = None
    ) -> Written:
        """Back to what a note was before the latest change, or to one of its versions. Undone again, it goes back one
        more."""
        name = self._resolved(path)
        with self._folder.writing() as writing:
            self._check_write(writing.session, name)
            head, now = self._settled(writing, name)
            versions = self._store(writing.session).versions(name)
            if head is None or not versions:
                raise NotFound(missing(name))
            _check_expected(name, head, now, expected_version)
            target = number or _before(versions)
            note = writing.store.note(name, target) if target else None
            if note is None and number:
                raise NotFound(f"{name} has no version {number}. `recollect notes history {name}` lists them.")
            content = note.content if note and not note.is_gone else None
            digest = note.digest if note else ""
            if digest == head.digest:
                return Written(version=head, is_new=False)
            if digest != original_of(versions).digest:
                self._check_diary(name, head)
            why = reason or (f"back to version {target}" if target else "back to before it was made")
            version = self._next(writing, name, head, content, Action.RESTORED, _checked_reason(name, why))
            version = self._folder.write(writing, version, content)
            if self._principal.actor is Actor.PERSON:
                for one in versions:
                    if one.review == OPEN and one.number > target:
                        writing.store.accept(name, one.number, UNDONE)
            other = writing.store.note(name, version.unseen) if version.unseen else None
        return Written(version=version, unseen=other.bare if other else None)

    def bring_back(self, folder: str, *, reason: str = "") -> list[Version]:
        """The notes of a folder that went with it: those that were removed last, all within a minute."""
        with self._folder.writing() as writing:
            self._folder.files.check_root()
            gone = [one for one in self._store(writing.session).listed(folder, gone=True) if one.is_gone]
            last = max((one.at for one in gone), default="")
            first = to_text(from_text(last) - timedelta(minutes=1)) if last else ""
            back: list[Version] = []
            for head in gone:
                note = writing.store.note(head.path, head.number - 1)
                if note is None or note.is_gone or head.at < first or kind_of(head.path) is Kind.SCRATCH:
                    continue
                self._check_write(writing.session, head.path)
                why = _checked_reason(head.path, reason or f"back to version {note.number}")
                version = self._next(writing, head.path, head, note.content, Action.RESTORED, why)
                back.append(self._folder.write(writing, version, note.content))
            if not back:
                raise NotFound(missing(folder))
        return back

    # The parts of a write

    def _settled(self, writing: Writing, path: str) -> tuple[Version | None, Note | None]:
        """The latest version and, where the note is there, what it says."""
        head = self._folder.settle(writing, path)
        if head is None or head.is_gone:
            return head, None
        return head, writing.store.note(path, head.number)

    def _next(
        self,
        writing: Writing,
        path: str,
        head: Version | None,
        content: bytes | None,
        action: Action,
        reason: str,
        unseen: int = 0,
    ) -> Version:
        is_review = kind_of(path) is Kind.SOUL and self._principal.actor in (Actor.AGENT, Actor.LIBRARIAN)
        return Version(
            path=path,
            number=head.number + 1 if head else first_number(writing.session, self._house, path),
            scope=scope_of(path),
            at=to_text(self._clock()),
            actor=str(self._principal.actor),
            actor_name=self._principal.name,
            action=action,
            reason=reason,
            digest=digest_of(content) if content is not None else "",
            size=len(content or b""),
            unseen=unseen,
            review=OPEN if is_review else "",
        )

    def _notes_at(self, writing: Writing, path: str) -> list[str]:
        """The note itself, or those below the folder, as far as they may be seen, files that nobody looked at
        included."""
        sight = self._sight(writing.session)
        store = self._store(writing.session)
        known = [*store.latest([path]).values(), *store.listed(path)]
        found = {*self._folder.files.names_below(path), *(version.path for version in known if not version.is_gone)}
        return sorted(one for one in found if sight.sees(scope_of(one)))

    def _check_write(self, session: Session, path: str) -> None:
        self._sight(session).check_write(scope_of(path), self._principal.called)

    def _check_diary(self, path: str, head: Version | None) -> None:
        """An entry that is gone can come back as it was, and as nothing else."""
        if head is not None and kind_of(path) is Kind.DIARY:
            raise Conflict(
                f"{path} is an entry of the diary, and those are never changed. Write another: recollect diary write. "
                f"To erase it for good: recollect forget --note {path}"
            )

    def _store(self, session: Session) -> NoteStore:
        return NoteStore(session, self._house, self._sight(session))

    def _sight(self, session: Session) -> Sight:
        return sight_of(session, self._house, self._principal)


def _check_expected(path: str, head: Version | None, now: Note | None, expected: int | Seen | None) -> None:
    """Of a note that was removed its removal is the latest version, and so is none."""
    if expected is None or (expected == THERE and now):
        return
    there = now.seen if now else NOTHING
    if not any(is_as_seen(expected, one) for one in (there, head.seen if head else there)):
        raise Changed(path, expected, there, now.text if now else "")


def _check_is_note(path: str, one: str, expected: int | Seen | None) -> None:
    if expected is not None and one != path:
        raise Invalid(f"{path} is a folder, and no version is one of a folder. Leave If-Match out, or name a note.")


def _unseen(path: str, head: Version | None, expected: int | None) -> int:
    """The version that is replaced without its having been seen. 0: none."""
    latest = head.number if head else 0
    if expected is None or expected == latest:
        return 0
    if not 0 <= expected < latest:
        raise Invalid(f"{path} has no version {expected}: the latest is {latest}. Nothing was written.")
    return latest


def missing(path: str, *, was_there: bool = False) -> str:
    if was_there:
        return f"{path} was removed. `recollect notes undo {path}` brings it back."
    return f"There is no note {path}. `recollect notes list` shows those there are."


def _checked_text(path: str, text: str, standing: str = "") -> tuple[str, int]:
    """The text as it is written, and how many credentials were masked in it; those that stand there stay."""
    if "\0" in text:
        raise Invalid(f"The text for {path} has NUL characters: it is no text. Nothing was written.")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise Invalid(f"The text for {path} is not UTF-8 text: {error.reason}. Nothing was written.") from error
    if size > MOST_BYTES:
        raise Invalid(
            f"The text for {path} has {size / 1e6:,.1f} MB, and a note at most {MOST_BYTES / 1e6:,.0f} MB. "
            "Nothing was written: divide it into several notes."
        )
    return masked_but(text, standing)


def _checked_reason(path: str, reason: str) -> str:
    if kind_of(path) is Kind.SOUL and not reason.strip():
        raise Invalid(f"{path} is who an agent is: say why it changes. On the command line: --reason '…'.")
    check_reason(reason)
    return redaction.mask(clean(reason.strip()))


def _told_move(path: str, place: str) -> str:
    """Why a note is gone from where it was. Who saw it there need not know of the place it has now."""
    here, there = scope_of(path), scope_of(place)
    return f"moved to {place}" if there in (here, HOUSE) or here.startswith(f"{there}/") else "moved to another's notes"


def _before(versions: Sequence[Version]) -> int:
    """The number of the version that undoing leads to; 0: before there was one."""
    by_number = {version.number: version for version in versions}
    place = versions[-1]
    while place.action is Action.RESTORED:
        same = [one for one in versions if one.number < place.number and one.digest == place.digest]
        if not same:
            break
        place = same[-1]
    return place.number - 1 if place.number - 1 in by_number else 0
