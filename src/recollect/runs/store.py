"""All SQL on the events of runs, and on what was spent."""

from dataclasses import dataclass
from typing import Any

import msgspec

from recollect.database import Session

INSERT = """
INSERT INTO runs_events (house, id, name, outcome, started_at, milliseconds, detail)
VALUES (:house, :id, :name, :outcome, :started_at, :milliseconds, :detail)
"""
LATEST = """
SELECT id, name, outcome, started_at, milliseconds, detail FROM runs_events
WHERE house = :house{name} AND (:outcome = '' OR outcome = :outcome)
ORDER BY started_at DESC, id DESC LIMIT :limit
"""
OF_NAME = LATEST.format(name=" AND name = :name")
"""A statement of its own, as no index serves "this name or any"."""
OF_ANY_NAME = LATEST.format(name="")
SINCE = """
SELECT outcome, started_at, detail FROM runs_events WHERE house = :house AND name = :name AND started_at >= :since
"""
DETAILS = "SELECT id, detail FROM runs_events WHERE house = :house AND name = :name ORDER BY id"
REPLACE_DETAIL = "UPDATE runs_events SET detail = :detail WHERE house = :house AND id = :id"

MIND_PURPOSES = ("mind", "compaction", "warm")
"""What the conversation takes."""
HEARTBEAT_PURPOSES = ("heartbeat", "reflection")
"""What the moments of an agent's own take; all else is the librarian's."""
ACCOUNT = f"""CASE WHEN purpose IN {MIND_PURPOSES!r} THEN 'mind' WHEN purpose IN {HEARTBEAT_PURPOSES!r} THEN 'heartbeat'
    ELSE 'librarian' END"""

SPENT_ON = f"""
SELECT count(*), CAST(coalesce(sum(input_tokens + output_tokens), 0) AS BIGINT),
    CAST(coalesce(sum(microdollars), 0) AS BIGINT)
FROM runs_spending WHERE house = :house AND day = :day AND {ACCOUNT} = :account
"""
RESERVE = """
INSERT INTO runs_spending
    (house, id, day, at, purpose, model, turn, state, input_tokens, cached_tokens, written_tokens, output_tokens,
    microdollars)
VALUES (:house, :id, :day, :at, :purpose, :model, :turn, 'reserved', :input_tokens, 0, 0, :output_tokens, :microdollars)
"""
SETTLE = """
UPDATE runs_spending SET state = 'settled', input_tokens = :input_tokens, cached_tokens = :cached_tokens,
    written_tokens = :written_tokens, output_tokens = :output_tokens,
    microdollars = coalesce(CAST(:microdollars AS BIGINT), microdollars)
WHERE house = :house AND id = :id AND state = 'reserved'
"""
SUMS = """
count(*), CAST(sum(CASE WHEN state = 'settled' THEN 0 ELSE 1 END) AS BIGINT), CAST(sum(input_tokens) AS BIGINT),
    CAST(sum(cached_tokens) AS BIGINT), CAST(sum(written_tokens) AS BIGINT), CAST(sum(output_tokens) AS BIGINT),
    CAST(sum(microdollars) AS BIGINT)
"""
SPENT_BY_DAY = f"""
SELECT day, model, purpose, {SUMS}
FROM runs_spending WHERE house = :house AND day >= :since
GROUP BY day, model, purpose ORDER BY day DESC, model, purpose
"""
SPENT_BY_TURN = f"""
SELECT turn, min(at), {SUMS},
    CAST(sum(CASE WHEN purpose = 'compaction' THEN input_tokens + output_tokens ELSE 0 END) AS BIGINT),
    CAST(sum(CASE WHEN purpose = 'compaction' THEN microdollars ELSE 0 END) AS BIGINT)
FROM runs_spending WHERE house = :house AND turn <> ''
GROUP BY turn ORDER BY min(at) DESC, turn DESC LIMIT :limit
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    id: str
    name: str
    outcome: str
    started_at: str
    milliseconds: int
    detail: dict[str, Any]


class EventStore:
    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    def add(self, event: Event) -> None:
        self._session.run(
            INSERT,
            {
                "house": self._house,
                "id": event.id,
                "name": event.name,
                "outcome": event.outcome,
                "started_at": event.started_at,
                "milliseconds": event.milliseconds,
                "detail": msgspec.json.encode(event.detail).decode(),
            },
        )

    def latest(self, name: str, outcome: str, limit: int) -> list[Event]:
        given = {"house": self._house, "name": name, "outcome": outcome, "limit": limit}
        return [
            Event(
                id=id_,
                name=name_,
                outcome=outcome_,
                started_at=started_at,
                milliseconds=milliseconds,
                detail=msgspec.json.decode(detail, type=dict[str, Any]),
            )
            for id_, name_, outcome_, started_at, milliseconds, detail in self._session.rows(
                OF_NAME if name else OF_ANY_NAME, given
            )
        ]

    def since(self, name: str, since: str) -> list[tuple[str, str, dict[str, Any]]]:
        """Outcome, time and detail of all of this name that began at a stored time or later."""
        rows = self._session.rows(SINCE, {"house": self._house, "name": name, "since": since})
        return [(outcome, at, msgspec.json.decode(detail, type=dict[str, Any])) for outcome, at, detail in rows]

    def details(self, name: str) -> list[tuple[str, dict[str, Any]]]:
        """(id, detail) of every event of this name."""
        rows = self._session.rows(DETAILS, {"house": self._house, "name": name})
        return [(id_, msgspec.json.decode(detail, type=dict[str, Any])) for id_, detail in rows]

    def replace_detail(self, id_: str, detail: dict[str, Any]) -> None:
        """Something in it was forgotten: the event stays, its words do not."""
        given = {"house": self._house, "id": id_, "detail": msgspec.json.encode(detail).decode()}
        self._session.run(REPLACE_DETAIL, given)


class SpendingStore:
    """A row is a call: `reserved` before it with what it may take at the most, `settled` with what it took."""

    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    def spent_on(self, day: str, account: str) -> tuple[int, int, int]:
        """Calls, tokens and millionths of a dollar of one account, with what is reserved."""
        given = {"house": self._house, "day": day, "account": account}
        calls, tokens, microdollars = self._session.rows(SPENT_ON, given)[0]
        return calls, tokens, microdollars

    def reserve(self, row: dict[str, str | int]) -> None:
        self._session.run(RESERVE, {"house": self._house, **row})

    def settle(self, row: dict[str, str | int | None]) -> bool:
        """Whether it was reserved until now. Without microdollars those that were reserved stay."""
        return self._session.run(SETTLE, {"house": self._house, **row}) > 0

    def by_day(self, since: str) -> list[tuple[Any, ...]]:
        return self._session.rows(SPENT_BY_DAY, {"house": self._house, "since": since})

    def by_turn(self, limit: int) -> list[tuple[Any, ...]]:
        return self._session.rows(SPENT_BY_TURN, {"house": self._house, "limit": limit})
