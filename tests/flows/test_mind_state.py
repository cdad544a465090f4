"""The live array, the saved one and the one made from history say the same, whatever happened in the conversation."""

import asyncio
from typing import Any

import pytest
from minds import Listener, minding, on_sqlite, run, say, until

import recollect
from recollect.llm.model import Usage
from recollect.llm.talking import Answer, Stop, TextPiece
from recollect.mind.channel import Said, Shown, ToolUse
from recollect.mind.conversation import conversation_of
from recollect.mind.state import load, plain, state_path
from recollect.mind.turns import Turns
from recollect.testing.scripted_talk import HANG, ScriptedTalk, Step, use


def arrays(mind: Any) -> tuple[Any, Any, Any]:
    """Live, saved, rebuilt."""
    parts, log = mind._parts, mind._log
    standing, base, written = log.read()
    saved = load(state_path(parts.settings.runtime, parts.agent), standing, mind._held._making.belongs_to, "")
    assert saved
    return plain(mind._held.conversation), plain(saved), plain(conversation_of(standing, base, written, ""))


SECRET = "sk-ant-" + "api03-" + "Ab3" * 30
THOUGHT: dict[str, Any] = {"type": "thinking", "thinking": "Hm.", "signature": "s"}


def answer(*blocks: dict[str, Any], stop: Stop = Stop.END) -> Answer:
    return Answer(blocks=blocks, stop=stop, usage=Usage(), model="")


STEPS: dict[str, list[Step]] = {
    "a secret in an answer": [f"It is {SECRET}."],
    "a secret for a tool": [use("update_status", {"updates": {"key": SECRET}}, before=SECRET), "Noted."],
    "blank words": [answer({"type": "text", "text": " \n"}, {"type": "text", "text": "Yes."})],
    "blank words before a tool": [use("search_memory", {"query": "x"}, before="  "), "Yes."],
    "nothing but a thought": [answer(THOUGHT)],
    "thoughts": [answer(THOUGHT, {"type": "text", "text": "Yes."})],
    "half of a character": ["A \ud83d half."],
    "no words at all": [answer()],
    "a call that was cut off": [
        answer(
            {"type": "text", "text": "So"}, {"type": "tool_use", "id": "t1", "name": "x", "input": {}}, stop=Stop.LENGTH
        )
    ],
}


@on_sqlite
@pytest.mark.parametrize("name", STEPS)
def test_the_array_is_the_same_however_it_is_made(memory: recollect.Memory, name: str) -> None:
    model = ScriptedTalk([*STEPS[name], "And so on."])

    async def talk() -> None:
        async with minding(memory, model, Listener()) as mind:
            await say(mind, f"One {SECRET}")
            live, saved, rebuilt = arrays(mind)
            assert saved == rebuilt
            assert live == rebuilt
            await say(mind, "Two")
            live, saved, rebuilt = arrays(mind)
            assert live == saved == rebuilt

    run(talk())


def stop(turns: Turns, shown: Shown) -> None:
    if isinstance(shown, ToolUse):
        turns.interrupt()


@on_sqlite
@pytest.mark.parametrize("is_in_a_tool", [False, True])
def test_what_was_stopped_is_the_same_however_it_is_made(memory: recollect.Memory, is_in_a_tool: bool) -> None:
    channel = Listener()
    steps: list[Step] = (
        [use("search_memory", {"query": "x"})] if is_in_a_tool else [[TextPiece(text="The tide "), HANG]]
    )

    async def talk() -> None:
        async with minding(memory, ScriptedTalk([*steps, "And so on."]), channel) as mind:
            await mind.hear(Said(text="go", channel="terminal"))
            if is_in_a_tool:
                turns = mind._turns  # pyright: ignore[reportPrivateUsage]
                channel.on_show = lambda shown: stop(turns, shown)
                await mind.turn()
            else:
                turning = asyncio.ensure_future(mind.turn())
                await until(lambda: "tide" in channel.streamed)
                await mind.interrupt()
                await turning
            channel.on_show = lambda _: None
            live, saved, rebuilt = arrays(mind)
            assert live == saved == rebuilt
            await say(mind, "on")
            live, saved, rebuilt = arrays(mind)
            assert live == saved == rebuilt

    run(talk())
