"""Proposals: what the librarian would do to something that a person wrote or took away, and a person has to decide.

`retract`: somebody deleted the line of a record from a shelf. `replace`: a conversation says otherwise than a record
that a person wrote. Until it is decided nothing happens. `hide`: somebody deleted a line that is no knowledge, such as
a conversation in the activity of a project; it stays away, and nobody is asked. A proposal has edges from its record
and its messages, and goes with them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from recollect.database import Session
from recollect.errors import Conflict, NotFound
from recollect.ids import derived_id
from recollect.knowledge import Record, Statement
from recollect.lineage import MESSAGE, RECORD, Edge, EdgeStore, folded

PROPOSAL = "proposal"
"""The kind of a proposal in lineage."""
OPEN, ACCEPTED, REJECTED = "open", "accepted", "rejected"

_COLUMNS = "id, scope, kind, record_id, path, text, statement, state, made_at, decided_at, decided_by"
ADD = f"""
INSERT INTO librarian_proposals (house, {_COLUMNS}) VALUES (
    :house, :id, :scope, :kind, :record_id, :path, :text, :statement, :state, :made_at, :decided_at, :decided_by
) ON CONFLICT (house, id) DO UPDATE SET
    state = excluded.state, made_at = excluded.made_at, decided_at = excluded.decided_at,
    decided_by = excluded.decided_by
"""
GET = f"SELECT {_COLUMNS} FROM librarian_proposals WHERE house = :house AND id IN (:values)"
IN_STATE = f"SELECT {_COLUMNS} FROM librarian_proposals WHERE house = :house AND state = :state ORDER BY made_at, id"
OF_RECORDS = f"SELECT {_COLUMNS} FROM librarian_proposals WHERE house = :house AND record_id IN (:values)"
DECIDE = """
UPDATE librarian_proposals SET state = :state, decided_at = :decided_at, decided_by = :decided_by
WHERE house = :house AND id = :id AND state = 'open'
"""
DROP = "DELETE FROM librarian_proposals WHERE house = :house AND id = :id"


class ProposalKind(StrEnum):
    RETRACT = "retract"
    HIDE = "hide"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    id: str
    scope: str
    kind: ProposalKind
    record_id: str
    path: str = ""
    """The shelf that the line was deleted from."""
    text: str
    """What the record says, or what would take its place."""
    statement: str = ""
    """JSON of the statement that would take the place of the record."""
    state: str = OPEN
    made_at: str
    decided_at: str = ""
    decided_by: str = ""

    @classmethod
    def to_retract(cls, record: Record, path: str, now: str) -> "Proposal":
        proposal_id = derived_id(PROPOSAL, "retract", record.id, path)
        return cls(
            id=proposal_id,
            scope=record.scope,
            kind=ProposalKind.RETRACT,
            record_id=record.id,
            path=path,
            text=record.text,
            made_at=now,
        )

    @classmethod
    def to_hide(cls, name: str, scope: str, path: str, now: str, who: str) -> "Proposal":
        """`name`: the anchor of the line. It says nothing, and is decided already."""
        return cls(
            id=derived_id(PROPOSAL, "hide", name, path),
            scope=scope,
            kind=ProposalKind.HIDE,
            record_id=name,
            path=path,
            text="",
            state=ACCEPTED,
            made_at=now,
            decided_at=now,
            decided_by=who,
        )

    @classmethod
    def to_replace(cls, record: Record, statement: Statement, now: str) -> "Proposal":
        said = folded(statement.value or statement.text)
        return cls(
            id=derived_id(PROPOSAL, "replace", record.id, said),
            scope=record.scope,
            kind=ProposalKind.REPLACE,
            record_id=record.id,
            text=statement.text,
            statement=msgspec.json.encode(statement).decode(),
            made_at=now,
        )

    @property
    def wanted(self) -> Statement:
        """What would take the place of the record."""
        return msgspec.json.decode(self.statement, type=Statement)


class ProposalStore:
    """All SQL on proposals."""

    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    def add(self, proposal: Proposal) -> bool:
        """Whether it waits for a decision now. What a person once rejected is not proposed again, but a line that is
        deleted again is."""
        known = self.get([proposal.id]).get(proposal.id)
        if known and (known.state == OPEN or proposal.kind is ProposalKind.REPLACE):
            return False
        given = {name: getattr(proposal, name) for name in _COLUMNS.split(", ")}
        self._session.run(ADD, self._given(**{**given, "kind": str(proposal.kind)}))
        sources = proposal.wanted.sources if proposal.statement else ()
        is_worded = proposal.kind is not ProposalKind.HIDE
        edges = [Edge(RECORD, proposal.record_id, PROPOSAL, proposal.id)] if is_worded else []
        edges += [Edge(MESSAGE, source.message_id, PROPOSAL, proposal.id) for source in sources]
        EdgeStore(self._session, self._house).add(edges)
        return True

    def get(self, proposal_ids: Sequence[str]) -> dict[str, Proposal]:
        rows = self._session.among(GET, list(proposal_ids), self._given()) if proposal_ids else []
        return {row[0]: _proposal(row) for row in rows}

    def open(self) -> list[Proposal]:
        """The oldest first."""
        return [_proposal(row) for row in self._session.rows(IN_STATE, self._given(state=OPEN))]

    def of_records(self, record_ids: Sequence[str]) -> list[Proposal]:
        rows = self._session.among(OF_RECORDS, list(record_ids), self._given()) if record_ids else []
        return [_proposal(row) for row in rows]

    def withheld(self, record_ids: Sequence[str], path: str = "") -> set[str]:
        """Those of these records whose line somebody deleted, on this shelf or any, without a decision yet."""
        return {
            one.record_id
            for one in self.of_records(record_ids)
            if one.kind is ProposalKind.RETRACT and one.state == OPEN and path in ("", one.path)
        }

    def hidden(self, names: Sequence[str], path: str) -> dict[str, str]:
        """Anchor → proposal, of those of these lines that somebody took away from this shelf."""
        found = [one for one in self.of_records(names) if one.kind is ProposalKind.HIDE and one.path == path]
        return {one.record_id: one.id for one in found}

    def named(self, name: str) -> Proposal:
        """An open one by the start of its id."""
        found = [one for one in self.open() if one.id.startswith(name)] if name else []
        if not found:
            raise NotFound(f"Nothing to review is called {name[:100]!r}. `recollect review list` shows what is.")
        if len(found) > 1:
            raise Conflict(f"{name!r} could be {len(found)} of them. Give more of the id.")
        return found[0]

    def decide(self, proposal: Proposal, state: str, now: str, who: str) -> bool:
        given = self._given(id=proposal.id, state=state, decided_at=now, decided_by=who)
        return self._session.run(DECIDE, given) == 1

    def drop(self, proposal_ids: Sequence[str]) -> int:
        EdgeStore(self._session, self._house).delete(PROPOSAL, proposal_ids)
        return sum(self._session.run(DROP, self._given(id=one)) for one in proposal_ids)

    def _given(self, **parameters: Any) -> dict[str, Any]:
        return {"house": self._house, **parameters}


def _proposal(row: Sequence[Any]) -> Proposal:
    values: dict[str, Any] = dict(zip(_COLUMNS.split(", "), row, strict=True))
    return Proposal(**{**values, "kind": ProposalKind(values["kind"])})
