"""What one of Anthropic's models can do, by the card that the API has of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recollect.llm.anthropic_betas import LEAST_TRIGGER_TOKENS, THRESHOLD_EDIT
from recollect.llm.anthropic_reading import mapping
from recollect.llm.anthropic_request import CACHE_SECONDS
from recollect.llm.talking import Abilities, Condensing


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    thinks: bool = False
    """As much as it finds useful."""
    abilities: Abilities = field(default_factory=Abilities)


def read_card(told: Mapping[str, Any]) -> Card:
    able = mapping(told.get("capabilities"))
    thinking = mapping(mapping(able.get("thinking")).get("types"))
    most = told.get("max_input_tokens")
    condensing = _condensing(able)
    return Card(
        thinks=_is_supported(thinking, "adaptive"),
        abilities=Abilities(
            condensing=condensing,
            least_condensed_tokens=LEAST_TRIGGER_TOKENS if condensing is Condensing.THRESHOLD else 0,
            most_input_tokens=most if isinstance(most, int) and most > 0 else Abilities().most_input_tokens,
            cache_seconds=CACHE_SECONDS,
        ),
    )


def _condensing(able: Mapping[str, Any]) -> Condensing:
    compaction = mapping(able.get("compaction"))
    if _is_supported(able, "compaction") and _is_supported(compaction, "summarize"):
        return Condensing.ON_DEMAND
    if _is_supported(mapping(able.get("context_management")), THRESHOLD_EDIT):
        return Condensing.THRESHOLD
    return Condensing.NONE


def _is_supported(able: Mapping[str, Any], name: str) -> bool:
    return mapping(able.get(name)).get("supported") is True
