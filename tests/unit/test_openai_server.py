"""The server that stands in for OpenAI, held against the real SDK: what the SDK can do, it can do here."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any, Literal

import openai
import pytest
from pydantic import BaseModel

from recollect.testing.loopback import BEFORE_ANYTHING, Request, Response
from recollect.testing.openai_server import Answer, Call, Fault, OpenAIServer, SchemaSupport, rate_limited

KEY = "a-key-of-the-tests"
MODEL = "test-model"
HELLO: list[Any] = [{"role": "user", "content": "Good morning"}]


class Place(BaseModel):
    name: str
    kind: Literal["town", "river"]
    since: int | None


class Trip(BaseModel):
    title: str
    places: list[Place]
    best: Place | None = None


TRIP = Trip(title="North", places=[Place(name="Tromsø", kind="town", since=1794)])


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(key=KEY) as made:
        yield made


@pytest.fixture
def client(server: OpenAIServer) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0, timeout=10) as made:
        yield made


def test_a_chat_is_answered_and_counted(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script("Good morning, Ada.")
    found = client.chat.completions.create(model=MODEL, messages=HELLO)
    assert found.choices[0].message.content == "Good morning, Ada."
    assert found.choices[0].finish_reason == "stop"
    assert found.usage
    assert found.usage.total_tokens == found.usage.prompt_tokens + found.usage.completion_tokens > 0
    assert server.requests[0].body["messages"] == HELLO
    assert found._request_id


def test_the_async_client_gets_the_same(server: OpenAIServer) -> None:
    async def ask() -> str | None:
        async with openai.AsyncOpenAI(base_url=server.base_url, api_key=KEY) as client:
            found = await client.chat.completions.create(model=MODEL, messages=HELLO)
            return found.choices[0].message.content

    assert asyncio.run(ask())


def test_a_stream_gives_the_text_in_pieces_and_the_usage_last(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script("Ein längerer Satz über Flüsse 🌊 und Städte.")
    options: Any = {"include_usage": True}
    chunks = list(client.chat.completions.create(model=MODEL, messages=HELLO, stream=True, stream_options=options))
    pieces = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(pieces) == "Ein längerer Satz über Flüsse 🌊 und Städte."
    assert len([piece for piece in pieces if piece]) > 3
    assert chunks[-1].usage
    assert chunks[-2].choices[0].finish_reason == "stop"


def test_the_stream_helper_puts_a_completion_together(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script(TRIP)
    with client.chat.completions.stream(model=MODEL, messages=HELLO, response_format=Trip) as stream:
        stream.until_done()
        assert stream.get_final_completion().choices[0].message.parsed == TRIP


def test_parse_gives_the_object_of_a_script(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script(TRIP, TRIP.model_dump())
    for _ in range(2):
        found = client.chat.completions.parse(model=MODEL, messages=HELLO, response_format=Trip)
        assert found.choices[0].message.parsed == TRIP


def test_without_a_script_a_schema_gets_its_least_value(client: openai.OpenAI) -> None:
    found = client.chat.completions.parse(model=MODEL, messages=HELLO, response_format=Trip)
    assert found.choices[0].message.parsed == Trip(title="", places=[])


def test_responses_are_parsed_and_streamed_too(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script(TRIP, TRIP, "Good morning, Ada.", Answer(refusal="I'd rather not."), TRIP)
    parsed = client.responses.parse(model=MODEL, input="Good morning", text_format=Trip)
    assert parsed.output_parsed == TRIP
    assert parsed.usage
    with client.responses.stream(model=MODEL, input="Good morning", text_format=Trip) as stream:
        assert stream.get_final_response().output_parsed == TRIP
    assert client.responses.create(model=MODEL, input="Good morning").output_text == "Good morning, Ada."
    with client.responses.stream(model=MODEL, input="Good morning") as stream:
        content: Any = stream.get_final_response().output[0]
        assert content.content[0].refusal == "I'd rather not."
    cut = client.responses.create(model=MODEL, input="Good morning", max_output_tokens=3)
    assert cut.status == "incomplete"


def test_a_response_uses_tools_whole_and_streamed(server: OpenAIServer, client: openai.OpenAI) -> None:
    calls = (Call(name="weather", given={"city": "Tromsø"}), Call(name="search", namespace="mcp__house", given={}))
    server.script(Answer(text="Let me look.", calls=calls), Answer(text=None, calls=calls))
    whole: list[Any] = list(client.responses.create(model=MODEL, input="Good morning").output)
    assert [item.type for item in whole] == ["message", "function_call", "function_call"]
    assert (whole[1].name, json.loads(whole[1].arguments)) == ("weather", {"city": "Tromsø"})
    with client.responses.stream(model=MODEL, input="Good morning") as stream:
        streamed: list[Any] = list(stream.get_final_response().output)
    assert [(item.name, item.arguments) for item in streamed] == [(item.name, item.arguments) for item in whole[1:]]
    assert streamed[1].namespace == "mcp__house"


def test_a_tool_call_and_its_output_belong_together_in_responses(client: openai.OpenAI) -> None:
    call = {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "call_1", "output": "Rain."}
    asked: list[Any] = [*HELLO, call, output]
    assert client.responses.create(model=MODEL, input=asked).output_text
    with pytest.raises(openai.BadRequestError, match="No tool output found for function call call_1"):
        client.responses.create(model=MODEL, input=asked[:-1])
    with pytest.raises(openai.BadRequestError, match="No tool call found for function call output with call_id call_1"):
        client.responses.create(model=MODEL, input=[*HELLO, asked[-1]])


def test_models_are_listed(server: OpenAIServer, client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == [MODEL]
    assert client.models.retrieve(MODEL).id == MODEL
    with pytest.raises(openai.NotFoundError, match="does not exist"):
        client.models.retrieve("other")


def test_a_refusal_is_no_content(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script(Answer(text=None, refusal="I can't help with that."))
    message = client.chat.completions.parse(model=MODEL, messages=HELLO, response_format=Trip).choices[0].message
    assert (message.parsed, message.refusal) == (None, "I can't help with that.")


def test_an_answer_ends_at_the_limit(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script(TRIP)
    with pytest.raises(openai.LengthFinishReasonError):
        client.chat.completions.parse(model=MODEL, messages=HELLO, response_format=Trip, max_tokens=5)
    server.script(Answer(text="", finish_reason="content_filter"))
    with pytest.raises(openai.ContentFilterFinishReasonError):
        client.chat.completions.parse(model=MODEL, messages=HELLO, response_format=Trip)


def test_the_sdk_waits_as_long_as_the_server_says_and_asks_again(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script(rate_limited(1), Fault(status=503, headers={"retry-after-ms": "1"}), "now")
    found = client.with_options(max_retries=2).chat.completions.create(model=MODEL, messages=HELLO)
    assert found.choices[0].message.content == "now"
    assert len(server.requests) == 3
    assert not server.unused_steps


@pytest.mark.parametrize(
    ("step", "error"),
    [
        (rate_limited(), openai.RateLimitError),
        (Fault(), openai.InternalServerError),
        (Fault(status=409, message="busy"), openai.ConflictError),
        (Fault(status=403, message="not yours"), openai.PermissionDeniedError),
        (Response(hang_up_after=BEFORE_ANYTHING), openai.APIConnectionError),
        (Response(body=b"{not json", headers={"content-type": "application/json"}), json.JSONDecodeError),
    ],
)
def test_the_sdk_sees_each_fault_as_what_it_is(
    server: OpenAIServer, client: openai.OpenAI, step: object, error: type[Exception]
) -> None:
    server.script(step)
    with pytest.raises(error):
        client.chat.completions.create(model=MODEL, messages=HELLO)


def test_a_stream_may_break_in_the_middle(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script(Answer(text="a long sentence about a river", hang_up_after=3))
    seen: list[str] = []
    stream = client.chat.completions.create(model=MODEL, messages=HELLO, stream=True)
    with pytest.raises(openai.APIConnectionError):
        seen.extend(chunk.choices[0].delta.content or "" for chunk in stream)
    assert seen == ["", "a long ", "sentenc"]


def test_an_answer_may_take_longer_than_one_waits(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script(Answer(text="late", wait_seconds=60))
    with pytest.raises(openai.APITimeoutError):
        client.with_options(timeout=0.05).chat.completions.create(model=MODEL, messages=HELLO)


@pytest.mark.parametrize("key", ["another", "a-key"])
def test_a_wrong_key_is_refused(server: OpenAIServer, key: str) -> None:
    with (
        openai.OpenAI(base_url=server.base_url, api_key=key, max_retries=0) as client,
        pytest.raises(openai.AuthenticationError),
    ):
        client.chat.completions.create(model=MODEL, messages=HELLO)


OPEN = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
CLOSED = {**OPEN, "additionalProperties": False}


def _format(schema: dict[str, Any], name: str = "x") -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": True}}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": "other"}, "does not exist"),
        ({"messages": []}, "empty array"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "role"),
        ({"messages": [{"role": "user", "content": None}]}, "content"),
        ({"temperature": 3}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 3, "max_completion_tokens": 3}, "same time"),
        ({"n": 2}, "'n'"),
        ({"stream_options": {"include_usage": True}}, "stream"),
        ({"top_k": 3}, "Unrecognized request argument supplied: top_k"),
        ({"response_format": {"type": "xml"}}, "response_format"),
        ({"response_format": {"type": "json_object"}}, "word 'json'"),
        ({"response_format": _format(OPEN)}, "'additionalProperties' is required"),
        ({"response_format": _format({**CLOSED, "required": []})}, "including every key"),
        ({"response_format": _format({**CLOSED, "properties": {"a": {}}})}, "must have a 'type'"),
        ({"response_format": _format({**CLOSED, "properties": {"a": {"type": "string", "default": ""}}})}, "'default'"),
        (
            {"response_format": _format({**CLOSED, "properties": {"a": {"type": "string", "maxLength": 3}}})},
            "maxLength",
        ),
        ({"response_format": _format({"anyOf": [CLOSED]})}, "at its root"),
        ({"response_format": _format(CLOSED, "no blanks")}, "name"),
    ],
)
def test_what_the_api_refuses_is_refused(
    server: OpenAIServer, client: openai.OpenAI, change: dict[str, Any], said: str
) -> None:
    server.script("not used up by a request that is refused")
    body: dict[str, Any] = {"model": MODEL, "messages": HELLO, **change}
    with pytest.raises((openai.BadRequestError, openai.NotFoundError)) as caught:
        client.post("/chat/completions", body=body, cast_to=object)
    assert said in str(caught.value)
    assert server.unused_steps == 1


def test_a_server_may_not_know_schemas_or_not_look_at_them() -> None:
    for schemas, error in ((SchemaSupport.UNKNOWN, openai.BadRequestError), (SchemaSupport.IGNORED, ValueError)):
        with (
            OpenAIServer(schemas=schemas) as server,
            openai.OpenAI(base_url=server.base_url, api_key="any") as client,
            pytest.raises(error),
        ):
            client.chat.completions.parse(model=MODEL, messages=HELLO, response_format=Trip)


def test_a_reasoning_model_does_not_take_every_parameter() -> None:
    with (
        OpenAIServer(refused=("max_tokens", "temperature")) as server,
        openai.OpenAI(base_url=server.base_url, api_key="any") as client,
    ):
        with pytest.raises(openai.BadRequestError, match="max_completion_tokens"):
            client.chat.completions.create(model=MODEL, messages=HELLO, max_tokens=5)
        assert client.chat.completions.create(model=MODEL, messages=HELLO, max_completion_tokens=5)


def test_a_long_beginning_that_was_sent_before_is_read_from_the_cache(client: openai.OpenAI) -> None:
    def cached(system: str, asked: str) -> int:
        messages: list[Any] = [{"role": "system", "content": system}, {"role": "user", "content": asked}]
        usage = client.chat.completions.create(model=MODEL, messages=messages).usage
        assert usage
        assert usage.prompt_tokens_details
        return usage.prompt_tokens_details.cached_tokens or 0

    long = "You keep notes about rivers. " * 200
    assert [cached(long, "Elbe"), cached(long, "Oder") % 128, cached("short", "a"), cached("short", "b")] == [0] * 4
    assert 1_024 <= cached(long, "Rhine") <= 2_000


def test_a_step_may_look_at_the_request(server: OpenAIServer, client: openai.OpenAI) -> None:
    def echo(request: Request) -> str:
        return request.body["messages"][0]["content"][::-1]

    server.script(echo)
    assert client.chat.completions.create(model=MODEL, messages=HELLO).choices[0].message.content == "gninrom dooG"
