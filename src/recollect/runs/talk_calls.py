"""What a call of a model that talks may take, and what it took when its answer was cut short."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from recollect.llm.model import Usage
from recollect.llm.talking import Piece, Request, TextPiece, Tool, Turn
from recollect.runs.budget import Reservation
from recollect.runs.metering import FRAME_TOKENS
from recollect.tokens import estimate, of_bytes

IMAGE_TOKENS = 5_000
"""The most that a provider takes for an image, which it makes smaller itself if need be."""
UNSEEN_TOKENS_PER_SECOND = 100
"""What a model writes of thoughts and of calls of tools is not heard; none writes much faster."""


@dataclass(slots=True, kw_only=True)
class Call:
    purpose: str
    turn: str
    request: Request
    more: str
    """What is sent besides the request."""
    most_output_tokens: int
    begun: float
    input_tokens: int = 0
    """Estimated."""
    reserved: Reservation | None = None
    was_heard: bool = False
    is_partly_unseen: bool = False
    text_bytes: int = 0

    def take(self, piece: Piece) -> None:
        self.was_heard = True
        if isinstance(piece, TextPiece):
            self.text_bytes += len(piece.text.encode("utf-8", "surrogatepass"))
        else:
            self.is_partly_unseen = True

    def output_tokens(self) -> int:
        """Of what was written until now, at the most."""
        unseen = round((time.monotonic() - self.begun) * UNSEEN_TOKENS_PER_SECOND) if self.is_partly_unseen else 0
        return min(of_bytes(self.text_bytes) + unseen, self.most_output_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beginning:
    """By which a request that goes on from another is known."""

    system: tuple[str, ...]
    tools: tuple[Tool, ...]
    first: tuple[Turn, ...]


def _beginning(request: Request) -> _Beginning:
    return _Beginning(system=request.system, tools=request.tools, first=tuple(request.turns[:1]))


@dataclass(slots=True)
class LikelyCache:
    """What the provider is likely to have kept of the conversation."""

    seconds: float = 0
    beginning: _Beginning | None = None
    estimated_tokens: int = 0
    input_tokens: int = 0
    """By the provider's own word."""
    at: float = 0

    def filled(self, call: Call, usage: Usage) -> None:
        self.beginning = _beginning(call.request)
        self.estimated_tokens = call.input_tokens
        self.input_tokens = usage.input_tokens
        self.at = call.begun

    def likely(self, call: Call) -> Usage:
        """What a call took that was cut short. A request that goes on from the last one finds it in the cache; all of
        any other is written anew."""
        input_tokens, cached = call.input_tokens, 0
        if self.beginning == _beginning(call.request) and call.input_tokens >= self.estimated_tokens:
            input_tokens = round(call.input_tokens * self.input_tokens / self.estimated_tokens)
            cached = self.input_tokens if call.begun - self.at < self.seconds else 0
        written = input_tokens - cached if self.seconds else 0
        return Usage(
            input_tokens=input_tokens,
            cached_tokens=cached,
            written_tokens=written,
            written_hour_tokens=written if self.seconds >= 3_600 else 0,
            output_tokens=call.output_tokens(),
            calls=1,
        )


def estimated_request(request: Request) -> int:
    """Tokens of a request, rather too many than too few."""
    tools = sum(
        estimate(tool.name) + estimate(tool.description) + _tokens(tool.schema) + FRAME_TOKENS * bool(tool.kind)
        for tool in request.tools
    )
    turns = sum(_tokens(block) for turn in request.turns for block in turn.content)
    return sum(map(estimate, request.system)) + tools + turns + FRAME_TOKENS


def _tokens(value: object) -> int:
    """Of a block or a schema, names and all."""
    if isinstance(value, str):
        return estimate(value)
    if isinstance(value, Mapping):
        named = cast(Mapping[str, Any], value)
        if named.get("type") == "image":
            return IMAGE_TOKENS
        return sum(estimate(name) + _tokens(inner) for name, inner in named.items())
    if isinstance(value, list | tuple):
        return sum(map(_tokens, cast(Sequence[object], value)))
    return 2
