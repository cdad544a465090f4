"""A long conversation with all that happens to one: where its requests did not begin with the one before, and why.

The server says where (`prefixes.breaks`, and its cache), the mind says why (the events `prefix`), and both tell of the
same breaks. The server keeps the provider's rules: not one request may be refused.
"""

import itertools
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from minds import Listener, minding, run, say
from strict_server import StrictServer, is_condensing, is_turn, texts_of

import recollect
from recollect.llm.anthropic_talk import AnthropicTalk
from recollect.mind.entries import TurnState
from recollect.mind.mind import Mind
from recollect.testing import FrozenClock
from recollect.testing.anthropic_answers import Answer, think, use_tool
from recollect.testing.anthropic_answers import say as answer_with
from recollect.testing.prefixes import Break, breaks

MODEL = "claude-opus-5-5"
COMPACT_AT_TOKENS = 6_000
EXCHANGES = 60
SECRET = "The code of the garden gate is the year in which the pear tree was planted."


def speaking() -> Callable[[dict[str, Any]], Answer]:
    """Thinks always, uses a tool at every third question, and says something longer each time."""
    numbers = itertools.count(1)

    def respond(body: dict[str, Any]) -> Answer:
        number = next(numbers)
        if is_condensing(body):
            return answer_with(f"Summary {number}: " + "a long talk about the garden and the boat. " * 10)
        last = body["messages"][-1]["content"]
        if number % 3 == 0 and not any(block["type"] == "tool_result" for block in last):
            before = think(f"Do I know this? {number}") + answer_with("I look. ")
            return before + use_tool("query_memory", {"sql": f"SELECT {number}"})
        return think(f"Let me see, {number}.") + answer_with(f"Answer {number}: " + "the tide comes in at six. " * 12)

    return respond


@dataclass
class Life:
    """A mind from its first word to its last, over several programs, and what happened to it."""

    memory: recollect.Memory
    server: StrictServer
    clock: FrozenClock
    expected: dict[int, set[str]] = field(default_factory=dict[int, set[str]])
    """Request → why it does not begin with all of the one before."""
    said: int = 0

    def program(self) -> AbstractAsyncContextManager[Mind]:
        return minding(self.memory, AnthropicTalk(MODEL, "any", base_url=self.server.url), Listener())

    def happens(self, reason: str) -> None:
        """Before the next request."""
        self.expected.setdefault(len(self.server.turns), set()).add(reason)

    async def talk(self, mind: Mind, number: int, text: str = "") -> None:
        for _ in range(number):
            self.said += 1
            self.clock.move(minutes=2)
            done = await say(mind, text or f"Question {self.said}: how is the garden, and when is the tide?")
            assert done.state is TurnState.DONE, done.reason
            await mind._held.condensing.settle()  # pyright: ignore[reportPrivateUsage]

    def expect_summaries(self) -> None:
        """Where a summary was first sent. One is made while others speak: when it is done decides no test."""
        summaries = [summary_of(body) for body in self.server.turns]
        for number, (before, after) in enumerate(pairwise(summaries), 1):
            if after and after != before:
                self.expected.setdefault(number, set()).add("compaction")
        sent = sum("compaction" in reasons for reasons in self.expected.values())
        assert self.compactions - sent in (0, 1), "each is sent, save one that was made after the last question"

    @property
    def compactions(self) -> int:
        return len(self.memory.runs.latest("compaction", "done", limit=1_000))

    def events(self) -> list[tuple[str, str]]:
        """(why, where), the first break first."""
        found = self.memory.runs.latest("prefix", limit=1_000)
        return [(event.outcome, str(event.detail["where"])) for event in reversed(found)]


@pytest.fixture
def life(home: Path, clock: FrozenClock) -> Iterator[Life]:
    home.mkdir()
    (home / "recollect.toml").write_text(f"[mind]\ncompact_at_tokens = {COMPACT_AT_TOKENS}\n", encoding="utf-8")
    with StrictServer(speaking(), clock=clock) as server, recollect.open(home=home, clock=clock) as memory:
        yield Life(memory, server, clock)


async def live(life: Life) -> None:
    async with life.program() as mind:
        await life.talk(mind, 8)
        life.memory.notes.write("user.md", "Ada keeps bees.")
        await life.talk(mind, 1)
        told = texts_of(life.server.turns[-1])
        assert sum("Ada keeps bees." in text for text in told) == 1
        await life.talk(mind, 1, SECRET)
        await life.talk(mind, 23)
        life.clock.move(hours=3)
        life.happens("gap")
        await life.talk(mind, 4)
    life.happens("restart")
    async with life.program() as mind:
        await life.talk(mind, 8)
        secret = next(one.id for one in life.memory.history.export() if SECRET in one.text)
        life.memory.forget(message=secret, verify=False)
        life.happens("forgotten")
        await life.talk(mind, 15)


def test_each_break_of_the_prefix_has_a_place_and_a_reason(life: Life) -> None:
    server = life.server

    run(live(life), 200)

    assert server.refused == []
    assert life.said >= EXCHANGES
    assert life.compactions >= 3
    life.expect_summaries()
    found = breaks(server.turns)
    assert [one.number for one in found] == sorted(life.expected)
    first, *events = life.events()
    assert first == ("restart, first", "start")
    assert [set(why.split(", ")) for why, _ in events] == [life.expected[number] for number in sorted(life.expected)]
    for (why, where), one in zip(events, found, strict=True):
        assert where == ("start" if why == "restart" else place_of(one))
    assert set().union(*life.expected.values()) == {"compaction", "gap", "restart", "forgotten"}
    assert all(SECRET not in "".join(texts_of(body)) for body in server.turns[-5:])
    assert_lost_only_there(server, set(life.expected))


def summary_of(body: dict[str, Any]) -> str:
    """The one that its conversation begins with; empty: none."""
    return next((text for text in texts_of(body)[:1] if "Summary " in text), "")


def assert_lost_only_there(server: StrictServer, places: set[int]) -> None:
    """The provider's cache: what it had is read again, save where a request did not begin as the one before."""
    uses = {use.number: use for use in server.cache.log}
    turns = [uses[one.number] for one in server.requests if one.path == "/v1/messages" and is_turn(one.body)]
    assert turns[0].missed == "first"
    assert {at for at, use in enumerate(turns) if use.missed.startswith("changed at ")} == places
    assert {at for at, use in enumerate(turns) if use.missed} == {0, *places}
    for before, use in pairwise(turns):
        if not use.missed:
            assert use.read == before.read + before.written
    condensed = [uses[one.number] for one in server.requests if one.path == "/v1/messages" and is_condensing(one.body)]
    cold = [use for use in condensed if use.read <= use.fresh]
    assert len(cold) <= 1, "a summary reads what its conversation has in the cache, save after something was forgotten"


def place_of(found: Break) -> str:
    """As the mind calls it: a turn by its number."""
    return f"turn {found.where[9 : found.where.index(']')]}" if found.where.startswith("messages[") else found.where
