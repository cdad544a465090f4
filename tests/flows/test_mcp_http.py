"""MCP over HTTP: the official client in both eras against a real server, and who comes with which token (S2, S3)."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_asking import ERAS, Person, text_of
from mcp_types import CallToolResult

import recollect
from recollect.asking import Question, answer
from recollect.clock import to_text
from recollect.listening import listener, serve
from recollect.surfaces.http import mcp_sessions
from recollect.surfaces.http.app import create_app
from recollect.surfaces.http.surroundings import Surroundings
from recollect.testing import FrozenClock

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
PATIENCE_SECONDS = 30.0
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@dataclass
class Served:
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @asynccontextmanager
    async def client(self, secret: str, era: str, person: Person | None = None) -> AsyncIterator[Client]:
        headers = {"authorization": f"Bearer {secret}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            transport = streamable_http_client(self.url, http_client=http)
            async with Client(transport, mode=era, elicitation_callback=person) as client:
                yield client

    async def post(self, body: object, **headers: str) -> httpx2.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        async with httpx2.AsyncClient(timeout=30) as http:
            return await http.post(self.url, content=content, headers={**HEADERS, **headers})


@asynccontextmanager
async def served(memory: recollect.Memory) -> AsyncIterator[Served]:
    place = listener("127.0.0.1", 0, "a test", "http.listen")
    app = create_app(memory, Surroundings())
    serving = asyncio.create_task(serve(app, [place], has_lifespan=True))
    try:
        yield Served(port=place.getsockname()[1])
    finally:
        serving.cancel()
        await asyncio.wait({serving})


@pytest.fixture
def house(memory: recollect.Memory) -> recollect.Memory:
    for name in ("ada", "bo"):
        memory.agents.add(name)
        memory.as_agent(name).knowledge.remember(f"{name} keeps a swift in mind.")
    memory.agents.grant("ada", "house")
    return memory


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return request.param


def secret_of(memory: recollect.Memory, agent: str = "ada", **options: Any) -> str:
    return memory.access.create(agent, **options).secret


def test_the_official_client_lists_and_calls_over_http(house: recollect.Memory, era: str) -> None:
    async def asked() -> None:
        async with served(house) as place, place.client(secret_of(house), era) as client:
            assert len((await client.list_tools()).tools) == 7
            kept = await client.call_tool("remember", {"text": "The swifts came on the second of May."})
            found = await client.call_tool("search_memory", {"query": "when did the swifts come"})
            assert found.structured_content
            assert kept.structured_content
            assert kept.structured_content["id"] in [hit["id"] for hit in found.structured_content["hits"]]
            assert "swift" in (await client.get_prompt("rehydrate", {})).model_dump_json()
            assert (await client.list_resources()).resources == []
            refused = await client.call_tool("read_memory", {"kind": "record", "id": "none"})
            assert refused.is_error

    asyncio.run(asked())


def test_each_token_sees_what_is_its_agents(house: recollect.Memory, era: str) -> None:
    async def asked(secret: str, place: Served) -> str:
        async with place.client(secret, era) as client:
            return text_of(await client.call_tool("search_memory", {"query": "swift"}))

    async def both() -> None:
        async with served(house) as place:
            ada, bo = await asked(secret_of(house, "ada"), place), await asked(secret_of(house, "bo"), place)
            assert "ada keeps" in ada
            assert "bo keeps" not in ada
            assert "bo keeps" in bo
            assert "ada keeps" not in bo

    asyncio.run(both())


def test_a_token_that_may_only_read_writes_nothing(house: recollect.Memory, era: str) -> None:
    async def asked() -> None:
        async with served(house) as place, place.client(secret_of(house, read_only=True), era, Person()) as client:
            assert [one.name for one in (await client.list_tools()).tools] == [
                "search_memory",
                "read_memory",
                "context",
                "notes",
            ]
            record = house.as_agent("ada").knowledge.records()[0].id
            calls: list[tuple[str, dict[str, Any]]] = [
                ("remember", {"text": "x is y"}),
                ("update_status", {"updates": {"a": 1}}),
                ("notes", {"command": "create", "path": "/memories/x.md", "file_text": "x"}),
                ("forget", {"kind": "record", "id": record}),
            ]
            for tool, given in calls:
                result = await client.call_tool(tool, given)
                assert isinstance(result, CallToolResult)
                assert result.is_error, tool
                assert "may only read" in text_of(result)

    before = (house.knowledge.figures(), house.notes.figures())
    asyncio.run(asked())
    assert (house.knowledge.figures(), house.notes.figures()) == before


@pytest.mark.parametrize("method", ["initialize", "tools/list", "tools/call", "resources/list", "server/discover"])
def test_without_a_good_token_nothing_is_answered(house: recollect.Memory, clock: FrozenClock, method: str) -> None:
    good = secret_of(house)
    expired = secret_of(house, expires_at=to_text(clock() + timedelta(minutes=1)))
    revoked = house.access.create("ada")
    house.access.revoke(revoked.token.id)
    clock.move(minutes=2)
    wrong = good[:-4] + ("AAAA" if not good.endswith("AAAA") else "BBBB")
    body = {**INITIALIZE, "method": method}

    async def asked() -> None:
        async with served(house) as place:
            for given in ({}, *({"authorization": f"Bearer {one}"} for one in (wrong, expired, revoked.secret, "x"))):
                answer = await place.post(body, **given)
                assert answer.status_code == 401
                assert answer.headers["content-type"] == "application/problem+json"
                assert "swift" not in answer.text
                assert answer.headers["www-authenticate"].startswith("Bearer")

    asyncio.run(asked())


def test_other_hosts_and_pages_are_refused_before_the_protocol(house: recollect.Memory) -> None:
    token = {"authorization": f"Bearer {secret_of(house)}"}

    async def asked() -> None:
        async with served(house) as place:
            assert (await place.post(INITIALIZE, **token, host="evil.example")).status_code == 421
            assert (await place.post(INITIALIZE, **token, origin="http://evil.example")).status_code == 403
            own = f"localhost:{place.port}"
            for headers in ({"host": own}, {"host": own, "origin": f"http://{own}"}):
                assert (await place.post(INITIALIZE, **token, **headers)).status_code == 200
            assert (await place.post(b"no json", **token)).status_code == 400

    asyncio.run(asked())


def test_nobody_holds_a_line_on_which_nothing_is_sent(house: recollect.Memory) -> None:
    """A server that ends would wait for it."""

    async def asked() -> None:
        async with served(house) as place, httpx2.AsyncClient() as http:
            headers = {"authorization": f"Bearer {secret_of(house)}", "accept": "text/event-stream"}
            answer = await http.get(place.url, headers=headers)
            assert answer.status_code == 405
            assert answer.headers["allow"] == "POST, DELETE"

    asyncio.run(asked())


def test_a_session_is_gone_on_with_only_by_who_began_it(house: recollect.Memory) -> None:
    ada, bo, reader = secret_of(house, "ada"), secret_of(house, "bo"), secret_of(house, read_only=True)
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}

    async def asked() -> None:
        async with served(house) as place:
            begun = await place.post(INITIALIZE, authorization=f"Bearer {ada}")
            session = {"mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
            ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            assert (await place.post(ready, authorization=f"Bearer {ada}", **session)).status_code == 202
            assert (await place.post(listing, authorization=f"Bearer {ada}", **session)).status_code == 200
            for other in (bo, reader):
                assert (await place.post(listing, authorization=f"Bearer {other}", **session)).status_code == 404
            assert (await place.post(listing, **session)).status_code == 401

    asyncio.run(asked())


@pytest.mark.parametrize("versions", [[], ["2025-06-18", "2026-07-28"], ["2026-07-28", "2025-06-18"]])
def test_of_one_token_there_are_so_many_sessions_whatever_it_says_twice(
    house: recollect.Memory, monkeypatch: pytest.MonkeyPatch, versions: list[str]
) -> None:
    monkeypatch.setattr(mcp_sessions, "MOST_OF_ONE", 2)
    ada, bo = f"Bearer {secret_of(house, 'ada')}", f"Bearer {secret_of(house, 'bo')}"
    twice = [("mcp-protocol-version", version) for version in versions]

    async def asked() -> None:
        async with served(house) as place, httpx2.AsyncClient(timeout=30) as http:

            async def begin(secret: str) -> httpx2.Response:
                headers = [*HEADERS.items(), ("authorization", secret), *twice]
                return await http.post(place.url, json=INITIALIZE, headers=headers)

            begun = [await begin(ada) for _ in range(4)]
            if versions[:1] == ["2026-07-28"]:  # Of that era, which has none.
                assert not any("mcp-session-id" in answer.headers for answer in begun)
                return
            assert [answer.status_code for answer in begun] == [200, 200, 503, 503]
            assert (await begin(bo)).status_code == 200

    asyncio.run(asked())


def test_a_body_of_very_many_values_is_refused_before_it_is_parsed(house: recollect.Memory) -> None:
    async def asked() -> None:
        async with served(house) as place:
            for version in ("2025-06-18", "2026-07-28"):
                for many in (b"[]", b"{}", b"1", b'"a"'):
                    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":[1' + (b"," + many) * 60_000
                    answer = await place.post(
                        body + b"]}}",
                        authorization=f"Bearer {secret_of(house, read_only=True)}",
                        **{"mcp-protocol-version": version},
                    )
                    assert answer.status_code == 400
                    assert "more than 50,000 values" in answer.json()["detail"]

    asyncio.run(asked())


def test_one_token_that_asks_much_by_mcp_leaves_threads_for_others(
    house: recollect.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end = threading.Semaphore(0), threading.Event()

    def held(memory: recollect.Memory, question: Question) -> dict[str, Any]:
        begun.release()
        assert may_end.wait(PATIENCE_SECONDS)
        return answer(memory, question)

    monkeypatch.setattr(mcp_sessions, "answer", held)
    monkeypatch.setattr(mcp_sessions, "WAITING_OF_ONE", 10)

    async def asked() -> None:
        async with served(house) as place:
            async with (
                place.client(secret_of(house, "ada"), "auto") as ada,
                place.client(secret_of(house, "bo"), "auto") as bo,
            ):
                search = {"query": "swift"}
                asking = [asyncio.create_task(ada.call_tool("search_memory", search)) for _ in range(20)]
                for _ in range(mcp_sessions.RUNNING_OF_ONE):
                    assert await asyncio.to_thread(begun.acquire, timeout=PATIENCE_SECONDS)
                assert not begun.acquire(blocking=False)
                async with asyncio.timeout(PATIENCE_SECONDS):
                    assert (await bo.list_tools()).tools
                    assert not (await bo.call_tool("context", {})).is_error
                may_end.set()
                answers = await asyncio.gather(*asking)
            refused = [text_of(one) for one in answers if one.is_error]
            assert len(refused) == 20 - mcp_sessions.RUNNING_OF_ONE - 10
            assert all("Come again later" in text for text in refused)

    asyncio.run(asked())


def test_a_person_is_asked_over_http_before_something_is_forgotten(house: recollect.Memory, era: str) -> None:
    record = house.as_agent("ada").knowledge.records()[0].id

    async def asked(person: Person | None) -> dict[str, Any]:
        async with served(house) as place, place.client(secret_of(house), era, person) as client:
            result = await client.call_tool("forget", {"kind": "record", "id": record})
            assert result.structured_content, result
            return result.structured_content

    assert asyncio.run(asked(None))["outcome"] == "asked"
    assert asyncio.run(asked(Person("decline")))["outcome"] == "declined"
    assert house.knowledge.record(record)
    assert asyncio.run(asked(Person()))["outcome"] == "forgotten"
    assert record not in {one.id for one in house.knowledge.records(state="all")}


def test_a_server_that_no_such_client_asked_has_not_loaded_the_library() -> None:
    """It takes half a second and some memory."""
    import subprocess
    import sys

    code = "import sys, recollect.surfaces.http.app; assert 'mcp' not in sys.modules, 'loaded'"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
