"""The models of the heartbeat, inside its budget: one for the light decision, one to look back with."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING

from recollect.clock import Clock
from recollect.database import Database
from recollect.mind.heartbeat.reflecting import Reflected, Reflecting
from recollect.runs.budget import Account, Budget
from recollect.runs.metered import Metered
from recollect.runs.metered_talk import MeteredTalk
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.context import Contexts
    from recollect.llm.model import ChatModel
    from recollect.llm.talking import TalkModel
    from recollect.mind.heartbeat.reflection_tools import ReflectionTools

RecordRun = Callable[[str, str, float, dict[str, object]], None]


class HeartbeatModels:
    def __init__(
        self,
        database: Database,
        settings: Settings,
        clock: Clock,
        record: RecordRun,
        *,
        open_chat: "Callable[[], ChatModel] | None" = None,
        open_talk: "Callable[[], TalkModel] | None" = None,
    ) -> None:
        """`open_chat`, `open_talk`: in the place of the model of the settings."""
        self._settings = settings
        self._record = record
        self._open_chat = open_chat
        self._open_talk = open_talk
        self._budget = Budget(
            database,
            settings.house,
            clock,
            dollars_per_day=settings.heartbeat.dollars_per_day,
            account=Account.HEARTBEAT,
        )

    def chat(self) -> "ChatModel":
        from recollect.llm.opening import open_chat

        model = self._open_chat() if self._open_chat else open_chat(self._settings, "heartbeat")
        price = self._settings.heartbeat.price_per_million
        return Metered(model, self._budget, self._record, purpose="heartbeat", per_million=price)

    def talk(self) -> "TalkModel":
        from recollect.llm.opening import open_talk

        model = self._open_talk() if self._open_talk else open_talk(self._settings, "heartbeat")
        price = self._settings.heartbeat.price_per_million
        return MeteredTalk(model, self._budget, self._record, per_million=price).purposed("reflection")


def reflecting_with(
    models: HeartbeatModels, database: Database, house: str, contexts: "Contexts", tools: "ReflectionTools"
) -> Callable[[datetime], Awaitable[Reflected]]:
    """The model is open for one moment: the next one is hours away."""

    async def reflect(now: datetime) -> Reflected:
        model = models.talk()
        try:
            return await Reflecting(database, house, contexts, tools, model).reflect(now)
        finally:
            await model.close()

    return reflect
