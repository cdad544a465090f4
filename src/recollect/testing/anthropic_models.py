"""The models that an `AnthropicServer` knows, with what each accepts (as of November 2026)."""

from dataclasses import dataclass
from typing import Any

NEVER = "1970-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    id: str
    is_old: bool = False
    """Before system messages in a conversation and before adaptive thinking only."""
    has_compaction: bool = True
    always_thinks: bool = False
    most_input_tokens: int = 1_000_000
    most_output_tokens: int = 128_000
    least_cached_tokens: int = 1_024
    """A shorter beginning is not kept. Where sources differ, it is the larger number."""

    def as_json(self) -> dict[str, Any]:
        return {
            "type": "model",
            "id": self.id,
            "display_name": self.id.replace("-", " ").title(),
            "created_at": NEVER,
            "deprecated_at": None,
            "retires_at": None,
            "lifecycle": "active",
            "line": self.id.split("-")[1],
            "max_input_tokens": self.most_input_tokens,
            "max_tokens": self.most_output_tokens,
            "capabilities": self._capabilities(),
        }

    def _capabilities(self) -> dict[str, Any]:
        thinking = {
            "adaptive": not self.is_old,
            "between_tools": not self.is_old,
            "disabled": not self.always_thinks,
            "enabled": self.is_old,
        }
        edits = ("clear_thinking_20251015", "clear_tool_uses_20250919", "compact_20260112")
        return {
            **{name: _supported(True) for name in ("batch", "citations", "code_execution", "image_input", "pdf_input")},
            "structured_outputs": _supported(True),
            "compaction": {**_supported(self.has_compaction), "summarize": _supported(self.has_compaction)},
            "context_management": {**_supported(True), **{edit: _supported(True) for edit in edits}},
            "effort": {
                **_supported(True),
                **{level: _supported(True) for level in ("low", "medium", "high", "xhigh", "max")},
            },
            "server_tools": {**_supported(True), "code_execution": _supported(True), "web_search": _supported(True)},
            "thinking": {**_supported(True), "types": {name: _supported(is_so) for name, is_so in thinking.items()}},
        }


def _supported(is_so: bool) -> dict[str, Any]:
    return {"supported": is_so}


MODELS = {
    card.id: card
    for card in (
        ModelCard(id="claude-fable-5-2", always_thinks=True, least_cached_tokens=512),
        ModelCard(id="claude-fable-5-1", always_thinks=True, least_cached_tokens=512),
        ModelCard(id="claude-opus-5-5", always_thinks=True),
        ModelCard(id="claude-sonnet-5-5"),
        ModelCard(id="claude-haiku-5-5"),
        ModelCard(id="claude-opus-5", least_cached_tokens=512),
        ModelCard(id="claude-sonnet-5"),
        ModelCard(id="claude-opus-4-8", is_old=True),
        ModelCard(id="claude-opus-4-7", is_old=True, least_cached_tokens=4_096),
        ModelCard(id="claude-opus-4-6", is_old=True, least_cached_tokens=4_096),
        ModelCard(id="claude-sonnet-4-6", is_old=True, least_cached_tokens=2_048),
        ModelCard(
            id="claude-haiku-4-5",
            is_old=True,
            has_compaction=False,
            most_input_tokens=200_000,
            least_cached_tokens=4_096,
        ),
    )
}
