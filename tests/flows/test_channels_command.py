"""`recollect channels`: the ways to reach the agent from elsewhere, and who is heard there."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from commands import Result, run

import recollect
from recollect.clock import from_text
from recollect.lock import HomeLock
from recollect.mind.places.pairing import LIFETIME
from recollect.mind.places.places import Pairing
from recollect.testing.telegram_server import TelegramServer
from recollect.testing.telegram_updates import NAME_OF_BOT

CODE = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}\b")
VARIABLE = "THE_BOT"


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    with TelegramServer() as running:
        yield running


def set_up(home: Path, text: str) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "recollect.toml").write_text(text, encoding="utf-8")


def with_telegram(home: Path, server: TelegramServer) -> dict[str, str]:
    """The variables with which the commands work then."""
    set_up(home, f'[telegram]\ntoken_variable = "{VARIABLE}"\napi_url = "{server.url}"\n')
    return {VARIABLE: server.token}


def told(home: Path, *arguments: object, variables: dict[str, str] | None = None) -> Any:
    done = run("channels", *arguments, "--json", home=home, variables=variables)
    assert done.code == 0, done.err
    return done.json()


def pairs(home: Path, channel: str, text: str) -> bool:
    with recollect.open(home=home) as memory:
        return memory.places.pair(channel, "4711", "Ada", text) is Pairing.PAIRED


def refused(done: Result, code: int, *words: str) -> bool:
    return done.code == code and done.explains(*words) and not CODE.search(done.out)


# Listing


def test_channels_that_are_off_say_what_they_need(home: Path) -> None:
    listed = told(home)
    needs = {channel["name"]: " ".join(channel["needs"]) for channel in listed["channels"]}
    assert not any(channel["is_wanted"] for channel in listed["channels"])
    assert "token_variable in [telegram]" in needs["telegram"]
    assert "listen in [webhook]" in needs["webhook"]
    assert "RECOLLECT_WEBHOOK_SECRET" in needs["webhook"]
    assert (listed["places"], listed["broken"], listed["daemon_runs"]) == ([], [], False)

    shown = run("channels", home=home)
    assert re.search(r"^telegram +off +token_variable", shown.out, re.MULTILINE)
    assert str(home / "recollect.toml") in shown.out
    assert shown.err == ""


def test_a_channel_that_is_set_but_lacks_its_variable_is_not_ready(home: Path, server: TelegramServer) -> None:
    variables = with_telegram(home, server)
    shown = run("channels", home=home)
    assert re.search(rf"^telegram +not ready +.*{VARIABLE}", shown.out, re.MULTILINE)
    assert shown.explains("No daemon runs", "up")
    assert re.search(r"^telegram +on$", run("channels", home=home, variables=variables).out, re.MULTILINE)
    assert server.requests == []


def test_a_listing_asks_no_service_and_shows_no_token(home: Path, server: TelegramServer) -> None:
    variables = with_telegram(home, server)
    for done in (
        run("channels", home=home, variables=variables),
        run("channels", "--json", home=home, variables=variables),
    ):
        assert server.token not in done.out + done.err
    assert server.requests == []


# Pairing


def test_a_code_is_printed_with_its_end_and_the_link_that_sends_it(home: Path, server: TelegramServer) -> None:
    variables = with_telegram(home, server)
    made = told(home, "pair", "telegram", variables=variables)
    assert made.keys() == {"channel", "code", "expires_at", "link", "daemon_runs"}
    assert CODE.fullmatch(made["code"])
    assert made["link"] == f"https://t.me/{NAME_OF_BOT}?start={made['code']}"

    shown = run("channels", "pair", "telegram", home=home, variables={**variables, "TZ": "Asia/Tokyo"})
    code = CODE.findall(shown.out)[0]
    with recollect.open(home=home) as memory, memory.database.read() as session:
        ends = from_text(session.value("SELECT expires_at FROM mind_pairings"))
        made_at = from_text(session.value("SELECT made_at FROM mind_pairings"))
    assert ends - made_at == LIFETIME
    assert f"until {ends.astimezone(ZoneInfo('Asia/Tokyo')):%Y-%m-%d %H:%M}" in shown.out
    assert f"/start {code}" in shown.out
    assert f"?start={code}" in shown.out
    assert server.token not in shown.out + shown.err
    assert not pairs(home, "telegram", made["code"]), "The second took the place of the first."
    assert pairs(home, "telegram", code)


def test_who_asks_for_a_code_is_told_when_nobody_would_read_it(home: Path, server: TelegramServer) -> None:
    variables = with_telegram(home, server)
    shown = run("channels", "pair", "telegram", home=home, variables=variables)
    assert shown.code == 0
    assert shown.explains("No daemon runs for this home", " up")
    lock = HomeLock(home / "runtime")
    lock.acquire()
    try:
        assert run("channels", "pair", "telegram", home=home, variables=variables).err == ""
        assert told(home, "pair", "telegram", variables=variables)["daemon_runs"] is True
    finally:
        lock.release()


def test_without_a_link_a_code_is_made_although_telegram_cannot_be_asked(home: Path, server: TelegramServer) -> None:
    with_telegram(home, server)
    made = told(home, "pair", "telegram", "--no-link")
    assert made["link"] == ""
    assert server.requests == []
    assert pairs(home, "telegram", made["code"])


def test_no_code_is_made_for_a_channel_that_is_not_there_or_off(home: Path) -> None:
    assert refused(run("channels", "pair", "pigeon", home=home), 2, "'pigeon'", "telegram, webhook")
    assert refused(run("channels", "pair", "telegram", home=home), 2, "telegram is off", "token_variable")
    assert refused(run("channels", "pair", "webhook", home=home), 2, "webhook is off", "listen in [webhook]")
    set_up(home, '[webhook]\nurl = "https://bridge.example/answers"\n')
    assert refused(run("channels", "pair", "webhook", home=home), 2, "only sends", "listen in [webhook]")
    set_up(home, '[webhook]\nlisten = "0.0.0.0:8765"\n')
    assert refused(run("channels", "pair", "webhook", home=home), 2, "webhook.listen", "127.0.0.1:8765")


def test_no_code_is_made_without_a_token_or_with_one_that_is_refused(home: Path, server: TelegramServer) -> None:
    variables = with_telegram(home, server)
    missing = run("channels", "pair", "telegram", home=home)
    assert refused(missing, 4, VARIABLE, "--no-link")
    odd = run("channels", "pair", "telegram", home=home, variables={VARIABLE: "my secret"})
    assert refused(odd, 4, "token")
    assert "my secret" not in odd.err
    server.revoke()
    revoked = run("channels", "pair", "telegram", home=home, variables=variables)
    assert refused(revoked, 4, "@BotFather")
    assert server.token not in revoked.err
    with recollect.open(home=home) as memory, memory.database.read() as session:
        assert session.value("SELECT count(*) FROM mind_pairings") == 0


def test_telegram_that_cannot_be_reached_is_unavailable_and_says_how_to_do_without(home: Path) -> None:
    with TelegramServer() as gone:
        variables = with_telegram(home, gone)
    done = run("channels", "pair", "telegram", "--json", home=home, variables=variables)
    assert refused(done, 6, "cannot be reached", "--no-link")
    assert gone.token not in done.err


def test_a_code_for_the_webhook_says_how_it_is_sent(home: Path) -> None:
    set_up(home, '[webhook]\nlisten = "127.0.0.1:8765"\n')
    shown = run("channels", "pair", "webhook", home=home)
    assert shown.code == 0
    assert "text of a message" in shown.out
    assert pairs(home, "webhook", CODE.findall(shown.out)[0])


# Naming places


def test_places_are_allowed_listed_and_removed(home: Path) -> None:
    made = told(home, "allow", "telegram", "4711", "--name", "Ada's phone")
    assert made.keys() == {"channel", "address", "name", "state", "since"}
    assert (made["name"], made["state"]) == ("Ada's phone", "paired")
    assert "door is heard by webhook" in run("channels", "allow", "webhook", "door", home=home).out
    assert [place["address"] for place in told(home)["places"]] == ["4711", "door"]
    assert re.search(r"^telegram +4711 +paired +\d{4}-.*Ada's phone$", run("channels", home=home).out, re.MULTILINE)

    assert told(home, "remove", "telegram", "4711") == {"removed": {"channel": "telegram", "address": "4711"}}
    assert refused(run("channels", "remove", "telegram", "4711", home=home), 3, "'4711'", "recollect channels")
    assert "no more" in run("channels", "remove", "webhook", "door", home=home).out
    assert told(home)["places"] == []


def test_a_place_whose_channel_is_not_installed_any_more_can_be_removed(home: Path) -> None:
    with recollect.open(home=home) as memory:
        memory.places.allow("pigeon", "loft")
    assert "loft" in run("channels", home=home).out
    assert run("channels", "remove", "pigeon", "loft", home=home).code == 0


def test_a_blocked_place_is_shown_as_such(home: Path) -> None:
    with recollect.open(home=home) as memory:
        memory.places.allow("telegram", "4711")
        memory.places.block("telegram", "4711")
    assert [place["state"] for place in told(home)["places"]] == ["blocked"]
    assert "blocked" in run("channels", home=home).out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["pigeon", "1"], ["'pigeon'", "Known"]),
        (["telegram", "@ada"], ["'@ada'", "number", "pair telegram"]),
        (["telegram", "\u0664\u0667"], ["number"]),
        (["telegram", ""], ["number"]),
        (["webhook", ""], ["address"]),
        (["webhook", "two\nlines"], ["address"]),
        (["webhook", "a" * 201], ["200"]),
    ],
)
def test_an_address_that_cannot_be_one_is_refused(home: Path, arguments: list[str], words: list[str]) -> None:
    assert refused(run("channels", "allow", *arguments, home=home), 2, *words)
    assert told(home)["places"] == []


def test_the_name_of_a_chat_commands_no_terminal(home: Path) -> None:
    with recollect.open(home=home) as memory:
        memory.places.allow("telegram", "4711", "\x1b[2J\x1b]0;gone\x07Eve")
    assert "\x1b" not in run("channels", home=home).out
