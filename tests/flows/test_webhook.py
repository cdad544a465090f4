"""What the webhook hears: signed, now, once, and from nobody who is not known; and where it may listen."""

import asyncio
import base64
import json
import socket
from collections.abc import AsyncIterator

import httpx2
import pytest
from conftest import OpenHouse
from doors import door_of
from minds import minding, on_sqlite, run
from webhooks import ADDRESS, SECRET, SOON, VARIABLE, Caller, a_known_caller, detail, listening, spoken

from recollect.channels.webhook.listening import listening_place
from recollect.channels.webhook.receiving import MOST_BYTES, PATH, Receiver
from recollect.channels.webhook.signing import ID, SIGNATURE, TIMESTAMP, secrets_in, signed_headers
from recollect.channels.webhook.webhook import NAME, WebhookKind
from recollect.errors import Invalid, Unavailable
from recollect.listening import listener, serve
from recollect.settings import Settings, WebhookSettings
from recollect.testing import FrozenClock
from recollect.testing.scripted_talk import ScriptedTalk

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, SECRET)


def test_a_signed_message_is_heard_once_however_often_it_is_sent(open_house: OpenHouse) -> None:
    memory = open_house(webhook=SOON)

    async def flow() -> None:
        async with a_known_caller(memory) as caller:
            first = await caller.say("The swifts are back.")
            again = await caller.say("The swifts are back.")
            other = await caller.say("They nest.", "msg_2")
            assert [one.status_code for one in (first, again, other)] == [202, 202, 202]
            assert first.json() == again.json() == {"entry": 1}
            assert other.json() == {"entry": 2}
        async with a_known_caller(memory) as caller:  # Another day, another program.
            memory.clock.move(hours=30)  # type: ignore[attr-defined]
            assert (await caller.say("The swifts are back.")).json() == {"entry": 1}

    run(flow())
    assert spoken(memory) == ["The swifts are back.", "They nest."]


def test_many_repeats_at_once_are_heard_once(open_house: OpenHouse) -> None:
    memory = open_house(webhook=SOON)

    async def flow() -> None:
        async with a_known_caller(memory) as caller:
            answers = await asyncio.gather(*(caller.say("Hello.") for _ in range(20)))
            assert {(one.status_code, one.json()["entry"]) for one in answers} == {(202, 1)}

    run(flow())
    assert spoken(memory) == ["Hello."]


def test_another_message_under_an_id_that_was_used_is_refused_also_after_a_restart(open_house: OpenHouse) -> None:
    memory = open_house(webhook=SOON)

    async def flow() -> None:
        async with a_known_caller(memory) as caller:
            await caller.say("The swifts are back.")
            changed = await caller.say("The swifts are gone.")
            assert changed.status_code == 409
            assert "webhook-id" in detail(changed)
        async with a_known_caller(memory) as caller:
            assert (await caller.say("Something else.")).status_code == 409
            assert (await caller.say("The swifts are back.", images=[])).json() == {"entry": 1}
            assert (await caller.say("The swifts are back.", address=ADDRESS)).json() == {"entry": 1}

    run(flow())
    assert spoken(memory) == ["The swifts are back."]


@on_sqlite
def test_what_was_forgotten_is_not_heard_again(open_house: OpenHouse) -> None:
    memory = open_house(webhook=SOON)

    async def flow() -> None:
        async with a_known_caller(memory) as caller:
            await caller.say("My locker is number 77.")
            (said,) = [one for one in memory.history.export() if one.source == "recollect"]
            memory.forget(message=said.id)
            assert (await caller.say("My locker is number 77.")).json() == {"entry": 0}

    run(flow())
    assert spoken(memory) == []


@on_sqlite
@pytest.mark.parametrize(
    ("late_seconds", "changes", "words"),
    [
        (0, {SIGNATURE: ""}, SIGNATURE),
        (0, {ID: ""}, ID),
        (0, {TIMESTAMP: ""}, TIMESTAMP),
        (0, {SIGNATURE: "v1,AAAA"}, "not right"),
        (0, {ID: "msg_2"}, "not right"),
        (301, {}, "301 seconds ago"),
        (-301, {}, "301 seconds from now"),
    ],
)
def test_a_message_that_is_not_signed_well_and_now_is_refused(
    open_house: OpenHouse, late_seconds: float, changes: dict[str, str], words: str
) -> None:
    memory = open_house(webhook=SOON)

    async def flow() -> None:
        async with a_known_caller(memory) as caller:
            body = {"address": ADDRESS, "text": "Let me in."}
            refused = await caller.post(body, late_seconds=late_seconds, changes=changes)
            assert refused.status_code == 401
            assert words in detail(refused)

    run(flow())
    assert spoken(memory) == []


@on_sqlite
def test_a_body_that_was_changed_by_one_byte_is_refused(open_house: OpenHouse) -> None:
    memory = open_house(webhook=SOON)
    raw = json.dumps({"address": ADDRESS, "text": "Pay 10."}).encode()

    async def flow() -> None:
        async with a_known_caller(memory) as caller:
            headers = signed_headers(secrets_in(SECRET, VARIABLE), "msg_1", caller.clock(), raw)
            refused = await caller.send(raw.replace(b"10", b"90"), headers)
            assert refused.status_code == 401

    run(flow())
    assert spoken(memory) == []


@on_sqlite
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "no JSON"),
        (b"text=hello", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b'{"address": ' + b"[" * 100_000, "address"),
        (b'{"address": "a"', "no JSON"),
        ([], "not as it should be"),
        ({"text": "To whom?"}, "address"),
        ({"address": ADDRESS, "text": 7}, "text"),
        ({"address": ADDRESS, "text": "Hello.", "colour": "red"}, "colour"),
        ({"address": ADDRESS, "text": ""}, "empty message"),
        ({"address": ADDRESS, "text": " \n"}, "empty message"),
        ({"address": ADDRESS}, "empty message"),
        ({"address": " ", "text": "Hello."}, "empty address"),
        ({"address": "a\nb", "text": "Hello."}, "one line"),
        ({"address": "a" * 201, "text": "Hello."}, "200 characters"),
        ({"address": ADDRESS, "text": "[private] Hello."}, "stay out of memory"),
        ({"address": ADDRESS, "images": [{"media_type": "image/png", "data": "?"}]}, "base64"),
        ({"address": ADDRESS, "images": [{"media_type": "image/png", "data": "AAAA"}]}, "none that a model reads"),
    ],
)
def test_bad_input_is_explained_and_the_same_id_may_be_used_for_the_mended_message(
    open_house: OpenHouse, body: object, words: str
) -> None:
    memory = open_house(webhook=SOON)

    async def flow() -> None:
        async with a_known_caller(memory) as caller:
            refused = await caller.post(body)
            assert refused.status_code == 400
            assert words in detail(refused)
            assert (await caller.say("Mended.")).status_code == 202

    run(flow())
    assert spoken(memory) == ["Mended."]


@on_sqlite
def test_a_nul_and_half_a_character_are_replaced(open_house: OpenHouse) -> None:
    memory = open_house(webhook=SOON)

    async def flow() -> None:
        async with a_known_caller(memory) as caller:
            said = await caller.post(b'{"address": "%s", "text": "a\\u0000b"}' % ADDRESS.encode())
            assert said.status_code == 202
            half = await caller.post(b'{"address": "%s", "text": "a\\ud800b"}' % ADDRESS.encode(), "msg_2")
            assert half.status_code == 202

    run(flow())
    assert spoken(memory) == ["a\ufffdb", "a?b"]


def test_an_image_reaches_the_model(open_house: OpenHouse) -> None:
    memory = open_house(webhook=SOON)
    model = ScriptedTalk(["A swift."])

    async def flow() -> None:
        memory.places.allow(NAME, ADDRESS)
        async with minding(memory, model) as mind, listening(memory, mind) as caller:
            image = {"media_type": "image/png", "data": base64.b64encode(PNG).decode()}
            assert (await caller.say("What is it?", images=[image])).status_code == 202
            await mind.turn()

    run(flow())
    (request,) = model.requests
    assert any(block["type"] == "image" for turn in request.turns for block in turn.content)


@on_sqlite
def test_a_message_that_is_too_large_is_refused_whether_it_says_so_or_not(open_house: OpenHouse) -> None:
    memory = open_house(webhook=SOON)

    async def pieces(raw: bytes) -> AsyncIterator[bytes]:
        for start in range(0, len(raw), 1 << 20):
            yield raw[start : start + (1 << 20)]

    async def flow() -> None:
        async with a_known_caller(memory) as caller:
            raw = json.dumps({"address": ADDRESS, "text": "a" * MOST_BYTES}).encode()
            headers = signed_headers(secrets_in(SECRET, VARIABLE), "msg_1", caller.clock(), raw)
            head = _head({**headers, "content-length": str(len(raw))})
            told = await asyncio.to_thread(_raw_answer, caller.port, head)
            assert b" 413 " in told.splitlines()[0]
            assert b"8 MB" in told
            async with httpx2.AsyncClient() as client:
                try:
                    answer = await client.post(
                        f"http://127.0.0.1:{caller.port}{PATH}", content=pieces(raw), headers=headers
                    )
                    assert answer.status_code == 413
                except httpx2.TransportError:
                    pass  # The line was closed while the rest was still being sent.
            assert (await caller.say("Shorter.")).status_code == 202

    run(flow())
    assert spoken(memory) == ["Shorter."]


@on_sqlite
def test_a_body_that_does_not_arrive_is_not_waited_for(open_house: OpenHouse) -> None:
    memory = open_house(webhook=SOON)
    memory.places.allow(NAME, ADDRESS)

    async def flow() -> None:
        async with minding(memory, ScriptedTalk()) as mind:
            secrets = secrets_in(SECRET, VARIABLE)
            place = listener("127.0.0.1", 0, "The webhook", "webhook.listen")
            port = place.getsockname()[1]
            receiver = Receiver(door_of(memory, mind), secrets, reading_seconds=0.05)
            serving = asyncio.create_task(serve(receiver.app(), [place]))
            raw = json.dumps({"address": ADDRESS, "text": "Slowly."}).encode()
            headers = signed_headers(secrets, "msg_1", memory.clock(), raw)
            head = _head({**headers, "content-length": str(len(raw))})
            told = await asyncio.to_thread(_raw_answer, port, head + raw[:10])
            assert b" 408 " in told.splitlines()[0]
            gone = await asyncio.to_thread(_hang_up, port, head + raw[:10])
            assert gone
            clock = memory.clock
            assert isinstance(clock, FrozenClock)
            assert (await Caller(port=port, clock=clock).say("Quickly.")).status_code == 202
            serving.cancel()
            await asyncio.wait({serving})

    run(flow())
    assert spoken(memory) == ["Quickly."]


def _head(headers: dict[str, str]) -> bytes:
    lines = [f"POST {PATH} HTTP/1.1", "host: here", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode()


def _raw_answer(port: int, sent: bytes) -> bytes:
    """All that comes until the other side ends the line."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        line.sendall(sent)
        found = b""
        while piece := line.recv(65536):
            found += piece
        return found


def _hang_up(port: int, sent: bytes) -> bool:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        line.sendall(sent)
    return True


@on_sqlite
def test_other_paths_and_methods_are_nothing(open_house: OpenHouse) -> None:
    memory = open_house(webhook=SOON)

    async def flow() -> None:
        async with a_known_caller(memory) as caller, httpx2.AsyncClient() as client:
            base = f"http://127.0.0.1:{caller.port}"
            assert "POST /v1/messages" in detail(found := await client.get(f"{base}/"))
            assert found.status_code == 404
            assert (await client.get(f"{base}{PATH}")).status_code == 405

    run(flow())


# Who speaks


def test_a_stranger_reaches_neither_history_nor_model_and_is_told_of_once_a_day(open_house: OpenHouse) -> None:
    memory = open_house(webhook=SOON)
    model = ScriptedTalk()

    async def flow() -> None:
        async with minding(memory, model) as mind, listening(memory, mind) as caller:
            for number in range(3):
                refused = await caller.say("Buy my watches.", f"msg_{number}", address="+1 555")
                assert refused.status_code == 403
                assert "recollect channels pair webhook" in detail(refused)
            assert await mind.turn() is None
            caller.clock.move(hours=25)
            await caller.say("Buy my watches.", "msg_9", address="+1 555")

    run(flow())
    assert (spoken(memory), model.requests, memory.places.list()) == ([], [], [])
    events = memory.runs.latest("channel")
    assert [(one.outcome, one.detail) for one in events] == [
        ("stranger", {"channel": "webhook", "address": "+1 555"}),
        ("stranger", {"channel": "webhook", "address": "+1 555"}),
    ]


def test_a_code_makes_an_address_a_place_and_is_not_said_to_the_agent(open_house: OpenHouse) -> None:
    memory = open_house(webhook=SOON)

    async def flow() -> None:
        async with minding(memory, ScriptedTalk()) as mind, listening(memory, mind) as caller:
            code = memory.places.new_code(NAME).text
            for number in range(9):  # Words that can be no code are no tries.
                assert (await caller.say("Hello there", f"hi_{number}", address="+1 555")).status_code == 403
            wrong = await caller.say("AAAAA-AAAAA", "try_1")
            assert (wrong.status_code, "not the code" in detail(wrong)) == (403, True)

            paired = await caller.say(f" {code.lower()} ", "try_2", name="Ada")
            again = await caller.say(f" {code.lower()} ", "try_2", name="Ada")
            assert paired.status_code == again.status_code == 200
            assert paired.json() == again.json()
            assert paired.json()["paired"] is True
            assert (await caller.say("Now you hear me.", "msg_1")).status_code == 202
            late = await caller.say(code, "try_3", address="+1 555")
            assert late.status_code == 403

    run(flow())
    assert spoken(memory) == ["Now you hear me."]
    assert [(one.address, one.name) for one in memory.places.list(NAME)] == [(ADDRESS, "Ada")]


@on_sqlite
def test_who_was_blocked_and_writes_again_is_so_no_more(open_house: OpenHouse) -> None:
    memory = open_house(webhook=SOON)

    async def flow() -> None:
        async with a_known_caller(memory) as caller:
            memory.places.block(NAME, ADDRESS)
            await caller.say("I am back.")

    run(flow())
    assert [one.state for one in memory.places.list()] == ["paired"]


def test_what_is_said_while_taking_in_is_paused_stays_out_and_the_sender_is_told(open_house: OpenHouse) -> None:
    memory = open_house(webhook=SOON)

    async def flow() -> None:
        async with a_known_caller(memory) as caller:
            memory.history.pause()
            unheard = await caller.say("This is between us.")
            assert (unheard.status_code, unheard.json()["heard"]) == (200, False)
            assert "paused" in unheard.json()["detail"]
            memory.history.resume()
            assert (await caller.say("Remember this.")).status_code == 202

    run(flow())
    assert spoken(memory) == ["Remember this."]


# Opening


@on_sqlite
@pytest.mark.parametrize(
    ("secret", "words"), [("", "no secret"), ("fifteen-letters", "too short"), ("whsec_???", "base64")]
)
def test_without_a_good_secret_it_does_not_open(
    open_house: OpenHouse, monkeypatch: pytest.MonkeyPatch, secret: str, words: str
) -> None:
    memory = open_house(webhook=SOON)
    monkeypatch.setenv(VARIABLE, secret)

    async def flow() -> None:
        async with minding(memory, ScriptedTalk()) as mind:
            with pytest.raises(Invalid, match=words) as refused:
                WebhookKind().open(door_of(memory, mind))
            assert VARIABLE in str(refused.value)
            assert not secret or secret not in str(refused.value)

    run(flow())


@pytest.mark.parametrize(
    "listen",
    [
        "0.0.0.0:8765",
        "[::]:8765",
        "192.168.1.5:80",
        "example.org:80",
        "[::ffff:127.0.0.1]:80",
        "10.0.0.1:1",
        "127.1:80",
    ],
)
def test_it_listens_on_this_computer_alone_and_names_a_proxy(listen: str) -> None:
    with pytest.raises(Invalid, match="TLS"):
        listening_place(listen)


@pytest.mark.parametrize(
    "listen", ["8765", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "::1:80", "a b:80", "http://x:1"]
)
def test_an_address_to_listen_on_that_is_none_is_explained(listen: str) -> None:
    with pytest.raises(Invalid, match=r"127\.0\.0\.1:8765"):
        listening_place(listen)


@pytest.mark.parametrize(
    ("listen", "place"),
    [
        ("127.0.0.1:8765", ("127.0.0.1", 8765)),
        ("127.4.5.6:80", ("127.4.5.6", 80)),
        ("localhost:8765", ("127.0.0.1", 8765)),
        ("LOCALHOST:1", ("127.0.0.1", 1)),
        ("[::1]:8765", ("::1", 8765)),
    ],
)
def test_these_are_this_computer(listen: str, place: tuple[str, int]) -> None:
    assert listening_place(listen) == place


def test_a_port_that_is_taken_is_explained() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(Unavailable, match=r"webhook\.listen"):
        listener(*taken.getsockname(), "The webhook", "webhook.listen")


@on_sqlite
@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://bridge/answers", "no address"),
        ("bridge:8766", "no address"),
        ("https://", "no address"),
        ("https://ada:hush@example.org/", "no address"),
        ("https://[/", "no address"),
        ("https://example.org:99999/", "no address"),
        ("http://example.org/answers", "in clear"),
    ],
)
def test_an_address_to_send_to_that_will_not_do_is_explained(open_house: OpenHouse, url: str, words: str) -> None:
    memory = open_house(webhook={"url": url})

    async def flow() -> None:
        async with minding(memory, ScriptedTalk()) as mind:
            with pytest.raises(Invalid, match=words) as refused:
                WebhookKind().open(door_of(memory, mind))
            assert "hush" not in str(refused.value)

    run(flow())


def test_it_is_wanted_when_it_listens_or_sends() -> None:
    kind = WebhookKind()
    assert not kind.is_wanted(Settings())
    assert kind.is_wanted(Settings(webhook=WebhookSettings(listen="127.0.0.1:8765")))
    assert kind.is_wanted(Settings(webhook=WebhookSettings(url="https://example.org/answers")))
