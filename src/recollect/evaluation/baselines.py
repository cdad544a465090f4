"""What search is compared with in the same run: plain BM25, and vectors alone. Both rank single turns."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.evaluation.datasets import Turn
from recollect.recall.passages import passages

if TYPE_CHECKING:
    from recollect.embedding import Embedder

K1 = 1.5
B = 0.75
_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Lower-cased runs of letters and digits: no stemming, no stop words."""
    return _WORD.findall(text.lower())


class PlainBm25:
    """Robertson's formula with k1 1.5 and b 0.75; an idf that is never negative: ln(1 + (N - n + 0.5) / (n + 0.5))."""

    name = "bm25"

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        counts = [Counter(words(turn.text)) for turn in turns]
        lengths = [count.total() for count in counts]
        mean_length = sum(lengths) / len(lengths) if any(lengths) else 1.0
        self._norms = [K1 * (1 - B + B * length / mean_length) for length in lengths]
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for number, count in enumerate(counts):
            for word, times in count.items():
                self._postings.setdefault(word, []).append((number, times))

    def rank(self, question: str) -> list[str]:
        """Turns that share a word with the question; of equal ones the earlier first."""
        scores = self.scores(question)
        ordered = sorted(scores, key=lambda number: (-scores[number], number))
        return [self._turns[number].id for number in ordered]

    def scores(self, question: str) -> dict[int, float]:
        """Place of a turn → its score. A word that the question has twice counts twice."""
        scores: dict[int, float] = {}
        for word in words(question):
            found = self._postings.get(word, [])
            idf = math.log(1 + (len(self._turns) - len(found) + 0.5) / (len(found) + 0.5))
            for number, times in found:
                share = times * (K1 + 1) / (times + self._norms[number])
                scores[number] = scores.get(number, 0.0) + idf * share
        return scores


class VectorsOnly:
    """Each turn by the passage of it that is nearest to the question."""

    name = "vectors"

    def __init__(self, turns: Sequence[Turn], embedder: "Embedder") -> None:
        self._embedder = embedder
        pieces = [(turn.id, piece) for turn in turns for piece in passages(turn.text)]
        self._owners = [owner for owner, _ in pieces]
        self._vectors = embedder.passages([piece for _, piece in pieces]) if pieces else None

    def rank(self, question: str) -> list[str]:
        if self._vectors is None:
            return []
        nearness = (self._vectors @ self._embedder.query(question)).tolist()
        ordered = sorted(range(len(self._owners)), key=lambda number: (-nearness[number], number))
        return list(dict.fromkeys(self._owners[number] for number in ordered))
