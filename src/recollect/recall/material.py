"""Everything that is searched, from history and knowledge, as documents of the index.

A message is a document as it is; what lies in a file that is bound to an agent is that agent's. Of a record every
version that was believed is one: a search looks among those that hold now, or held at a date.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.feed import MESSAGE, RECORD, Change, Feed
from recollect.history import Author, History, Message, Standing
from recollect.knowledge import Knowledge, Record
from recollect.lineage import folded
from recollect.recall.index.documents import Document, Thing, version_name

FOLLOWER = "recall"
"""The name under which the feed knows how far the index is."""
AFTER_ALL_TIMES = "~"
"""Records are read after all messages: in the place of a moment, this sorts behind every one."""
RECORDS_PAGE = 5_000
LAST_VERSION = (1 << 63) - 1
NOBODY = ""
"""The scope of what nobody but those who see everything may see."""


def is_searched(message: Message) -> bool:
    """What users, assistants and sub-agents said, in words, and no file has lost."""
    said = message.standing is Standing.SAID or message.author is Author.SUBAGENT
    return said and not message.gone and bool(message.text.strip())


def message_document(message: Message, scope: str) -> Document:
    """Sub-agents' messages belong to no conversation, but to a stream."""
    return Document(
        id=message.id,
        kind=MESSAGE,
        text=message.text,
        conversation=message.conversation_id or f"{message.file_id}/{message.stream}/{message.agent_id}",
        place=message.start_byte,
        at=message.at,
        author=str(message.author),
        source=message.source,
        scope=scope,
    )


def record_document(record: Record) -> Document:
    """A conversation of its own: no other record lends it words, least of all an earlier version of itself."""
    name = version_name(record.id, record.version)
    return Document(
        id=name,
        kind=RECORD,
        text=record_text(record),
        conversation=name,
        place=0,
        at=record.believed_from,
        author=RECORD,
        source=str(record.origin),
        scope=record.scope,
        until=record.believed_until,
        expires=record.counts_until,
        is_evergreen=record.is_evergreen,
    )


def record_text(record: Record) -> str:
    """What it is about, where the text does not say so itself, and the text."""
    said = folded(record.text)
    about = [part for part in (record.subject, record.attribute, record.value) if part and folded(part) not in said]
    return f"{' '.join(about)}: {record.text}" if about else record.text


@dataclass(frozen=True, slots=True)
class Material:
    """What the index follows. Sees everything: who asks is limited when a search looks."""

    feed: Feed
    history: History
    knowledge: Knowledge

    # The feed

    def feed_id(self) -> str:
        return self.feed.id()

    def last_change(self) -> int:
        return self.feed.newest()

    def can_follow(self, after: int) -> bool:
        return self.feed.can_follow(after)

    def changes(self, after: int, limit: int) -> list[Change]:
        return self.feed.changes(after, limit)

    def waiting(self, after: int | None) -> int:
        """How many things were touched after a change; None: how many there are."""
        return self.number() if after is None else self.feed.waiting(after)

    def trim(self, reached: int) -> None:
        self.feed.trim(FOLLOWER, reached)

    # Documents

    def number(self) -> int:
        """Of messages and records that are searched, about."""
        return self.history.number_said() + self.knowledge.figures().total

    def documents(self, things: Sequence[Thing]) -> list[Document]:
        found = self.history.documents([thing.id for thing in things if thing.kind == MESSAGE])
        messages = {name: message for name, message in found.items() if is_searched(message)}
        scopes = self.history.file_scopes([message.file_id for message in messages.values()])
        versions = self.knowledge.indexed([thing.id for thing in things if thing.kind == RECORD])
        documents: list[Document] = []
        for thing in things:
            if thing.kind == RECORD:
                # What is replaced from a later time on counts until then.
                told = [record for record in versions.get(thing.id, ()) if record.counts(record.believed_from)]
                documents += [record_document(record) for record in told]
            elif thing.id in messages:
                message = messages[thing.id]
                documents.append(message_document(message, scopes.get(message.file_id, NOBODY)))
        return documents

    def page(self, after: tuple[str, str], limit: int) -> list[tuple[str, Thing]]:
        found: list[tuple[str, Thing]] = []
        last_record = after[1] if after[0] == AFTER_ALL_TIMES else ""
        if not last_record:
            found = [(at, Thing(MESSAGE, name)) for at, name in self.history.said_after(after, limit)]
        while len(found) < limit:
            page = self.knowledge.pages((last_record, LAST_VERSION), min(RECORDS_PAGE, limit - len(found)))
            if not page:
                break
            found += [(AFTER_ALL_TIMES, Thing(RECORD, name)) for name in dict.fromkeys(record.id for record in page)]
            last_record = page[-1].id
        return found
