"""Which file a message belongs to when several have it.

Forks, resumed sessions and backups copy records. A message is stored once; every copy of its records is kept as an
occurrence. Which occurrence counts does not depend on which file was read first: one that is still in its file comes
before one that is gone, the file it was written for before a copy, then the order of keys. So reading the same files
in any order, by any number of processes, ends in the same rows.
"""

from dataclasses import dataclass

from recollect.database import Session
from recollect.history.folding import hide_secrets, is_home
from recollect.history.messages import Entry, Message, Place, begin
from recollect.history.sources import BadRecord, FileFacts, source_named
from recollect.history.store import File, FileStore, LineStore, MessageStore, Occurrence

Claim = tuple[bool, bool, str, int]


def claim(file: File, generation: int, home: bool) -> Claim:
    """The smaller, the better."""
    return (generation < file.generation, not home, file.key, file.copy)


@dataclass(slots=True)
class _Reading:
    file: File
    occurrence: Occurrence
    entry: Entry
    home: bool

    @property
    def order(self) -> tuple[Claim, int]:
        return (claim(self.file, self.occurrence.generation, self.home), self.occurrence.start_byte)


class Ownership:
    """Settles contested messages inside one write session; remembers the files whose conversations changed."""

    def __init__(self, session: Session, house: str, messages: MessageStore) -> None:
        self._files = FileStore(session, house)
        self._lines = LineStore(session, house)
        self._messages = messages
        self._known: dict[str, File] = {}
        self.changed_files: set[str] = set()
        self.links: set[tuple[str, str, str]] = set()

    def remember(self, file: File) -> None:
        """Use this state of a file instead of the stored one."""
        self._known[file.id] = file

    def contest(self, pairs: list[tuple[Message, Message]]) -> None:
        """A file has records of messages that are stored as another's: (as stored, as this file has it)."""
        unsettled: dict[str, tuple[Message, Message]] = {}
        for stored, draft in pairs:
            owner, rival = self._file(stored.file_id), self._file(draft.file_id)
            self._link(owner, rival)
            better = claim(owner, stored.generation, stored.home) <= claim(rival, draft.generation, draft.home)
            known = {block.get("uuid", "") for block in stored.blocks} | {""}
            if not better or any(block.get("uuid", "") not in known for block in draft.blocks):
                unsettled[stored.id] = (stored, draft)
        if unsettled:
            self.settle([stored for stored, _ in unsettled.values()], {key: pair[1] for key, pair in unsettled.items()})

    def settle(self, stored: list[Message], drafts: dict[str, Message] | None = None) -> None:
        """Put messages together again from all their occurrences; one without any is deleted.

        Whether something was said or left depends on the file: `drafts` know it for the file that is being read.
        """
        by_id = {message.id: message for message in stored}
        readings: dict[str, list[_Reading]] = {message_id: [] for message_id in by_id}
        for occurrence in self._lines.occurrences(list(by_id)):
            reading = self._read(occurrence)
            if reading:
                readings[occurrence.message_id].append(reading)
        for message_id, found in readings.items():
            before, draft = by_id[message_id], (drafts or {}).get(message_id)
            for reading in found:
                _take_home(reading, before, draft)
            self._settle_one(before, draft, sorted(found, key=lambda reading: reading.order))

    def _settle_one(self, before: Message, draft: Message | None, found: list[_Reading]) -> None:
        if not found:
            self._messages.delete(before.id)
            self.changed_files.add(before.file_id)
            return
        after = _assemble(found, before)
        for known in (before, draft):
            if known and known.file_id == after.file_id:
                after.standing = known.standing
        if after == before:
            return
        self._messages.replace([after])
        self.changed_files |= {before.file_id, after.file_id}

    def _read(self, occurrence: Occurrence) -> _Reading | None:
        file = self._file(occurrence.file_id)
        facts = FileFacts(key=file.key, kind=file.kind, session_id=file.session_id, agent_id=file.agent_id)
        try:
            entry = source_named(file.source).parse(occurrence.raw, facts)
        except BadRecord:
            return None
        entry.session_id = entry.session_id or file.session_id
        hide_secrets(entry)
        return _Reading(file, occurrence, entry, is_home(entry, facts, file.session_id))

    def _file(self, file_id: str) -> File:
        file = self._known.get(file_id)
        if file is None:
            file = self._files.get(file_id)
            if file is None:
                raise RuntimeError(f"file {file_id} has records but no row")
            self._known[file_id] = file
        return file

    def _link(self, one: File, other: File) -> None:
        if one.session_id and other.session_id and one.session_id != other.session_id:
            first, second = sorted((one.session_id, other.session_id))
            self.links.add((first, second, "copy"))


def _take_home(reading: _Reading, *known: Message | None) -> None:
    """Some records tell only together with those before them whose they are: then the file that was read knows it."""
    for message in known:
        if message and message.file_id == reading.file.id:
            reading.home = message.home


def _assemble(found: list[_Reading], before: Message) -> Message:
    first = found[0]
    place = Place(
        file_id=first.file.id,
        generation=first.occurrence.generation,
        start_byte=first.occurrence.start_byte,
        line=first.occurrence.line,
    )
    first.entry.key = before.id
    first.entry.cwd = first.entry.cwd or before.cwd
    first.entry.model = first.entry.model or before.model
    message = begin(first.entry, place, first.file.source, first.home, first.entry.at or before.at)
    message.gone = first.occurrence.generation < first.file.generation
    for reading in found[1:]:
        if reading.file.id == first.file.id:
            message.take(reading.entry, reading.occurrence.line)
        else:
            message.take_from_copy(reading.entry, reading.occurrence.line)
    message.conversation_id = before.conversation_id if before.file_id == message.file_id else None
    return message
