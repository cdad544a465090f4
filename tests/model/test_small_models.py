"""`OpenAIModel` with real models (`make test-model`): one that understands nothing, one that extracts usable facts."""

import asyncio
import sys
import time
from collections.abc import Iterator
from typing import Any, Literal

import openai
import pytest
from pydantic import BaseModel, Field

from model.servers import NotServed, Served, served
from recollect.errors import Invalid
from recollect.llm import BadReply, CutOff, Reply
from recollect.llm.openai import FORMAT, OpenAIModel

pytestmark = [pytest.mark.model, pytest.mark.timeout(900)]

SYSTEM = (
    "You read a conversation and write down what it says about the people in it. Take each statement from one turn, "
    "and copy the words that say it, letter by letter, from that turn. Leave out questions and jokes."
)
CHAT = """[1] user: Morning! Quick one: I moved from Leipzig to Lyon in May, so please use metric units and euros.
[2] assistant: Noted. Congratulations on the move! What shall we do today?
[3] user: My sister Amélie visits on Friday, she is a vegan and a cellist. I need a dinner plan.
[4] assistant: How about a lentil curry with rice?
[5] user: Perfect. And we decided at work to use PostgreSQL instead of MySQL for the billing service."""


class Statement(BaseModel):
    about: str = Field(description="Who or what it is about.")
    kind: Literal["fact", "preference", "decision", "plan"]
    text: str = Field(description="One sentence that can stand alone.")
    turn: int = Field(description="The number of the turn.")
    quote: str = Field(description="The words of that turn that say it.")


class Statements(BaseModel):
    title: str = Field(description="Three to six words.")
    statements: list[Statement]


class Mood(BaseModel):
    """Of choices only: a text may have no end."""

    mood: Literal["good", "bad"]
    is_certain: bool


@pytest.fixture(scope="module")
def smol() -> Iterator[Served]:
    try:
        with served("smollm2") as running:
            yield running
    except NotServed as problem:
        pytest.fail(str(problem))


@pytest.fixture(scope="module")
def qwen() -> Iterator[Served]:
    try:
        with served("qwen") as running:
            yield running
    except NotServed as problem:
        pytest.fail(str(problem))


def ask(running: Served, schema: type[Any], prompt: str = CHAT, most: int = 800, **options: Any) -> Reply[Any]:
    async def once() -> Reply[Any]:
        model = OpenAIModel(running.base_url, running.name, timeout_seconds=options.pop("timeout_seconds", 600))
        if options.pop("without_schema", False):
            model._refused.add(FORMAT)
        try:
            return await model.complete(SYSTEM, prompt, schema, most_output_tokens=most)
        finally:
            await model.close()

    return asyncio.run(once())


def outcome(running: Served, schema: type[Any], **options: Any) -> Reply[Any] | BadReply:
    try:
        return ask(running, schema, **options)
    except BadReply as error:
        return error


# SmolLM2: a real server with real latency and useless answers.


def test_the_smallest_model_keeps_to_the_schema_that_the_server_holds_it_to(smol: Served) -> None:
    reply = ask(smol, Mood, "What a lovely day!", most=100)
    assert isinstance(reply.value, Mood)
    assert reply.model == "smollm2"
    assert reply.usage.calls == 1
    assert 0 < reply.usage.output_tokens <= 100
    assert reply.usage.input_tokens > 30


def test_useless_answers_to_a_real_question_are_survived(smol: Served) -> None:
    """It may go round in circles until it is cut off."""
    for most in (60, 400):
        found = outcome(smol, Statements, most=most)
        assert isinstance(found, CutOff) or isinstance(found.value, Statements)
        assert found.usage.calls >= 1
        assert found.usage.output_tokens >= 1


def test_without_the_servers_help_the_smallest_model_may_fail_and_what_it_cost_is_known(smol: Served) -> None:
    found = outcome(smol, Statements, most=200, without_schema=True)
    assert isinstance(found, BadReply) or isinstance(found.value, Statements)
    assert found.usage.calls in (1, 2)
    assert found.usage.input_tokens > 300  # The schema stands in the prompt.


def test_a_prompt_beyond_the_context_is_refused_with_the_servers_words(smol: Served) -> None:
    with pytest.raises(Invalid, match="context"):
        ask(smol, Mood, "river " * 20_000)


def test_the_official_client_speaks_with_the_same_server(smol: Served) -> None:
    with openai.OpenAI(base_url=smol.base_url, api_key="none") as client:
        assert [model.id for model in client.models.list()] == ["smollm2"]
        asked: Any = [{"role": "user", "content": "What a lovely day!"}]
        found = client.chat.completions.parse(model="smollm2", messages=asked, response_format=Mood, max_tokens=100)
    assert isinstance(found.choices[0].message.parsed, Mood)


# Qwen: usable facts.


def test_a_model_of_a_billion_parameters_extracts_facts_with_their_words(
    qwen: Served, record_property: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = time.monotonic()
    reply = ask(qwen, Statements)
    seconds = time.monotonic() - begun
    found: list[Statement] = reply.value.statements
    turns = dict(line[1:].split("] ", 1) for line in CHAT.splitlines())
    verbatim = [one for one in found if one.quote and one.quote in turns.get(str(one.turn), "")]
    record_property("seconds", round(seconds, 1))
    record_property("usage", str(reply.usage))
    with capsys.disabled():
        sys.stdout.write(f"\n{seconds:.1f} s, {reply.usage}, {len(verbatim)} of {len(found)} quotes verbatim\n")
    said = " ".join(one.text for one in found)
    assert "Lyon" in said
    assert len(found) >= 2
    assert verbatim
    assert reply.usage.calls == 1


def test_the_second_prompt_reads_the_first_part_from_the_cache(qwen: Served) -> None:
    ask(qwen, Statements)
    again = ask(qwen, Statements, CHAT.replace("Friday", "Monday"))
    assert 0 < again.usage.cached_tokens < again.usage.input_tokens


def test_the_schema_in_the_prompt_is_enough_for_it(qwen: Served) -> None:
    reply = ask(qwen, Statements, without_schema=True)
    assert "Lyon" in " ".join(one.text for one in reply.value.statements)
    assert reply.usage.calls <= 2


def test_an_answer_is_cut_off_where_it_must_end(qwen: Served) -> None:
    with pytest.raises(CutOff) as caught:
        ask(qwen, Statements, most=12)
    assert caught.value.usage.output_tokens == 12
