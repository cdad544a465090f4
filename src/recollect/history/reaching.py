"""Finding everything in history that goes when something is forgotten: the thing itself, its occurrences, its copies.

A copy is what says the same again without anybody having said it again: the same prompt in a prompt log or a queue, a
fork's message, a summary, a hand-over, a tool's output or a record of no message that has the words whole. Whoever
quotes them in what he says himself, says them: that stays, and is named.
"""

import os
from collections.abc import Iterable, Iterator, Sequence

from recollect.database import Session
from recollect.history.burial import LEAST_CHARACTERS, SOME_CHARACTERS, read_remnant, strings_of
from recollect.history.conversations import opening_of
from recollect.history.fold_state import FoldState
from recollect.history.folding import TITLE_CHARACTERS
from recollect.history.messages import Author, Entry, Message, Standing
from recollect.history.reached import Reached, Trace, folded_texts, is_made_of
from recollect.history.records import FORGOTTEN
from recollect.history.sources import BadRecord, FileFacts, Source, source_named
from recollect.history.store import (
    THIS_HOST,
    ConversationStore,
    ErasingStore,
    File,
    FileStore,
    MessageStore,
    RowKey,
    ThreadStore,
    VaultRow,
)
from recollect.history.threads import stream_title
from recollect.lineage import folded
from recollect.redaction import mask

MOST_QUOTES = 50
"""Texts looked for in everything that was ever said: each takes a look at all of it."""
_SPEAKERS = (Author.USER, Author.ASSISTANT)


class Reaching:
    """Gathers what goes, inside one session. Changes nothing."""

    def __init__(self, session: Session, house: str) -> None:
        self._store = ErasingStore(session, house)
        self._files = FileStore(session, house)
        self._messages = MessageStore(session, house)
        self._conversations = ConversationStore(session, house)
        self._threads = ThreadStore(session, house)
        self._known: dict[str, File] = {}
        self._ids: set[str] = set()
        self._rows: dict[RowKey, VaultRow] = {}
        self._traces: dict[RowKey, Trace] = {}
        self._whole_conversations: set[str] = set()

    def reach(
        self,
        message_ids: Iterable[str],
        rows: Iterable[VaultRow] = (),
        files: Sequence[File] = (),
        conversations: Iterable[str] = (),
    ) -> Reached:
        """All that goes with these messages, records, files and conversations."""
        self._ids |= set(message_ids)
        self._rows |= {row.key: row for row in rows}
        self._whole_conversations = set(conversations)
        targets = list(self._messages.get(sorted(self._ids)).values())
        self._ids |= self._twins(targets)
        self._take_rows_of_messages()
        self._take_alike()
        searched = self._thread_files()
        self._search(targets, searched)
        self._take_rows_of_messages()
        reached = Reached(files=list(files), messages=sorted(self._found(), key=lambda one: one.id))
        self._reach_titles(reached, searched)
        self._parse(self._rows.values())
        reached.traces = [self._traces[key] for key in sorted(self._traces)]
        self._reach_rest(reached, targets)
        return reached

    # Copies

    def _twins(self, targets: Sequence[Message]) -> set[str]:
        """The same words once more: in a prompt log, in a queue, in a fork that gave everything new ids."""
        by_text: dict[str, list[Message]] = {}
        for message in targets:
            if message.text:
                by_text.setdefault(message.text, []).append(message)
        found = self._messages.get(sorted(set(self._store.with_texts(sorted(by_text))) - self._ids)) if by_text else {}
        return {
            other.id
            for other in found.values()
            if any(self._is_twin(message, other) for message in by_text[other.text])
        }

    def _is_twin(self, message: Message, other: Message) -> bool:
        is_prompt = self._file(other.file_id).kind == "prompts"
        is_shadow = is_prompt or other.standing in (Standing.REPEATED, Standing.WITHDRAWN)
        if is_shadow and message.session_id and message.session_id == other.session_id:
            return True
        if is_prompt and not other.session_id and other.at[:16] == message.at[:16]:
            return True
        has_ids = all(any("uuid" in block for block in one.blocks) for one in (message, other))
        is_long = len(message.text) >= LEAST_CHARACTERS
        return has_ids and is_long and (message.at, message.author) == (other.at, other.author)

    def _take_rows_of_messages(self) -> None:
        self._rows |= {row.key: row for row in self._store.rows_of_messages(sorted(self._ids))}

    def _take_alike(self) -> None:
        """Where only its place tells a record from others of the same bytes, nothing could tell them apart later."""
        self._parse(self._rows.values())
        alike: dict[str, set[int]] = {}
        for trace in self._traces.values():
            if trace.is_placed:
                alike.setdefault(trace.row.file_id, set()).add(trace.row.digest)
        for file_id, digests in alike.items():
            file = self._file(file_id)
            for other in {file_id, *(self._store.files_with_head(file.head, file.source) if file.head else [])}:
                for row in self._store.rows_alike(other, sorted(digests)):
                    self._rows[row.key] = row
                    self._ids |= {row.message_id} if row.message_id else set()
        self._take_rows_of_messages()

    def _thread_files(self) -> list[str]:
        """The files of the sessions that this was said in, and of those they were forked or continued into."""
        sessions = {message.session_id for message in self._found()}
        touched = {row.file_id for row in self._rows.values()}
        sessions |= {self._file(file_id).session_id for file_id in touched}
        roots = self._threads.roots()
        named = {roots.get(session, session) for session in sessions - {""}}
        sessions |= {session for session, root in roots.items() if root in named}
        return sorted(touched | set(self._store.files_of_sessions(sorted(sessions - {""}))))

    def _search(self, targets: Sequence[Message], file_ids: Sequence[str]) -> None:
        """Add what repeats the words of the targets, and the titles made of them."""
        needles = sorted({message.text for message in targets if len(message.text) >= LEAST_CHARACTERS})
        texts = folded_texts(targets)
        short = {(one.session_id, one.text) for one in targets if len(one.text) >= SOME_CHARACTERS}
        authors = {message_id: author for message_id, _, author, _ in self._store.in_files(file_ids)}
        for file_id in file_ids:
            for row in self._store.rows_of_file(file_id):
                if row.key in self._rows or row.message_id in self._ids:
                    continue
                if row.message_id:
                    is_copy = authors.get(row.message_id, Author.USER) not in _SPEAKERS and _repeats(row.raw, needles)
                else:
                    is_copy = (
                        _repeats(row.raw, needles)
                        or self._says(row, short)
                        or is_made_of(folded(self._title_of(row)), texts)
                    )
                if is_copy:
                    self._rows[row.key] = row
                    self._ids |= {row.message_id} if row.message_id else set()

    def _says(self, row: VaultRow, texts: set[tuple[str, str]]) -> bool:
        """Whether one of the strings of a record is one of these texts, of its session."""
        entry = self._entry(row)
        session_id = (entry.session_id if entry else "") or self._file(row.file_id).session_id
        return any((session_id, text) in texts for text in strings_of(row.raw, False))

    def _title_of(self, row: VaultRow) -> str:
        entry = self._entry(row)
        return entry.title if entry else ""

    # Titles, and what else is left of it

    def _reach_titles(self, reached: Reached, searched: Sequence[str]) -> None:
        texts = folded_texts(reached.messages)
        gone = {file.id for file in reached.files}
        whole = [found for name in self._whole_conversations if (found := self._conversations.get(name))]
        leaves = {str(block["uuid"]) for message in reached.messages for block in message.blocks if "uuid" in block}
        own = {item.leaf_id for item in whole if item.leaf_id}
        own |= {stream_title(item.file_id, item.stream) for item in whole if item.stream}
        streams = {stream_title(one.file_id, one.stream) for one in reached.messages if one.stream}
        named = self._store.titles_of(sorted(leaves | own | streams)) + self._store.titles_given_by(sorted(searched))
        givers: dict[str, set[str]] = {}
        for name, title, giver in named:
            if name in own or giver in gone or is_made_of(folded(title), texts):
                reached.titles[name] = title
                givers.setdefault(giver, set()).add(name)
        nameless = {file_id for file_id in searched if self._is_title_of_nobody(file_id, gone)}
        for row in self._store.rows_without_message(sorted((set(givers) | nameless) - {""})):
            entry = self._entry(row)
            if entry and entry.title and self._gives(entry, row.file_id, givers, nameless):
                self._rows[row.key] = row
        self._parse(self._rows.values())
        told = {mask(trace.entry.title)[:TITLE_CHARACTERS] for trace in self._traces.values() if trace.entry} - {""}
        for file_id in searched:
            title = self._file(file_id).title
            is_reached = title in told or file_id in nameless or is_made_of(folded(title), texts)
            if title and file_id not in gone and is_reached:
                reached.file_titles[file_id] = title
        reached.titles |= {name: title for name, title, giver in named if title in told and giver in searched}

    def _is_title_of_nobody(self, file_id: str, gone: set[str]) -> bool:
        """Whether all conversations of a file go, so that its title names nothing that stays."""
        ids = {item.id for item in self._conversations.of_file(file_id) if item.messages}
        return file_id not in gone and bool(ids) and ids <= self._whole_conversations

    def _gives(self, entry: Entry, file_id: str, givers: dict[str, set[str]], nameless: set[str]) -> bool:
        named = entry.title_leaf or (stream_title(file_id, entry.stream) if entry.stream else "")
        return named in givers.get(file_id, ()) if named else file_id in nameless

    def _reach_rest(self, reached: Reached, targets: Sequence[Message]) -> None:
        ids = {message.id for message in reached.messages}
        file_ids = {trace.row.file_id for trace in reached.traces} | {message.file_id for message in reached.messages}
        for file_id in sorted(file_ids):
            waiting = FoldState.from_json(self._file(file_id).state).waiting
            reached.typed_ahead += [text for message_id, text, _, _ in waiting if message_id in ids]
        reached.conversations = sorted({one.conversation_id for one in reached.messages if one.conversation_id})
        openings = {opening_of(message.text) for message in reached.messages}
        for name in reached.conversations:
            found = self._conversations.get(name)
            if found and found.opening in openings:
                reached.openings.append(found.opening)
        current = {trace.row.file_id for trace in reached.traces if self._is_in_file(trace.row)}
        reached.copies_on_disk = sorted({path for file_id in current for path in self._paths(file_id)})
        reached.also_in = self._quoted(targets, ids)

    def _is_in_file(self, row: VaultRow) -> bool:
        return row.generation == self._file(row.file_id).generation

    def _paths(self, file_id: str) -> Iterator[str]:
        container = self._file(file_id).container_id
        for host, path in self._store.places(container or file_id):
            if host == THIS_HOST and os.path.exists(path):
                yield path

    def _quoted(self, targets: Sequence[Message], ids: set[str]) -> list[str]:
        needles = sorted({one.text for one in targets if len(one.text) >= LEAST_CHARACTERS}, key=len)[:MOST_QUOTES]
        if not needles:
            return []
        return sorted(
            message_id
            for message_id, text in self._store.spoken(len(needles[0]))
            if message_id not in ids and any(needle in text for needle in needles)
        )

    # Reading the vault

    def _parse(self, rows: Iterable[VaultRow]) -> None:
        """Make traces of these records."""
        replays: dict[str, set[int]] = {}
        for row in rows:
            if row.key in self._traces:
                continue
            if _remembers(source_named(self._file(row.file_id).source)):
                replays.setdefault(row.file_id, set()).add(row.generation)
            else:
                self._traces[row.key] = Trace(row, self._entry(row))
        for file_id, generations in replays.items():
            self._replay(file_id, generations | {self._file(file_id).generation})

    def _replay(self, file_id: str, generations: set[int]) -> None:
        """Records that do not stand alone are understood in their order only. If the reader of a file died while it
        was read again, what it had not come to yet is of an older generation, and follows."""
        source, memory = source_named(self._file(file_id).source), dict[str, str]()
        for row in (row for one in sorted(generations, reverse=True) for row in self._store.replay(file_id, one)):
            if row.kind == FORGOTTEN:
                remnant = read_remnant(row.raw)
                memory = dict(remnant.memory) if remnant else memory
                continue
            entry = self._entry(row)
            if entry:
                source.settle(entry, memory)
            if row.key in self._rows:
                self._traces[row.key] = Trace(row, entry, dict(memory))

    def _entry(self, row: VaultRow) -> Entry | None:
        file = self._file(row.file_id)
        facts = FileFacts(key=file.key, kind=file.kind, session_id=file.session_id, agent_id=file.agent_id)
        try:
            return source_named(file.source).parse(row.raw, facts)
        except BadRecord:
            return None

    def _found(self) -> list[Message]:
        return list(self._messages.get(sorted(self._ids)).values())

    def _file(self, file_id: str) -> File:
        if file_id not in self._known:
            file = self._files.get(file_id)
            if file is None:
                raise RuntimeError(f"file {file_id} has records but no row")
            self._known[file_id] = file
        return self._known[file_id]


def _remembers(source: Source) -> bool:
    return type(source).settle is not Source.settle


def _repeats(raw: bytes, needles: Sequence[str]) -> bool:
    return bool(needles) and any(needle in text for text in strings_of(raw, True) for needle in needles)
