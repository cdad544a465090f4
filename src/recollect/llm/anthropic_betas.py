"""The names of what Anthropic's API has only for who asks for it by name. No other module knows them."""

from collections.abc import Sequence

from recollect.llm.talking import Block, Condensing, Turn

ON_DEMAND = "compact-2026-09-04"
THRESHOLD = "compact-2026-01-12"
THRESHOLD_EDIT = "compact_20260112"
LEAST_TRIGGER_TOKENS = 50_000
"""Of the edit: the API takes no lower one."""


def betas_for(turns: Sequence[Turn], condensing: Condensing = Condensing.NONE) -> list[str]:
    """Those that a request needs, and no more: for the summaries in it, and for what it asks."""
    needed = {_beta_of(block) for turn in turns for block in turn.content if block.get("type") == "compaction"}
    match condensing:
        case Condensing.ON_DEMAND:
            needed.add(ON_DEMAND)
        case Condensing.THRESHOLD:
            needed.add(THRESHOLD)
        case Condensing.NONE:
            pass
    return sorted(needed)


def _beta_of(block: Block) -> str:
    return ON_DEMAND if block.get("signature") else THRESHOLD
