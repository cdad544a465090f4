"""Gives documents the vectors of a deep model, newest first, after the fast static ones were made with the document.

Small commits, each in one block of documents, so that a kill loses seconds of work. A document that says
something else by now is left to the follower: a vector always belongs to the text that is indexed.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recollect.database import Database, Session
from recollect.recall.index.documents import text_digest, thing_of
from recollect.recall.index.following import Material, Progress
from recollect.recall.index.formats import (
    ALIVE,
    BLOCK_DOCUMENTS,
    Quantised,
    empty_counts,
    quantise,
    read_counts,
    read_facts,
)
from recollect.recall.index.spread import Spread
from recollect.recall.index.store import GenerationStore, State
from recollect.recall.index.vectors import COUNTS, SPREAD, Docs, Place, StoredVectors, VectorWriter
from recollect.recall.index.writing import FACTS_KIND
from recollect.recall.passages import passages

if TYPE_CHECKING:
    from recollect.embedding import Embedder

COMMITTED_DOCUMENTS = 64
"""In one commit: a second or more of a small transformer on two cores."""
EMBEDDED_AT_ONCE = 8
"""Passages: whoever says stop waits no longer than these take, and a commit that is not whole is not made."""


class Deepening:
    def __init__(self, database: Database, house: str, generation: int, stored: StoredVectors) -> None:
        self._database = database
        self._house = house
        self._generation = generation
        self._stored = stored

    def run(
        self,
        material: Material,
        deep: "Embedder",
        stop: Callable[[], bool] = lambda: False,
        on_total: Progress = lambda _: None,
        on_progress: Progress = lambda _: None,
    ) -> int:
        """Until no document lacks vectors of this model, or until told to stop; how many got theirs."""
        self._drop_others(deep.name)
        lacking = self._lacking(deep.name)
        on_total(len(lacking))
        done = 0
        for docs in _slices(lacking):
            if stop():
                break
            done += self._deepen(docs, material, deep, stop)
            on_progress(len(docs))
        return done

    def _drop_others(self, model: str) -> None:
        """Vectors of a deep model that is not used any more."""
        with self._database.read() as session:
            if not self._others(session, model):
                return
        with self._database.write() as session:
            generations = GenerationStore(session, self._house)
            generation = generations.get(self._generation)
            if generation:
                generation.version += 1
                writer = VectorWriter(self._place(session, generation.version), self._stored)
                for other in self._others(session, model):
                    writer.drop(other)
                generations.save(generation)

    def _others(self, session: Session, model: str) -> list[str]:
        generation = GenerationStore(session, self._house).get(self._generation)
        kept = {model, generation.static_model} if generation else set[str]()
        return [name for name in VectorWriter(self._place(session, 0), self._stored).models() if name not in kept]

    def _lacking(self, model: str) -> Docs:
        """Documents without vectors of this model, the latest first."""
        with self._database.read() as session:
            generation = GenerationStore(session, self._house).get(self._generation)
            store = self._place(session, 0).store
            spread = store.blocks(SPREAD + model, [0]).get(0)
            if generation is None or (spread and Spread.read(spread).documents == generation.documents):
                return np.empty(0, np.int64)
            counts = {block: read_counts(data) for _, block, data in store.blocks_since(0, [COUNTS + model])}
            facts = [(block, read_facts(data)) for _, block, data in store.blocks_since(0, [FACTS_KIND])]
        docs, times = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for block, records in facts:
            places = np.flatnonzero((records["state"] == ALIVE) & (counts.get(block, empty_counts()) == 0))
            docs.append(places + block * BLOCK_DOCUMENTS)
            times.append(records["at"][places])
        found = np.concatenate(docs)
        return found[np.lexsort((found, np.concatenate(times)))[::-1]]

    def _deepen(self, docs: Sequence[int], material: Material, deep: "Embedder", stop: Callable[[], bool]) -> int:
        with self._database.read() as session:
            indexed = self._place(session, 0).store.texts(docs)
        things = dict.fromkeys(thing_of(document_id) for document_id, _ in indexed.values())
        documents = {document.id: document for document in material.documents(list(things))}
        texts = {
            doc: documents[document_id].text
            for doc, (document_id, digest) in indexed.items()
            if document_id in documents and text_digest(documents[document_id]) == digest
        }
        cut = {doc: passages(text) for doc, text in texts.items()}
        vectors = _embedded([passage for parts in cut.values() for passage in parts], deep, stop)
        return self._commit(_by_document(cut, vectors), indexed, deep) if vectors else 0

    def _commit(self, vectors: dict[int, Quantised], indexed: dict[int, tuple[str, int]], deep: "Embedder") -> int:
        with self._database.write() as session:
            generations = GenerationStore(session, self._house)
            generation = generations.get(self._generation)
            if generation is None or generation.state is State.RETIRED:
                return 0
            place = self._place(session, generation.version + 1)
            # Meanwhile a document may have died, or got its vectors from somebody else who deepens.
            alive = {doc for doc, found in place.store.texts(list(vectors)).items() if found == indexed[doc]}
            numbers = sorted({doc // BLOCK_DOCUMENTS for doc in vectors})
            counts = place.store.blocks(COUNTS + deep.name, numbers)
            has = {block: read_counts(data) for block, data in counts.items()}
            wanted = {
                doc: found
                for doc, found in vectors.items()
                if doc in alive and not has.get(doc // BLOCK_DOCUMENTS, empty_counts())[doc % BLOCK_DOCUMENTS]
            }
            if wanted:
                VectorWriter(place, self._stored).add(deep.name, wanted, deep.dimensions)
                generation.version = place.version
                generations.save(generation)
        return len(wanted)

    def _place(self, session: Session, version: int) -> Place:
        return Place(session=session, house=self._house, generation=self._generation, version=version)


def _embedded(texts: Sequence[str], deep: "Embedder", stop: Callable[[], bool]) -> Quantised | None:
    """None: there is nothing to embed, or somebody said stop."""
    rows: list[NDArray[np.float32]] = []
    for start in range(0, len(texts), EMBEDDED_AT_ONCE):
        if stop():
            return None
        rows.append(deep.passages(texts[start : start + EMBEDDED_AT_ONCE]))
    return quantise(np.concatenate(rows)) if rows else None


def _slices(docs: Docs) -> Iterator[list[int]]:
    """A few documents of one block at a time, the block of the latest document first."""
    blocks = docs // BLOCK_DOCUMENTS
    _, firsts, owners = np.unique(blocks, return_index=True, return_inverse=True)
    order = np.argsort(firsts[owners], kind="stable")
    for mine in np.split(docs[order], np.flatnonzero(np.diff(blocks[order])) + 1):
        for start in range(0, len(mine), COMMITTED_DOCUMENTS):
            yield mine[start : start + COMMITTED_DOCUMENTS].tolist()


def _by_document(cut: dict[int, list[str]], vectors: Quantised) -> dict[int, Quantised]:
    found: dict[int, Quantised] = {}
    start = 0
    for doc, parts in cut.items():
        found[doc] = vectors[start : start + len(parts)]
        start += len(parts)
    return found
