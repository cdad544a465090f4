"""How much there is, in numbers."""

from dataclasses import dataclass

from recollect.database import Session
from recollect.history.store import ConversationStore, LineStore, MessageStore
from recollect.scopes import Sight


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    conversations: int
    months: int
    first_at: str
    last_at: str
    by_status: dict[str, int]
    messages: list[tuple[str, str, bool, int]]
    """(author, standing, gone, number)"""
    vault: tuple[int, int, int]
    """Records, bytes as read, bytes as kept."""


def figures_of(session: Session, house: str, sight: Sight, ready_before: str) -> Figures:
    conversations = ConversationStore(session, house, sight)
    _, months, first, last = conversations.extent()
    by_status = conversations.counts(ready_before)
    return Figures(
        conversations=sum(by_status.values()),  # Also those without a time.
        months=months,
        first_at=first,
        last_at=last,
        by_status=by_status,
        messages=MessageStore(session, house, sight).counts(),
        vault=LineStore(session, house, sight).totals(),
    )
