"""What the tests of the Anthropic server say to it."""

from typing import Any

import anthropic
import pytest
from anthropic import Anthropic

MODEL = "claude-haiku-5-5"
HI: list[Any] = [{"role": "user", "content": "hi"}]
COMMON: dict[str, Any] = {"model": MODEL, "max_tokens": 1_000}
ADAPTIVE: dict[str, Any] = {"thinking": {"type": "adaptive"}}
WEATHER: dict[str, Any] = {
    "name": "weather",
    "description": "The weather of a city.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
OBJECT: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False, "required": []}
ON_DEMAND = "compact-2026-09-04"
THRESHOLD = "compact-2026-01-12"


def after(*turns: Any) -> list[Any]:
    """Turns one after the other, the person's first."""
    return [{"role": ("user", "assistant")[number % 2], "content": turn} for number, turn in enumerate(turns)]


def refusal(client: Anthropic, *betas: str, **changes: Any) -> anthropic.APIStatusError:
    with pytest.raises(anthropic.APIStatusError) as caught:
        client.with_options(max_retries=0).beta.messages.create(
            **{**COMMON, "messages": HI, **changes}, betas=list(betas)
        )
    return caught.value
