"""What was said last, whatever conversation it was said in.

Messages have no index on time, and need none: no message is later than the end of its conversation, and conversations
have one. So conversations are read from the one that ended last, until none that is left could hold anything later than
what was found.
"""

from collections.abc import Iterator

from recollect.history.messages import Message
from recollect.history.store import ConversationStore, MessageStore

PAGE = 10
"""Conversations asked for at once."""
MOST_READ = 200
"""Conversations read at the most, for what is rare in them: who said nothing in so many is not who goes on talking."""
_END = ("9999-99", "")


def latest_said(
    conversations: ConversationStore, messages: MessageStore, limit: int, *, after: str = "", author: str = ""
) -> list[Message]:
    """The oldest first. `after`: only what was said later than this."""
    found: list[Message] = []
    for read, (ended_at, conversation_id) in enumerate(_latest_ended(conversations)):
        is_full = len(found) == limit and ended_at < found[0].at
        if is_full or ended_at <= after or read == MOST_READ:
            break
        found += messages.latest_said(conversation_id, after, author, limit)
        found.sort(key=lambda message: (message.at, message.conversation_id or "", message.start_byte, message.id))
        found = found[-limit:]
    return found


def _latest_ended(conversations: ConversationStore) -> Iterator[tuple[str, str]]:
    before = _END
    while page := conversations.latest_ended(before, PAGE):
        yield from page
        before = page[-1]
