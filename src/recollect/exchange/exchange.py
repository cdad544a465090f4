"""Exchange: the one object by which a memory folder of Claude Code is read and written."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from recollect.clock import Clock, to_text
from recollect.database import Database
from recollect.errors import Conflict, Denied, Invalid, NotFound
from recollect.exchange.erasing import words_hash
from recollect.exchange.exporting import Exporting
from recollect.exchange.facts import Fact, Malformed, fact_of
from recollect.exchange.folders import Found, digest_of, files_of, memory_folders, project_of, real_folder, written_at
from recollect.exchange.keeping_out import IGNORED, PAUSED, KeptOut, check_file, keeps_out_folder
from recollect.exchange.results import FolderImport, Left, MemoryExport, MemoryImport
from recollect.exchange.sharing import Sharing
from recollect.exchange.store import FactStore, Kept
from recollect.history import History
from recollect.history.store.files import THIS_HOST
from recollect.ids import derived_id
from recollect.knowledge import Knowledge, Learned, Record, Relation, Statement, reasons
from recollect.lineage import TombstoneStore, hasher
from recollect.scopes import Actor, Principal, sight_of
from recollect.settings import Computer, this_computer

RULE = Principal(actor=Actor.RULE, name="claude-memory")
"""Reading a folder needs no judgement, and may not bring back what a person took away."""


class Exchange:
    """`memory.exchange`. An agent reads facts into its own scope, and writes what it may see."""

    def __init__(
        self,
        database: Database,
        house: str,
        clock: Clock,
        knowledge: Knowledge,
        history: History,
        principal: Principal,
        computer: Callable[[], Computer] = this_computer,
    ) -> None:
        """`knowledge`, `history`: as the principal sees them."""
        self._database = database
        self._house = house
        self._clock = clock
        self._principal = principal
        self._history = history
        self._knowledge = knowledge
        self._learning = knowledge if principal.is_confined or not principal.may_write else knowledge.seen_by(RULE)
        self._computer = computer
        self._sharing = Sharing(database, house, self._knowledge, self._learning)

    def folders(self) -> list[Path]:
        """The memory folders on this computer."""
        return memory_folders(self._computer())

    # Importing

    def import_from(self, folders: Sequence[Path | str] = (), *, dry_run: bool = False) -> MemoryImport:
        """Make learnings of the facts in these folders, by default in all on this computer. Read again, a file that did
        not change makes nothing; one that did takes the place of what it said. What is ignored or private is passed
        over, and nothing is taken in while that is paused. `dry_run`: only tell."""
        if not dry_run:
            self._history.refuse_while_paused()
            with self._database.read() as session:
                sight_of(session, self._house, self._principal).check_write(self._principal.scope, self._principal.name)
        chosen = [Path(folder) for folder in folders] or self.folders()
        # A folder may be a link into a repository: its own name still says the project.
        named = {real_folder(folder): folder.absolute() for folder in chosen}
        reports = [self._import(folder, name, dry_run) for folder, name in named.items()]
        return MemoryImport(is_dry=dry_run, folders=reports)

    def _import(self, folder: Path, named: Path, is_dry: bool) -> FolderImport:
        """`named`: as it was called, which may be a link to it."""
        report = FolderImport(folder=str(folder))
        ignore = self._history.ignored()
        if any(keeps_out_folder(ignore, place) for place in (named, folder)):
            report.problems.append(Left(file=".", reason=IGNORED))
            return report
        found, left = files_of(folder)
        report.problems += left
        with self._database.read() as session:
            kept = FactStore(session, self._house).of_folder(THIS_HOST, str(folder))
        listed = self._sharing.listed(folder)
        for file in found:
            try:
                check_file(ignore, (named, folder), file)
                fact = fact_of(file.name, file.content, project_of(named), listed)
                if fact:
                    self._take(folder, file, fact, kept.get(file.name), report, is_dry)
            except (KeptOut, Malformed, Invalid, Conflict, NotFound, Denied) as error:
                report.problems.append(Left(file=file.name, reason=str(error)))
        present = {file.name for file in found} | {one.file for one in left}
        report.missing += [name for name in kept if name not in present]
        return report

    def _take(
        self, folder: Path, file: Found, fact: Fact, kept: Kept | None, report: FolderImport, is_dry: bool
    ) -> None:
        if kept and kept.digest == fact.digest:
            report.unchanged.append(file.name)
            return
        if self._is_forgotten(fact):
            report.refused.append(file.name)
            return
        if self._history.was_paused_at(written_at(folder, file.name)):
            raise KeptOut(PAUSED)
        if is_dry:
            (report.changed if kept else report.new).append(file.name)
            return
        reason = f"{reasons.IMPORTED}{folder / file.name} (sha256 {digest_of(file.content)[:16]})"
        learned = self._learn(folder, file, fact, kept, reason)
        if learned.record is None:
            report.refused.append(file.name)
            return
        with self._database.write() as session:
            one = Kept(name=file.name, digest=fact.digest, record_id=learned.record.id)
            FactStore(session, self._house).save(THIS_HOST, str(folder), one, to_text(self._clock()))
        outcome = report.changed if kept else report.known if learned.outcome == Relation.SAME else report.new
        outcome.append(file.name)

    def _learn(self, folder: Path, file: Found, fact: Fact, kept: Kept | None, reason: str) -> Learned:
        """In the place of what the file said before, where that is still current; beside it, where another file still
        says it."""
        before = self._current(kept)
        others = self._sharing.others(before, folder, file.name) if before else []
        statement = self._statement(fact, before, is_beside=bool(others))
        if before and not others:
            return self._learning.learn(statement, relation=Relation.REPLACES, other=before.id, reason=reason)
        learned = self._learning.learn(statement, reason=reason)
        if learned.record:
            self._sharing.join(learned.record, statement.tags, reason)
            is_left = before and before.id != learned.record.id
            if before and is_left and str(folder) not in {one.folder for one in others}:
                self._sharing.leave(before, statement.tags, reason)
        return learned

    def _statement(self, fact: Fact, before: Record | None, *, is_beside: bool) -> Statement:
        """The id follows from the words, and from what they follow or stand beside: an import that was cut off goes on
        with the same one."""
        now, scope = to_text(self._clock()), self._principal.scope
        true_from = fact.statement.true_from if fact.statement.true_from <= now else ""
        if before and not is_beside and true_from <= before.true_from:
            true_from = ""  # What replaces a record begins when that ended, or later.
        origin = [fact.digest, before.id if before else "", *(["beside"] if is_beside else [])]
        made = derived_id("claude-memory", self._house, scope, *origin)
        return replace(fact.statement, id=made, scope=scope, true_from=true_from)

    def _current(self, kept: Kept | None) -> Record | None:
        record = self._knowledge.shown([kept.record_id]).get(kept.record_id) if kept else None
        is_current = record is not None and record.state == "current" and record.scope == self._principal.scope
        return record if is_current else None

    def _is_forgotten(self, fact: Fact) -> bool:
        with self._database.read() as session:
            keyed = hasher(session, self._house)
            if keyed is None:
                return False
            return bool(
                TombstoneStore(session, self._house).buried(
                    [words_hash(keyed, self._principal.scope, fact.statement.text)]
                )
            )

    # Exporting

    def export_to(self, folder: Path | str, *, project: str = "") -> MemoryExport:
        """Write what the principal may see and what holds now, one file for each record and an index. `project`: only
        what comes from a project whose path has this in it."""
        exporting = Exporting(self._database, self._house, self._clock, self._knowledge, self._history, self._principal)
        return exporting.export_to(Path(folder), project)
