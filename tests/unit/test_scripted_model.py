"""The scripted model behaves as a real one does, so that what survives it survives those."""

import asyncio
import threading
from typing import Any

import pytest
from pydantic import BaseModel

from recollect.llm import BadReply, Busy, ChatModel, CutOff, Refused, Usage
from recollect.testing.scripted import ScriptedModel


class Note(BaseModel):
    title: str


def ask(model: ChatModel, prompt: str = "What was it?", **options: Any) -> Note:
    return asyncio.run(model.complete("You file notes.", prompt, Note, **options)).value


def test_answers_of_a_list_are_given_in_their_order_whatever_they_are_made_of():
    model = ScriptedModel([{"title": "fields"}, Note(title="object"), '{"title": "text"}'])
    assert [ask(model).title for _ in range(3)] == ["fields", "object", "text"]
    assert [request.prompt for request in model.requests] == ["What was it?"] * 3
    with pytest.raises(AssertionError, match="once more than the 3 answers"):
        ask(model)


def test_a_function_sees_what_was_asked():
    model = ScriptedModel(lambda system, prompt, schema: schema(title=f"{system}|{prompt}"))
    assert ask(model, "who?").title == "You file notes.|who?"


def test_tokens_are_counted_for_good_answers_and_for_bad_ones():
    model = ScriptedModel([{"title": "x" * 300}, "not JSON", Refused("I will not.")])
    reply = asyncio.run(model.complete("s" * 30, "p" * 60, Note))
    assert (reply.usage.input_tokens, reply.usage.calls) == (30, 1)
    assert reply.usage.output_tokens > 100
    with pytest.raises(BadReply, match="no Note") as bad:
        asyncio.run(model.complete("s" * 30, "p" * 60, Note))
    assert bad.value.usage == Usage(input_tokens=30, output_tokens=3, calls=1)
    with pytest.raises(Refused) as refused:
        asyncio.run(model.complete("s" * 30, "p" * 60, Note))
    assert refused.value.usage == Usage(input_tokens=30, calls=1)


def test_an_answer_over_the_limit_is_cut_off_unless_the_model_does_not_care():
    endless = {"title": "x" * 1_000_000}
    with pytest.raises(CutOff) as cut:
        ask(ScriptedModel([endless]), most_output_tokens=100)
    assert cut.value.usage.output_tokens == 100
    assert len(ask(ScriptedModel([endless], obeys_limit=False), most_output_tokens=100).title) == 1_000_000


def test_whatever_is_no_answer_is_raised_as_it_is():
    with pytest.raises(Busy) as busy:
        ask(ScriptedModel([Busy("later", 3.0)]))
    assert busy.value.retry_seconds == 3.0


@pytest.mark.parametrize("kind", [asyncio.Event, threading.Event])
def test_a_slow_model_answers_when_its_event_is_set_and_can_be_given_up(kind: Any):
    async def run() -> str:
        until = kind()
        model = ScriptedModel([{"title": "late"}], until=until)
        given_up = asyncio.ensure_future(model.complete("", "", Note))
        await asyncio.to_thread(model.asked.wait)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        late = asyncio.ensure_future(model.complete("", "", Note))
        await asyncio.sleep(0)
        assert not late.done()
        until.set()
        return (await late).value.title

    assert asyncio.run(run()) == "late"
