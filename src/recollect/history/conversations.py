"""Conversations: what was said in one file without a long silence, and where each stands in its life.

Grouping is a pure rule over the messages of a file in file order, used alike when a file grows and when everything
is grouped anew, so that both give the same conversations with the same ids. Time may run backwards in a file; a
silence is measured from the latest moment seen so far.

active → ready → queued → processing → archived | skipped. `active` becomes `ready` by the clock alone, whenever
somebody asks. A conversation that gains messages after it was archived or skipped starts again.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from recollect.clock import from_text, to_text
from recollect.errors import Conflict, NotFound
from recollect.history.messages import Author, Message, Standing
from recollect.ids import derived_id

OPENING_CHARACTERS = 200


class Status(StrEnum):
    ACTIVE = "active"
    READY = "ready"
    QUEUED = "queued"
    PROCESSING = "processing"
    ARCHIVED = "archived"
    SKIPPED = "skipped"


FINISHED = frozenset({Status.ARCHIVED, Status.SKIPPED})


@dataclass(slots=True, kw_only=True)
class Conversation:
    id: str
    file_id: str
    stream: str
    source: str
    session_id: str
    start_byte: int
    started_at: str
    last_start_at: str
    """The latest beginning of a message so far: what the next silence is measured from."""
    ended_at: str
    messages: int = 0
    opening: str = ""
    """The first words of the user, for a title."""
    project: str = ""
    leaf_id: str = ""
    """The last entry, which other files may name when they give it a title."""
    status: Status = Status.ACTIVE

    def extend(self, message: Message, leaf_before: str) -> None:
        """A message of this conversation was completed by a later record."""
        self.ended_at = max(self.ended_at, message.last_at)
        if self.leaf_id == leaf_before:
            self.leaf_id = message.leaf_id or self.leaf_id
        self._reopen()

    def take(self, message: Message) -> None:
        self.messages += 1
        self.last_start_at = max(self.last_start_at, message.at)
        self.ended_at = max(self.ended_at, message.last_at)
        if not self.opening and message.author is Author.USER:
            self.opening = opening_of(message.text)
        if not self.project:
            self.project = message.cwd
        self.leaf_id = message.leaf_id or self.leaf_id
        self._reopen()

    def _reopen(self) -> None:
        if self.status in FINISHED:
            self.status = Status.ACTIVE


def opening_of(text: str) -> str:
    return " ".join(text[: OPENING_CHARACTERS * 2].split())[:OPENING_CHARACTERS]


def only_one(name: str, found: list[Conversation]) -> Conversation:
    """The conversation that a name means, of those whose ids or sessions begin so."""
    chosen = [item for item in found if item.id == name] or [item for item in found if item.messages]
    if not chosen:
        raise NotFound(f"No conversation is called {name[:100]!r}. `recollect conversations` lists them.")
    if len(chosen) > 1:
        some = ", ".join(item.id for item in chosen[:5])
        raise Conflict(f"{name!r} could be {len(chosen)} conversations: {some} … Give more of the id.")
    return chosen[0]


class Grouping:
    """Puts the messages of one file, given in file order, into conversations."""

    def __init__(self, gap: timedelta, session_id: str, latest: list[Conversation] | None = None) -> None:
        self._gap = gap
        self._session_id = session_id
        self._latest = {conversation.stream: conversation for conversation in latest or []}
        self._limits: dict[str, str] = {}
        self.touched: dict[str, Conversation] = {}

    def place(self, message: Message) -> str | None:
        """The conversation this message belongs to. What was not said goes with what was said before it."""
        current = self._latest.get(message.stream)
        if message.standing is not Standing.SAID or message.gone:
            return current.id if current else None
        if current is None or message.at > self._limit(current):
            current = Conversation(
                id=derived_id("conversation", message.source, message.id),
                file_id=message.file_id,
                stream=message.stream,
                source=message.source,
                session_id=message.session_id if message.stream else self._session_id,
                start_byte=message.start_byte,
                started_at=message.at,
                last_start_at=message.at,
                ended_at=message.last_at,
            )
            self._latest[message.stream] = current
        current.take(message)
        self.touched[current.id] = current
        return current.id

    def _limit(self, conversation: Conversation) -> str:
        """The last moment at which a message still belongs to the conversation."""
        last = conversation.last_start_at
        if not last:
            return ""
        limit = self._limits.get(last)
        if limit is None:
            self._limits.clear()
            try:
                limit = to_text(from_text(last) + self._gap)
            except OverflowError:  # A clock that says the year 9999.
                limit = last
            self._limits[last] = limit
        return limit
