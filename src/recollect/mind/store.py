"""All SQL on the tables of the mind, save what forgetting does (`erasing`).

Writers work inside the caller's write session, of which there is one at a time for all processes and hosts: the next
number is the greatest plus one.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from recollect.database import Row, Session
from recollect.lineage import ReceiptStore
from recollect.mind.entries import (
    CompactionRow,
    Delivery,
    DeliveryState,
    Entry,
    EntryState,
    Role,
    Standing,
    TurnRow,
    TurnState,
)

_ENTRY = "number, message_id, role, turn, state, channel, address, at"
_TURN = "number, state, began_at, ended_at, reason, kind"
_COMPACTION = "number, at, kind, model, through, summary, block, detail"
_OF_AGENT = "house = :house AND agent = :agent"

LAST_NUMBER = f"SELECT coalesce(max(number), 0) FROM mind_entries WHERE {_OF_AGENT}"
ADD = f"""
INSERT INTO mind_entries (house, agent, {_ENTRY}, channel_key)
VALUES (:house, :agent, :number, :message_id, :role, :turn, :state, :channel, :address, :at, :channel_key)
"""
HEARD = f"""
SELECT {_ENTRY} FROM mind_entries WHERE {_OF_AGENT} AND channel = :channel AND channel_key = :channel_key
"""
WITHDRAW_KEY = f"""
UPDATE mind_entries SET state = 'withdrawn'
WHERE {_OF_AGENT} AND turn = 0 AND state = 'waiting' AND channel = :channel AND channel_key = :channel_key
"""
WAITING = f"SELECT {_ENTRY} FROM mind_entries WHERE {_OF_AGENT} AND turn = 0 AND state = 'waiting' ORDER BY number"
TAKE = f"""
UPDATE mind_entries SET turn = :turn, state = 'taken' WHERE {_OF_AGENT} AND turn = 0 AND state = 'waiting'
"""
WITHDRAW = f"""
UPDATE mind_entries SET state = 'withdrawn'
WHERE {_OF_AGENT} AND turn = 0 AND state = 'waiting' AND channel = :channel AND address = :address
"""
_REFUSED = f"SELECT number FROM mind_turns WHERE {_OF_AGENT} AND state = 'refused'"
AFTER = f"""
SELECT {_ENTRY} FROM mind_entries WHERE {_OF_AGENT} AND turn > :turn AND turn NOT IN ({_REFUSED}) ORDER BY turn, number
"""
OF_TURN = f"SELECT {_ENTRY} FROM mind_entries WHERE {_OF_AGENT} AND turn = :turn ORDER BY number"
LATEST_SPOKEN = f"""
SELECT {_ENTRY} FROM mind_entries
WHERE {_OF_AGENT} AND role IN ('user', 'assistant') AND state <> 'withdrawn' ORDER BY number DESC LIMIT :limit
"""
SPOKEN = f"""
SELECT {_ENTRY} FROM mind_entries
WHERE {_OF_AGENT} AND role IN ('user', 'assistant') AND (:before = 0 OR number < :before) AND number > :after
ORDER BY number DESC LIMIT :limit
"""
LAST_TAKEN = f"SELECT coalesce(max(number), 0) FROM mind_entries WHERE {_OF_AGENT} AND turn > 0"
LAST_TURN = f"SELECT coalesce(max(number), 0) FROM mind_turns WHERE {_OF_AGENT}"
OPEN_TURN = f"SELECT {_TURN} FROM mind_turns WHERE {_OF_AGENT} AND state = 'open' ORDER BY number LIMIT 1"
TURN = f"SELECT {_TURN} FROM mind_turns WHERE {_OF_AGENT} AND number = :number"
BEGIN = f"""
INSERT INTO mind_turns (house, agent, {_TURN}, attempts) VALUES (:house, :agent, :number, 'open', :at, '', '', '', 0)
"""
ADD_OUTREACH = f"""
INSERT INTO mind_turns (house, agent, {_TURN}, attempts)
VALUES (:house, :agent, :number, 'done', :at, :at, '', 'outreach', 1)
"""
LAST_TURN_AT = f"""
SELECT CASE WHEN ended_at = '' THEN began_at ELSE ended_at END FROM mind_turns WHERE {_OF_AGENT}
ORDER BY number DESC LIMIT 1
"""
OUTREACHES = f"SELECT {_TURN} FROM mind_turns WHERE {_OF_AGENT} AND kind = 'outreach' ORDER BY number DESC LIMIT :limit"
ARRIVED = f"""
SELECT turn, max(at) FROM mind_deliveries WHERE {_OF_AGENT} AND state = 'sent'
AND turn IN (SELECT number FROM mind_turns WHERE {_OF_AGENT} AND kind = 'outreach' ORDER BY number DESC LIMIT :limit)
GROUP BY turn
"""
LAST_SAID = f"""
SELECT {_ENTRY} FROM mind_entries
WHERE {_OF_AGENT} AND role = 'user' AND state <> 'withdrawn' ORDER BY number DESC LIMIT :limit
"""
UNDELIVERED = f"""
SELECT channel, count(*) FROM mind_deliveries WHERE {_OF_AGENT} AND state IN ('waiting', 'sending', 'again')
AND turn IN (SELECT number FROM mind_turns WHERE {_OF_AGENT} AND kind = 'outreach') GROUP BY channel
"""
END = f"""
UPDATE mind_turns SET state = :state, ended_at = :at, reason = :reason
WHERE {_OF_AGENT} AND number = :number AND state = 'open'
"""
ATTEMPT = f"UPDATE mind_turns SET attempts = attempts + 1 WHERE {_OF_AGENT} AND number = :number RETURNING attempts"
ADD_DELIVERY = """
INSERT INTO mind_deliveries (house, agent, turn, channel, address, state, at)
VALUES (:house, :agent, :turn, :channel, :address, 'waiting', :at) ON CONFLICT DO NOTHING
"""
DUE = f"""
SELECT turn, channel, address, state FROM mind_deliveries
WHERE {_OF_AGENT} AND channel = :channel AND state IN ('waiting', 'again') ORDER BY turn, address
"""
MOVE_DELIVERY = f"""
UPDATE mind_deliveries SET state = :state, at = :at
WHERE {_OF_AGENT} AND turn = :turn AND channel = :channel AND address = :address AND state = :before
"""
DOUBTFUL = f"""
SELECT turn, channel, address, state FROM mind_deliveries
WHERE {_OF_AGENT} AND channel = :channel AND state IN ('unsure', 'sending') ORDER BY turn, address
"""
DOUBT = f"UPDATE mind_deliveries SET state = 'unsure', at = :at WHERE {_OF_AGENT} AND state = 'sending'"
ADD_COMPACTION = f"""
INSERT INTO mind_compactions (house, agent, state, {_COMPACTION})
VALUES (:house, :agent, 'current', :number, :at, :kind, :model, :through, :summary, :block, :detail)
"""
LAST_COMPACTION = f"SELECT coalesce(max(number), 0) FROM mind_compactions WHERE {_OF_AGENT}"
CURRENT_COMPACTION = f"""
SELECT {_COMPACTION} FROM mind_compactions WHERE {_OF_AGENT} AND state = 'current' ORDER BY number DESC LIMIT 1
"""


class MindStore:
    def __init__(self, session: Session, house: str, agent: str) -> None:
        self._session = session
        self._house = house
        self._agent = agent

    # Entries

    def add(
        self,
        message_id: str,
        role: Role,
        at: str,
        *,
        turn: int = 0,
        state: EntryState = EntryState.NONE,
        channel: str = "",
        address: str = "",
        channel_key: str = "",
    ) -> Entry:
        number = self.last_number() + 1
        entry = Entry(
            number=number,
            message_id=message_id,
            role=role,
            turn=turn,
            state=state,
            channel=channel,
            address=address,
            at=at,
        )
        given = {"number": number, "message_id": message_id, "role": str(role), "turn": turn, "state": str(state)}
        said = {"channel": channel, "address": address, "channel_key": channel_key}
        self._session.run(ADD, self._given(**given, **said, at=at))
        return entry

    def last_number(self) -> int:
        return int(self._session.value(LAST_NUMBER, self._given()) or 0)

    def heard(self, channel: str, channel_key: str) -> Entry | None:
        """What was heard under this name of the channel's own."""
        return next(iter(self._entries(HEARD, channel=channel, channel_key=channel_key)), None)

    def waiting(self) -> list[Entry]:
        return self._entries(WAITING)

    def take(self, turn: int) -> None:
        self._session.run(TAKE, self._given(turn=turn))

    def withdraw(self, channel: str, address: str) -> int:
        return self._session.run(WITHDRAW, self._given(channel=channel, address=address))

    def withdraw_key(self, channel: str, channel_key: str) -> bool:
        return self._session.run(WITHDRAW_KEY, self._given(channel=channel, channel_key=channel_key)) > 0

    def last_said(self, limit: int) -> list[Entry]:
        """By users, the newest first."""
        return self._entries(LAST_SAID, limit=limit)

    def after(self, turn: int) -> list[Entry]:
        """All that turns took and said since, in their order; without what a model refused, and would again."""
        return self._entries(AFTER, turn=turn)

    def of_turn(self, turn: int) -> list[Entry]:
        return self._entries(OF_TURN, turn=turn)

    def latest_spoken(self, limit: int) -> list[Entry]:
        """The oldest first."""
        return self._entries(LATEST_SPOKEN, limit=limit)[::-1]

    def spoken(self, before: int, after: int, limit: int) -> list[Entry]:
        """The newest first; also what was taken back. `before`: 0 for any."""
        return self._entries(SPOKEN, before=before, after=after, limit=limit)

    def _entries(self, sql: str, **given: Any) -> list[Entry]:
        return [_entry(row) for row in self._session.rows(sql, self._given(**given))]

    # Turns

    def open_turn(self) -> TurnRow | None:
        row = self._session.one(OPEN_TURN, self._given())
        return _turn(row) if row else None

    def turn(self, number: int) -> TurnRow | None:
        row = self._session.one(TURN, self._given(number=number))
        return _turn(row) if row else None

    def begin_turn(self, at: str) -> int:
        number = int(self._session.value(LAST_TURN, self._given()) or 0) + 1
        self._session.run(BEGIN, self._given(number=number, at=at))
        return number

    def add_outreach(self, at: str) -> int:
        """A turn that is at its end already: nobody asked, and nobody has to answer."""
        number = int(self._session.value(LAST_TURN, self._given()) or 0) + 1
        self._session.run(ADD_OUTREACH, self._given(number=number, at=at))
        return number

    def outreaches(self, limit: int) -> list[TurnRow]:
        """With which the agent wrote first, the newest first; also those of which the words were forgotten."""
        return [_turn(row) for row in self._session.rows(OUTREACHES, self._given(limit=limit))]

    def arrived(self, limit: int) -> dict[int, str]:
        """By its turn, when each of these was sent."""
        return dict(self._session.rows(ARRIVED, self._given(limit=limit)))

    def last_turn_at(self) -> str:
        """When the latest turn ended. Empty: there was none. Turns stay when what was said in them is forgotten."""
        return str(self._session.value(LAST_TURN_AT, self._given()) or "")

    def undelivered(self) -> dict[str, int]:
        """Of what it said first, by each channel."""
        return dict(self._session.rows(UNDELIVERED, self._given()))

    def attempt(self, number: int) -> int:
        """It is begun, or begun again; how often that was."""
        return int(self._session.value(ATTEMPT, self._given(number=number)) or 0)

    def end_turn(self, number: int, state: TurnState, at: str, reason: str = "") -> bool:
        """False: it was not open any more."""
        given = self._given(number=number, state=str(state), at=at, reason=reason)
        return self._session.run(END, given) == 1

    # Deliveries

    def add_deliveries(self, turn: int, places: Iterable[tuple[str, str]], at: str) -> None:
        for channel, address in places:
            self._session.run(ADD_DELIVERY, self._given(turn=turn, channel=channel, address=address, at=at))

    def due(self, channel: str) -> list[Delivery]:
        return [_delivery(row) for row in self._session.rows(DUE, self._given(channel=channel))]

    def move(self, delivery: Delivery, before: DeliveryState, state: DeliveryState, at: str) -> bool:
        """False: somebody else did."""
        given = {"turn": delivery.turn, "channel": delivery.channel, "address": delivery.address}
        moved = self._session.run(MOVE_DELIVERY, self._given(**given, before=str(before), state=str(state), at=at))
        return moved == 1

    def doubtful(self, channel: str) -> list[Delivery]:
        """What is being sent by somebody, or was."""
        return [_delivery(row) for row in self._session.rows(DOUBTFUL, self._given(channel=channel))]

    def doubt(self, at: str) -> int:
        """Who was sending something is gone: nobody knows whether it arrived."""
        return self._session.run(DOUBT, self._given(at=at))

    # Compactions

    def add_compaction(self, compaction: CompactionRow) -> None:
        given = {name: getattr(compaction, name) for name in ("number", "at", "kind", "model", "through", "summary")}
        block = _json(compaction.block) if compaction.block else ""
        self._session.run(ADD_COMPACTION, self._given(**given, block=block, detail=_json(compaction.detail)))

    def next_compaction(self) -> int:
        return int(self._session.value(LAST_COMPACTION, self._given()) or 0) + 1

    def compaction(self) -> CompactionRow | None:
        """The one that counts."""
        row = self._session.one(CURRENT_COMPACTION, self._given())
        return _compaction(row) if row else None

    def standing(self) -> Standing:
        current = self.compaction()
        return Standing(
            last_number=int(self._session.value(LAST_TAKEN, self._given()) or 0),
            last_turn=int(self._session.value(LAST_TURN, self._given()) or 0),
            compaction=current.number if current else 0,
            forgotten=ReceiptStore(self._session, self._house).number(),
        )

    def _given(self, **parameters: Any) -> dict[str, Any]:
        return {"house": self._house, "agent": self._agent, **parameters}


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _entry(row: Row) -> Entry:
    number, message_id, role, turn, state, channel, address, at = row
    return Entry(
        number=number,
        message_id=message_id,
        role=Role(role),
        turn=turn,
        state=EntryState(state),
        channel=channel,
        address=address,
        at=at,
    )


def _turn(row: Row) -> TurnRow:
    number, state, began_at, ended_at, reason, kind = row
    return TurnRow(
        number=number, state=TurnState(state), began_at=began_at, ended_at=ended_at, reason=reason, kind=kind
    )


def _delivery(row: Row) -> Delivery:
    turn, channel, address, state = row
    return Delivery(turn=turn, channel=channel, address=address, state=DeliveryState(state))


def _compaction(row: Row) -> CompactionRow:
    number, at, kind, model, through, summary, block, detail = row
    return CompactionRow(
        number=number,
        at=at,
        kind=kind,
        model=model,
        through=through,
        summary=summary,
        block=msgspec.json.decode(block) if block else None,
        detail=msgspec.json.decode(detail) if detail else {},
    )
