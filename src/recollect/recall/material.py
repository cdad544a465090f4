"""Everything that is searched, from history, knowledge and notes, as documents of the index.

A message is a document as it is; what lies in a file that is bound to an agent is that agent's. Of a record every
version that was believed is one: a search looks among those that hold now, or held at a date. Of a note every section
of the version that holds is one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.feed import MESSAGE, NOTE, RECORD, Change, Feed
from recollect.history import Author, History, Message, Standing
from recollect.knowledge import Knowledge, Record
from recollect.lineage import folded
from recollect.notes import Notes
from recollect.recall.index.documents import Document, Thing, version_name
from recollect.recall.noted import noted, noted_document

FOLLOWER = "recall"
"""The name under which the feed knows how far the index is."""
AFTER_ALL_TIMES = "~"
"""Records are read after all messages: in the place of a moment, this sorts behind every one."""
AFTER_ALL_RECORDS = "~~"
"""And notes after them."""
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
    notes: Notes

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
        """Of messages, records and notes that are searched, about."""
        return self.history.number_said() + self.knowledge.figures().total + self.notes.number()

    def documents(self, things: Sequence[Thing]) -> list[Document]:
        found = self.history.documents([thing.id for thing in things if thing.kind == MESSAGE])
        messages = {name: message for name, message in found.items() if is_searched(message)}
        scopes = self.history.file_scopes([message.file_id for message in messages.values()])
        versions = self.knowledge.indexed([thing.id for thing in things if thing.kind == RECORD])
        paths = [thing.id for thing in things if thing.kind == NOTE]
        notes = self.notes.indexed(paths) if paths else {}
        documents: list[Document] = []
        for thing in things:
            if thing.kind == RECORD:
                # What is replaced from a later time on counts until then.
                told = [record for record in versions.get(thing.id, ()) if record.counts(record.believed_from)]
                documents += [record_document(record) for record in told]
            elif thing.kind == NOTE:
                parts = noted(notes[thing.id]) if thing.id in notes else []
                documents += [noted_document(part) for part in parts]
            elif thing.id in messages:
                message = messages[thing.id]
                documents.append(message_document(message, scopes.get(message.file_id, NOBODY)))
        return documents

    def page(self, after: tuple[str, str], limit: int) -> list[tuple[str, Thing]]:
        stage, last = after
        found: list[tuple[str, Thing]] = []
        if stage < AFTER_ALL_TIMES:
            found = [(at, Thing(MESSAGE, name)) for at, name in self.history.said_after(after, limit)]
            stage, last = AFTER_ALL_TIMES, ""
        if stage == AFTER_ALL_TIMES and len(found) < limit:
            found += [(stage, Thing(RECORD, name)) for name in self._records_after(last, limit - len(found))]
            stage, last = AFTER_ALL_RECORDS, ""
        if stage == AFTER_ALL_RECORDS and len(found) < limit:
            found += [(stage, Thing(NOTE, path)) for path in self.notes.paths_after(last, limit - len(found))]
        return found

    def _records_after(self, last: str, limit: int) -> list[str]:
        """So many, unless there are no more."""
        found: list[str] = []
        while len(found) < limit:
            page = self.knowledge.pages((last, LAST_VERSION), min(RECORDS_PAGE, limit - len(found)))
            if not page:
                break
            found += dict.fromkeys(record.id for record in page)
            last = page[-1].id
        return found
