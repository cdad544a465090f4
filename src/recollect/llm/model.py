"""What a model is to us, and what can go wrong with one.

RecollectError
├── Denied              no key, a key that does not count, a model one may not use or that is not there
├── Invalid             a request that the server refuses
├── Unavailable         not reachable, in time-out
│   └── Busy            rate limit or overload: `retry_seconds` says when to come again, if the server did
└── BadReply            an answer that is not what was asked for, after one repair
    ├── CutOff          it ended at the limit of its length
    └── Refused         the model would not
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from recollect.errors import RecollectError, Unavailable

if TYPE_CHECKING:
    from pydantic import BaseModel

T = TypeVar("T", bound="BaseModel")


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one or several calls."""

    input_tokens: int = 0
    """All of them, cached ones included."""
    cached_tokens: int = 0
    """Of these, what was read from a cache."""
    written_tokens: int = 0
    """Of these, what was written to one, where that has a price of its own."""
    written_hour_tokens: int = 0
    """Of the written ones, those kept for an hour, which are dearer."""
    output_tokens: int = 0
    calls: int = 0
    """Requests that were answered; a repair is one more."""
    dollars: float | None = None
    """Where the provider says it itself. None: the price table knows."""

    def __add__(self, other: "Usage") -> "Usage":
        told = [one.dollars for one in (self, other) if one.dollars is not None]
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            written_tokens=self.written_tokens + other.written_tokens,
            written_hour_tokens=self.written_hour_tokens + other.written_hour_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            calls=self.calls + other.calls,
            dollars=sum(told) if told else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Generic[T]):
    value: T
    text: str
    """As the model wrote it: JSON."""
    usage: Usage
    model: str
    """The one that answered, by its own word."""


class Busy(Unavailable):
    def __init__(self, message: str, retry_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_seconds = retry_seconds


class BadReply(RecollectError):
    """The answer cannot be used. What it cost is known all the same."""

    exit_code = 1
    http_status = 502

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or Usage()


class CutOff(BadReply):
    pass


class Refused(BadReply):
    pass


class ChatModel(Protocol):
    """One prompt in, one checked object out. An object is a session: it keeps its connection or process between
    prompts, and is closed and made anew now and then (`librarian` does so every 15 prompts)."""

    @property
    def name(self) -> str:
        """As in the settings, such as `anthropic:claude-haiku-5-5`: what prices, events and front matter call it."""
        ...

    @property
    def is_paid(self) -> bool:
        """Whether a call costs money or counts against a subscription. A server on this computer costs nothing."""
        ...

    async def complete(self, system: str, prompt: str, schema: type[T], *, most_output_tokens: int = 8_000) -> Reply[T]:
        """Raises what the module names. Retries by itself what is worth it, with the server's own hints."""
        ...

    async def close(self) -> None: ...
