"""One message and its answer, for a pipe or a single command."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from recollect.channels.page import Page
from recollect.channels.terminal import NAME, Terminal
from recollect.mind.channel import Image, Reply, Said, Shown

if TYPE_CHECKING:
    from recollect.mind.mind import Mind, TurnDone

LOOK_SECONDS = 0.2
"""How often we look whether another program, which runs the turns, has answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    reply: Reply
    done: "TurnDone | None"
    """None: another program ran the turn."""


class Once:
    """The window of one command. No answer but its own is shown in it: its output may be read by a program."""

    def __init__(self, page: Page, draw: Callable[[], None]) -> None:
        self.reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._terminal = Terminal(page, draw)

    @property
    def name(self) -> str:
        return NAME

    @property
    def address(self) -> str:
        return self._terminal.address

    def takes(self, address: str) -> bool:
        return address == self.address

    def show(self, address: str, shown: Shown) -> None:
        self._terminal.show(address, shown)

    async def deliver(self, address: str, reply: Reply) -> None:
        is_failed = reply.state == "failed"  # Told as an error by who asked.
        await self._terminal.deliver(address, replace(reply, state="done", was_shown=True) if is_failed else reply)
        if not self.reply.done():
            self.reply.set_result(reply)


async def ask_once(
    mind: "Mind",
    text: str,
    images: Sequence[Image],
    page: Page,
    draw: Callable[[], None],
    tell: Callable[[Reply], None] = lambda reply: None,
) -> Answered:
    """`tell` is called when the answer is complete. What is done after it, such as a compaction, may take a while, and
    nobody who reads need wait for that. Cancelled, it stops the answer: what was said until then is kept."""
    window = Once(page, draw)
    mind.attach(window)
    try:
        await mind.hear(Said(text=text, channel=NAME, address=window.address, images=tuple(images)))
        done: TurnDone | None = None
        while not window.reply.done():
            done = await _turn(mind, window.address)
            if done is None:
                await asyncio.wait({window.reply}, timeout=LOOK_SECONDS)
        reply = window.reply.result()
        tell(reply)
        await mind.settle()
        return Answered(reply=reply, done=done if done and done.turn == reply.turn else None)
    finally:
        await mind.close()


async def _turn(mind: "Mind", address: str) -> "TurnDone | None":
    turn = asyncio.create_task(mind.turn())
    try:
        return await asyncio.shield(turn)
    except asyncio.CancelledError:
        if not await mind.interrupt():
            await mind.withdraw(NAME, address)  # What nobody waits for is not to be answered some other day.
            turn.cancel()
        await asyncio.wait({turn})
        raise
