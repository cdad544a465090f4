"""Who is answered at once: one token that asks for what takes long leaves threads for everybody else."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from http_houses import House, asked, bearing, furnish
from starlette.requests import Request
from starlette.testclient import TestClient
from starlette.types import Message

from recollect import Memory
from recollect.errors import Unavailable
from recollect.surfaces.http.turns import RUNNING_OF_ONE, LongWork, Turns
from recollect.testing import FrozenClock

PATIENCE_SECONDS = 30.0
CROWD = 2 * RUNNING_OF_ONE


@pytest.fixture
def house(memory: Memory, clock: FrozenClock, projects: Path) -> House:
    return furnish(memory, clock, projects)


class Held:
    """A method that waits in its thread, where who asks is ada."""

    def __init__(self, method: Any) -> None:
        self.method = method
        self.begun = threading.Semaphore(0)
        self.may_end = threading.Event()

    def __get__(self, part: Any, _: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            if part._principal.is_confined:
                self.begun.release()
                assert self.may_end.wait(PATIENCE_SECONDS)
            return self.method(part, *given, **named)

        return call

    def wait(self, number: int = 1) -> None:
        for _ in range(number):
            assert self.begun.acquire(timeout=PATIENCE_SECONDS)


@contextmanager
def held(part: Any, name: str, patch: pytest.MonkeyPatch) -> Iterator[Held]:
    holding = Held(getattr(type(part), name))
    patch.setattr(type(part), name, holding)
    try:
        yield holding
    finally:
        holding.may_end.set()


def crowd(client: TestClient, pool: ThreadPoolExecutor, path: str, secret: str, body: Any = None) -> list[Any]:
    method = "POST" if body else "GET"
    return [pool.submit(client.request, method, path, json=body, headers=bearing(secret)) for _ in range(CROWD)]


def soon(pool: ThreadPoolExecutor, client: TestClient, path: str, secret: str) -> int:
    return pool.submit(client.get, path, headers=bearing(secret)).result(PATIENCE_SECONDS / 2).status_code


def test_one_token_that_asks_much_at_once_leaves_threads_for_others(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    with asked(house) as client, ThreadPoolExecutor(CROWD + 1) as pool:
        with held(house.memory.knowledge, "records", monkeypatch) as holding:
            asking = crowd(client, pool, "/v1/records", house.tokens.ada)
            holding.wait(RUNNING_OF_ONE)  # So many are answered at once, without waiting.
            assert soon(pool, client, "/v1/pause", house.tokens.owner) == 200
            assert soon(pool, client, "/v1/records", house.tokens.owner) == 200
            assert soon(pool, client, "/health", house.tokens.ada) == 200
        assert {one.result(PATIENCE_SECONDS).status_code for one in asking} == {200}


def test_searches_that_take_long_take_no_threads_of_others(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    question = {"query": "garden", "rerank": True}
    with asked(house) as client, ThreadPoolExecutor(CROWD + 1) as pool:
        with held(house.memory.recall, "search", monkeypatch) as holding:
            asking = crowd(client, pool, "/v1/search", house.tokens.ada, question)
            holding.wait()
            assert soon(pool, client, "/v1/search?query=garden", house.tokens.owner) == 200
            assert soon(pool, client, "/v1/search?query=garden&rerank=true", house.tokens.owner) == 200
            assert not holding.begun.acquire(blocking=False), "of one token one at a time"
        assert {one.result(PATIENCE_SECONDS).status_code for one in asking} == {200}


def test_who_comes_when_the_line_is_long_is_told_when_to_come_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    with asked(house) as client, ThreadPoolExecutor(CROWD + 1) as pool:
        state: Any = client.app
        state.state.turns = Turns(running=1, waiting=0)
        with held(house.memory.knowledge, "records", monkeypatch) as holding:
            first = pool.submit(client.get, "/v1/records", headers=bearing(house.tokens.ada))
            holding.wait()
            refused = client.get("/v1/records", headers=bearing(house.tokens.ada))
            assert refused.status_code == 503
            assert int(refused.headers["retry-after"]) > 0
            assert client.get("/v1/records", headers=bearing(house.tokens.owner)).status_code == 200
        assert first.result(PATIENCE_SECONDS).status_code == 200
        assert client.get("/v1/records", headers=bearing(house.tokens.ada)).status_code == 200


def test_a_line_is_first_come_first_served_and_forgotten_when_it_is_empty() -> None:
    async def run() -> list[int]:
        turns, order = Turns(running=1, waiting=2), list[int]()

        async def ask(number: int) -> None:
            async with turns.taken("a"):
                order.append(number)
                await asyncio.sleep(0)

        asking = [asyncio.create_task(ask(number)) for number in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(Unavailable):
            await ask(4)
        async with turns.taken("b"):
            pass
        await asyncio.gather(*asking)
        assert not turns._lines  # pyright: ignore[reportPrivateUsage]
        return order

    assert asyncio.run(run()) == [0, 1, 2]


def test_long_work_of_one_token_is_done_one_by_one_and_another_has_its_turn() -> None:
    async def run() -> None:
        work, begun, may_end = LongWork(2), threading.Semaphore(0), threading.Event()

        def hold() -> None:
            begun.release()
            assert may_end.wait(PATIENCE_SECONDS)

        asking = [asyncio.create_task(work.run(request_of("a"), hold)) for _ in range(3)]
        assert await asyncio.to_thread(begun.acquire, timeout=PATIENCE_SECONDS)
        assert await work.run(request_of("b"), lambda: "done") == "done"
        assert not begun.acquire(blocking=False)
        may_end.set()
        await asyncio.gather(*asking)

    asyncio.run(asyncio.wait_for(run(), PATIENCE_SECONDS))


def request_of(secret: str, left: asyncio.Event | None = None) -> Request:
    """`left`: when who asks has."""

    async def receive() -> Message:
        await (left or asyncio.Event()).wait()
        return {"type": "http.disconnect"}

    return Request({"type": "http", "headers": [(b"authorization", f"Bearer {secret}".encode())]}, receive)


@pytest.mark.parametrize("threads", [1, 2])
def test_long_work_is_not_begun_for_who_has_left_meanwhile(threads: int) -> None:
    async def run() -> None:
        work, begun, may_end = LongWork(threads), threading.Semaphore(0), threading.Event()
        left, done = asyncio.Event(), list[str]()

        def hold() -> None:
            begun.release()
            assert may_end.wait(PATIENCE_SECONDS)

        first = asyncio.create_task(work.run(request_of("a"), hold))
        assert await asyncio.to_thread(begun.acquire, timeout=PATIENCE_SECONDS)
        secret = "a" if threads > 1 else "b"  # Behind another of its own, or behind somebody else.
        second = asyncio.create_task(work.run(request_of(secret, left), lambda: done.append("gone")))
        third = asyncio.create_task(work.run(request_of(secret), lambda: done.append("there")))
        await asyncio.sleep(0)
        left.set()
        may_end.set()
        await asyncio.gather(first, third)
        with pytest.raises(Unavailable):
            await second
        assert done == ["there"]

    asyncio.run(asyncio.wait_for(run(), PATIENCE_SECONDS))
