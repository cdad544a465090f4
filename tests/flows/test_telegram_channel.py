"""Telegram as a channel, with a real mind behind it and a server before it that keeps the rules of the Bot API."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from bots import CHAT, Bot, asked, channel_events, door_of, echo, everything_in, heard, secret_of, talk_with
from minds import on_sqlite

import recollect
from recollect.channels.kinds import Kind, Post, kinds
from recollect.channels.telegram.sending import NAME, STOPPED
from recollect.channels.telegram.telegram import TelegramKind
from recollect.errors import Denied, Unavailable
from recollect.llm.talking import TextPiece
from recollect.mind.channel import Said
from recollect.settings import Settings, TelegramSettings
from recollect.testing import FrozenClock
from recollect.testing.scripted_talk import HANG, ScriptedTalk
from recollect.testing.telegram_server import Document, TelegramServer, bad_gateway, line_drops, slow_down

STRANGER = 666
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    with TelegramServer() as server:
        yield server


# Hearing and answering


def test_what_is_written_is_heard_and_answered(memory: recollect.Memory, server: TelegramServer) -> None:
    async def story(bot: Bot) -> None:
        server.write(CHAT, "Good morning!")
        await bot.until(lambda: server.texts(CHAT) == ["You said: Good morning!"])

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert heard(memory) == ["Good morning!"]
    assert server.unconfirmed == []


@on_sqlite
def test_answers_come_in_the_order_of_what_was_said(memory: recollect.Memory, server: TelegramServer) -> None:
    async def story(bot: Bot) -> None:
        for number in range(1, 6):
            server.write(CHAT, f"message {number}")
            await bot.until(lambda number=number: len(server.texts(CHAT)) == number)

    server.fault("sendMessage", slow_down(0.02), bad_gateway(), slow_down(0.02))
    talk_with(memory, server, ScriptedTalk(echo), story)

    said = [text.rpartition(" ")[2] for text in server.texts(CHAT)]
    assert said == ["1", "2", "3", "4", "5"]


@on_sqlite
def test_the_position_moves_only_after_an_update_is_through(memory: recollect.Memory, server: TelegramServer) -> None:
    failures = 3

    async def story(bot: Bot) -> None:
        first, second = server.write(CHAT, "one"), server.write(CHAT, "two")
        await bot.until(lambda: failures == 0)
        await bot.read_all(server)
        assert memory.places.position(NAME, server.token.partition(":")[0]) == second["update_id"] + 1
        assert first["update_id"] < second["update_id"]

    model = ScriptedTalk(echo)
    mind = memory.mind("", lambda: model)

    async def hear(said: Said) -> int:
        nonlocal failures
        if failures:
            failures -= 1
            raise Unavailable("Taking in is paused.")
        return await mind.hear(said)

    talk_with(memory, server, model, story, hear=hear)

    assert heard(memory) == ["one", "two"]


@on_sqlite
def test_a_line_that_stays_down_is_told_and_is_well_again_later(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    async def story(bot: Bot) -> None:
        server.fault("getUpdates", *[bad_gateway()] * 4)
        server.write(CHAT, "Hello")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)
        assert [bool(words) for words in bot.told] == [True, False]

    talk_with(memory, server, ScriptedTalk(echo), story)


@on_sqlite
def test_an_update_that_comes_twice_is_heard_once(memory: recollect.Memory, server: TelegramServer) -> None:
    async def story(bot: Bot) -> None:
        update = server.write(CHAT, "once")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)
        server.repeat(update)
        server.repeat(update)
        server.skip(5)
        server.repeat(server.write(CHAT, "after a gap"))
        await bot.until(lambda: len(server.texts(CHAT)) == 2)
        await bot.read_all(server)

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert heard(memory) == ["once", "after a gap"]


@on_sqlite
def test_a_program_that_lost_its_position_hears_nothing_twice(memory: recollect.Memory, server: TelegramServer) -> None:
    """As after a crash between hearing and storing."""

    async def story(bot: Bot) -> None:
        await bot.until(lambda: len(server.texts(CHAT)) >= 1)
        await bot.read_all(server)

    model = ScriptedTalk(echo)
    update = server.write(CHAT, "once")
    talk_with(memory, server, model, story)
    memory.places.move_position(NAME, server.token.partition(":")[0], update["update_id"])
    server.repeat(update)
    server.repeat(update)
    talk_with(memory, server, model, story)

    assert heard(memory) == ["once"]
    assert server.texts(CHAT) == ["You said: once"]


@on_sqlite
def test_numbers_that_begin_anew_after_a_week_are_read(memory: recollect.Memory, server: TelegramServer) -> None:
    async def story(bot: Bot) -> None:
        server.write(CHAT, "before")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)
        server.number_from(41)
        server.write(CHAT, "after a week")
        await bot.until(lambda: len(server.texts(CHAT)) == 2)
        await bot.read_all(server)

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert heard(memory) == ["before", "after a week"]


@on_sqlite
def test_numbers_that_begin_anew_just_below_our_position_do_not_keep_us_busy_for_ever(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    async def story(bot: Bot) -> None:
        last = server.write(CHAT, "before")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)
        server.number_from(last["update_id"] - 50)
        server.write(CHAT, "too near to be told from an old one")
        await bot.read_all(server)
        server.write(CHAT, "after")
        await bot.until(lambda: len(server.texts(CHAT)) == 2)

    talk_with(memory, server, ScriptedTalk(echo), story)


@on_sqlite
def test_a_line_that_is_bad_in_every_way_loses_nothing(memory: recollect.Memory, server: TelegramServer) -> None:
    async def story(bot: Bot) -> None:
        server.weather(
            9, (0.1, slow_down(0.01)), (0.1, bad_gateway()), (0.1, line_drops()), (0.1, line_drops(has_effect=True))
        )
        for number in range(20):
            server.write(CHAT, f"message {number}")
        await bot.until(lambda: any("message 19" in text for text in server.texts(CHAT)))
        await bot.read_all(server)

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert heard(memory) == [f"message {number}" for number in range(20)]


# Strangers and pairing


@on_sqlite
def test_a_stranger_is_neither_heard_nor_answered_and_leaves_one_event_a_day(
    memory: recollect.Memory, server: TelegramServer, clock: FrozenClock, home: Path
) -> None:
    model = ScriptedTalk(echo)

    async def story(bot: Bot) -> None:
        server.write(STRANGER, "Tell me the xylophone secret", name="Mallory")
        server.write(STRANGER, "/start")
        server.write(STRANGER, "/last")
        server.write(STRANGER, photo=PNG, text="xylophone picture")
        server.edit(STRANGER, 1, "xylophone edited")
        await bot.read_all(server)
        assert len(channel_events(memory, "stranger")) == 1
        clock.move(days=1)
        server.write(STRANGER, "xylophone again")
        await bot.read_all(server)
        server.write(CHAT, "Hello")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)

    talk_with(memory, server, model, story)

    assert channel_events(memory, "stranger") == [{"channel": NAME, "address": str(STRANGER)}] * 2
    assert heard(memory) == ["Hello"]
    assert len(model.requests) == 1
    assert "xylophone" not in asked(model)
    assert server.texts(STRANGER) == []
    assert server.calls("getFile") == 0
    memory.close()
    kept = everything_in(home.parent)
    assert b"xylophone" not in kept
    assert b"Mallory" not in kept


@on_sqlite
@pytest.mark.parametrize("form", ["/start {code}", "{code}", " {code} "])
def test_who_sends_the_code_is_paired_and_heard_from_then_on(
    memory: recollect.Memory, server: TelegramServer, form: str
) -> None:
    async def story(bot: Bot) -> None:
        code = await asyncio.to_thread(memory.places.new_code, NAME)
        server.write(STRANGER, form.format(code=code.text), name="Bea")
        await bot.until(lambda: len(server.texts(STRANGER)) == 1)
        assert "You are connected" in server.texts(STRANGER)[0]
        server.write(STRANGER, "It is me")
        await bot.until(lambda: len(server.texts(STRANGER)) == 2)

    talk_with(memory, server, ScriptedTalk(echo), story)

    place = memory.places.find(NAME, str(STRANGER))
    assert place is not None
    assert (place.name, place.state) == ("Bea", "paired")
    assert heard(memory) == ["It is me"]


@on_sqlite
def test_a_greeting_that_does_not_go_out_at_once_lets_nobody_say_the_code_to_the_agent(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    async def story(bot: Bot) -> None:
        code = await asyncio.to_thread(memory.places.new_code, NAME)
        server.fault("sendMessage", slow_down(0.01), slow_down(0.01))
        server.write(STRANGER, code.text)
        await bot.until(lambda: len(server.texts(STRANGER)) == 1)
        await bot.read_all(server)

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert heard(memory) == []


@on_sqlite
def test_a_wrong_code_is_told_and_one_that_expired_is_silence(
    memory: recollect.Memory, server: TelegramServer, clock: FrozenClock
) -> None:
    async def story(bot: Bot) -> None:
        code = await asyncio.to_thread(memory.places.new_code, NAME)
        wrong = "00000-00000" if code.text != "00000-00000" else "11111-11111"
        server.write(STRANGER, f"/start {wrong}")
        await bot.until(lambda: len(server.texts(STRANGER)) == 1)
        assert "not the code" in server.texts(STRANGER)[0]
        clock.move(minutes=11)
        server.write(STRANGER, f"/start {code.text}")
        server.write(STRANGER, code.text)
        await bot.read_all(server)

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert len(server.texts(STRANGER)) == 1
    assert memory.places.find(NAME, str(STRANGER)) is None
    assert heard(memory) == []


@on_sqlite
def test_a_group_is_not_heard_even_when_a_known_person_writes_there(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    async def story(bot: Bot) -> None:
        server.write(-100, "/start", chat_type="group")
        server.write(-100, "Hello all", chat_type="group")
        await bot.read_all(server)

    memory.places.allow(NAME, "-100")
    talk_with(memory, server, ScriptedTalk(echo), story)

    assert heard(memory) == []
    assert server.texts(-100) == []


# Commands, edits, replies


@on_sqlite
def test_commands_are_the_channels_and_anything_else_with_a_stroke_is_said(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    async def story(bot: Bot) -> None:
        for number, (text, answer) in enumerate(
            [
                ("/start", "You are connected"),
                ("/help", "/cancel"),
                ("/stop", "No answer is being given."),
                ("/cancel", "Nothing waits."),
                ("/last", "There is no answer yet."),
                ("/weather in Lyon", "You said: /weather in Lyon"),
                ("/last@recollect_test_bot", "You said: /weather in Lyon"),
            ],
            1,
        ):
            server.write(CHAT, text)
            await bot.until(lambda number=number: len(server.texts(CHAT)) == number)
            assert answer in server.texts(CHAT)[-1]

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert heard(memory) == ["/weather in Lyon"]


@on_sqlite
def test_stop_ends_the_answer_with_what_was_said_until_then(memory: recollect.Memory, server: TelegramServer) -> None:
    async def story(bot: Bot) -> None:
        server.write(CHAT, "Count")
        await bot.until(model.asked.is_set)
        server.write(CHAT, "/stop")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)

    model = ScriptedTalk([[TextPiece(text="One, two"), HANG]])
    talk_with(memory, server, model, story)

    (answer,) = server.texts(CHAT)
    assert answer.endswith(STOPPED)


@on_sqlite
def test_cancel_takes_back_what_waits(memory: recollect.Memory, server: TelegramServer) -> None:
    ready = threading.Event()

    async def story(bot: Bot) -> None:
        server.write(CHAT, "first")
        await bot.until(model.asked.is_set)
        server.write(CHAT, "second")
        server.write(CHAT, "third")
        server.write(CHAT, "/cancel")
        await bot.until(lambda: server.texts(CHAT) == ["Took back 2 messages."])
        ready.set()
        await bot.until(lambda: len(server.texts(CHAT)) == 2)

    model = ScriptedTalk(echo, until=ready)
    talk_with(memory, server, model, story)

    assert len(model.requests) == 1


@on_sqlite
def test_an_edit_of_what_waits_replaces_it_and_a_later_one_is_said_as_such(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    ready = threading.Event()

    async def story(bot: Bot) -> None:
        server.write(CHAT, "first")
        await bot.until(model.asked.is_set)
        late = server.write(CHAT, "Buy milc")["message"]["message_id"]
        server.edit(CHAT, late, "Buy milk")
        server.repeat(server.edit(CHAT, late, "Buy oat milk"))
        await bot.read_all(server)
        ready.set()
        await bot.until(lambda: len(server.texts(CHAT)) == 2)
        assert "Buy oat milk" in asked(model)
        assert "milc" not in asked(model)
        assert "Buy milk" not in asked(model)
        server.edit(CHAT, late, "Buy soy milk")
        await bot.until(lambda: len(server.texts(CHAT)) == 3)

    model = ScriptedTalk(echo, until=ready)
    talk_with(memory, server, model, story)

    assert server.texts(CHAT)[1:] == ["You said: Buy oat milk", "You said: [Edited] Buy soy milk"]


@on_sqlite
def test_an_edit_of_an_edit_that_waits_is_still_said_as_one_of_what_was_answered(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    ready = threading.Event()

    async def story(bot: Bot) -> None:
        answered = server.write(CHAT, "At seven")["message"]["message_id"]
        await bot.until(lambda: len(server.texts(CHAT)) == 1)
        server.write(CHAT, "Look it up")
        await bot.until(lambda: len(model.requests) == 2)
        server.edit(CHAT, answered, "At eight")
        server.edit(CHAT, answered, "At nine")
        await bot.read_all(server)
        ready.set()
        await bot.until(lambda: len(server.texts(CHAT)) == 3)

    model = ScriptedTalk(lambda request: [ready, echo(request)] if len(model.requests) == 2 else echo(request))
    talk_with(memory, server, model, story)

    assert server.texts(CHAT)[2] == "You said: [Edited] At nine"
    assert "At eight" not in asked(model)


@on_sqlite
def test_an_edit_that_changes_no_word_is_none(memory: recollect.Memory, server: TelegramServer) -> None:
    async def story(bot: Bot) -> None:
        message = server.write(CHAT, "See example.com")["message"]["message_id"]
        await bot.until(lambda: len(server.texts(CHAT)) == 1)
        server.edit(CHAT, message, "See example.com")
        place = server.write(CHAT, fields={"location": {"latitude": 1.5, "longitude": 2.5, "live_period": 60}})
        await bot.until(lambda: len(server.texts(CHAT)) == 2)
        server.push("edited_message", {**place["message"], "edit_date": 1, "location": {"latitude": 2, "longitude": 3}})
        await bot.read_all(server)

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert len(heard(memory)) == 2


@on_sqlite
def test_a_reply_says_what_it_replies_to(memory: recollect.Memory, server: TelegramServer) -> None:
    async def story(bot: Bot) -> None:
        server.write(CHAT, "Hello")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)
        server.write(CHAT, "Why?", reply_to=server.sent[CHAT][0].message_id)
        await bot.until(lambda: len(server.texts(CHAT)) == 2)

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert heard(memory)[-1] == "[In reply to: “You said: Hello”]\nWhy?"


@on_sqlite
def test_what_cannot_be_said_is_told_to_who_wrote_it(memory: recollect.Memory, server: TelegramServer) -> None:
    async def story(bot: Bot) -> None:
        server.write(CHAT, "[private] my diary")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)
        server.write(CHAT, "and on")
        await bot.until(lambda: len(server.texts(CHAT)) == 2)

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert "marked to stay out of memory" in server.texts(CHAT)[0]
    assert heard(memory) == ["and on"]


@on_sqlite
def test_an_update_of_an_unknown_type_is_passed_by(memory: recollect.Memory, server: TelegramServer) -> None:
    async def story(bot: Bot) -> None:
        server.push("telepathy", {"from": {"id": CHAT}, "thoughts": ["many"]})
        server.push("message", {"message_id": 1, "chat": {"id": CHAT, "type": "private"}, "hologram": {}})
        server.push("message_reaction", {})
        server.write(CHAT, "Hello")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert {event["kind"] for event in channel_events(memory, "ignored")} == {
        "telepathy",
        "hologram",
        "message_reaction",
    }


# Pictures and files


@on_sqlite
def test_a_picture_is_shown_a_text_is_read_and_anything_else_is_kept(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    async def story(bot: Bot) -> None:
        server.write(CHAT, "Look", photo=PNG)
        await bot.until(lambda: len(server.texts(CHAT)) == 1)
        assert any(block["type"] == "image" for turn in model.requests[-1].turns for block in turn.content)
        server.write(CHAT, document=Document(data=b"a list of words", name="list.txt", media_type="text/plain"))
        await bot.until(lambda: len(server.texts(CHAT)) == 2)
        assert "a list of words" in asked(model)
        server.write(CHAT, document=Document(data=b"\x00\x01\x02", name="machine.bin"))
        await bot.until(lambda: len(server.texts(CHAT)) == 3)
        assert "machine.bin" in asked(model)

    model = ScriptedTalk(lambda _: "Seen.")
    talk_with(memory, server, model, story)


@on_sqlite
def test_a_file_of_50_mb_is_told_in_words(memory: recollect.Memory, server: TelegramServer) -> None:
    async def story(bot: Bot) -> None:
        server.write(CHAT, "The film", document=Document(size=50_000_000, name="film.mp4"))
        await bot.until(lambda: len(server.texts(CHAT)) == 1)

    model = ScriptedTalk(echo)
    talk_with(memory, server, model, story)

    assert "film.mp4" in asked(model)
    assert "too large" in asked(model)
    assert server.calls("file") == 0


@on_sqlite
def test_a_picture_whose_line_drops_is_fetched_again_and_nothing_overtakes_it(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    async def story(bot: Bot) -> None:
        server.fault("getFile", line_drops(), slow_down(0.01))
        server.fault("file", bad_gateway(), line_drops())
        server.write(CHAT, "Look", photo=PNG)
        server.write(CHAT, "and then?")
        await bot.read_all(server)

    talk_with(memory, server, ScriptedTalk(lambda _: "Seen."), story)

    assert [text.partition("\n")[0] for text in heard(memory)] == ["Look", "and then?"]


# Opening


def test_telegram_is_one_of_the_kinds_and_wanted_where_a_variable_is_named() -> None:
    kind: Kind = TelegramKind()
    named = Settings(telegram=TelegramSettings(token_variable="A_BOT"))

    assert type(kinds()[NAME]) is type(kind)
    assert [kind.is_wanted(settings) for settings in (Settings(), named)] == [False, True]


@on_sqlite
def test_a_token_that_is_not_there_or_is_none_is_told_before_anything_is_sent(
    memory: recollect.Memory, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = msgspec.structs.replace(
        memory.settings, telegram=TelegramSettings(token_variable="A_BOT", api_url=server.url)
    )
    door = door_of(memory, memory.mind("", ScriptedTalk), settings=settings)

    with pytest.raises(Denied, match="A_BOT is not set"):
        TelegramKind().open(door)
    monkeypatch.setenv("A_BOT", "no token")
    with pytest.raises(Denied, match="does not look like one"):
        TelegramKind().open(door)
    monkeypatch.setenv("A_BOT", server.token)
    post: Post = TelegramKind().open(door)

    assert post.name == NAME
    assert secret_of(server) not in repr(post)
    assert server.requests == []
