"""Killed in the middle of turns, over two channels: nothing that was said is lost, no answer comes twice, all in order.

Real processes (`tests/talkers.py`), killed with SIGKILL at moments that a seed decides: at a step of a turn, or at any
time. The provider is a server of ours in this process, which drips its answers.
"""

import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from strict_server import StrictServer, is_condensing
from talkers import CHANNELS, Talker, nursery

import recollect
from recollect.database import Row
from recollect.history import Author, Standing
from recollect.llm.talking import Turn
from recollect.mind.conversation import conversation_of
from recollect.mind.entries import CompactionRow, Role, Written
from recollect.mind.state import load, plain, state_path
from recollect.testing.anthropic_answers import Answer, replace, say, think, use_tool
from recollect.testing.scripted_talk import ScriptedTalk

KILLS = 3
MOST_STEPS = 25
MOST_SECONDS = 0.5
"""Between the first word of a mind and its end by a kill."""
SLOWEST_DRIP_SECONDS = 0.012
SHORT_TOKENS = 2_200
"""From which a conversation is condensed, where it is to be often."""
NAME = re.compile(r"^message \d+$")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with nursery(tmp_path_factory.mktemp("nursery")) as path:
        yield path


class Provider(StrictServer):
    """No two of its answers are the same."""

    def __init__(self, seed: object) -> None:
        super().__init__(self._spoken)
        self._dice = random.Random(f"provider {seed}")
        self._count = itertools.count(1)

    def _spoken(self, body: dict[str, Any]) -> Answer:
        number = next(self._count)
        if is_condensing(body):
            return say(f"Summary {number}: " + "we spoke of this and that, " * 8)
        answer = say(f"Answer {number}:" + " so it is," * self._dice.randint(1, 60))
        chance = self._dice.random()
        if chance < 0.3:
            answer = say(f"Before {number}.") + use_tool("update_status", {"updates": {"count": number}})
        elif chance < 0.4:
            two = use_tool("search_memory", {"query": "that"}) + use_tool("query_memory", {"sql": "SELECT 1"})
            answer = think(f"Thought {number}.") + two
        elif chance < 0.6:
            answer = think(f"Thought {number}.") + answer
        return replace(answer, pause_seconds=self._dice.uniform(0, SLOWEST_DRIP_SECONDS))


@dataclass
class House:
    """One mind, in one process after the other, and who talks with it."""

    nursery: Path
    folder: Path
    database: str
    url: str
    seed: object
    sent: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """(channel, text), in their order."""
    acknowledged: set[str] = field(default_factory=set[str])
    kills: int = 0

    def __post_init__(self) -> None:
        self._dice = random.Random(f"kills {self.seed}")

    def start(self, *channels: str) -> Talker:
        told = {
            "home": str(self.folder / "home"),
            "database": self.database,
            "url": self.url,
            "folder": str(self.folder),
            "channels": channels or CHANNELS,
        }
        return Talker(self.nursery, told)

    def say_some(self, talker: Talker, least: int = 0) -> None:
        for _ in range(self._dice.randint(least, 4)):
            self.say(talker, self._dice.choice(CHANNELS))

    def say(self, talker: Talker, channel: str) -> None:
        self.sent.append((channel, f"message {len(self.sent) + 1}"))
        talker.say(*self.sent[-1])

    def kill(self, talker: Talker) -> None:
        """At a step of a turn, or at any moment."""
        if self._dice.random() < 0.6:
            for _ in range(self._dice.randint(1, MOST_STEPS)):
                if talker.word(MOST_SECONDS) in ("", "delivered"):  # There may be nothing more to do.
                    break
        else:
            talker.linger(self._dice.uniform(0, MOST_SECONDS))
        talker.kill()
        self.kills += 1
        self.acknowledged.update(talker.heard)

    def some_channels(self) -> list[str]:
        return [self.any_channel() for _ in range(self._dice.randint(0, 3))]

    def any_channel(self) -> str:
        return self._dice.choice(CHANNELS)

    def hear(self, talker: Talker) -> None:
        """Wait until what was said last is written down."""
        while self.sent[-1][1] not in talker.heard:
            assert talker.word()

    def end(self, talker: Talker) -> None:
        talker.end()
        self.acknowledged.update(talker.heard)

    def delivered(self, channel: str) -> list[dict[str, Any]]:
        file = self.folder / f"{channel}.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def make(folder: Path, place: Path, address: str, url: str, seed: object, compact_at_tokens: int = 100_000) -> House:
    home = folder / "home"
    home.mkdir()
    settings = f'house = "shared"\n[mind]\ncompact_at_tokens = {compact_at_tokens}\n'
    (home / "recollect.toml").write_text(settings, encoding="utf-8")
    return House(nursery=place, folder=folder, database=address, url=url, seed=seed)


def kill_and_go_on(house: House, kills: int) -> None:
    for _ in range(kills):
        talker = house.start()
        house.say_some(talker)
        house.kill(talker)
    last = house.start()
    for channel in CHANNELS:
        house.say(last, channel)
    house.end(last)


def talk_for_a_while(house: House) -> None:
    """Until the conversation is about to be condensed; then it is killed too."""
    talker = house.start()
    for _ in range(6):
        house.say(talker, CHANNELS[0])
        while talker.word() != "delivered":
            pass
    house.kill(talker)


def kill_one_of_two(house: House, kills: int) -> None:
    """Each channel is in a process of its own. Whichever is killed, the other one lives and answers for both."""
    talkers = {channel: house.start(channel) for channel in CHANNELS}
    for _ in range(kills):
        for channel in house.some_channels():
            house.say(talkers[channel], channel)
            house.hear(talkers[channel])  # Between two processes nothing else makes an order.
        victim = house.any_channel()
        house.kill(talkers[victim])
        talkers[victim] = house.start(victim)
    for channel in CHANNELS:
        house.say(talkers[channel], channel)
        house.hear(talkers[channel])
    for talker in talkers.values():
        house.end(talker)


# What must be so afterwards


@dataclass(frozen=True)
class Found:
    said: list[Written]
    """All that users said, in their order."""
    everything: list[Written]
    base: CompactionRow | None
    turns: dict[int, str]
    """Each with its state."""
    deliveries: dict[tuple[int, str], str]
    saved: list[dict[str, Any]] | None
    rebuilt: list[dict[str, Any]]
    array: list[Turn]


def found_in(memory: recollect.Memory) -> Found:
    mind = memory.mind("", lambda: ScriptedTalk([]))
    log, agent = mind._log, mind._parts.agent  # pyright: ignore[reportPrivateUsage]
    standing, base, after = log.read()

    def rows(sql: str) -> list[Row]:
        with memory.database.read() as session:
            return list(session.rows(sql))

    turns: dict[int, str] = dict(rows("SELECT number, state FROM mind_turns"))
    everything = [one for turn in sorted(turns) for one in log.of_turn(turn)]
    rebuilt = conversation_of(standing, base, after, "on-demand")
    belongs_to = mind._held._making.belongs_to  # pyright: ignore[reportPrivateUsage]
    saved = load(state_path(memory.settings.runtime, agent), standing, belongs_to, "on-demand")
    return Found(
        said=[one for one in everything if one.entry.role is Role.USER],
        everything=everything,
        base=base,
        turns=turns,
        deliveries={
            (turn, channel): state for turn, channel, state in rows("SELECT turn, channel, state FROM mind_deliveries")
        },
        saved=plain(saved) if saved else None,
        rebuilt=plain(rebuilt),
        array=rebuilt.turns,
    )


def text_of(written: Written) -> str:
    return "\n".join(block["text"] for block in written.record["content"] if block["type"] == "text")


def assert_nothing_is_lost(house: House, memory: recollect.Memory, found: Found) -> None:
    kept = [text_of(one) for one in found.said]
    history = [
        one.text
        for one in memory.history.export()
        if one.source == "recollect" and one.author is Author.USER and one.standing is Standing.SAID
    ]
    assert Counter(history) == Counter(kept)
    assert max(Counter(kept).values()) == 1
    assert house.acknowledged <= set(kept)
    assert kept == [text for _, text in house.sent if text in set(kept)]
    assert [one.entry.turn for one in found.said] == sorted(one.entry.turn for one in found.said)
    in_array = [text for turn in found.array for block in turn.content if NAME.match(text := block.get("text", ""))]
    through = found.base.through if found.base else 0
    assert in_array == [text_of(one) for one in found.said if one.entry.turn > through]


def assert_all_is_answered_once(found: Found) -> None:
    assert set(found.turns.values()) == {"done"}
    assert {one.entry.turn for one in found.said} == set(found.turns)
    spoken = [text_of(one) for one in found.everything if one.entry.role is Role.ASSISTANT]
    assert max(Counter(text for text in spoken if text).values()) == 1
    for turn in found.turns:
        roles = [one.entry.role for one in found.everything if one.entry.turn == turn and one.entry.role != Role.USER]
        last = [one for one in found.everything if one.entry.turn == turn][-1]
        assert roles[-1] is Role.ASSISTANT
        assert text_of(last).startswith("Answer")
        assert sum(text_of(one).startswith("Answer") for one in found.everything if one.entry.turn == turn) == 1
    calls = [block["id"] for one in found.everything for block in one.record["content"] if block["type"] == "tool_use"]
    results = [
        block["tool_use_id"]
        for one in found.everything
        for block in one.record["content"]
        if block["type"] == "tool_result"
    ]
    assert calls == results
    assert len(set(calls)) == len(calls)


def assert_each_is_delivered_once(house: House, found: Found, unknown: tuple[str, ...] = ("unsure",)) -> None:
    """`unknown`: how a delivery may stand of which nobody knows whether it arrived."""
    expected = {(one.entry.turn, one.entry.channel) for one in found.said}
    assert set(found.deliveries) == expected
    for channel in CHANNELS:
        delivered = house.delivered(channel)
        turns = [one["turn"] for one in delivered]
        assert turns == sorted(set(turns)), "none twice, and none before an earlier one"
        states = {turn: state for (turn, name), state in found.deliveries.items() if name == channel}
        assert {turn for turn, state in states.items() if state == "sent"} <= set(turns)
        assert {states[turn] for turn in states if turn not in turns} <= set(unknown)
        assert set(states.values()) <= {"sent", *unknown}
        for one in delivered:
            said = [each for each in found.everything if each.entry.turn == one["turn"]]
            words = [text_of(each) for each in said if each.entry.role is Role.ASSISTANT]
            assert one["text"] == "\n\n".join(text for text in words if text)


def is_condensed_since(memory: recollect.Memory, found: Found) -> bool:
    """Whether the saved state is from before the last summary: then it is not used, and `saved` is None."""
    [path] = (memory.settings.runtime / "mind").glob("*/conversation-state.json")
    number = json.loads(path.read_bytes())["standing"]["compaction"]
    return found.saved is None and found.base is not None and number < found.base.number


def assert_all_is_well(house: House, server: Provider, **options: Any) -> None:
    assert server.refused == []
    with recollect.open(home=house.folder / "home", database=house.database) as memory:
        assert memory.database.check() == []
        found = found_in(memory)
        assert_nothing_is_lost(house, memory, found)
        assert_all_is_answered_once(found)
        assert_each_is_delivered_once(house, found, **options)
        assert found.saved == found.rebuilt or is_condensed_since(memory, found)
        broken = {event.outcome for event in memory.runs.latest("prefix", limit=10_000)}
        assert not {outcome for outcome in broken if "unexplained" in outcome}


def test_kills_in_the_middle_of_turns_lose_nothing_and_answer_nothing_twice(
    tmp_path: Path, place: Path, address: str
) -> None:
    with Provider("few") as server:
        house = make(tmp_path, place, address, server.url, "few")
        kill_and_go_on(house, KILLS)
        assert_all_is_well(house, server)


def test_kills_while_the_conversation_is_condensed_lose_nothing(tmp_path: Path, place: Path) -> None:
    with Provider("condensing") as server:
        house = make(tmp_path, place, str(tmp_path / "one.db"), server.url, "condensing", SHORT_TOKENS)
        talk_for_a_while(house)
        kill_and_go_on(house, KILLS)
        assert server.condensings
        assert_all_is_well(house, server)


def test_of_two_processes_with_one_mind_one_dies_and_nothing_is_lost(tmp_path: Path, place: Path) -> None:
    with Provider("two") as server:
        house = make(tmp_path, place, str(tmp_path / "one.db"), server.url, "two")
        kill_one_of_two(house, KILLS)
        assert_all_is_well(house, server, unknown=("unsure", "sending"))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
def test_two_hundred_kills_of_a_mind(tmp_path: Path, place: Path, address: str, seed: int) -> None:
    with Provider(seed) as server:
        house = make(tmp_path, place, address, server.url, seed, SHORT_TOKENS if seed % 2 else 100_000)
        kill_and_go_on(house, 20)
        assert house.kills == 20
        assert_all_is_well(house, server)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(5))
def test_a_hundred_kills_of_one_of_two(tmp_path: Path, place: Path, address: str, seed: int) -> None:
    with Provider(f"two {seed}") as server:
        house = make(tmp_path, place, address, server.url, f"two {seed}", SHORT_TOKENS if seed % 2 else 100_000)
        kill_one_of_two(house, 20)
        assert_all_is_well(house, server, unknown=("unsure", "sending"))
