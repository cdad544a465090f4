"""One commit of a follower: documents that are new, that changed, that are gone, and how far the feed was read."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from recollect.recall.index.documents import Document, Prepared, facts_digest, text_digest
from recollect.recall.index.formats import (
    ALIVE,
    AUTHORS,
    BLOCK_DOCUMENTS,
    DEAD,
    FOREVER,
    FREQUENCIES,
    KINDS,
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
MOST_SCOPES = 65_535
"""What lies in one more scope is shown to nobody but those who see everything."""

PostingRow = tuple[str, int, bytes]
"""Term, block of documents, data to append."""


@dataclass(slots=True, kw_only=True)
class Batch:
    """What one commit will do."""

    added: list[Prepared] = field(default_factory=list[Prepared])
    """What has another text now is among them: it gets another number."""
    moved: list[tuple[Document, Known]] = field(default_factory=list[tuple[Document, Known]])
    """Only what is known beside the text changed."""
    ended: dict[str, Known] = field(default_factory=dict[str, Known])
    """By id, documents that die: they are gone, or their text changed."""
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
        documents = [item.document for item in batch.added] + [document for document, _ in batch.moved]
        conversations = self._conversations(documents)
        self._load_facts(
            [*docs, *(known.doc for _, known in batch.moved), *(known.doc for known in batch.ended.values())]
        )
        self._end(batch.ended)
        for document, known in batch.moved:
            self._set_facts(known.doc, document, conversations)
        self._add(dict(zip(docs, batch.added, strict=True)), conversations, dimensions)
        known = [(document, Known(old.doc, old.text_digest, facts_digest(document))) for document, old in batch.moved]
        for doc, item in zip(docs, batch.added, strict=True):
            document = item.document
            known.append((document, Known(doc, text_digest(document), facts_digest(document))))
        self._store.save_documents({document.id: (document.thing_key, now) for document, now in known})
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
            record = self._set_facts(doc, item.document, conversations)
            record["identity"] = digest(item.document.id) & 0xFFFF_FFFF_FFFF_FFFF
            record["terms"] = item.terms.total()
            record["asking"] = item.asking
            record["state"] = ALIVE
            vectors[doc] = item.vectors
        self._vectors.add(self._generation.static_model, vectors, dimensions)

    def _set_facts(self, doc: int, document: Document, conversations: Mapping[str, int]) -> Facts:
        record = self._record(doc)
        generation = self._generation
        record["conversation"] = conversations[document.conversation]
        record["place"] = document.place
        record["at"] = milliseconds(document.at)
        record["known"] = milliseconds(document.known_at or document.at)
        record["author"] = AUTHORS.index(document.author)
        record["source"] = _code(generation.sources, document.source, MOST_SOURCES)
        record["scope"] = _code(generation.scopes, document.scope, MOST_SCOPES)
        record["kind"] = KINDS.index(document.kind)
        record["until"] = milliseconds(document.until, FOREVER)
        record["expires"] = milliseconds(document.expires, FOREVER)
        record["evergreen"] = document.is_evergreen
        return record

    def _record(self, doc: int) -> Facts:
        place = doc % BLOCK_DOCUMENTS
        # A slice of one, not an element: assigning to it changes the block on every version of numpy.
        return self._facts[doc // BLOCK_DOCUMENTS][place : place + 1]

    def _load_facts(self, docs: Sequence[int]) -> None:
        numbers = sorted({doc // BLOCK_DOCUMENTS for doc in docs})
        stored = self._store.blocks(FACTS_KIND, numbers)
        self._facts = {block: read_facts(stored[block]) if block in stored else empty_facts() for block in numbers}

    def _conversations(self, documents: Sequence[Document]) -> dict[str, int]:
        keys = list(dict.fromkeys(document.conversation for document in documents))
        known = self._store.conversations(keys)
        first = self._generation.next_conversation
        new = {key: first + number for number, key in enumerate(key for key in keys if key not in known)}
        self._generation.next_conversation = first + len(new)
        self._store.add_conversations(new)
        return {**known, **new}


def _code(names: list[str], name: str, most: int) -> int:
    """The place of a name in a list, which grows by it; `most` for all that no longer fit."""
    if name not in names:
        if len(names) >= most:
            return most
        names.append(name)
    return names.index(name)


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
