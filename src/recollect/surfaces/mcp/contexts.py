"""context, and the prompt that gives the same: what a session can know from its beginning on, for who asks."""

from typing import TYPE_CHECKING

from recollect.surfaces.mcp.answers import Answer
from recollect.surfaces.mcp.arguments import Arguments
from recollect.surfaces.mcp.specs import MOST_CONTEXT_TOKENS, MOST_RECENT, USUAL_CONTEXT_TOKENS

if TYPE_CHECKING:
    from recollect.memory import Memory

MOST_TOPIC_CHARACTERS = 2_000
NOTHING = "Nothing is known yet."
MORE = ": a larger budget_tokens shows them"


def context(memory: "Memory", given: Arguments) -> Answer:
    made = memory.context.rehydration(
        budget_tokens=given.number("budget_tokens", 1, MOST_CONTEXT_TOKENS, USUAL_CONTEXT_TOKENS),
        topic=given.text("topic", "", MOST_TOPIC_CHARACTERS),
        recent=given.number("recent", 0, MOST_RECENT, 0),
    )
    text = made.text or (NOTHING if not made.left_out else "")
    more = f"[{made.left_out:,} more are known{MORE if given.has('budget_tokens') else ''}.]" if made.left_out else ""
    return Answer(
        text="\n".join(part for part in (text.rstrip("\n"), more) if part),
        structured={
            "text": made.text,
            "tokens": made.tokens,
            "left_out": made.left_out,
            "records": list(made.records),
            "fingerprint": made.fingerprint,
        },
    )
