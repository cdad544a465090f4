"""The vectors of a generation: how many passages each document has, how they are spread, and the vectors themselves.

Numbers and spread are rows of `recall_blocks` on every engine. The vectors have two implementations: `blocks.py` keeps
them in rows of the same table and scans them in memory; `pgvector.py` leaves both to PostgreSQL. Both hold the same
quantised numbers. A document that dies loses its vectors in the same commit.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.database import Session
from recollect.recall.index.formats import (
    BLOCK_DOCUMENTS,
    Counts,
    Floats,
    Quantised,
    Question,
    empty_counts,
    joined,
    read_counts,
)
from recollect.recall.index.spread import Spread
from recollect.recall.index.store import IndexStore

COUNTS = "passages:"
"""Before a model's name: the kind of block that tells how many passages each document has."""
SPREAD = "spread:"
VECTORS = "vectors:"

Docs = NDArray[np.int64]
Allowed = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a writer stands: inside a transaction, in one generation, about to commit a version."""

    session: Session
    house: str
    generation: int
    version: int

    @property
    def store(self) -> IndexStore:
        return IndexStore(self.session, self.house, self.generation)


class SearchedVectors(Protocol):
    """The vectors of one model as one snapshot has them."""

    def nearest(self, asked: Question, allowed: Allowed | None, count: int) -> tuple[Docs, Floats]:
        """The documents whose best passage is most like the question, and how like, in no order. More than `count`
        where the last of them ties with others."""
        ...

    def similarities(self, asked: Question, docs: Docs) -> Floats:
        """How like the question the best passage of each document is; NaN for one without vectors."""
        ...

    def passages_of(self, doc: int) -> Floats:
        """The vectors of a document, in the order of its text; none for one without."""
        ...


class StoredVectors(Protocol):
    """Where the vectors of all models lie."""

    @property
    def name(self) -> str:
        """Of the implementation: a generation whose vectors lie elsewhere is not usable."""
        ...

    def settle(self, house: str, generation: int, model: str, passages: int, dimensions: int) -> None:
        """Do what makes searching so many passages quicker and takes long. Not inside a transaction."""
        ...

    def unsettle(self, place: Place, model: str) -> None:
        """Undo that: the generation or the model is being dropped."""
        ...

    def delete_some(self, place: Place, limit: int) -> bool:
        """Delete at most so many rows of a generation that is dropped; whether there were any."""
        ...

    def change(
        self,
        place: Place,
        model: str,
        counts: Mapping[int, Counts],
        removed: Sequence[int],
        added: Mapping[int, Quantised],
    ) -> Floats:
        """Take away and add the vectors of documents; what was taken away. `counts`: passages by block, before."""
        ...

    def drop(self, place: Place, model: str) -> None: ...

    def searched(
        self, earlier: "SearchedVectors | None", changed: "ChangedVectors", documents: int
    ) -> "SearchedVectors":
        """What a snapshot searches, given what an earlier one searched and what changed since."""
        ...

    @property
    def kinds(self) -> Sequence[str]:
        """Kinds of block, without the model's name, that `searched` wants to see when they change."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedVectors:
    """What was written about one model's vectors since an earlier snapshot."""

    model: str
    house: str
    generation: int
    counts: Mapping[int, Counts]
    blocks: Mapping[int, bytes]
    """By block. The two are always written together."""


class VectorWriter:
    """Changes the vectors of one generation inside one transaction."""

    def __init__(self, place: Place, stored: StoredVectors) -> None:
        self._place = place
        self._stored = stored
        self._store = place.store

    def models(self) -> list[str]:
        return [kind.removeprefix(SPREAD) for kind in self._store.kinds(SPREAD)]

    def drop(self, model: str) -> None:
        self._stored.drop(self._place, model)
        for prefix in (COUNTS, SPREAD):
            self._store.delete_kind(prefix + model)

    def remove(self, docs: Iterable[int]) -> None:
        """These documents have no vectors any more, of any model."""
        gone = sorted(docs)
        if gone:
            for model in self.models():
                self._change(model, gone, {}, 0)

    def add(self, model: str, vectors: Mapping[int, Quantised], dimensions: int) -> None:
        """Documents that have none of this model."""
        if vectors:
            self._change(model, [], vectors, dimensions)

    def _change(self, model: str, removed: Sequence[int], added: Mapping[int, Quantised], dimensions: int) -> None:
        numbers = sorted({doc // BLOCK_DOCUMENTS for doc in (*removed, *added)})
        before = {block: read_counts(data) for block, data in self._store.blocks(COUNTS + model, numbers).items()}
        had = [doc for doc in removed if _count(before, doc)]
        taken = self._stored.change(self._place, model, before, had, added)
        if not had and not added:
            return
        after = {block: before.get(block, empty_counts()).copy() for block in numbers}
        for doc in had:
            after[doc // BLOCK_DOCUMENTS][doc % BLOCK_DOCUMENTS] = 0
        for doc, vectors in added.items():
            after[doc // BLOCK_DOCUMENTS][doc % BLOCK_DOCUMENTS] = len(vectors)
        packed = {block: counts.tobytes() for block, counts in after.items()}
        self._store.save_blocks(COUNTS + model, self._place.version, packed)
        self._save_spread(model, len(had), taken, added, dimensions)

    def _save_spread(
        self, model: str, removed: int, taken: Floats, added: Mapping[int, Quantised], dimensions: int
    ) -> None:
        data = self._store.blocks(SPREAD + model, [0]).get(0)
        spread = Spread.read(data) if data else Spread.empty(dimensions, self._place.version)
        if removed:
            spread = spread.plus(removed, taken, -1)
        if added:
            spread = spread.plus(len(added), joined(list(added.values())).floats())
        self._store.save_blocks(SPREAD + model, self._place.version, {0: spread.pack()})


def _count(counts: Mapping[int, Counts], doc: int) -> int:
    block = counts.get(doc // BLOCK_DOCUMENTS)
    return 0 if block is None else int(block[doc % BLOCK_DOCUMENTS])
