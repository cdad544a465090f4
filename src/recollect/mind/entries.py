"""What stands in the conversation of a mind, and how it stands. Values only: the words are history's."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    USER = "user"
    NOTE = "note"
    """What changed in the agent's notes since it last saw them."""
    ASSISTANT = "assistant"
    TOOL = "tool"


class EntryState(StrEnum):
    """Of what a user said. Everything else has none."""

    NONE = ""
    WAITING = "waiting"
    TAKEN = "taken"
    WITHDRAWN = "withdrawn"
    """Taken back before a turn took it. It stays in history, and is never sent."""


class TurnState(StrEnum):
    OPEN = "open"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    """By the user, in its middle."""
    REFUSED = "refused"
    """The model would not. It is not shown it again: it would refuse all that follows."""


class DeliveryState(StrEnum):
    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    UNSURE = "unsure"
    """Somebody was sending it when the program ended, or the line broke."""
    AGAIN = "again"
    """So it is, and the channel can send it again without anybody taking it for something new."""
    REFUSED = "refused"
    """That address takes nothing any more."""
    WITHDRAWN = "withdrawn"
    """The agent wrote it first, and before it went out the person asked not to be written to, or not about that."""


OUTREACH = "outreach"
"""The kind of a turn that the agent began: it wrote first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    number: int
    message_id: str
    role: Role
    turn: int
    """0: none took it yet."""
    state: EntryState
    channel: str
    address: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """An entry with its record, as it stands in the vault."""

    entry: Entry
    record: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    turn: int
    channel: str
    address: str
    state: DeliveryState


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRow:
    number: int
    state: TurnState
    began_at: str
    ended_at: str
    reason: str
    kind: str = ""
    """`outreach`: the agent wrote first. Empty: somebody said something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRow:
    """What stands for all turns up to `through`."""

    number: int
    at: str
    kind: str
    model: str
    through: int
    summary: str
    block: dict[str, Any] | None
    detail: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where the conversation stands in the database: equal for equal arrays."""

    last_number: int
    last_turn: int
    compaction: int
    """The number of the one that counts; 0: none does."""
    forgotten: int
    """How many acts of forgetting there have been."""
