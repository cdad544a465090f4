"""How the rows of the index are packed: postings, facts, vectors. Pure; little-endian on every machine.

Raise SCHEMA_VERSION with any change here.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.clock import from_text
from recollect.feed import MESSAGE, NOTE, RECORD

POSTING_DOCUMENTS = 8_192
"""Documents in one row of postings: a common word's row is 24 kB, which a commit may rewrite for each of its words."""
BLOCK_DOCUMENTS = 512
"""Documents in one block: with 384 dimensions its vectors are about 260 kB, rewritten with each commit."""
MOST_FREQUENCY = 255

POSTING = np.dtype([("doc", "<u2"), ("frequency", "u1")])
FACTS = np.dtype(
    [
        ("identity", "<u8"),
        ("conversation", "<i4"),
        ("place", "<i8"),
        ("at", "<i8"),
        ("known", "<i8"),
        ("author", "u1"),
        ("source", "u1"),
        ("scope", "<u2"),
        ("kind", "u1"),
        ("until", "<i8"),
        ("expires", "<i8"),
        ("evergreen", "u1"),
        ("terms", "<u4"),
        ("asking", "u1"),
        ("state", "u1"),
    ]
)
ALIVE = 1
DEAD = 2
"""Not in the index any more, but its postings are still there. 0: never used, or purged."""
NO_TIME = int(np.iinfo(np.int64).min)
FOREVER = int(np.iinfo(np.int64).max)

AUTHORS = ("user", "assistant", "subagent", "tool", "machine", "record", "note")
"""An author is its place here. A record has none: it is what was made of what somebody said. A note has several."""
KINDS = (MESSAGE, RECORD, NOTE)
"""A kind is its place here."""

Int8 = NDArray[np.int8]
Floats = NDArray[np.float32]
Facts = NDArray[np.void]
Counts = NDArray[np.uint16]


def digest(*parts: str) -> int:
    """64 bits of what these parts say together, signed, as a column holds them."""
    made = hashlib.blake2b(digest_size=8)
    for part in parts:
        raw = part.encode()
        made.update(len(raw).to_bytes(8, "little"))
        made.update(raw)
    return int.from_bytes(made.digest(), "little", signed=True)


def milliseconds(at: str, none: int = NO_TIME) -> int:
    """A stored time as milliseconds since 1970, UTC; for an empty one what `none` says."""
    if not at:
        return none
    moment = from_text(at)
    return round(moment.timestamp() * 1000)


# Postings


def place_in_block(doc: int) -> bytes:
    """The first two bytes of a document's postings."""
    return (doc % POSTING_DOCUMENTS).to_bytes(2, "little")


FREQUENCIES = [bytes([frequency]) for frequency in range(MOST_FREQUENCY + 1)]
"""The third byte, by frequency."""


def read_postings(rows: Sequence[tuple[int, bytes]]) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Documents and frequencies of a term from its (block, data) rows."""
    if not rows:
        return np.empty(0, np.int32), np.empty(0, np.uint8)
    packed = np.frombuffer(b"".join([data for _, data in rows]), dtype=POSTING)
    bases = np.array([block * POSTING_DOCUMENTS for block, _ in rows], dtype=np.int32)
    lengths = np.array([len(data) // POSTING.itemsize for _, data in rows])
    docs = packed["doc"].astype(np.int32)
    docs += np.repeat(bases, lengths)
    return docs, packed["frequency"].copy()


def without(data: bytes, gone: NDArray[np.uint16]) -> bytes:
    """A row of postings without these documents (their numbers inside the block)."""
    packed = np.frombuffer(data, dtype=POSTING)
    return packed[~np.isin(packed["doc"], gone)].tobytes()


# Facts


def empty_facts() -> Facts:
    return np.zeros(BLOCK_DOCUMENTS, dtype=FACTS)


def read_facts(data: bytes) -> Facts:
    return np.frombuffer(data, dtype=FACTS).copy()


# Vectors


@dataclass(frozen=True, slots=True)
class Quantised:
    """Passages' vectors as stored: row ≈ values * scale. Both engines hold exactly these numbers."""

    values: Int8
    scales: Floats

    def floats(self) -> Floats:
        return self.values.astype(np.float32) * self.scales[:, None]

    def __getitem__(self, chosen: Any) -> "Quantised":
        return Quantised(self.values[chosen], self.scales[chosen])

    def __len__(self) -> int:
        return len(self.scales)


def quantise(vectors: Floats) -> Quantised:
    """Each row by itself: 127 steps up to its largest value."""
    scales = (np.abs(vectors).max(axis=1, initial=0) / np.float32(127)).astype(np.float32)
    divisors = np.where(scales > 0, scales, np.float32(1))
    values = np.rint(vectors / divisors[:, None]).clip(-127, 127).astype(np.int8)
    return Quantised(values, scales)


@dataclass(frozen=True, slots=True)
class Question:
    """A vector to compare with, as two int8 vectors: the second holds what the first rounds away.

    Products of int8 vectors are exact whole numbers, so a passage has one similarity wherever it lies and whichever
    others are measured with it; equal texts tie exactly.
    """

    layers: Int8
    scales: NDArray[np.float64]

    def floats(self) -> Floats:
        return (self.layers.astype(np.float64) * self.scales[:, None]).sum(axis=0).astype(np.float32)


def question(vector: Floats) -> Question:
    first = quantise(vector[None, :].astype(np.float32))
    rest = quantise(vector[None, :].astype(np.float32) - first.floats())
    scales = np.array([first.scales[0], rest.scales[0]], np.float64)
    return Question(np.concatenate([first.values, rest.values]), scales)


def no_vectors(dimensions: int) -> Quantised:
    return Quantised(np.empty((0, dimensions), np.int8), np.empty(0, np.float32))


def joined(parts: Sequence[Quantised]) -> Quantised:
    return Quantised(np.concatenate([part.values for part in parts]), np.concatenate([part.scales for part in parts]))


def pack_vectors(vectors: Quantised) -> bytes:
    return vectors.scales.astype("<f4").tobytes() + vectors.values.tobytes()


def read_vectors(data: bytes, passages: int) -> Quantised:
    """Without a copy: the arrays look into `data`."""
    if not passages:
        return no_vectors(0)
    scales = np.frombuffer(data, dtype="<f4", count=passages)
    values = np.frombuffer(data, dtype=np.int8, offset=4 * passages)
    return Quantised(values.reshape(passages, -1), scales)


def empty_counts() -> Counts:
    return np.zeros(BLOCK_DOCUMENTS, dtype="<u2")


def read_counts(data: bytes) -> Counts:
    return np.frombuffer(data, dtype="<u2").copy()
