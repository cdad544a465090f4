"""What was said last, whatever conversation it was said in.

Messages have no index on time, and need none: no message is later than the end of its conversation, and conversations
have one. So conversations are read from the one that ended last, until none that is left could hold anything later than
what was found. They are looked for in the last day, then in longer and longer times: an engine that does not know yet
how many there are would else put all of them in order.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from recollect.clock import to_text
from recollect.history.messages import Message
from recollect.history.store import ConversationStore, MessageStore

PAGE = 10
"""Conversations asked for at once."""
MOST_READ = 200
"""Conversations read at the most, for what is rare in them: who said nothing in so many is not who goes on talking."""
WINDOWS_DAYS = (1, 8, 64, 512)
"""Before now. What is left after them is all there was before."""
_END = ("9999-99", "")


def latest_said(
    conversations: ConversationStore,
    messages: MessageStore,
    now: datetime,
    limit: int,
    *,
    after: str = "",
    author: str = "",
) -> list[Message]:
    """The oldest first. `after`: only what was said later than this."""
    found: list[Message] = []
    for read, (ended_at, conversation_id) in enumerate(_latest_ended(conversations, now, after)):
        is_full = len(found) == limit and ended_at < found[0].at
        if is_full or ended_at <= after or read == MOST_READ:
            break
        found += messages.latest_said(conversation_id, after, author, limit)
        found.sort(key=lambda message: (message.at, message.conversation_id or "", message.start_byte, message.id))
        found = found[-limit:]
    return found


def _latest_ended(conversations: ConversationStore, now: datetime, after: str) -> Iterator[tuple[str, str]]:
    before = _END
    for since in (*(to_text(now - timedelta(days=days)) for days in WINDOWS_DAYS), ""):
        while page := conversations.latest_ended(since, before, PAGE):
            yield from page
            before = page[-1]
        if since <= after:
            return
        before = (since, "")
