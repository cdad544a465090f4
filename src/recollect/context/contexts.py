"""Contexts: `memory.context`, the one object that puts a context together.

A conversation and a heartbeat are an agent's: what they were the last time is kept below `runtime/` (`state`), so that
the next one begins with the same bytes. A rehydration keeps nothing.
"""

import platform
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.clock import Clock
from recollect.context.alone import alone
from recollect.context.blocks import Context, escaped
from recollect.context.building import Building, Built, Readers
from recollect.context.calibration import Recent
from recollect.context.difference import Difference, difference_of
from recollect.context.pipelines import (
    CONVERSATION,
    HEARTBEAT,
    MIND,
    OUTREACH,
    REHYDRATION,
    TRIGGER,
    Pipeline,
    checked,
    pipeline_named,
)
from recollect.context.rehydration import Rehydration
from recollect.context.rendering import context_of, counted
from recollect.context.state import FORMAT, Reason, State, keep, load, set_pending, state_path
from recollect.context.system_prompt import Surroundings
from recollect.context.your_memory import HEARTBEAT as HEARTBEAT_PROMPT
from recollect.database import Database
from recollect.errors import Unavailable
from recollect.history import History
from recollect.knowledge import Knowledge
from recollect.scopes import Principal
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.notes import Notes
    from recollect.recall import Recall

RecordRun = Callable[[str, str, float, dict[str, object]], None]
"""(name, outcome, seconds, detail): where it is told that something was built anew."""


class Contexts:
    """Sees what its principal sees."""

    def __init__(
        self,
        database: Database,
        house: str,
        clock: Clock,
        principal: Principal,
        knowledge: Knowledge,
        history: History,
        recall: "Callable[[], Recall]",
        *,
        notes: "Notes | None" = None,
        settings: Settings | None = None,
        record: RecordRun = lambda name, outcome, seconds, detail: None,
        recent_usage: Recent = lambda _: (),
        own: "Callable[[], Contexts] | None" = None,
        version: str = "",
    ) -> None:
        """`notes`: as this principal sees them. `own`: for a person, the contexts of the house's own agent (with its
        notes prepared): a conversation is an agent's, and a person who asks for one is shown that one's.
        `recent_usage`: details of the latest run events of usage. `version`: Recollect's, which agents are told."""
        self._rehydration = Rehydration(database, house, clock, principal, knowledge, history, recall)
        self._clock = clock
        self._principal = principal
        self._record = record
        self._own = own
        self._version = version
        self._made_from = (
            Readers(
                database=database,
                settings=settings,
                principal=principal,
                knowledge=knowledge,
                history=history,
                notes=notes,
                rehydration=self._rehydration,
                recent_usage=recent_usage,
            )
            if notes and settings
            else None
        )

    @property
    def _readers(self) -> Readers:
        if self._made_from is None:
            raise Unavailable("These contexts were opened without notes: only a rehydration can be made.")
        return self._made_from

    def rehydration(self, budget_tokens: int = 2_000, topic: str = "", recent: int = 0) -> Context:
        """What a session should know when it begins: learnings by category, and on wish the `recent` last messages.

        Inside the budget, tags included; learnings get at least half of it. Nothing is cut: what does not fit is left
        out and counted. The same knowledge gives the same bytes.
        """
        return self._rehydration.context(budget_tokens, topic, recent)

    def conversation(self, trigger: str = "", *, budget_tokens: int = 0, turn: str = "") -> Context:
        """What an agent is shown when somebody speaks to it: `trigger` is what they say.

        It begins with all the bytes of the one before, unless `Context.reason` says why not. `turn`: a name for this
        one; asked for again under the same name, it is the same context.
        """
        return self.build(CONVERSATION, trigger, budget_tokens=budget_tokens, turn=turn)

    def heartbeat(self, trigger: str = "", *, budget_tokens: int = 0, turn: str = "") -> Context:
        """What an agent is shown in a moment of its own: the same without what was said. Without a trigger it is told
        what a heartbeat is."""
        return self.build(HEARTBEAT, trigger, budget_tokens=budget_tokens, turn=turn)

    def outreach(self, trigger: str) -> Context:
        """What an agent is shown when it considers writing first: little, and nothing of what it was not asked."""
        return self.build(OUTREACH, trigger)

    def mind(self, turn: str, *, is_warm: bool) -> Context:
        """What the mind of this agent begins its requests with: a conversation's frozen sections. What changed since is
        `added`; what was said is the mind's own to tell. `is_warm`: the provider still has the last one in its cache,
        so that no gap is a reason to build it anew."""
        usual = pipeline_named(self._readers.settings, CONVERSATION)
        frozen = tuple(section for section in usual.sections if section.is_frozen)
        return self.build(replace(usual, name=MIND, sections=frozen), turn=turn, is_warm=is_warm)

    def build(
        self,
        pipeline: str | Pipeline,
        trigger: str = "",
        *,
        budget_tokens: int = 0,
        turn: str = "",
        is_warm: bool = False,
    ) -> Context:
        """A context of this pipeline, by its name or as it is. `budget_tokens`: other than its own, shared alike."""
        chosen = self._pipeline(pipeline, budget_tokens)
        if chosen.name == REHYDRATION:
            return self.rehydration(budget_tokens=chosen.budget_tokens)
        if self._own:
            return self._own().build(pipeline, trigger, budget_tokens=budget_tokens, turn=turn, is_warm=is_warm)
        started = time.perf_counter()
        with alone(self._readers.settings.runtime):
            before = self._state(chosen)
            if before is None:
                self._readers.notes.prepare()
            built = self._build(chosen, before, trigger, turn, is_warm=is_warm)
            keep(self._path(chosen), built.state)
        self._report(chosen, built, time.perf_counter() - started)
        return built.context

    def difference(self, pipeline: str | Pipeline, trigger: str = "", *, budget_tokens: int = 0) -> Difference:
        """What would be other in the next context than in the last, and what that costs. Nothing is kept of it."""
        if self._own:
            return self._own().difference(pipeline, trigger, budget_tokens=budget_tokens)
        chosen = self._pipeline(pipeline, budget_tokens)
        before = self._state(chosen)
        built = self._build(chosen, before, trigger, "")
        is_known = before is not None and before.format == FORMAT
        last = context_of(before, chosen) if before and is_known else None
        since = before.last_at if before else ""
        return difference_of(chosen.name, self._principal.scope, last, since, built, counted(built.state))

    def restarted(self) -> None:
        """The program that talks to the model began anew: so do the contexts of this agent."""
        self._begin_anew(Reason.RESTART)

    def compacted(self) -> None:
        """The conversation was condensed: its contexts begin anew, with what changed meanwhile in its place."""
        self._begin_anew(Reason.COMPACTION)

    def _begin_anew(self, reason: Reason) -> None:
        if self._own:
            self._own()._begin_anew(reason)
        else:
            set_pending(self._readers.settings.runtime, self._principal.scope, reason)

    # How one is made

    def _pipeline(self, pipeline: str | Pipeline, budget_tokens: int) -> Pipeline:
        settings = self._readers.settings
        found = pipeline_named(settings, pipeline) if isinstance(pipeline, str) else checked(pipeline)
        return found.within(budget_tokens) if budget_tokens else found

    def _build(
        self, pipeline: Pipeline, before: State | None, trigger: str, turn: str, *, is_warm: bool = False
    ) -> Built:
        if pipeline.name == HEARTBEAT and pipeline.the(TRIGGER):
            trigger = trigger.strip() or HEARTBEAT_PROMPT
        around, now = self._around(), self._clock()
        building = Building(self._readers, pipeline, around, now, trigger=trigger, turn=turn, is_warm=is_warm)
        return building.build(before)

    def _around(self) -> Surroundings:
        notes, user = self._readers.notes, self._readers.settings.user_name
        return Surroundings(
            agent=self._principal.name,
            user=user if escaped(user) else "the user",
            folder=notes.own_folder,
            computer=f"{platform.node() or 'without a name'} ({platform.system()})",
            version=self._version,
        )

    def _path(self, pipeline: Pipeline) -> Path:
        return state_path(self._readers.settings.runtime, self._principal.scope, pipeline.name)

    def _state(self, pipeline: Pipeline) -> State | None:
        return load(self._path(pipeline))

    def _report(self, pipeline: Pipeline, built: Built, seconds: float) -> None:
        """Every context that begins anew, with why: each costs a cache."""
        if built.reason is None:
            return
        detail: dict[str, object] = {
            "reason": str(built.reason),
            "pipeline": pipeline.name,
            "agent": self._principal.scope,
            "tokens": built.context.tokens,
        }
        self._record("context", "trimmed" if built.reason is Reason.TRIMMED else "rebuilt", seconds, detail)
