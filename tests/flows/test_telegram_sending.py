"""Answers as messages of Telegram: in parts, formatted, once each and in order, by one program at a time."""

import logging
import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from bots import CHAT, Bot, bot, echo, everything_in, heard, secret_of, talk_with
from minds import on_sqlite, run

import recollect
from recollect.channels.telegram.sending import KEPT, NAME, NO_WORDS, SENT_AGAIN, STOPPED
from recollect.errors import Denied
from recollect.jobs import JobStore
from recollect.mind.channel import Reply
from recollect.testing.scripted_talk import ScriptedTalk
from recollect.testing.telegram_server import TelegramServer, bad_gateway, line_drops, refusal, slow_down

EMOJI = "\N{GRINNING FACE}"


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    with TelegramServer() as server:
        yield server


@on_sqlite
def test_4096_emoji_come_and_go(memory: recollect.Memory, server: TelegramServer) -> None:
    """A message has at most 4,096 units of UTF-16: one of so many emoji comes in two."""

    async def story(bot: Bot) -> None:
        server.write(CHAT, EMOJI * 2_048)
        server.write(CHAT, EMOJI * 2_048)
        await bot.until(lambda: len(server.texts(CHAT)) >= 2)
        await bot.until(lambda: "".join(server.texts(CHAT)).count(EMOJI) >= 4_096)

    talk_with(memory, server, ScriptedTalk(lambda _: EMOJI * 4_096), story)

    assert heard(memory) == [EMOJI * 2_048] * 2
    assert all(set(text) == {EMOJI} for text in server.texts(CHAT))


@on_sqlite
def test_formatting_is_sent_and_where_it_is_refused_the_words_are(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    async def story(bot: Bot) -> None:
        server.write(CHAT, "one")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)
        server.fault("sendMessage", refusal(400, "Bad Request: ENTITY_BOUNDS_INVALID"))
        server.write(CHAT, "two")
        await bot.until(lambda: len(server.texts(CHAT)) == 2)

    talk_with(memory, server, ScriptedTalk(lambda _: "A **bold** word"), story)

    assert server.texts(CHAT) == ["A bold word"] * 2
    assert [[entity["type"] for entity in sent.entities] for sent in server.sent[CHAT]] == [["bold"], []]


@on_sqlite
def test_a_long_answer_whose_middle_fails_sends_no_part_twice(memory: recollect.Memory, server: TelegramServer) -> None:
    paragraphs = [f"{number} " + "word " * 700 for number in range(4)]

    async def story(bot: Bot) -> None:
        server.fault("sendMessage", None, slow_down(0.01), slow_down(0.01), None, None)
        server.write(CHAT, "Tell me all")
        await bot.until(lambda: len(server.texts(CHAT)) == 4)

    talk_with(memory, server, ScriptedTalk(lambda _: "\n\n".join(paragraphs)), story)

    assert [text.split()[0] for text in server.texts(CHAT)] == ["0", "1", "2", "3"]
    assert " ".join(server.texts(CHAT)).split() == " ".join(paragraphs).split()


@on_sqlite
@pytest.mark.parametrize("fault", [line_drops(has_effect=True), line_drops(), bad_gateway(has_effect=True)])
def test_what_may_have_arrived_is_sent_again_with_a_line_before_it(
    memory: recollect.Memory, server: TelegramServer, fault: Any
) -> None:
    async def story(bot: Bot) -> None:
        server.fault("sendMessage", fault)
        server.write(CHAT, "Hello")
        await bot.until(lambda: any(SENT_AGAIN in text for text in server.texts(CHAT)))

    talk_with(memory, server, ScriptedTalk(lambda _: "Some **words**"), story)

    *before, again = server.sent[CHAT]
    assert [message.text for message in before] == ["Some words"] * fault.has_effect
    assert again.text == f"{SENT_AGAIN}\n\nSome words"
    assert [again.text[one["offset"] :][: one["length"]] for one in again.entities] == ["words"]


@on_sqlite
def test_of_a_long_answer_only_the_part_that_may_have_arrived_is_sent_again(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    paragraphs = [f"{number} " + "word " * 810 for number in range(3)]

    async def story(bot: Bot) -> None:
        server.fault("sendMessage", None, line_drops())
        server.write(CHAT, "Tell me all")
        await bot.until(lambda: any(text.startswith("2 ") for text in server.texts(CHAT)))

    talk_with(memory, server, ScriptedTalk(lambda _: "\n\n".join(paragraphs)), story)

    all_of_it = " ".join(server.texts(CHAT)).replace(SENT_AGAIN, " ")
    assert all_of_it.split() == " ".join(paragraphs).split()
    assert " ".join(server.texts(CHAT)).count(SENT_AGAIN) == 1


@on_sqlite
def test_a_chat_that_blocked_the_bot_is_known_as_blocked_until_it_writes_again(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    def state() -> str:
        place = memory.places.find(NAME, str(CHAT))
        return place.state if place else ""

    async def story(bot: Bot) -> None:
        server.block(CHAT)
        server.write(CHAT, "one")
        await bot.until(lambda: state() == "blocked")
        server.unblock(CHAT)
        server.write(CHAT, "two")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert server.texts(CHAT) == ["You said: two"]
    assert state() == "paired"


@on_sqlite
def test_a_token_that_is_revoked_while_it_runs_is_told_and_no_answer_is_lost(
    memory: recollect.Memory, server: TelegramServer, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    ready = threading.Event()

    async def story(bot: Bot) -> None:
        server.write(CHAT, "Hello")
        await bot.until(model.asked.is_set)
        server.revoke()
        ready.set()
        await bot.until(lambda: any("@BotFather" in words for words in bot.told))
        server.restore()
        await bot.until(lambda: len(server.texts(CHAT)) == 1)
        await bot.until(lambda: bot.told[-1] == "")
        assert not [words for words in bot.told if secret_of(server) in words]

    model = ScriptedTalk(echo, until=ready)
    talk_with(memory, server, model, story)

    assert server.texts(CHAT)[0].endswith("You said: Hello")
    assert secret_of(server) not in caplog.text
    memory.close()
    assert secret_of(server).encode() not in everything_in(home.parent)


@on_sqlite
def test_that_it_types_is_shown_while_a_turn_runs(memory: recollect.Memory, server: TelegramServer) -> None:
    ready = threading.Event()

    async def story(bot: Bot) -> None:
        server.fault("sendChatAction", line_drops(), slow_down(0.01))
        server.write(CHAT, "Hello")
        await bot.until(lambda: server.actions.count((CHAT, "typing")) >= 3)
        ready.set()
        await bot.until(lambda: len(server.texts(CHAT)) == 1)

    talk_with(memory, server, ScriptedTalk(echo, until=ready), story)


@on_sqlite
def test_a_turn_that_fails_says_so_and_that_nothing_is_lost(memory: recollect.Memory, server: TelegramServer) -> None:
    async def story(bot: Bot) -> None:
        server.write(CHAT, "Hello")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)

    talk_with(memory, server, ScriptedTalk([Denied("The key is no key.")]), story)

    assert server.texts(CHAT)[0].endswith(KEPT)
    assert "The key is no key." in server.texts(CHAT)[0]


@on_sqlite
def test_an_answer_that_telegram_refuses_keeps_the_next_from_nothing(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    async def story(bot: Bot) -> None:
        server.fault("sendMessage", refusal(400, "Bad Request: odd"))
        server.write(CHAT, "one")
        await bot.until(lambda: server.calls("sendMessage") == 1)
        server.write(CHAT, "two")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert server.texts(CHAT) == ["You said: two"]


@on_sqlite
def test_the_line_is_before_the_one_part_of_which_nobody_knows(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    paragraphs = [f"{number} " + "word " * 790 for number in range(3)]

    async def story(bot: Bot) -> None:
        server.fault("sendMessage", line_drops(has_effect=True), slow_down(0.01), None, slow_down(0.01), None, None)
        server.write(CHAT, "Tell me all")
        await bot.until(lambda: any(text.startswith("2 ") for text in server.texts(CHAT)))

    talk_with(memory, server, ScriptedTalk(lambda _: "\n\n".join(paragraphs)), story)

    beginnings = [text.removeprefix(SENT_AGAIN).split()[0] for text in server.texts(CHAT)]
    assert beginnings == ["0", "0", "1", "2"]
    assert [SENT_AGAIN in text for text in server.texts(CHAT)] == [False, True, False, False]


@on_sqlite
def test_a_sentence_of_the_channel_that_never_goes_out_keeps_nobody_from_being_heard(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    async def story(bot: Bot) -> None:
        server.fault("sendMessage", *[slow_down(0.01)] * 5)
        server.write(CHAT, "/help")
        server.write(CHAT, "Hello")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert server.texts(CHAT) == ["You said: Hello"]


@on_sqlite
def test_an_answer_without_words_says_so(memory: recollect.Memory, server: TelegramServer) -> None:
    sent: list[str] = []

    async def story(bot: Bot) -> None:
        server.write(CHAT, "/start")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)
        for number, reply in enumerate(
            [
                Reply(turn=101, text="", at=""),
                Reply(turn=102, text=" \n", at="", state="stopped"),
                Reply(turn=103, text="Cut", at="", remark="It was cut off."),
                Reply(turn=104, text="<!-- hidden -->", at=""),
            ],
            2,
        ):
            await bot.channel.deliver(str(CHAT), reply)
            await bot.until(lambda number=number: len(server.texts(CHAT)) == number)
        sent.extend(server.texts(CHAT)[1:])

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert sent[:3] == [NO_WORDS, STOPPED, "Cut\n\n(It was cut off.)"]
    assert sent[3].strip()


# Several programs and places


def test_of_two_programs_one_reads_and_the_other_takes_over(memory: recollect.Memory, server: TelegramServer) -> None:
    model = ScriptedTalk(echo)
    memory.places.allow(NAME, str(CHAT))

    async def story() -> None:
        async with AsyncExitStack() as later:
            async with bot(memory, server, model) as first:
                await first.until(lambda: first.channel.takes(str(CHAT)))
                second = await later.enter_async_context(bot(memory, server, model))
                for number in (1, 2):
                    server.write(CHAT, f"message {number}")
                    await first.until(lambda number=number: len(server.texts(CHAT)) == number)
                assert [one.channel.takes(str(CHAT)) for one in (first, second)] == [True, False]
            server.write(CHAT, "message 3")
            await second.until(lambda: len(server.texts(CHAT)) == 3)

    run(story())

    assert heard(memory) == ["message 1", "message 2", "message 3"]
    assert server.texts(CHAT) == [f"You said: message {number}" for number in (1, 2, 3)]


@on_sqlite
def test_a_program_that_lost_its_lease_in_its_sleep_handles_nothing(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    async def story(bot: Bot) -> None:
        await bot.until(lambda: server.calls("getUpdates") > 0)
        with memory.database.write() as session:
            JobStore(session, memory.settings.house).remove(NAME, server.token.partition(":")[0])
            other = JobStore(session, memory.settings.house)
            other.add(NAME, server.token.partition(":")[0], memory.clock())
            assert other.claim(NAME, "another computer", memory.clock(), 30)
        server.write(CHAT, "for the other one")
        await bot.until(lambda: not bot.channel.takes(str(CHAT)))

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert heard(memory) == []
    assert len(server.unconfirmed) == 1


@on_sqlite
def test_another_program_that_reads_for_the_bot_is_told(memory: recollect.Memory, server: TelegramServer) -> None:
    async def story(bot: Bot) -> None:
        server.webhook_url = "https://example.com"
        await bot.until(lambda: any("deleteWebhook" in words for words in bot.told))
        server.webhook_url = ""
        server.write(CHAT, "Hello")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)
        assert bot.told[-1] == ""

    talk_with(memory, server, ScriptedTalk(echo), story)


@on_sqlite
def test_two_chats_of_one_person_are_answered_each(memory: recollect.Memory, server: TelegramServer) -> None:
    async def story(bot: Bot) -> None:
        server.write(CHAT, "by the phone")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)
        server.write(8, "by the tablet")
        await bot.until(lambda: len(server.texts(8)) == 1)

    memory.places.allow(NAME, "8")
    talk_with(memory, server, ScriptedTalk(echo), story)

    assert (server.texts(CHAT), server.texts(8)) == (["You said: by the phone"], ["You said: by the tablet"])
