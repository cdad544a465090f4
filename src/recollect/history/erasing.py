"""Forgetting, history's side of it: what goes with a message, a conversation or a file, and taking it out.

Records of a file that stays are blanked, not deleted: their place is kept, so that reading on, comparing and reading
again from the vault find everything else where it stands. What was taken out is buried: see `burial`.

A conversation that loses messages keeps its standing: work that was done on it is not done again because something in
it was forgotten. If it loses its first message its id changes, as ids come from first messages; the standing goes
along.
"""

import os
from collections.abc import Iterable, Sequence
from datetime import timedelta

from recollect.database import Session
from recollect.errors import Conflict, NotFound
from recollect.history.burial import FILE, LEAST_CHARACTERS, LINE, MESSAGE, WORDS, Burial, remnant_of
from recollect.history.conversations import Status, only_one
from recollect.history.fold_state import FoldState, ForgottenPrompt
from recollect.history.messages import Author, Message, Standing
from recollect.history.reached import Reached, Trace
from recollect.history.reaching import Reaching
from recollect.history.store import (
    CONTAINER,
    ConversationStore,
    ErasingStore,
    File,
    FileStore,
    MessageStore,
    VaultRow,
)
from recollect.history.vault import pack
from recollect.history.writing import Writer
from recollect.lineage import Hasher, TombstoneStore

__all__ = ["Erasing", "Reached"]

END_OF_FILE = (1 << 63) - 1


class Erasing:
    """Inside one session. Reaching changes nothing; `erase` needs a write session."""

    def __init__(self, session: Session, house: str, gap: timedelta) -> None:
        self._session = session
        self._house = house
        self._gap = gap
        self._store = ErasingStore(session, house)
        self._files = FileStore(session, house)
        self._messages = MessageStore(session, house)
        self._conversations = ConversationStore(session, house)

    # What goes

    def of_message(self, name: str) -> list[str]:
        """The message of this id, or whose id begins so."""
        found = self._store.messages_named(name)
        if not found:
            raise NotFound(f"No message is called {name[:100]!r}. `recollect show ID --ids` tells the ids of messages.")
        if name in found:
            return [name]
        if len(found) > 1:
            raise Conflict(f"{name!r} could be several messages: {', '.join(found[:5])} … Give more of the id.")
        return found

    def reach_messages(self, message_ids: Sequence[str]) -> Reached:
        return Reaching(self._session, self._house).reach(message_ids)

    def reach_conversation(self, name: str) -> Reached:
        """A conversation by its id, the start of it, or its session: everything in it, said or not, and what its
        sub-agents did."""
        conversation = only_one(name, self._conversations.with_prefix(name) if name.strip() else [])
        messages = self._messages.of_conversation(conversation.id)
        if conversation.session_id:
            times = (conversation.started_at, conversation.ended_at)
            messages += self._messages.of_agents(conversation.session_id, *times)
        ids = {message.id for message in messages}
        rows: list[VaultRow] = []
        if not conversation.stream:
            file = self._files.get(conversation.file_id)
            starts = [item.start_byte for item in self._conversations.of_file(conversation.file_id) if item.messages]
            until = min((start for start in starts if start > conversation.start_byte), default=END_OF_FILE)
            generation = file.generation if file else 0
            rows += self._store.rows_between(conversation.file_id, generation, conversation.start_byte, until)
        for file_id in sorted({message.file_id for message in messages} - {conversation.file_id}):
            if {message_id for message_id, *_ in self._store.in_files([file_id])} <= ids:
                rows += self._store.rows_without_message([file_id])  # A sub-agent's file of which nothing stays.
        return Reaching(self._session, self._house).reach(ids, rows, conversations=[conversation.id])

    def reach_file(self, name: str) -> Reached:
        """A file by its path, its key or its id; of one that holds many transcripts, all of them."""
        file = self._file_named(name)
        inside = self._files.inside(file.id) if file.kind == CONTAINER else []
        ids: set[str] = set()
        rows: list[VaultRow] = []
        conversations: set[str] = set()
        for one in inside or [file]:
            ids |= set(self._store.messages_with_rows(one.id))
            ids |= {message_id for message_id, *_ in self._store.in_files([one.id])}
            rows += self._store.rows_of_file(one.id)
            conversations |= {item.id for item in self._conversations.of_file(one.id)}
        return Reaching(self._session, self._house).reach(ids, rows, [file, *inside], conversations)

    def _file_named(self, name: str) -> File:
        seen = self._files.seen(os.path.abspath(os.path.expanduser(name))) if name.strip() else None
        found = [seen.file_id] if seen else self._store.files_with_key(name) or self._store.files_named(name)
        if name in found:
            found = [name]
        file = self._files.get(found[0]) if found else None
        if file is None:
            raise NotFound(f"No file is known as {name[:200]!r}. Give its path, or the `file` of a conversation.")
        if len(found) > 1:
            raise Conflict(f"{name!r} could be several files: {', '.join(found[:5])} … Give the path, or one of them.")
        return file

    # The act

    def erase(self, reached: Reached, hasher: Hasher, tombstones: TombstoneStore, origin: str) -> dict[str, int]:
        """Take all of it out and bury it; how much went. `origin`: the receipt."""
        burial = Burial(hasher)
        gone = {file.id for file in reached.files}
        ids = {message.id for message in reached.messages}
        traces: dict[str, list[Trace]] = {}
        for trace in reached.traces:
            traces.setdefault(trace.row.file_id, []).append(trace)
        self._bury(reached, traces, burial, tombstones, origin)
        touched = {message.file_id for message in reached.messages} | set(traces) | set(reached.file_titles)
        staying = sorted(touched - gone)
        placed = {message_id: place for message_id, _, _, place in self._store.in_files(staying)}
        statuses = {item.id: item.status for file_id in staying for item in self._conversations.of_file(file_id)}
        self._store.delete_messages(sorted(ids))
        self._store.delete_titles(reached.titles)
        for file_id in staying:
            self._blank(file_id, traces.get(file_id, []), reached, burial)
        for file in reached.files:
            self._delete(file)
        Writer(self._session, self._house, self._gap).regroup(set(staying))
        self._carry_over(staying, placed, statuses)
        left = {item.id for file_id in staying for item in self._conversations.of_file(file_id)}
        return {
            "messages": len(ids),
            "lines": len(reached.traces),
            "files": len(gone),
            "titles": len(reached.titles) + len(reached.file_titles),
            "conversations": len(set(reached.conversations) - left),
        }

    def _bury(
        self,
        reached: Reached,
        traces: dict[str, list[Trace]],
        burial: Burial,
        tombstones: TombstoneStore,
        origin: str,
    ) -> None:
        lines: list[str] = []
        for file_id, found in traces.items():
            file = self._files.get(file_id)
            scope = burial.head(file.head) if file else ""
            lines += [burial.line(trace.row.digest, scope if trace.is_placed else "") for trace in found]
        tombstones.bury(LINE, lines, origin)
        tombstones.bury(MESSAGE, (burial.message(message.id) for message in reached.messages), origin)
        tombstones.bury(WORDS, (one for message in reached.messages for one in _words(message, burial)), origin)
        for file in reached.files:
            if file.kind != CONTAINER:  # A later export may have more than what was forgotten.
                marks = {file.session_id, file.head} - {""}
                tombstones.bury(FILE, (burial.file(file.source, file.key, mark) for mark in marks), origin)

    def _blank(self, file_id: str, traces: list[Trace], reached: Reached, burial: Burial) -> None:
        file = self._files.get(file_id)
        if file is None:
            return
        self._store.blank((trace.row.key, pack(_remnant(trace, burial))) for trace in traces)
        if any(trace.row.line == 1 for trace in traces):
            file.head = burial.head(file.head)
        if file_id in reached.file_titles:
            file.title = ""
        file.counts.forgotten += sum(trace.row.generation == file.generation for trace in traces)
        file.state = _scrubbed(file, reached, burial).to_json()
        self._files.save(file)

    def _delete(self, file: File) -> None:
        for conversation in self._conversations.of_file(file.id):
            self._conversations.delete(conversation.id)
        self._store.delete_file(file.id)
        if file.session_id and not self._store.files_of_sessions([file.session_id]):
            self._store.delete_links(file.session_id)

    def _carry_over(self, file_ids: Sequence[str], placed: dict[str, str | None], statuses: dict[str, Status]) -> None:
        """Give every conversation the standing of the one its messages were in."""
        before: dict[str, set[str]] = {}
        for message_id, _, _, now in self._store.in_files(file_ids):
            was = placed.get(message_id)
            if now and was:
                before.setdefault(now, set()).add(was)
        for file_id in file_ids:
            for conversation in self._conversations.of_file(file_id):
                was = before.get(conversation.id, set())
                status = statuses.get(next(iter(was))) if len(was) == 1 else None
                if status is Status.PROCESSING and conversation.id not in was:
                    status = Status.QUEUED  # Who is at it will not find it again.
                if status and status is not conversation.status:
                    conversation.status = status
                    self._conversations.save([conversation])


def _words(message: Message, burial: Burial) -> Iterable[str]:
    """What its words are kept out by, wherever they are met again without its id."""
    if message.author is Author.USER and message.text:
        yield burial.prompt(message.session_id, message.text)
        yield burial.prompt(message.at[:16], message.text)
    if message.text:
        yield burial.words(message.session_id, message.text)
    if len(message.text) >= LEAST_CHARACTERS:
        yield burial.words("", message.text)
        yield burial.said(message.author, message.at, message.text)


def _remnant(trace: Trace, burial: Burial) -> bytes:
    if trace.entry is None:
        return b""
    message_id = trace.row.message_id or ""
    trace.entry.key = message_id
    return remnant_of(trace.entry, trace.memory, burial.message(message_id) if message_id else "").to_bytes()


def _scrubbed(file: File, reached: Reached, burial: Burial) -> FoldState:
    """What the reader of a file remembers between blocks, without what was forgotten."""
    state = FoldState.from_json(file.state)
    ids = {message.id for message in reached.messages}
    state.waiting = [
        ("", "", delivered, left_at) if message_id in ids else (message_id, text, delivered, left_at)
        for message_id, text, delivered, left_at in state.waiting
    ]
    state.recent = {name: number for name, number in state.recent.items() if name not in ids}
    state.forgotten_prompts += [
        ForgottenPrompt(message.start_byte, message.parent_id, burial.message(message.id))
        for message in sorted(reached.messages, key=lambda one: one.start_byte)
        if (message.file_id, message.generation) == (file.id, file.generation)
        and message.author is Author.USER
        and message.standing is Standing.SAID
    ]
    return state
