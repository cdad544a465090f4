"""Keyed fingerprints of something that was forgotten, by which it can be looked for without knowing it any more.

A probe is a window of bytes, as a 64-bit keyed hash that rolls over any data, and a 20-bit keyed hash of its first
eight bytes that rules most places out at once. Windows lie where JSON escapes nothing, so that one is found in a text,
in JSON that holds the text, and in the raw bytes of a file alike. Without the house's secret they say nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.lineage import Hasher

WINDOW = 16
"""Bytes. Shorter texts cannot be told from others by their bytes."""
STEP = 8
"""Bytes from one window to the next."""
AT_LEAST = 32
APART = 2_048
"""Windows of one text: all, but of a long one at most so many, or one in so many bytes, spread over it. A page of a
database file has some of them."""
MOST = 20_000
"""Of one act of forgetting."""
GRAM = 8
"""Bytes. Fewer are in every text of the same words, and would rule out little."""
BUCKET_BITS = 20

PROBE = np.dtype([("hash", "<u8"), ("bucket", "<u4")])
_ESCAPED = np.zeros(256, np.bool_)
_ESCAPED[:32] = True
_ESCAPED[[ord('"'), ord("\\"), ord("/"), 127]] = True

Bytes = NDArray[np.uint8]
Hashes = NDArray[np.uint64]


class Fingerprint:
    """The keyed hashes of one house."""

    def __init__(self, hasher: Hasher) -> None:
        table = np.frombuffer(hasher.bytes_for("probe", 256 * 8), "<u8")
        self._tables = [_rotated(table, place) for place in range(WINDOW)]
        self._factor = np.uint64(int.from_bytes(hasher.bytes_for("gram", GRAM), "little") | 1)

    def hashes(self, data: Bytes, starts: NDArray[np.int64]) -> Hashes:
        """Of the windows that begin at these places."""
        made = np.zeros(len(starts), np.uint64)
        for place, table in enumerate(self._tables):
            made ^= table[data[starts + place]]
        return made

    def buckets(self, data: Bytes) -> NDArray[np.uint64]:
        """Of the first bytes at every place."""
        grams = np.ndarray(shape=(len(data) - GRAM + 1,), dtype="<u8", buffer=data.data, strides=(1,))
        return (grams * self._factor) >> np.uint64(64 - BUCKET_BITS)


@dataclass(frozen=True, slots=True)
class Probes:
    """What is looked for."""

    rows: NDArray[np.void]

    def __len__(self) -> int:
        return len(self.rows)

    def packed(self) -> bytes:
        return self.rows.tobytes()

    @classmethod
    def read(cls, packed: bytes) -> "Probes":
        return cls(np.frombuffer(packed, PROBE))

    @classmethod
    def together(cls, several: Iterable["Probes"]) -> "Probes":
        return cls(np.unique(np.concatenate([np.empty(0, PROBE), *(one.rows for one in several)])))

    def without(self, hashes: Iterable[int]) -> "Probes":
        known = np.array(sorted(hashes), np.uint64)
        return Probes(self.rows[~np.isin(self.rows["hash"], known)])

    def hashes(self) -> set[int]:
        return set(self.rows["hash"].tolist())


class Search:
    """Looks for probes in data."""

    def __init__(self, fingerprint: Fingerprint, probes: Probes) -> None:
        self._fingerprint = fingerprint
        self._hashes = np.unique(probes.rows["hash"])
        self._wanted = np.zeros(1 << BUCKET_BITS, np.bool_)
        self._wanted[probes.rows["bucket"]] = True

    def find(self, data: bytes | bytearray | memoryview) -> tuple[NDArray[np.int64], Hashes]:
        """Where windows begin that are looked for, and which they are."""
        if len(data) < WINDOW or not len(self._hashes):
            return np.empty(0, np.int64), np.empty(0, np.uint64)
        array = np.frombuffer(data, np.uint8)
        likely = np.flatnonzero(self._wanted[self._fingerprint.buckets(array)[: len(array) - WINDOW + 1]])
        hashes = self._fingerprint.hashes(array, likely)
        places = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        found = self._hashes[places] == hashes
        return likely[found], hashes[found]


def probes_of(fingerprint: Fingerprint, contents: Iterable[bytes]) -> Probes:
    """Windows of everything that is to be forgotten, each once."""
    made = [_probes_of_one(fingerprint, content) for content in contents if len(content) >= WINDOW]
    rows = np.unique(np.concatenate(made)) if made else np.empty(0, PROBE)
    if len(rows) > MOST:
        rows = rows[np.linspace(0, len(rows) - 1, MOST).astype(np.int64)]
    return Probes(rows)


def _probes_of_one(fingerprint: Fingerprint, content: bytes) -> NDArray[np.void]:
    data = np.frombuffer(content, np.uint8)
    starts = _starts(data)
    most = max(AT_LEAST, len(data) // APART)
    if len(starts) > most:
        starts = starts[np.linspace(0, len(starts) - 1, most).astype(np.int64)]
    rows = np.empty(len(starts), PROBE)
    rows["hash"] = fingerprint.hashes(data, starts)
    rows["bucket"] = fingerprint.buckets(data)[starts] if len(starts) else 0
    return rows


def _starts(data: Bytes) -> NDArray[np.int64]:
    """Where windows may begin: inside runs of bytes that JSON leaves as they are, the ends of the runs included."""
    places = np.arange(len(data) + 1)
    is_end = np.append(_ESCAPED[data], True)
    begins = np.append(0, np.maximum.accumulate(np.where(is_end, places + 1, 0))[:-1])
    first = len(data) - WINDOW + 1
    is_inside = begins[WINDOW:] <= places[:first]
    is_step = (places[:first] - begins[:first]) % STEP == 0
    starts = np.flatnonzero(is_inside & (is_step | is_end[WINDOW:]))
    return starts[_are_telling(data, starts)]


def _are_telling(data: Bytes, starts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Lines of dashes and blanks are everywhere."""
    windows = np.sort(np.lib.stride_tricks.sliding_window_view(data, WINDOW)[starts], axis=1)
    return np.count_nonzero(np.diff(windows, axis=1), axis=1) + 1 >= WINDOW // 4


def _rotated(table: Hashes, by: int) -> Hashes:
    shift = np.uint64(4 * by % 64)
    return table if not by else (table << shift) | (table >> (np.uint64(64) - shift))
