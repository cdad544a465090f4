"""Contexts: `memory.context`, the one object that puts a context together."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from recollect.clock import Clock
from recollect.context.blocks import Context
from recollect.context.calibration import Recent
from recollect.context.rehydration import Rehydration
from recollect.database import Database
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
    ) -> None:
        """`notes`: as this principal sees them. `own`: for a person, the contexts of the house's own agent (with its
        notes prepared): a conversation is an agent's, and a person who asks for one is shown that one's.
        `recent_usage`: details of the latest run events of usage."""
        self._rehydration = Rehydration(database, house, clock, principal, knowledge, history, recall)
        self._database = database
        self._house = house
        self._clock = clock
        self._principal = principal
        self._knowledge = knowledge
        self._history = history
        self._notes = notes
        self._settings = settings
        self._record = record
        self._recent_usage = recent_usage
        self._own = own

    def rehydration(self, budget_tokens: int = 2_000, topic: str = "", recent: int = 0) -> Context:
        """What a session should know when it begins: learnings by category, and on wish the `recent` last messages.

        Inside the budget, tags included; learnings get at least half of it. Nothing is cut: what does not fit is left
        out and counted. The same knowledge gives the same bytes.
        """
        return self._rehydration.context(budget_tokens, topic, recent)
