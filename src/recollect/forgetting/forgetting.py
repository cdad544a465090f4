"""Forgetting: the one object through which something is erased with everything that came from it.

One write transaction takes it out of all tables, puts up the tombstones and writes the receipt; what comes after (the
index, the files, the proof) can be done again at any time, and is done again when it was cut off. Whoever keeps
something derived registers a `Part`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Protocol

from recollect.clock import Clock, to_text
from recollect.database import Database, Session
from recollect.errors import Denied, Invalid, NotFound, Unavailable
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
from recollect.scopes import OWNER, Principal, sight_of
from recollect.settings import Settings

KINDS = (RECORD, MESSAGE, CONVERSATION, FILE, SUBJECT)
MOST_PROBES = 200_000
"""Looked for at once: more make every look slower than two looks."""


@dataclass(slots=True)
class Reach:
    """All that goes, by kind of thing; parts add what they derived from what is here."""

    messages: set[str] = field(default_factory=set[str])
    records: set[str] = field(default_factory=set[str])
    scrubbed: set[str] = field(default_factory=set[str])
    """Records that stay, as others than these messages say it too."""


class Part(Protocol):
    """What one capability made from messages and records. It sees them before they go."""

    def reach(self, session: Session, reach: Reach) -> dict[str, int]:
        """How much of its own goes, by name."""
        ...

    def contents(self, session: Session, reach: Reach) -> Iterator[bytes]:
        """What it keeps of these, for the proof that it is gone."""
        ...

    def erase(self, session: Session, reach: Reach) -> dict[str, int]:
        """In the transaction of all; how much went, by name."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was forgotten, or in a dry run would be."""

    target: str
    dry_run: bool
    removed: dict[str, int]
    reached: dict[str, list[str]]
    """Kind → ids, in a dry run. Afterwards nobody needs them."""
    receipt: str = ""
    state: str = ""
    out_of_reach: list[str] = field(default_factory=list[str])
    """Copies that only their owner can remove."""
    also_in: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Kind → ids of things that stay and have some of the same words."""
    residue: list[str] = field(default_factory=list[str])
    sources: list[str] = field(default_factory=list[str])
    """Messages that records came from and that stay."""

    @property
    def is_verified(self) -> bool:
        return self.state == ReceiptState.VERIFIED


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingFigures:
    receipts: int
    unfinished: int
    """Cut off after the erasing, or something was left."""
    tombstones: int


@dataclass(slots=True)
class _Plan:
    """One act, while its session is open."""

    target: str
    reach: Reach = field(default_factory=Reach)
    history: HistoryReached | None = None
    sources: list[str] = field(default_factory=list[str])


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
    ) -> None:
        self._database = database
        self._settings = settings
        self._house = settings.house
        self._clock = clock
        self._proof = Proof(database, settings, index)
        self._parts = parts
        self._principal = principal

    def forget(
        self,
        *,
        record: str = "",
        message: str = "",
        conversation: str = "",
        file: str = "",
        subject: str = "",
        with_sources: bool = False,
        dry_run: bool = False,
        verify: bool = True,
    ) -> Forgotten:
        """Erase one thing and all that came from it. `with_sources`: also the messages that a record came from. Without
        `verify` the cleaning of index and files, and the proof, are left to a later `verify`, for many at once."""
        given = {RECORD: record, MESSAGE: message, CONVERSATION: conversation, FILE: file, SUBJECT: subject}
        chosen = [(kind, name) for kind, name in given.items() if name]
        if len(chosen) != 1:
            raise Invalid("Name one thing to forget: a record, a message, a conversation, a file or a subject.")
        kind, name = chosen[0]
        if self._principal.is_confined and (kind not in (RECORD, SUBJECT) or with_sources):
            raise Denied(f"{self._principal.name} may not forget history: only a person may.")
        if dry_run:
            with self._database.read() as session:
                return self._told(session, self._plan(session, kind, name, with_sources))
        receipt, told = self._erase(kind, name, with_sources)
        return self._finished([(receipt, told)])[0] if verify else told

    # What goes

    def _plan(self, session: Session, kind: str, name: str, with_sources: bool) -> _Plan:
        plan = _Plan(kind)
        knowledge = KnowledgeErasing(session, self._house)
        if kind in (RECORD, SUBJECT):
            plan.reach.records.update(self._chosen_records(session, kind, name))
            plan.sources = knowledge.sources_of(sorted(plan.reach.records))
            if with_sources and plan.sources:
                plan.history = self._history(session).reach_messages(plan.sources)
                plan.sources = []
        else:
            plan.history = self._reached(session, kind, name)
        if plan.history:
            plan.reach.messages.update(message.id for message in plan.history.messages)
            alone, shared = knowledge.from_messages(sorted(plan.reach.messages))
            plan.reach.records.update(alone)
            plan.reach.scrubbed.update(set(shared) - plan.reach.records)
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
            sight.check_write(one.scope, self._principal.name)
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

    def _told(self, session: Session, plan: _Plan) -> Forgotten:
        removed = self._counts(session, plan)
        for part in self._parts:
            removed |= part.reach(session, plan.reach)
        return Forgotten(
            target=plan.target,
            dry_run=True,
            removed=removed,
            reached={
                MESSAGE: sorted(plan.reach.messages),
                RECORD: sorted(plan.reach.records),
                "scrubbed_record": sorted(plan.reach.scrubbed),
            },
            out_of_reach=self._out_of_reach(session, plan),
            also_in={MESSAGE: list(plan.history.also_in)} if plan.history and plan.history.also_in else {},
            sources=plan.sources,
        )

    def _counts(self, session: Session, plan: _Plan) -> dict[str, int]:
        versions = RecordStore(session, self._house).versions(sorted(plan.reach.records))
        return {
            "messages": len(plan.reach.messages),
            "lines": plan.history.lines_reached if plan.history else 0,
            "files": len(plan.history.files) if plan.history else 0,
            "records": len(plan.reach.records),
            "record_versions": sum(len(found) for found in versions.values()),
            "scrubbed_records": len(plan.reach.scrubbed),
        }

    def _out_of_reach(self, session: Session, plan: _Plan) -> list[str]:
        copies = [f"source file {path}" for path in plan.history.copies_on_disk] if plan.history else []
        made = ReceiptStore(session, self._house).exports()
        exports = [f"{export.kind} {export.path} of {export.at[:10]}" for export in made]
        server = [] if self._database.files() else ["the server's own files and backups, until it writes over them"]
        return [*copies, *exports, *server]

    # The act

    def _erase(self, kind: str, name: str, with_sources: bool) -> tuple[Receipt, Forgotten]:
        with self._database.write() as session:
            plan = self._plan(session, kind, name, with_sources)
            told = self._told(session, plan)
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
                out_of_reach=told.out_of_reach,
                probes=probes.packed(),
            )
            removed = self._remove(session, plan, keyed, receipt)
            receipt = replace(receipt, removed=removed)
            ReceiptStore(session, self._house).save(receipt)
        state = str(ReceiptState.ERASED)
        told = replace(told, dry_run=False, removed=removed, reached={}, receipt=receipt.id, state=state)
        return receipt, told

    def _contents(self, session: Session, plan: _Plan) -> Iterator[bytes]:
        knowledge = KnowledgeErasing(session, self._house)
        yield from knowledge.contents(sorted(plan.reach.records))
        yield from knowledge.quotes(sorted(plan.reach.scrubbed), sorted(plan.reach.messages))
        if plan.history:
            yield from plan.history.contents()
        for part in self._parts:
            yield from part.contents(session, plan.reach)

    def _remove(self, session: Session, plan: _Plan, keyed: Hasher, receipt: Receipt) -> dict[str, int]:
        tombstones = TombstoneStore(session, self._house)
        before = tombstones.count()
        removed: dict[str, int] = {}
        for part in self._parts:
            removed |= part.erase(session, plan.reach)
        knowledge = KnowledgeErasing(session, self._house)
        records, messages = sorted(plan.reach.records), sorted(plan.reach.messages)
        removed |= knowledge.erase(records, keyed, tombstones, receipt.id, self._principal, receipt.at)
        removed["scrubbed_records"] = knowledge.scrub(sorted(plan.reach.scrubbed), messages)
        removed |= {"messages": 0, "lines": 0, "files": 0, "note_lines": 0}
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
                outcomes = self._proof.prove(probes, thoroughly=is_new)
            except Unavailable:
                done += [told for _, told in some]  # Somebody holds the files: it is done again by `verify`.
                continue
            done += [self._told_of(receipt, told, outcomes[receipt.id]) for receipt, told in some]
        return done

    def _told_of(self, receipt: Receipt, told: Forgotten, outcome: Outcome) -> Forgotten:
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
        return replace(told, removed=removed, state=str(state), residue=outcome.residue, also_in=also_in)

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
        return self._finished([(receipt, _told_by(receipt)) for receipt in found])

    def finish(self, before: str = "") -> list[Forgotten]:
        """Finish what was cut off after the erasing: all, or only acts from before a time."""
        cut_off = [receipt for receipt in self.unfinished() if receipt.state is ReceiptState.ERASED]
        return self._finished([(one, _told_by(one)) for one in cut_off if not before or one.at < before])

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


def _told_by(receipt: Receipt) -> Forgotten:
    return Forgotten(
        target=receipt.target,
        dry_run=False,
        removed=receipt.removed,
        reached={},
        receipt=receipt.id,
        state=str(receipt.state),
        out_of_reach=receipt.out_of_reach,
    )


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
