"""The folder as a copy of the latest versions, which anybody may change: how the two are brought together.

For each note this folder remembers what its file last was (`Copy`). A file that is not that any more was changed with
another tool, and becomes a version. Where the versions went on, in another process or on another computer, the file
follows. Where both happened, the file on the disk is the later one: it wins, and says whose version it had not seen.

Files are put in place inside the transaction that adds their versions. If it fails they are put back; if the process
dies, the next look takes what it finds for a change with another tool, so that a text may lose its author but is
never lost.
"""

import platform
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path

from recollect.clock import Clock, from_text, to_text
from recollect.database import Database, Session
from recollect.errors import Changed, Denied, Invalid, RecollectError
from recollect.notes.erasing import first_number
from recollect.notes.files import Files, Placed
from recollect.notes.identity import folder_name
from recollect.notes.paths import Kind, checked, kind_of, scope_of
from recollect.notes.plain import Contents, Look, Obstructed
from recollect.notes.store import Copy, NoteStore
from recollect.notes.sweeping import GRACE_SECONDS, Purge, Sweeping
from recollect.notes.versions import OPEN, OUTSIDE, Action, Looked, Problem, Version, digest_of

RACY_NS = 1_000_000_000
"""A file that changed so short a time before it was read could change again and bear the same time."""
MOVE_TIME = timedelta(minutes=1)
"""Between a file that went and the same one that came under another name."""
BATCH = 200
"""Notes that are brought together in one transaction: others wait for it."""

Merge = Callable[[bytes, bytes, bytes, str], bytes | None]
"""(what was found in the file of a status, what was written elsewhere, what both came from, when it was found) → one
with the later fields of both; None: they cannot be merged."""


@dataclass(slots=True)
class Writing:
    """One transaction on versions and files."""

    session: Session
    store: NoteStore
    placed: list[Placed] = field(default_factory=list[Placed])
    looked: Looked = field(default_factory=Looked)


class Folder:
    def __init__(
        self,
        database: Database,
        house: str,
        clock: Clock,
        root: Path,
        purge: Purge,
        merge: Merge,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self.files = Files(root)
        self._database = database
        self._house = house
        self._clock = clock
        self._purge = purge
        self._merge = merge
        self.sweeping = Sweeping(self, purge, grace_seconds)
        self._name = ""

    @property
    def copy(self) -> str:
        """This folder, among all that are copies of the same notes. Where the database lies in the same home, the two
        travel together; beside another, a home that was copied is a second one."""
        home = self.files.root.parent
        self._name = self._name or folder_name(home)  # A home that is not there yet has none.
        if self._name and self._is_beside:
            return self._name
        return f"{platform.node()}:{self.files.root}:{self._name}"

    @cached_property
    def _is_beside(self) -> bool:
        return any(file.is_relative_to(self.files.root.parent) for file in self._database.files())

    @contextmanager
    def writing(self) -> Generator[Writing]:
        """A failure takes back the files with the rows. Not so `Changed`: nothing is written by then, and it names the
        version that the look found. No other text may have that number when who was told of it comes back."""
        placed: list[Placed] = []
        changed: Changed | None = None
        try:
            with self._database.write() as session:
                try:
                    yield Writing(session, NoteStore(session, self._house), placed)
                except Changed as error:
                    changed = error
                except BaseException:
                    self._take_back(placed)  # While nobody else can write.
                    raise
        except BaseException:
            self._take_back(placed)
            raise
        if placed and self.sweeping.is_due():
            with suppress(RecollectError):  # The write is done; the next look sweeps too.
                self.sweeping.sweep(Looked())
        if changed:
            raise changed

    def _take_back(self, placed: list[Placed]) -> None:
        while placed:
            self.files.revert(placed.pop())

    # Looking

    def is_fresh(self, store: NoteStore, path: str) -> bool:
        """Whether the file of a note is what its latest version says, as far as it looks from outside."""
        copy, head = store.copy(self.copy, path), store.latest([path]).get(path)
        look = self.files.look(path)
        if look is None:
            return copy is None and (head is None or head.is_gone)
        if copy is None or head is None or copy.purge or copy.number != head.number:
            return False
        if _is_same(copy, look):
            return True
        found = self.files.read(path) if copy.mtime_ns == 0 else None
        return found is not None and digest_of(found.content) == copy.digest

    def look(self, paths: Sequence[str] | None = None) -> Looked:
        """At these notes, or at all of them and at what is held."""
        looked = Looked()
        if paths is None:
            self.files.check_access()
            paths = self._suspicious(looked)
            self.sweeping.sweep(looked)
        for start in range(0, len(paths), BATCH):
            with self.writing() as writing:
                for path in paths[start : start + BATCH]:
                    self._try_to_settle(writing, path)
            for path in writing.looked.put_back:
                self.files.remove_above(path)
            looked.found += writing.looked.found
            looked.put_back += writing.looked.put_back
            looked.problems += writing.looked.problems
        return looked

    def _try_to_settle(self, writing: Writing, path: str) -> None:
        try:
            self.settle(writing, checked(path))
        except (Obstructed, Denied, Invalid) as error:
            writing.looked.problems.append(Problem(path=path, reason=str(error)))

    def _suspicious(self, looked: Looked) -> list[str]:
        """Paths of which the file and the versions may not agree."""
        with self._database.read() as session:
            store = NoteStore(session, self._house)
            copies, heads = store.copies(self.copy), store.heads()
            is_lost = self._is_lost(store)
        if is_lost:
            self.files.check_root()
            return sorted(path for path, (_, digest) in heads.items() if digest)
        seen = self.files.walk()
        looked.problems += seen.problems
        changed = {
            path
            for path, look in seen.files.items()
            if path not in copies or not _is_same(copies[path], look) or path not in heads
        }
        changed |= {path for path, copy in copies.items() if path not in seen.files or copy.purge}
        for path, (number, digest) in heads.items():
            known = copies[path].number if path in copies else 0
            if known != number and (digest or path in seen.files):
                changed.add(path)
        return sorted(path for path in changed if not _is_below(path, seen.unknown))

    def _is_lost(self, store: NoteStore) -> bool:
        """Whether the folder itself went, or is as empty as that of a disk which is not mounted: nobody removes notes
        one by one like that. A single note may have been all there was."""
        is_empty = self.files.is_lost()
        return is_empty and (not self.files.is_there() or len(store.copies(self.copy)) > 1)

    def settle(self, writing: Writing, path: str) -> Version | None:
        """Let the file and the versions of one note agree; the latest version."""
        store = writing.store
        copy, head = store.copy(self.copy, path), store.latest([path]).get(path)
        if self._is_lost(store):
            store.drop_copies(self.copy)
            copy = None
        found = self._found(path, copy)
        content = found.content if found else None
        if copy and copy.purge and content:
            content = self._purge(writing.session, path, content) or None
        is_unchanged = copy is not None and digest_of_file(content) == copy.digest
        digest, now = digest_of_file(content), head.digest if head else ""
        if digest == now:
            self._agree(writing, path, head, found, content)
        elif is_unchanged or (content is None and (copy is None or now != copy.digest)):
            self._follow(writing, path, head, found)
        else:
            head = self._take_in(writing, path, content, head, copy, found)
        return head

    def _found(self, path: str, copy: Copy | None) -> Contents | None:
        """A file that was here, and in the place of which are other notes, is gone."""
        try:
            return self.files.read(path)
        except Obstructed:
            if copy and self.files.is_displaced(path):
                return None
            raise

    def _agree(
        self, writing: Writing, path: str, head: Version | None, found: Contents | None, content: bytes | None
    ) -> None:
        if found and content != found.content:  # Something of it was forgotten.
            self._put(writing, path, content, head)
        else:
            self._remember(writing.store, path, head, found.look if found else None)

    def _follow(self, writing: Writing, path: str, head: Version | None, found: Contents | None) -> None:
        """The versions went on: the file follows."""
        content = None
        if head and not head.is_gone:
            note = writing.store.note(path, head.number)
            content = note.content if note else None
        before = found.content if found else None
        placed = self._put(writing, path, content, head)
        writing.looked.put_back.append(path)
        if placed and placed.before != before and placed.before is not None:
            self._overtaken(writing, path, placed.before, head)

    def _overtaken(self, writing: Writing, path: str, content: bytes, head: Version | None) -> None:
        """Somebody changed the file in the very moment in which it was to follow: that is later than what it was to
        follow."""
        version = self.next_found(writing, path, content, head, unseen=head.number if head else 0)
        writing.store.add(version, content)
        writing.looked.found.append(version)
        self._put(writing, path, content, version)

    def _take_in(
        self,
        writing: Writing,
        path: str,
        content: bytes | None,
        head: Version | None,
        copy: Copy | None,
        found: Contents | None,
    ) -> Version:
        """What somebody did with another tool is the next version."""
        is_known = head is None or head.is_gone or (copy is not None and copy.digest == head.digest)
        version = self.next_found(writing, path, content, head, unseen=0 if is_known or not head else head.number)
        writing.store.add(version, content or b"")
        writing.looked.found.append(version)
        merged = None
        if not is_known and content is not None and kind_of(path) is Kind.STATUS:
            theirs = writing.store.note(path, version.unseen)
            base = writing.store.note(path, copy.number) if copy else None
            came_from = base.content if base else b""
            merged = self._merge(content, theirs.content, came_from, version.at) if theirs else None
        if merged is not None and merged != content:
            version = replace(version, number=version.number + 1, action=Action.MERGED, digest=digest_of(merged))
            version = replace(version, size=len(merged), unseen=0)
            writing.store.add(version, merged)
            self._put(writing, path, merged, version)
        elif found and content != found.content:
            self._put(writing, path, content, version)
        else:
            self._remember(writing.store, path, version, found.look if found else None)
        return version

    def next_found(
        self, writing: Writing, path: str, content: bytes | None, head: Version | None, unseen: int
    ) -> Version:
        """What was found in a file, as the version after the latest."""
        is_review = head is not None and kind_of(path) is Kind.DIARY
        digest = digest_of_file(content)
        return Version(
            path=path,
            number=head.number + 1 if head else first_number(writing.session, self._house, path),
            scope=scope_of(path),
            at=to_text(self._clock()),
            actor=OUTSIDE,
            action=Action.FOUND,
            digest=digest,
            size=len(content or b""),
            moved_from=self._moved_from(writing.store, path, digest) if content and head is None else "",
            unseen=unseen,
            review=OPEN if is_review or kind_of(path) is Kind.SOUL else "",
        )

    def _moved_from(self, store: NoteStore, path: str, digest: str) -> str:
        """The note that had this content and went when this one came: somebody gave its file another name."""
        others = [other for other in store.with_content(digest) if other != path]
        heads = store.latest(others)
        taken = {head.moved_from for head in heads.values()}
        for other, head in heads.items():
            if other in taken:
                continue
            before = store.note(other, head.number - 1) if head.is_gone else head
            is_late = head.is_gone and self._clock() - from_text(head.at) > MOVE_TIME
            is_moved = head.action is Action.FOUND if head.is_gone else not self.files.has(other)
            if before and before.digest == digest and is_moved and not is_late:
                return other
        return ""

    # Writing

    def write(self, writing: Writing, version: Version, content: bytes | None) -> Version:
        """The next version after the latest, which the file was made to agree with in this transaction. If the file was
        changed in between, that change comes first, and this one says that it had not seen it."""
        head = writing.store.latest([version.path]).get(version.path)
        expected = b""
        if head and not head.is_gone:
            note = writing.store.note(version.path, head.number)
            expected = note.content if note else b""
        placed = self._put(writing, version.path, content, None)
        if placed and placed.before is not None and (not head or head.is_gone or placed.before != expected):
            between = self.next_found(writing, version.path, placed.before, head, unseen=0)
            writing.store.add(between, placed.before)
            version = replace(version, number=between.number + 1, unseen=between.number)
        writing.store.add(version, content or b"")
        self._remember(writing.store, version.path, version, placed.look if placed else None)
        return version

    def _put(self, writing: Writing, path: str, content: bytes | None, head: Version | None) -> Placed | None:
        """The file is this from now on; None where nothing was there to be taken away."""
        if content is not None:
            self.files.make_root()
            placed = self.files.place(path, content)
        else:
            placed = self.files.take(path)
        if placed:
            writing.placed.append(placed)
        if head:
            self._remember(writing.store, path, head, placed.look if placed else None)
        elif content is None:
            writing.store.drop_copy(self.copy, path)
        return placed

    def _remember(self, store: NoteStore, path: str, head: Version | None, look: Look | None) -> None:
        if look is None or head is None:
            store.drop_copy(self.copy, path)
            return
        is_racy = time.time_ns() - look.mtime_ns < RACY_NS
        store.save_copy(
            self.copy,
            Copy(
                path=path,
                number=head.number,
                digest=head.digest,
                size=look.size,
                mtime_ns=0 if is_racy else look.mtime_ns,
                inode=look.inode,
            ),
        )


def digest_of_file(content: bytes | None) -> str:
    return "" if content is None else digest_of(content)


def _is_same(copy: Copy, look: Look) -> bool:
    seen = (copy.size, copy.mtime_ns, copy.inode)
    return not copy.purge and seen == (look.size, look.mtime_ns, look.inode)


def _is_below(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or not folder or path.startswith(f"{folder}/") for folder in folders)
