"""Reflection: once a night the librarian looks over what it filed.

It prunes what is over and what is there twice, lets firm facts rise and recurring lines of episodes become facts, and
writes the agent's page about itself. A night changes a set share of all records at the most; the rest waits for the
next. Every change is one of the stream and keeps the version before it, so a whole night can be undone.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from recollect.clock import Clock, from_text, local, to_text
from recollect.database import Database, Session
from recollect.errors import Conflict
from recollect.history.store import MessageStore
from recollect.ids import derived_id, new_id
from recollect.knowledge import Evidence, Kind, Origin, Record, State, Statement
from recollect.knowledge.line import take_out
from recollect.knowledge.statements import prepared
from recollect.knowledge.store import EventStore, Filter, RecordStore
from recollect.knowledge.undoing import undo as undo_record
from recollect.knowledge.writing import Writer, first_version
from recollect.librarian.episodes import Episode, EpisodeStore
from recollect.librarian.filing import claim_id
from recollect.librarian.items import USER, Shelf
from recollect.librarian.nights.nights import DONE, UNDONE, Change, Night, NightStore
from recollect.librarian.nights.pruning import RECURRING, Recurring, Wanted, recurring, wanted_changes
from recollect.scopes import Actor, Principal
from recollect.settings import Settings

MOST_RECORDS = 100_000
EPISODE_PAGE = 2_000


class Reflection:
    def __init__(self, database: Database, settings: Settings, clock: Clock) -> None:
        self._database = database
        self._settings = settings
        self._house = settings.house
        self._clock = clock

    def is_due(self) -> bool:
        """Whether the time of the settings has passed today without a night, and something was read to look back on."""
        return bool(self._due_id())

    def _due_id(self) -> str:
        at = self._settings.librarian.reflect_at
        now = local(to_text(self._clock()))
        if not at or f"{now:%H:%M}" < at:
            return ""
        night_id = derived_id("night", f"{now:%Y-%m-%d}")
        with self._database.read() as session:
            was_there = NightStore(session, self._house).get(night_id) is not None
            return "" if was_there or not EpisodeStore(session, self._house).count() else night_id

    def run(self, *, by_schedule: bool = False) -> Night | None:
        """One night. None: by the schedule it is not due, or somebody else has it."""
        night_id = self._due_id() if by_schedule else new_id()
        if not night_id:
            return None
        now = self._clock()
        night = Night(id=night_id, at=to_text(now), reader=self._settings.librarian.model)
        with self._database.write() as session:
            if not NightStore(session, self._house).begin(night):
                return None
            night = self._reflect(session, night)
            NightStore(session, self._house).save(night)
        return night

    def _reflect(self, session: Session, night: Night) -> Night:
        writer = self._writer(session, night.at)
        records = self._own_records(session)
        wanted = list(wanted_changes(records, self._conversations(session, records), from_text(night.at)))
        promoted = self._recurring(session, writer)
        most = self._most_changes(session, night.at)
        changes, done = list[Change](), 0
        for group in wanted:
            if most and (not changes or len(changes) + len(group) <= most):
                changes += [self._change(writer, one) for one in group]
                done += 1
        risen = promoted[: max(most - len(changes), 0)]
        changes += [self._promote(writer, one) for one in risen]
        counts = Counter(change.what for change in changes)
        counts["waiting"] = len(wanted) + len(promoted) - done - len(risen)
        return replace(night, state=DONE, changes=tuple(changes), counts=dict(+counts))

    def _most_changes(self, session: Session, now: str) -> int:
        """One at the least, or a small house would never change."""
        current = RecordStore(session, self._house).current(now)
        return (
            max(1, int(current * self._settings.librarian.night_share)) if self._settings.librarian.night_share else 0
        )

    def _own_records(self, session: Session) -> list[Record]:
        """What no person touched, and no night that was undone."""
        found = RecordStore(session, self._house).listed(Filter(), MOST_RECORDS)
        left = {change.record for night in NightStore(session, self._house).undone() for change in night.changes}
        left |= EventStore(session, self._house).changed_by(str(Actor.PERSON))
        return [record for record in found if record.origin is Origin.EXTRACTED and record.id not in left]

    def _conversations(self, session: Session, records: Sequence[Record]) -> dict[str, str]:
        """Message → its conversation, for what more than one message says."""
        many = sorted({one.message_id for record in records if len(record.sources) > 1 for one in record.sources})
        messages = MessageStore(session, self._house).get(many)
        return {message.id: message.conversation_id or message.id for message in messages.values()}

    def _change(self, writer: Writer, wanted: Wanted) -> Change:
        now = writer.records.get([wanted.record.id])[wanted.record.id]
        changes = dict(wanted.changes)
        if "added" in changes:
            changes = {"sources": (*now.sources, *changes["added"])}
        after = writer.change(now, wanted.action, wanted.reason, changes)
        if after.state is State.RETRACTED:
            take_out(writer, now)
        return Change(record=after.id, before=now.version, after=after.version, what=wanted.action)

    # What episodes tell again and again

    def _recurring(self, session: Session, writer: Writer) -> list[Recurring]:
        store = EpisodeStore(session, self._house)
        episodes, after = list[Episode](), ""
        while page := store.page(after, EPISODE_PAGE):
            episodes += page
            after = page[-1].conversation_id
        lines = store.lines([episode.conversation_id for episode in episodes])
        found = recurring(episodes, lines)
        return [one for one in found if not writer.records.saying(one.scope, one.text) and self._may(writer, one)]

    def _may(self, writer: Writer, one: Recurring) -> bool:
        statement = self._statement(one)
        is_new = not writer.is_taken(claim_id(statement))
        return is_new and not writer.is_refused(replace(statement, id=claim_id(statement)), one.scope)

    def _statement(self, one: Recurring) -> Statement:
        return prepared(
            Statement(
                text=one.text,
                kind=Kind.FACT,
                subject=one.project or USER,
                tags=(str(Shelf.PROJECT if one.project else Shelf.CORE), RECURRING),
                origin=Origin.EXTRACTED,
                scope=one.scope,
                true_from=one.true_from,
                importance=0.7,
                sources=tuple(Evidence(message_id=message) for message in one.messages),
            )
        )

    def _promote(self, writer: Writer, one: Recurring) -> Change:
        statement = self._statement(one)
        record = first_version(statement, claim_id(statement), one.scope, writer.now)
        made = writer.create(record, "promoted", f"told in {one.conversations} episodes")
        return Change(record=made.id, before=0, after=1, what="promoted")

    # Undoing

    def undo(self, name: str = "") -> tuple[Night, int]:
        """A whole night, the latest first; with it how many of its changes stay as somebody went on from them."""
        with self._database.write() as session:
            store = NightStore(session, self._house)
            night = store.named(name)
            if night.state != DONE:
                raise Conflict(f"The night {night.id} is {night.state}: there is nothing to undo.")
            writer = self._writer(session, to_text(self._clock()), Principal(actor=Actor.RULE, name="undo of a night"))
            stay = sum(not self._back(writer, change) for change in reversed(_by_record(night.changes)))
            night = replace(night, state=UNDONE)
            store.save(night)
        return night, stay

    def _back(self, writer: Writer, change: Change) -> bool:
        if change.path:
            return True  # A note: whoever has the notes puts it back.
        record = writer.records.get([change.record]).get(change.record)
        if record is None or record.version != change.after:
            return False
        versions = {one.version for one in writer.records.versions([record.id])[record.id]}
        if change.before and change.before not in versions:
            return False  # What it said before was forgotten since.
        undo_record(writer, record, change.before or None, "undo of a night")
        return True

    def keep(self, night: Night) -> None:
        """With what was changed after its records: notes."""
        with self._database.write() as session:
            NightStore(session, self._house).save(night)

    def nights(self, limit: int = 30) -> list[Night]:
        with self._database.read() as session:
            return NightStore(session, self._house).latest(limit)

    def _writer(self, session: Session, now: str, principal: Principal | None = None) -> Writer:
        who = principal or Principal(actor=Actor.LIBRARIAN, name="reflection")
        return Writer(session, self._house, who, now)


def _by_record(changes: Sequence[Change]) -> list[Change]:
    """What was changed several times in one night is put back once."""
    joined: dict[tuple[str, str], Change] = {}
    for change in changes:
        key = (change.record, change.path)
        joined[key] = msgspec.structs.replace(change, before=joined[key].before) if key in joined else change
    return list(joined.values())
