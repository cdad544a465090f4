"""Maximal marginal relevance against near-duplicates: the same thing said twice is shown once, the other sinks.

Different statements about the same subject are no duplicates, and all of them are wanted: only likeness above a
threshold counts against a hit.
"""

from collections.abc import Sequence

ALIKE = 0.7
"""Share of common words from which two texts begin to say the same."""


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Share of the words of both that are common to both."""
    if min(len(one), len(other)) <= ALIKE * max(len(one), len(other)):
        return 0.0  # It cannot reach the threshold, whatever the words are.
    common = len(one & other)
    return common / (len(one) + len(other) - common)


def diversified(
    scores: Sequence[float], words: Sequence[frozenset[str]], penalty: float, count: int
) -> list[tuple[int, float]]:
    """(place, score) of the first `count` in the new order: each next one is the best after what the chosen ones take
    off for likeness."""
    taken: list[tuple[int, float]] = []
    off = [0.0] * len(scores)
    left = list(range(len(scores)))
    while left and len(taken) < count:
        best = max(left, key=lambda place: (scores[place] - off[place], -place))
        left.remove(best)
        taken.append((best, scores[best] - off[best]))
        for place in left:
            like = likeness(words[best], words[place])
            if like > ALIKE:
                off[place] = max(off[place], penalty * (like - ALIKE) / (1.0 - ALIKE))
    return taken
