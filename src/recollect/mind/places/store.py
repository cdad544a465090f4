"""All SQL on the tables of places. Writers work inside the caller's write session, of which there is one at a time."""

from dataclasses import dataclass
from typing import Any

from recollect.database import Session

_PLACE = "channel, address, name, state, since"
_CODE = "id, salt, digest, expires_at, tries"
_AT = "house = :house AND channel = :channel AND address = :address"

EVERY = f"SELECT {_PLACE} FROM mind_places WHERE house = :house ORDER BY since, channel, address"
OF_CHANNEL = f"""
SELECT {_PLACE} FROM mind_places WHERE house = :house AND channel = :channel ORDER BY since, channel, address
"""
FIND = f"SELECT {_PLACE} FROM mind_places WHERE {_AT}"
ALLOW = f"""
INSERT INTO mind_places (house, {_PLACE}) VALUES (:house, :channel, :address, :name, 'paired', :since)
ON CONFLICT (house, channel, address) DO UPDATE SET
    state = 'paired', name = CASE WHEN excluded.name = '' THEN mind_places.name ELSE excluded.name END
"""
REMOVE = f"DELETE FROM mind_places WHERE {_AT}"
SET_STATE = f"UPDATE mind_places SET state = :state WHERE {_AT} AND state <> :state"

CODE = f"SELECT {_CODE} FROM mind_pairings WHERE house = :house AND channel = :channel"
ADD_CODE = f"""
INSERT INTO mind_pairings (house, channel, made_at, {_CODE})
VALUES (:house, :channel, :made_at, :id, :salt, :digest, :expires_at, :tries)
"""
COUNT_TRY = """
UPDATE mind_pairings SET tries = tries + 1 WHERE house = :house AND channel = :channel AND id = :id
"""
DROP_CODES = "DELETE FROM mind_pairings WHERE house = :house AND channel = :channel"
DROP_EXPIRED = """
DELETE FROM mind_pairings WHERE house = :house AND (expires_at <= :now OR expires_at > :latest)
"""

POSITION = "SELECT position FROM mind_positions WHERE house = :house AND channel = :channel AND name = :name"
MOVE_POSITION = """
INSERT INTO mind_positions (house, channel, name, position, at) VALUES (:house, :channel, :name, :position, :at)
ON CONFLICT (house, channel, name) DO UPDATE SET position = excluded.position, at = excluded.at
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    channel: str
    address: str
    name: str
    """What the other side calls itself, or the person calls it. It may be empty."""
    state: str
    """paired, or blocked: the other side takes nothing any more."""
    since: str
    """When it first became a place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCode:
    id: str
    salt: str
    digest: str
    expires_at: str
    tries: int
    """Wrong ones."""


class PlaceStore:
    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    # Places

    def list(self, channel: str) -> list[Place]:
        """Of one channel. Empty: of all."""
        rows = self._session.rows(OF_CHANNEL if channel else EVERY, self._given(channel=channel))
        return [_place(row) for row in rows]

    def find(self, channel: str, address: str) -> Place | None:
        row = self._session.one(FIND, self._given(channel=channel, address=address))
        return _place(row) if row else None

    def allow(self, channel: str, address: str, name: str, since: str) -> None:
        """One that is there stays as old as it is, and keeps its name where none is given."""
        self._session.run(ALLOW, self._given(channel=channel, address=address, name=name, since=since))

    def remove(self, channel: str, address: str) -> bool:
        return self._session.run(REMOVE, self._given(channel=channel, address=address)) > 0

    def set_state(self, channel: str, address: str, state: str) -> bool:
        return self._session.run(SET_STATE, self._given(channel=channel, address=address, state=state)) > 0

    # Codes

    def code(self, channel: str) -> KeptCode | None:
        row = self._session.one(CODE, self._given(channel=channel))
        return KeptCode(id=row[0], salt=row[1], digest=row[2], expires_at=row[3], tries=row[4]) if row else None

    def put_code(self, channel: str, code: KeptCode, made_at: str) -> None:
        """In the place of any other."""
        self.drop_code(channel)
        self._session.run(
            ADD_CODE,
            self._given(
                channel=channel,
                made_at=made_at,
                id=code.id,
                salt=code.salt,
                digest=code.digest,
                expires_at=code.expires_at,
                tries=code.tries,
            ),
        )

    def count_try(self, channel: str, code_id: str) -> None:
        self._session.run(COUNT_TRY, self._given(channel=channel, id=code_id))

    def drop_code(self, channel: str) -> None:
        self._session.run(DROP_CODES, self._given(channel=channel))

    def drop_expired(self, now: str, latest: str) -> None:
        """Of every channel: nobody may ask for them again. `latest`: none that was made by now expires after it."""
        self._session.run(DROP_EXPIRED, self._given(now=now, latest=latest))

    # Positions

    def position(self, channel: str, name: str) -> int:
        return int(self._session.value(POSITION, self._given(channel=channel, name=name)) or 0)

    def move_position(self, channel: str, name: str, position: int, at: str) -> None:
        self._session.run(MOVE_POSITION, self._given(channel=channel, name=name, position=position, at=at))

    def _given(self, **values: Any) -> dict[str, Any]:
        return {"house": self._house, **values}


def _place(row: tuple[Any, ...]) -> Place:
    channel, address, name, state, since = row
    return Place(channel=channel, address=address, name=name, state=state, since=since)
