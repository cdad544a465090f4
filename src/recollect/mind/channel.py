"""What a channel is: a way by which somebody is heard and answered. One more channel is one file in `channels/`."""

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from recollect.errors import Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """Anything else that somebody gives along: kept in history, and named to the model. What of it is text belongs into
    what is said."""

    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What somebody says to the agent."""

    text: str
    channel: str
    address: str = ""
    """Where in that channel the answer goes: a chat, a window."""
    images: tuple[Image, ...] = ()
    files: tuple[File, ...] = ()
    key: str = ""
    """The channel's own name of this message: what was heard under it already is not heard again. Empty: it has
    none."""
    at: str = ""
    """When it was said, where that may be long ago. Empty: now."""


# While a turn is in flight


@dataclass(frozen=True, slots=True, kw_only=True)
class Began:
    turn: int
    messages: int
    """How many are answered at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Of the answer, as they come. Markers are left out."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptMark:
    """◆: something was kept as a learning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    name: str
    line: str
    """What it is asked, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    name: str
    line: str
    """What came of it, in one line."""
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """The line broke in the middle of the answer: it begins anew, and what was shown of this part counts no more."""


Shown: TypeAlias = Again | Began | Words | KeptMark | Thinking | ToolUse | ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """All that the agent said in a turn, as people read it: markers are ◆."""

    turn: int
    text: str
    at: str
    state: str = "done"
    """done, failed (`text` is one plain sentence that says why) or stopped."""
    remark: str = ""
    """Something to know of an answer that is there: it was cut off."""
    is_kept: bool = False
    """What failed is answered with what is said next."""
    was_shown: bool = False
    """Its words went to the same address by `show` already."""
    is_first: bool = False
    """Nobody asked: the agent wrote first."""
    is_again: bool = False
    """It was being sent before, and nobody knows whether it arrived."""


class Channel(Protocol):
    @property
    def name(self) -> str: ...

    def show(self, address: str, shown: Shown) -> None:
        """While the turn goes on. Called in the event loop: it must not wait. A channel that cannot show pieces does
        nothing here."""
        ...

    async def deliver(self, address: str, reply: Reply) -> None:
        """The whole answer, which is history by now. Called once for each address of a turn. Raises `Unavailable` when
        it did not go out, and may be called again then; `MayHaveArrived` when nobody knows; `Denied` when this address
        takes nothing any more.

        A channel may also have `takes(address) -> bool`: whether it would deliver there now. And `says_again = True`:
        what may have arrived is sent again, with `Reply.is_again`, and the channel sees to it that nobody takes it for
        something new.
        """
        ...


class Paused(Unavailable):
    """Taking in is paused, or was when this was said: it stays out for good, also when it is said again."""


class MayHaveArrived(Unavailable):
    """The line broke while it was being sent."""
