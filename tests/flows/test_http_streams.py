"""Live events: who follows is told of every change it may see, and of no other."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from http_houses import PLANTED, House, asked, bearing, furnish

from recollect import Memory
from recollect.errors import Unavailable
from recollect.surfaces.http import streams as module
from recollect.surfaces.http.streams import END, Follower, Streams
from recollect.testing import FrozenClock

PATIENCE_SECONDS = 20.0
Event = tuple[str, str, Any]
"""(id, name, data)"""


@pytest.fixture
def house(memory: Memory, clock: FrozenClock, projects: Path) -> House:
    return furnish(memory, clock, projects)


def followed(house: House, test: Callable[[Streams], Awaitable[None]]) -> None:
    async def run() -> None:
        streams = Streams(house.memory, look_seconds=0.01, token_seconds=0.01)
        try:
            await asyncio.wait_for(test(streams), PATIENCE_SECONDS)
        finally:
            await streams.close()

    asyncio.run(run())


def read(raw: bytes) -> list[Event]:
    found: list[Event] = []
    for block in raw.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "event" in fields:
            found.append((fields.get("id", ""), fields["event"], json.loads(fields["data"])))
    return found


async def nexts(follower: Follower) -> list[Event]:
    return read(await follower.pieces.get())


async def touched(follower: Follower, number: int) -> set[tuple[str, str, bool]]:
    """The next so many things that it is told of."""
    found: set[tuple[str, str, bool]] = set()
    while len(found) < number:
        for _, name, data in await nexts(follower):
            assert name in ("change", "here")
            found |= {(one["kind"], one["id"], one["is_there"]) for one in data.get("things", [])}
    return found


def test_who_follows_is_told_of_records_notes_and_messages(house: House) -> None:
    async def test(streams: Streams) -> None:
        follower = await streams.join(house.tokens.owner, "")
        assert [name for _, name, _ in await nexts(follower)] == ["here"]
        record = house.memory.knowledge.remember("The beans are in.").record
        assert record
        assert await touched(follower, 1) == {("record", record.id, True)}
        house.memory.notes.write("beans.md", "In.\n")
        assert await touched(follower, 1) == {("note", "beans.md", True)}
        house.memory.notes.remove("beans.md")
        assert await touched(follower, 1) == {("note", "beans.md", False)}

    followed(house, test)


def test_an_agent_is_told_of_nothing_that_is_anothers(house: House) -> None:
    async def test(streams: Streams) -> None:
        follower = await streams.join(house.tokens.bob, "")
        owner = await streams.join(house.tokens.owner, "")
        ada = house.memory.as_agent("ada")
        ada.knowledge.remember("A secret of ada.")
        ada.notes.write(f"agents/ada/more-{PLANTED}.md", "Hers.\n")
        ada.notes.remove(f"agents/ada/more-{PLANTED}.md")
        shared = house.memory.knowledge.remember("Known to all.").record
        assert shared
        seen: set[tuple[str, str, bool]] = set()
        while ("record", shared.id, True) not in seen:
            seen |= await touched(owner, 1)
        assert any(PLANTED in name for _, name, _ in seen)
        assert await touched(follower, 1) == {("record", shared.id, True)}
        assert follower.pieces.empty()

    followed(house, test)


def test_who_comes_again_is_told_what_came_between(house: House) -> None:
    async def test(streams: Streams) -> None:
        first = await streams.join(house.tokens.ada, "")
        ((last, _, _),) = await nexts(first)
        streams.leave(first)
        made = [house.memory.as_agent("ada").knowledge.remember(f"Plant {number}.").record for number in range(3)]
        house.memory.as_agent("bob").knowledge.remember("Bob's own.")
        again = await streams.join(house.tokens.ada, last)
        events = await nexts(again)
        things = [one["id"] for _, name, data in events if name == "change" for one in data["things"]]
        assert things == [record.id for record in made if record]
        assert events[-1][1] == "here"
        third = await streams.join(house.tokens.ada, events[-1][0])
        assert [name for _, name, _ in await nexts(third)] == ["here"]

    followed(house, test)


@pytest.mark.parametrize("last", ["x", "another.17", "1e9", ".", "١.١"])
def test_who_comes_with_an_id_of_another_time_is_told_to_read_anew(house: House, last: str) -> None:
    async def test(streams: Streams) -> None:
        follower = await streams.join(house.tokens.owner, last)
        ((_, name, _),) = await nexts(follower)
        assert name == "reset"

    followed(house, test)


def test_who_was_away_for_too_long_is_told_to_read_anew_and_misses_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where one thing was touched again and again."""
    monkeypatch.setattr(module, "MOST_CHANGES", 4)

    async def test(streams: Streams) -> None:
        first = await streams.join(house.tokens.owner, "")
        ((last, _, _),) = await nexts(first)
        streams.leave(first)
        for number in range(8):
            house.memory.notes.write("beans.md", f"version {number}")
        again = await streams.join(house.tokens.owner, last)
        assert [name for _, name, _ in await nexts(again)] == ["reset"]
        house.memory.notes.write("peas.md", "new")
        assert {one for _, one, _ in await touched(again, 1)} == {"peas.md"}

    followed(house, test)


def test_a_token_that_is_revoked_ends_its_streams_while_nothing_happens(house: House) -> None:
    made = house.memory.access.create("ada")

    async def test(streams: Streams) -> None:
        follower = await streams.join(made.secret, "")
        other = await streams.join(house.tokens.ada, "")
        await nexts(follower)
        house.memory.access.revoke(made.token.id)
        assert await follower.pieces.get() == END
        assert len(streams) == 1
        streams.leave(other)

    followed(house, test)


def test_a_token_that_is_revoked_ends_its_streams_before_the_next_event(house: House) -> None:
    made = house.memory.access.create("ada")

    async def test(streams: Streams) -> None:
        follower = await streams.join(made.secret, "")
        other = await streams.join(house.tokens.ada, "")
        await nexts(follower)
        house.memory.access.revoke(made.token.id)
        house.memory.as_agent("ada").knowledge.remember("After that.")
        assert await follower.pieces.get() == END
        assert await touched(other, 1)
        assert len(streams) == 1

    followed(house, test)


def test_who_does_not_read_is_let_go_and_the_others_go_on(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 2)

    async def test(streams: Streams) -> None:
        slow = await streams.join(house.tokens.owner, "")
        quick = await streams.join(house.tokens.owner, "")
        number = 0
        while len(streams) == 2:
            number += 1
            house.memory.knowledge.remember(f"Plant {number}.")
            await touched(quick, 1)
        assert slow.pieces.qsize() == 3
        assert len(streams) == 1

    followed(house, test)


def test_there_is_room_for_so_many_streams_and_one_token_does_not_take_all(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_STREAMS", 3)
    monkeypatch.setattr(module, "MOST_OF_ONE", 2)

    async def test(streams: Streams) -> None:
        ada = [await streams.join(house.tokens.ada, "") for _ in range(2)]
        with pytest.raises(Unavailable):
            await streams.join(house.tokens.ada, "")
        await streams.join(house.tokens.bob, "")
        with pytest.raises(Unavailable):
            await streams.join(house.tokens.owner, "")
        streams.leave(ada[0])
        await streams.join(house.tokens.owner, "")

    followed(house, test)


def test_beyond_the_room_a_client_is_told_when_to_come_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_STREAMS", 0)
    with asked(house, house.tokens.owner) as client:
        answer = client.get("/v1/events")
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_stream_goes_over_the_line_with_comments_in_silence(house: House) -> None:
    async def run() -> bytes:
        app = house.app()
        app.state.quiet_seconds = 0.01
        pieces: list[bytes] = []
        asked_for: list[bool] = []
        left = asyncio.Event()

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = dict(message["headers"])
                assert message["status"] == 200
                assert headers[b"content-type"].startswith(b"text/event-stream")
            pieces.append(message.get("body", b""))
            if b": still here" in b"".join(pieces):
                left.set()

        async def receive() -> dict[str, Any]:
            if not asked_for:
                asked_for.append(True)
                return {"type": "http.request", "body": b"", "more_body": False}
            await left.wait()
            return {"type": "http.disconnect"}

        given = {"host": "localhost", **bearing(house.tokens.owner)}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "path": "/v1/events",
            "raw_path": b"/v1/events",
            "query_string": b"",
            "root_path": "",
            "scheme": "http",
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
            "client": ("127.0.0.1", 1),
            "server": ("localhost", 80),
        }
        await asyncio.wait_for(app(scope, receive, send), PATIENCE_SECONDS)
        assert len(app.state.streams) == 0
        await app.state.streams.close()
        return b"".join(pieces)

    told = asyncio.run(run())
    assert told.startswith(b"retry: ")
    assert b"event: here\n" in told
