"""One commit of a follower: documents that are new, that changed, that are gone, and how far the feed was read."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from recollect.history import Message
from recollect.recall.index.documents import Prepared, conversation_key, facts_digest, text_digest
from recollect.recall.index.formats import (
    ALIVE,
    AUTHORS,
    BLOCK_DOCUMENTS,
    DEAD,
    FREQUENCIES,
    MOST_FREQUENCY,
    POSTING_DOCUMENTS,
    Facts,
    Quantised,
    digest,
    empty_facts,
    milliseconds,
    place_in_block,
    read_facts,
)
from recollect.recall.index.store import Generation, Known
from recollect.recall.index.vectors import Place, StoredVectors, VectorWriter

FACTS_KIND = "facts"
MOST_SOURCES = 255

PostingRow = tuple[str, int, bytes]
"""Term, block of documents, data to append."""


@dataclass(slots=True, kw_only=True)
class Batch:
    """What one commit will do. Known documents are told by their messages' ids."""

    added: list[Prepared] = field(default_factory=list[Prepared])
    """A message whose text changed is among them: it becomes another document."""
    moved: list[tuple[Message, Known]] = field(default_factory=list[tuple[Message, Known]])
    """Only what is known beside the text changed."""
    ended: dict[str, Known] = field(default_factory=dict[str, Known])
    """Documents that die: the message is gone, or its text changed."""
    postings: list[PostingRow] = field(default_factory=list[PostingRow])
    """Of what is added, whose numbers begin with the generation's next."""

    def __len__(self) -> int:
        return len(self.added) + len(self.moved) + len(self.ended)


class Commit:
    """Writes a batch inside a transaction. The caller made sure that the generation is still at the step it knew."""

    def __init__(self, place: Place, generation: Generation, stored: StoredVectors) -> None:
        self._place = place
        self._store = place.store
        self._generation = generation
        self._vectors = VectorWriter(place, stored)
        self._facts: dict[int, Facts] = {}

    def write(self, batch: Batch, dimensions: int) -> None:
        generation = self._generation
        docs = range(generation.next_doc, generation.next_doc + len(batch.added))
        generation.next_doc = docs.stop
        messages = [item.message for item in batch.added] + [message for message, _ in batch.moved]
        conversations = self._conversations(messages)
        self._load_facts(
            [*docs, *(known.doc for _, known in batch.moved), *(known.doc for known in batch.ended.values())]
        )
        self._end(batch.ended)
        for message, known in batch.moved:
            self._set_facts(known.doc, message, conversations)
        self._add(dict(zip(docs, batch.added, strict=True)), conversations, dimensions)
        known = {
            message.id: Known(known.doc, known.text_digest, facts_digest(message)) for message, known in batch.moved
        }
        for doc, item in zip(docs, batch.added, strict=True):
            known[item.message.id] = Known(doc, text_digest(item.message), facts_digest(item.message))
        self._store.save_documents(known)
        self._store.add_postings(batch.postings)
        packed = {block: facts.tobytes() for block, facts in self._facts.items()}
        self._store.save_blocks(FACTS_KIND, self._place.version, packed)
        generation.documents += len(batch.added) - len(batch.ended)
        generation.dead += len(batch.ended)

    def _end(self, ended: Mapping[str, Known]) -> None:
        self._store.delete_documents(ended)
        self._vectors.remove(known.doc for known in ended.values())
        for known in ended.values():
            record = self._record(known.doc)
            record[...] = 0
            record["state"] = DEAD

    def _add(self, added: Mapping[int, Prepared], conversations: Mapping[str, int], dimensions: int) -> None:
        vectors: dict[int, Quantised] = {}
        for doc, item in added.items():
            record = self._set_facts(doc, item.message, conversations)
            record["identity"] = digest(item.message.id) & 0xFFFF_FFFF_FFFF_FFFF
            record["terms"] = item.terms.total()
            record["asking"] = item.asking
            record["state"] = ALIVE
            vectors[doc] = item.vectors
        self._vectors.add(self._generation.static_model, vectors, dimensions)

    def _set_facts(self, doc: int, message: Message, conversations: Mapping[str, int]) -> Facts:
        record = self._record(doc)
        record["conversation"] = conversations[conversation_key(message)]
        record["place"] = message.start_byte
        record["at"] = milliseconds(message.at)
        record["author"] = AUTHORS.index(str(message.author))
        record["source"] = self._source(message.source)
        return record

    def _record(self, doc: int) -> Facts:
        place = doc % BLOCK_DOCUMENTS
        # A slice of one, not an element: assigning to it changes the block on every version of numpy.
        return self._facts[doc // BLOCK_DOCUMENTS][place : place + 1]

    def _load_facts(self, docs: Sequence[int]) -> None:
        numbers = sorted({doc // BLOCK_DOCUMENTS for doc in docs})
        stored = self._store.blocks(FACTS_KIND, numbers)
        self._facts = {block: read_facts(stored[block]) if block in stored else empty_facts() for block in numbers}

    def _conversations(self, messages: Sequence[Message]) -> dict[str, int]:
        keys = list(dict.fromkeys(conversation_key(message) for message in messages))
        known = self._store.conversations(keys)
        first = self._generation.next_conversation
        new = {key: first + number for number, key in enumerate(key for key in keys if key not in known)}
        self._generation.next_conversation = first + len(new)
        self._store.add_conversations(new)
        return {**known, **new}

    def _source(self, name: str) -> int:
        sources = self._generation.sources
        if name not in sources:
            if len(sources) >= MOST_SOURCES:
                return MOST_SOURCES
            sources.append(name)
        return sources.index(name)


def posting_rows(first_doc: int, added: Sequence[Prepared]) -> list[PostingRow]:
    """What documents with numbers from `first_doc` on add to the postings. In the order of the key, so that the engine
    goes through its pages once."""
    gathered: defaultdict[int, defaultdict[str, list[bytes]]] = defaultdict(lambda: defaultdict(list))
    for doc, item in enumerate(added, first_doc):
        terms, place = gathered[doc // POSTING_DOCUMENTS], place_in_block(doc)
        for term, frequency in item.terms.items():
            terms[term].append(place + (FREQUENCIES[frequency] if frequency < MOST_FREQUENCY else FREQUENCIES[-1]))
    rows = [(term, block, b"".join(parts)) for block, terms in gathered.items() for term, parts in terms.items()]
    return sorted(rows)
