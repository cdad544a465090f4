"""What a conversation with an agent, and its moments of its own, are made of: put together for `Memory`."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from recollect.mind.afterwards import Afterwards
from recollect.mind.heartbeat.heartbeat import Heartbeat, HeartbeatParts
from recollect.mind.heartbeat.heeding import Heeding
from recollect.mind.heartbeat.keeping import Wishes
from recollect.mind.heartbeat.opening import HeartbeatModels, reflecting_with
from recollect.mind.heartbeat.reflection_tools import ReflectionTools
from recollect.mind.log import Log
from recollect.mind.mind import Mind, Parts
from recollect.mind.opening import Opening, material_of
from recollect.mind.prompt import prompts_from
from recollect.mind.tools import Means, Toolbox
from recollect.mind.visiting import Visit
from recollect.notes.memory_tool import MemoryTool

if TYPE_CHECKING:
    from recollect.llm import ChatModel
    from recollect.llm.talking import TalkModel
    from recollect.memory import Memory

P = ParamSpec("P")
T = TypeVar("T")


def mind_of(house: "Memory", seen: "Memory", open_model: "Callable[[], TalkModel] | None") -> Mind:
    """`seen`: the house as the agent sees it."""
    heeding = _heeding(house, seen)

    def learn() -> None:
        house.learn()
        heeding.look()

    return Mind(
        Parts(
            database=house.database,
            settings=house.settings,
            clock=house.clock,
            agent=seen.principal.scope,
            appending=house.appending,
            contexts=seen.context,
            prompts=prompts_from(seen.context, house.settings.user_name),
            toolbox=_toolbox(seen),
            open_model=Opening(house.database, house.settings, house.clock, house.runs.record, open_model),
            material=material_of(seen.notes, seen.knowledge),
            afterwards=lambda: Afterwards(house.recall.catch_up, house.librarian.live(), house.runs.record),
            learn=learn,
            wishes=heeding.standing,
            record=house.runs.record,
            paused_since=house.history.paused_since,
            was_paused_at=house.history.was_paused_at,
        )
    )


def heartbeat_of(
    house: "Memory",
    seen: "Memory",
    mind: Mind | None,
    open_chat: "Callable[[], ChatModel] | None",
    open_talk: "Callable[[], TalkModel] | None",
    channels: frozenset[str] | None,
) -> Heartbeat:
    """`mind`: through which it writes; without one, into the log alone."""
    record, log = house.runs.record, _log(house, seen)
    models = HeartbeatModels(
        house.database, house.settings, house.clock, record, open_chat=open_chat, open_talk=open_talk
    )
    tools = ReflectionTools(_toolbox(seen), seen.notes.diary)
    return Heartbeat(
        HeartbeatParts(
            database=house.database,
            settings=house.settings,
            clock=house.clock,
            agent=seen.principal.scope,
            log=log,
            places=house.places,
            contexts=seen.context,
            heeding=_heeding(house, seen),
            open_chat=models.chat,
            reflect=reflecting_with(models, house.database, house.settings.house, seen.context, tools),
            write_first=mind.write_first if mind else _in_a_thread(log.write_first),
            record=record,
            paused_since=house.history.paused_since,
            channels=channels,
        )
    )


def visit_of(house: "Memory", seen: "Memory") -> Visit:
    return Visit(_log(house, seen), house.history.paused_since)


def _toolbox(seen: "Memory") -> Toolbox:
    return Toolbox(
        Means(search=seen.search_memory, update_status=seen.update_status, notes=MemoryTool(seen.notes), sql=seen.sql)
    )


def _log(house: "Memory", seen: "Memory") -> Log:
    """For who reads the conversation, and runs none of its turns."""
    return Log(
        house.database, house.settings.house, house.clock, seen.principal.scope, house.appending, lambda _: False
    )


def _heeding(house: "Memory", seen: "Memory") -> Heeding:
    return Heeding(_log(house, seen), Wishes(seen.knowledge, house.clock))


def _in_a_thread(work: Callable[P, T]) -> Callable[P, Awaitable[T]]:
    def later(*given: P.args, **named: P.kwargs) -> Awaitable[T]:
        return asyncio.to_thread(work, *given, **named)

    return later
