"""Live: what was just said becomes known, while its conversation goes on.

The same readers, evidence and filing as for a conversation that has ended, and the same ids: when all of it is read at
its end, that reading finds its records there, and withdraws what it does not find. Its status is not touched. Where
that reading has begun already nothing is filed here: it knows more.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field

from recollect.clock import Clock, to_text
from recollect.database import Database
from recollect.errors import RecollectError
from recollect.history import Conversation, Status
from recollect.history.store import ConversationStore, MessageStore
from recollect.knowledge.store import RecordStore
from recollect.librarian.desk import LibrarianDesk
from recollect.librarian.filing import file
from recollect.librarian.live.asked import asked_known
from recollect.librarian.telling import Filed, Prepared
from recollect.llm import Usage

EVENT = "exchange"
"""Its name in runs."""
ASKED_KNOWN = "asked_known"


@dataclass(slots=True, kw_only=True)
class Lived:
    """What became of some new messages."""

    outcomes: dict[str, int] = field(default_factory=dict[str, int])
    """new, same, replaces, withdrawn … → how many."""
    records: list[str] = field(default_factory=list[str])
    questions: int = 0
    """That were asked though the answer was on record."""
    usage: Usage = field(default_factory=Usage)


class Live:
    """Used by one thread at a time; `stop` by any."""

    def __init__(
        self,
        database: Database,
        house: str,
        clock: Clock,
        record: Callable[[str, str, float, dict[str, object]], None],
        desk: Callable[[], AbstractContextManager[LibrarianDesk]],
        may_read: Callable[[], bool],
    ) -> None:
        self._database = database
        self._house = house
        self._clock = clock
        self._record = record
        self._open = desk
        self._may_read = may_read
        self._desk: LibrarianDesk | None = None
        self._is_stopped = False

    def read(self, message_ids: Sequence[str]) -> Lived:
        """What these new messages say. Raises what a model raises; then the reading at the end makes it good."""
        lived = Lived()
        if not message_ids or self._is_stopped or not self._may_read():
            return lived
        for conversation in self._conversations(message_ids):
            with self._open() as desk, suppress(asyncio.CancelledError):
                self._desk = desk
                if self._is_stopped:
                    desk.stop()
                self._read(desk, conversation, message_ids, lived)
            self._desk = None
        return lived

    def stop(self) -> None:
        """Nothing more is read, and no answer of a model is waited for."""
        self._is_stopped = True
        desk = self._desk
        if desk:
            desk.stop()

    def _conversations(self, message_ids: Sequence[str]) -> list[Conversation]:
        """Those that still go on, the earliest first."""
        with self._database.read() as session:
            ids = set(MessageStore(session, self._house).conversations_of(message_ids).values())
            store = ConversationStore(session, self._house)
            found = [one for name in ids if (one := store.get(name)) and one.status is Status.ACTIVE]
        return sorted(found, key=lambda one: (one.started_at, one.id))

    def _read(self, desk: LibrarianDesk, conversation: Conversation, new: Sequence[str], lived: Lived) -> None:
        started = time.monotonic()
        prepared = desk.read_new(conversation, frozenset(new))
        lived.usage += prepared.usage
        with self._database.write() as session:
            stored = ConversationStore(session, self._house).get(conversation.id)
            if stored is None or stored.status is not Status.ACTIVE:
                return
            if not MessageStore(session, self._house).are_there(prepared.times):
                return  # Something of it was forgotten: the next reading does without.
            questions = asked_known(RecordStore(session, self._house), prepared)
            filed = file(session, self._house, prepared, to_text(self._clock()))
        for outcome, number in filed.outcomes.items():
            lived.outcomes[outcome] = lived.outcomes.get(outcome, 0) + number
        lived.records += filed.records
        lived.questions += questions
        self._note(prepared, filed, questions, time.monotonic() - started)

    def _note(self, prepared: Prepared, filed: Filed, questions: int, seconds: float) -> None:
        detail: dict[str, object] = {"conversation": prepared.conversation.id, **filed.outcomes}
        if prepared.usage.calls:
            detail |= {"input_tokens": prepared.usage.input_tokens, "output_tokens": prepared.usage.output_tokens}
        with suppress(RecollectError):  # An event may be lost; what was filed is filed.
            self._record(EVENT, "done", seconds, detail)
            if questions:
                self._record(ASKED_KNOWN, "done", 0.0, {"questions": questions})
