"""How all passages of a model are spread: their number, mean and covariance, kept up to date without a scan.

What a similarity of 0.8 is worth depends on how alike everything is. For a question q, the similarities to all passages
have mean q·μ and variance qᵀCq. The sums are whole numbers, so that they do not depend on the order in which passages
came and went: an index that was rebuilt has exactly the spread of one that followed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.recall.index.formats import Floats

STEPS = 1 << 15
"""A coordinate is at most 1, counted in these: 2^33 passages fit into the sums, 2^23 exactly into a float's 53 bits."""
SLICE = 4_096


@dataclass(frozen=True, slots=True)
class Spread:
    born: int
    """The version in which the model came to the generation. Another one: everything of it is to be read anew."""
    documents: int
    passages: int
    sums: NDArray[np.int64]
    products: NDArray[np.int64]

    @classmethod
    def empty(cls, dimensions: int, born: int) -> "Spread":
        return cls(born, 0, 0, np.zeros(dimensions, np.int64), np.zeros((dimensions, dimensions), np.int64))

    @classmethod
    def read(cls, data: bytes) -> "Spread":
        numbers = np.frombuffer(data, dtype="<i8")
        born, documents, passages, dimensions = (int(number) for number in numbers[:4])
        sums, products = numbers[4 : 4 + dimensions], numbers[4 + dimensions :]
        return cls(born, documents, passages, sums, products.reshape(dimensions, dimensions))

    def pack(self) -> bytes:
        head = np.array([self.born, self.documents, self.passages, len(self.sums)], dtype="<i8")
        return head.tobytes() + self.sums.astype("<i8").tobytes() + self.products.astype("<i8").tobytes()

    def plus(self, documents: int, vectors: Floats, sign: int = 1) -> "Spread":
        """With these passages of so many documents; `sign` -1: without them."""
        sums, products = self.sums.copy(), self.products.copy()
        for start in range(0, len(vectors), SLICE):
            # Products of whole numbers below 2^15, thousands of them: exact in float64, where matrices are quick.
            steps = np.rint(vectors[start : start + SLICE].astype(np.float64) * STEPS)
            sums += sign * steps.sum(axis=0).astype(np.int64)
            products += sign * (steps.T @ steps).astype(np.int64)
        return Spread(self.born, self.documents + sign * documents, self.passages + sign * len(vectors), sums, products)

    def mean(self) -> NDArray[np.float64]:
        return self.sums / (max(self.passages, 1) * STEPS)

    def covariance(self) -> NDArray[np.float64]:
        mean = self.mean()
        return self.products / (max(self.passages, 1) * STEPS * STEPS) - np.outer(mean, mean)
