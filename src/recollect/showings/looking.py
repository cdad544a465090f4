"""Looking at the sessions in which something was shown: what their assistants said since, and what is over.

Everything is found again from the tables: a look that is cut off is made again at the next intake. Each session is
judged by what its own scope may read.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from recollect.clock import to_text
from recollect.database import Database
from recollect.errors import NotFound
from recollect.history import Author, Conversation, History, Message, Standing
from recollect.knowledge.store import RecordStore
from recollect.scopes import HOUSE, Actor, Principal, ScopeStore, sight_of
from recollect.showings.store import ShowingStore, ShownRecord, ShownSession
from recollect.showings.use import Shown, Spoken, used_among

OPEN_DAYS = 3
"""After these, what was shown in a session and not used counts as unused. A session that is taken up later can still
use it, as long as its showings are kept."""
KEPT_DAYS = 14
MOST_SESSIONS = 2_000
"""Of a house. The oldest go first, without a count."""
LARGE_MESSAGES = 500
"""A session with more is looked at again only after a while: it grows with every line, and a look reads all of it."""
LARGE_MINUTES = 10
LAST_CONVERSATIONS = 8
"""Of a session that goes on for months. What was said before them is not looked at."""
CLOSED_AT_ONCE = 5_000
HEARD = (Author.USER, Author.TOOL)


class Looking:
    def __init__(self, database: Database, house: str, history: History) -> None:
        """`history`: as a person sees it; each session is read as its own scope sees it."""
        self._database = database
        self._house = house
        self._history = history

    def look(self, now: datetime) -> int:
        """What was used in sessions that went on since the last look; how much."""
        with self._database.read() as session:
            sessions = ShowingStore(session, self._house).sessions()
        by_scope: dict[str, list[ShownSession]] = {}
        for one in sessions:
            by_scope.setdefault(one.scope, []).append(one)
        return sum(self._look_as(_reader(scope), some, now) for scope, some in by_scope.items())

    def _look_as(self, reader: Principal, sessions: Sequence[ShownSession], now: datetime) -> int:
        history = self._history.seen_by(reader)
        try:
            said = history.of_sessions([one.session_id for one in sessions])
        except NotFound:
            return 0  # The scope is gone; `tend` drops what was shown there.
        number = 0
        for one in sessions:
            conversations = said.get(one.session_id, [])
            if conversations and is_to_be_looked_at(one, conversations, now):
                number += self._look_at(one, conversations, history, reader, now)
        return number

    def _look_at(
        self,
        shown: ShownSession,
        conversations: Sequence[Conversation],
        history: History,
        reader: Principal,
        now: datetime,
    ) -> int:
        with self._database.read() as session:
            waiting = ShowingStore(session, self._house).waiting(shown)
            store = RecordStore(session, self._house, sight_of(session, self._house, reader))
            records = store.get([one.record_id for one in waiting])
        messages = [
            message
            for conversation in conversations[-LAST_CONVERSATIONS:]
            for message in history.messages(conversation, everything=True, subagents=False)
        ]
        texts = {name: f"{record.text}\n{record.value}" for name, record in records.items()}
        spoken = list(spoken_in(messages))
        used = used_among([_shown(one, texts[one.record_id]) for one in waiting if one.record_id in texts], spoken)
        answers = sum(one.is_assistant and one.at >= shown.shown_at for one in spoken)
        at = to_text(now)
        with self._database.write() as session:
            store = ShowingStore(session, self._house)
            for one in waiting:
                if one.record_id in used:
                    store.use_in(shown.scope, shown.session_id, one, at)
            store.looked(shown, fingerprint(conversations), at, answers)
        return len(used)

    def tend(self, now: datetime) -> None:
        """Count what is over as unused, and drop what is old, too much, or of a scope that is gone."""
        with self._database.read() as session:
            if not ShowingStore(session, self._house).scopes():
                return
        closing, keeping = (to_text(now - timedelta(days=days)) for days in (OPEN_DAYS, KEPT_DAYS))
        is_done = False
        while not is_done:
            with self._database.write() as session:
                is_done = ShowingStore(session, self._house).close(closing, CLOSED_AT_ONCE) < CLOSED_AT_ONCE
        with self._database.write() as session:
            store = ShowingStore(session, self._house)
            store.prune(keeping, MOST_SESSIONS, CLOSED_AT_ONCE)
            there = {scope.id for scope in ScopeStore(session, self._house).every()} | {HOUSE}
            for scope in store.scopes():
                if scope not in there:
                    store.drop_scope(scope)


def is_to_be_looked_at(shown: ShownSession, conversations: Sequence[Conversation], now: datetime) -> bool:
    """Whether something was said since the last look. A large session that still goes on may wait a little."""
    if shown.looked == fingerprint(conversations):
        return False
    if not shown.looked_at or sum(one.messages for one in conversations) <= LARGE_MESSAGES:
        return True
    least = to_text(now - timedelta(minutes=LARGE_MINUTES))
    return shown.looked_at < least or max(one.ended_at for one in conversations) < least


def fingerprint(conversations: Sequence[Conversation]) -> str:
    """Another one whenever something was said in between."""
    return f"{max(one.ended_at for one in conversations)} {sum(one.messages for one in conversations)}"


def spoken_in(messages: Iterable[Message]) -> Iterator[Spoken]:
    """What was said, what tools gave out, and what the assistant asked of them. Text that programs injected is left
    out: among it is what was shown."""
    for message in messages:
        if message.author in HEARD:
            yield Spoken(at=message.at, text=message.text, is_assistant=False)
        elif message.author is Author.ASSISTANT and message.standing is Standing.SAID:
            asked = [str(block.get("summary") or "") for block in message.blocks if block["type"] == "tool_call"]
            yield Spoken(at=message.at, text="\n".join([message.text, *asked]), is_assistant=True)


def _reader(scope: str) -> Principal:
    """Who sees what this scope sees."""
    return Principal(actor=Actor.AGENT, name=scope, scope=scope)


def _shown(one: ShownRecord, text: str) -> Shown:
    return Shown(record_id=one.record_id, text=text, at=one.shown_at)
