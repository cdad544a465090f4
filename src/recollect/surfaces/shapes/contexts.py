"""What an agent is shown, by its sections."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.context import Context

REHYDRATION = "rehydration"


def context_json(made: "Context", purpose: str) -> dict[str, object]:
    sections = [
        {"name": one.name, "tokens": one.tokens, "text": one.text, "documents": one.documents} for one in made.sections
    ]
    return {
        "sections": sections,
        "tokens": made.tokens,
        "fingerprint": made.fingerprint,
        "left_out": made.left_out,
        "budget": made.budget_tokens,
        **({} if purpose == REHYDRATION else {"reason": made.reason}),
    }
