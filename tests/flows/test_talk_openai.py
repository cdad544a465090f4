"""A mind's talk with models behind chat completions, over real connections to a server that keeps the API's rules."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator
from itertools import pairwise
from typing import Any, TypeVar

import pytest
from asking import Waits, assistant, text, user

from recollect.errors import Denied, Invalid, RecollectError, Unavailable
from recollect.llm.endpoint import MOST_RETRIES, MOST_STREAM_BYTES
from recollect.llm.model import BadReply, Busy, Usage
from recollect.llm.openai_messages import NO_IMAGE
from recollect.llm.openai_talk import OpenAITalk
from recollect.llm.talking import (
    Abilities,
    Answer,
    Block,
    Condensing,
    Heard,
    Piece,
    Request,
    Stop,
    TextPiece,
    ThinkingPiece,
    Tool,
    ToolPiece,
    Turn,
)
from recollect.testing.loopback import BEFORE_ANYTHING, LoopbackServer, Response, as_json
from recollect.testing.openai_server import Answer as Step
from recollect.testing.openai_server import Call, Fault, OpenAIServer, rate_limited

T = TypeVar("T")
KEY = "a-key-of-the-tests"
MODEL = "test-model"
TOOLS = (
    Tool(name="search_memory", description="Searches.", schema={"type": "object", "properties": {}}),
    Tool(name="memory", description="Notes.", schema={"type": "object"}, kind="memory_20250818"),
)
IMAGE: Block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(key=KEY) as made:
        yield made


def request(*turns: Turn, **options: Any) -> Request:
    return Request(**{"system": ("Be kind.", "Be brief."), "tools": TOOLS, "turns": list(turns)} | options)


def talk(server: OpenAIServer, what: Callable[[OpenAITalk], Coroutine[Any, Any, T]], **options: Any) -> T:
    settings = {"model": MODEL, "key": KEY, "timeout_seconds": 30.0, "wait": Waits()} | options

    async def whole() -> T:
        model = OpenAITalk(server.base_url, **settings)
        try:
            return await what(model)
        finally:
            await model.close()

    return asyncio.run(whole())


def answered(server: OpenAIServer, asked: Request | None = None, hear: Any = None, **options: Any) -> Answer:
    asked = asked or request(user("Hello"))
    return talk(server, lambda model: model.answer(asked, hear or Heard().take), **options)


def failure(server: OpenAIServer, asked: Request | None = None, **options: Any) -> RecollectError:
    with pytest.raises(RecollectError) as caught:
        answered(server, asked, **options)
    assert KEY not in str(caught.value)
    return caught.value


def sent(server: OpenAIServer) -> list[dict[str, Any]]:
    return [one.body for one in server.requests]


@pytest.mark.parametrize("is_in_snapshots", [False, True], ids=["increments", "snapshots"])
@pytest.mark.parametrize("says_done", [False, True], ids=["just ends", "says that it is done"])
def test_words_before_and_behind_tools_are_heard_as_they_come_and_kept_in_their_order(
    server: OpenAIServer, is_in_snapshots: bool, says_done: bool
):
    calls = (Call(name="search_memory", given={"query": "Lyon"}), Call(name="memory", given={"command": "view"}))
    server.script(
        Step(text="Let me look.", calls=calls, after="A moment.", is_in_snapshots=is_in_snapshots, says_done=says_done)
    )
    pieces: list[Piece] = []
    answer = answered(server, hear=pieces.append)
    assert [block["type"] for block in answer.blocks] == ["text", "tool_use", "tool_use", "text"]
    assert [block["text"] for block in answer.blocks if block["type"] == "text"] == ["Let me look.", "A moment."]
    assert [block["input"] for block in answer.blocks if block["type"] == "tool_use"] == [
        {"query": "Lyon"},
        {"command": "view"},
    ]
    assert (answer.stop, answer.model, answer.usage.calls) == (Stop.TOOLS, MODEL, 1)
    assert "".join(piece.text for piece in pieces if isinstance(piece, TextPiece)) == "Let me look.A moment."
    assert [piece.name for piece in pieces if isinstance(piece, ToolPiece)] == ["search_memory", "memory"]
    (body,) = sent(server)
    assert body["stream_options"] == {"include_usage": True}
    assert [tool["function"]["name"] for tool in body["tools"]] == ["search_memory", "memory"]
    assert body["messages"][0] == {"role": "system", "content": "Be kind.\n\nBe brief."}
    assert "temperature" not in body


def test_a_conversation_with_tools_goes_on_and_only_grows_at_its_end(server: OpenAIServer):
    server.script(
        Step(text=None, calls=(Call(name="search_memory", given={}, id="call_0"),)),
        "She lives in Lyon.",
        Step(text="Again.", calls=(Call(name="search_memory", given={}, id="call_0"),)),
        "Still in Lyon.",
    )

    async def whole(model: OpenAITalk) -> list[Answer]:
        turns: list[Turn] = []
        answers: list[Answer] = []
        for _ in range(2):
            turns.append(user("Where does she live?"))
            for _ in range(2):
                answers.append(await model.answer(request(*turns), Heard().take))
                turns.append(assistant(*answers[-1].blocks))
                uses = [block for block in answers[-1].blocks if block["type"] == "tool_use"]
                results = [{"type": "tool_result", "tool_use_id": use["id"], "content": [text("Lyon")]} for use in uses]
                turns += [user(*results)] if results else []
        return answers

    answers = talk(server, whole)
    assert [answer.stop for answer in answers] == [Stop.TOOLS, Stop.END] * 2
    ids = [block["id"] for answer in answers for block in answer.blocks if block["type"] == "tool_use"]
    assert len(set(ids)) == 2
    bodies = [body["messages"] for body in sent(server)]
    for earlier, later in pairwise(bodies):
        assert later[: len(earlier)] == earlier
    assert [message["role"] for message in bodies[-1]][-4:] == ["assistant", "user", "assistant", "tool"]


def test_turns_of_one_side_are_one_message_and_what_is_of_other_providers_is_left_out(server: OpenAIServer):
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    summary = {"type": "compaction", "content": "They met.", "signature": "s"}
    answered(server, request(assistant(summary), user("One"), user("two", " "), assistant(thought, "Yes."), user("?")))
    assert sent(server)[0]["messages"][1:] == [
        {"role": "user", "content": "One\n\ntwo"},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "?"},
    ]


def test_an_image_becomes_the_address_of_its_data(server: OpenAIServer):
    answered(server, request(user("What is this?", IMAGE)))
    parts = sent(server)[0]["messages"][1]["content"]
    assert parts[1] == {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


def test_a_model_that_sees_nothing_is_told_that_there_was_an_image(server: OpenAIServer):
    server.script(Fault(status=400, message="This model does not support image input."), "I cannot see it.", "Nor now.")

    async def twice(model: OpenAITalk) -> list[Answer]:
        return [await model.answer(request(user("What is this?", IMAGE)), Heard().take) for _ in range(2)]

    assert talk(server, twice)[0].blocks == (text("I cannot see it."),)
    assert [body["messages"][1]["content"] for body in sent(server)[1:]] == [f"What is this?\n\n{NO_IMAGE}"] * 2


@pytest.mark.parametrize(
    ("step", "stop", "detail"),
    [
        ("Good.", Stop.END, ""),
        (Step(text="It was", finish_reason="length"), Stop.LENGTH, ""),
        (Step(text=None, refusal="I will not."), Stop.REFUSED, "I will not."),
        (Step(text="It", finish_reason="content_filter"), Stop.REFUSED, ""),
    ],
)
def test_why_it_stopped_is_told(server: OpenAIServer, step: Any, stop: Stop, detail: str):
    server.script(step)
    answer = answered(server)
    assert (answer.stop, answer.detail) == (stop, detail)


def test_a_server_that_tells_no_usage_is_counted_by_estimate():
    with OpenAIServer(tells_usage=False) as server:
        server.script("x" * 300)
        usage = answered(server, request(user("y" * 3_000))).usage
    assert usage.input_tokens >= 1_000
    assert (usage.output_tokens, usage.calls) == (100, 1)


def test_what_the_provider_has_cached_is_told(server: OpenAIServer):
    async def twice(model: OpenAITalk) -> list[Answer]:
        return [await model.answer(request(user("Hello " * 2_000)), Heard().take) for _ in range(2)]

    first, second = talk(server, twice)
    assert first.usage.cached_tokens == 0
    assert second.usage.cached_tokens > 3_000


def test_a_server_that_knows_only_a_part_of_the_api_is_asked_for_less():
    with OpenAIServer(refused=("max_tokens", "stream_options")) as server:
        answer = answered(server)
    assert answer.stop is Stop.END
    last = sent(server)[-1]
    assert not {"max_tokens", "stream_options"} & set(last)
    assert last["max_completion_tokens"] == 8_000


def test_a_server_that_does_not_stream_is_understood(server: OpenAIServer):
    message = {"role": "assistant", "content": "All at once."}
    server.script(as_json({"model": MODEL, "choices": [{"message": message, "finish_reason": "stop"}]}))
    heard = Heard()
    assert answered(server, hear=heard.take).blocks == (text("All at once."),)
    assert heard.text == "All at once."


def test_thoughts_are_heard_and_not_kept(server: OpenAIServer):
    server.script(Step(thoughts="She wants to know.", text="Yes."))
    pieces: list[Piece] = []
    assert answered(server, hear=pieces.append).blocks == (text("Yes."),)
    assert pieces.count(ThinkingPiece()) == 1


@pytest.mark.parametrize(
    "words",
    [
        "x" * 200_000,
        "👩‍👩‍👧 🙂 e\u0301",
        "שלום עולם, مرحبا \u202eabc\u202c",
        "half \ud83d of a pair",
        "\x00 \u2028 [DONE]",
    ],
    ids=["long", "emoji", "right to left", "broken", "control"],
)
def test_any_words_go_there_and_back(server: OpenAIServer, words: str):
    server.script(lambda asked: asked.body["messages"][-1]["content"])
    heard = Heard()
    answer = answered(server, request(user(words), most_output_tokens=100_000), heard.take)
    wanted = words.encode("utf-8", "replace").decode()
    assert answer.blocks == (text(wanted),)
    assert heard.text == wanted


def test_a_message_of_a_megabyte_is_sent_whole(server: OpenAIServer):
    answered(server, request(user("x" * 1_000_000)))
    assert len(sent(server)[0]["messages"][-1]["content"]) == 1_000_000


# What goes wrong


@pytest.mark.parametrize("fault", [rate_limited(), Fault(status=503), Response(hang_up_after=BEFORE_ANYTHING)])
def test_what_may_pass_is_tried_again(server: OpenAIServer, fault: Any):
    server.script(fault, "Hello.")
    waits = Waits()
    assert answered(server, wait=waits).blocks == (text("Hello."),)
    assert len(waits) == 1


def test_a_stream_that_breaks_before_a_word_is_begun_anew(server: OpenAIServer):
    server.script(Step(thoughts="hm", text="Hello", hang_up_after=2), Step(text="", hang_up_after=1), "Hello.")
    heard = Heard()
    assert answered(server, hear=heard.take).blocks == (text("Hello."),)
    assert heard.text == "Hello."


def test_a_stream_that_breaks_behind_a_word_is_not_begun_anew_and_the_words_stay_heard(server: OpenAIServer):
    server.script(Step(text="One two three four.", hang_up_after=3), "Never said.")
    heard = Heard()
    assert type(failure(server, hear=heard.take)) is Unavailable
    assert heard.text == "One two three "
    assert server.unused_steps == 1


def test_an_error_inside_of_a_stream_is_one(server: OpenAIServer):
    def failing(said: dict[str, Any]) -> Response:
        return Response(body=[f"data: {json.dumps(said)}\n\n".encode()], headers={"content-type": "text/event-stream"})

    server.script(
        failing({"error": {"message": "overloaded", "code": 529}}), failing({"error": "out of memory"}), "Hi."
    )
    waits = Waits()
    assert answered(server, wait=waits).blocks == (text("Hi."),)
    assert len(waits) == 2


def test_who_is_always_busy_says_when_to_come_again(server: OpenAIServer):
    server.script(*[rate_limited(20)] * (MOST_RETRIES + 1))
    error = failure(server)
    assert isinstance(error, Busy)
    assert error.retry_seconds == 0.02


def test_a_wrong_key_names_the_setting(server: OpenAIServer):
    error = failure(server, key="another-key")
    assert isinstance(error, Denied)
    assert "mind.key_variable" in str(error)


def test_an_unknown_model_names_the_setting(server: OpenAIServer):
    error = failure(server, model="nobody")
    assert isinstance(error, Denied)
    assert "mind.model" in str(error)


def test_a_model_without_tools_is_told_in_the_words_of_its_server(server: OpenAIServer):
    server.script(Fault(status=400, message="test-model does not support tools"))
    error = failure(server)
    assert isinstance(error, Invalid)
    assert "does not support tools" in str(error)
    assert "mind.model" in str(error)


def test_a_dead_provider_is_told():
    with OpenAIServer() as gone:
        pass
    assert isinstance(failure(gone), Unavailable)


def test_one_that_never_answers_is_told(server: OpenAIServer):
    server.script(Step(text="Late.", wait_seconds=60))
    assert isinstance(failure(server, timeout_seconds=0.3), Unavailable)


@pytest.mark.parametrize(
    "response",
    [
        Response(body=b"<html>Welcome</html>", headers={"content-type": "text/html"}),
        as_json({"hello": "world"}),
        Response(body=[b"data: {}\n\n", b"data: [DONE]\n\n"], headers={"content-type": "text/event-stream"}),
        Response(body=[b"data: <html>\n\n"], headers={"content-type": "text/event-stream"}),
    ],
)
def test_a_server_that_is_none_is_told(server: OpenAIServer, response: Response):
    server.script(response)
    error = failure(server)
    assert isinstance(error, BadReply)
    assert error.usage.calls == 1
    assert "Check" in str(error)


def test_an_answer_without_end_is_not_read_to_its_end(server: OpenAIServer):
    def endless() -> Iterator[bytes]:
        choice = {"delta": {"content": "x" * 500_000}}
        piece = f"data: {json.dumps({'choices': [choice]})}\n\n".encode()
        for _ in range(2 * MOST_STREAM_BYTES // len(piece)):
            yield piece

    server.script(Response(body=endless(), headers={"content-type": "text/event-stream"}))
    error = failure(server)
    assert isinstance(error, BadReply)
    assert error.usage.output_tokens > 100_000


def test_cancelling_ends_the_stream(server: OpenAIServer):
    server.script(Step(text="One two three four. " * 50, pause_seconds=0.02))

    async def cancelled(model: OpenAITalk) -> str:
        heard, begun = Heard(), asyncio.Event()

        def hear(piece: Piece) -> None:
            heard.take(piece)
            begun.set()

        task = asyncio.create_task(model.answer(request(user("Hello")), hear))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return heard.text

    assert talk(server, cancelled).startswith("One two")


def test_nothing_is_condensed_or_kept_warm_there(server: OpenAIServer):
    async def whole(model: OpenAITalk) -> tuple[Abilities, Usage]:
        with pytest.raises(Invalid):
            await model.condense(request(user("Hello")), "Be short.")
        return await model.abilities(), await model.warm(request(user("Hello")))

    abilities, warmed = talk(server, whole)
    assert abilities.condensing is Condensing.NONE
    assert warmed == Usage()
    assert [(one.method, one.path) for one in server.requests] == [("GET", "/v1/models")]


class Listing(LoopbackServer):
    def __init__(self, models: object) -> None:
        super().__init__()
        self._models = models

    def answer(self, request: Any) -> Response:
        return as_json({"object": "list", "data": self._models})


@pytest.mark.parametrize(
    ("models", "most"),
    [
        ([{"id": "other"}, {"id": MODEL, "max_model_len": 8_192}], 8_192),
        ([{"id": MODEL, "context_length": 32_768}], 32_768),
        ([{"id": MODEL, "meta": {"n_ctx": 4_096, "n_ctx_train": 131_072}}], 4_096),
        ([{"id": MODEL}], Abilities().most_input_tokens),
        ([{"id": MODEL, "context_length": "much"}, 7], Abilities().most_input_tokens),
        ("none", Abilities().most_input_tokens),
    ],
)
def test_how_much_a_model_reads_is_asked_once(models: object, most: int):
    async def twice() -> list[int]:
        model = OpenAITalk(f"{server.url}/v1", MODEL)
        try:
            return [(await model.abilities()).most_input_tokens for _ in range(2)]
        finally:
            await model.close()

    with Listing(models) as server:
        assert asyncio.run(twice()) == [most] * 2
    assert len(server.requests) == 1


def test_what_a_dead_server_can_do_is_the_plainest():
    with OpenAIServer() as gone:
        pass
    assert talk(gone, lambda model: model.abilities()) == Abilities()
