"""The other side of the webhook, for tests: who sends messages to it, and where its answers go."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx2
from doors import Told, door_of
from minds import minding, until

import recollect
from recollect.channels.webhook.receiving import PATH
from recollect.channels.webhook.sending import Sender
from recollect.channels.webhook.signing import ID, secrets_in, signed_headers
from recollect.channels.webhook.webhook import NAME, Webhook, WebhookKind
from recollect.history import Standing
from recollect.mind.mind import Mind
from recollect.testing import FrozenClock, LoopbackServer
from recollect.testing.loopback import Request, Response
from recollect.testing.scripted_talk import ScriptedTalk

SECRET = "the-swifts-are-back-in-the-yard"
VARIABLE = "RECOLLECT_WEBHOOK_SECRET"
ADDRESS = "+49301234"
SOON = {"listen": "127.0.0.1:0"}
"""Any port that is free."""


def spoken(memory: recollect.Memory) -> list[str]:
    found = [one for one in memory.history.export() if one.source == "recollect" and one.standing is Standing.SAID]
    return [one.text for one in sorted(found, key=lambda one: one.start_byte)]


@dataclass
class Caller:
    """The other side, which sends."""

    port: int
    clock: FrozenClock

    async def post(
        self, body: object, message_id: str = "msg_1", *, late_seconds: float = 0, changes: dict[str, str] | None = None
    ) -> httpx2.Response:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        at = self.clock() - timedelta(seconds=late_seconds)
        headers = {**signed_headers(secrets_in(SECRET, VARIABLE), message_id, at, raw), **(changes or {})}
        return await self.send(raw, {name: value for name, value in headers.items() if value})

    async def send(self, raw: bytes, headers: dict[str, str]) -> httpx2.Response:
        async with httpx2.AsyncClient() as client:
            return await client.post(f"http://127.0.0.1:{self.port}{PATH}", content=raw, headers=headers)

    async def say(self, text: str, message_id: str = "msg_1", address: str = ADDRESS, **more: Any) -> httpx2.Response:
        return await self.post({"address": address, "text": text, **more}, message_id)


@asynccontextmanager
async def listening(memory: recollect.Memory, mind: Mind, told: Told | None = None) -> AsyncIterator[Caller]:
    clock = memory.clock
    assert isinstance(clock, FrozenClock)
    webhook = WebhookKind().open(door_of(memory, mind, told))
    mind.attach(webhook)
    running = asyncio.create_task(webhook.run())
    try:
        await until(lambda: webhook.port > 0 or running.done())
        yield Caller(port=webhook.port, clock=clock)
    finally:
        running.cancel()
        await asyncio.wait({running})
        await webhook.close()


@asynccontextmanager
async def a_known_caller(memory: recollect.Memory, model: ScriptedTalk | None = None) -> AsyncIterator[Caller]:
    memory.places.allow(NAME, ADDRESS, "Ada")
    async with minding(memory, model or ScriptedTalk()) as mind, listening(memory, mind) as caller:
        yield caller


def detail(response: httpx2.Response) -> str:
    assert response.headers["content-type"] == "application/problem+json"
    assert SECRET not in response.text
    return response.json()["detail"]


class Hook(LoopbackServer):
    """Where answers go. It takes all, but for what a test scripts."""

    def answer(self, request: Request) -> Response:
        step = self.next_step()
        return step if isinstance(step, Response) else Response(status=204)

    @property
    def ids(self) -> list[str]:
        return [request.headers[ID] for request in self.requests]


@asynccontextmanager
async def sending(memory: recollect.Memory, told: Told | None = None, seconds: float = 20) -> AsyncIterator[Webhook]:
    for address in (ADDRESS, "+1 555"):
        memory.places.allow(NAME, address)
    async with minding(memory, ScriptedTalk()) as mind:
        door = door_of(memory, mind, told)
        secrets = secrets_in(SECRET, VARIABLE)
        webhook = Webhook(door, secrets, None, Sender(door, secrets, answer_seconds=seconds))
        yield webhook
        await webhook.close()
