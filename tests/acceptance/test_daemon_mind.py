"""`recollect up` keeps the mind awake: it answers by its channels, has moments of its own, and stops no other part."""

import json
import socket
import threading
import urllib.request
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from commands import end, wait_for
from telegrams import Desk, Echo, Service
from terminals import Gate, sitting_at
from webhooks import ADDRESS, SECRET, VARIABLE, Hook

import recollect
from recollect.channels.webhook.receiving import PATH
from recollect.channels.webhook.signing import secrets_in, signed_headers
from recollect.clock import system_clock
from recollect.mind.heartbeat.ticks import Moment, Tick, TickStore
from recollect.testing.loopback import Request, Response, as_json
from recollect.testing.openai_server import OpenAIServer
from recollect.testing.telegram_server import Fault

CHAT = 7
EVERY_MINUTE = "* * * * *"
SLOW_SECONDS = 1.5
"""That the service takes to say that it has a message: a daemon that gave up on it would have ended by then."""
YES = {"reason": "The boat leaves today.", "reach_out": True, "topic": "the boat", "message": "Your boat leaves today."}


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as service:
        yield service


@pytest.fixture
def model() -> Iterator[Echo]:
    with Echo() as model:
        yield model


@pytest.fixture
def desk(tmp_path: Path, service: Service, model: Echo) -> Desk:
    desk = Desk(tmp_path, service, model)
    desk.allow(CHAT)
    return desk


def answers(service: Service, number: int) -> list[str]:
    wait_for(f"{number} answers", lambda: len(service.texts(CHAT)) >= number)
    return service.texts(CHAT)


def test_who_writes_by_telegram_is_answered(desk: Desk, service: Service) -> None:
    with desk.up() as process:
        service.write(CHAT, "message 1")
        assert answers(service, 1) == ["Answer 1 to: 1"]
        assert desk.minding()["channels"] == {"telegram": ""}
        assert end(process) == 0
    assert service.actions[:1] == [(CHAT, "typing")]


def test_an_answer_in_flight_is_given_by_the_next_daemon(desk: Desk, service: Service, model: Echo) -> None:
    gate = Gate("Too late.")
    model.script(gate)
    service.write(CHAT, "message 1")
    with desk.up() as process:
        assert gate.is_reached.wait(60)
        assert end(process) == 0
    gate.open()
    assert service.texts(CHAT) == []
    assert "message 1" in desk.words()
    with desk.up() as process:
        assert answers(service, 1) == ["Answer 1 to: 1"]
        assert end(process) == 0


def test_an_answer_that_is_being_sent_while_the_daemon_ends_comes_once(desk: Desk, service: Service) -> None:
    taken = replace(as_json({"ok": True, "result": {"message_id": 1}}), wait_seconds=SLOW_SECONDS)
    service.fault("sendMessage", Fault(has_effect=True, response=taken))
    with desk.up() as process:
        service.on_step = lambda step: process.terminate() if step == "sendMessage done" else None
        service.write(CHAT, "message 1")
        assert process.wait(60) == 0
    service.on_step = lambda step: None
    service.write(CHAT, "message 2")
    with desk.up() as process:
        assert answers(service, 2) == ["Answer 1 to: 1", "Answer 2 to: 2"]
        assert end(process) == 0


# What is the matter with one channel stops no other


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def post(port: int, text: str) -> Any:
    raw = json.dumps({"address": ADDRESS, "text": text}).encode()
    headers = signed_headers(secrets_in(SECRET, VARIABLE), f"msg {text}".replace(" ", "_"), system_clock(), raw)
    request = urllib.request.Request(f"http://127.0.0.1:{port}{PATH}", raw, headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read())


def test_a_token_that_is_none_is_told_and_other_channels_answer(tmp_path: Path, service: Service, model: Echo) -> None:
    service.revoke()
    port = free_port()
    with Hook() as hook:
        webhook = {"webhook.listen": f"127.0.0.1:{port}", "webhook.url": f"{hook.url}/answers"}
        desk = Desk(tmp_path, service, model, **webhook)
        desk.variables[VARIABLE] = SECRET
        desk.allow(CHAT)
        with recollect.open(desk.home) as memory:
            memory.places.allow("webhook", ADDRESS, "Ada")
        with desk.up() as process:
            wait_for("word of it", lambda: desk.minding()["channels"].get("telegram"))
            wait_for("the webhook", lambda: desk.minding()["channels"].get("webhook") == "")
            finding = desk.finding("telegram")
            assert finding["level"] == "warning"
            assert "@BotFather" in finding["message"]
            wait_for("somebody to listen", lambda: _is_open(port))
            assert post(port, "message 1")["entry"] == 1
            wait_for("the answer", lambda: len(hook.requests) == 1)
            assert hook.requests[0].body["text"] == "Answer 1 to: 1"
            assert desk.run("chat", "message 2").out == "Answer 2 to: 2\n"
            assert process.poll() is None
            assert end(process) == 0
    assert service.token not in desk.errors + desk.output


def _is_open(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


# Moments of its own


class Willing(OpenAIServer):
    """Would always write first."""

    def next_step(self) -> object:
        return dict(YES)


def be_due(desk: Desk) -> None:
    """Its time came while the computer was off."""
    with recollect.open(desk.home) as memory:
        agent = memory.heartbeat()._parts.agent  # pyright: ignore[reportPrivateUsage]
        late = Tick(schedule=EVERY_MINUTE, due_at=system_clock() - timedelta(hours=1))
        with memory.database.write() as session:
            store = TickStore(session, memory.settings.house, agent)
            kept = store.get(Moment.OUTREACH)
            store.move(Moment.OUTREACH, kept, late) if kept else store.begin(Moment.OUTREACH, late)


def outcomes(desk: Desk) -> list[str]:
    """The newest first."""
    told = desk.run("heartbeat", "--json").json()
    return [one["outcome"] for one in told["latest"] if one["kind"] == "heartbeat"]


def test_it_writes_first_once_and_then_keeps_quiet(tmp_path: Path, service: Service, model: Echo) -> None:
    with Willing() as decision:
        heartbeat = {"schedule": EVERY_MINUTE, "reflection": "", "jitter_minutes": 0, "quiet_hours": ""}
        chosen = {f"heartbeat.{name}": value for name, value in heartbeat.items()}
        desk = Desk(tmp_path, service, model, **chosen, **{"heartbeat.model": f"{decision.base_url}#test-model"})
        desk.allow(CHAT)
        service.write(CHAT, "/start")  # A bot cannot write to who never began.
        be_due(desk)
        with desk.up() as process:
            assert YES["message"] in answers(service, 2)
            wait_for("word of it", lambda: outcomes(desk)[-1:] == ["yes"])
            assert desk.minding()["outreach_due_at"]
            assert end(process) == 0
        be_due(desk)
        with desk.up() as process:
            wait_for("the next moment", lambda: len(outcomes(desk)) > 1)
            assert end(process) == 0
        *later, first = outcomes(desk)
        assert (first, set(later)) == ("yes", {"quiet"}), "the rules hold, and the model is not even asked"
        assert len([one for one in decision.requests if one.method == "POST"]) == 1
    assert service.texts(CHAT).count(str(YES["message"])) == 1


# Beside it


class Dripping(Echo):
    """An answer of which only the beginning comes before the rest is let through."""

    def __init__(self) -> None:
        super().__init__()
        self.rest = threading.Event()

    def answer(self, request: Request) -> Response:
        response = super().answer(request)
        return response if isinstance(response.body, bytes) else replace(response, body=self._drip(response.body))

    def _drip(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for number, piece in enumerate(pieces):
            if number == 4:
                self.rest.wait(60)
            yield piece


def test_a_chat_beside_the_daemon_is_answered_in_its_own_window(tmp_path: Path, service: Service) -> None:
    with Dripping() as model:
        desk = Desk(tmp_path, service, model)
        model.script("Slowly it comes, word by word, and then it ends.")
        with desk.up() as process:
            wait_for("the channel", lambda: desk.minding().get("channels") == {"telegram": ""})
            with sitting_at("chat", "Hello", home=desk.home) as window:
                assert "ends" not in window.see("Slowly"), "its words are shown as they come"
                model.rest.set()
                window.see("and then it ends.")
                assert window.leaves() == 0
            assert end(process) == 0
