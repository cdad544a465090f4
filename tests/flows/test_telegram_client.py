"""The client of the Bot API against a server that keeps its rules: what comes of each answer, and that no error and no
log shows the token."""

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from minds import run, until

from recollect.channels.telegram.client import BotClient
from recollect.channels.telegram.errors import BadRequest, ChatRefused, SlowDown, Taken, TokenRefused, TooLarge
from recollect.errors import Invalid, NotFound, RecollectError, Unavailable
from recollect.mind.channel import MayHaveArrived
from recollect.testing.loopback import Response, as_json
from recollect.testing.telegram_server import (
    Document,
    Fault,
    TelegramServer,
    bad_gateway,
    line_drops,
    refusal,
    slow_down,
)

CHAT = 7
Use = Callable[[BotClient], Awaitable[Any]]


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    with TelegramServer() as server:
        yield server


def asked(server: TelegramServer, use: Use, *, token: str = "", url: str = "") -> Any:
    async def use_it() -> Any:
        client = BotClient(token or server.token, url or server.url)
        try:
            return await use(client)
        finally:
            await client.close()

    return run(use_it())


def sending(text: str = "Hello", **more: Any) -> Use:
    return lambda client: client.send_message(str(CHAT), text, **more)


def polling(offset: int = 0, seconds: float = 0) -> Use:
    return lambda client: client.get_updates(offset, seconds)


def error_of(server: TelegramServer, use: Use, **more: Any) -> RecollectError:
    with pytest.raises(RecollectError) as raised:
        asked(server, use, **more)
    return raised.value


def assert_tells_no_token(error: BaseException | None, token: str) -> None:
    secret = token.partition(":")[2]
    while error:
        told = [str(error), repr(error), *traceback.format_exception(error), repr(vars(error))]
        assert not [words for words in told if secret in words]
        error = error.__cause__ or error.__context__


# What works


def test_a_bot_is_known_by_its_token(server: TelegramServer) -> None:
    assert asked(server, BotClient.get_me)["username"] == "recollect_test_bot"
    assert str(asked(server, BotClient.get_me)["id"]) == BotClient(server.token, server.url).bot_id


def test_an_offset_confirms_what_is_before_it(server: TelegramServer) -> None:
    first, second = server.write(CHAT, "one"), server.write(CHAT, "two")

    assert asked(server, polling()) == [first, second]
    assert asked(server, polling(second["update_id"])) == [second]
    assert server.unconfirmed == [second["update_id"]]
    assert asked(server, polling(second["update_id"] + 1)) == []
    assert server.unconfirmed == []


def test_an_offset_far_ahead_confirms_nothing(server: TelegramServer) -> None:
    update = server.write(CHAT, "one")

    assert asked(server, polling(update["update_id"] + 1_000)) == [update]


def test_a_negative_offset_leaves_only_the_last(server: TelegramServer) -> None:
    updates = [server.write(CHAT, f"message {number}") for number in range(5)]

    assert asked(server, polling(-2)) == updates[-2:]
    assert asked(server, polling()) == updates[-2:]


def test_at_most_a_hundred_updates_come_at_once(server: TelegramServer) -> None:
    updates = [server.write(CHAT, f"message {number}") for number in range(103)]

    assert asked(server, polling()) == updates[:100]
    assert asked(server, polling(updates[99]["update_id"] + 1)) == updates[100:]


def test_only_messages_and_edits_are_asked_for(server: TelegramServer) -> None:
    asked(server, polling())

    assert server.requests[0].body["allowed_updates"] == ["message", "edited_message"]


def test_a_poll_that_waits_is_woken_by_a_message(server: TelegramServer) -> None:
    async def wait(client: BotClient) -> list[dict[str, Any]]:
        waiting = asyncio.ensure_future(client.get_updates(0, 25))
        await until(lambda: server.calls("getUpdates") > 0)
        await asyncio.to_thread(server.write, CHAT, "late")
        return await waiting

    assert [update["message"]["text"] for update in asked(server, wait)] == ["late"]


def test_a_message_is_sent_with_its_formatting(server: TelegramServer) -> None:
    server.write(CHAT, "Hi")
    bold = {"type": "bold", "offset": 0, "length": 5}

    number = asked(server, sending("Hello there", entities=[bold]))

    (sent,) = server.sent[CHAT]
    assert (sent.message_id, sent.text, list(sent.entities)) == (number, "Hello there", [bold])


def test_a_file_is_fetched(server: TelegramServer) -> None:
    document = server.write(CHAT, document=Document(data=b"some words", name="a b#c.txt"))["message"]["document"]

    async def fetch(client: BotClient) -> tuple[int, bytes]:
        path, size = await client.get_file(document["file_id"])
        return size, await client.download(path, 100)

    assert asked(server, fetch) == (10, b"some words")


def test_the_typing_action_arrives(server: TelegramServer) -> None:
    server.write(CHAT, "Hi")

    asked(server, lambda client: client.send_action(str(CHAT), "typing"))

    assert server.actions == [(CHAT, "typing")]


# What is refused


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        (slow_down(17), SlowDown, "17 seconds"),
        (refusal(401, "Unauthorized"), TokenRefused, "@BotFather"),
        (refusal(404, "Not Found"), TokenRefused, "@BotFather"),
        (refusal(403, "Forbidden: user is deactivated"), ChatRefused, "user is deactivated"),
        (refusal(400, "Bad Request: chat not found"), ChatRefused, "chat not found"),
        (refusal(400, "Bad Request: can't parse entities: odd"), BadRequest, "can't parse entities: odd"),
        (refusal(413, "Request Entity Too Large"), BadRequest, "Too Large"),
        (bad_gateway(), MayHaveArrived, "not well"),
        (line_drops(), MayHaveArrived, "broke"),
        (line_drops(has_effect=True), MayHaveArrived, "broke"),
        (Response(hang_up_after=0, body=[b"{"]), MayHaveArrived, "broke"),
        (Response(body=b"no JSON"), MayHaveArrived, "not well"),
        (Response(body=b"[" * 100_000), MayHaveArrived, "not well"),
        (as_json({"ok": True, "result": [1]}), type(None), ""),
    ],
)
def test_what_comes_of_a_message_is_one_of_a_few_things(
    server: TelegramServer,
    fault: Fault | Response,
    kind: type[Exception],
    words: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    server.write(CHAT, "Hi")
    server.fault("sendMessage", fault)

    if kind is type(None):
        assert asked(server, sending()) == 0
    else:
        error = error_of(server, sending())
        assert type(error) is kind
        assert words in str(error)
        assert_tells_no_token(error, server.token)
    assert caplog.records
    assert server.token.partition(":")[2] not in caplog.text
    asked(server, sending("and on"))
    assert server.texts(CHAT)[-1] == "and on"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (bad_gateway(), Unavailable),
        (line_drops(), Unavailable),
        (slow_down(3), SlowDown),
        (refusal(401, "Unauthorized"), TokenRefused),
        (Response(body=b'{"ok": true, "result": {"not": "a list"}}'), Unavailable),
    ],
)
def test_reading_that_fails_has_no_effect(
    server: TelegramServer, fault: Fault | Response, kind: type[Exception]
) -> None:
    update = server.write(CHAT, "Hi")
    server.fault("getUpdates", fault)

    error = error_of(server, polling())

    assert type(error) is kind
    assert_tells_no_token(error, server.token)
    assert asked(server, polling()) == [update]


def test_how_long_to_wait_is_told(server: TelegramServer) -> None:
    server.write(CHAT, "Hi")
    server.fault("sendMessage", slow_down(17), refusal(429, "Too Many Requests"))

    waits = [error_of(server, sending()) for _ in range(2)]

    assert [error.seconds for error in waits if isinstance(error, SlowDown)] == [17, 5]


def test_who_polls_second_ends_the_first(server: TelegramServer) -> None:
    async def both(client: BotClient) -> object:
        first = asyncio.ensure_future(client.get_updates(0, 25))
        await until(lambda: server.calls("getUpdates") > 0)
        await client.get_updates(0, 0)
        return await first

    error = error_of(server, both)

    assert type(error) is Taken
    assert "Another program" in str(error)


def test_a_webhook_that_is_set_is_told(server: TelegramServer) -> None:
    server.webhook_url = "https://example.com"

    error = error_of(server, polling())

    assert type(error) is Taken
    assert "deleteWebhook" in str(error)


def test_a_blocked_chat_an_unknown_one_and_a_revoked_token_are_told_apart(server: TelegramServer) -> None:
    unknown = error_of(server, sending())
    server.write(CHAT, "Hi")
    server.block(CHAT)
    blocked = error_of(server, sending())
    server.revoke()
    revoked = error_of(server, sending())

    assert [type(error) for error in (unknown, blocked, revoked)] == [ChatRefused, ChatRefused, TokenRefused]
    for error in (unknown, blocked, revoked):
        assert_tells_no_token(error, server.token)


def test_wrong_formatting_and_wrong_lengths_are_bad_requests(server: TelegramServer) -> None:
    server.write(CHAT, "Hi")
    beyond = {"type": "bold", "offset": 3, "length": 99}
    halved = {"type": "bold", "offset": 1, "length": 1}

    told = [
        error_of(server, sending(entities=[beyond])),
        error_of(server, sending("\N{GRINNING FACE}", entities=[halved])),
        error_of(server, sending(" \n")),
        error_of(server, sending("\N{GRINNING FACE}" * 2_049)),
    ]

    assert {type(error) for error in told} == {BadRequest}
    assert [str(error).partition(": ")[2][:20] for error in told] == [
        "ENTITY_BOUNDS_INVALI",
        "entity begins in a m",
        "message text is empt",
        "message is too long",
    ]


def test_a_file_that_is_too_large_or_gone_is_told(server: TelegramServer) -> None:
    large = server.write(CHAT, document=Document(size=50_000_000))["message"]["document"]["file_id"]
    small = server.write(CHAT, document=Document(data=b"x" * 1_000))["message"]["document"]["file_id"]

    async def cut(client: BotClient) -> bytes:
        path, _ = await client.get_file(small)
        return await client.download(path, 999)

    told = [
        error_of(server, lambda client: client.get_file(large)),
        error_of(server, cut),
        error_of(server, lambda client: client.download("documents/none", 10)),
        error_of(server, lambda client: client.get_file("none")),
    ]

    assert [type(error) for error in told] == [TooLarge, TooLarge, NotFound, BadRequest]
    for error in told:
        assert_tells_no_token(error, server.token)


def test_a_file_whose_line_drops_is_fetched_later(server: TelegramServer) -> None:
    server.fault("file", line_drops(), bad_gateway(), slow_down(2))

    told = [error_of(server, lambda client: client.download("documents/any", 10)) for _ in range(3)]

    assert [type(error) for error in told] == [Unavailable, Unavailable, SlowDown]


def test_nobody_there_is_unavailable_and_surely_not_sent(server: TelegramServer) -> None:
    error = error_of(server, sending(), url="http://127.0.0.1:1")

    assert type(error) is Unavailable
    assert_tells_no_token(error, server.token)


def test_an_address_that_is_none_is_told_without_the_token(server: TelegramServer) -> None:
    for url in ("ftp://127.0.0.1", "nonsense"):
        error = error_of(server, sending(), url=url)

        assert type(error) is Invalid
        assert "telegram.api_url" in str(error)
        assert_tells_no_token(error, server.token)


def test_no_token_is_sent_where_anybody_on_the_way_could_read_it(server: TelegramServer) -> None:
    with pytest.raises(Invalid, match="https://") as raised:
        BotClient(server.token, "http://bots.example.com")

    assert_tells_no_token(raised.value, server.token)


@pytest.mark.parametrize("token", ["", "abc", f"{123456789}:", f"{123456789}:a b", "a\nb", "../../x"])
def test_what_is_no_token_is_refused_before_anything_is_sent(token: str) -> None:
    with pytest.raises(TokenRefused) as raised:
        BotClient(token, "http://127.0.0.1:1")

    assert not token or token not in str(raised.value)


def test_a_token_of_somebody_else_is_refused(server: TelegramServer) -> None:
    for other in (f"{123456789}:{'A' * 35}", f"{123456789}:short"):
        error = error_of(server, polling(), token=other)

        assert type(error) is TokenRefused
        assert_tells_no_token(error, other)
