"""A bot of Telegram in a test: the channel, a real mind behind it, and a server that keeps the rules of the Bot API."""

import asyncio
import gc
import os
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from minds import run, words_of

import recollect
from recollect.channels import kinds
from recollect.channels.kinds import Door
from recollect.channels.telegram.client import BotClient
from recollect.channels.telegram.sending import NAME
from recollect.channels.telegram.telegram import Telegram
from recollect.channels.telegram.waiting import Patience
from recollect.llm.talking import Request, TalkModel
from recollect.mind.mind import Mind
from recollect.testing.scripted_talk import ScriptedTalk
from recollect.testing.telegram_server import TelegramServer

QUICK = Patience(poll=1, first=0.01, longest=0.05, refused=0.05, standby=0.02, typing=0.02)
CHAT = 7


@dataclass
class Bot:
    mind: Mind
    channel: Telegram
    told: list[str] = field(default_factory=list)
    """What is the matter, in the order in which it was told."""
    tasks: list["asyncio.Task[None]"] = field(default_factory=list)

    async def until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            for task in self.tasks:
                if task.done():
                    await task
                    raise AssertionError("it ended")
            await asyncio.sleep(0.002)

    async def read_all(self, server: TelegramServer) -> None:
        """Until each update is through and confirmed."""
        await self.until(lambda: not server.unconfirmed)


def door_of(memory: recollect.Memory, mind: Mind, **changed: Any) -> Door:
    door = kinds.door_of(memory, mind, lambda _: None)
    return replace(door, **changed)


@asynccontextmanager
async def bot(
    memory: recollect.Memory,
    server: TelegramServer,
    model: TalkModel,
    *,
    patience: Patience = QUICK,
    **changed: Any,
) -> AsyncIterator[Bot]:
    """`changed`: of the door."""
    mind = memory.mind("", lambda: model)
    told: list[str] = []
    channel = Telegram(
        door_of(memory, mind, tell=told.append, **changed), BotClient(server.token, server.url), patience
    )
    mind.attach(channel)
    tasks = [asyncio.create_task(channel.run()), asyncio.create_task(mind.run())]
    try:
        yield Bot(mind=mind, channel=channel, told=told, tasks=tasks)
    finally:
        tasks[0].cancel()
        await channel.close()
        await mind.close()
        await asyncio.gather(*tasks, return_exceptions=True)


def talk_with(
    memory: recollect.Memory,
    server: TelegramServer,
    model: TalkModel,
    story: Callable[[Bot], Awaitable[None]],
    **options: Any,
) -> None:
    """The chat of the tests is paired."""
    memory.places.allow(NAME, str(CHAT), "Ada")

    async def live() -> None:
        async with bot(memory, server, model, **options) as one:
            await story(one)

    run(live())
    with warnings.catch_warnings():
        # The client library leaves a connection behind that was being opened when it was told to end.
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def secret_of(server: TelegramServer) -> str:
    return server.token.partition(":")[2]


def everything_in(folder: str | os.PathLike[str]) -> bytes:
    """All bytes that a house keeps."""
    found: list[bytes] = []
    for where, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(where, name), "rb") as stream:
                found.append(stream.read())
    return b"\n".join(found)


def echo(request: Request) -> str:
    return f"You said: {words_of(request.turns)[-1]}"


def asked(model: ScriptedTalk) -> str:
    return "\n".join(words_of(model.requests[-1].turns)) if model.requests else ""


def heard(memory: recollect.Memory) -> list[str]:
    found = [one for one in memory.history.export() if one.source == "recollect" and str(one.author) == "user"]
    return [one.text for one in sorted(found, key=lambda one: one.start_byte)]


def channel_events(memory: recollect.Memory, outcome: str) -> list[dict[str, Any]]:
    return [event.detail for event in memory.runs.latest("channel", outcome, 1_000)]
