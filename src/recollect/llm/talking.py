"""What a model is to a mind: a whole conversation in, its next words out, piece by piece, with tools.

Blocks have the shape of Anthropic's API, whichever model is asked: an adapter translates. Of the kinds `text`, `image`,
`tool_use`, `tool_result`, `thinking`, `redacted_thinking`, `compaction`. What an adapter sends depends on its request
alone: the same request is the same bytes, and one that goes on from another begins with all of its bytes.

Errors are those of `model`. `BadReply.usage` tells what a failed answer cost.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from recollect.errors import Invalid
from recollect.llm.model import Usage

Block: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of the array."""

    role: str
    """`user` or `assistant`."""
    content: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    name: str
    description: str
    schema: Mapping[str, Any]
    """Of its input: a JSON schema of an object."""
    kind: str = ""
    """A tool that a provider knows by itself, such as `memory_20250818`: there it needs neither words nor schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    system: tuple[str, ...]
    tools: tuple[Tool, ...]
    turns: Sequence[Turn]
    most_output_tokens: int = 8_000


class Stop(StrEnum):
    END = "end"
    TOOLS = "tools"
    """It waits for the results of its tools."""
    LENGTH = "length"
    """At the limit of its output, or of its context."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    blocks: tuple[Block, ...]
    """All of them in their order: text before, between and behind tool calls, thinking with its signature."""
    stop: Stop
    usage: Usage
    model: str
    """The one that answered, by its own word."""
    detail: str = ""
    """Why it refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPiece:
    text: str
    """What is new, never what was said before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPiece:
    """A tool is about to be used; its input is still being written."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingPiece:
    pass


Piece: TypeAlias = TextPiece | ToolPiece | ThinkingPiece
Hear: TypeAlias = Callable[[Piece], None]


class Condensing(StrEnum):
    """How a provider condenses a conversation by itself."""

    NONE = ""
    ON_DEMAND = "on-demand"
    THRESHOLD = "threshold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    condensing: Condensing = Condensing.NONE
    least_condensed_tokens: int = 0
    """A shorter conversation is not condensed."""
    most_input_tokens: int = 128_000
    cache_seconds: float = 0
    """How long a prefix that was sent is kept, from its last use. 0: nobody knows, or not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condensed:
    block: Block | None
    """To be sent back first, in an assistant's turn, in the place of what it stands for. None: it failed; the
    conversation stays as it is."""
    summary: str
    usage: Usage


class SummaryRefused(Invalid):
    """The provider does not take the block of a summary (any more): send its words instead."""


class TalkModel(Protocol):
    @property
    def name(self) -> str:
        """As in the settings, such as `anthropic:claude-opus-5-5`."""
        ...

    @property
    def is_paid(self) -> bool: ...

    async def abilities(self) -> Abilities:
        """Asked of the provider once. Where it cannot be asked, the plainest; never raises for that."""
        ...

    async def answer(self, request: Request, hear: Hear) -> Answer:
        """Retries by itself what is worth it, as long as nothing was heard. Cancelling it ends the stream; what was
        heard until then is the caller's to keep."""
        ...

    async def condense(self, request: Request, instructions: str) -> Condensed:
        """By the provider's own means; `Invalid` where it has none. All turns of the request are condensed."""
        ...

    async def warm(self, request: Request) -> Usage:
        """Touch the provider's cache of this request without an answer; no tokens where that cannot be done."""
        ...

    async def close(self) -> None: ...


@dataclass(slots=True)
class Heard:
    """What was heard of an answer so far: for who is interrupted."""

    parts: list[str] = field(default_factory=list[str])

    def take(self, piece: Piece) -> None:
        if isinstance(piece, TextPiece):
            self.parts.append(piece.text)

    @property
    def text(self) -> str:
        return "".join(self.parts)
