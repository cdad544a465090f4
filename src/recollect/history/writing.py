"""Storing one batch of a file: its records, its messages, its conversations and how far the file is read, at once.

All of it happens in one write transaction. A crash leaves the state before or the state after, never between.
"""

from dataclasses import dataclass, field
from datetime import timedelta

from recollect.database import Session
from recollect.history.branches import Branches
from recollect.history.conversations import Conversation, Grouping
from recollect.history.fold_state import Batch, FoldState
from recollect.history.messages import Author, Message, Standing
from recollect.history.ownership import Ownership
from recollect.history.store import ConversationStore, File, FileStatus, FileStore, LineStore, MessageStore, ThreadStore


@dataclass(slots=True)
class _SortedOut:
    """The messages of a batch by what is to be done with them."""

    new: list[Message] = field(default_factory=list[Message])
    completed: list[tuple[Message, str]] = field(default_factory=list[tuple[Message, str]])
    """Stored messages with what this batch adds to them, and the uuid that was their last before."""
    replaced: list[Message] = field(default_factory=list[Message])
    """Messages of a file that is read again from its start, or that came back to it."""
    contested: list[tuple[Message, Message]] = field(default_factory=list[tuple[Message, Message]])
    """(as stored for another file, as this file has it)"""
    has_restated: bool = False
    """A stored message says something else now: its conversation may begin with other words."""


def _sort_out(batch: Batch, stored: dict[str, Message]) -> _SortedOut:
    result = _SortedOut()
    for draft in batch.messages.values():
        before = stored.get(draft.id)
        if before is None:
            result.new.append(draft)
        elif before.file_id != draft.file_id:
            result.contested.append((before, draft))
        elif before.generation != draft.generation:
            draft.conversation_id = before.conversation_id
            result.replaced.append(draft)
        else:
            leaf_before = before.leaf_id
            if draft.id in batch.restated:
                result.has_restated |= before.author is Author.USER or before.standing is not draft.standing
                before.restate(draft)
                result.completed.append((before, leaf_before))
            elif before.absorb(draft):
                result.completed.append((before, leaf_before))
            if draft.standing in (Standing.REPEATED, Standing.WITHDRAWN):
                batch.standings[draft.id] = draft.standing
    return result


class Writer:
    """Writes to the history of one house inside one session."""

    def __init__(self, session: Session, house: str, gap: timedelta) -> None:
        self.files = FileStore(session, house)
        self.lines = LineStore(session, house)
        self.messages = MessageStore(session, house)
        self.conversations = ConversationStore(session, house)
        self.threads = ThreadStore(session, house)
        self._branches = Branches(session, house, self.messages)
        self._ownership = Ownership(session, house, self.messages)
        self._gap = gap

    def write(self, file: File, batch: Batch, parser: int, *, group_later: bool) -> int:
        """Store a batch of `file`, whose row already says how far it is read now; how many messages are new.

        `group_later`: the file is grouped when it is read to its end, because it is read again from its start, or
        because an earlier block changed what was said before.
        """
        self._ownership.remember(file)
        self.lines.add(file.id, file.generation, parser, batch.records)
        sorted_out = _sort_out(batch, self.messages.get(list(batch.messages)))
        fresh = sorted_out.new + sorted_out.replaced + [draft for _, draft in sorted_out.contested]
        left = self._branches.leave(file, fresh + [message for message, _ in sorted_out.completed], batch.turns)
        must_regroup = left or bool(batch.standings) or sorted_out.has_restated or batch.has_jumped
        self.messages.set_standings(file.id, batch.standings)
        if not group_later and not must_regroup:
            self._extend(file.id, sorted_out.completed)
            self._group(file, sorted(sorted_out.new + sorted_out.replaced, key=lambda message: message.start_byte))
        self.messages.insert(sorted_out.new)
        self.messages.replace([message for message, _ in sorted_out.completed] + sorted_out.replaced)
        self._ownership.contest(sorted_out.contested)
        self.threads.link(batch.links | self._ownership.links)
        self.threads.title(file.id, batch.titles)
        self._note_spans(batch)
        if must_regroup and file.status is FileStatus.INGESTING:
            file.state = _regroup_later(file.state)
            group_later = True
        elif batch.has_jumped:
            self._branches.follow_tree(file)
        self.files.save(file)
        changed = self._ownership.changed_files | self._branches.leave_files(file)
        if must_regroup:
            changed.add(file.id)
        if group_later:
            changed.discard(file.id)
        self.regroup(changed)
        return len(sorted_out.new)

    def _note_spans(self, batch: Batch) -> None:
        for span in batch.spans:
            if span.starts_at:
                self.files.open_span(span)
            else:
                self.files.close_spans(span.session_id, span.ends_at or "")

    def finish(self, file: File, *, follow_tree: bool) -> None:
        """A file that was rewritten, or must be grouped, is read to its end: mark what it no longer has, group it."""
        self._ownership.remember(file)
        if follow_tree:
            self._branches.follow_tree(file)
        left = self.messages.left_behind(file.id, file.generation)
        for start in range(0, len(left), 500):
            self._ownership.settle(list(self.messages.get(left[start : start + 500]).values()))
        self.threads.link(self._ownership.links)
        self.files.save(file)
        self.regroup(self._ownership.changed_files | self._branches.leave_files(file) | {file.id})

    def regroup(self, file_ids: set[str]) -> None:
        """Put all messages of these files into conversations again."""
        old: list[Conversation] = []
        new: dict[str, Conversation] = {}
        placed: dict[str, str | None] = {}
        for file_id in sorted(file_ids):
            file = self.files.get(file_id)
            if file is None:
                continue
            old += self.conversations.of_file(file_id)
            grouping = Grouping(self._gap, file.session_id)
            for message in self.messages.to_group(file_id):
                conversation_id = grouping.place(message)
                if conversation_id != message.conversation_id:
                    placed[message.id] = conversation_id
            new |= grouping.touched
        self.messages.set_conversations(placed)
        self.conversations.replace_all(old, new)

    def settle_prompts(self) -> None:
        self.regroup(self.messages.settle_prompts())

    def _group(self, file: File, new: list[Message]) -> None:
        streams = {message.stream for message in new}
        latest = [self.conversations.latest(file.id, stream) for stream in sorted(streams)]
        grouping = Grouping(self._gap, file.session_id, [found for found in latest if found])
        for message in new:
            message.conversation_id = grouping.place(message)
        self.conversations.save(list(grouping.touched.values()))

    def _extend(self, file_id: str, completed: list[tuple[Message, str]]) -> None:
        """Later records completed messages that are in conversations already."""
        spoken = [pair for pair in completed if pair[0].conversation_id and pair[0].standing is Standing.SAID]
        if not spoken:
            return
        changed: dict[str, Conversation] = {}
        stored = {conversation.id: conversation for conversation in self.conversations.of_file(file_id)}
        for message, last_before in spoken:
            conversation = stored.get(message.conversation_id or "")
            if conversation:
                conversation.extend(message, last_before)
                changed[conversation.id] = conversation
        self.conversations.save(list(changed.values()))


def _regroup_later(state: str) -> str:
    read = FoldState.from_json(state)
    read.must_regroup = True
    return read.to_json()
