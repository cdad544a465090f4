"""Moving a conversation from one status to the next, when nobody else has moved it."""

from recollect.database import Session
from recollect.errors import Conflict, NotFound
from recollect.history.conversations import Conversation, Status
from recollect.history.store import ConversationStore


def claim_next(session: Session, house: str) -> Conversation | None:
    """The next queued conversation, now being processed by the caller."""
    store = ConversationStore(session, house)
    conversation = store.next_queued()
    if conversation and store.change_status(conversation, Status.PROCESSING):
        conversation.status = Status.PROCESSING
        return conversation
    return None


def move(session: Session, house: str, conversation: Conversation, status: Status, ready_before: str) -> Status:
    """The status it has then: one that gained messages since it was read starts again."""
    store = ConversationStore(session, house)
    stored = store.get(conversation.id)
    if stored is None:
        raise NotFound(f"Conversation {conversation.id} is not there any more.")
    if stored.status is Status.ACTIVE and stored.ended_at < ready_before:
        stored.status = Status.READY
    if stored.status is not conversation.status:
        raise Conflict(f"Conversation {conversation.id} is {stored.status} by now.")
    gained = _content(stored) != _content(conversation)
    stored.status = Status.ACTIVE if gained else status
    store.save([stored])
    return stored.status


def _content(conversation: Conversation) -> tuple[int, str, str]:
    """What changes when something is added to a conversation."""
    return conversation.messages, conversation.ended_at, conversation.leaf_id
