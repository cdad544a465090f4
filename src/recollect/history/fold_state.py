"""What a fold remembers between the blocks of a file, and what one block adds."""

from dataclasses import dataclass, field
from typing import Any

import msgspec

from recollect.history.counts import Counts, Problem
from recollect.history.messages import Message, Standing, Turn
from recollect.history.records import Stored
from recollect.history.spans import Span


class ForgottenPrompt(msgspec.Struct, array_like=True):
    """Where something was said that was forgotten: who goes back counts it."""

    start_byte: int
    parent_id: str
    name: str
    """A keyed hash of its id."""


@dataclass(slots=True, kw_only=True)
class FoldState:
    cwd: str = ""
    at: str = ""
    session_id: str = ""
    last_session_id: str = ""
    """Of the last record: an unreadable line is taken to be of the same session."""
    private_sessions: list[str] = field(default_factory=list[str])
    own_sessions: list[str] = field(default_factory=list[str])
    waiting: list[tuple[str, str, bool, str]] = field(default_factory=list[tuple[str, str, bool, str]])
    recent: dict[str, int] = field(default_factory=dict[str, int])
    """How many records the latest messages have, by their keys."""
    open_line: list[Any] | None = None
    """[kind, blocks, recovered] of a record that was read although its line had not ended."""
    title_by_user: bool = False
    memory: dict[str, str] = field(default_factory=dict[str, str])
    """What the source itself remembers of earlier records."""
    has_left_out: bool = False
    """Something in this file stayed out."""
    has_spoken: bool = False
    """There is a message in it."""
    hides_title: bool = False
    """It began with what stayed out: so does its title."""
    folder: str = ""
    """The project, when only the place of the file tells it."""
    version: str = ""
    """Of the text that was last read, for sources that say how old a text is."""
    left: tuple[str, int] = ("", 0)
    """See `Entry.left`."""
    last_uuid: str = ""
    """The last record of a file that is a tree."""
    must_follow: bool = False
    """It has a new branch: what lies on the way from its last record to its root must be found out at the end."""
    quiet_lines: int = 0
    """Records since the last one that belongs to a message: many of them tell of a format that moved."""
    must_regroup: bool = False
    """What was said before changed while a file of several blocks is read: it is grouped once, at its end."""
    rewriting: bool = False
    """The file was changed in the middle, or is imported again, and is being read again from its start."""
    forgotten_prompts: list[ForgottenPrompt] = field(default_factory=list[ForgottenPrompt])
    """Those that were said, and not left since."""
    vault_generation: int = -1
    """It is read again from the vault, from the records of this generation, because the file itself is gone."""

    def to_json(self) -> str:
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, text: str) -> "FoldState":
        return msgspec.json.decode(text, type=cls) if text else cls()


@dataclass(slots=True)
class Batch:
    """What one block of a file adds."""

    end: int = 0
    newlines: int = 0
    records: list[Stored] = field(default_factory=list[Stored])
    messages: dict[str, Message] = field(default_factory=dict[str, Message])
    standings: dict[str, Standing] = field(default_factory=dict[str, Standing])
    """Changes to messages of earlier blocks."""
    links: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])
    titles: dict[str, str] = field(default_factory=dict[str, str])
    title: str = ""
    turns: list[Turn] = field(default_factory=list[Turn])
    """Where the user went back."""
    has_jumped: bool = False
    """A record follows another than the one before it."""
    restated: set[str] = field(default_factory=set[str])
    """Messages that say what their last record says, whatever was said before."""
    has_forgotten_head: bool = False
    """The first line of the file may not be told."""
    spans: list[Span] = field(default_factory=list[Span])
    counts: Counts = field(default_factory=Counts)
    problems: list[Problem] = field(default_factory=list[Problem])
