"""The bridge of docs/channels/webhook.md, as it stands there, between Recollect and a service."""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlencode

import httpx2
import pytest
from doors import door_of
from minds import on_sqlite, run, until
from webhooks import ADDRESS, SECRET, VARIABLE, spoken

import recollect
from recollect.channels.webhook.receiving import PATH
from recollect.channels.webhook.webhook import NAME, WebhookKind
from recollect.errors import Unavailable
from recollect.mind.channel import Reply, Said
from recollect.testing import LoopbackServer
from recollect.testing.loopback import Request, Response
from recollect.testing.scripted_talk import ScriptedTalk

PAGE = Path(__file__).parents[2] / "docs" / "channels" / "webhook.md"


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, SECRET)


class Service(LoopbackServer):
    """Stands in for Signal, Twilio or Slack: takes what is sent to people."""

    def answer(self, request: Request) -> Response:
        step = self.next_step()
        return step if isinstance(step, Response) else Response(status=200, body=b'{"ok": true}')


def signal_message(text: str, number: int) -> bytes:
    envelope = {
        "sourceNumber": ADDRESS,
        "sourceName": "Ada",
        "timestamp": 1_772_445_600_000 + number,
        "dataMessage": {"message": text},
    }
    return json.dumps({"jsonrpc": "2.0", "method": "receive", "params": {"envelope": envelope}}).encode()


def sms_message(text: str, number: int) -> bytes:
    return urlencode({"From": ADDRESS, "Body": text, "MessageSid": f"SM{number}"}).encode()


def slack_message(text: str, number: int) -> bytes:
    event = {"type": "message", "channel_type": "im", "channel": ADDRESS, "user": "U1", "text": text}
    return json.dumps({"type": "event_callback", "event_id": f"Ev{number}", "event": event}).encode()


def sent_text(kind: str, request: Request) -> tuple[str, str]:
    if kind == "sms":
        form = parse_qs(request.raw.decode())
        return form["To"][0], form["Body"][0]
    body = request.body
    return (body["recipients"][0], body["message"]) if kind == "signal" else (body["channel"], body["text"])


@contextmanager
def bridge(folder: Path, kind: str, service: Service, recollect_port: int, port: int) -> Iterator[str]:
    found = re.search(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert found
    (folder / "bridge.py").write_text(found[1], encoding="utf-8")
    variables = {
        "PATH": os.environ["PATH"],
        VARIABLE: SECRET,
        "RECOLLECT_URL": f"http://127.0.0.1:{recollect_port}{PATH}",
        "BRIDGE_PORT": str(port),
        "BRIDGE_HOOK": "in-hushhush",
        "BRIDGE_SERVICE": service.url,
        "BRIDGE_OWN": "+49 30 9999",
        "BRIDGE_TOKEN": "account:made-up",
    }
    with subprocess.Popen([sys.executable, "-W", "error", "bridge.py", kind], cwd=folder, env=variables) as process:
        try:
            while process.poll() is None:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except ConnectionRefusedError:
                    continue
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


@on_sqlite
@pytest.mark.parametrize(
    ("kind", "message"), [("signal", signal_message), ("sms", sms_message), ("slack", slack_message)]
)
def test_the_bridge_of_the_page_carries_messages_there_and_answers_back(
    tmp_path: Path, home: Path, engine: str, kind: str, message: Callable[[str, int], bytes]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    home.mkdir()
    settings = f'webhook = {{listen = "127.0.0.1:0", url = "http://127.0.0.1:{port}/answers"}}\n'
    (home / "recollect.toml").write_text(settings, encoding="utf-8")
    model = ScriptedTalk(["In May."])

    async def flow(memory: recollect.Memory, service: Service) -> None:
        code = memory.places.new_code(NAME).text
        mind = memory.mind(open_model=lambda: model)
        is_away = True

        async def hear(said: Said) -> int:
            nonlocal is_away
            if is_away and said.text == "When do the swifts come back?":
                is_away = False
                raise Unavailable("The database is away.")
            return await mind.hear(said)

        webhook = WebhookKind().open(replace(door_of(memory, mind), hear=hear))
        mind.attach(webhook)
        running = asyncio.create_task(webhook.run())
        await until(lambda: webhook.port > 0)
        opening = bridge(tmp_path, kind, service, webhook.port, port)
        url = await asyncio.to_thread(opening.__enter__)
        async with httpx2.AsyncClient() as client:

            async def arrives(raw: bytes, path: str = "/in-hushhush") -> int:
                return (await client.post(f"{url}{path}", content=raw)).status_code

            try:
                assert await arrives(message("Who are you?", 1)) == 204
                assert await arrives(message("Let me in.", 1), "/in") == 404
                assert await arrives(b"{]") in (204, 400)
                assert await arrives(message(code, 2)) == 204
                assert sent_text(kind, service.requests[-1])[0] == ADDRESS
                memory.history.pause()
                assert await arrives(message("This is between us.", 4)) == 204
                assert "paused" in sent_text(kind, service.requests[-1])[1]
                memory.history.resume()
                assert await arrives(message("When do the swifts come back?", 3)) == 503
                for _ in range(3):
                    assert await arrives(message("When do the swifts come back?", 3)) == 204
                assert await arrives(b"{}", "/answers") == 401
                before = len(service.requests)
                service.script(Response(status=500))
                await mind.turn()
                assert len(service.requests) == before + 1  # It was not taken, and is sent again.
                reply = Reply(turn=1, text="In May.", at="2026-03-02T12:00:00.000Z")
                for _ in range(2):
                    await webhook.deliver(ADDRESS, reply)
                assert len(service.requests) == before + 2
            finally:
                await asyncio.to_thread(opening.__exit__, None, None, None)
                running.cancel()
                await asyncio.wait({running})
                await webhook.close()
                await mind.close()

    with Service() as service, recollect.open(home=home, database=engine) as memory:
        run(flow(memory, service))
        assert spoken(memory) == ["When do the swifts come back?", "In May."]
        assert sent_text(kind, service.requests[-1]) == (ADDRESS, "In May.")
    assert len(model.requests) == 1


def test_slack_is_given_its_challenge(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    asked = json.dumps({"type": "url_verification", "challenge": "3eZb"}).encode()
    with Service() as service, bridge(tmp_path, "slack", service, 1, port) as url:
        answer = httpx2.post(f"{url}/in-hushhush", content=asked)
        assert (answer.status_code, answer.text) == (200, "3eZb")
