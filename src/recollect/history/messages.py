"""A message: what one author said at one moment, and how it is put together from the records of a file.

Values and pure rules only. A record (one JSON object of a transcript) becomes an `Entry`; entries with the same
message key are one message with all their blocks in file order, because agents write one reply as several lines.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec

TOOL_TEXT_CHARACTERS = 1_000
"""Of a tool's output this much is kept as text beside the message; all of it stays in the vault."""
SUMMARY_CHARACTERS = 200
"""Of a tool's input; all of it stays in the vault."""
MASK_MARGIN = 1_000
"""Text is cut this much later before it is masked, so that a secret across the cut is still recognised."""


class Author(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    SUBAGENT = "subagent"
    TOOL = "tool"
    MACHINE = "machine"
    """Written by a program in somebody's name: summaries, hand-overs, notifications, errors, injected context."""


class Standing(StrEnum):
    """Whether a message counts as part of its conversation, and if not, why not."""

    SAID = "said"
    ASIDE = "aside"
    """Kept and visible, but not conversation: tool results, meta text, sub-agents, machine text."""
    REPEATED = "repeated"
    """The same words stand in another message: a typed-ahead prompt that was delivered as a line of its own."""
    WITHDRAWN = "withdrawn"
    """Typed, then taken back before it was sent."""
    ABANDONED = "abandoned"
    """On a branch that the user left by going back and writing something else."""


Block = dict[str, Any]
"""`{type, …}`: text {text}, tool_call {name, call, summary}, tool_result {call, error, characters},
thinking {characters}, image/document {media_type, bytes}, each with `line` and, where it has one, `uuid`."""


class Entry(msgspec.Struct, kw_only=True):
    """What one record says, before it is known which message it completes. A Struct: one is made for every line."""

    kind: str
    """The record's own type, for counting: `assistant`, `progress`, `summary` …"""
    at: str | None = None
    uuid: str = ""
    session_id: str = ""
    agent_id: str = ""
    cwd: str = ""
    key: str = ""
    """The message it belongs to; empty: none, the record is only kept."""
    key_by_place: bool = False
    """The record has neither an id nor a time: where it stands is part of what it is."""
    stream: str = ""
    """Records of one stream in a file form conversations together. Empty for a file that is one session."""
    author: Author = Author.MACHINE
    standing: Standing = Standing.ASIDE
    message_kind: str = ""
    text: str = ""
    blocks: list[Block] = []
    counted_blocks: tuple[str, ...] = ()
    """`user:text`, `assistant:tool_use` …, as the record has them, for counting."""
    model: str = ""
    parent_id: str = ""
    title: str = ""
    title_leaf: str = ""
    """The title is that of the conversation whose last entry this is; empty: of this file."""
    title_by_user: bool = False
    links: tuple[tuple[str, str], ...] = ()
    """(kind, other session)"""
    queue: str = ""
    """enqueue, dequeue, remove, withdraw: what happens to text typed ahead."""
    own: bool = False
    """Written by Recollect's own model calls."""
    repeats: bool = False
    """The record says again what others before it said, such as a summary: it stays out where some of them did."""
    replaces: bool = False
    """What earlier records of this message said counts no more."""
    back_to: str = ""
    """The user went back: this message and everything after it is left. `*`: everything."""
    back_turns: int = 0
    """The user went back by this many prompts: they and everything after them are left."""
    left: tuple[str, int] = ("", 0)
    """The user went back in another file of the session and goes on in this one: the key of that file, and from which
    byte on it is left."""
    follows: str = ""
    """For files that are trees: the uuid of the record this one continues. What is not on the way from the last
    record of the file to its root is left."""

    def make_subagent(self, *, is_task: bool = False) -> None:
        """Nothing in a sub-agent's stream was said by or to the user. `is_task`: it is what the sub-agent was told."""
        self.standing = Standing.ASIDE
        if self.author is Author.ASSISTANT:
            self.author = Author.SUBAGENT
        elif self.author is Author.USER or is_task:
            self.author, self.message_kind = Author.MACHINE, "task"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A record that says: the user went back."""

    start_byte: int
    to: str = ""
    """To before this message; `*`, or a message that is not there: to the beginning."""
    prompts: int = 0
    """By so many prompts."""
    forgotten: str = ""
    """A keyed hash of that message, in case it was forgotten."""


@dataclass(slots=True, kw_only=True)
class Message:
    """One message as it is stored. `start_byte` and `line` say where its first record stands in its file."""

    id: str
    file_id: str
    generation: int
    start_byte: int
    line: int
    home: bool
    """Its records carry the session and agent of the file they stand in: the original, not a copy."""
    gone: bool = False
    source: str
    stream: str = ""
    conversation_id: str | None = None
    session_id: str = ""
    agent_id: str = ""
    author: Author
    standing: Standing
    kind: str = ""
    at: str = ""
    last_at: str = ""
    text: str = ""
    blocks: list[Block] = field(default_factory=list[Block])
    tools: list[str] = field(default_factory=list[str])
    model: str = ""
    cwd: str = ""
    parent_id: str = ""
    leaf_id: str = ""
    """The uuid of its last record: what other files name when they give its conversation a title."""

    @property
    def text_blocks(self) -> list[str]:
        """What was said, block by block: joined by empty lines they are the text."""
        return [block["text"] for block in self.blocks if block["type"] == "text"]

    def take(self, entry: Entry, line: int) -> bool:
        """Add the blocks of a further record of this message; False when it is one already taken."""
        if entry.replaces and self.blocks:
            self.author, self.standing, self.kind = entry.author, entry.standing, entry.message_kind
            self.model = entry.model or self.model
            self._clear(entry.text)
            self._add(entry, line)
            return True
        if not entry.uuid and self.blocks:
            present = {_content(block) for block in self.blocks}
            new = [block for block in entry.blocks if _content(block) not in present]
            if new:
                self._add(entry, line, new)
            return bool(new)
        if entry.uuid and any(block.get("uuid") == entry.uuid for block in self.blocks):
            return False
        self._add(entry, line)
        return True

    def take_from_copy(self, entry: Entry, line: int) -> bool:
        """The same for a record whose blocks may be here already under another uuid, or without one."""
        present = {_content(block) for block in self.blocks}
        if all(_content(block) in present for block in entry.blocks):
            return False
        if entry.uuid and any(block.get("uuid") == entry.uuid for block in self.blocks):
            return False
        self._add(entry, line)
        return True

    def restate(self, later: "Message") -> None:
        """A later part of the same file says this message anew: only its place and its time stay."""
        self.blocks, self.tools, self.text = later.blocks, later.tools, later.text
        self.author, self.standing, self.kind = later.author, later.standing, later.kind
        self.model, self.leaf_id = later.model or self.model, later.leaf_id
        self.last_at = max(self.last_at, later.last_at)

    def absorb(self, later: "Message") -> bool:
        """Take what a later part of the same file added to this message."""
        known = {block["uuid"] for block in self.blocks if "uuid" in block}
        present = {_content(block) for block in self.blocks}
        added = [
            block
            for block in later.blocks
            if (block["uuid"] not in known if "uuid" in block else _content(block) not in present)
        ]
        for block in added:
            self._append(block)
        if added and later.last_at > self.last_at:
            self.last_at = later.last_at
        return bool(added)

    def _clear(self, text: str) -> None:
        self.blocks, self.tools = [], []
        self.text = text if self.author is Author.TOOL else ""

    def _add(self, entry: Entry, line: int, blocks: list[Block] | None = None) -> None:
        for block in entry.blocks if blocks is None else blocks:
            block["line"] = line  # The entry made it for this message alone.
            if entry.uuid:
                block["uuid"] = entry.uuid
            self._append(block)
        if entry.at and entry.at > self.last_at:
            self.last_at = entry.at

    def _append(self, block: Block) -> None:
        self.blocks.append(block)
        self.leaf_id = block.get("uuid", self.leaf_id)
        if block["type"] == "tool_call":
            self.tools.append(str(block["name"]))
        elif block["type"] == "text" and self.author is not Author.TOOL:
            self.text = f"{self.text}\n\n{block['text']}" if self.text else block["text"]


def _content(block: Block) -> str:
    kept = {name: value for name, value in block.items() if name not in ("line", "uuid")}
    return msgspec.json.encode(kept, order="deterministic").decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a record stands."""

    file_id: str
    generation: int
    start_byte: int
    line: int


def begin(entry: Entry, place: Place, source: str, home: bool, at: str) -> Message:
    """The message that this record starts. `at` is its own time or, lacking one, that of the record before."""
    message = Message(
        id=entry.key,
        file_id=place.file_id,
        generation=place.generation,
        start_byte=place.start_byte,
        line=place.line,
        home=home,
        source=source,
        stream=entry.stream,
        session_id=entry.session_id,
        agent_id=entry.agent_id,
        author=entry.author,
        standing=entry.standing,
        kind=entry.message_kind,
        at=at,
        last_at=at,
        model=entry.model,
        cwd=entry.cwd,
        parent_id=entry.parent_id,
    )
    if entry.author is Author.TOOL:
        message.text = entry.text
    message.take(entry, place.line)
    return message
