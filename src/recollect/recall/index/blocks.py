"""Vectors in rows of 512 documents, searched in memory: an exact scan of int8 numbers.

A million passages of 128 dimensions take 13 ms and 132 MB. The scan compares with the question rounded to int8 too;
the best of it are measured again with the question as it is, so rounding the question decides nothing but who is
measured. Needs no extension, so it is what SQLite and a PostgreSQL without pgvector use.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
    no_vectors,
    pack_vectors,
    read_vectors,
)
from recollect.recall.index.vectors import VECTORS, Allowed, ChangedVectors, Docs, Place, SearchedVectors

MEASURED_AGAIN = 4
"""Times as many as asked for are measured again."""
AT_LEAST_MEASURED_AGAIN = 256
SEGMENT_BLOCKS = 16
"""Blocks that lie together in memory: few enough to be copied when one of them changes, enough for a quick scan."""
SMALL_SHARE = 1 / 16
"""When fewer documents than this share of all passages are allowed, they are measured at once."""
LEAST = float(np.finfo(np.float32).min)


class BlockVectors:
    """`StoredVectors` in `recall_blocks`."""

    name = "blocks"
    kinds = (VECTORS,)

    def settle(self, house: str, generation: int, model: str, passages: int, dimensions: int) -> None:
        """A scan needs nothing."""

    def unsettle(self, place: Place, model: str) -> None:
        """Nothing was done."""

    def delete_some(self, place: Place, limit: int) -> bool:
        """The blocks of a generation are dropped with its other blocks."""
        return False

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
        segments = dict(earlier.segments) if isinstance(earlier, ScannedVectors) else {}
        rows: dict[int, dict[int, tuple[Counts, Quantised]]] = {}
        for block, data in changed.blocks.items():
            counts = changed.counts.get(block, empty_counts())
            number, place = divmod(block, SEGMENT_BLOCKS)
            rows.setdefault(number, {})[place] = (counts, read_vectors(data, int(counts.sum())))
        for number, blocks in rows.items():
            segments[number] = _with_blocks(segments.get(number), blocks)
        return ScannedVectors(segments)


def _by_document(block: int, counts: Counts, data: bytes) -> dict[int, Quantised]:
    vectors = read_vectors(data, int(counts.sum()))
    ends = np.cumsum(counts)
    return {
        block * BLOCK_DOCUMENTS + int(place): vectors[int(ends[place]) - int(counts[place]) : int(ends[place])]
        for place in np.flatnonzero(counts)
    }


@dataclass(frozen=True, slots=True)
class Segment:
    """The passages of 8,192 neighbouring documents, one after the other."""

    counts: Counts
    vectors: Quantised

    def block(self, place: int) -> tuple[Counts, Quantised]:
        first = place * BLOCK_DOCUMENTS
        start = int(self.counts[:first].sum())
        counts = self.counts[first : first + BLOCK_DOCUMENTS]
        return counts, self.vectors[start : start + int(counts.sum())]


def _with_blocks(segment: Segment | None, blocks: Mapping[int, tuple[Counts, Quantised]]) -> Segment:
    """The segment with these blocks in place of its own."""
    nothing = empty_counts(), None
    parts = [blocks.get(place) or (segment.block(place) if segment else nothing) for place in range(SEGMENT_BLOCKS)]
    held = [vectors for _, vectors in parts if vectors is not None and len(vectors)]
    return Segment(np.concatenate([counts for counts, _ in parts]), joined(held) if held else no_vectors(0))


class ScannedVectors:
    """`SearchedVectors` in memory. Never changed: a later snapshot has another one that shares the segments."""

    def __init__(self, segments: Mapping[int, Segment]) -> None:
        self.segments = {number: segments[number] for number in sorted(segments) if len(segments[number].vectors)}
        held = [segment.vectors.scales for segment in self.segments.values()]
        self._scales: Floats = np.concatenate([np.empty(0, np.float32), *held])
        self._starts = dict(zip(self.segments, _starts([len(scales) for scales in held]).tolist(), strict=True))
        """Of each segment: its first passage."""

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        """How many passages each document has."""
        last = max(self.segments, default=-1)
        counts = np.zeros((last + 1, SEGMENT_BLOCKS * BLOCK_DOCUMENTS), np.int64)
        for number, segment in self.segments.items():
            counts[number] = segment.counts
        return counts.reshape(-1)

    @cached_property
    def _firsts(self) -> NDArray[np.int64]:
        """The first passage of each document."""
        return _starts(self._counts)

    @cached_property
    def _owners(self) -> Docs:
        """The document of each passage."""
        return np.repeat(np.arange(len(self._counts), dtype=np.int64), self._counts)

    @cached_property
    def _runs(self) -> NDArray[np.int64]:
        """Where passages can be parted without parting those of a document: the first one of each full block."""
        starts = self._firsts[::BLOCK_DOCUMENTS]
        return starts[np.diff(starts, append=len(self._scales)) > 0]

    def nearest(self, asked: Question, allowed: Allowed | None, count: int) -> tuple[Docs, Floats]:
        nothing = np.empty(0, np.int64), np.empty(0, np.float32)
        if count < 1 or not len(self._scales):
            return nothing
        again = max(count * MEASURED_AGAIN, count + AT_LEAST_MEASURED_AGAIN)
        if allowed is None:
            docs = self._promising(self._scan(asked.layers[0]), again)
        else:
            docs = np.flatnonzero(allowed[: len(self._counts)] & (self._counts[: len(allowed)] > 0))
            if len(docs) > max(again, len(self._scales) * SMALL_SHARE):
                products = self._scan(asked.layers[0])
                products[~_reaching(allowed, len(self._counts))[self._owners]] = -np.inf
                docs = self._promising(products, again)
        exact = self.similarities(asked, docs)
        if not len(docs):
            return nothing
        top = exact >= _nth_largest(exact, min(count, len(exact)))
        return docs[top], exact[top]

    def _promising(self, products: Floats, number: int) -> Docs:
        """At least so many documents, if there are, and all that are better than any that is left out.

        The largest product of each run belongs to another document. So the `number`th largest of these is reached by at
        least so many documents, and it takes no sorting of all products to find it.
        """
        for starts in (self._runs, self._firsts[self._counts > 0]):
            largest = np.maximum.reduceat(products, starts)
            # Only what is allowed: to part nearly equal values takes ten times as long.
            largest = largest[largest >= LEAST]
            if number <= len(largest):
                return np.unique(self._owners[products >= _nth_largest(largest, number)])
        return np.unique(self._owners[products >= LEAST])

    def _scan(self, layer: Int8) -> Floats:
        """How like the question every passage is, up to a factor."""
        found = np.empty(len(self._scales), np.float32)
        for number, segment in self.segments.items():
            start = self._starts[number]
            found[start : start + len(segment.vectors)] = _products(segment.vectors.values, layer)
        found *= self._scales
        return found

    def similarities(self, asked: Question, docs: Docs) -> Floats:
        found = np.full(len(docs), np.nan, np.float32)
        known = np.flatnonzero((docs >= 0) & (docs < len(self._counts)))
        known = known[self._counts[docs[known]] > 0]
        if len(known):
            rows = self._rows(docs[known])
            first, second = (_products(rows.values, layer) for layer in asked.layers)
            measured = (first * asked.scales[0] + second * asked.scales[1]) * rows.scales
            found[known] = np.maximum.reduceat(measured, _starts(self._counts[docs[known]]))
        return found

    def passages_of(self, doc: int) -> Floats:
        known = 0 <= doc < len(self._counts) and self._counts[doc] > 0
        return self._rows(np.array([doc], np.int64)).floats() if known else no_vectors(0).floats()

    def _rows(self, docs: Docs) -> Quantised:
        """The passages of these documents, which have some, one after the other."""
        counts = self._counts[docs]
        rows = np.arange(counts.sum(), dtype=np.int64) + np.repeat(self._firsts[docs] - _starts(counts), counts)
        owners = np.repeat(docs // (SEGMENT_BLOCKS * BLOCK_DOCUMENTS), counts)
        dimensions = next(iter(self.segments.values())).vectors.values.shape[1]
        values = np.empty((len(rows), dimensions), np.int8)
        order = np.argsort(owners, kind="stable")
        for mine in np.split(order, np.flatnonzero(np.diff(owners[order])) + 1):
            number = int(owners[mine[0]])
            values[mine] = self.segments[number].vectors.values[rows[mine] - self._starts[number]]
        return Quantised(values, self._scales[rows])


def _starts(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each part begins when parts of these lengths stand one after the other."""
    sizes = np.asarray(lengths, np.int64)
    return np.cumsum(sizes) - sizes


def _products(values: Int8, layer: Int8) -> NDArray[np.float64]:
    return cast("NDArray[np.float64]", np.asarray(simsimd.dot(values, np.ascontiguousarray(layer))))


def _nth_largest(values: Floats, number: int) -> float:
    return float(np.partition(values, len(values) - number)[len(values) - number])


def _reaching(allowed: Allowed, documents: int) -> Allowed:
    """The mask for so many documents. Those it did not reach are not allowed."""
    if len(allowed) >= documents:
        return allowed[:documents]
    return np.concatenate([allowed, np.zeros(documents - len(allowed), np.bool_)])
