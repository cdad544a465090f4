"""Words: BM25 in which neighbours lend words, not scores.

A turn that has one word of the question next to a turn that has another is worth more than two that have the same one.
So frequencies are joined, weighted by distance, before they saturate.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.recall.lending import Neighbourhood
from recollect.recall.recipes import Recipe

Floats = NDArray[np.float64]
Postings = tuple[NDArray[np.int32], NDArray[np.uint8]]


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the question, and who has it."""

    spellings: tuple[str, ...]
    """Itself; where nobody used it, words that begin with it."""
    weight: float
    """How much it tells: rare words tell more."""
    docs: NDArray[np.int32]
    frequencies: NDArray[np.uint8]


def weight(documents: int, having: int) -> float:
    return float(np.log1p((documents - having + 0.5) / (having + 0.5)))


def merged(postings: Sequence[Postings]) -> Postings:
    """Several spellings as one word."""
    docs = np.concatenate([docs for docs, _ in postings])
    together, places = np.unique(docs, return_inverse=True)
    sums = np.bincount(places, np.concatenate([frequencies for _, frequencies in postings]))
    return together, np.minimum(sums, 255).astype(np.uint8)


def length_norms(lengths: NDArray[np.uint32], mean: float, recipe: Recipe) -> Floats:
    return 1.0 - recipe.keyword_length + recipe.keyword_length * lengths.astype(np.float64) / max(mean, 1.0)


def own_scores(terms: Sequence[Term], norms: NDArray[np.float32], recipe: Recipe) -> NDArray[np.float32]:
    """BM25 of every document by its own words, from 0 to 1: 1 for all words of the question many times over."""
    scores = np.zeros(len(norms), np.float32)
    total = sum(term.weight for term in terms)
    for term in terms:
        frequencies = term.frequencies.astype(np.float32)
        scores[term.docs] += (
            (term.weight / total) * frequencies / (frequencies + recipe.keyword_saturation * norms[term.docs])
        )
    return scores


def lent_scores(
    terms: Sequence[Term], slots: NDArray[np.int32], around: Neighbourhood, norms: Floats, needs: Floats, recipe: Recipe
) -> Floats:
    """The same for some documents, with the words of their neighbours. `slots`: document → place in `around`, or -1."""
    scores = np.zeros(len(around.docs))
    total = sum(term.weight for term in terms)
    for term in terms:
        places = slots[term.docs]
        here = places >= 0
        own = np.zeros(len(around.docs))
        own[places[here]] = term.frequencies[here]
        own /= norms
        joined = own + recipe.lending * needs * around.borrowed(own)
        scores += (term.weight / total) * joined / (joined + recipe.keyword_saturation)
    return scores


def conversation_scores(
    terms: Sequence[Term], conversations: NDArray[np.int32], counted: NDArray[np.bool_], lengths: Floats, recipe: Recipe
) -> Floats:
    """BM25 of whole conversations by the words of the documents that count. `lengths`: of each conversation."""
    scores = np.zeros(len(lengths))
    there = lengths > 0
    mean = float(lengths[there].mean()) if there.any() else 1.0
    norms = 1.0 - recipe.keyword_length + recipe.keyword_length * lengths / mean
    shares: list[tuple[float, Floats]] = []
    for term in terms:
        here = counted[term.docs]
        docs, frequencies = term.docs[here], term.frequencies[here]
        said = np.bincount(conversations[docs], frequencies, minlength=len(lengths)).astype(np.float64)
        shares.append((weight(int(there.sum()), int(np.count_nonzero(said))), said))
    total = sum(share for share, _ in shares) or 1.0
    for share, said in shares:
        scores += (share / total) * said / (said + recipe.keyword_saturation * norms)
    return scores
