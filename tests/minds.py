"""Talking with a mind in a test: a channel that keeps what it is shown, and short ways to say something."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest

import recollect
from recollect.errors import Unavailable
from recollect.llm.talking import TalkModel, Turn
from recollect.mind.channel import Reply, Said, Shown, Words
from recollect.mind.mind import Mind

T = TypeVar("T")

on_sqlite = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
"""What does not depend on the database is shown on one engine."""


@dataclass
class Listener:
    """A channel that keeps all that it gets."""

    name: str = "terminal"
    shown: list[tuple[str, Shown]] = field(default_factory=list)
    replies: list[tuple[str, Reply]] = field(default_factory=list)
    fails: int = 0
    """So many deliveries do not go out."""
    on_show: Callable[[Shown], None] = lambda _: None

    def show(self, address: str, shown: Shown) -> None:
        self.shown.append((address, shown))
        self.on_show(shown)

    async def deliver(self, address: str, reply: Reply) -> None:
        if self.fails:
            self.fails -= 1
            raise Unavailable("The line is down.")
        self.replies.append((address, reply))

    @property
    def texts(self) -> list[str]:
        return [reply.text for _, reply in self.replies]

    @property
    def streamed(self) -> str:
        return "".join(one.text for _, one in self.shown if isinstance(one, Words))


@asynccontextmanager
async def minding(
    memory: recollect.Memory, model: TalkModel | None, *channels: Listener, agent: str = ""
) -> AsyncIterator[Mind]:
    mind = memory.mind(agent, (lambda: model) if model else None)
    for channel in channels:
        mind.attach(channel)
    try:
        yield mind
    finally:
        await mind.close()


async def say(mind: Mind, text: str, channel: str = "terminal", address: str = "") -> Any:
    """Say something and have it answered."""
    await mind.hear(Said(text=text, channel=channel, address=address))
    return await mind.turn()


def talk(memory: recollect.Memory, model: TalkModel | None, *texts: str, agent: str = "") -> Listener:
    """Say these one after the other, each in a turn of its own."""
    channel = Listener()

    async def all_of_it() -> None:
        async with minding(memory, model, channel, agent=agent) as mind:
            for text in texts:
                await say(mind, text)
            await mind.settle()

    asyncio.run(all_of_it())
    return channel


def words_of(turns: "list[Turn] | tuple[Turn, ...]") -> list[str]:
    """All texts that a model is sent, in their order."""
    return [block["text"] for turn in turns for block in turn.content if block["type"] == "text"]


async def until(is_so: Callable[[], bool]) -> None:
    """What happens in other tasks and threads takes its time."""
    while not is_so():  # noqa: ASYNC110  what is waited for is not ours to signal
        await asyncio.sleep(0.002)


def run(work: Awaitable[T], seconds: float = 30) -> T:
    async def bounded() -> T:
        async with asyncio.timeout(seconds):
            return await work

    return asyncio.run(bounded())
