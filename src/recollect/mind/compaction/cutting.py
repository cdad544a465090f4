"""Where a conversation is cut: its older exchanges are condensed, the recent ones stay word for word.

Pure. An exchange is what somebody said up to the end of the answer, tool calls included; it is never cut in two.
"""

from collections.abc import Sequence

KEPT_SHARE = 10
"""Recent exchanges stay as long as they are no more than one part in so many of the threshold."""
LEAST_KEPT = 2
"""Exchanges that stay even if they are longer than that: an answer and what it answers to."""
MOST_KEPT_SHARE = 2
"""Save where these alone fill more than one part in so many: then only the last stays."""
LEAST_GAIN_SHARE = 5
"""Less than one part in so many is not condensed: the summary and a cold cache would cost more than is saved."""
WINDOW_SHARE = 0.75
"""Of what a model can take in. The rest is for the answer, for tools and for an estimate that was too low."""


def cut(sizes: Sequence[int], threshold_tokens: int) -> int:
    """How many of the oldest exchanges are condensed. `sizes`: the tokens of each exchange after the last compaction,
    the oldest first. The last one always stays; 0 where too little would be gained."""
    kept = _kept(sizes, threshold_tokens)
    oldest = len(sizes) - kept
    return oldest if sum(sizes[:oldest]) * LEAST_GAIN_SHARE >= threshold_tokens else 0


def threshold_for(wanted_tokens: int, most_input_tokens: int) -> int:
    """The length from which a conversation is condensed: as set, but never more than its model can take in."""
    return max(1, min(wanted_tokens, int(most_input_tokens * WINDOW_SHARE)))


def _kept(sizes: Sequence[int], threshold_tokens: int) -> int:
    """How many of the newest stay."""
    kept, total = 0, 0
    for size in reversed(sizes):
        total += size
        may_stay = total * (KEPT_SHARE if kept >= LEAST_KEPT else MOST_KEPT_SHARE) <= threshold_tokens
        if kept and not may_stay:
            break
        kept += 1
    return kept
