"""A record: one thing that is known, and what may be said about it. Values and pure rules only."""

from dataclasses import dataclass, field, replace
from enum import StrEnum

import msgspec

from recollect.ids import derived_id
from recollect.lineage import folded
from recollect.seen import Seen, mark_of


class Kind(StrEnum):
    FACT = "fact"
    PREFERENCE = "preference"
    COMMITMENT = "commitment"
    DECISION = "decision"
    ASSOCIATION = "association"
    SUMMARY = "summary"
    PROCEDURE = "procedure"
    LEARNING = "learning"


DATED_KINDS = frozenset({Kind.COMMITMENT, Kind.SUMMARY})
"""They are about a moment, and fade with it. The others are as good as on the first day."""


class Category(StrEnum):
    KNOWLEDGE = "knowledge"
    IDENTITY = "identity"
    OPERATIONAL = "operational"


class Origin(StrEnum):
    """How it came to be known."""

    TOLD = "told"
    """A person said so to Recollect: remember, edit."""
    PROMOTED = "promoted"
    """A person chose it from a message."""
    MARKED = "marked"
    """An agent marked it in what it said."""
    EXTRACTED = "extracted"
    """The librarian found it in a conversation."""
    IMPORTED = "imported"


class State(StrEnum):
    CURRENT = "current"
    REPLACED = "replaced"
    """A later statement took its place. It is kept as what was true until then."""
    RETRACTED = "retracted"
    """It was wrong, or is not wanted."""


class Relation(StrEnum):
    """How a new statement stands to what is known."""

    SAME = "same"
    REFINES = "refines"
    REPLACES = "replaces"
    UNRELATED = "unrelated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Where a statement is from."""

    message_id: str
    quote: str = ""
    """The words that say it, as they stand in the message. Empty: all of the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What somebody wants to be known."""

    text: str
    kind: Kind = Kind.LEARNING
    subject: str = ""
    attribute: str = ""
    value: str = ""
    category: Category = Category.KNOWLEDGE
    tags: tuple[str, ...] = ()
    confidence: float = 1.0
    importance: float = 0.5
    origin: Origin = Origin.TOLD
    scope: str = ""
    """Empty: where the one stands who says it."""
    true_from: str = ""
    """A stored time. Empty: when it was learned."""
    true_until: str = ""
    expires_at: str = ""
    sources: tuple[Evidence, ...] = ()
    id: str = ""
    """For what must have the same id whenever it is made again. Empty: a new one."""

    def is_expired(self, now: str) -> bool:
        return bool(self.expires_at) and self.expires_at <= now


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One version of one thing that is known. Times are stored times; an empty one: none."""

    id: str
    version: int
    scope: str
    kind: Kind
    subject: str
    attribute: str
    value: str
    text: str
    category: Category
    tags: tuple[str, ...]
    confidence: float
    importance: float
    origin: Origin
    learned_at: str
    """When it was first known."""
    true_from: str
    true_until: str
    expires_at: str
    state: State
    replaces: str
    """The record whose place it took."""
    replaced_by: str
    sources: tuple[Evidence, ...]
    restated: tuple[str, ...] = ()
    """Later times from which it was said to be true, too: what is learned late about a time in between ends there."""
    believed_from: str
    """When this version came to hold."""
    believed_until: str = ""
    """Empty: it holds now."""

    @property
    def seen(self) -> Seen:
        """Without the quotes: not everybody is shown them."""
        sources = tuple(replace(source, quote="") for source in self.sources)
        return Seen(self.version, mark_of(msgspec.json.encode(replace(self, sources=sources))))

    @property
    def is_evergreen(self) -> bool:
        return self.kind not in DATED_KINDS

    @property
    def key(self) -> tuple[str, str] | None:
        """What it is about, as it is compared; None: it is about nothing that another record could be about too."""
        return (folded(self.subject), folded(self.attribute)) if self.subject and self.attribute else None

    def is_expired(self, now: str) -> bool:
        return bool(self.expires_at) and self.expires_at <= now

    @property
    def counts_until(self) -> str:
        """Until when it is to be told: till it expires or, if something replaces it, till that begins. Empty: ever."""
        replaced_at = self.true_until if self.state is State.REPLACED else ""
        return min(filter(None, (self.expires_at, replaced_at)), default="")

    def counts(self, now: str) -> bool:
        """Whether it is to be told at this time."""
        return self.state is not State.RETRACTED and (not self.counts_until or self.counts_until > now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What became of a statement."""

    outcome: str
    """new, same, refines, replaces, unrelated, or refused."""
    record: Record | None
    """None: refused."""
    reason: str
    replaced: Record | None = None
    """The record whose place it took, as it is now."""


def text_key(text: str) -> str:
    """Equal for texts that say the same in the same words."""
    return derived_id("text", folded(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One change of a record: the stream is made of these."""

    number: int
    """Its place in the stream of the house; for who does not see all of that, among those of its record."""
    record_id: str
    version: int
    """Of the record after it."""
    at: str
    action: str
    """created, confirmed, edited, refined, replaced, retracted, restored, forgotten …"""
    actor: str
    actor_name: str
    reason: str
    before: Record | None = None
    after: Record | None = None
    """None in both: it was forgotten, or is the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Everything that is known of how a record came to be: what `why` tells."""

    record: Record
    versions: list[Record]
    events: list[Event]
    replaced: list[Record] = field(default_factory=list[Record])
    """What it replaced, and what that replaced, the latest first."""
    replaced_by: list[Record] = field(default_factory=list[Record])
