"""What the webhook sends: signed, under one id however often, until it is taken."""

import logging
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from conftest import OpenHouse
from doors import Told, door_of
from minds import minding, on_sqlite, run, until
from parts import stop
from webhooks import ADDRESS, SECRET, SOON, VARIABLE, Caller, Hook, listening, sending

import recollect
from recollect.channels.webhook.sending import LONGEST_WAIT_SECONDS, Sender
from recollect.channels.webhook.signing import ID, SIGNATURE, TIMESTAMP, secrets_in, verified
from recollect.channels.webhook.webhook import NAME, Webhook, WebhookKind
from recollect.daemon.minding import Minding, MindingProgress, Models
from recollect.errors import Denied, Unavailable
from recollect.mind.channel import MayHaveArrived, Reply, Said
from recollect.testing import FrozenClock
from recollect.testing.loopback import BEFORE_ANYTHING, Response
from recollect.testing.scripted_talk import ScriptedTalk

REPLY = Reply(turn=3, text="They **nest**.", at="2026-03-02T12:00:00.000Z")


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, SECRET)


@pytest.fixture
def hook() -> Iterator[Hook]:
    with Hook() as server:
        yield server


@on_sqlite
def test_an_answer_is_sent_signed_with_all_that_is_to_know_of_it(
    open_house: OpenHouse, hook: Hook, clock: FrozenClock
) -> None:
    memory = open_house(webhook={"url": f"{hook.url}/answers"})

    async def flow() -> None:
        async with sending(memory) as webhook:
            await webhook.deliver(ADDRESS, REPLY)

    run(flow())
    (request,) = hook.requests
    assert (request.path, request.body) == (
        "/answers",
        {
            "type": "answer",
            "turn": 3,
            "address": ADDRESS,
            "text": "They **nest**.",
            "state": "done",
            "remark": "",
            "first": False,
            "at": "2026-03-02T12:00:00.000Z",
        },
    )
    assert verified(secrets_in(SECRET, VARIABLE), request.headers, request.raw, clock()) == request.headers[ID]


@on_sqlite
def test_a_repeat_has_the_same_id_and_body_and_a_time_of_its_own(
    open_house: OpenHouse, hook: Hook, clock: FrozenClock
) -> None:
    memory = open_house(webhook={"url": hook.url})
    hook.script(Response(status=502), Response(hang_up_after=BEFORE_ANYTHING))
    waits: list[float] = []

    async def flow() -> None:
        async with sending(memory) as webhook:
            with pytest.raises(Unavailable, match="502"):
                await webhook.deliver(ADDRESS, REPLY)
            waits.append(await _waited(webhook, clock))
            with pytest.raises(MayHaveArrived):
                await webhook.deliver(ADDRESS, REPLY)
            waits.append(await _waited(webhook, clock))
            await webhook.deliver(ADDRESS, REPLY)
            assert webhook.takes(ADDRESS)
            await webhook.deliver("+1 555", REPLY)

    run(flow())
    first, second, third, other = hook.requests
    assert first.headers[ID] == second.headers[ID] == third.headers[ID] != other.headers[ID]
    assert first.raw == second.raw == third.raw
    assert len({one.headers[TIMESTAMP] for one in (first, second, third)}) == 3
    for request in (first, second, third):
        verified(secrets_in(SECRET, VARIABLE), request.headers, request.raw, clock() - timedelta(seconds=7))
    assert waits == [5, 10]


async def _waited(webhook: Webhook, clock: FrozenClock) -> float:
    """Seconds until it would deliver again, by the clock."""
    begun = clock()
    while not webhook.takes(ADDRESS):
        clock.move(seconds=1)
    return (clock() - begun).total_seconds()


@on_sqlite
def test_a_server_that_asks_for_patience_has_it(open_house: OpenHouse, hook: Hook, clock: FrozenClock) -> None:
    memory = open_house(webhook={"url": hook.url})
    hook.script(
        Response(status=429, headers={"retry-after": "120"}), Response(status=503, headers={"retry-after": "9e9"})
    )

    async def flow() -> None:
        async with sending(memory) as webhook:
            with pytest.raises(Unavailable):
                await webhook.deliver(ADDRESS, REPLY)
            assert not webhook.takes("+1 555")
            assert await _waited(webhook, clock) == 120
            with pytest.raises(Unavailable):
                await webhook.deliver(ADDRESS, REPLY)
            assert await _waited(webhook, clock) == LONGEST_WAIT_SECONDS

    run(flow())


@on_sqlite
def test_waits_grow_up_to_an_hour_are_told_of_and_end_when_the_clock_is_put_back(
    open_house: OpenHouse, clock: FrozenClock
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    memory = open_house(webhook={"url": f"http://127.0.0.1:{port}/"})
    told, waits = Told(), list[float]()

    async def flow() -> None:
        async with sending(memory, told) as webhook:
            for number in range(12):
                with pytest.raises(Unavailable, match="cannot be reached") as failed:
                    await webhook.deliver(ADDRESS, REPLY)
                assert not isinstance(failed.value, MayHaveArrived)
                assert bool(told.problems) == (number >= 2)
                waits.append(await _waited(webhook, clock))
            with pytest.raises(Unavailable):
                await webhook.deliver(ADDRESS, REPLY)
            clock.move(days=-1)
            assert webhook.takes(ADDRESS)

    run(flow())
    assert waits == [min(5 * 2**number, 3600) for number in range(12)]


@on_sqlite
@pytest.mark.parametrize("status", [404, 410])
def test_an_address_that_is_gone_gets_nothing_more(open_house: OpenHouse, hook: Hook, status: int) -> None:
    memory = open_house(webhook={"url": hook.url})
    hook.script(Response(status=status))
    told = Told()

    async def flow() -> None:
        async with sending(memory, told) as webhook:
            with pytest.raises(Denied, match=str(status)):
                await webhook.deliver(ADDRESS, REPLY)
            assert webhook.takes(ADDRESS)

    run(flow())
    assert str(status) in told.problems[-1]


@on_sqlite
@pytest.mark.parametrize("status", [301, 400, 401, 403, 422])
def test_a_refusal_is_told_of_and_tried_again_in_an_hour_and_holds_up_nobody_else(
    open_house: OpenHouse, hook: Hook, clock: FrozenClock, status: int
) -> None:
    memory = open_house(webhook={"url": hook.url})
    hook.script(Response(status=status, headers={"location": hook.url}))
    told = Told()

    async def flow() -> None:
        async with sending(memory, told) as webhook:
            with pytest.raises(Unavailable, match=str(status)):
                await webhook.deliver(ADDRESS, REPLY)
            assert str(status) in told.problems[-1]
            assert webhook.takes("+1 555")
            assert await _waited(webhook, clock) == 3600
            await webhook.deliver(ADDRESS, REPLY)

    run(flow())
    assert told.problems[-1] == ""
    assert len(hook.requests) == 2


@on_sqlite
def test_without_an_address_to_send_to_an_answer_is_history_and_no_more(open_house: OpenHouse) -> None:
    memory = open_house(webhook=SOON)

    async def flow() -> None:
        async with sending(memory) as webhook:
            with pytest.raises(Denied, match=r"webhook\.url is empty"):
                await webhook.deliver(ADDRESS, REPLY)

    run(flow())


# Both ways, with a mind


def test_what_is_asked_is_answered_where_it_was_asked(open_house: OpenHouse, hook: Hook) -> None:
    memory = open_house(webhook={**SOON, "url": hook.url})
    model = ScriptedTalk(["In May."])

    async def flow() -> None:
        memory.places.allow(NAME, ADDRESS)
        async with minding(memory, model) as mind, listening(memory, mind) as caller:
            await caller.say("When do the swifts come back?")
            await mind.turn()
            await mind.turn()

    run(flow())
    assert [(one.body["address"], one.body["text"]) for one in hook.requests] == [(ADDRESS, "In May.")]


@on_sqlite
def test_a_receiver_that_answers_too_late_gets_it_again_under_the_same_id(
    open_house: OpenHouse, hook: Hook, clock: FrozenClock
) -> None:
    memory = open_house(webhook={"url": hook.url})
    hook.script(Response(wait_seconds=60))
    states: list[str] = []

    async def flow() -> None:
        memory.places.allow(NAME, ADDRESS)
        async with minding(memory, ScriptedTalk(["In May."])) as mind:
            door, secrets = door_of(memory, mind), secrets_in(SECRET, VARIABLE)
            webhook = Webhook(door, secrets, None, Sender(door, secrets, answer_seconds=0.2))
            mind.attach(webhook)
            await mind.hear(_said("When?"))
            await mind.turn()
            states.append(_state(memory))
            await mind.turn()  # Not yet.
            assert len(hook.requests) == 1
            clock.move(seconds=6)
            await mind.turn()
            states.append(_state(memory))
            await webhook.close()

    run(flow())
    assert states == ["again", "sent"]
    assert len(hook.ids) == 2
    assert len(set(hook.ids)) == 1


class Killed(BaseException):
    """The program ends here: nothing catches it."""


@dataclass
class Dying:
    """A webhook whose program is killed after the answer went out, and before that is written down."""

    webhook: Webhook
    name: str = NAME
    says_again: bool = field(default=True)

    def show(self, address: str, shown: object) -> None:
        pass

    async def deliver(self, address: str, reply: Reply) -> None:
        await self.webhook.deliver(address, reply)
        raise Killed


def test_an_answer_whose_sender_was_killed_is_sent_again_under_the_same_id(open_house: OpenHouse, hook: Hook) -> None:
    memory = open_house(webhook={"url": hook.url})

    async def flow() -> None:
        memory.places.allow(NAME, ADDRESS)
        mind = memory.mind(open_model=lambda: ScriptedTalk(["In May."]))
        webhook = WebhookKind().open(door_of(memory, mind))
        mind.attach(Dying(webhook))
        await mind.hear(_said("When?"))
        with pytest.raises(Killed):
            await mind.turn()
        await webhook.close()
        await mind.close()
        assert _state(memory) == "sending"

        async with minding(memory, ScriptedTalk(["Soon."])) as again:
            webhook = WebhookKind().open(door_of(memory, again))
            again.attach(webhook)
            await again.hear(_said("Still there?", "msg_2"))
            await again.turn()
            await webhook.close()

    run(flow())
    assert [one.body["text"] for one in hook.requests] == ["In May.", "In May.", "Soon."]
    first, again, other = hook.ids
    assert first == again != other


def _said(text: str, key: str = "msg_1") -> Said:
    return Said(text=text, channel=NAME, address=ADDRESS, key=key)


def _state(memory: recollect.Memory) -> str:
    with memory.database.read() as session:
        return str(session.value("SELECT state FROM mind_deliveries ORDER BY turn DESC LIMIT 1", {}))


def test_the_part_of_a_daemon_that_answers_hears_and_answers_by_the_webhook(open_house: OpenHouse, hook: Hook) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    memory = open_house(webhook={"listen": f"127.0.0.1:{port}", "url": hook.url})
    memory.places.allow(NAME, ADDRESS)
    told: list[MindingProgress] = []
    minding = Minding(memory, told.append, Models(mind=lambda: ScriptedTalk(["In May."])))
    clock = memory.clock
    assert isinstance(clock, FrozenClock)

    async def flow() -> None:
        caller = Caller(port=port, clock=clock)
        await until(lambda: _answers(port))
        assert (await caller.say("When do the swifts come back?")).status_code == 202
        await until(lambda: bool(hook.requests))

    minding.start()
    try:
        run(flow())
    finally:
        stop(minding.part)
    assert [(one.body["address"], one.body["text"]) for one in hook.requests] == [(ADDRESS, "In May.")]
    assert told[-1].channels == {NAME: ""}


def _answers(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


@on_sqlite
def test_neither_secret_nor_address_is_in_logs_events_or_errors(
    open_house: OpenHouse, hook: Hook, caplog: pytest.LogCaptureFixture
) -> None:
    memory = open_house(webhook={**SOON, "url": f"{hook.url}/services/T0/hushhush"})
    hook.script(Response(status=500))
    caplog.set_level(logging.DEBUG)
    told = Told()

    async def flow() -> None:
        memory.places.allow(NAME, ADDRESS)
        async with minding(memory, ScriptedTalk(["In May."])) as mind, listening(memory, mind, told) as caller:
            await caller.say("When?")
            await caller.post({"address": ADDRESS, "text": "When?"}, changes={SIGNATURE: "v1,AAAA"})
            await mind.turn()
            caller.clock.move(minutes=1)
            await mind.turn()

    run(flow())
    assert len(hook.requests) == 2
    events = repr([one.detail for one in memory.runs.latest(limit=100)])
    for text in (caplog.text, events, repr(told.problems)):
        assert SECRET not in text
        assert "hushhush" not in text
