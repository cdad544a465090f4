"""An `AnthropicServer` that remembers what it refused: a conversation engine never sends anything that it has to."""

from typing import Any

from recollect.testing.anthropic_server import AnthropicServer
from recollect.testing.loopback import Request, Response

FIRST_REFUSAL = 400
FIRST_FAULT = 500


class StrictServer(AnthropicServer):
    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.refused: list[str] = []
        """What it said to requests that broke a rule of the API."""

    def answer(self, request: Request) -> Response:
        response = super().answer(request)
        if FIRST_REFUSAL <= response.status < FIRST_FAULT:
            self.refused.append(bytes(response.body).decode() if isinstance(response.body, bytes) else "")
        return response

    @property
    def turns(self) -> list[dict[str, Any]]:
        """The bodies of the requests that a turn made: none that condenses, none that only keeps the cache warm."""
        return [body for body in self.asked if is_turn(body)]

    @property
    def condensings(self) -> list[dict[str, Any]]:
        return [body for body in self.asked if is_condensing(body)]


def is_condensing(body: dict[str, Any]) -> bool:
    return bool(body.get("compaction") or body.get("context_management"))


def is_turn(body: dict[str, Any]) -> bool:
    return not is_condensing(body) and body["max_tokens"] > 0


def texts_of(body: dict[str, Any]) -> list[str]:
    """All that is told in words, in its order: of texts, of what tools gave, and of summaries."""
    found: list[str] = []
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"text": content}] if isinstance(content, str) else content
        found += [str(block.get("text") or block.get("content") or "") for block in blocks]
    return found
