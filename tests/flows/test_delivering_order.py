"""Answers that wait go out in the order of their turns, also when a channel becomes ours in the middle of a look."""

import asyncio
import itertools

import commands
import pytest
from minds import Listener, minding, on_sqlite, run, say

import recollect
from recollect.mind.channel import Reply, Said
from recollect.mind.delivering import Delivering
from recollect.mind.mind import Mind
from recollect.testing.scripted_talk import ScriptedTalk

SOMEBODY_WAS_SENDING = "UPDATE mind_deliveries SET state = 'sending' WHERE turn = 1"


class Standby(Listener):
    """A channel that another program has until it has been asked so often whether it takes something."""

    says_again = True

    def __init__(self, asked_in_vain: float) -> None:
        super().__init__("telegram")
        self._asked = itertools.count(1)
        self._asked_in_vain = asked_in_vain

    def takes(self, address: str) -> bool:
        return next(self._asked) > self._asked_in_vain


@on_sqlite
def test_what_a_dead_program_was_sending_is_not_overtaken(memory: recollect.Memory) -> None:
    async def ask() -> None:
        async with minding(memory, ScriptedTalk(["One.", "Two."]), Standby(float("inf"))) as mind:
            await say(mind, "first", "telegram", "42")
            await say(mind, "second", "telegram", "42")

    run(ask())
    with memory.database.write() as session:
        session.run(SOMEBODY_WAS_SENDING)
    telegram = Standby(1)

    async def come_back() -> None:
        async with minding(memory, ScriptedTalk([]), telegram) as mind:
            await mind.turn()
            await mind.turn()

    run(come_back())

    assert [(reply.text, reply.is_again) for _, reply in telegram.replies] == [("One.", True), ("Two.", False)]


class Hanging(Listener):
    """A channel whose other side takes nothing until it is told to."""

    def __init__(self, until: asyncio.Event) -> None:
        super().__init__("webhook")
        self._until = until
        self.is_asked = asyncio.Event()

    async def deliver(self, address: str, reply: Reply) -> None:
        self.is_asked.set()
        await self._until.wait()
        await super().deliver(address, reply)


class Freeing(Listener):
    """A channel that ends the waiting of another one when it is spoken by."""

    def __init__(self, until: asyncio.Event) -> None:
        super().__init__("telegram")
        self._until = until

    async def deliver(self, address: str, reply: Reply) -> None:
        await super().deliver(address, reply)
        self._until.set()


@on_sqlite
def test_a_channel_that_hangs_keeps_no_answer_of_another_one(memory: recollect.Memory) -> None:
    async def ask() -> list[str]:
        until = asyncio.Event()
        channels = (Hanging(until), Freeing(until))
        async with minding(memory, ScriptedTalk(["One."]), *channels) as mind:
            for channel in channels:
                await mind.hear(Said(text="Where are the beans?", channel=channel.name, address="42"))
            async with asyncio.timeout(commands.PATIENCE_SECONDS):
                await mind.turn()
        return [reply.text for channel in channels for _, reply in channel.replies]

    assert run(ask()) == ["One.", "One."]


@on_sqlite
def test_an_answer_that_was_shown_is_not_said_again_because_the_one_before_it_took_long(
    memory: recollect.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Delivering, "patience_seconds", 0.01)

    async def ask() -> list[bool]:
        until = asyncio.Event()
        slow = Hanging(until)
        async with minding(memory, ScriptedTalk(["One.", "Two."]), slow) as mind:
            await say(mind, "first", slow.name, "42")
            await say(mind, "second", slow.name, "42")
            until.set()
            await until_told(mind, slow, 2)
        return [reply.was_shown for _, reply in slow.replies]

    assert run(ask()) == [True, True]


@on_sqlite
def test_a_channel_that_was_opened_anew_does_not_wait_for_what_hung_before(
    memory: recollect.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Delivering, "patience_seconds", 0.01)

    async def ask() -> list[str]:
        hung, anew = Hanging(asyncio.Event()), Listener("webhook")
        async with minding(memory, ScriptedTalk(["One.", "Two."]), hung) as mind:
            await say(mind, "first", "webhook", "42")
            await hung.is_asked.wait()
            mind.detach(hung)
            mind.attach(anew)
            await say(mind, "second", "webhook", "42")
            await until_told(mind, anew, 1)
        return anew.texts

    assert run(ask()) == ["Two."]


async def until_told(mind: Mind, channel: Listener, number: int) -> None:
    async with asyncio.timeout(commands.PATIENCE_SECONDS):
        while len(channel.replies) < number:
            await mind.turn()
