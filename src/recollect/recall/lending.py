"""Neighbouring turns lend weight where a turn says little by itself: "Yes, in May!" is about what was asked."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

REACH = 2
"""Neighbours on each side."""
DISTANCES = tuple(distance for step in range(1, REACH + 1) for distance in (-step, step))

Floats = NDArray[np.float64]
Docs = NDArray[np.int64]


def need(words: NDArray[np.uint32], telling_words: float) -> Floats:
    """From 1 for a turn without words to 0 for an endless one."""
    return telling_words / (telling_words + words.astype(np.float64))


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Documents, ascending, and where among them their neighbours are; -1 where there is none."""

    docs: Docs
    slots: tuple[NDArray[np.int64], ...]
    """One array for each of DISTANCES."""

    def borrowed(self, values: Floats) -> Floats:
        """What the neighbours of each document have, those farther away counting less."""
        padded = np.append(values, 0.0)  # -1 finds the zero at the end.
        total = np.zeros(len(values))
        for distance, slots in zip(DISTANCES, self.slots, strict=True):
            total += padded[slots] / abs(distance)
        return total


def neighbourhood(chosen: Docs, neighbours: Callable[[Docs, int], Docs]) -> Neighbourhood:
    """The chosen documents and the neighbours they may borrow from."""
    around = [neighbours(chosen, distance) for distance in DISTANCES]
    docs = np.unique(np.concatenate([chosen, *around]))
    docs = docs[docs >= 0]
    slots: list[NDArray[np.int64]] = []
    for distance in DISTANCES:
        others = neighbours(docs, distance)
        places = np.minimum(np.searchsorted(docs, others), max(len(docs) - 1, 0))
        slots.append(np.where((others >= 0) & (docs[places] == others), places, -1) if len(docs) else places)
    return Neighbourhood(docs, tuple(slots))
