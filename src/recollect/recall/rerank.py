"""A second look at the best hits: a model reads the question and each text together.

Slow (some milliseconds a text), so only the first hits are read, and of each only the part that matters, with the turn
before it where the hit says little by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recollect.recall.snippets import excerpt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.embedding import Reranker

READ = 30
"""Hits that are read."""
CHARACTERS = 400
"""Of each: about a hundred tokens, so that all of them take some tenths of a second on two cores."""


@dataclass(frozen=True, slots=True)
class Candidate:
    text: str
    before: str
    """What was said before it in the conversation."""


def shown_text(candidate: Candidate, weights: "Mapping[str, float]") -> str:
    """What the model reads: the telling part of a long text; a short one with the end of what was said before."""
    text = " ".join(candidate.text.split())
    if len(text) >= CHARACTERS:
        return excerpt(text, weights, CHARACTERS)
    room = CHARACTERS - len(text)
    before = " ".join(candidate.before.split())
    if len(before) > room:
        before = before[-room:].partition(" ")[2]
    return f"{before} {text}".strip()


def judged(
    question: str, candidates: Sequence[Candidate], weights: "Mapping[str, float]", reranker: "Reranker"
) -> NDArray[np.float64]:
    """How well each answers, as the model's log-odds."""
    texts = [shown_text(candidate, weights) for candidate in candidates]
    return reranker.scores(question, texts).astype(np.float64)
