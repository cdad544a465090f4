"""Vectors in rows of 512 documents, searched in memory: an exact scan of int8 numbers.

A million passages of 128 dimensions take 13 ms and 132 MB. The scan compares with the question rounded to int8 too;
the best of it are measured again with the question as it is, so rounding the question decides nothing but who is
measured. Needs no extension, so it is what SQLite and a PostgreSQL without pgvector use.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import simsimd
from numpy.typing import NDArray

from recollect.recall.index.formats import (
    BLOCK_DOCUMENTS,
    Counts,
    Floats,
    Int8,
    Quantised,
    Question,
    empty_counts,
    joined,
    pack_vectors,
    read_vectors,
)
from recollect.recall.index.vectors import VECTORS, Allowed, ChangedVectors, Docs, Place, SearchedVectors

MEASURED_AGAIN = 4
"""Times as many as asked for are measured again."""
AT_LEAST_MEASURED_AGAIN = 256


class BlockVectors:
    """`StoredVectors` in `recall_blocks`."""

    kinds = (VECTORS,)

    def change(
        self,
        place: Place,
        model: str,
        counts: Mapping[int, Counts],
        removed: Sequence[int],
        added: Mapping[int, Quantised],
    ) -> Floats:
        numbers = sorted({doc // BLOCK_DOCUMENTS for doc in (*removed, *added)})
        rows = place.store.blocks(VECTORS + model, numbers)
        taken: list[Quantised] = []
        packed: dict[int, bytes] = {}
        for block in numbers:
            held = _by_document(block, counts.get(block, empty_counts()), rows.get(block, b""))
            taken += [held.pop(doc) for doc in removed if doc // BLOCK_DOCUMENTS == block]
            held.update((doc, vectors) for doc, vectors in added.items() if doc // BLOCK_DOCUMENTS == block)
            packed[block] = pack_vectors(joined([held[doc] for doc in sorted(held)])) if held else b""
        place.store.save_blocks(VECTORS + model, place.version, packed)
        return joined(taken).floats() if taken else np.empty((0, 0), np.float32)

    def drop(self, place: Place, model: str) -> None:
        place.store.delete_kind(VECTORS + model)

    def searched(self, earlier: SearchedVectors | None, changed: ChangedVectors, documents: int) -> "ScannedVectors":
        blocks = dict(earlier.blocks) if isinstance(earlier, ScannedVectors) else {}
        for block, data in changed.blocks.items():
            counts = changed.counts.get(block, empty_counts())
            blocks[block] = ScannedBlock(counts, read_vectors(data, int(counts.sum())))
        return ScannedVectors(blocks)


def _by_document(block: int, counts: Counts, data: bytes) -> dict[int, Quantised]:
    vectors = read_vectors(data, int(counts.sum()))
    ends = np.cumsum(counts)
    return {
        block * BLOCK_DOCUMENTS + int(place): vectors[int(ends[place]) - int(counts[place]) : int(ends[place])]
        for place in np.flatnonzero(counts)
    }


@dataclass(frozen=True, slots=True)
class ScannedBlock:
    counts: Counts
    vectors: Quantised


class ScannedVectors:
    """`SearchedVectors` in memory. Never changed: a later snapshot has another one that shares the blocks."""

    def __init__(self, blocks: Mapping[int, ScannedBlock]) -> None:
        self.blocks = {block: blocks[block] for block in sorted(blocks) if len(blocks[block].vectors)}
        held = list(self.blocks.values())
        self._row_starts: NDArray[np.int64] = np.cumsum([0, *(len(block.vectors) for block in held)])
        self._scales: Floats = np.concatenate([np.empty(0, np.float32), *(block.vectors.scales for block in held)])
        places = [np.flatnonzero(block.counts) for block in held]
        numbers = [place + number * BLOCK_DOCUMENTS for number, place in zip(self.blocks, places, strict=True)]
        self._docs: Docs = np.concatenate([np.empty(0, np.int64), *numbers])
        counts = [block.counts[place] for block, place in zip(held, places, strict=True)]
        self._counts: NDArray[np.int64] = np.concatenate([np.empty(0, np.uint16), *counts]).astype(np.int64)
        self._firsts: NDArray[np.int64] = np.cumsum(self._counts) - self._counts

    def nearest(self, asked: Question, allowed: Allowed | None, count: int) -> tuple[Docs, Floats]:
        chosen = None if allowed is None else _within(allowed, self._docs)
        eligible = len(self._docs) if chosen is None else int(chosen.sum())
        if count < 1 or not eligible:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        best = np.maximum.reduceat(self._scan(asked.layers[0], chosen), self._firsts)
        if chosen is not None:
            best[~chosen] = -np.inf
        again = min(max(count * MEASURED_AGAIN, count + AT_LEAST_MEASURED_AGAIN), eligible)
        docs = self._docs[best >= max(_nth_largest(best, again), np.finfo(np.float32).min)]
        exact = self.similarities(asked, docs)
        top = exact >= _nth_largest(exact, min(count, len(exact)))
        return docs[top], exact[top]

    def _scan(self, layer: Int8, chosen: Allowed | None) -> Floats:
        """How like the question every passage is, up to a factor. Blocks without a chosen document are left out."""
        found = np.zeros(len(self._scales), np.float32)
        wanted = None if chosen is None else {int(block) for block in np.unique(self._docs[chosen] // BLOCK_DOCUMENTS)}
        for (number, block), start in zip(self.blocks.items(), self._row_starts, strict=False):
            if wanted is None or number in wanted:
                found[start : start + len(block.vectors)] = _products(block.vectors.values, layer)
        found *= self._scales
        return found

    def similarities(self, asked: Question, docs: Docs) -> Floats:
        found = np.full(len(docs), np.nan, np.float32)
        if not len(self._docs):
            return found
        places = np.minimum(np.searchsorted(self._docs, docs), len(self._docs) - 1)
        known = np.flatnonzero(self._docs[places] == docs)
        if len(known):
            rows = self._rows(places[known])
            measured = sum(
                _products(rows.values, layer) * scale for layer, scale in zip(asked.layers, asked.scales, strict=True)
            )
            counts = self._counts[places[known]]
            found[known] = np.maximum.reduceat(measured * rows.scales, np.cumsum(counts) - counts)
        return found

    def _rows(self, places: NDArray[np.int64]) -> Quantised:
        """The passages of the documents at these places, one after the other."""
        counts = self._counts[places]
        ends = np.cumsum(counts)
        starts = self._firsts[places] - (ends - counts)
        rows: NDArray[np.int64] = np.arange(ends[-1], dtype=np.int64) + np.repeat(starts, counts)
        held = list(self.blocks.values())
        owners: NDArray[np.int64] = np.searchsorted(self._row_starts, rows, side="right") - 1
        values = np.empty((len(rows), held[0].vectors.values.shape[1]), np.int8)
        order = np.argsort(owners, kind="stable")
        for mine in np.split(order, np.flatnonzero(np.diff(owners[order])) + 1):
            owner = int(owners[mine[0]])
            values[mine] = held[owner].vectors.values[rows[mine] - self._row_starts[owner]]
        return Quantised(values, self._scales[rows])


def _products(values: Int8, layer: Int8) -> NDArray[np.float64]:
    return cast("NDArray[np.float64]", np.asarray(simsimd.dot(values, np.ascontiguousarray(layer))))


def _nth_largest(values: Floats, number: int) -> float:
    return float(np.partition(values, len(values) - number)[len(values) - number])


def _within(allowed: Allowed, docs: Docs) -> Allowed:
    """Whether each document is allowed. Those the mask does not reach are not."""
    reached = docs < len(allowed)
    found = np.zeros(len(docs), np.bool_)
    found[reached] = allowed[docs[reached]]
    return found
