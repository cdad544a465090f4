"""The side of forgetting: what was shown of a record goes with it, and of a session with any of its messages."""

from collections.abc import Iterator
from typing import Protocol

from recollect.database import Session
from recollect.history.store import MessageStore
from recollect.showings.store import ShowingStore


class Reached(Protocol):
    """What of an act of forgetting concerns showings."""

    messages: set[str]
    records: set[str]


class ShowingsPart:
    """A `forgetting.Part`."""

    def __init__(self, house: str) -> None:
        self._house = house

    def origins(self, session: Session, reach: Reached) -> set[tuple[str, str]]:
        """No line of a note comes from a showing."""
        return set()

    def notes(self, session: Session, reach: Reached) -> dict[str, int]:
        return {}

    def reach(self, session: Session, reach: Reached) -> dict[str, int]:
        return _told(ShowingStore(session, self._house).number_of(sorted(reach.records)))

    def contents(self, session: Session, reach: Reached) -> Iterator[bytes]:
        """Ids and numbers: there are no words in it."""
        return iter(())

    def erase(self, session: Session, reach: Reached) -> dict[str, int]:
        store = ShowingStore(session, self._house)
        messages = MessageStore(session, self._house).get(sorted(reach.messages))
        named = sorted({message.session_id for message in messages.values() if message.session_id})
        if named:
            store.drop_sessions(store.sessions_named(named))
        return _told(store.drop_records(sorted(reach.records)))


def _told(rows: int) -> dict[str, int]:
    """Told only where there are any: most houses show nothing to sessions."""
    return {"showings": rows} if rows else {}
