"""Takes dead documents out of the postings, and conversations that lost their last document out of their table.
Everything else of a document is removed the moment it dies.

The text of a dead document is gone, so its terms are not known: every row of postings is looked at, in a reading that
nobody waits for. What holds a dead document is then rewritten in small commits. A document is marked as purged in the
last one, so whoever is killed in between is done again.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from recollect.database import Database, Session
from recollect.recall.index.formats import (
    ALIVE,
    BLOCK_DOCUMENTS,
    DEAD,
    FACTS,
    POSTING,
    POSTING_DOCUMENTS,
    read_facts,
    without,
)
from recollect.recall.index.store import GenerationStore, IndexStore
from recollect.recall.index.writing import FACTS_KIND

COMMITTED_ROWS = 1_000
DEAD_SHARE = 0.2
"""Of all documents that were ever numbered: above it, purging is due."""
AT_LEAST_DEAD = 1_000

Dead = Mapping[int, NDArray[np.uint16]]
"""By block of postings: the places of dead documents in it."""


def is_due(documents: int, dead: int) -> bool:
    return dead >= AT_LEAST_DEAD and dead > DEAD_SHARE * (documents + dead)


class Purge:
    def __init__(self, database: Database, house: str, generation: int) -> None:
        self._database = database
        self._house = house
        self._generation = generation

    def run(self) -> int:
        """How many documents were purged."""
        with self._database.read() as session:
            docs = self._dead(session)
            dead = _by_block(docs)
            affected = list(self._affected(session, dead)) if len(docs) else []
        if not len(docs):
            return 0
        for start in range(0, len(affected), COMMITTED_ROWS):
            with self._database.write() as session:
                store = self._store(session)
                for term, block in affected[start : start + COMMITTED_ROWS]:
                    data = store.posting(term, block)
                    if data is not None:
                        store.set_posting(term, block, without(data, dead[block]))
        with self._database.write() as session:
            purged = self._mark(session, docs)
            self._store(session).delete_conversations_but(self._conversations(session))
        return purged

    def _dead(self, session: Session) -> NDArray[np.int64]:
        found = [np.empty(0, np.int64)]
        for _, block, data in self._store(session).blocks_since(0, [FACTS_KIND]):
            found.append(np.flatnonzero(read_facts(data)["state"] == DEAD) + block * BLOCK_DOCUMENTS)
        return np.concatenate(found)

    def _affected(self, session: Session, dead: Dead) -> Iterator[tuple[str, int]]:
        for term, block, data in self._store(session).every_posting():
            if block in dead and np.isin(np.frombuffer(data, dtype=POSTING)["doc"], dead[block]).any():
                yield term, block

    def _mark(self, session: Session, docs: NDArray[np.int64]) -> int:
        generations = GenerationStore(session, self._house)
        generation = generations.get(self._generation)
        if generation is None:
            return 0
        numbers = sorted({int(block) for block in docs // BLOCK_DOCUMENTS})
        blocks = {block: read_facts(data) for block, data in self._store(session).blocks(FACTS_KIND, numbers).items()}
        purged = 0
        for doc in docs.tolist():
            record = blocks[doc // BLOCK_DOCUMENTS][doc % BLOCK_DOCUMENTS :][:1]
            purged += int(record["state"][0] == DEAD)
            record[...] = 0
        generation.version += 1
        generation.dead -= purged
        packed = {block: facts.tobytes() for block, facts in blocks.items()}
        self._store(session).save_blocks(FACTS_KIND, generation.version, packed)
        generations.save(generation)
        return purged

    def _conversations(self, session: Session) -> set[int]:
        """Those that a document is in. In the transaction that drops the others: nobody adds to one in between."""
        found: set[int] = set()
        for _, _, data in self._store(session).blocks_since(0, [FACTS_KIND]):
            facts = np.frombuffer(data, dtype=FACTS)
            found.update(np.unique(facts["conversation"][facts["state"] == ALIVE]).tolist())
        return found

    def _store(self, session: Session) -> IndexStore:
        return IndexStore(session, self._house, self._generation)


def _by_block(docs: NDArray[np.int64]) -> dict[int, NDArray[np.uint16]]:
    blocks = docs // POSTING_DOCUMENTS
    return {int(block): (docs[blocks == block] % POSTING_DOCUMENTS).astype(np.uint16) for block in np.unique(blocks)}
