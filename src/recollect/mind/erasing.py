"""The mind's side of forgetting: what was said goes from the conversation, and with it each summary that stands for it.

A summary is one text, and a provider may have signed it: nobody can take a sentence out. So it is emptied and counts no
more; the conversation is made again from the last one that still counts, and is condensed anew. A later summary was
made from an earlier one and goes with it.

A record alone takes only those summaries along that say it: the messages it came from stay, so that a summary made
anew would be made from the same words.

Why the agent wrote first or did not stands in runs in a model's words. Who was shown a message that goes may have
spoken of it: of such events the words go too.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from recollect.database import Session
from recollect.forgetting.acts import Reach
from recollect.knowledge import Record
from recollect.knowledge.store import RecordStore
from recollect.lineage import folded
from recollect.mind.heartbeat.keeping import TAG
from recollect.runs.store import EventStore
from recollect.scopes import HOUSE

FORGOTTEN = "forgotten"
"""The state of a summary that counts no more."""
HEARTBEAT = "heartbeat"
"""The name of the events in runs."""
WORDS = ("reason", "topic")
"""What of their detail a model wrote."""
LEAST_CHARACTERS = 16
"""A shorter record stands in any text by chance. Nor can the proof of forgetting look for it."""

REACHED = """
SELECT agent, number, turn FROM mind_entries WHERE house = :house AND message_id IN (:values) ORDER BY agent, number
"""
COUNTING = """
SELECT agent, number, through, summary, block FROM mind_compactions
WHERE house = :house AND state <> 'forgotten' ORDER BY agent, number
"""
EMPTY = """
UPDATE mind_compactions SET summary = '', block = '', detail = '', state = 'forgotten'
WHERE house = :house AND agent = :agent AND number = :number
"""
DROP_ENTRY = "DELETE FROM mind_entries WHERE house = :house AND agent = :agent AND number = :number"
DROP_DELIVERIES = """
DELETE FROM mind_deliveries WHERE house = :house AND agent = :agent AND turn = :turn AND NOT EXISTS (
    SELECT 1 FROM mind_entries e WHERE e.house = :house AND e.agent = :agent AND e.turn = :turn
)
"""
DROP_REASON = "UPDATE mind_turns SET reason = '' WHERE house = :house AND agent = :agent AND number = :turn"
STOP = """
UPDATE mind_turns SET state = 'stopped', ended_at = began_at
WHERE house = :house AND agent = :agent AND number = :turn AND state = 'open' AND NOT EXISTS (
    SELECT 1 FROM mind_entries e
    WHERE e.house = :house AND e.agent = :agent AND e.turn = :turn AND e.role = 'user'
)
"""


@dataclass(frozen=True, slots=True)
class _Compaction:
    agent: str
    number: int
    through: int
    summary: str
    block: str


@dataclass(slots=True)
class _Found:
    entries: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    """(agent, number)"""
    turns: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    """(agent, turn) that they were in."""
    compactions: list[_Compaction] = field(default_factory=list[_Compaction])
    heartbeats: list[tuple[str, dict[str, Any]]] = field(default_factory=list[tuple[str, dict[str, Any]]])
    """(id, detail) of events that tell of them."""


class ErasingStore:
    """All SQL by which rows of the mind are forgotten."""

    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    def reached(self, message_ids: Sequence[str]) -> list[tuple[str, int, int]]:
        """(agent, number, turn) of the entries that name these messages."""
        rows = self._session.among(REACHED, list(message_ids), {"house": self._house}) if message_ids else []
        return [(agent, number, turn) for agent, number, turn in rows]

    def counting(self) -> list[_Compaction]:
        """Every compaction that is not forgotten, of each agent in their order."""
        return [_Compaction(*row) for row in self._session.rows(COUNTING, {"house": self._house})]

    def empty(self, compactions: Iterable[_Compaction]) -> int:
        given = [{"agent": one.agent, "number": one.number} for one in compactions]
        return sum(self._session.run(EMPTY, {"house": self._house, **one}) for one in given)

    def drop_entries(self, entries: Iterable[tuple[str, int]]) -> int:
        given = [{"agent": agent, "number": number} for agent, number in entries]
        return sum(self._session.run(DROP_ENTRY, {"house": self._house, **one}) for one in given)

    def settle_turns(self, turns: Iterable[tuple[str, int]]) -> None:
        """What turns keep of entries that are gone. One in flight that has nobody left to answer is at its end: what
        it would still say is not written down."""
        for agent, turn in turns:
            for statement in (DROP_DELIVERIES, DROP_REASON, STOP):
                self._session.run(statement, {"house": self._house, "agent": agent, "turn": turn})


class MindPart:
    """A `forgetting.Part`."""

    def __init__(self, house: str) -> None:
        self._house = house

    def origins(self, session: Session, reach: Reach) -> set[tuple[str, str]]:
        """No line of a note comes from a summary."""
        return set()

    def notes(self, session: Session, reach: Reach) -> dict[str, int]:
        return {}

    def reach(self, session: Session, reach: Reach) -> dict[str, int]:
        found = self._found(session, reach)
        return _removed(found, len(found.compactions), len(found.entries))

    def contents(self, session: Session, reach: Reach) -> Iterator[bytes]:
        for one in self._found(session, reach).compactions:
            yield one.summary.encode()
            yield from _words_of(one.block)
        for _, detail in self._found(session, reach).heartbeats:
            yield from (str(detail.get(name) or "").encode() for name in WORDS)

    def erase(self, session: Session, reach: Reach) -> dict[str, int]:
        found, store = self._found(session, reach), ErasingStore(session, self._house)
        emptied = store.empty(found.compactions)
        dropped = store.drop_entries(found.entries)
        store.settle_turns(found.turns)
        events = EventStore(session, self._house)
        for id_, detail in found.heartbeats:
            events.replace_detail(id_, {name: value for name, value in detail.items() if name not in WORDS})
        return _removed(found, emptied, dropped)

    def _found(self, session: Session, reach: Reach) -> _Found:
        store = ErasingStore(session, self._house)
        rows = store.reached(sorted(reach.messages))
        turns = sorted({(agent, turn) for agent, _, turn in rows if turn})
        records = _forgotten(RecordStore(session, self._house), reach)
        said, wished = _said_by(records), {one.scope for one in records if TAG in one.tags}
        numbers = [(agent, number) for agent, number, _ in rows]
        return _Found(
            entries=numbers,
            turns=turns,
            compactions=list(_going(store.counting(), turns, said)) if turns or said else [],
            heartbeats=list(_telling(EventStore(session, self._house), rows, said, wished)) if rows or records else [],
        )


def _going(
    compactions: Iterable[_Compaction], turns: Sequence[tuple[str, int]], said: Sequence[tuple[str, str]]
) -> Iterator[_Compaction]:
    """Those that stand for one of these turns, all that were made after the first of them, and those that say this."""
    first: dict[str, int] = {}
    for agent, turn in turns:
        first[agent] = min(turn, first.get(agent, turn))
    tainted: set[str] = set()
    for one in compactions:
        if one.agent in first and one.through >= first[one.agent]:
            tainted.add(one.agent)
        if one.agent in tainted or (said and _says(one, said)):
            yield one


def _telling(
    events: EventStore,
    rows: Sequence[tuple[str, int, int]],
    said: Sequence[tuple[str, str]],
    wished: Collection[str],
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Events of heartbeats that had one of these entries in front of them or wrote it, or that say this. `rows`: agent,
    number and turn of each. `wished`: in these scopes a wish goes, which each of them had in front of it."""
    for id_, detail in events.details(HEARTBEAT):
        if not any(detail.get(name) for name in WORDS):
            continue
        agent, shown = str(detail.get("agent")), detail.get("shown") or [0, -1]
        words = folded(" ".join(str(detail.get(name) or "") for name in WORDS))
        is_told = any(
            who == agent and (shown[0] <= number <= shown[1] or (turn and turn == detail.get("turn")))
            for who, number, turn in rows
        )
        is_told = is_told or any(_sees(agent, scope) for scope in wished)
        if is_told or any(one in words for scope, one in said if _sees(agent, scope)):
            yield id_, detail


def _removed(found: _Found, compactions: int, entries: int) -> dict[str, int]:
    removed = {"compactions": compactions, "mind_entries": entries}
    return {**removed, "heartbeats": len(found.heartbeats)} if found.heartbeats else removed


def _says(compaction: _Compaction, said: Sequence[tuple[str, str]]) -> bool:
    """In the words of a record that its agent sees. Another agent's record has no say in it: by forgetting one, its
    owner could tell what the others speak of."""
    text = folded(compaction.summary)
    return any(one in text for scope, one in said if _sees(compaction.agent, scope))


def _sees(agent: str, scope: str) -> bool:
    return scope == HOUSE or f"{agent}/".startswith(f"{scope}/")


def _forgotten(records: RecordStore, reach: Reach) -> list[Record]:
    """Every version of the records that go."""
    return [one for versions in records.versions(sorted(reach.records)).values() for one in versions]


def _said_by(records: Iterable[Record]) -> list[tuple[str, str]]:
    """What they say, as it is compared, each with its scope."""
    return sorted({(one.scope, text) for one in records if len(text := folded(one.text)) >= LEAST_CHARACTERS})


def _words_of(block: str) -> Iterator[bytes]:
    """The texts of a provider's block: what can be read, and what only the provider can. The names of its fields stand
    in the block of every other summary too."""
    try:
        found: object = msgspec.json.decode(block) if block else {}
    except msgspec.DecodeError:  # From an export that somebody edited.
        found = {"": block}
    values = cast(dict[str, Any], found).values() if isinstance(found, dict) else ()
    yield from (value.encode() for value in values if isinstance(value, str))
