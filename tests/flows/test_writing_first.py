"""The agent writes first: what it says joins the one conversation, and nobody is overtaken by it."""

import asyncio
from contextlib import suppress

import pytest
from minds import Listener, minding, on_sqlite, run, say, talk, until, words_of

import recollect
from recollect.errors import Denied, Unavailable
from recollect.mind.channel import MayHaveArrived, Reply, Said
from recollect.mind.mind import Mind
from recollect.testing import FrozenClock
from recollect.testing.scripted_talk import HANG, ScriptedTalk

PLACE = ("telegram", "42")


class Pushing(Listener):
    """A channel that can say again what may have arrived."""

    says_again = True
    trouble: "list[Exception]"

    def __init__(self, *trouble: Exception) -> None:
        super().__init__("telegram")
        self.trouble = list(trouble)

    async def deliver(self, address: str, reply: Reply) -> None:
        if self.trouble:
            raise self.trouble.pop(0)
        await super().deliver(address, reply)


async def first(mind: Mind, text: str, last_number: int) -> int | None:
    written = await mind.write_first(text, PLACE, "the boat", last_number)
    return written.entry.turn if written else None


def test_what_it_writes_first_stands_in_the_conversation_and_goes_out(memory: recollect.Memory) -> None:
    model, telegram = ScriptedTalk(["Hello.", "At four."]), Pushing()

    async def all_of_it() -> None:
        async with minding(memory, model, Listener(), telegram) as mind:
            await say(mind, "Good morning!")
            assert await first(mind, "Your boat leaves today.", 2) == 2
            await mind.turn()
            assert [reply.text for _, reply in telegram.replies] == ["Your boat leaves today."]
            assert telegram.replies[0][1].is_first
            await say(mind, "When?", "telegram", "42")

    run(all_of_it())

    turns = list(model.requests[1].turns)
    assert [turn.role for turn in turns] == ["user", "assistant", "user", "assistant", "user"]
    head, text = words_of(turns[2:4])
    assert head.endswith("telegram: nobody had said anything, and you wrote first.]")
    assert text == "Your boat leaves today."
    assert telegram.texts == ["Your boat leaves today.", "At four."]
    said = [one.text for one in memory.history.export() if one.source == "recollect"]
    assert "Your boat leaves today." in said


def test_the_program_that_wrote_it_and_the_next_one_send_the_same_array(memory: recollect.Memory) -> None:
    model, later = ScriptedTalk(["Hello.", "At four."]), ScriptedTalk(["Still at four."])

    async def all_of_it() -> None:
        async with minding(memory, model, Listener()) as mind:
            await say(mind, "Good morning!")
            await first(mind, "Your boat leaves today.", 2)
            await say(mind, "When?")

    run(all_of_it())
    talk(memory, later, "Really?")

    before, after = model.requests[1], later.requests[0]
    assert list(after.turns[: len(before.turns)]) == list(before.turns)
    reasons = [event.outcome for event in memory.runs.latest("prefix")]
    assert len(reasons) == 2, "the first request of each program, and none because it wrote first"


@pytest.mark.parametrize("last_number", [0, 1, 3])
@on_sqlite
def test_it_does_not_write_on_what_is_not_so_any_more(memory: recollect.Memory, last_number: int) -> None:
    async def all_of_it() -> None:
        async with minding(memory, ScriptedTalk(["Hello."]), Listener()) as mind:
            await say(mind, "Good morning!")
            assert await first(mind, "Are you there?", last_number) is None

    run(all_of_it())


@on_sqlite
def test_it_does_not_write_while_a_turn_runs_or_somebody_waits(memory: recollect.Memory) -> None:
    model = ScriptedTalk([[HANG]])

    async def all_of_it() -> None:
        async with (
            minding(memory, model, Listener()) as mind,
            minding(memory, ScriptedTalk([])) as other,
        ):
            await mind.hear(Said(text="Good morning!", channel="terminal"))
            assert await first(other, "Are you there?", 1) is None
            running = asyncio.create_task(mind.turn())
            await until(lambda: bool(model.requests))
            assert await first(mind, "Are you there?", 1) is None
            assert await first(other, "Are you there?", 1) is None
            await mind.interrupt()
            await running

    run(all_of_it())


@on_sqlite
def test_the_same_key_is_heard_once_also_by_another_program_and_after_it_was_forgotten(
    memory: recollect.Memory,
) -> None:
    said = Said(text="The cellar key hangs behind the clock.", channel="telegram", address="42", key="42:7")

    async def twice(model: ScriptedTalk) -> list[int]:
        async with minding(memory, model, Listener("telegram")) as mind:
            numbers = [await mind.hear(said), await mind.hear(said)]
            await mind.turn()
            return [*numbers, await mind.hear(said)]

    model = ScriptedTalk(["Good."])
    assert run(twice(model)) == [1, 1, 1]
    assert run(twice(model)) == [1, 1, 1]
    assert len(model.requests) == 1

    [message] = [one for one in memory.history.export() if one.text == said.text]
    memory.forget(message=message.id)

    assert run(twice(model)) == [0, 0, 0]
    assert not [one for one in memory.history.export() if one.text == said.text]


@on_sqlite
def test_two_channels_may_use_the_same_key(memory: recollect.Memory) -> None:
    async def both() -> None:
        async with minding(memory, ScriptedTalk([])) as mind:
            assert await mind.hear(Said(text="one", channel="telegram", key="7")) == 1
            assert await mind.hear(Said(text="two", channel="webhook", key="7")) == 2
            assert await mind.withdraw_key("telegram", "7")
            assert not await mind.withdraw_key("telegram", "7")

    run(both())


# Deliveries


def test_what_may_have_arrived_is_said_again_by_a_channel_that_can_say_so(memory: recollect.Memory) -> None:
    telegram = Pushing(MayHaveArrived("The line broke."), Unavailable("It is down."))

    async def all_of_it() -> None:
        async with minding(memory, ScriptedTalk(["One.", "Two."]), telegram) as mind:
            await say(mind, "first", "telegram", "42")
            await say(mind, "second", "telegram", "42")
            await mind.turn()

    run(all_of_it())

    assert [(reply.text, reply.is_again) for _, reply in telegram.replies] == [("One.", True), ("Two.", False)]


@on_sqlite
def test_what_may_have_arrived_is_not_sent_again_where_nobody_could_tell(memory: recollect.Memory) -> None:
    class Silent(Pushing):
        says_again = False

    telegram = Silent(MayHaveArrived("The line broke."))

    async def all_of_it() -> None:
        async with minding(memory, ScriptedTalk(["One.", "Two."]), telegram) as mind:
            await say(mind, "first", "telegram", "42")
            await say(mind, "second", "telegram", "42")

    run(all_of_it())

    assert telegram.texts == ["Two."]
    assert memory.mind_figures().unsure == 1


def test_what_a_program_that_is_gone_was_sending_goes_out_again_without_another_word(memory: recollect.Memory) -> None:
    class Dying(Pushing):
        async def deliver(self, address: str, reply: Reply) -> None:
            raise KeyboardInterrupt  # Nobody notes what became of it.

    async def ask() -> None:
        async with minding(memory, ScriptedTalk(["One."]), Dying()) as mind:
            with pytest.raises(KeyboardInterrupt):
                await say(mind, "first", "telegram", "42")

    with suppress(KeyboardInterrupt):
        run(ask())

    telegram = Pushing()

    async def come_back() -> None:
        async with minding(memory, ScriptedTalk([]), telegram) as mind:
            await mind.turn()
            await mind.turn()

    run(come_back())

    assert [(reply.text, reply.is_again) for _, reply in telegram.replies] == [("One.", True)]


@on_sqlite
def test_an_address_that_takes_nothing_any_more_holds_up_nobody(memory: recollect.Memory) -> None:
    telegram = Pushing(Denied("It is blocked."))

    async def all_of_it() -> None:
        async with minding(memory, ScriptedTalk(["One.", "Two."]), telegram) as mind:
            await say(mind, "first", "telegram", "42")
            await say(mind, "second", "telegram", "43")
            await mind.turn()

    run(all_of_it())

    assert telegram.replies == [("43", telegram.replies[0][1])]
    assert telegram.texts == ["Two."]


@on_sqlite
def test_a_channel_with_a_bug_repeats_nothing_for_ever(memory: recollect.Memory) -> None:
    telegram = Pushing(*[ZeroDivisionError("a bug")] * 5)

    async def all_of_it() -> None:
        async with minding(memory, ScriptedTalk(["One."]), telegram) as mind:
            await say(mind, "first", "telegram", "42")
            for _ in range(3):
                await mind.turn()

    run(all_of_it())

    assert len(telegram.trouble) == 4


# In the background


@on_sqlite
def test_a_program_in_the_background_leaves_a_window_its_own_answers(memory: recollect.Memory) -> None:
    window, telegram = Listener(), Listener("telegram")
    background, front = ScriptedTalk(lambda _: "From the background."), ScriptedTalk(lambda _: "From the window.")

    async def all_of_it() -> None:
        async with (
            minding(memory, background, telegram) as behind,
            minding(memory, front, window) as before,
        ):
            running = asyncio.create_task(behind.run(is_background=True))
            await behind.hear(Said(text="by phone", channel="telegram", address="42"))
            await until(lambda: telegram.texts == ["From the background."])
            await say(before, "in the window")
            assert window.texts == ["From the window."]
            assert window.streamed == "From the window."
            await behind.hear(Said(text="by phone again", channel="telegram", address="42"))
            await before.close()
            await until(lambda: len(telegram.texts) == 2)
            await behind.close()
            await running

    run(all_of_it())


@on_sqlite
def test_what_was_said_in_a_window_that_is_gone_is_answered_in_the_background(
    memory: recollect.Memory, clock: FrozenClock
) -> None:
    window = Listener()
    model = ScriptedTalk(lambda _: "Here I am.")

    async def all_of_it() -> None:
        async with minding(memory, ScriptedTalk([]), window) as before:
            await before.hear(Said(text="Is anybody there?", channel="terminal", address="gone"))
        async with minding(memory, model, Listener("telegram")) as behind:
            running = asyncio.create_task(behind.run(is_background=True))
            await asyncio.sleep(0.05)
            assert not model.requests
            clock.move(seconds=10)
            await until(lambda: bool(model.requests))
            await until(lambda: memory.mind_figures().open_turns == 0)
            await behind.close()
            await running

    run(all_of_it())
    assert len(model.requests) == 1
