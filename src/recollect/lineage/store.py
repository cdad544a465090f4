"""All SQL on the tables of lineage."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec

from recollect.database import Row, Session
from recollect.errors import Conflict
from recollect.lineage.hashing import Hasher

MESSAGE = "message"
RECORD = "record"
CONVERSATION = "conversation"
FILE = "file"
SUBJECT = "subject"
SECRET_BYTES = 32

SECRET_OF_HOUSE = "SELECT secret FROM lineage_keys WHERE house = :house"  # noqa: S105  a statement
KEEP_SECRET = "INSERT INTO lineage_keys (house, secret) VALUES (:house, :secret)"  # noqa: S105  a statement

ADD_EDGE = """
INSERT INTO lineage_edges (house, from_kind, from_id, to_kind, to_id)
VALUES (:house, :from_kind, :from_id, :to_kind, :to_id) ON CONFLICT DO NOTHING
"""
DERIVED = """
SELECT from_kind, from_id, to_kind, to_id FROM lineage_edges
WHERE house = :house AND from_kind = :kind AND from_id IN (:values) ORDER BY from_id, to_kind, to_id
"""
ORIGINS = """
SELECT from_kind, from_id, to_kind, to_id FROM lineage_edges
WHERE house = :house AND to_kind = :kind AND to_id IN (:values) ORDER BY to_id, from_kind, from_id
"""
DELETE_FROM = "DELETE FROM lineage_edges WHERE house = :house AND from_kind = :kind AND from_id = :id"
DELETE_TO = "DELETE FROM lineage_edges WHERE house = :house AND to_kind = :kind AND to_id = :id"

BURY = """
INSERT INTO lineage_tombstones (house, hash, kind, origin) VALUES (:house, :hash, :kind, :origin) ON CONFLICT DO NOTHING
"""
BURIED = "SELECT hash FROM lineage_tombstones WHERE house = :house AND hash IN (:values)"
EVERY_BURIED = "SELECT hash FROM lineage_tombstones WHERE house = :house AND kind IN (:values)"
COUNT_BURIED = "SELECT count(*) FROM lineage_tombstones WHERE house = :house"
COUNT_OF_KINDS = f"{COUNT_BURIED} AND kind IN (:values)"
LIFT = "DELETE FROM lineage_tombstones WHERE house = :house AND origin = :origin"

_RECEIPT = "id, at, actor, actor_name, target, state, removed, out_of_reach, probes, verified_at"
SAVE_RECEIPT = f"""
INSERT INTO lineage_receipts (house, {_RECEIPT})
VALUES (:house, :id, :at, :actor, :actor_name, :target, :state, :removed, :out_of_reach, :probes, :verified_at)
ON CONFLICT (house, id) DO UPDATE SET
    state = excluded.state, removed = excluded.removed, out_of_reach = excluded.out_of_reach,
    probes = excluded.probes, verified_at = excluded.verified_at
"""
RECEIPTS = f"SELECT {_RECEIPT} FROM lineage_receipts WHERE house = :house ORDER BY at, id"
NUMBER_OF_RECEIPTS = "SELECT count(*) FROM lineage_receipts WHERE house = :house"
RECEIPT_NUMBERS = "SELECT state, count(*) FROM lineage_receipts WHERE house = :house GROUP BY state ORDER BY state"
ADD_EXPORT = "INSERT INTO lineage_exports (house, id, at, kind, path) VALUES (:house, :id, :at, :kind, :path)"
DROP_EXPORT = "DELETE FROM lineage_exports WHERE house = :house AND id = :id"
EXPORTS = "SELECT id, at, kind, path FROM lineage_exports WHERE house = :house ORDER BY at, id"


def hasher(session: Session, house: str, *, make: bool = False) -> Hasher | None:
    """The hasher of a house. None: it has no secret yet, so nothing was ever hashed. `make`: give it one."""
    secret = session.value(SECRET_OF_HOUSE, {"house": house})
    if secret is None:
        if not make:
            return None
        secret = os.urandom(SECRET_BYTES)
        session.run(KEEP_SECRET, {"house": house, "secret": secret})
    return Hasher(bytes(secret))


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """From an origin to what was derived from it."""

    from_kind: str
    from_id: str
    to_kind: str
    to_id: str


class EdgeStore:
    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    def add(self, edges: Iterable[Edge]) -> None:
        rows = [(self._house, edge.from_kind, edge.from_id, edge.to_kind, edge.to_id) for edge in edges]
        self._session.many(ADD_EDGE, sorted(rows))

    def derived_from(self, kind: str, ids: Sequence[str]) -> list[Edge]:
        """The edges that begin at these things."""
        rows = self._session.among(DERIVED, list(ids), {"house": self._house, "kind": kind}) if ids else []
        return [Edge(*row) for row in rows]

    def origins_of(self, kind: str, ids: Sequence[str]) -> list[Edge]:
        """The edges that end at these things."""
        rows = self._session.among(ORIGINS, list(ids), {"house": self._house, "kind": kind}) if ids else []
        return [Edge(*row) for row in rows]

    def delete(self, kind: str, ids: Iterable[str]) -> None:
        """These things are gone, and every edge that began or ended at them."""
        for one in ids:
            self._session.run(DELETE_FROM, {"house": self._house, "kind": kind, "id": one})
            self._session.run(DELETE_TO, {"house": self._house, "kind": kind, "id": one})


class TombstoneStore:
    """What may not come back, as keyed hashes (`Hasher.hash`)."""

    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    def bury(self, kind: str, hashes: Iterable[str], origin: str) -> None:
        """`origin`: the receipt or event that did it, by which it can be lifted again."""
        self._session.many(BURY, [(self._house, one, kind, origin) for one in sorted(set(hashes))])

    def buried(self, hashes: Sequence[str]) -> set[str]:
        """Those of the hashes that are buried."""
        if not hashes:
            return set()
        return {row[0] for row in self._session.among(BURIED, list(hashes), {"house": self._house})}

    def every(self, kinds: Sequence[str]) -> set[str]:
        return {row[0] for row in self._session.among(EVERY_BURIED, list(kinds), {"house": self._house})}

    def count(self, kinds: Sequence[str] = ()) -> int:
        """How many there are, of these kinds if any are given."""
        if kinds:
            return self._session.among(COUNT_OF_KINDS, list(kinds), {"house": self._house})[0][0]
        return self._session.value(COUNT_BURIED, {"house": self._house})

    def lift(self, origin: str) -> int:
        """What this event or receipt buried may come back; how much that is."""
        return self._session.run(LIFT, {"house": self._house, "origin": origin})


class ReceiptState(StrEnum):
    ERASED = "erased"
    """Gone from the tables; indexes and files are still to be cleaned."""
    VERIFIED = "verified"
    """And nothing of it was found anywhere."""
    RESIDUE = "residue"
    """Something of it was still found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """That something was forgotten: not what."""

    id: str
    at: str
    actor: str
    actor_name: str
    target: str
    """The kind of thing: record, message, conversation, file, subject."""
    state: ReceiptState
    removed: dict[str, int] = field(default_factory=dict[str, int])
    out_of_reach: list[str] = field(default_factory=list[str])
    probes: bytes = b""
    """Keyed fingerprints by which it can be looked for again."""
    verified_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A copy of the house that forgetting does not reach."""

    id: str
    at: str
    kind: str
    path: str


class ForgottenMeanwhile(Conflict):
    """Something was forgotten since what is to be written was read."""


class ReceiptStore:
    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    def save(self, receipt: Receipt) -> None:
        values = {name: getattr(receipt, name) for name in Receipt.__slots__}
        values["state"] = str(receipt.state)
        values["removed"] = msgspec.json.encode(receipt.removed).decode()
        values["out_of_reach"] = msgspec.json.encode(receipt.out_of_reach).decode()
        self._session.run(SAVE_RECEIPT, {"house": self._house, **values})

    def every(self) -> list[Receipt]:
        return [_receipt(row) for row in self._session.rows(RECEIPTS, {"house": self._house})]

    def numbers(self) -> dict[str, int]:
        """How many there are of each state."""
        return {str(state): number for state, number in self._session.rows(RECEIPT_NUMBERS, {"house": self._house})}

    def number(self) -> int:
        """How many acts of forgetting there were: what was read when there were fewer may be gone."""
        return self._session.value(NUMBER_OF_RECEIPTS, {"house": self._house})

    def check(self, number: int | None) -> None:
        """For who read something, and writes down what comes of it in a later transaction: this one. Raises
        `ForgottenMeanwhile` unless there were as many acts of forgetting before it was read. None: it was not read."""
        if number is not None and self.number() != number:
            raise ForgottenMeanwhile("Something was forgotten meanwhile. Nothing was written: read again, then write.")

    def note_export(self, export: Export) -> None:
        values = {name: getattr(export, name) for name in Export.__slots__}
        self._session.run(ADD_EXPORT, {"house": self._house, **values})

    def drop_export(self, export_id: str) -> None:
        """It came to nothing."""
        self._session.run(DROP_EXPORT, {"house": self._house, "id": export_id})

    def exports(self) -> list[Export]:
        rows = self._session.rows(EXPORTS, {"house": self._house})
        return [Export(id=id_, at=at, kind=kind, path=path) for id_, at, kind, path in rows]


def _receipt(row: Row) -> Receipt:
    values: dict[str, Any] = dict(zip((name.strip() for name in _RECEIPT.split(",")), row, strict=True))
    values["state"] = ReceiptState(values["state"])
    values["removed"] = msgspec.json.decode(values["removed"], type=dict[str, int])
    values["out_of_reach"] = msgspec.json.decode(values["out_of_reach"], type=list[str])
    values["probes"] = bytes(values["probes"])
    return Receipt(**values)
