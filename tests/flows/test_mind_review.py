"""What a hostile reader of the mind looks for: races, arrays that no API takes, loss, secrets. On both engines."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from conftest import OpenHouse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from minds import Listener, minding, on_sqlite, run, say, talk, until, words_of

import recollect
from recollect.doctor.mind import mind as examined
from recollect.errors import Invalid, Unavailable
from recollect.llm.model import Usage
from recollect.llm.openai_reading import Reading
from recollect.llm.talking import Abilities, Answer, Request, Stop, TextPiece
from recollect.mind.channel import Reply, Said, Shown, ToolUse, Words
from recollect.mind.conversation import conversation_of
from recollect.mind.entries import TurnState
from recollect.mind.mind import Mind
from recollect.mind.state import plain, state_path
from recollect.testing import FrozenClock
from recollect.testing.scripted_talk import HANG, ScriptedTalk, use

SECRET = "The spare key of the shed lies under the third pot of thyme"
CREDENTIAL = "sk-ant-" + "api03-" + "Ab3x9" * 18


def message_of(memory: recollect.Memory, words: str) -> str:
    return next(message.id for message in memory.history.export() if words in message.text)


def live(mind: Mind) -> list[dict[str, Any]]:
    conversation = mind._held.conversation  # pyright: ignore[reportPrivateUsage]
    assert conversation
    return plain(conversation)


def rebuilt(mind: Mind) -> list[dict[str, Any]]:
    return plain(conversation_of(*mind._log.read(), ""))  # pyright: ignore[reportPrivateUsage]


def saved(memory: recollect.Memory, mind: Mind) -> list[dict[str, Any]]:
    path = state_path(memory.settings.runtime, mind._parts.agent)  # pyright: ignore[reportPrivateUsage]
    exchanges = json.loads(path.read_bytes())["exchanges"]
    return [turn for _, turns in exchanges for turn in turns]


def in_words(request: Request) -> str:
    return json.dumps([turn.content for turn in request.turns], ensure_ascii=False)


def state_files(memory: recollect.Memory) -> list[Path]:
    return sorted((memory.settings.runtime / "mind").glob("*/*.json"))


def take_over(mind: Mind) -> None:
    """As if the lease had run out: another program may take the turns."""
    holding = mind._holding  # pyright: ignore[reportPrivateUsage]
    with mind._parts.database.write() as session:  # pyright: ignore[reportPrivateUsage]
        session.run("DELETE FROM jobs_jobs WHERE house = :house AND kind = 'mind'", {"house": holding._house})  # pyright: ignore[reportPrivateUsage]


# Forgetting while a turn is in flight


def test_what_is_forgotten_while_an_answer_streams_is_in_no_array_and_no_file_behind_it(
    memory: recollect.Memory,
) -> None:
    channel = Listener()

    async def forget() -> None:
        hold = asyncio.Event()
        model = ScriptedTalk(["I see.", [TextPiece(text="It is "), hold, "cold."], "It is cold.", "Well."])
        async with minding(memory, model, channel) as mind:
            await say(mind, SECRET)
            await mind.hear(Said(text="How is the weather?", channel="terminal"))
            turning = asyncio.ensure_future(mind.turn())
            await until(lambda: "It is" in channel.streamed)
            await asyncio.to_thread(lambda: memory.forget(message=message_of(memory, SECRET)))
            hold.set()
            await turning
            assert all(SECRET not in path.read_text() for path in state_files(memory))
            await say(mind, "And now?")
            assert SECRET not in in_words(model.requests[-1])
            assert live(mind) == rebuilt(mind)

    run(forget())
    assert all(SECRET not in path.read_text() for path in state_files(memory))
    assert [reply.state for _, reply in channel.replies] == ["done"] * 3


@on_sqlite
def test_what_is_forgotten_between_two_steps_of_a_turn_is_not_sent_again(memory: recollect.Memory) -> None:
    async def forget() -> None:
        model = ScriptedTalk(["I see.", use("search_memory", {"query": "weather"}), "Cold.", "Cold."])
        channel = Listener()

        def on_show(shown: Shown) -> None:
            if isinstance(shown, ToolUse):
                memory.forget(message=message_of(memory, SECRET))

        async with minding(memory, model, channel) as mind:
            await say(mind, SECRET)
            channel.on_show = on_show
            done = await say(mind, "How is the weather?")
            assert done.state is TurnState.DONE
            assert all(SECRET not in in_words(request) for request in model.requests[2:])
            assert live(mind) == rebuilt(mind)

    run(forget())


@on_sqlite
def test_what_is_forgotten_is_not_sent_to_keep_a_cache_warm(open_house: OpenHouse, clock: FrozenClock) -> None:
    memory = open_house(mind={"model": "scripted", "keep_warm_hours": 8})
    model = ScriptedTalk(lambda _: "I see.", abilities=Abilities(cache_seconds=3_600))

    async def rest() -> None:
        async with minding(memory, model) as mind:
            await say(mind, SECRET)
            await say(mind, "A long story. " * 2_000)
            clock.move(minutes=56)
            await mind.rest()
            assert len(model.warmed) == 1
            await asyncio.to_thread(lambda: memory.forget(message=message_of(memory, SECRET)))
            clock.move(minutes=56)
            await mind.rest()
            assert len(model.warmed) == 1

    run(rest())


@on_sqlite
def test_nobody_waits_long_for_a_provider_that_hangs_while_its_cache_is_kept_warm(
    open_house: OpenHouse, clock: FrozenClock
) -> None:
    class Hanging(ScriptedTalk):
        async def warm(self, request: Request) -> Usage:
            await asyncio.Event().wait()
            raise AssertionError

    memory = open_house(mind={"model": "scripted", "keep_warm_hours": 8})

    async def rest() -> None:
        async with minding(memory, Hanging(["I see."], abilities=Abilities(cache_seconds=3_600))) as mind:
            mind._held.warm_seconds = 0.01
            await say(mind, "A long story. " * 2_000)
            clock.move(minutes=56)
            assert await mind.rest() is None

    run(rest(), 10)


# Two programs


def test_a_turn_that_another_program_took_over_is_not_answered_twice_and_no_array_lacks_its_turns(
    memory: recollect.Memory,
) -> None:
    one, other = Listener("one"), Listener("other")

    async def sleep_for_two_hours() -> None:
        hold = asyncio.Event()
        first = ScriptedTalk([[TextPiece(text="From the first"), hold, "."], "Later."])
        second = ScriptedTalk(["From the second.", "Something else."])
        async with minding(memory, first, one) as holder:
            await holder.hear(Said(text="Who answers?", channel="one"))
            turning = asyncio.ensure_future(holder.turn())
            await until(lambda: "first" in one.streamed)
            take_over(holder)
            async with minding(memory, second, other) as guest:
                assert (await guest.turn()).state is TurnState.DONE  # type: ignore[union-attr]
                await say(guest, "I am another.", "other")
            hold.set()
            await turning
            assert live(holder) == rebuilt(holder) or state_files(memory)
            await say(holder, "And now?", "one")
            told = words_of(list(first.requests[-1].turns))
            assert [text for text in told if not text.startswith("[")] == [
                "Who answers?", "From the second.", "I am another.", "Something else.", "And now?",
            ]  # fmt: skip
            assert live(holder) == rebuilt(holder) == saved(memory, holder)

    run(sleep_for_two_hours())
    assert one.texts == ["From the second.", "Later."]
    assert other.texts == ["Something else."]


def test_no_step_is_written_into_a_turn_that_another_program_has(memory: recollect.Memory) -> None:
    async def overtaken() -> None:
        hold = asyncio.Event()
        first = ScriptedTalk([[hold, use("search_memory", {"query": "a"})], "From the first."])
        second = ScriptedTalk(["From the second."])
        one = Listener("one")
        async with minding(memory, first, one) as holder:
            await holder.hear(Said(text="Who answers?", channel="one"))
            turning = asyncio.ensure_future(holder.turn())
            await until(lambda: bool(first.requests))
            take_over(holder)
            async with minding(memory, second, Listener("other")) as guest:
                assert (await guest.turn()).state is TurnState.DONE  # type: ignore[union-attr]
                hold.set()
                assert await turning is None
                assert len(first.requests) == 1
                assert [turn["role"] for turn in rebuilt(guest)] == ["user", "assistant"]
            await holder.turn()
        assert one.texts == ["From the second."]

    run(overtaken())


def test_an_answer_that_surely_did_not_go_out_is_sent_again_though_another_program_doubted_it(
    memory: recollect.Memory,
) -> None:
    class Slow(Listener):
        async def deliver(self, address: str, reply: Reply) -> None:
            if not self.replies and not hold.is_set():
                began.set()
                await hold.wait()
                raise Unavailable("The line is down.")
            await super().deliver(address, reply)

    hold, began = asyncio.Event(), asyncio.Event()
    slow = Slow("slow")

    async def doubt() -> None:
        async with minding(memory, ScriptedTalk(["Yes."]), slow) as holder:
            await holder.hear(Said(text="Is it so?", channel="slow"))
            turning = asyncio.ensure_future(holder.turn())
            await began.wait()
            take_over(holder)
            async with minding(memory, ScriptedTalk(["No."]), Listener("other")) as guest:
                await say(guest, "And I?", "other")
            hold.set()
            await turning
            await holder.turn()

    run(doubt())
    assert slow.texts == ["Yes."]


# Stopping


@on_sqlite
def test_what_a_stopped_answer_said_is_the_same_in_the_array_in_the_file_and_made_anew(
    memory: recollect.Memory,
) -> None:
    async def stop() -> None:
        model, channel = ScriptedTalk([[TextPiece(text="The tide comes "), HANG], "Go on."]), Listener()
        async with minding(memory, model, channel) as mind:
            await mind.hear(Said(text="Tell me of the tide", channel="terminal"))
            turning = asyncio.ensure_future(mind.turn())
            await until(lambda: "tide" in channel.streamed)
            await mind.interrupt()
            await turning
            assert live(mind) == saved(memory, mind) == rebuilt(mind)

    run(stop())


@on_sqlite
def test_words_before_a_tool_are_not_said_twice_by_a_turn_that_is_stopped_behind_it(memory: recollect.Memory) -> None:
    async def stop() -> None:
        model = ScriptedTalk([use("search_memory", {"query": "a"}, before="I look."), "Well."])
        channel = Listener()
        async with minding(memory, model, channel) as mind:
            turns = mind._turns  # pyright: ignore[reportPrivateUsage]
            add = turns._log.add  # pyright: ignore[reportPrivateUsage]

            def adding(*given: Any, **named: Any) -> Any:
                loop.call_soon_threadsafe(turns.interrupt) if str(given[1]) == "tool" else None
                return add(*given, **named)

            loop = asyncio.get_running_loop()
            turns._log.add = adding  # type: ignore[method-assign]  # pyright: ignore[reportPrivateUsage]
            await say(mind, "go")
            texts = [text for text in words_of(mind._held.conversation.turns) if text == "I look."]  # type: ignore[union-attr]  # pyright: ignore[reportPrivateUsage, reportOptionalMemberAccess]
            assert texts == ["I look."]
            assert live(mind) == rebuilt(mind)

    run(stop())


# Arrays


@on_sqlite
def test_a_failure_behind_a_call_of_a_tool_leaves_no_call_without_its_result(memory: recollect.Memory) -> None:
    async def fail() -> None:
        model = ScriptedTalk([use("search_memory", {"query": "a"}), "Well."])
        async with minding(memory, model, Listener()) as mind:
            add = mind._log.add  # pyright: ignore[reportPrivateUsage]

            def adding(*given: Any, **named: Any) -> Any:
                if str(given[1]) == "tool":
                    raise Unavailable("The database is busy.")
                return add(*given, **named)

            mind._log.add = adding  # type: ignore[method-assign]  # pyright: ignore[reportPrivateUsage]
            done = await say(mind, "go")
            assert done.state is TurnState.FAILED
            mind._log.add = add  # type: ignore[method-assign]  # pyright: ignore[reportPrivateUsage]
            await say(mind, "on")
            blocks = [block for turn in model.requests[1].turns for block in turn.content]
            calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
            assert calls == [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
            assert live(mind) == rebuilt(mind)

    run(fail())


@on_sqlite
def test_the_array_never_begins_with_an_answer(memory: recollect.Memory) -> None:
    first, second = ScriptedTalk(["I see.", "It rains."]), ScriptedTalk(["Yes."])
    talk(memory, first, SECRET, "How is the weather?")
    memory.forget(message=message_of(memory, SECRET))

    talk(memory, second, "And now?")

    assert second.requests[0].turns[0].role == "user"


INPUTS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(10**40), max_value=10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=()), max_size=12)
    | st.sampled_from([CREDENTIAL, "password=hunter2-Xy7!qq", "\ud83d", "a\ude00b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


@on_sqlite
def test_what_a_model_says_is_the_same_in_the_array_in_the_file_and_made_anew(memory: recollect.Memory) -> None:
    loop = asyncio.new_event_loop()

    @settings(
        max_examples=10,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(
        st.dictionaries(st.text(st.characters(exclude_categories=()), max_size=6), INPUTS, max_size=4),
        st.text(st.characters(exclude_categories=()), max_size=20),
    )
    def property_of(given_input: dict[str, Any], text: str) -> None:
        async def once() -> None:
            model = ScriptedTalk([use("nothing", given_input, before=text), "Yes."])
            async with minding(memory, model) as mind:
                done = await say(mind, "go")
                assert done.state is TurnState.DONE, done
                assert live(mind) == saved(memory, mind) == rebuilt(mind)
                assert CREDENTIAL not in json.dumps(live(mind))

        loop.run_until_complete(once())

    try:
        property_of()
    finally:
        loop.close()


# Loss


@on_sqlite
def test_an_answer_without_a_word_is_told_of(memory: recollect.Memory) -> None:
    silent = Answer(blocks=(), stop=Stop.LENGTH, usage=Usage(), model="m")

    channel = talk(memory, ScriptedTalk([silent, "Here."]), "Are you there?", "Hello?")

    assert [reply.state for _, reply in channel.replies] == ["failed", "done"]
    assert "without a word" in channel.texts[0]


@on_sqlite
def test_an_error_that_nobody_expected_is_told_and_not_paid_for_at_each_start(memory: recollect.Memory) -> None:
    def broken(_: Request) -> str:
        raise ZeroDivisionError

    model = ScriptedTalk(broken)
    channel = talk(memory, model, "Are you there?")

    assert [reply.state for _, reply in channel.replies] == ["failed"]
    assert "ZeroDivisionError" in channel.texts[0]
    talk(memory, ScriptedTalk(["Here."]), "Hello?")
    assert len(model.requests) == 1


@on_sqlite
def test_a_channel_that_breaks_while_words_are_shown_stops_no_turn(memory: recollect.Memory) -> None:
    def broken(shown: Shown) -> None:
        if isinstance(shown, Words):
            raise OSError("The terminal is gone.")

    channel, other = Listener(on_show=broken), Listener("other")

    async def show() -> None:
        async with minding(memory, ScriptedTalk(["Here."]), channel, other) as mind:
            await mind.hear(Said(text="Are you there?", channel="terminal"))
            done = await say(mind, "And you?", "other")
            assert done.state is TurnState.DONE

    run(show())
    assert channel.texts == other.texts == ["Here."]
    assert other.streamed == "Here."


@on_sqlite
def test_a_channel_that_fails_at_a_delivery_stops_no_other_and_is_doubted(memory: recollect.Memory) -> None:
    class Broken(Listener):
        async def deliver(self, address: str, reply: Reply) -> None:
            raise OSError("Nobody knows.")

    other = Listener("other")

    async def deliver() -> None:
        async with minding(memory, ScriptedTalk(["Here."]), Broken(), other) as mind:
            await mind.hear(Said(text="Are you there?", channel="terminal"))
            await say(mind, "And you?", "other")

    run(deliver())
    assert other.texts == ["Here."]
    assert memory.mind_figures().unsure == 1


@on_sqlite
def test_the_same_words_can_be_said_again_after_they_were_forgotten(memory: recollect.Memory) -> None:
    model = ScriptedTalk(lambda _: "I see.")
    talk(memory, model, SECRET)
    memory.forget(message=message_of(memory, SECRET))

    channel = talk(memory, model, SECRET)

    assert channel.texts == ["I see."]
    assert SECRET in in_words(model.requests[-1])


@on_sqlite
def test_a_house_that_keeps_nothing_raw_talks_all_the_same(open_house: OpenHouse) -> None:
    memory = open_house(keep_raw=False)
    model = ScriptedTalk([use("search_memory", {"query": "a"}), "Yes.", "Again."])

    channel = talk(memory, model, "Are you there?", f"The key is {CREDENTIAL}")

    assert channel.texts == ["Yes.", "Again."]
    assert len(model.requests[-1].turns) == 5


# Secrets


@on_sqlite
def test_a_credential_that_a_model_says_is_in_no_file_and_in_no_later_request(memory: recollect.Memory) -> None:
    model = ScriptedTalk(
        [use("search_memory", {"query": f"key {CREDENTIAL}"}, before=f"Your key is {CREDENTIAL}"), "There.", "Yes."]
    )

    async def tell() -> None:
        async with minding(memory, model) as mind:
            await say(mind, "Make me a key")
            await say(mind, "Thanks")
            assert live(mind) == saved(memory, mind) == rebuilt(mind)
            assert all(CREDENTIAL not in one.text for one in mind.latest(10))

    run(tell())
    assert CREDENTIAL not in in_words(model.requests[-1])
    for path in state_files(memory):
        assert CREDENTIAL not in path.read_text()
        assert path.stat().st_mode & 0o077 == 0 or os.name == "nt"


@on_sqlite
def test_a_tool_that_ran_before_the_turn_was_stopped_has_its_own_result(memory: recollect.Memory) -> None:
    first, second = use("update_status", {"updates": {"mood": "calm"}}), use("search_memory", {"query": "a"})
    both = Answer(blocks=(*first.blocks, *second.blocks), stop=Stop.TOOLS, usage=Usage(), model="")

    async def stop() -> None:
        model, channel = ScriptedTalk([both, "Well."]), Listener()
        async with minding(memory, model, channel) as mind:
            uses: list[Shown] = []

            def on_show(shown: Shown) -> None:
                uses.extend([shown] if isinstance(shown, ToolUse) else [])
                if len(uses) == 2:
                    mind._turns.interrupt()  # pyright: ignore[reportPrivateUsage]

            channel.on_show = on_show
            await say(mind, "go")
            channel.on_show = lambda _: None
            await say(mind, "on")
            results = [block for turn in model.requests[1].turns for block in turn.content if "tool_use_id" in block]
            assert [bool(block.get("is_error")) for block in results] == [False, True]
            assert "stopped" in results[1]["content"]
            assert live(mind) == rebuilt(mind)

    run(stop())


@on_sqlite
def test_a_copy_of_the_conversation_that_somebody_changed_changes_no_array(
    memory: recollect.Memory, tmp_path: Path
) -> None:
    talk(memory, ScriptedTalk(["I see."]), "The well is 14 metres deep.")
    log = memory.mind("", lambda: ScriptedTalk([]))._log  # pyright: ignore[reportPrivateUsage]
    copy = tmp_path / "copy.jsonl"
    records = [json.dumps(one.record).replace("14 metres", "99 metres") for one in log.read()[2]]
    copy.write_text("".join(f"{record}\n" for record in records))
    for path in state_files(memory):
        path.unlink()

    memory.history.ingest([copy])
    model = ScriptedTalk(["Yes."])
    talk(memory, model, "How deep is it?")

    assert "14 metres" in in_words(model.requests[0])
    assert "99 metres" not in in_words(model.requests[0])


def test_a_house_that_moved_goes_on_with_its_conversation(open_house: OpenHouse, tmp_path: Path) -> None:
    house, other = open_house(), open_house()
    talk(house, ScriptedTalk([use("search_memory", {"query": "well"}, before="I look."), "14 metres."]), "How deep?")

    async def leave_one_behind() -> None:
        async with minding(house, ScriptedTalk([])) as mind:
            await mind.hear(Said(text="And how wide?", channel="terminal"))

    run(leave_one_behind())
    house.transfer.export_to(tmp_path / "export")
    other.transfer.import_from(tmp_path / "export")
    model = ScriptedTalk(["2 metres."])
    channel = talk(other, model, "Hello?")

    assert channel.texts == ["2 metres."]
    told = [text for text in words_of(list(model.requests[0].turns)) if not text.startswith("[")]
    assert told == ["How deep?", "I look.", "14 metres.", "And how wide?", "Hello?"]


def test_a_tool_whose_name_a_server_made_up_can_be_sent_back_to_every_provider() -> None:
    reading = Reading(lambda _: None)
    unnamed = {"index": 0, "id": "a", "function": {"arguments": ""}}
    named_late = {"index": 0, "function": {"name": "functions.search memory", "arguments": "{}"}}
    never_named = {"index": 1, "id": "b", "function": {"arguments": "{}"}}
    for call in (unnamed, named_late, never_named):
        reading.take({"choices": [{"delta": {"tool_calls": [call]}}]})
    reading.take({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})

    names = [block["name"] for block in reading.answer("m", 1).blocks]

    assert names == ["functions_search_memory", "unnamed"]


@on_sqlite
def test_doctor_says_that_a_message_waits(memory: recollect.Memory) -> None:
    async def leave() -> None:
        async with minding(memory, ScriptedTalk([])) as mind:
            await mind.hear(Said(text="And how wide?", channel="terminal"))

    run(leave())
    assert "1 message waits" in examined(memory).message


# Money, and models that do not say what they are


STORY = "They spoke of the rain, which falls until noon, and of the wind from the west. " * 4


@on_sqlite
def test_a_model_that_reads_less_than_it_says_is_not_at_its_end_for_ever(open_house: OpenHouse) -> None:
    memory = open_house()

    def limited(request: Request) -> str | Exception:
        length = sum(map(len, words_of(list(request.turns))))
        return Invalid("This model's maximum context length is 8192 tokens.") if length > 20_000 else STORY

    model = ScriptedTalk(limited)
    days = [f"Day {day}. {'It rains until noon. ' * 100}" for day in range(14)]
    channel = talk(memory, model, *days)

    assert {reply.state for _, reply in channel.replies} == {"done"}
    refused = [request for request in model.requests if isinstance(limited(request), Exception)]
    assert len(refused) <= 3, "it is learned, and not found out anew each time"
    assert "done" in {event.outcome for event in memory.runs.latest("compaction")}


@on_sqlite
def test_one_message_that_is_too_long_does_not_make_the_model_small(memory: recollect.Memory) -> None:
    def limited(request: Request) -> str | Exception:
        length = sum(map(len, words_of(list(request.turns))))
        return Invalid("prompt is too long: 9000 tokens > 8192 maximum") if length > 20_000 else STORY

    model = ScriptedTalk(limited)
    channel = talk(memory, model, "Hello.", "A long story. " * 2_000, "And now?", "And then?", "And after that?")

    assert [reply.state for _, reply in channel.replies] == ["done", "failed", "done", "done", "done"]
    assert len(model.requests[-1].turns) == 5
    assert not memory.runs.latest("compaction")


@on_sqlite
def test_a_summary_that_nobody_can_make_is_not_paid_for_at_each_start(open_house: OpenHouse) -> None:
    memory, asked = open_house(mind={"model": "scripted", "compact_at_tokens": 4_000}), list[int]()

    def stubborn(request: Request) -> str:
        if "No tool is at hand" in in_words(request):
            asked.append(len(request.turns))
            return "No."
        return "I see."

    async def nine_days() -> None:
        async with minding(memory, ScriptedTalk(stubborn)) as mind:
            for day in range(9):
                await say(mind, f"Day {day}. {'It rains until noon. ' * 60}")
                await mind.settle()

    run(nine_days())
    assert asked
    before = len(asked)
    for _ in range(6):
        talk(memory, ScriptedTalk(stubborn), "Hm.")
    assert len(asked) <= before + 2, "one more try, where it has grown by a tenth meanwhile"
