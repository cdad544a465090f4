"""What is found in a conversation, before it is believed. Values only.

An item says one thing and quotes the words that say it. Whoever finds it, rules or a model, hands over the same kind of
`Extract`; `evidence` looks at every quote, and `filing` makes records of what is left.
"""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from recollect.knowledge import Kind, Relation

USER = "user"
"""The subject of what is known about the person, whatever they are called."""


ENDED = "ended"
"""The tag of what says that something holds no more."""


class Shelf(StrEnum):
    """Where a record is shown; also a tag of the record, so that its shelf can be told from it alone."""

    CORE = "core"
    """About the person and the house: `core/facts.md`."""
    PROJECT = "project"
    """`subject` is its name: `projects/<name>/overview.md`."""
    PERSON = "person"
    """`subject` is their name: `relationships/<name>/overview.md`."""
    MILESTONE = "milestone"
    INSIGHT = "insight"
    EPISODE = "episode"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message as the librarian reads it: what was said, without machine text, secrets masked."""

    number: int
    """1, 2, 3 … in the conversation: what a model calls it."""
    message_id: str
    author: str
    """`user` or `assistant`; `other` for somebody else in a chat of several people, whose words are no evidence."""
    at: str
    """A stored time; empty where nobody knows."""
    text: str
    tools: tuple[str, ...] = ()
    """One line for each call of a tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    message_id: str
    words: str
    """As they stand in the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing worth keeping."""

    shelf: Shelf
    kind: Kind
    text: str
    """One line that can stand alone."""
    quotes: tuple[Quote, ...]
    subject: str = USER
    attribute: str = ""
    """With the subject what it is about, where only one value can be true at a time: `lives in`, `role`, `due`.
    Empty: more than one can be."""
    value: str = ""
    confidence: float = 0.8
    importance: float = 0.5
    true_from: str = ""
    """Empty: when its first quote was said."""
    true_until: str = ""
    tags: tuple[str, ...] = ()
    """Besides the shelf: `remember` for what somebody asked to be remembered."""
    relation: Relation | None = None
    other: str = ""
    """A known record that it is the same as, refines or replaces. Empty: code compares subject and attribute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Something holds no more: nothing by itself, but it takes the place of the record that says it does."""

    item: Item
    """What holds from then on: `No longer lives in Bern`. Its value is the one that ended."""
    held: str
    """What held until then, as a record words it: `Lives in Bern`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeLine:
    """One line of what happened: `label` such as Asked, Found, Decided, Done; empty for plain narration."""

    label: str
    text: str
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A person that somebody spoke of. `role`: who they are to the speaker (`sister`, `dentist`), where it was said."""

    name: str
    quotes: tuple[Quote, ...]
    role: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Something only a person can say."""

    text: str
    quotes: tuple[Quote, ...]


@dataclass(slots=True, kw_only=True)
class Extract:
    """All that one reading of a conversation found."""

    reader: str
    """Who read: `rules/3`, or a model with the version of its prompt."""
    title: str = ""
    title_quotes: tuple[Quote, ...] = ()
    """What the title is made of. Empty: it is the conversation's own."""
    project: str = ""
    """The name of the project it was about; empty: none."""
    lines: list[EpisodeLine] = field(default_factory=list[EpisodeLine])
    items: list[Item] = field(default_factory=list[Item])
    endings: list[Ending] = field(default_factory=list[Ending])
    """An item with the words of one is what it comes to where nothing is known that ends."""
    people: list[Mention] = field(default_factory=list[Mention])
    doubts: list[Doubt] = field(default_factory=list[Doubt])
    dropped: Counter[str] = field(default_factory=Counter[str])
    """Reason → how many were found and not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What is known of a conversation besides its turns."""

    conversation_id: str
    title: str = ""
    project: str = ""
    """The folder it was held in, as history has it."""
    started_at: str = ""
    user_name: str = ""
    agent_name: str = ""
    people: tuple[str, ...] = ()
    """Names that are known already."""
