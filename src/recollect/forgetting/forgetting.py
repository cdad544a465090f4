"""Forgetting: the one object through which something is erased with everything that came from it.

One write transaction takes it out of all tables, puts up the tombstones and writes the receipt; what comes after (the
index, the files, the proof) can be done again at any time, and is done again when it was cut off. Whoever keeps
something derived registers a `Part`.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import msgspec

from recollect.clock import Clock, to_text
from recollect.database import Database, Session
from recollect.errors import Conflict, Denied, Invalid, NotFound, RecollectError, Unavailable
from recollect.forgetting.acts import ForgettingFigures, Forgotten, Part, Plan, told_by
from recollect.forgetting.probes import Probes, probes_of
from recollect.forgetting.proof import Index, Outcome, Proof
from recollect.history.erasing import Erasing as HistoryErasing
from recollect.history.erasing import Reached as HistoryReached
from recollect.ids import new_id
from recollect.knowledge.erasing import Erasing as KnowledgeErasing
from recollect.knowledge.naming import named
from recollect.knowledge.store import EventStore, RecordStore
from recollect.learnings.store import ReportStore
from recollect.lineage import (
    CONVERSATION,
    FILE,
    MESSAGE,
    RECORD,
    SUBJECT,
    EdgeStore,
    Hasher,
    Receipt,
    ReceiptState,
    ReceiptStore,
    TombstoneStore,
    hasher,
)
from recollect.notes.erasing import Erasing as NotesErasing
from recollect.notes.lines import NOTE
from recollect.notes.notes import FOLDER
from recollect.notes.store import NoteStore
from recollect.scopes import OWNER, Principal, sight_of
from recollect.settings import Settings

OTHERWISE = "Something else would go by now than what was told. Nothing was forgotten. Ask again."
PASSING = ("showings",)
"""That something was looked at. Who reads once more what would go has not changed it."""
MOST_PROBES = 200_000
"""Looked for at once: more make every look slower than two looks."""


def _nothing() -> None: ...


class Forgetting:
    """`memory.forgetting`."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        clock: Clock,
        index: Callable[[], Index],
        parts: Sequence[Part] = (),
        principal: Principal = OWNER,
        look: Callable[[], object] = _nothing,
        clean: Sequence[Callable[[], object]] = (),
    ) -> None:
        """`look`: at the folder of notes, before an act so that all that stands there is known, and after it so that
        its files follow. `clean`: what else lies outside of the databases and may hold something that was forgotten."""
        self._database = database
        self._settings = settings
        self._house = settings.house
        self._clock = clock
        self._proof = Proof(database, settings, index)
        self._parts = parts
        self._principal = principal
        self._look = look
        self._clean = clean

    def forget(
        self,
        *,
        record: str = "",
        message: str = "",
        conversation: str = "",
        file: str = "",
        subject: str = "",
        note: str = "",
        with_sources: bool = False,
        dry_run: bool = False,
        verify: bool = True,
        as_told: str = "",
    ) -> Forgotten:
        """Erase one thing and all that came from it. `with_sources`: also the messages that a record, or the lines of a
        note, came from. Without `verify` the cleaning of index and files, and the proof, are left to a later `verify`,
        for many at once. `as_told`: the digest of a dry run; where something else would go by now, nothing does."""
        given = {RECORD: record, MESSAGE: message, CONVERSATION: conversation, FILE: file, SUBJECT: subject, NOTE: note}
        chosen = [(kind, name) for kind, name in given.items() if name]
        if len(chosen) != 1:
            raise Invalid("Name one thing to forget: a record, a message, a conversation, a file, a subject or a note.")
        kind, name = chosen[0]
        if self._principal.is_confined and (kind not in (RECORD, SUBJECT, NOTE) or with_sources):
            raise Denied(f"{self._principal.name} may not forget history: only a person may.")
        with suppress(RecollectError):  # A folder that cannot be read keeps nobody from forgetting.
            self._look()
        if dry_run:
            with self._database.read() as session:
                return self._told(session, self._plan(session, kind, name, with_sources))
        receipt, told = self._erase(kind, name, with_sources, as_told)
        return self._finished([(receipt, told)])[0] if verify else told

    # What goes

    def _plan(self, session: Session, kind: str, name: str, with_sources: bool) -> Plan:
        plan = Plan(kind)
        knowledge = KnowledgeErasing(session, self._house)
        if kind in (RECORD, SUBJECT):
            plan.chosen.update(self._chosen_records(session, kind, name))
            plan.reach.records.update(plan.chosen)
            plan.sources = knowledge.sources_of(sorted(plan.chosen))
        elif kind == NOTE:
            notes = self._notes(session)
            plan.notes.notes = notes.lives(notes.named(name, self._principal))
            plan.sources = notes.sources_of(plan.notes.notes)
        else:
            plan.history = self._reached(session, kind, name)
        if with_sources and plan.sources:
            plan.history = self._history(session).reach_messages(plan.sources)
            plan.sources = []
        if plan.history:
            plan.reach.messages.update(message.id for message in plan.history.messages)
            alone, shared = knowledge.from_messages(sorted(plan.reach.messages))
            plan.reach.records.update(alone)
            plan.reach.scrubbed.update(set(shared) - plan.reach.records)
        origins = {(MESSAGE, one) for one in plan.reach.messages} | {(RECORD, one) for one in plan.reach.records}
        for part in self._parts:
            origins |= part.origins(session, plan.reach)
            plan.notes.notes |= part.notes(session, plan.reach)
        plan.notes = self._notes(session).reach(origins, plan.notes.notes)
        return plan

    def _chosen_records(self, session: Session, kind: str, name: str) -> list[str]:
        sight = sight_of(session, self._house, self._principal)
        store = RecordStore(session, self._house, sight)
        if kind == RECORD:
            found = [named(store, EventStore(session, self._house), name, self._principal)]
        else:
            found = list(store.get(store.of_subject(name)).values())
            if not found:
                raise NotFound(f"No record is about {name[:100]!r}. `recollect records --subject` lists what is.")
        for one in found:
            sight.check_write(one.scope, self._principal.called)
        return [one.id for one in found]

    def _reached(self, session: Session, kind: str, name: str) -> HistoryReached:
        history = self._history(session)
        if kind == MESSAGE:
            return history.reach_messages(history.of_message(name))
        if kind == CONVERSATION:
            return history.reach_conversation(name)
        return history.reach_file(name)

    def _history(self, session: Session) -> HistoryErasing:
        return HistoryErasing(session, self._house, timedelta(minutes=self._settings.conversation_gap_minutes))

    def _notes(self, session: Session) -> NotesErasing:
        return NotesErasing(session, self._house, sight_of(session, self._house, self._principal))

    def _told(self, session: Session, plan: Plan) -> Forgotten:
        removed = self._counts(session, plan)
        for part in self._parts:
            removed |= part.reach(session, plan.reach)
        reached = {
            MESSAGE: sorted(plan.reach.messages),
            RECORD: sorted(plan.reach.records),
            "scrubbed_record": sorted(plan.reach.scrubbed),
            NOTE: sorted(plan.notes.notes),
        }
        return Forgotten(
            target=plan.target,
            dry_run=True,
            removed=removed,
            reached=reached,
            note_lines=self._notes(session).shown(plan.notes),
            digest=_digest(plan, removed, reached),
            # Where copies of the house lie is no business of an agent. The receipt has it.
            out_of_reach=[] if self._principal.is_confined else self._out_of_reach(session, plan),
            also_in={MESSAGE: list(plan.history.also_in)} if plan.history and plan.history.also_in else {},
            sources=plan.sources,
        )

    def _counts(self, session: Session, plan: Plan) -> dict[str, int]:
        versions = RecordStore(session, self._house).versions(sorted(plan.reach.records))
        return {
            "messages": len(plan.reach.messages),
            "lines": plan.history.lines_reached if plan.history else 0,
            "files": len(plan.history.files) if plan.history else 0,
            "records": len(plan.reach.records),
            "record_versions": sum(len(found) for found in versions.values()),
            "scrubbed_records": len(plan.reach.scrubbed),
            **self._notes(session).counts(plan.notes),
        }

    def _out_of_reach(self, session: Session, plan: Plan) -> list[str]:
        copies = [f"source file {path}" for path in plan.history.copies_on_disk] if plan.history else []
        made = ReceiptStore(session, self._house).exports()
        exports = [f"{export.kind} {export.path} of {export.at[:10]}" for export in made]
        repository = self._settings.home / FOLDER / ".git"
        if plan.notes.paths and repository.exists():
            copies.append(f"what git keeps of the notes in {repository}")
        server = [] if self._database.files() else ["the server's own files and backups, until it writes over them"]
        return [*copies, *exports, *server]

    # The act

    def _erase(self, kind: str, name: str, with_sources: bool, as_told: str) -> tuple[Receipt, Forgotten]:
        with self._database.write() as session:
            plan = self._plan(session, kind, name, with_sources)
            told = self._told(session, plan)
            if as_told and told.digest != as_told:
                raise Conflict(OTHERWISE)
            keyed = hasher(session, self._house, make=True)
            assert keyed
            probes = probes_of(self._proof.verifier(keyed).fingerprint(), self._contents(session, plan))
            receipt = Receipt(
                id=new_id(),
                at=to_text(self._clock()),
                actor=str(self._principal.actor),
                actor_name=self._principal.name,
                target=kind,
                state=ReceiptState.ERASED,
                out_of_reach=self._out_of_reach(session, plan),
                probes=probes.packed(),
            )
            removed = self._remove(session, plan, keyed, receipt)
            receipt = replace(receipt, removed=removed)
            ReceiptStore(session, self._house).save(receipt)
        state = str(ReceiptState.ERASED)
        told = replace(told, dry_run=False, removed=removed, reached={}, note_lines={}, digest="")
        return receipt, replace(told, receipt=receipt.id, state=state)

    def _contents(self, session: Session, plan: Plan) -> Iterator[bytes]:
        knowledge = KnowledgeErasing(session, self._house)
        messages = sorted(plan.reach.messages)
        again = knowledge.standing_on_others(sorted(plan.reach.records - plan.chosen), messages)
        yield from knowledge.contents(sorted(plan.reach.records.difference(again)))
        yield from knowledge.quotes(sorted(plan.reach.scrubbed.union(again)), messages)
        if plan.history:
            yield from plan.history.contents()
        yield from self._notes(session).contents(plan.notes)
        for part in self._parts:
            yield from part.contents(session, plan.reach)

    def _remove(self, session: Session, plan: Plan, keyed: Hasher, receipt: Receipt) -> dict[str, int]:
        tombstones = TombstoneStore(session, self._house)
        before = tombstones.count()
        removed = self._notes(session).erase(plan.notes, keyed, tombstones, receipt.id)
        for part in self._parts:
            removed |= part.erase(session, plan.reach)
        knowledge = KnowledgeErasing(session, self._house)
        records, messages = sorted(plan.reach.records), sorted(plan.reach.messages)
        removed |= knowledge.erase(
            records,
            keyed,
            tombstones,
            receipt.id,
            self._principal,
            receipt.at,
            chosen=plan.chosen,
            messages=messages,
        )
        removed["scrubbed_records"] = knowledge.scrub(sorted(plan.reach.scrubbed), messages)
        removed |= {"messages": 0, "lines": 0, "files": 0}
        if plan.history:
            removed |= self._history(session).erase(plan.history, keyed, tombstones, receipt.id)
        EdgeStore(session, self._house).delete(MESSAGE, messages)
        ReportStore(session, self._house).drop(messages)
        removed["tombstones"] = tombstones.count() - before
        return removed

    # What comes after, and can be done again

    def _finished(self, acts: Sequence[tuple[Receipt, Forgotten]]) -> list[Forgotten]:
        done: list[Forgotten] = []
        for some in _portions(acts):
            probes = {receipt.id: Probes.read(receipt.probes) for receipt, _ in some}
            is_new = any(receipt.state is not ReceiptState.VERIFIED for receipt, _ in some)
            try:
                elsewhere = self._tidied()
                outcomes = self._proof.prove(probes, thoroughly=is_new)
            except (Unavailable, Denied):
                done += [told for _, told in some]  # Somebody holds the files: it is done again by `verify`.
                continue
            done += [self._told_of(receipt, told, outcomes[receipt.id], elsewhere) for receipt, told in some]
        return done

    def _tidied(self) -> list[str]:
        """Take what was forgotten out of what lies outside of the databases; where that is for others to do."""
        for tidy in (self._look, *self._clean):
            tidy()
        with self._database.read() as session:
            number = NoteStore(session, self._house).unpurged()
        folders = f"{number:,} folders" if number > 1 else "a folder"
        return [f"{folders} of notes on another computer, until Recollect runs there"] if number else []

    def _told_of(self, receipt: Receipt, told: Forgotten, outcome: Outcome, elsewhere: list[str]) -> Forgotten:
        state = ReceiptState.RESIDUE if outcome.residue else ReceiptState.VERIFIED
        rows = max(outcome.index_rows, receipt.removed.get("index_rows", 0))
        removed = {**receipt.removed, "index_rows": rows}
        with self._database.write() as session:
            ReceiptStore(session, self._house).save(
                replace(
                    receipt,
                    removed=removed,
                    state=state,
                    verified_at=to_text(self._clock()),
                    probes=outcome.left.packed(),
                )
            )
        # An agent could ask by this who else has some words: it would only have to remember and forget them.
        also_in = {} if self._principal.is_confined else outcome.also_in
        told = replace(told, removed=removed, state=str(state), residue=outcome.residue, also_in=also_in)
        return told if self._principal.is_confined else replace(told, out_of_reach=[*told.out_of_reach, *elsewhere])

    # Later

    def receipts(self) -> list[Receipt]:
        """The oldest first."""
        if self._principal.is_confined:
            raise Denied(f"{self._principal.name} may not see what the house forgot: only a person may.")
        with self._database.read() as session:
            return ReceiptStore(session, self._house).every()

    def verify(self, name: str = "") -> list[Forgotten]:
        """Look again for what was forgotten, by one receipt or all; finish what was cut off."""
        found = [receipt for receipt in self.receipts() if receipt.id.startswith(name) or receipt.id.endswith(name)]
        if name and not found:
            raise NotFound(f"No receipt is called {name[:100]!r}. `recollect forget --receipts` lists them.")
        return self._finished([(receipt, told_by(receipt)) for receipt in found])

    def finish(self, before: str = "") -> list[Forgotten]:
        """Finish what was cut off after the erasing: all, or only acts from before a time."""
        cut_off = [receipt for receipt in self.unfinished() if receipt.state is ReceiptState.ERASED]
        return self._finished([(one, told_by(one)) for one in cut_off if not before or one.at < before])

    def unfinished(self) -> list[Receipt]:
        """Acts that were cut off after the erasing, or left something."""
        if not self.figures().unfinished:
            return []
        return [receipt for receipt in self.receipts() if receipt.state is not ReceiptState.VERIFIED]

    def figures(self) -> ForgettingFigures:
        with self._database.read() as session:
            by_state = ReceiptStore(session, self._house).numbers()
            tombstones = TombstoneStore(session, self._house).count()
        receipts = sum(by_state.values())
        unfinished = receipts - by_state.get(ReceiptState.VERIFIED, 0)
        return ForgettingFigures(receipts=receipts, unfinished=unfinished, tombstones=tombstones)


def _digest(plan: Plan, removed: dict[str, int], reached: dict[str, list[str]]) -> str:
    """Of ids, and of numbers of versions: a note that is written anew at its old path goes on with higher ones."""
    lasting = {name: number for name, number in removed.items() if name not in PASSING}
    lines = {path: sorted(line.hex() for line in some) for path, some in plan.notes.lines.items()}
    content = msgspec.json.encode([plan.target, lasting, reached, plan.notes.notes, lines], order="sorted")
    return hashlib.sha256(content).hexdigest()


def _portions(acts: Sequence[tuple[Receipt, Forgotten]]) -> Iterator[list[tuple[Receipt, Forgotten]]]:
    portion, probes = list[tuple[Receipt, Forgotten]](), 0
    for act in acts:
        number = len(Probes.read(act[0].probes))
        if portion and probes + number > MOST_PROBES:
            yield portion
            portion, probes = [], 0
        portion.append(act)
        probes += number
    if portion:
        yield portion
