"""Notes' side of forgetting: lines go out of every version with what they came from, and a note goes whole if asked.

What went is buried as keyed hashes of path and line, and of path and text. That does not keep anybody from writing the
same again: it is how a file that some computer still has loses what was forgotten, and nothing else of it, however much
later and however it was edited since. Lines that stand in a version were written after the forgetting, and stay.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from recollect import redaction
from recollect.database import Session
from recollect.errors import NotFound
from recollect.lineage import MESSAGE, EdgeStore, Hasher, TombstoneStore, hasher
from recollect.notes.lines import NOTE_LINE, NOTE_NUMBER, NOTE_TEXT, line_id, path_of, unanchored, without, words_of
from recollect.notes.paths import checked, scope_of, spellings
from recollect.notes.store import NoteStore
from recollect.notes.versions import Note, Version, digest_of, is_own_reason
from recollect.scopes import EVERYTHING, Principal, Sight

MOST_NUMBER_BITS = 31
Origin = tuple[str, str]
"""(kind, id) of what lines may come from."""


@dataclass(slots=True)
class Reached:
    """What of notes goes."""

    lines: dict[str, set[bytes]] = field(default_factory=dict[str, set[bytes]])
    """Path → the lines that go out of all its versions, as `lines.words_of` gives them."""
    notes: dict[str, int] = field(default_factory=dict[str, int])
    """Path → the number up to which its versions go whole."""

    @property
    def paths(self) -> list[str]:
        return sorted({*self.lines, *self.notes})


class Erasing:
    """Inside one session. Reaching changes nothing; `erase` needs a write session."""

    def __init__(self, session: Session, house: str, sight: Sight = EVERYTHING) -> None:
        self._store = NoteStore(session, house)
        self._seen = NoteStore(session, house, sight)
        self._edges = EdgeStore(session, house)
        self._sight = sight

    # What goes

    def named(self, name: str, principal: Principal) -> str:
        """The path of the note of this name, which may be gone; only one that the principal may write."""
        path = checked(name)
        found = [one for one in dict.fromkeys([path, *spellings(path)]) if self._seen.versions(one)]
        if not found:
            raise NotFound(
                f"No note is called {name[:200]!r}. `recollect notes list --gone` lists all there ever were."
            )
        self._sight.check_write(scope_of(found[0]), principal.called)
        return found[0]

    def lives(self, path: str) -> dict[str, int]:
        """A note with all its versions, also those under the names it was moved from: path → the last of them."""
        found: dict[str, int] = {}
        waiting = [(path, max(version.number for version in self._store.versions(path)))]
        while waiting:
            path, last = waiting.pop()
            if found.get(path, 0) >= last:
                continue
            found[path] = last
            moves = [one for one in self._store.versions(path) if one.moved_from and one.number <= last]
            waiting += [one for move in moves if (one := self._before(move))]
        return found

    def _before(self, move: Version) -> tuple[str, int] | None:
        """Where a note was before this move, and its last version there: another one may have the name by now."""
        if self._sight.writable is not None and scope_of(move.moved_from) not in self._sight.writable:
            return None
        there = [one for one in self._store.versions(move.moved_from) if one.at <= move.at]
        left = [one.number for one in there if one.is_gone and one.at == move.at]
        last = min(left, default=max((one.number for one in there), default=0))
        return (move.moved_from, last) if last else None

    def reach(self, origins: Iterable[Origin], notes: dict[str, int]) -> Reached:
        """`notes`: those that go whole. Of the others, the lines that nothing but these origins says."""
        gone = set(origins)
        reached = Reached(notes=dict(notes))
        waiting = list(self._derived(gone).items())
        while waiting:
            path, lines = waiting.pop()
            new = lines - reached.lines.get(path, set())
            if not new:
                continue
            reached.lines.setdefault(path, set()).update(new)
            digests = {note.digest for note in self._store.contents(path) if not new.isdisjoint(words_of(note.content))}
            others = sorted(self._store.copied_to(path, sorted(digests)))
            waiting += [(one, self._standing(one) & new - self._said_by_others(one, new, gone)) for one in others]
        for path in reached.lines.keys() & reached.notes.keys():
            if all(one.number <= reached.notes[path] for one in self._store.versions(path)):
                del reached.lines[path]
        return reached

    def _derived(self, gone: set[Origin]) -> dict[str, set[bytes]]:
        ids: set[str] = set()
        for kind in sorted({kind for kind, _ in gone}):
            edges = self._edges.derived_from(kind, sorted(one for of, one in gone if of == kind))
            ids |= {edge.to_id for edge in edges if edge.to_kind == NOTE_LINE}
        ids -= self._supported(sorted(ids), gone)
        found: dict[str, set[bytes]] = {}
        for path in sorted({path_of(one) for one in ids}):
            found[path] = {line for line in self._standing(path) if line_id(path, line) in ids}
        return found

    def _supported(self, ids: Sequence[str], gone: set[Origin]) -> set[str]:
        """Lines that something says which stays."""
        edges = self._edges.origins_of(NOTE_LINE, ids)
        return {edge.to_id for edge in edges if (edge.from_kind, edge.from_id) not in gone}

    def _said_by_others(self, path: str, lines: set[bytes], gone: set[Origin]) -> set[bytes]:
        ids = {line_id(path, line): line for line in lines}
        return {ids[one] for one in self._supported(sorted(ids), gone)}

    def sources_of(self, notes: dict[str, int]) -> list[str]:
        """The messages from which lines of these notes come."""
        ids = {line_id(path, line) for path, line in self._lines_of(notes)}
        edges = self._edges.origins_of(NOTE_LINE, sorted(ids))
        return sorted({edge.from_id for edge in edges if edge.from_kind == MESSAGE})

    def _lines_of(self, notes: dict[str, int]) -> set[tuple[str, bytes]]:
        return {(note.path, line) for note in self._going(notes) for line in words_of(note.content)}

    def _going(self, notes: dict[str, int]) -> Iterator[Note]:
        for path, last in notes.items():
            yield from (note for note in self._store.contents(path) if note.number <= last)

    def shown(self, reached: Reached) -> dict[str, list[str]]:
        """Path → the lines that go out of it, of the notes that may be seen, without credentials."""
        found: dict[str, list[str]] = {}
        for path, lines in sorted(reached.lines.items()):
            if lines and self._sight.sees(scope_of(path)):
                found[path] = [redaction.mask(line.decode("utf-8", "replace")) for line in sorted(lines)]
        return found

    def counts(self, reached: Reached) -> dict[str, int]:
        rewritten = sum(1 for path, lines in reached.lines.items() for _ in self._rewritten(reached, path, lines))
        return {
            "notes": len(reached.notes),
            "note_versions": rewritten + sum(1 for _ in self._going(reached.notes)),
            "note_lines": sum(len(lines) for lines in reached.lines.values()),
        }

    def contents(self, reached: Reached) -> Iterator[bytes]:
        """Everything that is kept of it in words: each line once."""
        lines = {line for some in reached.lines.values() for line in some}
        for note in self._going(reached.notes):
            lines.update(note.content.splitlines())
            if not is_own_reason(note.reason):
                lines.add(note.reason.encode())
        for path, some in reached.lines.items():
            lines.update(old.reason.encode() for old, new, _ in self._rewritten(reached, path, some) if not new.reason)
        yield from sorted({unanchored(line) for line in lines})

    # The act

    def erase(self, reached: Reached, keyed: Hasher, tombstones: TombstoneStore, origin: str) -> dict[str, int]:
        """Take all of it out and bury it; how much went. `origin`: the receipt."""
        removed = self.counts(reached)
        lines = self._lines_of(reached.notes) | {(path, line) for path, some in reached.lines.items() for line in some}
        texts = [_text_hash(keyed, note.path, note.digest) for note in self._going(reached.notes) if note.digest]
        tombstones.bury(NOTE_LINE, (_line_hash(keyed, path, line) for path, line in lines), origin)
        tombstones.bury(NOTE_TEXT, texts, origin)
        ends = [_number_hash(keyed, path, 1 << last.bit_length()) for path, last in reached.notes.items()]
        tombstones.bury(NOTE_NUMBER, ends, origin)
        for path, some in reached.lines.items():
            for _, version, content in self._rewritten(reached, path, some):
                self._store.rewrite(version, content)
        for path, last in reached.notes.items():
            self._store.erase(path, last)
        for path in reached.paths:
            self._store.purge(path)
        self._cut(lines)
        return removed

    def _cut(self, lines: set[tuple[str, bytes]]) -> None:
        """Edges to lines that are in no version any more."""
        left = {(path, line) for path in {path for path, _ in lines} for line in self._standing(path)}
        ids = sorted(line_id(path, line) for path, line in lines - left)
        self._edges.delete(NOTE_LINE, sorted({edge.to_id for edge in self._edges.origins_of(NOTE_LINE, ids)}))

    def _standing(self, path: str) -> set[bytes]:
        return {line for note in self._store.contents(path) for line in words_of(note.content)}

    def _rewritten(self, reached: Reached, path: str, gone: set[bytes]) -> Iterator[tuple[Note, Version, bytes]]:
        """(the version as it is, as it will be, what will stand in it) of those that change and stay. The reason for a
        change goes if all that the change brought does; a version of which nothing is left is one without a file."""
        before: set[bytes] = set()
        for note in self._store.contents(path):
            lines = set(words_of(note.content))
            added, before = lines - before, lines
            if note.number <= reached.notes.get(path, 0) or lines.isdisjoint(gone):
                continue
            content = _left(note.content, gone)
            digest = digest_of(content) if content else ""
            reason = "" if added and added <= gone else note.reason
            yield note, replace(note, digest=digest, size=len(content), reason=reason), content


def first_number(session: Session, house: str, path: str) -> int:
    """Of the versions of a path that has none. Where a note was forgotten it is higher than all that were given: who
    saw one of those, and comes back with its number, must not meet another text under it."""
    tombstones, keyed = TombstoneStore(session, house), hasher(session, house)
    if keyed is None or not tombstones.count([NOTE_NUMBER]):
        return 1
    hashes = {_number_hash(keyed, path, 1 << power): 1 << power for power in range(MOST_NUMBER_BITS)}
    return max((hashes[one] for one in tombstones.buried(sorted(hashes))), default=1)


def buried_lines_removed(session: Session, house: str, path: str, content: bytes) -> bytes:
    """A file of a note without what was forgotten of it. Empty: nothing is left, and the file has no reason to be."""
    tombstones = TombstoneStore(session, house)
    keyed = hasher(session, house)
    if not content or keyed is None or not tombstones.count([NOTE_LINE, NOTE_TEXT]):
        return content
    store, digest = NoteStore(session, house), digest_of(content)
    if store.was_there(path, digest):
        return content
    if tombstones.buried([_text_hash(keyed, path, digest)]):
        return b""
    hashes = {_line_hash(keyed, path, line): line for line in words_of(content)}
    buried = {hashes[one] for one in tombstones.buried(sorted(hashes))}
    if not buried:
        return content
    written = {line for note in store.contents(path) for line in words_of(note.content)}
    return _left(content, buried - written) if buried - written else content


def _left(content: bytes, gone: set[bytes]) -> bytes:
    left = without(content, gone)
    return left if left.strip() else b""


def _line_hash(keyed: Hasher, path: str, line: bytes) -> str:
    return keyed.hash(NOTE_LINE, path, line)


def _number_hash(keyed: Hasher, path: str, end: int) -> str:
    """`end`: a power of two, so that there are few to look for."""
    return keyed.hash(NOTE_NUMBER, path, str(end))


def _text_hash(keyed: Hasher, path: str, digest: str) -> str:
    return keyed.hash(NOTE_TEXT, path, digest)
