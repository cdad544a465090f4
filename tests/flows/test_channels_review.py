"""What somebody tries who wishes the house no good: strangers, guessers, forgers, and services that misbehave."""

import asyncio
import logging
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from bots import CHAT, Bot, asked, channel_events, echo, everything_in, heard, secret_of, talk_with
from conftest import OpenHouse
from doors import door_of
from minds import minding, on_sqlite, run
from webhooks import ADDRESS, SECRET, SOON, VARIABLE, Caller, Hook, a_known_caller, detail, sending, spoken

import recollect
from recollect.channels.telegram.client import BotClient
from recollect.channels.telegram.sending import NAME
from recollect.channels.webhook.receiving import PATH, Receiver
from recollect.channels.webhook.signing import secrets_in
from recollect.doctor.channels import channels
from recollect.errors import Invalid, NotFound
from recollect.listening import MOST_CONNECTIONS, Limits, listener, serve
from recollect.mind.channel import Reply
from recollect.mind.places.pairing import MOST_TRIES
from recollect.mind.places.places import Pairing
from recollect.testing import FrozenClock
from recollect.testing.scripted_talk import ScriptedTalk
from recollect.testing.telegram_server import Document, TelegramServer, bad_gateway, line_drops, refusal, slow_down

STRANGER = 666
WORDS = "Sell the swifts"
"""Of a stranger: nowhere in the house."""


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    with TelegramServer() as server:
        yield server


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, SECRET)


# Strangers


def _message(chat: dict[str, object], **content: object) -> dict[str, object]:
    person = {"id": STRANGER, "is_bot": False, "first_name": WORDS, "username": WORDS}
    return {"message_id": 5, "date": 1_790_000_000, "chat": chat, "from": person, **content}


@on_sqlite
def test_no_kind_of_update_brings_the_words_of_a_stranger_into_the_house(
    memory: recollect.Memory, server: TelegramServer, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    private: dict[str, object] = {"id": STRANGER, "type": "private", "first_name": WORDS, "username": WORDS}
    group: dict[str, object] = {"id": -100, "type": "supergroup", "title": WORDS}
    nested = _message(private, text=WORDS)
    asked_of_all = [
        ("message", _message(private, text=f"/start {WORDS}")),
        ("message", _message(private, text=f"/{WORDS.replace(' ', '_')} {WORDS}")),
        ("message", _message(private, text="hm", reply_to_message=nested, quote={"text": WORDS})),
        ("message", _message(private, text=WORDS, forward_origin={"type": "hidden_user", "sender_user_name": WORDS})),
        ("message", _message(private, contact={"first_name": WORDS, "phone_number": "1"})),
        ("message", _message(private, poll={"question": WORDS, "options": [{"text": WORDS}]})),
        ("message", _message(private, document={"file_id": "x", "file_name": f"{WORDS}.txt"}, caption=WORDS)),
        ("message", _message(private, pinned_message=nested)),
        ("message", _message(private, web_app_data={"data": WORDS, "button_text": WORDS})),
        ("message", _message(group, text=WORDS)),
        ("message", _message(group, migrate_to_chat_id=-200, new_chat_title=WORDS)),
        ("message", _message(group, migrate_to_chat_id=CHAT, text=WORDS)),
        ("edited_message", _message(private, text=WORDS, edit_date=1_790_000_001)),
        ("channel_post", _message({"id": -300, "type": "channel", "title": WORDS}, text=WORDS)),
        ("business_message", _message(private, text=WORDS, business_connection_id=WORDS)),
        ("callback_query", {"id": "1", "from": {"id": CHAT, "first_name": WORDS}, "data": WORDS, "message": nested}),
        ("inline_query", {"id": "1", "from": {"id": STRANGER, "first_name": WORDS}, "query": WORDS}),
        ("my_chat_member", {"chat": private, "from": {"first_name": WORDS}, "new_chat_member": {"status": WORDS}}),
        ("message_reaction", {"chat": private, "new_reaction": [{"type": "emoji", "emoji": WORDS}]}),
    ]

    async def story(bot: Bot) -> None:
        for kind, content in asked_of_all:
            server.push(kind, content)
        server.write(CHAT, "It is I")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)
        await bot.read_all(server)

    model = ScriptedTalk(echo)
    talk_with(memory, server, model, story)

    assert heard(memory) == ["It is I"]
    assert server.texts(STRANGER) == []
    assert server.calls("getFile") == 0
    assert channel_events(memory, "stranger") == [{"channel": NAME, "address": str(STRANGER)}]
    for text in (asked(model), caplog.text, everything_in(home).decode("utf-8", "replace")):
        assert WORDS not in text


@on_sqlite
def test_who_was_taken_from_the_list_is_a_stranger_again_and_gets_nothing_more(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    long = "word " * 3000

    async def story(bot: Bot) -> None:
        waiting = server.write(CHAT, "Tell me all")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)
        memory.places.remove(NAME, str(CHAT))
        server.fault("sendMessage")
        server.write(CHAT, WORDS)
        server.edit(CHAT, waiting["message"]["message_id"], WORDS)
        await bot.read_all(server)

    server.fault("sendMessage", None, *[bad_gateway()] * 3, slow_down(0.01), *[bad_gateway()] * 10)
    talk_with(memory, server, ScriptedTalk(long), story)

    assert heard(memory) == ["Tell me all"]
    assert len(server.texts(CHAT)) == 1


# A bot in the place of another


@on_sqlite
def test_a_new_bot_counts_its_messages_anew_and_each_is_heard(memory: recollect.Memory, server: TelegramServer) -> None:
    async def story(bot: Bot) -> None:
        server.write(CHAT, "by the first bot")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)

    async def later(bot: Bot) -> None:
        other.write(CHAT, "by the second bot")
        await bot.until(lambda: len(other.texts(CHAT)) == 1)

    talk_with(memory, server, ScriptedTalk(echo), story)
    with TelegramServer(token=f"{700000008}:{'AA' + 'y' * 33}") as other:
        talk_with(memory, other, ScriptedTalk(echo), later)

    assert heard(memory) == ["by the first bot", "by the second bot"]


@on_sqlite
def test_of_two_edits_in_one_second_none_is_lost(memory: recollect.Memory, server: TelegramServer) -> None:
    async def story(bot: Bot) -> None:
        first = server.write(CHAT, "At seven")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)
        for words in ("At eight", "At nine"):
            update = server.push("edited_message", {**first["message"], "text": words, "edit_date": 1_790_000_009})
            await bot.read_all(server)
            server.repeat(update)
        await bot.until(lambda: "nine" in server.texts(CHAT)[-1])

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert heard(memory) == ["At seven", "[Edited] At eight", "[Edited] At nine"]


# Codes


@on_sqlite
def test_a_code_that_a_known_chat_sends_is_not_said_to_the_agent(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    code = memory.places.new_code(NAME)

    async def story(bot: Bot) -> None:
        server.write(CHAT, code.text.lower())
        server.write(CHAT, "Everything")
        await bot.until(lambda: len(server.texts(CHAT)) == 2)
        await bot.read_all(server)

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert heard(memory) == ["Everything"]


@on_sqlite
def test_words_of_a_known_chat_that_could_be_a_code_use_up_no_tries(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    code = memory.places.new_code(NAME)

    async def story(bot: Bot) -> None:
        for _ in range(6):
            server.write(CHAT, "Everything")
        await bot.read_all(server)

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert memory.places.pair(NAME, "8", "Ada", code.text) is Pairing.PAIRED


@on_sqlite
def test_a_code_does_not_live_longer_when_the_clock_is_put_back(memory: recollect.Memory, clock: FrozenClock) -> None:
    code = memory.places.new_code(NAME)
    clock.now -= timedelta(days=2)

    assert memory.places.pair(NAME, "8", "Ada", code.text) is Pairing.NONE


# Files


@on_sqlite
@pytest.mark.parametrize("status", [403, 409, 502])
def test_a_file_that_never_comes_holds_up_nobody_for_ever(
    memory: recollect.Memory, server: TelegramServer, status: int
) -> None:
    async def story(bot: Bot) -> None:
        server.write(CHAT, "Look", document=Document(name="plan.pdf", data=b"%PDF"))
        server.write(CHAT, "And?")
        await bot.until(lambda: len(heard(memory)) == 2)

    server.fault("getFile", *[refusal(status, "no")] * 10_000)
    talk_with(memory, server, ScriptedTalk(echo), story)

    assert "plan.pdf" in heard(memory)[0]


# The webhook


@on_sqlite
@pytest.mark.parametrize(
    "raw",
    [
        rb'{"address": "+49301234", "\ud800": 1}',
        rb'{"address": "+49301234", "text": "a", "images": [{"media_type": "\ud800", "data": ""}]}',
        rb'{"address": "+49301234", "text": "a", "images": [{"media_type": "image/png", "data": "\ud800"}]}',
        rb'{"address": "\ud800"}',
        b'{"address": "+49301234", "text": ' + b"9" * 5000 + b"}",
        b'{"address": "+49301234", "text": ' + b"[" * 100_000,
        b'{"address": "+49301234", "text": "\xff"}',
        b'{"address": "+49301234", "text": NaN}',
        b'{"address": "+49301234\\u0000", "text": "a"}',
        b'{"address": "\\u202e+49301234", "text": "a"}',
        b"",
    ],
)
def test_no_signed_body_breaks_the_webhook(open_house: OpenHouse, raw: bytes) -> None:
    memory = open_house(webhook=SOON)

    async def flow() -> None:
        async with a_known_caller(memory) as caller:
            answer = await caller.post(raw)
            assert answer.status_code == 400, answer.text
            assert detail(answer)

    run(flow())
    assert spoken(memory) == []
    assert channel_events(memory, "failed") == []


@on_sqlite
def test_a_code_that_a_known_address_sends_is_not_said_to_the_agent(open_house: OpenHouse) -> None:
    memory = open_house(webhook=SOON)

    async def flow() -> None:
        async with a_known_caller(memory) as caller:
            code = memory.places.new_code("webhook")
            for _ in range(2):
                assert (await caller.say(code.text)).json()["paired"]
            assert (await caller.say("Everything", "msg_2")).status_code == 202
            assert (await caller.say(code.text, "msg_3", "+49 99")).json()["paired"]

    run(flow())
    assert spoken(memory) == ["Everything"]


@on_sqlite
@pytest.mark.parametrize("path", ["/v1/messages/", "//v1/messages", "/v1/messages/../messages", "/V1/messages"])
def test_no_other_spelling_of_the_path_leads_anywhere(open_house: OpenHouse, path: str) -> None:
    memory = open_house(webhook=SOON)

    async def flow() -> None:
        async with a_known_caller(memory) as caller:
            head = f"POST {path} HTTP/1.1\r\nhost: evil.example\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            told = await asyncio.to_thread(_raw_answer, caller.port, head.encode())
            assert b" 404 " in told.splitlines()[0]
            assert b"evil" not in told

    run(flow())


@on_sqlite
def test_lines_on_which_nobody_says_anything_keep_nobody_out(open_house: OpenHouse) -> None:
    memory = open_house(webhook=SOON)
    memory.places.allow("webhook", ADDRESS)

    async def flow() -> None:
        async with minding(memory, ScriptedTalk()) as mind:
            place = listener("127.0.0.1", 0, "The webhook", "webhook.listen")
            port = place.getsockname()[1]
            receiver = Receiver(door_of(memory, mind), secrets_in(SECRET, VARIABLE))
            serving = asyncio.create_task(serve(receiver.app(), [place], Limits(head_seconds=0.05)))
            lines = [socket.create_connection(("127.0.0.1", port)) for _ in range(MOST_CONNECTIONS)]
            for line in lines[::2]:
                line.sendall(f"POST {PATH} HTTP/1.1\r\nhost: here\r\n".encode())
            ended = await asyncio.to_thread(lambda: [_rest(line) for line in lines])
            assert ended == [b""] * MOST_CONNECTIONS
            clock = memory.clock
            assert isinstance(clock, FrozenClock)
            assert (await Caller(port=port, clock=clock).say("I come through.")).status_code == 202
            serving.cancel()
            await asyncio.wait({serving})

    run(flow())
    assert spoken(memory) == ["I come through."]


@on_sqlite
def test_who_speaks_no_http_leaves_nothing_in_the_log(open_house: OpenHouse, caplog: pytest.LogCaptureFixture) -> None:
    memory = open_house(webhook=SOON)
    close = "connection: close"
    upgrade = "connection: upgrade\r\nupgrade: websocket"

    async def flow() -> None:
        async with a_known_caller(memory) as caller:
            for head in (WORDS, f"POST {PATH} HTTP/1.1\r\nhost: a\r\nx y: {WORDS}", f"GET / HTTP/1.0\r\n{upgrade}"):
                told = await asyncio.to_thread(_raw_answer, caller.port, f"{head}\r\n{close}\r\n\r\n".encode())
                assert told.split()[1] in (b"400", b"404")

    run(flow())
    assert caplog.records == []


def _rest(line: socket.socket) -> bytes:
    """All that comes until the other side ends the line."""
    with line:
        line.settimeout(30)
        found = b""
        while piece := line.recv(65536):
            found += piece
        return found


def _raw_answer(port: int, sent: bytes) -> bytes:
    line = socket.create_connection(("127.0.0.1", port), timeout=30)
    line.sendall(sent)
    return _rest(line)


@on_sqlite
def test_an_answer_for_a_bridge_on_this_computer_goes_through_no_proxy(
    open_house: OpenHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Hook() as hook, Hook() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        memory = open_house(webhook={"url": f"{hook.url}/in"})

        async def flow() -> None:
            async with sending(memory) as webhook:
                await webhook.deliver(ADDRESS, Reply(turn=1, text="Yes.", at="2026-03-02T12:00:00.000Z"))

        run(flow())
        assert len(hook.ids) == 1
        assert proxy.requests == []


@on_sqlite
@pytest.mark.parametrize("path", ["/über/geheim-7", "/a b/geheim-7", "?k=geheim-7", "/%7Etilde/geheim-7"])
def test_an_address_that_is_a_secret_is_in_no_log_however_it_is_spelled(
    open_house: OpenHouse, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    caplog.set_level(logging.DEBUG)
    with Hook() as hook:
        memory = open_house(webhook={"url": hook.url.replace("127.0.0.1", "LOCALHOST") + path})

        async def flow() -> None:
            async with sending(memory) as webhook:
                await webhook.deliver(ADDRESS, Reply(turn=1, text="Yes.", at="2026-03-02T12:00:00.000Z"))

        run(flow())
        assert len(hook.ids) == 1
    assert "geheim-7" not in caplog.text


# Codes and secrets, wherever they could be kept


@on_sqlite
def test_many_guesses_at_once_have_no_more_tries_and_then_the_right_code_is_too_late(memory: recollect.Memory) -> None:
    code = memory.places.new_code(NAME)
    guesses = [f"0000{number:06d}" for number in range(MOST_TRIES + 4)]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda text: memory.places.pair(NAME, f"8{text}", "", text), guesses))

    assert found.count(Pairing.WRONG) == MOST_TRIES
    assert memory.places.pair(NAME, "8", "Ada", code.text) is Pairing.NONE
    assert memory.places.list() == []


@on_sqlite
def test_after_a_session_with_every_error_neither_token_nor_code_is_anywhere(
    memory: recollect.Memory, server: TelegramServer, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    code = memory.places.new_code(NAME)
    leaky = refusal(400, f"Bad Request: https://api/bot{server.token}/sendMessage")

    async def story(bot: Bot) -> None:
        server.write(STRANGER, "/start 00000-00000")
        server.write(CHAT, code.text)
        server.write(8, f"/start {code.text}")
        server.write(CHAT, "", photo=b"\x89PNG\r\n\x1a\n")
        server.write(CHAT, "", document=Document(name="a.bin", data=b"\xff"))
        await bot.read_all(server)
        for number in range(6):
            server.write(CHAT, f"Good morning {number}")
            await bot.read_all(server)
        await bot.until(lambda: "Good morning 5" in "".join(server.texts(CHAT)[-1:]))
        server.revoke()
        await bot.until(lambda: "token" in bot.told[-1] if bot.told else False)
        told.extend(bot.told)

    told: list[str] = []
    server.fault("getUpdates", bad_gateway(), refusal(409, "Conflict"), line_drops(), slow_down(0.01), leaky)
    server.fault("sendMessage", bad_gateway(), line_drops(has_effect=True), leaky, leaky, slow_down(0.01))
    server.fault("getFile", bad_gateway(), leaky)
    server.fault("file", bad_gateway(), line_drops())
    talk_with(memory, server, ScriptedTalk(echo), story)

    kept = everything_in(home).decode("utf-8", "replace")
    runs = repr(memory.runs.latest("", "", 1_000))
    assert memory.places.find(NAME, "8")
    for secret in (secret_of(server), code.text, code.text.replace("-", "")):
        for text in (kept, runs, caplog.text, repr(told)):
            assert secret not in text


@on_sqlite
def test_a_token_that_somebody_says_by_mistake_reaches_no_model(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    token = f"{812345678}:AA{'Hq7-x_Zk2' * 3}Lw9Tb4"

    async def story(bot: Bot) -> None:
        server.write(CHAT, f"My bot is {token}, what now?")
        server.write(CHAT, "", document=Document(name=f"{token}.txt", data=f"TOKEN={token}".encode()))
        await bot.until(lambda: len(heard(memory)) == 2)
        await bot.read_all(server)
        await bot.until(lambda: bool(server.texts(CHAT)) and "txt" in asked(model))

    model = ScriptedTalk(echo)
    talk_with(memory, server, model, story)

    assert token.partition(":")[2] not in repr([request.turns for request in model.requests])


# Names and files


@on_sqlite
def test_no_channel_brings_a_name_that_commands_a_terminal(memory: recollect.Memory) -> None:
    code = memory.places.new_code("pigeon")
    memory.places.pair("pigeon", "loft", "Ada\x1b[2J\x07 \u202eevol\r\n\x9b31m👩\u200d🚀\x00", code.text)

    assert [place.name for place in memory.places.list()] == ["Ada[2J evol 31m👩\u200d🚀\ufffd"]


@on_sqlite
def test_a_command_that_doctor_gives_has_an_address_as_one_word(memory: recollect.Memory) -> None:
    memory.places.allow("webhook", "+1 555; rm -r ~")
    memory.places.block("webhook", "+1 555; rm -r ~")

    found = "\n".join(repr(one) for one in channels(memory))

    assert "recollect channels remove webhook '+1 555; rm -r ~'" in found


@on_sqlite
def test_a_name_that_commands_a_terminal_is_kept_and_shown_as_words(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    code = memory.places.new_code(NAME)
    evil = "Ada\x1b]0;owned\x07\x1b[2J\u202egnp.exe\u2066\r\n" + "x" * 10_000

    async def story(bot: Bot) -> None:
        server.write(8, f"/start {code.text}", name=evil)
        await bot.read_all(server)
        server.write(CHAT, "", document=Document(name=f"../../{evil}/a\x00b.bin", data=b"\xff\xfe\xfd"))
        server.write(CHAT, "", document=Document(name="a.png", data=b"PK\x03\x04" + b"\xff" * 100))
        await bot.until(lambda: len(heard(memory)) == 2)

    model = ScriptedTalk(echo)
    talk_with(memory, server, model, story)

    place = memory.places.find(NAME, "8")
    assert place
    assert place.name.isprintable()
    assert len(place.name) <= 80
    named = [one.text for one in memory.history.export() if one.source == "recollect"]
    for text in (*named, *server.texts(CHAT)):
        assert not {"\x1b", "\x07", "\u202e", "\u2066", "\x00"} & set(text)
        assert len(text) < 1_000


@pytest.mark.parametrize("path", ["../../botX/getMe", "http://169.254.169.254/x", "//evil.example/x", "/etc/passwd"])
def test_where_a_file_is_cannot_lead_out_of_the_folder_of_files(server: TelegramServer, path: str) -> None:
    async def flow() -> None:
        client = BotClient(server.token, server.url)
        try:
            with pytest.raises((NotFound, Invalid)):
                await client.download(path, 1_000)
        finally:
            await client.close()

    run(flow())
    for request in server.requests:
        assert request.path.startswith(f"/file/bot{server.token}/")
