"""What is forgotten is gone from the one conversation too: from its summaries, from its saved state, from the array."""

import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from conftest import OpenHouse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from minds import Listener, minding, on_sqlite, run, say
from residue import residue_of
from strict_server import StrictServer, is_condensing, texts_of

import recollect
from recollect.errors import NotFound
from recollect.history import Message
from recollect.llm.anthropic_request import body_of
from recollect.llm.anthropic_talk import AnthropicTalk
from recollect.llm.talking import Request, Turn
from recollect.mind.channel import Said
from recollect.mind.conversation import conversation_of
from recollect.mind.entries import Role, Standing, TurnState, Written
from recollect.mind.mind import Mind
from recollect.testing.anthropic_answers import Answer, think, use_tool
from recollect.testing.anthropic_answers import say as answer_with
from recollect.testing.anthropic_conversation import Conversation
from recollect.testing.anthropic_models import MODELS
from recollect.testing.anthropic_rules import check
from recollect.testing.scripted_talk import ScriptedTalk

MODEL = "claude-opus-5-5"
SECRET = "The spare key of the shed lies under the third pot of thyme"
RETOLD = "She told where the second key of the shed is kept"
PADDING = "The tide comes in at six and goes out again at noon. " * 12


def respond(body: dict[str, Any]) -> Answer:
    """A summary retells the secret, if it was told it."""
    told = "\n".join(texts_of(body))
    if is_condensing(body):
        retold = f"{RETOLD}." if SECRET in told or RETOLD in told else "There was no secret."
        return answer_with(f"We spoke about the tide for a long time. {retold}")
    return think("Let me see.") + answer_with(f"Yes. {PADDING}")


@pytest.fixture
def server() -> Iterator[StrictServer]:
    with StrictServer(respond) as started:
        yield started


def model(server: StrictServer) -> AnthropicTalk:
    return AnthropicTalk(MODEL, "any", base_url=server.url)


def message_with(memory: recollect.Memory, words: str) -> Message:
    return next(one for one in memory.history.export() if words in one.text)


def summaries(memory: recollect.Memory) -> list[tuple[str, str, str]]:
    """(state, summary, block)"""
    with memory.database.read() as session:
        rows = session.rows("SELECT state, summary, block FROM mind_compactions ORDER BY number")
        return [(state, summary, block) for state, summary, block in rows]


def in_runtime(memory: recollect.Memory, *words: str) -> list[str]:
    files = [path for path in memory.settings.runtime.rglob("*") if path.is_file()]
    return [str(path) for path in files if any(one.encode() in path.read_bytes() for one in words)]


def reasons(memory: recollect.Memory) -> list[str]:
    """Of the breaks of the prefix, the first first."""
    return [event.outcome for event in reversed(memory.runs.latest("prefix", limit=1_000))]


def test_a_summary_that_stands_for_it_is_gone_and_made_again_without_it(
    open_house: OpenHouse, server: StrictServer
) -> None:
    memory = open_house(mind={"compact_at_tokens": 3_000})
    channel = Listener()

    async def talk_until_condensed(mind: Mind) -> None:
        await say(mind, f"{SECRET}, do not tell anybody.")
        while not summaries(memory):
            await say(mind, f"And the tide? {PADDING}")
            await mind.settle()
        await say(mind, "And now?")
        assert RETOLD in "\n".join(texts_of(server.turns[-1]))

    async def go_on(mind: Mind) -> None:
        for number in range(4):
            done = await say(mind, f"Where were we? {number} {PADDING}")
            assert done.state is TurnState.DONE, done.reason
            await mind.settle()

    async def two_programs() -> None:
        async with minding(memory, model(server), channel) as mind:
            await talk_until_condensed(mind)
            forgotten = memory.forget(message=message_with(memory, SECRET).id)
            assert forgotten.state == "verified", forgotten
            assert forgotten.removed["compactions"] >= 1
            assert set(summaries(memory)) == {("forgotten", "", "")}
            assert in_runtime(memory, SECRET, RETOLD) == []
            asked = len(server.asked)
            await go_on(mind)
        async with minding(memory, model(server), channel) as mind:
            await go_on(mind)
        for body in server.asked[asked:]:
            assert SECRET not in "\n".join(texts_of(body))
            assert RETOLD not in "\n".join(texts_of(body))

    run(two_programs(), 100)
    assert server.refused == []
    current = [summary for state, summary, _ in summaries(memory) if state == "current"]
    assert current
    assert all("no secret" in summary for summary in current)
    assert residue_of(memory, SECRET, RETOLD) == []
    assert [why for why in reasons(memory) if "forgotten" in why]
    assert not [why for why in reasons(memory) if "unexplained" in why]
    assert {reply.state for _, reply in channel.replies} == {"done"}


@on_sqlite
def test_what_is_forgotten_during_a_turn_is_neither_saved_nor_sent_again(
    memory: recollect.Memory, server: StrictServer
) -> None:
    """The turn in flight has been sent what is forgotten meanwhile; nothing after it may be."""

    def forget_meanwhile(body: dict[str, Any]) -> Answer:
        assert memory.forget(message=message_with(memory, SECRET).id).state == "verified"
        return answer_with("Yes.")

    async def talk() -> None:
        async with minding(memory, model(server), Listener()) as mind:
            await say(mind, f"{SECRET}, do not tell anybody.")
            server.script(forget_meanwhile)
            await say(mind, "And the tide?")
            assert in_runtime(memory, SECRET) == []
            await say(mind, "And now?")
            assert SECRET not in "\n".join(texts_of(server.turns[-1]))
        assert in_runtime(memory, SECRET) == []

    run(talk())
    assert server.refused == []
    assert [why for why in reasons(memory) if "forgotten" in why]


@on_sqlite
def test_what_is_forgotten_while_it_is_answered_is_answered_no_more(
    memory: recollect.Memory, server: StrictServer
) -> None:
    def forget_meanwhile(body: dict[str, Any]) -> Answer:
        assert memory.forget(message=message_with(memory, SECRET).id).state == "verified"
        return answer_with("I look. ") + use_tool("query_memory", {"sql": "SELECT 1"})

    async def talk() -> None:
        async with minding(memory, model(server), Listener()) as mind:
            server.script(forget_meanwhile)
            await say(mind, f"{SECRET}, do not tell anybody.")
            done = await say(mind, "And now?")
            assert done.state is TurnState.DONE
            assert SECRET not in json.dumps(server.turns[-1])

    run(talk())
    assert server.refused == []
    assert residue_of(memory, SECRET) == []


# Whatever is forgotten, what is left is a conversation


def spoken_to(number: int) -> Answer:
    """What is said to a question of this number: with thoughts, with one tool, with two, with none."""
    calls = [
        answer_with("I look."),
        answer_with("I look. ") + use_tool("query_memory", {"sql": "SELECT 1"}),
        think("Hm.")
        + use_tool("query_memory", {"sql": "SELECT 1"})
        + use_tool("update_status", {"updates": {"a": number}}),
    ]
    return calls[number % len(calls)]


@pytest.fixture(scope="module")
def talked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a conversation in which every kind of message stands."""
    home = tmp_path_factory.mktemp("talked") / "home"

    def tools_twice(body: dict[str, Any]) -> Answer:
        asked = sum(isinstance(one["content"], list) and one["role"] == "user" for one in body["messages"])
        used = sum(block["type"] == "tool_result" for block in body["messages"][-1]["content"])
        return answer_with(f"Done {asked}.") if used and asked % 2 else spoken_to(asked)

    async def talk(memory: recollect.Memory, server: StrictServer) -> None:
        async with minding(memory, model(server), Listener()) as mind:
            for number in range(5):
                await mind.hear(Said(text=f"First {number}", channel="terminal"))
                await mind.hear(Said(text=f"Second {number}", channel="terminal"))
                await mind.turn()
                if number == 2:
                    memory.notes.write("user.md", "Ada keeps bees.")

    with StrictServer(tools_twice) as server, recollect.open(home=home) as memory:
        run(talk(memory, server))
        assert server.refused == []
        assert len(list(memory.history.export())) > 20
    return home


@pytest.fixture(scope="module")
def written(talked: Path) -> list[Written]:
    with recollect.open(home=talked) as memory:
        _, _, found = memory.mind("", lambda: ScriptedTalk([]))._log.read()  # pyright: ignore[reportPrivateUsage]
    assert {one.entry.role for one in found} == set(Role)
    return found


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_the_array_is_valid_whichever_messages_are_forgotten(written: list[Written], data: st.DataObject) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(written), max_size=len(written)))
    left = [one for one, is_kept in zip(written, kept, strict=True) if is_kept]
    standing = Standing(last_number=1, last_turn=1, compaction=0, forgotten=1)

    conversation = conversation_of(standing, None, left, "on-demand")

    assert [turn.role for turn in conversation.turns[:1]] in ([], ["user"]), "an answer may not stand first"
    asked = Turn(role="user", content=({"type": "text", "text": "And now?"},))
    turns = [*conversation.turns, asked]
    body = body_of(MODEL, Request(system=("You.",), tools=(), turns=turns), thinks=True)
    check(Conversation(body), set(), MODELS[MODEL], is_count=False, binds_thinking=True)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_turn_is_answered_whichever_messages_were_forgotten(
    talked: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    home = tmp_path_factory.mktemp("copied") / "home"
    shutil.copytree(talked, home)
    with StrictServer() as server, recollect.open(home=home) as memory:
        messages = [one.id for one in memory.history.export()]
        for message in data.draw(st.lists(st.sampled_from(messages), unique=True, min_size=1)):
            with suppress(NotFound):  # It went with another one.
                memory.forget(message=message, verify=False)

        async def ask() -> None:
            async with minding(memory, model(server), Listener()) as mind:
                assert (await say(mind, "And now?")).state is TurnState.DONE

        run(ask())
        assert server.refused == []
