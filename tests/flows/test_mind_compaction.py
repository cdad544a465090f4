"""A conversation becomes long and is condensed in the background, by the provider or by our own means: turns go on
meanwhile, what was recent stays word for word, and what was condensed is still found."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from minds import Listener, minding, run, say, until
from strict_server import StrictServer, is_condensing

import recollect
from recollect.knowledge import Kind
from recollect.llm.anthropic_talk import AnthropicTalk
from recollect.llm.openai_talk import OpenAITalk
from recollect.llm.talking import TalkModel
from recollect.mind.compaction.compaction import HEADING
from recollect.mind.entries import Standing, TurnState
from recollect.mind.mind import Mind
from recollect.testing import FrozenClock, OpenAIServer
from recollect.testing.anthropic_answers import Answer
from recollect.testing.anthropic_answers import say as answer_with
from recollect.testing.loopback import Request

FIRST = "The hedgehog of Mara is called Ferdinand, and it sleeps below the rhubarb."
PAGE = "Hold on to the names of animals."
OUR_WORDS = ("[From the program that keeps this conversation", "[From the same program.]")
MOST_TURNS = 30


@dataclass(kw_only=True)
class Setting:
    kind: str
    open_model: Callable[[], TalkModel]
    compact_at_tokens: int
    padding: str
    bodies: Callable[[], list[dict[str, Any]]]
    """All that was sent, turns and summaries."""
    hold: threading.Event = field(default_factory=threading.Event)
    """Not set: no summary comes."""
    fails: int = 0
    """So many summaries do not succeed."""

    def condensings(self) -> list[str]:
        return [json.dumps(body, ensure_ascii=False) for body in self.bodies() if is_summing_up(body)]

    def turns(self) -> list[str]:
        """What was sent in turns, each as one text."""
        return [json.dumps(body["messages"], ensure_ascii=False) for body in self.bodies() if not is_summing_up(body)]

    def summed_up(self) -> str:
        self.hold.wait(60)
        if self.fails:
            self.fails -= 1
            return ""
        number = len(self.condensings())
        return (
            f"Summary {number}: Mara has a hedgehog, and we spoke about the tide at length, as it came and went. " * 3
        )


def is_summing_up(body: dict[str, Any]) -> bool:
    last = json.dumps(body["messages"][-1], ensure_ascii=False)
    return is_condensing(body) or any(words in last for words in OUR_WORDS)


@contextmanager
def anthropic(model: str, kind: str, compact_at_tokens: int, padding: str) -> Generator[Setting]:
    def respond(body: dict[str, Any]) -> Answer:
        if not is_summing_up(body):
            return answer_with("I see.")
        text = setting.summed_up()
        return answer_with(text) if text else Answer()

    with StrictServer(respond) as server:
        setting = Setting(
            kind=kind,
            open_model=lambda: AnthropicTalk(model, "any", base_url=server.url),
            compact_at_tokens=compact_at_tokens,
            padding=padding,
            bodies=lambda: server.asked,
        )
        yield setting
        setting.hold.set()
        assert server.refused == []


@contextmanager
def openai() -> Generator[Setting]:
    def respond(request: Request) -> str:
        return setting.summed_up() or "No." if is_summing_up(request.body) else "I see."

    with OpenAIServer() as server:
        server.script(*[respond] * 500)
        setting = Setting(
            kind="own",
            open_model=lambda: OpenAITalk(server.base_url, "test-model"),
            compact_at_tokens=5_000,
            padding=SHORT,
            bodies=lambda: [one.body for one in server.requests if one.path.endswith("completions")],
        )
        yield setting
        setting.hold.set()


SHORT = "The tide comes in at six and goes out again at noon. " * 40
LONG = "The tide comes in at six and goes out again at noon. " * 600
KINDS: dict[str, Callable[[], AbstractContextManager[Setting]]] = {
    "on-demand": lambda: anthropic("claude-opus-5-5", "on-demand", 5_000, SHORT),
    "threshold": lambda: anthropic("claude-haiku-4-5", "threshold", 100_000, LONG),
    "own": openai,
}


@dataclass
class House:
    memory: recollect.Memory
    setting: Setting
    clock: FrozenClock
    said: int = 0

    def program(self) -> Any:
        return minding(self.memory, self.setting.open_model(), Listener())

    async def tell(self, mind: Mind, text: str = "") -> None:
        self.said += 1
        self.clock.move(minutes=1)
        done = await say(mind, text or f"Message {self.said}. {self.setting.padding}")
        assert done.state is TurnState.DONE, done.reason

    async def tell_until_it_is_condensed(self, mind: Mind) -> None:
        """Until a summary is asked for, which does not come while it is held."""
        before = len(self.setting.condensings())
        condensing = mind._held.condensing  # pyright: ignore[reportPrivateUsage]
        for _ in range(MOST_TURNS):
            await self.tell(mind)
            if condensing.is_running or len(self.setting.condensings()) > before:  # It may be done by now.
                return await until(lambda: len(self.setting.condensings()) > before)
        raise AssertionError("It has not become long.")

    async def settle(self, mind: Mind) -> None:
        self.setting.hold.set()
        await mind.settle()
        self.setting.hold.clear()

    def events(self, name: str) -> list[Any]:
        return self.memory.runs.latest(name, limit=1_000)[::-1]

    def summaries(self) -> list[tuple[str, str]]:
        """(kind, summary)"""
        with self.memory.database.read() as session:
            return [
                (kind, text)
                for kind, text in session.rows("SELECT kind, summary FROM mind_compactions ORDER BY number")
            ]


@pytest.fixture(params=KINDS)
def house(request: pytest.FixtureRequest, home: Path, clock: FrozenClock) -> Generator[House]:
    with KINDS[request.param]() as setting:
        yield from opened(setting, home, clock)


@pytest.fixture
def on_demand(home: Path, clock: FrozenClock) -> Generator[House]:
    with KINDS["on-demand"]() as setting:
        yield from opened(setting, home, clock)


def opened(setting: Setting, home: Path, clock: FrozenClock) -> Generator[House]:
    home.mkdir()
    (home / "recollect.toml").write_text(f"[mind]\ncompact_at_tokens = {setting.compact_at_tokens}\n")
    with recollect.open(home=home, clock=clock) as memory:
        yield House(memory, setting, clock)


def begins_with(summary: str, body: dict[str, Any]) -> bool:
    messages = [one for one in body["messages"] if one["role"] != "system"]
    first = json.dumps(messages[0], ensure_ascii=False)
    return quoted(summary) in first and ('"compaction"' in first or HEADING in first)


def quoted(text: str) -> str:
    """As it stands in a body."""
    return json.dumps(text.strip(), ensure_ascii=False)[1:-1]


def test_a_long_conversation_is_condensed_while_turns_go_on(house: House) -> None:
    setting, memory = house.setting, house.memory

    async def talk() -> None:
        async with house.program() as mind:
            await house.tell(mind, FIRST)
            memory.notes.write("agents/assistant/COMPACTION.md", PAGE)
            await house.tell_until_it_is_condensed(mind)
            assert PAGE in setting.condensings()[0], "the page counts as it is at that moment"
            await house.tell(mind, "This is said meanwhile.")  # No turn waits for it.
            assert FIRST in setting.turns()[-1]
            assert house.summaries() == []
            await house.settle(mind)
            assert [kind for kind, _ in house.summaries()] == [setting.kind]
            await house.tell(mind, "And this behind it.")

            [(_, first)] = house.summaries()
            assert begins_with(first, setting.bodies()[-1])
            told = setting.turns()[-1]
            assert FIRST not in told
            assert "Message 2." not in told
            assert f"Message {house.said - 2}. {setting.padding[:200]}" in told
            assert "This is said meanwhile." in told

    run(talk(), 100)
    assert [event.outcome for event in house.events("compaction")] == ["done"]
    assert [event.outcome for event in house.events("commitment_probe")] == ["survived"]
    assert [event.outcome for event in house.events("prefix")] == ["restart, first", "compaction"]
    spent = [one for one in memory.spending.by_day() if one.purpose == "compaction"]
    assert sum(one.calls for one in spent) == 1
    assert sum(one.input_tokens for one in spent) * 2 > setting.compact_at_tokens
    found = memory.search_memory("What is the hedgehog called?")
    assert "Ferdinand" in " ".join(hit.text for hit in found.hits)


@pytest.mark.parametrize("house", ["on-demand", "own"], indirect=True)
def test_an_earlier_summary_is_folded_into_the_next(house: House) -> None:
    setting = house.setting
    setting.hold.set()

    async def talk() -> None:
        async with house.program() as mind:
            await house.tell_until_it_is_condensed(mind)
            await mind.settle()
            [(_, first)] = house.summaries()
            await house.tell_until_it_is_condensed(mind)
            await mind.settle()
            assert quoted(first) in setting.condensings()[-1]
            await house.tell(mind, "And on.")
            assert begins_with(house.summaries()[1][1], setting.bodies()[-1])
            assert quoted(first) not in setting.turns()[-1]

    run(talk(), 100)
    assert [event.outcome for event in house.events("compaction")] == ["done", "done"]


@pytest.mark.parametrize("house", ["on-demand", "own"], indirect=True)
def test_a_program_that_starts_right_behind_a_summary_uses_it(house: House) -> None:
    async def talk() -> None:
        async with house.program() as mind:
            await house.tell(mind, FIRST)
            await house.tell_until_it_is_condensed(mind)
            await house.settle(mind)
        assert len(house.summaries()) == 1
        async with house.program() as mind:
            await house.tell(mind, "Good morning.")

    run(talk(), 100)
    assert begins_with(house.summaries()[0][1], house.setting.bodies()[-1])
    assert FIRST not in house.setting.turns()[-1]


@pytest.mark.parametrize("house", ["on-demand", "own"], indirect=True)
def test_a_summary_that_fails_changes_nothing_and_is_tried_again_later(house: House) -> None:
    setting = house.setting
    setting.fails = 2 if setting.kind == "own" else 1  # Our own means ask a second time by themselves.

    async def talk() -> None:
        async with house.program() as mind:
            await house.tell(mind, FIRST)
            await house.tell_until_it_is_condensed(mind)
            await house.settle(mind)
            assert house.summaries() == []
            asked = len(setting.condensings())
            await house.tell(mind, "Is all still there?")
            assert FIRST in setting.turns()[-1]
            assert len(setting.condensings()) == asked, "not at once again"
            await house.tell_until_it_is_condensed(mind)
            await house.settle(mind)
            assert len(house.summaries()) == 1
            await house.tell(mind, "And now?")
            assert FIRST not in setting.turns()[-1]

    run(talk(), 100)
    assert [event.outcome for event in house.events("compaction")] == ["failed", "done"]
    assert [event.outcome for event in house.events("prefix")] == ["restart, first", "compaction"]


def test_a_summary_is_dropped_when_something_was_forgotten_while_it_was_made(on_demand: House) -> None:
    house, setting, memory = on_demand, on_demand.setting, on_demand.memory

    async def talk() -> None:
        async with house.program() as mind:
            await house.tell(mind, FIRST)
            await house.tell_until_it_is_condensed(mind)
            message = next(one.id for one in memory.history.export() if FIRST in one.text)
            assert memory.forget(message=message).state == "verified"
            await house.settle(mind)
            assert house.summaries() == []
            [event] = house.events("compaction")
            assert (event.outcome, "forgotten" in str(event.detail["reason"])) == ("failed", True)
            asked = len(setting.bodies())
            await house.tell_until_it_is_condensed(mind)
            await house.settle(mind)
            await house.tell(mind, "And now?")
            assert all(FIRST not in json.dumps(body) for body in setting.bodies()[asked:])
            assert len(house.summaries()) == 1

    run(talk(), 100)


def test_a_summary_that_is_just_being_written_down_is_taken_once_and_called_what_it_is(on_demand: House) -> None:
    """It stands in the database a moment before the program knows of it; a turn in this moment makes no other break."""
    house, probing, probed = on_demand, threading.Event(), threading.Event()

    def commitments() -> dict[str, str]:
        probing.set()
        probed.wait(60)
        return {}

    async def talk() -> None:
        async with house.program() as usual:
            parts = usual._parts  # pyright: ignore[reportPrivateUsage]
            mind = Mind(replace(parts, material=replace(parts.material, commitments=commitments)))
            await house.tell(mind, FIRST)
            await house.tell_until_it_is_condensed(mind)
            house.setting.hold.set()
            await until(probing.is_set)
            turning = asyncio.ensure_future(house.tell(mind, "In this moment."))
            await asyncio.wait([turning], timeout=0.5)  # It may wait for what is about to be there, and no longer.
            probed.set()
            await turning
            await house.tell(mind, "And on.")
            await mind.close()

    run(talk(), 100)
    assert [event.outcome for event in house.events("prefix")] == ["restart, first", "compaction"]


def test_a_summary_that_is_there_while_a_turn_looks_where_it_stands_is_called_what_it_is(on_demand: House) -> None:
    """Between the look for a summary and the look into the database one may be done."""
    house = on_demand

    async def talk() -> None:
        async with house.program() as mind:
            log, condensing = mind._log, mind._held.condensing  # pyright: ignore[reportPrivateUsage]
            await house.tell(mind, FIRST)
            await house.tell_until_it_is_condensed(mind)
            look = log.standing

            def standing() -> Standing:
                house.setting.hold.set()
                while condensing.is_running:
                    time.sleep(0.002)
                return look()

            log.standing = standing
            await house.tell(mind, "In this moment.")
            await house.tell(mind, "And on.")

    run(talk(), 100)
    assert [event.outcome for event in house.events("prefix")] == ["restart, first", "compaction"]


def test_what_was_promised_and_is_not_in_the_summary_is_told_in_runs(on_demand: House) -> None:
    house, memory = on_demand, on_demand.memory
    text = "Order forty slates for the roof of the chapel from Wenzel by the ninth of May."
    memory.knowledge.remember(text, kind=Kind.COMMITMENT)

    async def talk() -> None:
        async with house.program() as mind:
            await house.tell_until_it_is_condensed(mind)
            await house.settle(mind)

    run(talk(), 100)
    [event] = house.events("commitment_probe")
    assert (event.outcome, event.detail["commitments"], len(event.detail["missing"])) == ("missing", 1, 1)
