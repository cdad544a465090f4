"""Storing one batch of a file: its records, its messages, its conversations and how far the file is read, at once.

All of it happens in one write transaction. A crash leaves the state before or the state after, never between.
"""

from datetime import timedelta

from recollect.database import Session
from recollect.history.conversations import Conversation, Grouping, last_uuid
from recollect.history.folding import Batch
from recollect.history.messages import Author, Message, Standing
from recollect.history.ownership import Ownership
from recollect.history.store import ConversationStore, File, FileStore, LineStore, MessageStore, ThreadStore


class Writer:
    """Writes to the history of one house inside one session."""

    def __init__(self, session: Session, house: str, gap: timedelta) -> None:
        self.files = FileStore(session, house)
        self.lines = LineStore(session, house)
        self.messages = MessageStore(session, house)
        self.conversations = ConversationStore(session, house)
        self.threads = ThreadStore(session, house)
        self._ownership = Ownership(session, house)
        self._gap = gap

    def write(self, file: File, batch: Batch, parser: int, rewriting: bool) -> int:
        """Store a batch of `file`, whose row already says how far it is read now; how many messages are new."""
        self._ownership.remember(file)
        self.lines.add(file.id, file.generation, parser, batch.records)
        stored = self.messages.get(list(batch.messages))
        new: list[Message] = []
        contested: list[tuple[Message, Message]] = []
        completed: list[Message] = []
        replaced: list[Message] = []
        grown: dict[str, list[tuple[Message, str]]] = {}
        for draft in batch.messages.values():
            before = stored.get(draft.id)
            if before is None:
                new.append(draft)
            elif before.file_id != draft.file_id:
                contested.append((before, draft))
            elif before.generation != draft.generation:
                draft.conversation_id = before.conversation_id
                replaced.append(draft)
            else:
                last_before = last_uuid(before)
                if before.absorb(draft):
                    completed.append(before)
                    if before.conversation_id and before.standing is Standing.SAID:
                        grown.setdefault(before.conversation_id, []).append((before, last_before))
        left = self._leave_branches(file, new + replaced)
        regroup = {file.id} if left and not rewriting else set[str]()
        if batch.standings:
            self.messages.set_standings(batch.standings)
            regroup.add(file.id)
        if not rewriting and not regroup:
            self._extend(file.id, grown)
            self._group(file, new)
        self.messages.insert(new)
        self.messages.replace(completed + replaced)
        for before, draft in contested:
            self._ownership.contest(before, draft)
        self.threads.link(batch.links | self._ownership.links)
        self.threads.title(batch.titles)
        for span in batch.spans:
            if span.starts_at:
                self.files.open_span(span)
            else:
                self.files.close_spans(span.session_id, span.ends_at or "")
        self.files.save(file)
        regroup |= self._ownership.changed_files
        for file_id in regroup - ({file.id} if rewriting else set[str]()):
            self.regroup(file_id)
        return len(new)

    def finish_rewriting(self, file: File) -> None:
        """A rewritten file is read to its end: mark what it no longer has, and group it anew."""
        self._ownership.remember(file)
        left = self.messages.left_behind(file.id, file.generation)
        for start in range(0, len(left), 500):
            self._ownership.settle(list(self.messages.get(left[start : start + 500]).values()))
        self.threads.link(self._ownership.links)
        self.files.save(file)
        for file_id in self._ownership.changed_files | {file.id}:
            self.regroup(file_id)

    def regroup(self, file_id: str) -> None:
        """Put all messages of a file into conversations again."""
        file = self.files.get(file_id)
        if file is None:
            return
        grouping = Grouping(self._gap, file.session_id)
        placed: dict[str, str | None] = {}
        for message in self.messages.of_file(file_id):
            conversation_id = grouping.place(message)
            if conversation_id != message.conversation_id:
                placed[message.id] = conversation_id
        self.messages.set_conversations(placed)
        self.conversations.replace_all(file_id, grouping.touched)

    def settle_prompts(self) -> None:
        for file_id in self.messages.settle_prompts():
            self.regroup(file_id)

    def _group(self, file: File, new: list[Message]) -> None:
        streams = {message.stream for message in new}
        latest = [self.conversations.latest(file.id, stream) for stream in sorted(streams)]
        grouping = Grouping(self._gap, file.session_id, [found for found in latest if found])
        for message in new:
            message.conversation_id = grouping.place(message)
        self.conversations.save(list(grouping.touched.values()))

    def _extend(self, file_id: str, grown: dict[str, list[tuple[Message, str]]]) -> None:
        if not grown:
            return
        changed: list[Conversation] = []
        for conversation in self.conversations.of_file(file_id):
            for message, last_before in grown.get(conversation.id, []):
                conversation.extend(message, last_before)
                changed.append(conversation)
        self.conversations.save(changed)

    def _leave_branches(self, file: File, fresh: list[Message]) -> bool:
        """Going back and writing something else abandons what was said from there on; True if stored rows changed."""
        prompts = [message for message in fresh if _is_prompt(message)]
        if not prompts:
            return False
        first = self.messages.prompts_after(file.id, sorted({message.parent_id for message in prompts}))
        changed = 0
        for prompt in prompts:
            since = first.setdefault(prompt.parent_id, prompt.start_byte)
            if since >= prompt.start_byte:
                continue
            changed += self.messages.abandon(file.id, file.generation, since, prompt.start_byte)
            for message in fresh:
                if since <= message.start_byte < prompt.start_byte and message.standing is Standing.SAID:
                    message.standing = Standing.ABANDONED
            first[prompt.parent_id] = prompt.start_byte
        return changed > 0


def _is_prompt(message: Message) -> bool:
    return message.author is Author.USER and message.standing is Standing.SAID and bool(message.parent_id)
