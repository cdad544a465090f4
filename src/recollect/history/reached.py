"""What forgetting something takes out of history: values only."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgspec

from recollect.history.messages import Block, Entry, Message
from recollect.history.store import File, VaultRow
from recollect.history.vault import unpack
from recollect.lineage import folded

LEAST_TITLE = 16
"""Characters. A shorter title is everybody's, unless it is all that was said."""
STRETCH = 24
HEAD_BYTES = 1_000
"""About so much of a long record lies on the page of its row, all of which is looked for."""
MOST_STRETCHES = 64
"""Of the rest, which lies on pages of its own."""
READABLE = 6
"""Bytes. So many in a row that stand in the record as well were left as they are."""
_NOT_WORDS = frozenset({"type", "uuid", "line", "call", "name", "media_type"})


@dataclass(slots=True)
class Trace:
    """A record in the vault that is reached."""

    row: VaultRow
    entry: Entry | None
    """What it says; None: it cannot be read."""
    memory: dict[str, str] = field(default_factory=dict[str, str])
    """What its source remembered after it."""

    @property
    def is_placed(self) -> bool:
        """Whether only its place tells it from others of the same bytes."""
        entry = self.entry
        return entry is not None and (entry.key_by_place or not (entry.at or entry.uuid))


@dataclass(slots=True, kw_only=True)
class Reached:
    messages: list[Message] = field(default_factory=list[Message])
    traces: list[Trace] = field(default_factory=list[Trace])
    files: list[File] = field(default_factory=list[File])
    """Those that go whole."""
    conversations: list[str] = field(default_factory=list[str])
    """Those that lose something."""
    titles: dict[str, str] = field(default_factory=dict[str, str])
    """Titles of conversations, by the name they are kept under."""
    file_titles: dict[str, str] = field(default_factory=dict[str, str])
    """Titles of files that stay, by their ids."""
    typed_ahead: list[str] = field(default_factory=list[str])
    """Texts that wait in a queue."""
    openings: list[str] = field(default_factory=list[str])
    copies_on_disk: list[str] = field(default_factory=list[str])
    """Source files on this computer that still have it: out of reach."""
    also_in: list[str] = field(default_factory=list[str])
    """Messages that stay although they have the same words."""

    @property
    def lines_reached(self) -> int:
        return len(self.traces)

    def texts(self) -> set[str]:
        return {message.text for message in self.messages if message.text}

    def contents(self) -> Iterator[bytes]:
        """Everything that the tables hold of it, for who looks whether it is gone."""
        for message in self.messages:
            yield message.text.encode()
            yield from (text.encode() for block in message.blocks for text in _words(block))
        for trace in self.traces:
            yield from _own_bytes(trace.row.packed)
        for texts in (self.titles.values(), self.file_titles.values(), self.typed_ahead, self.openings):
            yield from (text.encode() for text in texts)
        for file in self.files:
            yield file.title.encode()


def _own_bytes(packed: bytes) -> Iterator[bytes]:
    """Stretches of a compressed record that are its own. What compression leaves readable is either words, which are
    looked for as such, or the ids and names around them, which stand in other places rightly."""
    raw = unpack(packed)
    last = len(packed) - STRETCH
    starts = {*range(0, min(last, HEAD_BYTES) + 1, STRETCH), *range(0, last + 1, max(STRETCH, last // MOST_STRETCHES))}
    for start in sorted(starts):
        stretch = packed[start : start + STRETCH]
        if not any(stretch[place : place + READABLE] in raw for place in range(0, STRETCH - READABLE + 1, 3)):
            yield stretch


def _words(block: Block) -> Iterator[str]:
    for name, value in block.items():
        if name not in _NOT_WORDS:
            yield value if isinstance(value, str) else msgspec.json.encode(value).decode()


def is_made_of(title: str, texts: Iterable[str]) -> bool:
    """Whether a title consists of words of one of these texts, or has one of them in it. Both are folded already."""
    short = title.rstrip("… ").rstrip(".")
    return any(
        short == text or (len(short) >= LEAST_TITLE and short in text) or (len(text) >= LEAST_TITLE and text in title)
        for text in texts
    )


def folded_texts(messages: Iterable[Message]) -> set[str]:
    return {folded(message.text) for message in messages} - {""}
