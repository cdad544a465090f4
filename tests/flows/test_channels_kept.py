"""What a second review of the channels found: a pause that leaks, what hangs, what is broken, what is not Telegram."""

import asyncio
import base64
from collections.abc import Iterator
from pathlib import Path

import commands
import pytest
from bots import CHAT, Bot, echo, heard, talk_with
from commands import run as run_command
from minds import Listener, minding, on_sqlite, run, say
from residue import tables_with

import recollect
from recollect.channels.telegram import hearing
from recollect.channels.telegram.client import BotClient
from recollect.channels.telegram.errors import NotTheApi
from recollect.channels.telegram.formatting import formatted
from recollect.channels.telegram.sending import NAME
from recollect.clock import to_text
from recollect.errors import Unavailable
from recollect.mind.channel import File, Paused, Reply, Said
from recollect.mind.delivering import Delivering
from recollect.mind.places.pairing import LIFETIME, MOST_OF_ONE, Tries
from recollect.testing import FrozenClock
from recollect.testing.loopback import Response
from recollect.testing.scripted_talk import ScriptedTalk
from recollect.testing.telegram_rules import bad_gateway
from recollect.testing.telegram_server import TelegramServer
from recollect.testing.telegram_updates import Document


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    with TelegramServer() as running:
        yield running


# A pause


@on_sqlite
def test_what_is_written_while_taking_in_is_paused_stays_out_and_the_person_is_told(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    async def story(bot: Bot) -> None:
        memory.history.pause()
        server.write(CHAT, "My diagnosis.")
        await bot.until(lambda: len(server.texts(CHAT)) == 1)
        server.write(CHAT, "/help")
        await bot.until(lambda: len(server.texts(CHAT)) == 2)
        memory.history.resume()
        server.write(CHAT, "Good morning.")
        await bot.until(lambda: len(server.texts(CHAT)) == 3)
        await bot.read_all(server)

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert heard(memory) == ["Good morning."]
    assert "paused" in server.texts(CHAT)[0]


@on_sqlite
def test_what_was_said_in_a_pause_stays_out_also_when_it_arrives_after_it(
    memory: recollect.Memory, clock: FrozenClock
) -> None:
    memory.history.pause()
    clock.move(minutes=5)
    in_between = to_text(clock())
    clock.move(minutes=5)
    memory.history.resume()

    async def all_of_it() -> None:
        async with minding(memory, ScriptedTalk(["Fine."])) as mind:
            with pytest.raises(Paused):
                await mind.hear(Said(text="My diagnosis.", channel="telegram", at=in_between))
            await mind.hear(Said(text="Good morning.", channel="telegram", at=to_text(clock())))
            await mind.turn()

    run(all_of_it())
    assert {one.text for one in memory.history.export()} == {"Good morning.", "Fine."}


# What hangs, and what is broken


class Stuck(Listener):
    """It takes an answer and never comes back."""

    async def deliver(self, address: str, reply: Reply) -> None:
        await asyncio.Event().wait()


class Broken(Listener):
    def takes(self, address: str) -> bool:
        raise KeyError(address)


@on_sqlite
def test_a_channel_that_never_comes_back_keeps_nobody_from_the_next_turn(
    memory: recollect.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Delivering, "patience_seconds", 0.01)
    monkeypatch.setattr("recollect.mind.mind.DELIVERY_SECONDS", 0.01)
    stuck, broken, telegram = Stuck("webhook"), Broken("another"), Listener("telegram")

    async def all_of_it() -> None:
        async with minding(memory, ScriptedTalk(echo), stuck, broken, telegram) as mind:
            for channel in (stuck, broken):
                await mind.hear(Said(text="Anybody?", channel=channel.name, address="1"))
            await say(mind, "one", "telegram", "42")
            await say(mind, "two", "telegram", "42")
            async with asyncio.timeout(commands.PATIENCE_SECONDS):
                while len(telegram.texts) < 2:
                    await mind.turn()

    run(all_of_it())
    assert len(telegram.texts) == 2
    with memory.database.read() as session:
        waiting = session.rows("SELECT channel, state FROM mind_deliveries WHERE state <> 'sent' ORDER BY channel")
    assert [tuple(row) for row in waiting] == [("another", "waiting"), ("webhook", "sending")]


CONFUSED = """
class Confused:
    name = "confused"

    def is_wanted(self, settings):
        raise KeyError("confused")

    def needs(self, settings):
        raise KeyError("needs")
"""


def test_a_kind_that_cannot_tell_whether_it_is_wanted_stops_nothing(home: Path, tmp_path: Path) -> None:
    about = tmp_path / "site" / "confused_channel-1.0.dist-info"
    about.mkdir(parents=True)
    home.mkdir()
    (about.parent / "confused_channel.py").write_text(CONFUSED, encoding="utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: confused-channel\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[recollect.channels]\nconfused = confused_channel:Confused\n")
    told = "confused: it cannot tell whether it is wanted (KeyError)"
    for arguments in (("channels",), ("doctor",), ("up", "--once")):
        done = run_command(*arguments, home=home, variables={"PYTHONPATH": str(about.parent)})
        assert "Traceback" not in done.err
        if arguments != ("up", "--once"):
            assert told in done.out + done.err
        assert done.code == 0 or arguments == ("doctor",)


# Settings


@pytest.mark.parametrize(
    ("table", "name", "value"),
    [
        ("telegram", "token_variable", "700000007:AAHsecretsecretsecretsecret"),
        ("webhook", "secret_variable", "whsec_c2VjcmV0IHNlY3JldCBzZWNyZXQ="),
        ("mind", "key_variable", "skant" + "abcdefghij" * 5),
    ],
)
def test_a_secret_in_the_place_of_its_variable_is_refused_and_told_nowhere(
    home: Path, table: str, name: str, value: str
) -> None:
    home.mkdir()
    (home / "recollect.toml").write_text(f'[{table}]\n{name} = "{value}"\n', encoding="utf-8")
    for command in ("channels", "doctor"):
        refused = run_command(command, home=home)
        assert refused.code == 2
        assert refused.explains(f"{table}.{name}", "name of a variable")
        assert value not in refused.out + refused.err


# What is not Telegram


@pytest.mark.parametrize("status", [400, 403, 404, 405, 408, 421, 425])
def test_what_a_gateway_says_is_not_taken_for_telegrams_word(server: TelegramServer, status: int) -> None:
    async def ask() -> None:
        client = BotClient(server.token, server.url)
        page = Response(status=status, body=b"<html>No.</html>", headers={"content-type": "text/html"})
        server.fault("sendMessage", page)
        try:
            await client.send_message(str(CHAT), "Hello")
        finally:
            await client.close()

    with pytest.raises(NotTheApi, match=str(status)):
        run(ask())


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "nonsense://127.0.0.1:9"])
def test_a_proxy_that_cannot_be_used_is_told_in_words(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)

    async def ask() -> None:
        await BotClient("700000007:AAHsecret", "https://api.example.org").get_me()

    with pytest.raises(Unavailable, match="ALL_PROXY"):
        run(ask())


# Strangers, files, edits


@on_sqlite
def test_what_strangers_say_after_start_voids_no_code(memory: recollect.Memory, server: TelegramServer) -> None:
    code = memory.places.new_code(NAME).text

    async def story(bot: Bot) -> None:
        for number in range(30):
            server.write(1000 + number, f"/start ref{number}")
        for _ in range(30):
            server.write(99, "/start 00000-00000")
        server.write(8, f"/start {code}")
        await bot.until(lambda: bool(server.texts(8)))

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert memory.places.find(NAME, "8")
    assert len(server.texts(99)) == MOST_OF_ONE
    assert not any(server.texts(1000 + number) for number in range(30))


def test_an_address_has_its_tries_back_when_the_code_would_be_over(clock: FrozenClock) -> None:
    tries = Tries()
    assert [tries.may("eve", clock()) for _ in range(MOST_OF_ONE + 2)] == [True] * MOST_OF_ONE + [False] * 2
    assert tries.may("ada", clock())
    clock.now += LIFETIME
    assert tries.may("eve", clock())


@on_sqlite
def test_a_file_that_does_not_come_for_long_is_left_out(
    memory: recollect.Memory, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hearing, "FETCH_SECONDS", 0.0)

    async def story(bot: Bot) -> None:
        server.fault("getFile", *[bad_gateway()] * 3)
        server.write(CHAT, "Look", document=Document(data=b"\x00\x01", name="plan.bin"))
        await bot.until(lambda: len(server.texts(CHAT)) == 1)

    talk_with(memory, server, ScriptedTalk(echo), story)

    assert heard(memory) == ["Look\n\n[File plan.bin: Telegram did not give it; it was not kept.]"]


@on_sqlite
def test_an_edit_without_a_new_word_is_no_message_after_a_restart_either(
    memory: recollect.Memory, server: TelegramServer
) -> None:
    written: list[int] = []

    async def before(bot: Bot) -> None:
        written.append(server.write(CHAT, "Look at the herons")["message"]["message_id"])
        await bot.until(lambda: len(server.texts(CHAT)) == 1)
        await bot.read_all(server)

    async def after(bot: Bot) -> None:
        server.edit(CHAT, written[0], "Look at the herons")
        await bot.read_all(server)
        server.edit(CHAT, written[0], "Look at the swifts")
        await bot.until(lambda: len(server.texts(CHAT)) == 2)

    talk_with(memory, server, ScriptedTalk(echo), before)
    talk_with(memory, server, ScriptedTalk(echo), after)

    assert heard(memory) == ["Look at the herons", "[Edited] Look at the swifts"]


@on_sqlite
def test_the_bytes_of_files_are_kept_and_not_held_in_mind(memory: recollect.Memory) -> None:
    data = bytes(range(256)) * 4_000
    file = File(name="plan.bin", media_type="application/octet-stream", data=data)

    async def all_of_it() -> tuple[str, str]:
        model = ScriptedTalk(["Thank you."])
        async with minding(memory, model, Listener("telegram")) as mind:
            await mind.hear(Said(text="The plan", channel="telegram", address="42", files=(file,)))
            await mind.turn()
            return str(model.requests[0].turns), str(mind._log.latest(10))

    sent, held = run(all_of_it())
    encoded = base64.b64encode(data[:300]).decode()
    assert "[File plan.bin, application/octet-stream, 1.0 MB: kept in the archive.]" in sent
    assert encoded not in sent + held
    assert [place.partition(":")[0] for place in tables_with(memory, encoded)] == ["history_lines.raw"]


def test_a_list_that_begins_at_nought_begins_at_nought() -> None:
    assert formatted("0. zero\n1. one").text.startswith("0. zero\n1. one")
