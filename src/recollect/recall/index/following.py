"""Keeps a generation up to date: first everything there is, then every change.

Reading, cutting into terms and embedding happen outside any transaction. A commit holds the rows and how far they
reach, and is made only if the generation is still at the step that was read before: of two followers, the second one
sees that it came too late, throws its work away and goes on from where the first one is.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from recollect.database import Database
from recollect.feed import Change
from recollect.recall.index.documents import Document, Thing, facts_digest, prepare, text_digest, thing_key
from recollect.recall.index.store import Generation, GenerationStore, IndexStore, Known, State
from recollect.recall.index.vectors import Place, StoredVectors
from recollect.recall.index.writing import Batch, Commit, posting_rows

if TYPE_CHECKING:
    from recollect.embedding import Embedder

BATCH_DOCUMENTS = 4_096
BATCH_CHARACTERS = 8_000_000
"""Of text in one commit: what bounds memory when messages are pasted files."""
LOADED_THINGS = 512
"""At once, while a batch is gathered."""
PAGE = 200_000
"""Ids read at once while everything is read for the first time; each page is a look at every message."""

Progress = Callable[[int], None]


class Material(Protocol):
    """What a follower needs to know of everything that is searched."""

    def feed_id(self) -> str: ...
    def last_change(self) -> int: ...
    def can_follow(self, after: int) -> bool: ...
    def changes(self, after: int, limit: int) -> list[Change]: ...

    def documents(self, things: Sequence[Thing]) -> list[Document]:
        """What these things are now, in their order. One that is gone, or is not searched, is no document."""
        ...

    def page(self, after: tuple[str, str], limit: int) -> list[tuple[str, Thing]]:
        """Everything there is, oldest first, after such a place: a moment and an id."""
        ...


class Moved(Exception):
    """Another follower committed first, or the generation is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far a generation is: the feed up to a change and, until that was done once, everything up to a place."""

    change: int
    is_paged: bool
    said_at: str
    said_id: str


class Follower:
    def __init__(self, database: Database, house: str, stored: StoredVectors) -> None:
        self._database = database
        self._house = house
        self._stored = stored

    def follow(
        self,
        number: int,
        material: Material,
        static: "Embedder",
        limit: int | None = None,
        on_progress: Progress = lambda _: None,
    ) -> int:
        """Bring a generation up to date, or about `limit` things closer to it; how many were looked at."""
        done = 0
        while limit is None or done < limit:
            generation = self._generation(number)
            if generation is None:
                return done
            looked = 0
            try:
                for things, reach in _unread(generation, material):
                    self._take(generation, things, reach, material, static)
                    looked += len(things)
                    on_progress(len(things))
                    if limit is not None and done + looked >= limit:
                        break
            except Moved:
                continue
            done += looked
            if not looked and generation.is_paged:
                return done
        return done

    def _generation(self, number: int) -> Generation | None:
        with self._database.read() as session:
            found = GenerationStore(session, self._house).get(number)
        return None if found is None or found.state is State.RETIRED else found

    def _take(
        self, generation: Generation, things: Sequence[Thing], reach: Reach, material: Material, static: "Embedder"
    ) -> None:
        """Commit whatever these things change, in as many pieces as their size asks for; the last one says how far
        that reaches. Killed in between, the next follower compares all of them again and finds the first ones done."""
        batch, changed = Batch(), list[Document]()
        for start in range(0, len(things), LOADED_THINGS):
            changed += self._compare(generation, things[start : start + LOADED_THINGS], material, batch)
            characters = sum(len(document.text) for document in changed)
            if len(changed) + len(batch) >= BATCH_DOCUMENTS or characters >= BATCH_CHARACTERS:
                self._commit(generation, batch, changed, static)
                batch, changed = Batch(), []
        self._commit(generation, batch, changed, static, reach)

    def _compare(
        self, generation: Generation, things: Sequence[Thing], material: Material, batch: Batch
    ) -> list[Document]:
        """Documents that must be indexed anew; what dies or moves is noted in the batch."""
        documents = material.documents(things)
        known = self._known(generation, things)
        changed: list[Document] = []
        for document in documents:
            before = known.pop(document.id, None)
            if before is None or before.text_digest != text_digest(document):
                changed.append(document)
                if before:
                    batch.ended[document.id] = before
            elif before.facts_digest != facts_digest(document):
                batch.moved.append((document, before))
        batch.ended.update(known)
        return changed

    def _known(self, generation: Generation, things: Sequence[Thing]) -> dict[str, Known]:
        """The documents of these things, those that are no more among them."""
        whole = [thing.id for thing in things if not thing_key(thing)]
        parted = [key for thing in things if (key := thing_key(thing))]
        with self._database.read() as session:
            store = IndexStore(session, self._house, generation.generation)
            return {**store.known(whole), **store.known_parts(parted)}

    def _commit(
        self,
        generation: Generation,
        batch: Batch,
        changed: Sequence[Document],
        static: "Embedder",
        reach: Reach | None = None,
    ) -> None:
        batch.added = prepare(changed, static) if changed else []
        # The numbers are certain: they are given only if nobody else has moved the generation.
        batch.postings = posting_rows(generation.next_doc, batch.added)
        with self._database.write() as session:
            stored = GenerationStore(session, self._house).get(generation.generation)
            if stored is None or stored.state is State.RETIRED or stored.step != generation.step:
                raise Moved
            # Others than followers write these.
            generation.version, generation.dead, generation.state = stored.version, stored.dead, stored.state
            if batch:
                generation.version += 1
                place = Place(
                    session=session, house=self._house, generation=generation.generation, version=generation.version
                )
                Commit(place, generation, self._stored).write(batch, static.dimensions)
            if reach:
                generation.change, generation.is_paged = reach.change, reach.is_paged
                generation.said_at, generation.said_id = reach.said_at, reach.said_id
            generation.step += 1
            GenerationStore(session, self._house).save(generation)


def _unread(generation: Generation, material: Material) -> Iterator[tuple[list[Thing], Reach]]:
    """Things to look at next, and how far the generation is once that is done."""
    if generation.is_paged:
        changes = material.changes(generation.change, BATCH_DOCUMENTS)
        if changes:
            reach = Reach(change=changes[-1].change, is_paged=True, said_at="", said_id="")
            yield list(dict.fromkeys(Thing(change.kind, change.id) for change in changes)), reach
        return
    page = material.page((generation.said_at, generation.said_id), PAGE)
    for start in range(0, max(len(page), 1), BATCH_DOCUMENTS):
        part = page[start : start + BATCH_DOCUMENTS]
        is_last = start + BATCH_DOCUMENTS >= len(page) and len(page) < PAGE
        at, last = part[-1] if part else ("", Thing("", ""))
        reach = Reach(change=generation.change, is_paged=is_last, said_at=at, said_id=last.id)
        yield [thing for _, thing in part], reach
