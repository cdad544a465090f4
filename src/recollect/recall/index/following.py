"""Keeps a generation up to date with history: first everything that was said, then every change.

Reading, cutting into terms and embedding happen outside any transaction. A commit holds the rows and how far they
reach, and is made only if the generation is still at the step that was read before: of two followers, the second one
sees that it came too late, throws its work away and goes on from where the first one is.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from recollect.database import Database
from recollect.feed import Change
from recollect.history import Message
from recollect.recall.index.documents import facts_digest, is_document, prepare, text_digest
from recollect.recall.index.store import Generation, GenerationStore, IndexStore, State
from recollect.recall.index.vectors import Place, StoredVectors
from recollect.recall.index.writing import Batch, Commit, posting_rows

if TYPE_CHECKING:
    from recollect.embedding import Embedder

BATCH_DOCUMENTS = 4_096
BATCH_CHARACTERS = 8_000_000
"""Of text in one commit: what bounds memory when messages are pasted files."""
LOADED_MESSAGES = 512
"""At once, while a batch is gathered."""
SAID_PAGE = 200_000
"""Ids read at once while everything is read for the first time; each page is a look at every message."""

Progress = Callable[[int], None]


class Feed(Protocol):
    """What a follower needs of history."""

    def feed_id(self) -> str: ...
    def last_change(self) -> int: ...
    def can_follow(self, after: int) -> bool: ...
    def changes(self, after: int, limit: int) -> list[Change]: ...
    def documents(self, message_ids: Sequence[str]) -> dict[str, Message]: ...
    def said_after(self, after: tuple[str, str], limit: int) -> list[tuple[str, str]]: ...


class Moved(Exception):
    """Another follower committed first, or the generation is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far a generation is: the feed up to a change and, until that was done once, everything said up to a place."""

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
        feed: Feed,
        static: "Embedder",
        limit: int | None = None,
        on_progress: Progress = lambda _: None,
    ) -> int:
        """Bring a generation up to date, or about `limit` messages closer to it; how many were looked at."""
        done = 0
        while limit is None or done < limit:
            generation = self._generation(number)
            if generation is None:
                return done
            looked = 0
            try:
                for message_ids, reach in _unread(generation, feed):
                    self._take(generation, message_ids, reach, feed, static)
                    looked += len(message_ids)
                    on_progress(len(message_ids))
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
        self, generation: Generation, message_ids: Sequence[str], reach: Reach, feed: Feed, static: "Embedder"
    ) -> None:
        """Commit whatever these messages change, in as many pieces as their size asks for; the last one says how far
        that reaches. Killed in between, the next follower compares all of them again and finds the first ones done."""
        batch, changed = Batch(), list[Message]()
        for start in range(0, len(message_ids), LOADED_MESSAGES):
            changed += self._compare(generation, message_ids[start : start + LOADED_MESSAGES], feed, batch)
            characters = sum(len(message.text) for message in changed)
            if len(changed) + len(batch) >= BATCH_DOCUMENTS or characters >= BATCH_CHARACTERS:
                self._commit(generation, batch, changed, static)
                batch, changed = Batch(), []
        self._commit(generation, batch, changed, static, reach)

    def _compare(self, generation: Generation, message_ids: Sequence[str], feed: Feed, batch: Batch) -> list[Message]:
        """Messages that must be indexed anew; what dies or moves is noted in the batch."""
        messages = feed.documents(message_ids)
        with self._database.read() as session:
            known = IndexStore(session, self._house, generation.generation).known(message_ids)
        changed: list[Message] = []
        for message_id in message_ids:
            message, before = messages.get(message_id), known.get(message_id)
            if message is None or not is_document(message):
                if before:
                    batch.ended[message_id] = before
            elif before is None or before.text_digest != text_digest(message):
                changed.append(message)
                if before:
                    batch.ended[message_id] = before
            elif before.facts_digest != facts_digest(message):
                batch.moved.append((message, before))
        return changed

    def _commit(
        self,
        generation: Generation,
        batch: Batch,
        changed: Sequence[Message],
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


def _unread(generation: Generation, feed: Feed) -> Iterator[tuple[list[str], Reach]]:
    """Messages to look at next, and how far the generation is once that is done."""
    if generation.is_paged:
        changes = feed.changes(generation.change, BATCH_DOCUMENTS)
        if changes:
            reach = Reach(change=changes[-1].change, is_paged=True, said_at="", said_id="")
            yield list(dict.fromkeys(change.id for change in changes)), reach
        return
    page = feed.said_after((generation.said_at, generation.said_id), SAID_PAGE)
    for start in range(0, max(len(page), 1), BATCH_DOCUMENTS):
        part = page[start : start + BATCH_DOCUMENTS]
        is_last = start + BATCH_DOCUMENTS >= len(page) and len(page) < SAID_PAGE
        at, message_id = part[-1] if part else ("", "")
        reach = Reach(change=generation.change, is_paged=is_last, said_at=at, said_id=message_id)
        yield [message_id for _, message_id in part], reach
