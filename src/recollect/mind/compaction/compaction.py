"""What every compaction gives, and what of it the model is sent."""

from dataclasses import dataclass
from typing import Protocol

from recollect.llm.model import Usage
from recollect.llm.talking import Block, Request, Turn

OWN = "own"
"""The kind of a summary in plain words. Others are those of `llm.talking.Condensing`."""
HEADING = "[What was said before this, as you summed it up. The archive has every word of it.]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    kind: str
    summary: str
    """As it can be read. Never empty."""
    block: Block | None
    """As the provider wants it back; None for one of our own."""
    usage: Usage


class Compaction(Protocol):
    @property
    def kind(self) -> str: ...

    async def compact(self, request: Request, instructions: str) -> Compacted | None:
        """A summary of all turns of the request, an earlier summary at their start included. None: it did not succeed,
        and the conversation stays as it is. Raises what the model raises."""
        ...


def standing_for(kind: str, summary: str, block: Block | None, *, accepts: str) -> Turn:
    """The turn that stands first in the array. `accepts`: the kind of blocks that the model takes; any other summary is
    told in words."""
    if block is not None and kind == accepts:
        return Turn(role="assistant", content=(block,))
    return Turn(role="user", content=({"type": "text", "text": f"{HEADING}\n\n{summary}"},))
