"""Meaning: how close the passages of a document are to the question, on a scale that means the same for every model.

Whether 0.8 is close depends on the model and on the question. So closeness is counted in standard deviations above
the mean of all passages. A long document has many passages, and the best of many is good by chance: the expected
advantage is taken off.
"""

import numpy as np
from numpy.typing import NDArray

from recollect.recall.lending import Neighbourhood
from recollect.recall.recipes import Recipe

Floats = NDArray[np.float64]

USUAL_MEETING = 0.9
"""What neighbours lend is divided by this much of their weight: they are about as close as the turn itself."""


WORDS_OF_PASSAGE = 135
"""What fits into a passage, usually."""


def usual_passages(words: NDArray[np.uint32]) -> Floats:
    """How many passages a text of so many words has, as a rule. A little more than one fits into one."""
    return np.maximum(words / WORDS_OF_PASSAGE - 0.25, 1.0)


def expected_best(passages: Floats) -> Floats:
    """The best of n draws from a normal distribution, in standard deviations: about the root of 2 ln n."""
    return np.sqrt(2.0 * np.log(passages))


def calibrated(
    similarities: NDArray[np.float32], passages: Floats, mean: float, deviation: float, recipe: Recipe
) -> Floats:
    """NaN stays NaN: the model does not know the document."""
    points = (similarities.astype(np.float64) - mean) / (deviation or 1.0)
    return points - recipe.chance * expected_best(passages)


FEEDBACK_PASSAGES = 5
"""The best hits that speak along with the question."""


def with_best(vector: NDArray[np.float32], best: NDArray[np.float32], recipe: Recipe) -> NDArray[np.float32]:
    """The question moved towards the passages that answer it best; of length one again."""
    moved = (1.0 - recipe.feedback_share) * vector + recipe.feedback_share * best.mean(axis=0)
    return (moved / (float(np.linalg.norm(moved)) or 1.0)).astype(np.float32)


def united(deep: Floats | None, static: Floats, recipe: Recipe) -> Floats:
    """One closeness from both models; where one does not know a document, the other speaks alone."""
    if deep is None:
        return np.nan_to_num(static)
    both = recipe.deep_share * deep + (1.0 - recipe.deep_share) * static
    return np.nan_to_num(np.where(np.isnan(deep), static, np.where(np.isnan(static), deep, both)))


def with_neighbours(points: Floats, around: Neighbourhood, needs: Floats, recipe: Recipe) -> Floats:
    lent = recipe.lending * needs
    return (points + lent * around.borrowed(points)) / (1.0 + USUAL_MEETING * lent)
