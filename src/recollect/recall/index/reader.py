"""Hands out snapshots of the index and keeps the latest, so that a new one reads only what changed since.

Shared between threads: one of them refreshes, the others take what it made.
"""

import threading
from collections.abc import Sequence

import numpy as np

from recollect.database import Database, Session
from recollect.recall.index.formats import BLOCK_DOCUMENTS, FACTS, Facts, read_counts
from recollect.recall.index.snapshot import FactColumns, Snapshot
from recollect.recall.index.spread import Spread
from recollect.recall.index.store import Generation, GenerationStore, IndexStore
from recollect.recall.index.vectors import COUNTS, SPREAD, ChangedVectors, SearchedVectors, StoredVectors
from recollect.recall.index.writing import FACTS_KIND


class Reader:
    def __init__(self, database: Database, house: str, stored: StoredVectors) -> None:
        self._database = database
        self._house = house
        self._stored = stored
        self._lock = threading.Lock()
        self._latest: Snapshot | None = None

    def snapshot(self, models: Sequence[str] = ()) -> Snapshot:
        """The index as it is now, with the vectors of these models where there are any."""
        with self._lock:
            with self._database.read() as session:
                self._latest = self._refreshed(session, models)
            return self._latest

    def _refreshed(self, session: Session, models: Sequence[str]) -> Snapshot:
        generation = GenerationStore(session, self._house).serving()
        if generation is None:
            return Snapshot(
                database=self._database,
                house=self._house,
                generation=0,
                version=0,
                documents=0,
                facts=_columns({}, 0, None),
                sources=[],
                scopes=[],
            )
        earlier = self._latest if self._latest and self._latest.generation == generation.generation else None
        if earlier and earlier.version == generation.version and set(models) <= set(earlier.vectors):
            return earlier
        store = IndexStore(session, self._house, generation.generation)
        # What somebody asked for once is kept: people and agents share a reader, and ask for different models.
        kept = sorted({*models, *(earlier.vectors if earlier else ())})
        spreads = {name: self._spread(store, name) for name in kept}
        changed = _blocks_since(store, earlier.version if earlier else 0, [FACTS_KIND])
        facts = {block: np.frombuffer(data, dtype=FACTS) for block, data in changed.items()}
        return Snapshot(
            database=self._database,
            house=self._house,
            generation=generation.generation,
            version=generation.version,
            documents=generation.next_doc,
            facts=_columns(facts, generation.next_doc, earlier.facts if earlier else None),
            sources=generation.sources,
            scopes=generation.scopes,
            spreads={name: spread for name, spread in spreads.items() if spread},
            vectors={name: self._vectors(store, generation, name, spreads[name], earlier) for name in kept},
        )

    def _spread(self, store: IndexStore, model: str) -> Spread | None:
        data = store.blocks(SPREAD + model, [0]).get(0)
        return Spread.read(data) if data else None

    def _vectors(
        self, store: IndexStore, generation: Generation, model: str, spread: Spread | None, earlier: Snapshot | None
    ) -> SearchedVectors:
        before = earlier.spreads.get(model) if earlier else None
        goes_on = earlier is not None and before is not None and spread is not None and before.born == spread.born
        since = earlier.version if earlier and goes_on else 0
        counts = _blocks_since(store, since, [COUNTS + model])
        blocks = _blocks_since(store, since, [kind + model for kind in self._stored.kinds])
        changed = ChangedVectors(
            model=model,
            house=self._house,
            generation=generation.generation,
            counts={block: read_counts(data) for block, data in counts.items()},
            blocks=blocks,
        )
        shown = earlier.vectors[model] if earlier and goes_on else None
        return self._stored.searched(shown, changed, generation.next_doc)


def _blocks_since(store: IndexStore, version: int, kinds: Sequence[str]) -> dict[int, bytes]:
    return {block: data for _, block, data in store.blocks_since(version, kinds)} if kinds else {}


def _columns(changed: dict[int, Facts], documents: int, earlier: FactColumns | None) -> FactColumns:
    assert FACTS.names
    old = {name: None if earlier is None else getattr(earlier, name) for name in FACTS.names}
    return FactColumns(**{name: _column(name, changed, documents, old[name]) for name in FACTS.names})


def _column(name: str, changed: dict[int, Facts], documents: int, old: np.ndarray | None) -> np.ndarray:
    """One fact of all documents. Where nothing changed in what is there already, the earlier array is shared."""
    if (
        old is not None
        and len(old) == documents
        and all(_is_same(name, old, block, changed[block]) for block in changed)
    ):
        return old
    column = np.zeros(documents, FACTS[name])
    if old is not None:
        column[: len(old)] = old
    for block, facts in changed.items():
        start = block * BLOCK_DOCUMENTS
        number = min(documents - start, BLOCK_DOCUMENTS)
        column[start : start + number] = facts[name][:number]
    return column


def _is_same(name: str, old: np.ndarray, block: int, facts: Facts) -> bool:
    held = old[block * BLOCK_DOCUMENTS : (block + 1) * BLOCK_DOCUMENTS]
    return bool(np.array_equal(held, facts[name][: len(held)]))
