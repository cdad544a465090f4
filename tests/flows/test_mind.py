"""One conversation, for ever: what is said is kept, sent, answered and found again."""

import asyncio
import json

import pytest
from conftest import OpenHouse
from minds import Listener, minding, on_sqlite, run, say, talk, until, words_of
from prescriptions import prescriptions

import recollect
from recollect.errors import Denied, Invalid, Unavailable
from recollect.history import Author, Standing
from recollect.llm.model import Busy, Usage
from recollect.llm.talking import Answer, Request, Stop, TextPiece
from recollect.mind.channel import Again, Image, KeptMark, Said, ToolResult, ToolUse
from recollect.mind.entries import TurnState
from recollect.mind.state import plain, state_path
from recollect.testing import FrozenClock
from recollect.testing.scripted_talk import HANG, ScriptedTalk, said, use

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


def spoken(memory: recollect.Memory) -> list[tuple[str, str]]:
    found = [one for one in memory.history.export() if one.source == "recollect" and one.standing is Standing.SAID]
    return [(str(one.author), one.text) for one in sorted(found, key=lambda one: one.start_byte)]


def test_what_is_said_is_answered_and_is_history(memory: recollect.Memory) -> None:
    model = ScriptedTalk(["Good morning, Ada."])

    channel = talk(memory, model, "Good morning!")

    assert channel.texts == ["Good morning, Ada."]
    assert channel.streamed == "Good morning, Ada."
    assert spoken(memory) == [("user", "Good morning!"), ("assistant", "Good morning, Ada.")]
    assert len(memory.history.conversations()) == 1


@on_sqlite
def test_a_message_is_history_before_the_model_hears_of_it(memory: recollect.Memory) -> None:
    seen: list[list[tuple[str, str]]] = []

    def answer(_: object) -> str:
        seen.append(spoken(memory))
        return "Yes."

    talk(memory, ScriptedTalk(answer), "Is it written down?")

    assert seen == [[("user", "Is it written down?")]]


@on_sqlite
def test_each_request_begins_with_all_of_the_one_before(memory: recollect.Memory) -> None:
    model = ScriptedTalk(lambda request: f"Answer {len(request.turns)}")

    talk(memory, model, "one", "two", "three")

    first, second, third = model.requests
    assert list(second.turns[: len(first.turns)]) == list(first.turns)
    assert list(third.turns[: len(second.turns)]) == list(second.turns)
    assert first.system == second.system == third.system
    breaks = memory.runs.latest("prefix")
    assert [event.outcome for event in breaks] == ["restart, first"]


@on_sqlite
def test_the_model_is_told_when_and_by_which_channel_each_message_came(open_house: OpenHouse) -> None:
    memory, model = open_house(), ScriptedTalk(["Yes."])

    async def three() -> None:
        telegram = Listener("telegram")
        async with minding(memory, model, Listener(), telegram) as mind:
            await mind.hear(Said(text="first", channel="terminal"))
            await mind.hear(Said(text="second", channel="telegram", address="42"))
            await mind.turn()
            assert telegram.texts == ["Yes."]

    run(three())

    [request] = model.requests
    assert len(request.turns) == 1
    head, first, other, second = words_of(list(request.turns))
    assert (first, second) == ("first", "second")
    assert "2 March 2026" in head
    assert head.endswith("terminal]")
    assert other.endswith("telegram]")


@on_sqlite
def test_what_arrives_during_a_turn_waits_in_order_and_is_one_next_turn(memory: recollect.Memory) -> None:
    channel = Listener()

    async def burst() -> None:
        hold = asyncio.Event()
        model = ScriptedTalk([[hold, "One."], "Two and three."])
        async with minding(memory, model, channel) as mind:
            running = asyncio.ensure_future(mind.run())
            await mind.hear(Said(text="1", channel="terminal"))
            await until(lambda: bool(model.requests))
            await mind.hear(Said(text="2", channel="terminal"))
            await mind.hear(Said(text="3", channel="terminal"))
            hold.set()
            await until(lambda: len(channel.replies) == 2)
            await mind.close()
            await running
        assert len(model.requests) == 2
        assert [text for text in words_of(list(model.requests[1].turns)) if len(text) < 10] == ["1", "One.", "2", "3"]

    run(burst())
    assert channel.texts == ["One.", "Two and three."]


@on_sqlite
def test_text_before_between_and_behind_tool_calls_is_all_kept(memory: recollect.Memory) -> None:
    model = ScriptedTalk(
        [
            use("search_memory", {"query": "well"}, before="I look."),
            use("update_status", {"updates": {"mood": "curious"}}, before="Now I note it."),
            "It is 14 metres deep.",
        ]
    )

    channel = talk(memory, model, "How deep is the well?")

    assert channel.texts == ["I look.\n\nNow I note it.\n\nIt is 14 metres deep."]
    assert channel.streamed == channel.texts[0]
    kinds = [type(one).__name__ for _, one in channel.shown]
    assert kinds.count("ToolUse") == kinds.count("ToolResult") == 2
    assert [author for author, _ in spoken(memory)] == ["user", "assistant", "assistant", "assistant"]
    results = [one for one in memory.history.export() if one.author is Author.TOOL]
    assert len(results) == 2
    assert memory.as_agent(memory.settings.agent_name).notes.status.show().fields["mood"].value == "curious"


@on_sqlite
def test_a_marker_is_kept_at_once_and_shown_as_a_sign(memory: recollect.Memory) -> None:
    marker = json.dumps({"content": "The well is 14 metres deep.", "category": "knowledge"})
    model = ScriptedTalk([f"Noted.\n\n[REMEMBER] {marker}\n\nAnything else?"])

    channel = talk(memory, model, "The well is 14 metres deep.")

    assert "[REMEMBER]" not in channel.streamed
    assert "◆" in channel.texts[0]
    assert any(isinstance(one, KeptMark) for _, one in channel.shown)
    assert [record.text for record in memory.knowledge.records(kind="learning")] == ["The well is 14 metres deep."]


@on_sqlite
def test_a_restart_goes_on_as_if_it_had_never_stopped(memory: recollect.Memory) -> None:
    before = ScriptedTalk([use("search_memory", {"query": "x"}, before="I look."), "One."])
    talk(memory, before, "one")
    after = ScriptedTalk(["Two."])

    talk(memory, after, "two")

    told = words_of(list(after.requests[0].turns))
    assert [text for text in told if not text.startswith("[")] == ["one", "I look.", "One.", "two"]
    assert memory.runs.latest("prefix")[0].outcome.startswith("restart")


def test_without_the_runtime_folder_the_same_array_is_made_from_history(memory: recollect.Memory) -> None:
    async def arrays() -> list[object]:
        found: list[object] = []
        model = ScriptedTalk([use("search_memory", {"query": "x"}, before="I look."), "One.", "Two."])
        async with minding(memory, model, Listener()) as mind:
            await say(mind, "one")
            await say(mind, "two 🌊 שלום")
            conversation = mind._held.conversation  # pyright: ignore[reportPrivateUsage]
            assert conversation
            found.append(plain(conversation))
            agent = mind._parts.agent  # pyright: ignore[reportPrivateUsage]
        path = state_path(memory.settings.runtime, agent)
        assert path.exists()
        for is_gone in (False, True):
            if is_gone:
                path.unlink()
            async with minding(memory, ScriptedTalk([])) as mind:
                found.append(plain(mind._held.made("")))  # pyright: ignore[reportPrivateUsage]
        return found

    live, saved, rebuilt = run(arrays())
    assert live == saved == rebuilt


def test_a_turn_that_was_cut_off_goes_on_after_its_last_step(memory: recollect.Memory) -> None:
    """A program that ends in the middle leaves the turn open; the next one does not run the tool again."""

    async def cut_off() -> None:
        model = ScriptedTalk([use("update_status", {"updates": {"a": 1}}), [TextPiece(text="No"), HANG]])
        async with minding(memory, model, Listener()) as mind:
            await mind.hear(Said(text="go", channel="terminal"))
            turning = asyncio.ensure_future(mind.turn())
            await until(lambda: len(model.requests) == 2)
            await mind.close()
            with pytest.raises(asyncio.CancelledError):
                await turning

    run(cut_off())
    after, channel = ScriptedTalk(["Done."]), Listener()

    async def go_on() -> None:
        async with minding(memory, after, channel) as mind:
            assert (await mind.turn()).state is TurnState.DONE  # type: ignore[union-attr]
            assert await mind.turn() is None

    run(go_on())
    assert channel.texts == ["Done."]
    assert [block["type"] for turn in after.requests[0].turns for block in turn.content][-2:] == [
        "tool_use",
        "tool_result",
    ]
    assert len([one for one in memory.history.export() if one.author is Author.TOOL]) == 1


@pytest.mark.parametrize(
    "error",
    [
        Unavailable("The model cannot be reached. Check the connection."),
        Busy("The model has too much to do."),
        Denied("The key does not count. Set ANTHROPIC_API_KEY."),
        Invalid("The model refused the request."),
    ],
)
def test_a_failure_is_told_in_one_sentence_and_the_message_is_answered_with_the_next(
    memory: recollect.Memory, error: Exception
) -> None:
    model = ScriptedTalk([error, "Both."])

    channel = talk(memory, model, "first", "second")

    assert channel.texts == [str(error), "Both."]
    assert [reply.state for _, reply in channel.replies] == ["failed", "done"]
    told = [text for text in words_of(list(model.requests[1].turns)) if not text.startswith("[")]
    assert told == ["first", "second"]


@on_sqlite
def test_an_answer_whose_line_breaks_is_asked_for_once_more(memory: recollect.Memory) -> None:
    model = ScriptedTalk([[TextPiece(text="It is"), Unavailable("The line broke.")], "It is so."])

    channel = talk(memory, model, "Is it so?")

    assert channel.texts == ["It is so."]
    assert any(isinstance(one, Again) for _, one in channel.shown)


def test_what_a_model_refuses_is_told_and_not_sent_again(memory: recollect.Memory) -> None:
    refused = Answer(blocks=(), stop=Stop.REFUSED, usage=Usage(), model="m", detail="general_harms")
    model = ScriptedTalk([refused, "Fine."])

    channel = talk(memory, model, "something bad", "something good")

    assert "would not answer" in channel.texts[0]
    assert "something bad" not in words_of(list(model.requests[1].turns))
    assert ("user", "something bad") in spoken(memory)


def test_an_interrupted_answer_keeps_what_was_said(memory: recollect.Memory) -> None:
    channel = Listener()

    async def stop() -> None:
        model = ScriptedTalk([[TextPiece(text="The tide comes "), HANG], "Go on."])
        async with minding(memory, model, channel) as mind:
            await mind.hear(Said(text="Tell me of the tide", channel="terminal"))
            turning = asyncio.ensure_future(mind.turn())
            await until(lambda: "tide" in channel.streamed)
            assert await mind.interrupt()
            done = await turning
            assert done
            assert done.state is TurnState.STOPPED
            assert not await mind.interrupt()
            await say(mind, "Enough.")
        told = words_of(list(model.requests[1].turns))
        assert "The tide comes" in told
        assert "[Stopped by the user.]" in told

    run(stop())
    assert [reply.state for _, reply in channel.replies] == ["stopped", "done"]
    assert ("assistant", "The tide comes") in spoken(memory)


@on_sqlite
def test_a_tool_that_was_not_run_has_a_result_all_the_same(memory: recollect.Memory) -> None:
    async def stop() -> None:
        model = ScriptedTalk([use("search_memory", {"query": "a"}), "Well."])
        channel = Listener()
        async with minding(memory, model, channel) as mind:
            turns = mind._turns  # pyright: ignore[reportPrivateUsage]
            channel.on_show = lambda shown: turns.interrupt() and None if isinstance(shown, ToolUse) else None
            await say(mind, "go")
            channel.on_show = lambda _: None
            await say(mind, "on")
        blocks = [block for turn in model.requests[1].turns for block in turn.content]
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert calls == [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]

    run(stop())


def test_what_waits_can_be_taken_back(memory: recollect.Memory) -> None:
    async def take_back() -> None:
        model = ScriptedTalk(["Yes."])
        async with minding(memory, model, Listener()) as mind:
            await mind.hear(Said(text="rather not", channel="terminal", address="a"))
            await mind.hear(Said(text="but this", channel="terminal", address="b"))
            assert await mind.withdraw("terminal", "a") == 1
            await mind.turn()
            assert await mind.turn() is None
        assert "rather not" not in words_of(list(model.requests[0].turns))

    run(take_back())
    assert ("user", "rather not") in spoken(memory)


@on_sqlite
def test_an_answer_that_did_not_go_out_is_sent_again_and_in_order(memory: recollect.Memory) -> None:
    channel = Listener(fails=1)

    async def deliver() -> None:
        async with minding(memory, ScriptedTalk(["One.", "Two."]), channel) as mind:
            await say(mind, "1")
            assert channel.texts == []
            await say(mind, "2")

    run(deliver())
    assert channel.texts == ["One.", "Two."]


@on_sqlite
def test_secrets_do_not_reach_the_model(memory: recollect.Memory) -> None:
    secret = "sk-ant-" + "api03-" + "Ab3" * 30
    model = ScriptedTalk(["Thanks."])

    talk(memory, model, f"The key is {secret}")

    assert secret not in str(model.requests[0].turns)
    assert all(secret not in text for _, text in spoken(memory))


@on_sqlite
@pytest.mark.parametrize("text", ["", "   \n", "[private]\nthe plan", "x" * 4_000_001])
def test_what_cannot_be_said_is_refused_and_nothing_is_kept(memory: recollect.Memory, text: str) -> None:
    async def refuse() -> None:
        async with minding(memory, ScriptedTalk([])) as mind:
            with pytest.raises(Invalid):
                await mind.hear(Said(text=text, channel="terminal"))

    run(refuse())
    assert spoken(memory) == []


@on_sqlite
def test_nothing_is_heard_while_taking_in_is_paused(memory: recollect.Memory) -> None:
    memory.history.pause()

    async def refuse() -> None:
        async with minding(memory, ScriptedTalk([])) as mind:
            with pytest.raises(Unavailable, match="recollect resume"):
                await mind.hear(Said(text="hello", channel="terminal"))

    run(refuse())


@on_sqlite
def test_a_megabyte_is_kept_whole_and_shown_in_part(memory: recollect.Memory) -> None:
    model = ScriptedTalk(["A lot."])
    text = "word " * 200_000

    channel = talk(memory, model, text + "the end")

    assert channel.texts == ["A lot."]
    [shown] = [one for one in words_of(list(model.requests[0].turns)) if len(one) > 1_000]
    assert len(shown) < 61_000
    assert "characters left out" in shown
    assert shown.endswith("the end")
    assert spoken(memory)[0][1].startswith("word word")
    assert len(spoken(memory)[0][1]) > 1_000_000


@on_sqlite
def test_an_image_is_sent_and_kept_by_reference(memory: recollect.Memory) -> None:
    model = ScriptedTalk(["A boat."])

    async def show() -> None:
        async with minding(memory, model) as mind:
            image = Image(media_type="image/png", data=PNG)
            await mind.hear(Said(text="What is this?", channel="terminal", images=(image,)))
            await mind.turn()
            bad = Image(media_type="image/png", data=b"%PDF-1.7")
            with pytest.raises(Invalid, match="PNG, JPEG, GIF or WebP"):
                await mind.hear(Said(text="and this?", channel="terminal", images=(bad,)))

    run(show())
    assert [block["type"] for block in model.requests[0].turns[0].content] == ["text", "text", "image"]
    [message] = [one for one in memory.history.export() if one.author is Author.USER]
    assert {block["type"] for block in message.blocks} == {"text", "image"}
    assert "base64" not in json.dumps(message.blocks)


@on_sqlite
def test_an_image_that_the_provider_does_not_take_is_told_of_and_stops_nothing(memory: recollect.Memory) -> None:
    def picky(request: Request) -> str | Exception:
        has_image = any(block["type"] == "image" for turn in request.turns for block in turn.content)
        return Invalid("Could not process image.") if has_image else "I cannot see it."

    channel = Listener()

    async def show() -> None:
        async with minding(memory, ScriptedTalk(picky), channel) as mind:
            image = Image(media_type="image/png", data=PNG)
            await mind.hear(Said(text="What is this?", channel="terminal", images=(image,)))
            await mind.turn()
            await say(mind, "Never mind.")

    run(show())
    assert channel.texts == ["I cannot see it.", "I cannot see it."]


@on_sqlite
def test_emoji_and_writing_from_right_to_left_arrive_as_they_were_said(memory: recollect.Memory) -> None:
    text = "👩‍👩‍👧 مرحبا بالعالم – שלום \u2067abc\u2069 \ud83d end"
    model = ScriptedTalk(lambda request: words_of(list(request.turns))[-1])

    channel = talk(memory, model, text)

    assert channel.texts[0].startswith("👩‍👩‍👧 مرحبا بالعالم – שלום")
    assert spoken(memory)[0][1] == spoken(memory)[1][1]


@on_sqlite
def test_a_changed_note_is_told_once_and_not_at_the_price_of_the_prompt(
    memory: recollect.Memory, clock: FrozenClock
) -> None:
    model = ScriptedTalk(lambda _: "Yes.")

    async def change() -> None:
        async with minding(memory, model) as mind:
            await say(mind, "one")
            memory.notes.write("user.md", "Ada keeps bees.")
            clock.move(minutes=2)
            await say(mind, "two")
            await say(mind, "three")

    run(change())
    first, second, third = model.requests
    assert first.system == second.system == third.system
    told = [text for text in words_of(list(second.turns)) if "Ada keeps bees." in text]
    assert len(told) == 1
    assert sum("Ada keeps bees." in text for text in words_of(list(third.turns))) == 1
    assert list(third.turns[: len(second.turns)]) == list(second.turns)


@on_sqlite
def test_after_a_long_gap_the_prompt_is_built_anew_and_knows_the_change(
    memory: recollect.Memory, clock: FrozenClock
) -> None:
    model = ScriptedTalk(lambda _: "Yes.")

    async def gap() -> None:
        async with minding(memory, model) as mind:
            await say(mind, "one")
            memory.notes.write("user.md", "Ada keeps bees.")
            clock.move(minutes=61)
            await say(mind, "two")

    run(gap())
    first, second = model.requests
    assert "Ada keeps bees." not in "".join(first.system)
    assert "Ada keeps bees." in "".join(second.system)
    assert [event.outcome for event in memory.runs.latest("prefix")] == ["gap", "restart, first"]


def test_twenty_messages_from_three_channels_are_all_answered_in_order(memory: recollect.Memory) -> None:
    channels = [Listener(name) for name in ("terminal", "telegram", "web")]
    in_flight: list[int] = []

    def answer(request: object) -> str:
        in_flight.append(1)
        assert sum(in_flight) == 1
        in_flight.clear()
        return "All heard."

    async def storm() -> None:
        model = ScriptedTalk(answer)
        async with minding(memory, model, *channels) as mind:
            running = asyncio.ensure_future(mind.run())
            await asyncio.gather(
                *(mind.hear(Said(text=f"message {n}", channel=channels[n % 3].name)) for n in range(20))
            )
            await until(lambda: not mind._log.has_work())  # pyright: ignore[reportPrivateUsage]
            await until(lambda: all(channel.replies for channel in channels))
            await mind.close()
            await running
        told = [text for text in words_of(list(model.requests[-1].turns)) if text.startswith("message")]
        kept = [text for author, text in spoken(memory) if author == "user"]
        assert told == kept
        assert len(told) == 20

    run(storm())
    for channel in channels:
        turns = [reply.turn for _, reply in channel.replies]
        assert turns == sorted(set(turns))
        assert turns


def test_two_programs_with_one_mind_run_one_turn_at_a_time(memory: recollect.Memory) -> None:
    one, other = Listener("one"), Listener("other")

    async def both() -> None:
        first, second = ScriptedTalk(lambda _: "First."), ScriptedTalk(lambda _: "Second.")
        async with minding(memory, first, one) as holder, minding(memory, second, other) as guest:
            await say(holder, "hello", "one")
            await guest.hear(Said(text="me too", channel="other"))
            assert await guest.turn() is None
            await holder.turn()
            await guest.turn()
            assert other.texts == ["First."]
            await holder.close()
            await say(guest, "and now?", "other")
        assert [text for text in words_of(list(second.requests[0].turns)) if not text.startswith("[")] == [
            "hello", "First.", "me too", "First.", "and now?",
        ]  # fmt: skip

    run(both())
    assert other.texts == ["First.", "Second."]


@on_sqlite
def test_what_was_said_last_is_shown_to_who_comes_back(memory: recollect.Memory) -> None:
    talk(memory, ScriptedTalk([use("search_memory", {"query": "a"}), "Yes."]), "Do you know?")

    async def look() -> list[tuple[str, str]]:
        async with minding(memory, ScriptedTalk([])) as mind:
            return [(one.author, one.text) for one in mind.latest(5)]

    assert run(look()) == [("user", "Do you know?"), ("assistant", "Yes.")]


@on_sqlite
def test_an_agent_may_not_open_the_conversation(memory: recollect.Memory) -> None:
    talk(memory, ScriptedTalk(["Yes."]), "hello")
    with pytest.raises(Denied):
        memory.as_agent(memory.settings.agent_name).mind()


@on_sqlite
def test_tools_are_counted_and_shown_in_one_line(memory: recollect.Memory) -> None:
    channel = talk(memory, ScriptedTalk([use("sql", {"query": "SELECT 1"}), use("nothing", {}), said("Yes.")]), "go")

    results = [one for _, one in channel.shown if isinstance(one, ToolResult)]
    assert all("\n" not in one.line for one in results)
    assert memory.runs.latest("tool")[0].outcome == "failed"


@on_sqlite
def test_a_search_does_not_find_the_question_it_is_made_for(memory: recollect.Memory) -> None:
    talk(memory, ScriptedTalk(["Noted."]), "The well behind the house is 14 metres deep.")
    model = ScriptedTalk([use("search_memory", {"query": "How deep is the well?"}), "14 metres."])

    talk(memory, model, "How deep is the well?")

    result = model.requests[1].turns[-1].content[0]["content"]
    assert "14 metres deep" in result
    assert "How deep" not in result.replace("“How deep is the well?”", "")


@on_sqlite
def test_the_prompt_of_the_conversation_tells_what_it_is_and_scripts_nothing(open_house: OpenHouse) -> None:
    memory, model = open_house(user_name="Mara"), ScriptedTalk(["Yes."])

    talk(memory, model, "hello")

    told = "".join(model.requests[0].system)
    assert "Your conversation with Mara is one and has no end" in told
    assert prescriptions(told) == []


@on_sqlite
def test_an_answer_that_was_cut_off_says_so(memory: recollect.Memory) -> None:
    cut = Answer(blocks=({"type": "text", "text": "Once upon a"},), stop=Stop.LENGTH, usage=Usage(), model="m")

    channel = talk(memory, ScriptedTalk([cut]), "Tell me a story.")

    [(_, reply)] = channel.replies
    assert (reply.state, reply.text) == ("done", "Once upon a")
    assert "cut off" in reply.remark


@on_sqlite
def test_a_turn_in_which_the_program_always_ends_is_given_up(memory: recollect.Memory) -> None:
    async def die() -> None:
        model = ScriptedTalk([[HANG]])
        async with minding(memory, model, Listener()) as mind:
            await mind.hear(Said(text="go", channel="terminal"))
            turning = asyncio.ensure_future(mind.turn())
            await until(lambda: bool(model.requests))
            await mind.close()
            with pytest.raises(asyncio.CancelledError):
                await turning

    run(die())
    with memory.database.write() as session:
        assert session.value("SELECT attempts FROM mind_turns") == 1
        session.run("UPDATE mind_turns SET attempts = 25")
    channel = Listener()

    async def last() -> None:
        async with minding(memory, ScriptedTalk(["Now."]), channel) as mind:
            await mind.turn()
            await say(mind, "and now?")

    run(last())
    assert [reply.state for _, reply in channel.replies] == ["failed", "done"]
    assert "ended 25 times" in channel.texts[0]
