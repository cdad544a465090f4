"""The server that stands in for Anthropic's API, proved against the official SDK."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import Anthropic, AsyncAnthropic, beta_tool
from anthropic_talk import ADAPTIVE, COMMON, HI, MODEL, ON_DEMAND, WEATHER, after, refusal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from recollect.testing import AnthropicServer
from recollect.testing.anthropic_answers import ApiError, cut_off, fail, refuse, say, say_json, think, use_tool
from recollect.testing.anthropic_models import MODELS
from recollect.testing.loopback import Response

LONG = "word " * 1_000
THREADS = "message-threads-2026-08-12"


class Person(BaseModel):
    name: str
    tags: list[str]
    age: int | None


@beta_tool
def weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: its name
    """
    return f"It rains in {city}."


@pytest.fixture(scope="module")
def line() -> Iterator[httpx2.Client]:
    with httpx2.Client(verify=False, trust_env=False) as line:
        yield line


@pytest.fixture
def server() -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        yield server


@pytest.fixture
def client(server: AnthropicServer, line: httpx2.Client) -> Anthropic:
    return Anthropic(base_url=server.url, api_key="any", http_client=line)


# --- answers


def test_a_message_is_answered(client: Anthropic, server: AnthropicServer) -> None:
    server.script(say("Good morning."))
    message = client.messages.create(**COMMON, messages=HI)
    assert (message.content[0].text, message.stop_reason, message.model) == ("Good morning.", "end_turn", MODEL)  # type: ignore[union-attr]
    assert message.usage.input_tokens == client.messages.count_tokens(model=MODEL, messages=HI).input_tokens
    assert message._request_id
    (body,) = server.asked
    assert body == {**COMMON, "messages": HI}
    assert server.requests[0].headers["anthropic-version"] == "2026-10-21"


def test_without_a_script_it_answers_the_least(client: Anthropic) -> None:
    assert client.messages.create(**COMMON, messages=HI).content[0].text == "OK."  # type: ignore[union-attr]
    parsed = client.messages.parse(**COMMON, messages=HI, output_format=Person)
    assert parsed.parsed_output == Person(name="", tags=[], age=None)


def test_a_function_answers_when_the_script_is_empty(line: httpx2.Client) -> None:
    with AnthropicServer(lambda body: say(body["messages"][-1]["content"].upper())) as server:
        client = Anthropic(base_url=server.url, api_key="any", http_client=line)
        assert client.messages.create(**COMMON, messages=HI).content[0].text == "HI"  # type: ignore[union-attr]
        server.script(lambda body: fail(400, body["model"]))
        assert MODEL in str(refusal(client))


def test_an_object_is_parsed_by_the_sdk(client: Anthropic, server: AnthropicServer) -> None:
    server.script(say_json({"name": "Ada", "tags": ["x"], "age": 36}))
    assert client.messages.parse(**COMMON, messages=HI, output_format=Person).parsed_output == Person(
        name="Ada", tags=["x"], age=36
    )


def test_a_stream_has_its_events_in_order(client: Anthropic, server: AnthropicServer) -> None:
    server.script(think("Let me see. " * 5) + use_tool("weather", {"city": "Ålesund", "days": [1, 2]}))
    with client.messages.stream(**COMMON, **ADAPTIVE, messages=HI, tools=[WEATHER]) as stream:
        kinds = [event.type for event in stream]
        message = stream.get_final_message()
    assert (kinds[0], kinds[-2], kinds[-1]) == ("message_start", "message_delta", "message_stop")
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 2
    assert {"thinking", "signature", "input_json"} <= set(kinds)
    assert message.stop_reason == "tool_use"
    assert message.content[1].input == {"city": "Ålesund", "days": [1, 2]}  # type: ignore[union-attr]


def test_stream_and_json_say_the_same(client: Anthropic, server: AnthropicServer) -> None:
    answer = think("Hm.") + say("A long answer, in many pieces. " * 20)
    server.script(answer, answer)
    whole = client.messages.create(**COMMON, **ADAPTIVE, messages=HI)
    with client.messages.stream(**COMMON, **ADAPTIVE, messages=HI) as stream:
        streamed = stream.get_final_message()
    assert [block.to_dict() for block in streamed.content] == [block.to_dict() for block in whole.content]
    assert streamed.usage == whole.usage


def test_the_async_client_does_the_same(server: AnthropicServer) -> None:
    server.script(say("one"), say("two"), say_json({"name": "Ada", "tags": [], "age": None}))

    async def talk() -> list[Any]:
        line = httpx2.AsyncClient(verify=False, trust_env=False)
        async with AsyncAnthropic(base_url=server.url, api_key="any", http_client=line) as client:
            first = await client.messages.create(**COMMON, messages=HI)
            async with client.messages.stream(**COMMON, messages=HI) as stream:
                second = await stream.get_final_text()
            third = await client.messages.parse(**COMMON, messages=HI, output_format=Person)
            models = [model.id async for model in client.models.list()]
        return [first.content[0].text, second, third.parsed_output, models]  # type: ignore[union-attr]

    assert asyncio.run(talk()) == ["one", "two", Person(name="Ada", tags=[], age=None), list(MODELS)]


def test_models_tell_what_they_can(client: Anthropic) -> None:
    assert [model.id for model in client.models.list()] == list(MODELS)
    found = client.beta.models.retrieve(MODEL)
    assert (found.lifecycle, found.max_input_tokens) == ("active", 1_000_000)
    assert found.capabilities
    assert found.capabilities.compaction
    assert found.capabilities.compaction.supported
    old = client.beta.models.retrieve("claude-haiku-4-5")
    assert old.capabilities
    assert old.capabilities.compaction
    assert not old.capabilities.compaction.supported
    with pytest.raises(anthropic.NotFoundError):
        client.models.retrieve("claude-none")


def test_counting_is_always_the_same(client: Anthropic) -> None:
    counts = {
        client.messages.count_tokens(model=MODEL, messages=HI, system=LONG, tools=[WEATHER]).input_tokens
        for _ in range(3)
    }
    assert len(counts) == 1
    assert counts.pop() > client.messages.count_tokens(model=MODEL, messages=HI, system=LONG).input_tokens


def test_an_answer_ends_at_its_limits(client: Anthropic, server: AnthropicServer) -> None:
    server.script(say("x" * 100), say("one STOP two"), cut_off("so far"), refuse("cyber"))
    cut = client.messages.create(model=MODEL, max_tokens=10, messages=HI)
    assert (cut.content[0].text, cut.stop_reason, cut.usage.output_tokens) == ("x" * 30, "max_tokens", 10)  # type: ignore[union-attr]
    stopped = client.messages.create(**COMMON, messages=HI, stop_sequences=["STOP"])
    assert (stopped.content[0].text, stopped.stop_sequence) == ("one ", "STOP")  # type: ignore[union-attr]
    assert client.messages.create(**COMMON, messages=HI).stop_reason == "max_tokens"
    refused = client.messages.create(**COMMON, messages=HI)
    assert (refused.stop_reason, refused.content) == ("refusal", [])
    assert refused.stop_details
    assert refused.stop_details.category == "cyber"


@given(text=st.text(min_size=1), arguments=st.dictionaries(st.text(), st.integers() | st.text() | st.none()))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_text_and_every_argument_arrives_as_it_was_said(
    client: Anthropic, server: AnthropicServer, text: str, arguments: dict[str, Any]
) -> None:
    server.script(*[say(text) + use_tool("weather", arguments)] * 2)
    whole = client.messages.create(**COMMON, messages=HI).content
    with client.messages.stream(**COMMON, messages=HI) as stream:
        streamed = stream.get_final_message().content
    for said, used in (whole, streamed):
        assert (said.text, used.input) == (text, arguments)  # type: ignore[union-attr]


# --- the prompt cache


def test_what_begins_the_same_is_read_from_the_cache(client: Anthropic, server: AnthropicServer) -> None:
    system: Any = [{"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}]
    first = client.messages.create(**COMMON, messages=HI, system=system).usage
    second = client.messages.create(**COMMON, messages=after("something else"), system=system).usage
    assert (first.cache_read_input_tokens, first.cache_creation_input_tokens) == (0, second.cache_read_input_tokens)
    assert second.cache_read_input_tokens
    assert second.cache_read_input_tokens > MODELS[MODEL].least_cached_tokens
    other = client.messages.create(**COMMON | {"model": "claude-sonnet-5-5"}, messages=HI, system=system).usage
    assert other.cache_read_input_tokens == 0
    server.cache.clear()
    assert client.messages.create(**COMMON, messages=HI, system=system).usage.cache_read_input_tokens == 0


def test_a_growing_conversation_pays_only_what_is_new(client: Anthropic) -> None:
    mark: Any = {"type": "ephemeral", "ttl": "1h"}
    talk = after(LONG, "Yes.", "And then?")
    first = client.messages.create(**COMMON, messages=talk, cache_control=mark).usage
    more = [*talk, {"role": "assistant", "content": "So."}, {"role": "user", "content": "Well?"}]
    second = client.messages.create(**COMMON, messages=more, cache_control=mark).usage
    assert first.cache_creation
    assert second.cache_read_input_tokens == first.cache_creation.ephemeral_1h_input_tokens
    assert second.input_tokens == 0


def test_a_cache_can_be_warmed_without_an_answer(client: Anthropic) -> None:
    mark: Any = {"type": "ephemeral"}
    warm = client.messages.create(model=MODEL, max_tokens=0, messages=after(LONG), cache_control=mark)
    assert (warm.content, warm.stop_reason, warm.usage.output_tokens) == ([], "max_tokens", 0)
    usage = client.messages.create(**COMMON, messages=after(LONG), cache_control=mark).usage
    assert usage.cache_read_input_tokens == warm.usage.cache_creation_input_tokens


def test_a_short_beginning_is_not_kept(client: Anthropic) -> None:
    usage = client.messages.create(**COMMON, messages=HI, cache_control={"type": "ephemeral"}).usage
    assert usage.cache_creation_input_tokens == 0


# --- tools


def test_a_use_of_a_tool_wants_its_result_next(client: Anthropic, server: AnthropicServer) -> None:
    server.script(use_tool("weather", {"city": "Oslo"}), say("It rains."))
    used = client.messages.create(**COMMON, messages=HI, tools=[WEATHER])
    result = {"type": "tool_result", "tool_use_id": used.content[0].id, "content": "rain"}  # type: ignore[union-attr]
    talk = after("hi", used.content, "never mind")
    assert "without `tool_result`" in str(refusal(client, messages=talk, tools=[WEATHER]))
    assert "without `tool_result`" in str(refusal(client, messages=talk[:2], tools=[WEATHER]))
    assert "unexpected `tool_use_id`" in str(refusal(client, messages=after([result])))
    assert "unique" in str(refusal(client, messages=after("hi", used.content, [result], used.content, [result])))
    answer = client.messages.create(**COMMON, messages=after("hi", used.content, [result]), tools=[WEATHER])
    assert answer.content[0].text == "It rains."  # type: ignore[union-attr]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("thread", [None, False])
def test_the_tool_runner_runs_with_and_without_threads(
    client: Anthropic, server: AnthropicServer, stream: bool, thread: Any
) -> None:
    server.script(
        think("Hm.") + use_tool("weather", {"city": "Oslo"}), use_tool("weather", {"city": "Rome"}), say("Wet.")
    )
    options = {} if thread is None else {"thread": thread}
    runner: Any = client.beta.messages.tool_runner(
        **COMMON, **ADAPTIVE, messages=HI, tools=[weather], stream=stream, **options
    )
    last = [turn.get_final_message() if stream else turn for turn in runner][-1]
    assert last.content[0].text == "Wet."
    assert [len(body["messages"]) for body in server.asked] == ([1, 1, 1] if thread is None else [1, 3, 5])


def test_the_tool_runner_compacts_before_a_turn(client: Anthropic, server: AnthropicServer) -> None:
    server.script(use_tool("weather", {"city": "Oslo"}), say("They asked about Oslo."), say("Wet."))
    runner = client.beta.messages.tool_runner(**COMMON, messages=HI, tools=[weather], betas=[ON_DEMAND])
    reasons: list[str | None] = []
    for message in runner:
        reasons.append(message.stop_reason)
        if len(reasons) == 1:
            runner.compact_before_next_turn()
    assert reasons == ["tool_use", "compaction", "end_turn"]
    assert server.asked[-1]["messages"][0]["content"][0]["content"] == "They asked about Oslo."


# --- threads


def test_a_thread_is_continued_once(client: Anthropic, server: AnthropicServer) -> None:
    first = client.beta.messages.create(
        **COMMON, messages=HI, system="Be kind.", thread={"type": "create"}, betas=[THREADS]
    )
    go_on: Any = {"thread": {"type": "continue", "previous_message_id": first.id}, "messages": after("And now?")}
    server.script(lambda body: say(f"{body['system']} {len(body['messages'])}"))
    second = client.beta.messages.create(**COMMON, **go_on, betas=[THREADS])
    assert second.content[0].text == "Be kind. 3"  # type: ignore[union-attr]
    assert refusal(client, THREADS, **go_on).error_code == "thread_already_continued"
    assert "not permitted" in str(refusal(client, THREADS, **go_on, system="Be rude."))
    server.threads.expire()
    go_on["thread"]["previous_message_id"] = second.id
    lost = refusal(client, THREADS, **go_on)
    assert isinstance(lost, anthropic.NotFoundError)
    assert lost.error_code == "thread_not_found"


def test_the_sdk_replays_a_thread_that_was_lost(client: Anthropic, server: AnthropicServer) -> None:
    thread = client.beta.messages.thread(**COMMON, messages=HI)
    thread.send()
    server.threads.expire()
    thread.send({"role": "user", "content": "Still there?"})
    assert [len(body["messages"]) for body in server.asked] == [1, 1, 3]


# --- faults


def test_the_sdk_waits_as_the_server_says(client: Anthropic, server: AnthropicServer) -> None:
    server.script(fail(429, retry_after_ms=1), fail(529, retry_after_ms=1), say("at last"))
    assert client.messages.create(**COMMON, messages=HI).content[0].text == "at last"  # type: ignore[union-attr]
    assert [request.headers["x-stainless-retry-count"] for request in server.requests] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (fail(400), anthropic.BadRequestError),
        (fail(401), anthropic.AuthenticationError),
        (fail(403), anthropic.PermissionDeniedError),
        (fail(404), anthropic.NotFoundError),
        (fail(413), anthropic.ContentTooLargeError),
        (fail(429), anthropic.RateLimitError),
        (fail(500), anthropic.InternalServerError),
        (fail(529), anthropic.OverloadedError),
        (fail(529, code="compaction_unavailable"), anthropic.OverloadedError),
    ],
)
def test_each_fault_is_the_error_of_the_sdk(
    client: Anthropic, server: AnthropicServer, fault: ApiError, kind: type[Exception]
) -> None:
    server.script(fault)
    error = refusal(client)
    assert type(error) is kind or isinstance(error, kind)
    assert error.error_code == fault.details.get("error_code")
    assert error.request_id


def test_an_error_inside_a_stream_is_raised(client: Anthropic, server: AnthropicServer) -> None:
    server.script(replace(say("Good morning to you all."), error_after=4))
    with client.messages.stream(**COMMON, messages=HI) as stream, pytest.raises(anthropic.APIStatusError) as caught:
        stream.until_done()
    assert caught.value.type == "overloaded_error"
    server.script(replace(say("x"), error_after=0))
    assert isinstance(refusal(client), anthropic.OverloadedError)


def test_a_line_breaks_before_the_end_of_a_message(client: Anthropic, server: AnthropicServer) -> None:
    server.script(replace(say("Good morning."), hang_up_after=4))
    with client.messages.stream(**COMMON, messages=HI) as stream, pytest.raises(httpx2.RemoteProtocolError):
        stream.until_done()


def test_a_slow_drip_runs_into_the_time_out_of_the_client(client: Anthropic, server: AnthropicServer) -> None:
    server.script(replace(say("Good morning."), pause_seconds=60))
    with (
        client.with_options(timeout=0.1).messages.stream(**COMMON, messages=HI) as stream,
        pytest.raises(httpx2.ReadTimeout),
    ):
        stream.until_done()


def test_answers_may_be_broken_or_huge(client: Anthropic, server: AnthropicServer) -> None:
    server.script(Response(body=b"{", headers={"content-type": "application/json"}))
    with pytest.raises(ValueError, match="Expecting property name"):
        client.messages.create(**COMMON, messages=HI)
    server.script(replace(say("x" * 10_000_000), obeys_limit=False))
    assert len(client.messages.create(**COMMON, messages=HI).content[0].text) == 10_000_000  # type: ignore[union-attr]
