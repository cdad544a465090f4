"""The model of a mind, inside its budget, and what its compactions are made with."""

from collections.abc import Callable

from recollect.clock import Clock
from recollect.database import Database
from recollect.knowledge import Knowledge
from recollect.llm.talking import TalkModel
from recollect.mind.condensing import Material
from recollect.notes import Notes
from recollect.notes.paths import COMPACTION, within
from recollect.runs.budget import Account, Budget
from recollect.runs.metered_talk import MeteredTalk
from recollect.settings import Settings

MOST_PROBED = 200
"""Open commitments that a compaction is measured by."""

RecordRun = Callable[[str, str, float, dict[str, object]], None]


class Opening:
    """Opens the model of the settings, or the one that is given, whose every call is counted."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        clock: Clock,
        record: RecordRun,
        given: Callable[[], TalkModel] | None = None,
    ) -> None:
        self._database = database
        self._settings = settings
        self._clock = clock
        self._record = record
        self._given = given

    def __call__(self, turn: Callable[[], str]) -> tuple[TalkModel, TalkModel]:
        """The model for turns, and the same counted as compaction. `turn`: the name of the one that a call is for."""
        mind = self._settings.mind
        budget = Budget(
            self._database,
            self._settings.house,
            self._clock,
            dollars_per_day=mind.dollars_per_day,
            account=Account.MIND,
        )
        model = self._given() if self._given else self._configured()
        metered = MeteredTalk(model, budget, self._record, per_million=mind.price_per_million, turn=turn)
        return metered, metered.purposed("compaction")

    def _configured(self) -> TalkModel:
        from recollect.llm.opening import open_talk

        return open_talk(self._settings)


def material_of(notes: Notes, knowledge: Knowledge) -> Material:
    """As the agent sees them."""

    def page() -> str:
        found = notes.find(within(notes.own_folder, COMPACTION))
        return found.text if found else ""

    def commitments() -> dict[str, str]:
        return {record.id: record.text for record in knowledge.open_commitments(MOST_PROBED)}

    return Material(page=page, commitments=commitments)
