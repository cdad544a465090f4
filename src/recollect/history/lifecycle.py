"""Moving a conversation from one status to the next, when nobody else has moved it."""

from recollect.database import Session
from recollect.errors import Conflict, NotFound
from recollect.history.conversations import Conversation, Status
from recollect.history.store import ConversationStore

IN_WORK = (Status.QUEUED, Status.PROCESSING)


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


def begin(session: Session, house: str, conversation_id: str, ready_before: str) -> Conversation | None:
    """Take a queued conversation into work, or one that was left in the middle. None: there is nothing to do for it.
    One that gained words since it was queued, and has not ended again, starts again."""
    store = ConversationStore(session, house)
    found = store.get(conversation_id)
    if found is None or found.status not in IN_WORK:
        return None
    if not found.messages or found.ended_at >= ready_before:
        store.change_status(found, Status.ACTIVE)
        return None
    store.change_status(found, Status.PROCESSING)
    found.status = Status.PROCESSING
    return found


def finish(session: Session, house: str, conversation: Conversation, status: Status) -> Status | None:
    """End the work on a conversation; the status it has then. One that is not as it was when it was taken starts again.
    None: it is not in work any more, or not there."""
    store = ConversationStore(session, house)
    stored = store.get(conversation.id)
    if stored is None or stored.status not in IN_WORK:
        return None
    after = status if is_as_taken(stored, conversation) else Status.ACTIVE
    store.change_status(stored, after)
    return after


def is_as_taken(stored: Conversation | None, conversation: Conversation) -> bool:
    """Whether what was read is still all there is."""
    if stored is None or stored.status is not Status.PROCESSING:
        return False
    return _content(stored) == _content(conversation)


def requeue(session: Session, house: str, conversation_id: str) -> None:
    """Work on it was not finished, and is to be done by whoever takes it next."""
    store = ConversationStore(session, house)
    found = store.get(conversation_id)
    if found and found.status is Status.PROCESSING:
        store.change_status(found, Status.QUEUED)


def _content(conversation: Conversation) -> tuple[int, str, str]:
    """What changes when something is added to a conversation."""
    return conversation.messages, conversation.ended_at, conversation.leaf_id
