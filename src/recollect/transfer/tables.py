"""Which tables an export has, and what a row of each looks like in it."""

from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from recollect.database import Column, Session
from recollect.errors import Invalid

HOUSE = "house"
"""The column that no export has: rows take the name of the house they are imported into."""

CARRIED = (
    "scopes",
    "scope_grants",
    "scope_bindings",
    "history_files",
    "history_paths",
    "history_lines",
    "history_messages",
    "history_conversations",
    "history_links",
    "history_titles",
    "history_private_spans",
    "knowledge_records",
    "knowledge_events",
    "knowledge_marker_reports",
    "notes_versions",
    "showings_counts",
    "exchange_facts",
    "librarian_episodes",
    "librarian_lines",
    "librarian_replies",
    "librarian_shelves",
    "librarian_questions",
    "librarian_proposals",
    "librarian_nights",
    "mind_entries",
    "mind_turns",
    "mind_deliveries",
    "mind_compactions",
    "mind_places",
    "lineage_keys",
    "lineage_edges",
    "lineage_tombstones",
    "lineage_receipts",
    "lineage_exports",
    "runs_events",
    "runs_spending",
)
LEFT_OUT = {
    "schema_versions": "each database has its own; the manifest says which one this was",
    "access_tokens": "who may ask one house over HTTP: another one makes tokens of its own",
    "jobs_jobs": "what one database's workers have still to do: an import queues it anew",
    "jobs_pauses": "which of one database's workers rest",
    "mind_pairings": "codes that hold for minutes",
    "mind_positions": "how far one database has read what waits elsewhere; what comes twice is known by its name",
    "mind_ticks": "when the moments of one database's agents are due",
    "showings_sessions": "what was shown in the last days: what it came to is in the counts",
    "showings_records": "the same, record by record",
    "notes_copies": "how one folder on one computer last looked",
    "feed_changes": "what followers have still to read: an import notes everything anew",
    "feed_state": "the identity of one database's changes",
    "feed_followers": "how far the followers of one database are",
}
"""A test sees to it that each table is here or there. The tables of recall are derived and belong to no migration."""
MAY_BE_THERE = frozenset({"runs_events", "runs_spending", "lineage_exports", "lineage_keys"})
"""Rows of these do not make a house one that holds something: what it did, copies of nothing, a secret of nothing."""

_INTEGER = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A table as an export has it: its columns but the house, in their order."""

    table: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def key(self) -> list[str]:
        """By which rows are in order. Keys compare byte by byte, so that the order is the same on each engine."""
        parts = sorted((column for column in self.columns if column.key_place), key=lambda column: column.key_place)
        return [column.name for column in parts]

    def row_type(self) -> type[msgspec.Struct]:
        """Checks each value when a row is read. Bytes are base64 in JSON."""
        fields = [(column.name, _value_type(column)) for column in self.columns]
        return msgspec.defstruct(self.table, fields, forbid_unknown_fields=True)

    def only(self, names: list[str]) -> "Shape":
        """With these columns: those of an export by an older program. Where it lacks one, the default must do."""
        unknown = sorted(set(names) - set(self.names))
        if unknown or len(set(names)) != len(names):
            raise Invalid(
                f"{self.table} has no column {', '.join(unknown) or 'twice'} here: the manifest is not sound."
            )
        missing = [
            column.name
            for column in self.columns
            if column.name not in names and not (column.has_default or column.is_nullable)
        ]
        if missing:
            raise Invalid(f"{self.table} is exported without {', '.join(missing)}: the manifest is not sound.")
        by_name = {column.name: column for column in self.columns}
        return Shape(table=self.table, columns=tuple(by_name[name] for name in names))


def _value_type(column: Column) -> Any:
    kind: Any = _INTEGER if column.type is int else column.type
    return kind | None if column.is_nullable else kind


def shape_of(session: Session, table: str) -> Shape:
    columns = tuple(column for column in session.columns(table) if column.name != HOUSE)
    return Shape(table=table, columns=columns)
