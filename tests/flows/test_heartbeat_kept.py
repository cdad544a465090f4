"""Moments that are neither lost nor swallowed, wishes that hold until a message goes out, and what is no wish."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest
from conftest import OpenHouse
from minds import Listener, minding, on_sqlite, run, say, talk

import recollect
from recollect.errors import Unavailable
from recollect.mind.channel import Said
from recollect.mind.heartbeat.heartbeat import CUT_OFF_MINUTES, WITHOUT_TOPIC, Heartbeat
from recollect.mind.heartbeat.ticks import Moment
from recollect.testing import FrozenClock
from recollect.testing.scripted import ScriptedModel
from recollect.testing.scripted_talk import Request, ScriptedTalk, Step

pytestmark = on_sqlite
MODEL = "anthropic:claude-haiku-5-5"
NO = {"reason": "Nothing has come of it.", "reach_out": False}
PLACE = ("telegram", "42")


def yes(message: str = "Your boat leaves today.", topic: str = "the boat") -> dict[str, Any]:
    return {"reason": "It is due.", "reach_out": True, "topic": topic, "message": message}


@pytest.fixture
def house(open_house: OpenHouse) -> recollect.Memory:
    memory = open_house(zone="UTC", heartbeat={"model": MODEL})
    memory.places.allow(*PLACE)
    return memory


def fine(memory: recollect.Memory, *words: str) -> None:
    talk(memory, ScriptedTalk(lambda _: "Fine."), *words)


def held_back(memory: recollect.Memory) -> list[str]:
    return [one.rule for one in memory.heartbeat().look().verdicts if not one.is_allowed]


def topics(memory: recollect.Memory) -> tuple[str, ...]:
    return memory.heartbeat().look().seen.facts.unwelcome_topics


def due(heartbeat: Heartbeat, kind: Moment) -> datetime:
    found = heartbeat.due_at(kind)
    assert found
    return found


# When


def test_who_asks_when_the_next_moment_is_due_does_not_swallow_one_that_is(
    house: recollect.Memory, clock: FrozenClock
) -> None:
    missed = due(house.heartbeat(), Moment.REFLECTION)
    clock.now = missed + timedelta(hours=1)
    assert due(house.heartbeat(), Moment.REFLECTION) == missed
    assert house.heartbeat().claim(Moment.REFLECTION)
    assert not house.heartbeat().claim(Moment.REFLECTION)


def test_what_becomes_due_while_another_moment_runs_comes_after_it(open_house: OpenHouse, clock: FrozenClock) -> None:
    memory = open_house(zone="UTC", heartbeat={"model": MODEL, "schedule": "40 * * * *", "jitter_minutes": 0})
    had: list[Moment] = []

    def long(request: Request) -> Step:
        clock.move(minutes=15)
        return "A good day."

    heartbeat = memory.heartbeat(open_talk=lambda: ScriptedTalk(long))
    due(heartbeat, Moment.OUTREACH)
    clock.now = due(heartbeat, Moment.REFLECTION)
    for _ in range(2):  # As `minding` looks.
        for kind in Moment:
            if heartbeat.claim(kind):
                had.append(kind)
                run(heartbeat.run(kind))
        for kind in Moment:
            heartbeat.due_at(kind)
    assert had == [Moment.OUTREACH, Moment.REFLECTION, Moment.OUTREACH]


@pytest.mark.parametrize("minutes", [0.0001, 35])
def test_a_reflection_that_could_not_be_had_comes_again_however_long_that_took_to_find_out(
    open_house: OpenHouse, clock: FrozenClock, minutes: float
) -> None:
    memory = open_house(zone="UTC", heartbeat={"model": MODEL})

    def away(request: Request) -> Step:
        clock.move(minutes=minutes)
        raise Unavailable("The model is away.")

    heartbeat = memory.heartbeat(open_talk=lambda: ScriptedTalk(away))
    clock.now = due(heartbeat, Moment.REFLECTION)
    assert heartbeat.claim(Moment.REFLECTION)
    assert run(heartbeat.run(Moment.REFLECTION)).outcome == "failed"
    assert due(heartbeat, Moment.REFLECTION) == clock() + timedelta(minutes=30)


def test_a_reflection_in_which_the_program_died_comes_once_more_that_day(
    house: recollect.Memory, clock: FrozenClock
) -> None:
    tomorrow = due(house.heartbeat(), Moment.REFLECTION) + timedelta(hours=23)
    clock.now = due(house.heartbeat(), Moment.REFLECTION)
    assert house.heartbeat().claim(Moment.REFLECTION)  # And here it is killed.
    assert due(house.heartbeat(), Moment.REFLECTION) == clock() + timedelta(minutes=CUT_OFF_MINUTES)
    clock.move(minutes=CUT_OFF_MINUTES)
    heartbeat = house.heartbeat(open_talk=lambda: ScriptedTalk(["A good day."]))
    assert heartbeat.claim(Moment.REFLECTION)
    run(heartbeat.run(Moment.REFLECTION))
    assert due(heartbeat, Moment.REFLECTION) > tomorrow


# What is asked for holds until a message goes out


@pytest.mark.parametrize(
    ("words", "later"),
    [
        ("Please never write to me about the divorce.", []),
        ("Don't write to me first.", []),
        ("Don't write to me for two hours.", ["How is the divorce going?"]),
        ("I am back from the market.", ["How is the divorce going?"]),
    ],
)
def test_a_message_that_waits_for_its_line_obeys_what_is_said_meanwhile(
    house: recollect.Memory, clock: FrozenClock, words: str, later: list[str]
) -> None:
    telegram, terminal = Listener("telegram", fails=1), Listener("terminal")

    async def all_of_it() -> None:
        async with minding(house, ScriptedTalk(lambda _: "Fine."), telegram, terminal) as mind:
            heartbeat = house.heartbeat(mind=mind, open_chat=lambda: ScriptedModel([yes(*DIVORCE)]))
            assert (await heartbeat.consider()).outcome == "yes"
            await mind.turn()
            clock.move(minutes=30)
            await say(mind, words)
            clock.move(minutes=10)
            await mind.turn()
            assert telegram.texts == []
            clock.move(hours=3)
            await mind.turn()
            assert telegram.texts == later

    run(all_of_it())
    assert terminal.texts == ["Fine."]
    assert ("undelivered" in held_back(house)) is False


DIVORCE = ("How is the divorce going?", "Checking in on the divorce hearing")


def test_never_about_this_means_what_the_message_was_about(house: recollect.Memory, clock: FrozenClock) -> None:
    async def all_of_it() -> list[str]:
        async with minding(house, ScriptedTalk(lambda _: "Fine."), Listener("telegram")) as mind:

            async def outcome(message: str, topic: str) -> str:
                model = ScriptedModel([yes(message, topic)])
                return (await house.heartbeat(mind=mind, open_chat=lambda: model).consider()).outcome

            found = [await outcome(*DIVORCE)]
            await mind.turn()
            clock.move(minutes=5)
            await say(mind, "never about that again pls", *PLACE)
            clock.move(days=1)
            found.append(await outcome("Any news of the divorce?", "the divorce"))
            found.append(await outcome("Your hearing aids are ready.", "the hearing aids"))
            return found

    assert run(all_of_it()) == ["yes", "quiet", "yes"]
    assert topics(house) == ("divorce",)


def test_a_message_without_a_topic_is_not_written(house: recollect.Memory) -> None:
    considered = run(house.heartbeat(open_chat=lambda: ScriptedModel([yes(topic=" ")])).consider())
    assert (considered.outcome, considered.reason) == ("no", WITHOUT_TOPIC)


def test_both_wishes_of_a_message_are_kept(house: recollect.Memory, clock: FrozenClock) -> None:
    fine(house, "Don't write to me today. And never write to me about the boat again.")
    clock.move(hours=1)
    assert "not now" in held_back(house)
    clock.move(days=1)
    assert (topics(house), "not now" in held_back(house)) == (("the boat",), False)


@pytest.mark.parametrize("words", ["Don't write to me.", "Please don't text me."])
def test_who_answers_that_it_shall_not_write_is_not_written_to(
    house: recollect.Memory, clock: FrozenClock, words: str
) -> None:
    assert rules_after(house, clock, words, timedelta(days=30)) == ["unwelcome"]


@pytest.mark.parametrize("words", ["Not now, ok?", "not now thx", "Don't bother me", "Don't disturb me right now."])
def test_not_now_is_heard_in_other_words(house: recollect.Memory, clock: FrozenClock, words: str) -> None:
    assert "not now" in rules_after(house, clock, words, timedelta(hours=4, minutes=1))
    assert held_back(house) == ["not now"]


def rules_after(memory: recollect.Memory, clock: FrozenClock, words: str, time: timedelta) -> list[str]:
    async def all_of_it() -> None:
        async with minding(memory, ScriptedTalk(lambda _: "Fine."), Listener("telegram")) as mind:
            model = ScriptedModel([yes()])
            assert (await memory.heartbeat(mind=mind, open_chat=lambda: model).consider()).outcome == "yes"
            await mind.turn()
            await say(mind, words, *PLACE)

    run(all_of_it())
    clock.now += time
    return held_back(memory)


def test_a_wish_is_heard_among_many_messages_that_are_answered_together(
    house: recollect.Memory, clock: FrozenClock
) -> None:
    async def all_of_it() -> None:
        async with minding(house, ScriptedTalk(lambda _: "Fine."), Listener("telegram")) as mind:
            for words in ("Please don't write to me first.", *(f"Picture {number}" for number in range(45))):
                await mind.hear(Said(text=words, channel="telegram", address="42"))
            await mind.turn()

    run(all_of_it())
    clock.move(hours=1)
    assert held_back(house) == ["unwelcome"]


def test_what_is_said_about_servers_and_answers_is_no_wish(house: recollect.Memory, clock: FrozenClock) -> None:
    fine(
        house,
        "Don't bring the server up again.",
        "Don't bring up the staging containers.",
        "Only answer if I ask a question.",
        "Only reply when I say go.",
    )
    clock.move(hours=1)
    assert (held_back(house), topics(house)) == ([], ())


@pytest.mark.parametrize(
    ("hour", "words", "until"),
    [(14, "until 5", 17), (14, "until 5 am", 24 + 5), (22, "until 8", 24 + 8), (10, "until 05:00", 24 + 5)],
)
def test_an_hour_without_am_or_pm_is_the_next_one(
    house: recollect.Memory, clock: FrozenClock, hour: int, words: str, until: int
) -> None:
    clock.now = midnight = clock.now.replace(hour=0, minute=0)
    clock.move(hours=hour)
    fine(house, f"Don't write to me {words}.")
    assert house.heartbeat().look().seen.facts.not_before == midnight + timedelta(hours=until)


# What it sees


@pytest.mark.parametrize(
    ("words", "messages"), [("今日は歯医者に行きました。" * 50, 20), ("boats and beans and herons " * 24, 60)]
)
def test_long_messages_leave_room_for_who_it_is(
    open_house: OpenHouse, clock: FrozenClock, words: str, messages: int
) -> None:
    memory = open_house(zone="UTC", heartbeat={"model": MODEL, "messages": messages})
    memory.places.allow(*PLACE)
    memory.notes.write("user.md", "Mara grows beans.\n")
    talk(memory, ScriptedTalk(lambda _: words), *(f"{words} {number}" for number in range(messages // 2 + 1)))
    clock.move(hours=2)
    model = ScriptedModel([NO])

    considered = run(memory.heartbeat(open_chat=lambda: model).consider())

    assert (considered.outcome, considered.reason) == ("no", NO["reason"])
    shown = model.requests[0].system + model.requests[0].prompt
    assert "Mara grows beans." in shown
    assert words[:100] in shown
    assert [one.outcome for one in memory.runs.latest("heartbeat")] == ["no"]


def test_forgetting_the_last_words_does_not_end_a_conversation(house: recollect.Memory, clock: FrozenClock) -> None:
    fine(house, "Hello.")
    clock.move(hours=3)
    fine(house, "The heron nests behind the mill.")
    clock.move(minutes=2)
    assert held_back(house) == ["active"]
    for message in list(house.history.export())[-2:]:
        house.forget(message=message.id, verify=False)
    assert held_back(house) == ["active"]


def test_two_programs_have_a_moment_once(house: recollect.Memory, clock: FrozenClock) -> None:
    clock.now = due(house.heartbeat(), Moment.REFLECTION)

    async def both() -> list[bool]:
        hearts = (house.heartbeat(), house.heartbeat())
        return await asyncio.gather(*(asyncio.to_thread(one.claim, Moment.REFLECTION) for one in hearts))

    assert sorted(run(both())) == [False, True]
