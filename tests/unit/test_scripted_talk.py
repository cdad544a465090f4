"""The scripted talker behaves as a real one does."""

import asyncio
import threading

import pytest

from recollect.errors import Invalid
from recollect.llm.model import Busy, Usage
from recollect.llm.talking import (
    Abilities,
    Answer,
    Condensing,
    Heard,
    Piece,
    Request,
    Stop,
    TalkModel,
    TextPiece,
    ToolPiece,
    Turn,
)
from recollect.testing import ScriptedTalk
from recollect.testing.scripted_talk import HANG, said, use

ASKED = Request(system=("Be kind.",), tools=(), turns=[Turn(role="user", content=({"type": "text", "text": "Hello"},))])


def ask(model: TalkModel, heard: Heard | None = None) -> Answer:
    return asyncio.run(model.answer(ASKED, (heard or Heard()).take))


def test_steps_are_used_up_in_their_order():
    model = ScriptedTalk(["Good morning.", said("Well?"), use("look", {"at": 1}, before="I look.", after="So.")])
    heard = Heard()
    answers = [ask(model, heard) for _ in range(3)]
    assert [answer.stop for answer in answers] == [Stop.END, Stop.END, Stop.TOOLS]
    assert heard.text == "Good morning.Well?I look.So."
    assert [block["type"] for block in answers[2].blocks] == ["text", "tool_use", "text"]
    assert answers[0].usage.calls == 1
    assert answers[0].usage.input_tokens > 0
    with pytest.raises(AssertionError, match="once more than the 3 steps"):
        ask(model)


def test_a_function_sees_the_request_as_it_was_then():
    turns = list(ASKED.turns)
    model = ScriptedTalk(lambda request: f"{len(request.turns)} turns")
    request = Request(system=(), tools=(), turns=turns)
    assert asyncio.run(model.answer(request, Heard().take)).blocks[0]["text"] == "1 turns"
    turns.append(turns[0])
    assert len(model.requests[0].turns) == 1


def test_what_goes_wrong_comes_behind_what_was_heard():
    heard = Heard()
    with pytest.raises(Busy):
        ask(ScriptedTalk([[TextPiece(text="Well, "), Busy("later")]]), heard)
    assert heard.text == "Well, "


def test_an_answer_waits_for_events_of_the_loop_and_of_threads():
    async def both() -> tuple[list[Piece], str]:
        here, there = asyncio.Event(), threading.Event()
        pieces: asyncio.Queue[Piece] = asyncio.Queue()
        model = ScriptedTalk([["One, ", here, "two, ", there, "three."]])
        task = asyncio.create_task(model.answer(ASKED, pieces.put_nowait))
        came = [await pieces.get()]
        assert pieces.empty()
        here.set()
        came.append(await pieces.get())
        there.set()
        return came, (await task).blocks[0]["text"]

    assert asyncio.run(both()) == ([TextPiece(text="One, "), TextPiece(text="two, ")], "One, two, three.")


def test_one_that_hangs_ends_when_it_is_cancelled():
    async def cancelled() -> ScriptedTalk:
        model = ScriptedTalk([[ToolPiece(name="look"), HANG]])
        task = asyncio.create_task(model.answer(ASKED, Heard().take))
        await asyncio.to_thread(model.asked.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return model

    model = asyncio.run(cancelled())
    assert (model.cancelled, model.answered) == (1, 0)


def test_it_condenses_only_if_it_can():
    with pytest.raises(Invalid):
        asyncio.run(ScriptedTalk().condense(ASKED, "Be short."))
    able = ScriptedTalk(summaries=["They met.", ""], abilities=Abilities(condensing=Condensing.ON_DEMAND))
    done = asyncio.run(able.condense(ASKED, "Be short."))
    assert (done.summary, done.block is None, done.usage.calls) == ("They met.", False, 1)
    assert asyncio.run(able.condense(ASKED, "Be short.")).block is None
    assert able.condensed[0][1] == "Be short."
    assert asyncio.run(able.warm(ASKED)) != Usage()
    assert able.warmed == [Request(system=ASKED.system, tools=(), turns=tuple(ASKED.turns))]
