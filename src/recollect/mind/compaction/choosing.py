"""Who condenses: the provider where it can, and we where it cannot."""

from collections.abc import Collection

from recollect.llm.talking import Abilities, Condensing, TalkModel
from recollect.mind.compaction.compaction import Compaction
from recollect.mind.compaction.own import OwnCompaction
from recollect.mind.compaction.server import ServerCompaction

SURELY_LONG = 1.5
"""A provider with a threshold counts by itself, and condenses nothing below it. Our estimate is up to so many times
what it counts; a request that stays below is paid for in vain."""


def choose(model: TalkModel, abilities: Abilities, tokens: int, *, failed: Collection[str] = ()) -> Compaction:
    """`tokens`: the estimate of the part that is condensed, with all that is sent along. `failed`: kinds that did not
    succeed lately; ours is what remains."""
    kind = abilities.condensing
    least = abilities.least_condensed_tokens * (SURELY_LONG if kind is Condensing.THRESHOLD else 1)
    if kind is Condensing.NONE or kind in failed or tokens < least:
        return OwnCompaction(model)
    return ServerCompaction(model, kind)
