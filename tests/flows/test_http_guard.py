"""What stands before every route: Host, Origin, body, rate, and what is put on every answer."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from http_houses import PLANTED, House, asked, bearing, everything_kept, furnish
from starlette.types import Message, Receive, Scope, Send

from recollect import Memory
from recollect.surfaces.http import guard
from recollect.surfaces.http.places import is_from_elsewhere, is_our_host
from recollect.surfaces.http.problems import TITLES, problem
from recollect.surfaces.http.rates import Buckets
from recollect.surfaces.http.surroundings import Surroundings
from recollect.testing import FrozenClock

STATEMENT = {"text": "The beans are in."}


@pytest.fixture
def house(memory: Memory, clock: FrozenClock, projects: Path) -> House:
    return furnish(memory, clock, projects)


# From where


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "", "localhost:x", "[::2]", "0.0.0.0"]
)
def test_a_page_that_lets_its_own_name_point_here_is_refused(host: str) -> None:
    assert not is_our_host(host, {"localhost", "127.0.0.1", "::1"})


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:7717", "127.0.0.1:80", "[::1]:7717", "localhost."])
def test_its_own_names_are_known_with_any_port(host: str) -> None:
    assert is_our_host(host, {"localhost", "127.0.0.1", "::1"})


def test_rebinding_is_refused_before_anything_is_told(house: House) -> None:
    before = everything_kept(house.memory)
    with asked(house, house.tokens.owner) as client:
        for path in ("/v1/records", "/health", "/openapi.json", "/mcp"):
            answer = client.get(path, headers={"host": "rebound.example"})
            assert answer.status_code == 421
            assert PLANTED not in answer.text
        assert client.post("/v1/records", json=STATEMENT, headers={"host": "rebound.example"}).status_code == 421
    assert everything_kept(house.memory) == before


@pytest.mark.parametrize(
    ("method", "origin", "site", "is_refused"),
    [
        ("POST", "https://evil.example", None, True),
        ("POST", "null", None, True),
        ("POST", "http://localhost:9999", None, True),
        ("POST", "http://localhost:7717", "same-origin", False),
        ("POST", None, "cross-site", True),
        ("POST", None, "same-site", True),
        ("POST", None, "none", False),
        ("POST", None, None, False),
        ("DELETE", "https://localhost", None, True),
        ("GET", "https://evil.example", None, True),
        ("GET", None, "cross-site", False),
        ("POST", "http://localhost:7717@evil.example", None, True),
        ("POST", "http://[", None, True),
    ],
)
def test_only_pages_of_this_server_ask(method: str, origin: str | None, site: str | None, is_refused: bool) -> None:
    assert is_from_elsewhere(method, "localhost:7717", "http", origin, site) is is_refused


def test_a_page_behind_a_proxy_that_brings_tls_is_one_of_ours() -> None:
    assert not is_from_elsewhere("POST", "memory.example", "http", "https://memory.example", "same-origin")


def test_a_post_from_another_page_changes_nothing_even_with_a_good_token(house: House) -> None:
    before = everything_kept(house.memory)
    with asked(house, house.tokens.owner) as client:
        for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}):
            assert client.post("/v1/records", json=STATEMENT, headers=headers).status_code == 403
        # A form can send this without asking first.
        plain = {"content-type": "text/plain"}
        assert client.post("/v1/records", content=json.dumps(STATEMENT), headers=plain).status_code == 400
        preflight = {"origin": "https://evil.example", "access-control-request-method": "POST"}
        answer = client.options("/v1/records", headers=preflight)
        assert answer.status_code == 403
        assert not [name for name in answer.headers if name.startswith("access-control")]
    assert everything_kept(house.memory) == before


def test_every_answer_has_the_headers_that_keep_browsers_from_doing_more_with_it(house: House) -> None:
    with asked(house) as client:
        for secret, path in ((house.tokens.owner, "/v1/records"), ("", "/v1/records"), ("", "/health")):
            headers = client.get(path, headers=bearing(secret)).headers
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cache-control"] == "no-store"
            assert headers["content-security-policy"].startswith("default-src 'none'")


def test_who_asks_for_the_head_alone_gets_what_get_would_give_without_a_body(house: House) -> None:
    with asked(house, house.tokens.ada) as client:
        for path in ("/v1/records", f"/v1/notes/files/{house.ids['path']}", "/health", "/openapi.json", "/v1/nothing"):
            whole, head = client.get(path), client.head(path)
            assert (head.status_code, head.content) == (whole.status_code, b"")
            for name in ("content-type", "content-length", "etag"):
                assert head.headers.get(name) == whole.headers.get(name)
        assert client.head("/v1/records", headers={"authorization": ""}).status_code == 401
        assert client.head("/v1/records", headers={"origin": "https://evil.example"}).status_code == 403
        endless = client.head("/v1/events")
        assert (endless.status_code, endless.content) == (200, b"")
        app: Any = client.app
        assert len(app.state.streams) == 0


@pytest.mark.parametrize("status", sorted({400, 401, 403, 404, 405, 408, 409, 412, 413, 421, 429, 500, 503}))
def test_the_type_of_a_refusal_is_ours_and_no_word_of_python(status: int) -> None:
    value = json.loads(problem(status, "").body)
    assert value["type"] == "urn:recollect:" + value["title"].lower().replace(" ", "-")
    assert value["title"] == TITLES[status]
    assert json.loads(problem(413, "").body)["type"] == "urn:recollect:content-too-large"


# What is sent


def test_a_body_that_is_too_large_is_refused_whether_it_says_so_or_not(house: House) -> None:
    before = everything_kept(house.memory)
    with asked(house, house.tokens.owner, most_bytes=1_000) as client:
        whole = json.dumps({"text": "x" * 2_000}).encode()
        assert client.post("/v1/records", content=whole, headers=_as_json()).status_code == 413
        pieces = iter([whole[:600], whole[600:1_200], whole[1_200:]])  # Without a length.
        answer = client.post("/v1/records", content=pieces, headers=_as_json())
        assert answer.status_code == 413
        assert answer.headers["content-type"] == "application/problem+json"
        assert client.post("/v1/records", json=STATEMENT).status_code == 201
    after = everything_kept(house.memory)
    assert len(after["knowledge_records"]) == len(before["knowledge_records"]) + 1


def test_who_has_no_token_sends_no_body(house: House) -> None:
    """It is refused before a byte of it is read."""

    async def never() -> Any:
        raise AssertionError("the body was read")

    status = asyncio.run(_ask(house.app(), never, {}))
    assert status == 401


def test_a_body_that_does_not_come_is_given_up(house: House) -> None:
    app = house.app(body_seconds=0.05)

    async def slow() -> Any:
        await asyncio.Event().wait()

    status = asyncio.run(_ask(app, slow, bearing(house.tokens.owner)))
    assert status == 408


def test_a_body_that_comes_by_drops_is_given_up_too(house: House) -> None:
    app = house.app(body_seconds=0.1)

    async def drops() -> Any:
        await asyncio.sleep(0)  # A drop, for as long as anybody takes them.
        return {"type": "http.request", "body": b" ", "more_body": True}

    status = asyncio.run(_ask(app, drops, bearing(house.tokens.owner)))
    assert status == 408


def test_what_is_not_known_is_refused_by_its_name(house: House) -> None:
    with asked(house, house.tokens.owner) as client:
        answer = client.get("/v1/records?categoy=identity")
        assert answer.status_code == 400
        assert "'categoy' is not known here" in answer.json()["detail"]
        answer = client.post("/v1/records", json={"text": "The beans are in.", "tag": "garden"})
        assert answer.status_code == 400
        detail = answer.json()["detail"]
        assert detail.startswith("The body: 'tag' is not known here. There are: text, ")
        assert "tags" in detail
        assert client.get("/v1/records?limit=1&limit=2").status_code == 400
        assert client.get("/v1/records?limit=0").json()["detail"].startswith('"limit" of the query')
        broken = client.post("/v1/records", content=b"{", headers=_as_json())
        assert broken.status_code == 400
        assert broken.json()["detail"].startswith("The body is no JSON: ")
        assert client.post("/v1/records", content=b"\xff", headers=_as_json()).status_code == 400
        deep = client.post("/v1/records", content=b"[" * 100_000, headers=_as_json())
        assert deep.status_code == 400


def test_a_refusal_does_not_repeat_what_was_sent(house: House) -> None:
    with asked(house, house.tokens.owner) as client:
        answer = client.post("/v1/records", json={"text": 3, "scope": [house.tokens.owner]})
        assert answer.status_code == 400
        assert house.tokens.owner not in answer.text


# How often


def test_many_wrong_tokens_are_told_to_wait_and_a_good_one_is_not(house: House) -> None:
    with asked(house) as client:
        codes = [client.get("/v1/records", headers=bearing(house.tokens.wrong)).status_code for _ in range(40)]
        assert codes[0] == 401
        assert codes[-1] == 429
        assert int(client.get("/v1/records").headers["retry-after"]) >= 1
        assert client.get("/v1/records", headers=bearing(house.tokens.ada)).status_code == 200


def test_a_token_that_asks_without_end_is_slowed_and_others_are_not(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "REQUESTS_AT_ONCE", 3.0)
    monkeypatch.setattr(guard, "REQUESTS_PER_SECOND", 0.001)
    with asked(house) as client:
        codes = [client.get("/v1/status", headers=bearing(house.tokens.ada)).status_code for _ in range(5)]
        assert codes == [200, 200, 200, 429, 429]
        assert client.get("/v1/status", headers=bearing(house.tokens.bob)).status_code == 200


def test_a_bucket_fills_again_and_holds_no_more_than_it_can() -> None:
    now = [0.0]
    buckets = Buckets(2.0, 3.0, most=2, now=lambda: now[0])
    assert [buckets.take("a") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    now[0] = 0.5
    assert buckets.take("a") == 0.0
    assert buckets.take("a") > 0
    now[0] = 1_000.0
    assert [buckets.take("a") > 0 for _ in range(4)] == [False, False, False, True]
    buckets.take("b")
    buckets.take("c")
    assert buckets.take("a") == 0.0, "the one that was not used for longest begins anew"


# What breaks


def test_what_breaks_is_told_in_our_words_and_noted_without_anybodys(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError(f"{PLANTED} {house.tokens.owner}")

    monkeypatch.setattr(type(house.memory.knowledge), "records", broken)
    with asked(house, house.tokens.owner) as client:
        answer = client.get("/v1/records")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert PLANTED not in answer.text
    event = house.memory.runs.latest("http", limit=1)[0]
    assert event.detail == {"route": "/v1/records", "method": "GET", "error": "ZeroDivisionError"}


def _as_json() -> dict[str, str]:
    return {"content-type": "application/json"}


async def _ask(app: Any, receive: Any, headers: dict[str, str]) -> int:
    """POST /v1/records, straight into the application: a client would send the body at once."""
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    given = {"host": "localhost", "content-type": "application/json", **headers}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": "/v1/records",
        "raw_path": b"/v1/records",
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        "client": ("127.0.0.1", 1),
        "server": ("localhost", 80),
    }
    await asyncio.wait_for(app(scope, receive, send), 10)
    return sent[0]["status"]


# When a token was used


def test_a_token_is_noted_as_used_while_what_it_follows_goes_on(house: House) -> None:
    noted: list[str] = []

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if beside := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(beside)
        noted.extend(token.last_used_at for token in house.memory.access.list() if token.last_used_at)
        await send({"type": "http.response.body", "body": b""})

    async def answered(message: Message) -> None:
        return None

    async def nothing_more() -> Message:
        return {"type": "http.disconnect"}

    given = [(b"host", b"localhost"), (b"authorization", f"Bearer {house.tokens.ada}".encode())]
    scope = {"type": "http", "method": "GET", "path": "/v1/events", "query_string": b"", "headers": given}
    asyncio.run(guard.Guard(endless, house.memory, Surroundings())(scope, nothing_more, answered))
    assert len(noted) == 1
