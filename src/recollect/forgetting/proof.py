"""Cleaning the index and the files after something was erased, and the proof that nothing of it is left.

Can be done again at any time. SQLite zeroes what it deletes, but it moves rows inside its pages and leaves copies where
they were. Words too short for a probe could stand there unseen, so after an act the databases are always written anew;
in a later look only when it finds something.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from recollect.database import Database
from recollect.forgetting.probes import Probes
from recollect.forgetting.verifier import Findings, Holder, Verifier, files_below
from recollect.history.vault import unpacker
from recollect.lineage import MESSAGE, RECORD, Hasher, ReceiptStore, hasher
from recollect.notes.lines import NOTE
from recollect.settings import Settings

HOLDERS = (
    Holder(table="history_messages", kind=MESSAGE, id_column="id"),
    Holder(table="history_lines", kind=MESSAGE, id_column="message_id", packed="raw"),
    Holder(table="knowledge_records", kind=RECORD, id_column="id"),
    Holder(table="knowledge_events", kind=RECORD, id_column="record_id", keeps_rows=True),
    Holder(table="notes_versions", kind=NOTE, id_column="path", packed="content"),
    # One that stays stands for nothing that was forgotten: it was made from what others said.
    Holder(table="mind_compactions", kind="compaction", id_column="agent", keeps_rows=True),
)
"""What is said in these was said there too, and is no trace of what was forgotten elsewhere."""


class Index(Protocol):
    """What forgetting asks of recall."""

    def forget(self) -> int: ...
    def place(self) -> Database: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """For one act of forgetting."""

    index_rows: int
    left: Probes
    """What nobody else says: what is looked for the next time."""
    also_in: dict[str, list[str]]
    residue: list[str]


class Proof:
    def __init__(self, database: Database, settings: Settings, index: Callable[[], Index]) -> None:
        self._database = database
        self._settings = settings
        self._index = index

    def verifier(self, keyed: Hasher) -> Verifier:
        return Verifier(self._settings.house, keyed, HOLDERS, unpacker())

    def prove(self, acts: Mapping[str, Probes], *, thoroughly: bool) -> dict[str, Outcome]:
        """Clean, then look, for these acts at once. Unavailable while somebody holds an older state of the files."""
        index = self._index()
        rows = index.forget()
        databases = [self._database, index.place()]
        _settle(databases)
        if thoroughly:
            _compact(databases)
        findings = self._look(databases, Probes.together(acts.values()), can_compact=not thoroughly)
        common = {one for hashes in findings.held.values() for one in hashes}
        outcomes: dict[str, Outcome] = {}
        for act, probes in acts.items():
            outcomes[act] = Outcome(
                index_rows=rows,
                left=probes.without(common),
                also_in=findings.also_in(probes),
                residue=findings.residue(probes),
            )
        return outcomes

    def _look(self, databases: list[Database], probes: Probes, *, can_compact: bool) -> Findings:
        findings = Findings()
        with self._database.read() as session:
            keyed = hasher(session, self._settings.house)
        if keyed is None:
            return findings
        verifier = self.verifier(keyed)
        left = in_files = verifier.shared(self._database, probes, findings)
        for database in databases:
            verifier.tables(database, left, findings)
            in_files = verifier.without_other_houses(database, in_files)
        verifier.files(databases, self._other_files(databases), in_files, findings)
        if findings.in_files and can_compact:
            _compact(databases)
            verifier.files(databases, self._other_files(databases), in_files, findings)
        return findings

    def _other_files(self, databases: list[Database]) -> list[Path]:
        """Of the home. Exports and backups may lie there: they are out of reach, and named so."""
        with self._database.read() as session:
            exports = [Path(export.path) for export in ReceiptStore(session, self._settings.house).exports()]
        own = [path for database in databases for path in database.files()]
        return sorted(files_below(self._settings.home, [self._settings.models, *exports, *own]))


def _compact(databases: list[Database]) -> None:
    for database in databases:
        if database.files():  # A server writes over its own in time.
            database.compact()
    _settle(databases)


def _settle(databases: list[Database]) -> None:
    for database in databases:
        database.settle()
