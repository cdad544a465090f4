"""What `doctor` says of the mind."""

import asyncio

from minds import Listener, minding, talk

import recollect
from recollect.doctor.findings import Level
from recollect.doctor.mind import mind
from recollect.errors import Unavailable
from recollect.mind.channel import Said
from recollect.testing import FrozenClock
from recollect.testing.scripted_talk import ScriptedTalk


def test_a_house_without_a_model_is_told_so(memory: recollect.Memory) -> None:
    assert mind(memory).level is Level.OK
    assert "No model" in mind(memory).message


def test_what_waits_for_long_is_told_and_what_was_just_said_is_not(
    memory: recollect.Memory, clock: FrozenClock
) -> None:
    async def hear() -> None:
        async with minding(memory, ScriptedTalk([]), Listener()) as opened:
            await opened.hear(Said(text="hello", channel="terminal"))

    asyncio.run(hear())
    assert mind(memory).level is Level.OK
    clock.move(minutes=11)
    found = mind(memory)
    assert found.level is Level.WARNING
    assert "1 message waits" in found.message


def test_a_turn_that_failed_is_told_until_one_succeeds(memory: recollect.Memory, clock: FrozenClock) -> None:
    talk(memory, ScriptedTalk([Unavailable("It cannot be reached.")]), "hello")
    assert "It cannot be reached." in mind(memory).message
    clock.move(seconds=5)
    talk(memory, ScriptedTalk(["Yes."]), "are you there?")
    assert mind(memory).level is Level.OK
