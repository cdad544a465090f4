"""One context, made from the state of the one before.

It begins with the same bytes as that one, unless there is a reason (`Reason`) to begin anew. Frozen sections are made
only then. In between, what changed in a note is told behind them, once; and what was said since is added.

Nothing is written here: the new state is given back, so that somebody may also only look.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from recollect import redaction
from recollect.clock import from_text, to_text
from recollect.context import tail
from recollect.context.blocks import Context
from recollect.context.board import Live, live, now_text
from recollect.context.calibration import Recent, calibration
from recollect.context.freezing import Material, frozen_sections
from recollect.context.pipelines import AWARENESS, HISTORY, TRIGGER, Pipeline, SectionSpec
from recollect.context.rehydration import Rehydration
from recollect.context.rendering import context_of, counted
from recollect.context.state import FORMAT, Item, Kind, Reason, Seen, State
from recollect.context.system_prompt import Surroundings
from recollect.context.watching import gone, kept, places_of, seen_notes
from recollect.database import Database
from recollect.errors import Invalid
from recollect.history import History, Message
from recollect.knowledge import Knowledge
from recollect.lineage import ReceiptStore
from recollect.notes import Notes
from recollect.scopes import Principal
from recollect.settings import Settings

MOST_ANSWERED = 500
MOST_COUNTED = 2_500
"""Messages between two contexts: how many more are left out says nothing new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """Where everything is read from, as one agent sees it."""

    database: Database
    settings: Settings
    principal: Principal
    knowledge: Knowledge
    history: History
    notes: Notes
    rehydration: Rehydration
    recent_usage: Recent

    @property
    def house(self) -> str:
        return self.settings.house

    def receipts(self) -> int:
        """How many acts of forgetting there have been."""
        with self.database.read() as session:
            return sum(ReceiptStore(session, self.house).numbers().values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    context: Context
    state: State
    reason: Reason | None
    """Why it does not begin with the bytes of the one before."""
    changed: list[tuple[str, Seen, Seen]]
    """Notes told of as changed: their place, before and after."""
    messages: int
    """How many were added."""


class Building:
    def __init__(
        self,
        readers: Readers,
        pipeline: Pipeline,
        around: Surroundings,
        now: datetime,
        *,
        trigger: str = "",
        turn: str = "",
        is_warm: bool = False,
    ) -> None:
        """`turn`: a name for what the context is asked for. Asked again for the same, it is the same context.
        `is_warm`: a provider still has the last one in its cache, however long ago that was."""
        self._readers = readers
        self._pipeline = pipeline
        self._around = around
        self._now = now
        self._trigger = redaction.mask(trigger).strip("\n")
        self._turn = turn
        self._is_warm = is_warm
        self._history = pipeline.the(HISTORY)
        speaks = pipeline.the(TRIGGER)
        if self._trigger and not speaks:
            raise Invalid(f"The pipeline {pipeline.name!r} has no section for a trigger. Give it one, or no trigger.")
        self._names = tail.Names(user=around.user, trigger=speaks.heading if speaks else "")
        self._changed: list[tuple[str, Seen, Seen]] = []
        self._live: Live | None = None

    def build(self, before: State | None) -> Built:
        receipts = self._readers.receipts()
        current = self._current_messages(before)
        reason = self._reason(before, receipts, current)
        if before is None or reason:
            state = self._begin(receipts)
        else:
            state = before.copy()
            if self._turn and self._turn == state.turn_name:
                return self._built(state, None, 0)
            state.turn += 1
            self._go_on(state, current)
        added = sum(item.kind is Kind.MESSAGE and item.turn == state.turn for item in state.items)
        if self._is_too_long(state):
            reason = reason or Reason.TRIMMED
            state = self._trimmed(state, receipts)
        state.items += self._trigger_items(state)
        state.turn_name, state.last_at = self._turn, to_text(self._now)
        return self._built(state, reason, added)

    # Whether it goes on

    def _reason(self, before: State | None, receipts: int, current: dict[str, Message]) -> Reason | None:
        if before is None:
            return Reason.FIRST
        if before.pending in list(Reason):
            return Reason(before.pending)
        if before.format != FORMAT or before.belongs_to != self._belongs_to():
            return Reason.FIRST
        if before.fingerprint != self._fingerprint():
            return Reason.PIPELINE
        if before.receipts != receipts or self._is_lost(before, current):
            return Reason.FORGOTTEN
        is_same_turn = bool(self._turn) and self._turn == before.turn_name
        gap = timedelta(minutes=self._readers.settings.prompt_gap_minutes)
        since = abs(self._now - from_text(before.last_at))  # A clock that was put right tells nothing of the time.
        return Reason.GAP if not is_same_turn and not self._is_warm and since > gap else None

    def _is_lost(self, before: State, current: dict[str, Message]) -> bool:
        """Whether something in it is no longer there for the agent. A record that only holds no more still is."""
        records = [name for section in before.frozen for name in section.records]
        known = self._readers.knowledge.shown(records)
        return any(name not in current for name in _message_ids(before)) or any(name not in known for name in records)

    def _current_messages(self, before: State | None) -> dict[str, Message]:
        """The messages that stand in the context, as they are by now. One that was forgotten is not among them, nor one
        that is somebody else's now."""
        return self._readers.history.documents(_message_ids(before)) if before else {}

    def _belongs_to(self) -> str:
        return _digest(f"{self._readers.house}\n{self._readers.database.location}")

    def _fingerprint(self) -> str:
        around = self._around
        return _digest(f"{self._pipeline!r}\n{around.agent}\n{around.user}\n{around.folder}")

    # Beginning and going on

    def _begin(self, receipts: int) -> State:
        usual = calibration(self._readers.recent_usage)
        state = State(
            format=FORMAT,
            belongs_to=self._belongs_to(),
            fingerprint=self._fingerprint(),
            receipts=receipts,
            tokens=usual.tokens,
            per_bytes=usual.per_bytes,
            built_at=to_text(self._now),
            turn=1,
        )
        notes = seen_notes(self._readers.notes, places_of(self._pipeline, self._now))
        material = Material(
            readers=self._readers,
            around=self._around,
            standing=self._standing(),
            notes=notes,
            estimate=usual.estimate,
        )
        room = self._pipeline.budget_tokens - tail.tokens_of(self._trigger_items(state), usual.estimate)
        state.frozen = frozen_sections(self._pipeline, room, material)
        wanted = sum(spec.budget_tokens for spec in self._pipeline.frozen)
        state.is_squeezed = room < wanted <= self._pipeline.budget_tokens
        state.notes = {place: kept(seen) for place, seen in notes.items()}
        state.told = dict(state.notes)
        if self._history:
            self._begin_history(state, self._history)
        return state

    def _begin_history(self, state: State, spec: SectionSpec) -> None:
        now = to_text(self._now)
        found = self._readers.history.latest(spec.messages)
        state.floor_at = min(found[0].at, now) if found else ""
        items = tail.message_items(tail.without_triggers(state, found, self._trigger), self._names, state.turn, "")
        number = tail.first_items(items, self._room(state), counted(state).estimate)
        if number:
            state.left_out = number
            tail.pass_over(state, items[:number], now)
        line = [tail.left_out_item(number, state.turn)] if number else []
        heading = tail.heading_items(spec.heading, state.turn)
        if items:
            state.items = [*heading, *line, *items[number:]]

    def _go_on(self, state: State, current: dict[str, Message]) -> None:
        if self._history:
            self._hear(state, self._history, current)
        else:
            state.items = [item for item in state.items if item.kind is not Kind.TRIGGER]
        self._tell_changes(state)

    def _hear(self, state: State, spec: SectionSpec, current: dict[str, Message]) -> None:
        """What was said since."""
        told = {*_message_ids(state)}
        last = next((item.conversation for item in reversed(state.items) if item.conversation), "")
        said = tail.continued_items(state.items, current, self._names, state.turn)
        most = spec.messages * tail.GROWTH
        found = self._readers.history.latest(most, after=state.floor_at)
        if len(found) == most:
            said += self._skipped(state, found[0], told)
        fresh = tail.without_triggers(state, [one for one in found if one.id not in told], self._trigger)
        said += tail.message_items(fresh, self._names, state.turn, last)
        if said and not any(item.kind is Kind.HEADING for item in state.items):
            state.items += tail.heading_items(spec.heading, state.turn)
        state.items += said
        state.answered = state.answered[-MOST_ANSWERED:]

    def _skipped(self, state: State, first: Message, told: set[str]) -> list[Item]:
        """A line, where more was said since the last context than is told at once. `first`: the oldest that is."""
        since = max([state.built_at, *(item.at for item in state.items if item.kind is Kind.MESSAGE)])
        found = self._readers.history.latest(MOST_COUNTED, after=since) if first.at > since else []
        left = [one for one in found if one.at < first.at and one.id not in told]
        if not left:
            return []
        state.left_out += len(left)
        state.floor_at = max(state.floor_at, left[-1].at)
        return [tail.left_out_item(len(left), state.turn)]

    def _tell_changes(self, state: State) -> None:
        places = list(dict.fromkeys([*state.told, *places_of(self._pipeline, self._now)]))
        for place, after in seen_notes(self._readers.notes, places).items():
            before = state.told.get(place, Seen())
            if after.digest == before.digest:
                continue
            removed = gone(self._readers.notes, before) if before.digest and before.path != after.path else Seen()
            if not after.digest:
                after = removed
            elif removed.at:
                state.items.append(tail.change_item(place, before, removed, state.turn))
            state.items.append(tail.change_item(place, before, after, state.turn))
            state.told[place] = kept(after)
            self._changed.append((place, before, after))

    # Inside the budget

    def _is_too_long(self, state: State) -> bool:
        return tail.is_too_long(state.items, self._room(state), self._messages(state), counted(state).estimate)

    def _trimmed(self, state: State, receipts: int) -> State:
        """What grows, cut to half. Everything anew where so many notes changed that there is no room to tell it, where
        the trigger finds none, and where frozen sections had made room for one before."""
        if not state.is_squeezed and self._trim(state):
            return state
        state = self._begin(receipts)
        if self._room(state) < 0:
            raise self._impossible(state)
        if self._is_too_long(state):
            self._trim(state)
        return state

    def _trim(self, state: State) -> bool:
        return tail.trim(state, self._room(state), self._messages(state), to_text(self._now), counted(state).estimate)

    def _messages(self, state: State) -> int:
        return self._history.messages if self._history else len(state.items)

    def _room(self, state: State) -> int:
        """For what grows, in tokens: what the frozen sections and the trigger leave of the budget. Below 0: they have
        not even room themselves."""
        estimate = counted(state).estimate
        head = sum(estimate(section.text) for section in state.frozen)
        room = self._pipeline.budget_tokens - head - tail.tokens_of(self._trigger_items(state), estimate)
        own = self._history.budget_tokens if self._history else 0
        return min(room, own) if own else room

    def _impossible(self, state: State) -> Invalid:
        estimate = counted(state).estimate
        head = sum(estimate(section.text) for section in state.frozen)
        trigger = tail.tokens_of(self._trigger_items(state), estimate)
        shorter = ", or a shorter trigger" if trigger else ""
        return Invalid(
            f"A budget of {self._pipeline.budget_tokens:,} tokens is too small for the pipeline "
            f"{self._pipeline.name!r}: what is frozen needs {head:,} and the trigger {trigger:,}, which is never cut. "
            f"Give a budget of {head + trigger:,} or more{shorter}."
        )

    def _trigger_items(self, state: State) -> list[Item]:
        if not self._trigger.strip():
            return []
        is_aware = self._pipeline.the(AWARENESS) is not None
        now = now_text(self._standing(), self._around.user, is_aware=is_aware)
        return [tail.trigger_item(now, self._trigger, to_text(self._now), self._names, state.turn)]

    def _standing(self) -> Live:
        if self._live is None:
            is_aware = self._pipeline.the(AWARENESS) is not None
            gap = self._readers.settings.conversation_gap_minutes
            self._live = live(self._readers.history, self._now, gap, is_aware=is_aware)
        return self._live

    # The value

    def _built(self, state: State, reason: Reason | None, messages: int) -> Built:
        context = context_of(state, self._pipeline, reason)
        return Built(context=context, state=state, reason=reason, changed=self._changed, messages=messages)


def _message_ids(state: State) -> list[str]:
    ids = [item.id for item in state.items if item.kind is Kind.MESSAGE]
    return list(dict.fromkeys([*ids, *state.answered]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
