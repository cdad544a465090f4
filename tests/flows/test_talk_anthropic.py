"""A mind's talk with Anthropic's models: the real SDK, against a server that keeps the rules of the API."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeVar

import pytest
from asking import Waits, assistant, text, user

from recollect.errors import Denied, Invalid, RecollectError, Unavailable
from recollect.llm.anthropic_talk import ATTEMPTS, AnthropicTalk
from recollect.llm.model import BadReply, Busy, Usage
from recollect.llm.talking import (
    Abilities,
    Block,
    Condensed,
    Condensing,
    Heard,
    Piece,
    Request,
    Stop,
    SummaryRefused,
    TextPiece,
    ThinkingPiece,
    Tool,
    ToolPiece,
    Turn,
)
from recollect.testing import AnthropicServer
from recollect.testing.anthropic_answers import Answer, cut_off, fail, refuse, say, think, use_tool
from recollect.testing.anthropic_wire import events_of
from recollect.testing.loopback import BEFORE_ANYTHING, Response, as_json

T = TypeVar("T")
KEY = "sk-ant-" + "x" * 40
MODEL = "claude-opus-5-5"
PLAIN = "claude-haiku-4-5"
"""Thinks not by itself, and condenses only by the threshold edit."""
SYSTEM = ("You are Ada's assistant. " * 80, "Her notes: she lives in Lyon. " * 40)
TOOLS = (
    Tool(name="search_memory", description="Searches.", schema={"type": "object", "properties": {}}),
    Tool(name="memory", description="", schema={"type": "object"}, kind="memory_20250818"),
)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg=="


@pytest.fixture
def server() -> Iterator[AnthropicServer]:
    with AnthropicServer(key=KEY) as made:
        yield made


def request(*turns: Turn, **options: Any) -> Request:
    return Request(**{"system": SYSTEM, "tools": TOOLS, "turns": list(turns)} | options)


def talk(server: AnthropicServer, what: Callable[[AnthropicTalk], Coroutine[Any, Any, T]], **options: Any) -> T:
    settings = {"model": MODEL, "key": KEY, "base_url": server.url, "timeout_seconds": 30.0, "wait": Waits()} | options

    async def whole() -> T:
        model = AnthropicTalk(**settings)
        try:
            return await what(model)
        finally:
            await model.close()

    return asyncio.run(whole())


def answered(server: AnthropicServer, asked: Request, hear: Any = None, **options: Any) -> Any:
    return talk(server, lambda model: model.answer(asked, hear or Heard().take), **options)


def failure(server: AnthropicServer, asked: Request | None = None, **options: Any) -> RecollectError:
    with pytest.raises(RecollectError) as caught:
        answered(server, asked or request(user("Hello")), **options)
    assert KEY not in str(caught.value)
    return caught.value


def unmarked(body: Any) -> Any:
    if isinstance(body, dict):
        return {name: unmarked(inner) for name, inner in body.items() if name != "cache_control"}
    return [unmarked(inner) for inner in body] if isinstance(body, list) else body


def marks(body: dict[str, Any]) -> list[str]:
    """Where they stand."""
    found = [f"system[{at}]" for at, block in enumerate(body["system"]) if "cache_control" in block]
    for number, message in enumerate(body["messages"]):
        found += [
            f"messages[{number}][{at}]" for at, block in enumerate(message["content"]) if "cache_control" in block
        ]
    return found


# Answers


def test_words_thoughts_and_tools_are_heard_as_they_come_and_kept_in_their_order(server: AnthropicServer):
    server.script(think("She asks where.") + say("Let me look.") + use_tool("search_memory", {"query": "Lyon"}))
    pieces: list[Piece] = []
    answer = answered(server, request(user("Where does she live?")), pieces.append)
    assert [block["type"] for block in answer.blocks] == ["thinking", "text", "tool_use"]
    assert answer.blocks[0]["thinking"] == "She asks where."
    assert answer.blocks[0]["signature"]
    assert answer.blocks[2]["input"] == {"query": "Lyon"}
    assert (answer.stop, answer.model) == (Stop.TOOLS, MODEL)
    assert pieces == [ThinkingPiece(), TextPiece(text="Let me look."), ToolPiece(name="search_memory")]
    assert answer.usage.calls == 1
    (body,) = server.asked
    assert body["tools"][1] == {"type": "memory_20250818", "name": "memory"}
    assert (body["stream"], body["thinking"]) == (True, {"type": "adaptive"})
    assert not {"temperature", "thread", "tool_choice"} & set(body)
    assert "anthropic-beta" not in server.requests[-1].headers


def test_a_model_that_does_not_think_by_itself_is_not_asked_to(server: AnthropicServer):
    answered(server, request(user("Hello")), model=PLAIN)
    assert "thinking" not in server.asked[0]


@pytest.mark.parametrize(
    ("step", "stop", "detail"),
    [
        (say("Good."), Stop.END, ""),
        (cut_off("It was a"), Stop.LENGTH, ""),
        (replace(say("It was"), stop_reason="model_context_window_exceeded"), Stop.LENGTH, ""),
        (refuse("cyber", "Not this."), Stop.REFUSED, "cyber: Not this."),
    ],
)
def test_why_it_stopped_is_told(server: AnthropicServer, step: Answer, stop: Stop, detail: str):
    server.script(step)
    answer = answered(server, request(user("Hello")))
    assert (answer.stop, answer.detail) == (stop, detail)


async def conversation(model: AnthropicTalk, turns: list[Turn], exchanges: int) -> list[Usage]:
    usages: list[Usage] = []
    for number in range(exchanges):
        turns.append(user(f"Question {number}. " + "Well? " * 30))
        while True:
            answer = await model.answer(request(*turns), Heard().take)
            usages.append(answer.usage)
            turns.append(assistant(*answer.blocks))
            uses = [block for block in answer.blocks if block["type"] == "tool_use"]
            if not uses:
                break
            turns.append(user(*[{"type": "tool_result", "tool_use_id": use["id"], "content": "found"} for use in uses]))
    return usages


def test_a_conversation_with_thoughts_and_tools_only_grows_at_its_end_and_is_read_from_the_cache(
    server: AnthropicServer,
):
    steps = [think("hm") + say("I look.") + use_tool("search_memory", {"query": "x"}), think("so") + say("Here.")]
    server.script(*steps * 4)
    usages = talk(server, lambda model: conversation(model, [], 4))
    bodies = server.asked
    for earlier, later in pairwise(unmarked(bodies)):
        assert later["messages"][: len(earlier["messages"])] == earlier["messages"]
        assert {**later, "messages": []} == {**earlier, "messages": []}
    for body in bodies:
        assert len(marks(body)) <= 3
        assert marks(body)[0] == f"system[{len(SYSTEM) - 1}]"
        assert marks(body)[-1] == f"messages[{len(body['messages']) - 1}][0]"
    for earlier, later in pairwise(usages):
        assert later.cached_tokens == earlier.input_tokens
        assert later.written_hour_tokens == later.written_tokens == later.input_tokens - earlier.input_tokens


def test_the_same_request_is_the_same_bytes_also_of_another_object(server: AnthropicServer):
    asked = request(user("Hello", "🙂"), assistant("Hi."), user("And?"))
    for _ in range(2):
        answered(server, asked)
    first, second = (one.raw for one in server.requests if one.method == "POST")
    assert first == second


@pytest.mark.parametrize(
    "words",
    [
        "x" * 1_000_000,
        "👩‍👩‍👧 🙂 e\u0301",
        "שלום עולם, مرحبا \u202eabc\u202c",
        "half \ud83d of a pair",
        "\x00 \u2028 </system>",
    ],
    ids=["a megabyte", "emoji", "right to left", "broken", "control"],
)
def test_any_words_go_there_and_back(server: AnthropicServer, words: str):
    server.script(lambda body: say(body["messages"][0]["content"][0]["text"]))
    heard = Heard()
    answer = answered(server, request(user(words), most_output_tokens=100_000), heard.take)
    wanted = words.encode("utf-8", "replace").decode()
    got = answer.blocks[0]["text"]
    assert wanted.startswith(got)
    assert heard.text == got
    assert got == wanted or answer.stop is Stop.LENGTH
    assert server.asked[0]["messages"][0]["content"][0]["text"] == wanted


def test_an_image_is_passed_on_as_it_is(server: AnthropicServer):
    image: Block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    answered(server, request(user("What is this?", image)))
    assert unmarked(server.asked[0]["messages"][0]["content"][1]) == image


def test_words_that_say_nothing_are_not_sent(server: AnthropicServer):
    answered(server, request(user("Hello"), assistant(" \n"), user("", "Still there?")))
    assert [message["role"] for message in server.asked[0]["messages"]] == ["user", "user"]


# What goes wrong


def test_a_stream_that_breaks_before_a_word_is_begun_anew_and_paid_for(server: AnthropicServer):
    server.script(replace(think("hm ") + say("Hello"), hang_up_after=4), say("Hello."))
    waits = Waits()
    pieces: list[Piece] = []
    answer = answered(server, request(user("Hello")), pieces.append, wait=waits)
    assert answer.blocks == (text("Hello."),)
    assert answer.usage.calls == 2
    assert len(waits) == 1
    assert [piece for piece in pieces if isinstance(piece, TextPiece)] == [TextPiece(text="Hello.")]


def test_a_stream_that_breaks_before_its_first_event_is_begun_anew(server: AnthropicServer):
    server.script(replace(say("Hello"), hang_up_after=0), say("Hello."))
    answer = answered(server, request(user("Hello")))
    assert (answer.blocks, answer.usage.calls) == ((text("Hello."),), 1)


def test_a_stream_that_breaks_behind_a_word_is_not_begun_anew_and_the_words_stay_heard(server: AnthropicServer):
    long = "One two three four five six seven eight nine ten."
    server.script(replace(say(long), hang_up_after=4), say("Never said."))
    heard = Heard()
    error = failure(server, hear=heard.take)
    assert type(error) is Unavailable
    assert heard.text
    assert long.startswith(heard.text)
    assert server.unused_steps == 1


def test_one_that_always_breaks_is_given_up(server: AnthropicServer):
    server.script(*[replace(say("Hello"), error_after=1)] * ATTEMPTS, say("Never said."))
    assert isinstance(failure(server), Busy)
    assert server.unused_steps == 1


def test_a_wrong_key_names_the_setting(server: AnthropicServer):
    error = failure(server, key="sk-ant-" + "y" * 40)
    assert isinstance(error, Denied)
    assert "mind.key_variable" in str(error)


def test_an_unknown_model_names_the_setting(server: AnthropicServer):
    error = failure(server, model="claude-nobody")
    assert isinstance(error, Denied)
    assert "claude-nobody" in str(error)
    assert "mind.model" in str(error)


def test_a_server_that_has_too_much_to_do_says_when_to_come_again(server: AnthropicServer):
    server.script(fail(429, "slow down", retry_after_seconds=90))
    error = failure(server)
    assert isinstance(error, Busy)
    assert error.retry_seconds == 90


def test_a_dead_provider_is_told():
    with AnthropicServer() as gone:
        pass
    assert isinstance(failure(gone, timeout_seconds=0.8), Unavailable)


def test_one_that_never_answers_is_told(server: AnthropicServer):
    server.script(replace(say("Late."), wait_seconds=60))
    assert isinstance(failure(server, timeout_seconds=0.3), Unavailable)


@pytest.mark.parametrize(
    "response",
    [
        Response(body=b"<html>Welcome</html>", headers={"content-type": "text/html"}),
        as_json({"hello": "world"}),
        Response(body=[b"data: {}\n\n"], headers={"content-type": "text/event-stream"}),
        Response(body=[b"event: message_start\ndata: [1]\n\n"], headers={"content-type": "text/event-stream"}),
    ],
)
def test_a_server_that_is_none_is_told(server: AnthropicServer, response: Response):
    server.script(response)
    error = failure(server)
    assert isinstance(error, BadReply)
    assert "Check" in str(error)


def test_a_request_that_breaks_a_rule_is_invalid(server: AnthropicServer):
    assert type(failure(server, request(user("Hello"), assistant("prefilled")))) is Invalid


def test_cancelling_ends_the_stream(server: AnthropicServer):
    server.script(replace(say("One two three four. " * 50), pause_seconds=0.05))

    async def cancelled(model: AnthropicTalk) -> str:
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


# Abilities, condensing, warming


def test_what_a_model_can_do_is_asked_once(server: AnthropicServer):
    async def twice(model: AnthropicTalk) -> list[Abilities]:
        await model.answer(request(user("Hello")), Heard().take)
        return [await model.abilities() for _ in range(2)]

    first, second = talk(server, twice)
    assert first == second
    assert (first.condensing, first.most_input_tokens, first.cache_seconds) == (Condensing.ON_DEMAND, 1_000_000, 3600)
    assert sum(one.method == "GET" for one in server.requests) == 1
    by_threshold = talk(server, lambda model: model.abilities(), model=PLAIN)
    assert (by_threshold.condensing, by_threshold.least_condensed_tokens) == (Condensing.THRESHOLD, 50_000)


def test_what_cannot_be_asked_is_the_plainest():
    with AnthropicServer() as gone:
        pass
    assert talk(gone, lambda model: model.abilities()) == Abilities()


def condensed(server: AnthropicServer, asked: Request, instructions: str = "Be short.", **options: Any) -> Condensed:
    return talk(server, lambda model: model.condense(asked, instructions), **options)


def test_on_demand_all_turns_become_one_block_that_is_taken_back_unchanged(server: AnthropicServer):
    async def whole(model: AnthropicTalk) -> tuple[list[Usage], Condensed, Any]:
        turns: list[Turn] = []
        before = await conversation(model, turns, 2)
        done = await model.condense(request(*turns), "Tell it as a story.")
        assert done.block is not None
        after = await model.answer(request(assistant(done.block), user("Go on.")), Heard().take)
        return before, done, after

    server.script(think("hm") + say("Yes."), think("so") + say("No."), say("They talked twice."), say("On we go."))
    before, done, after = talk(server, whole)
    assert done.summary == "They talked twice."
    assert done.usage.input_tokens > done.usage.cached_tokens == before[-1].input_tokens
    assert (done.usage.written_tokens, done.usage.calls) == (0, 1)
    assert done.usage.output_tokens > 0
    assert after.blocks == (text("On we go."),)
    asking = server.asked[-2]
    assert asking["compaction"] == {"type": "summarize", "instructions": "Tell it as a story."}
    assert [one.headers.get("anthropic-beta") for one in server.requests[-2:]] == ["compact-2026-09-04"] * 2
    assert unmarked(server.asked[-1]["messages"][0]["content"][0]) == done.block


def test_a_signature_that_comes_with_the_delta_is_kept_too(server: AnthropicServer):
    def streamed(body: dict[str, Any]) -> Response:
        block: Block = {"type": "compaction", "content": "They talked.", "signature": "s", "tool_changes": []}
        usage = {"input_tokens": 0, "output_tokens": 0}
        message: Block = {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [],
            "usage": usage,
        }
        events = list(events_of(message | {"stop_reason": "compaction"}))
        begun = {"index": 0, "content_block": {"type": "compaction", "content": None}}
        delta: Block = {"index": 0, "delta": {**block, "type": "compaction_delta", "new_field": 1}}
        middle = [event("content_block_start", begun), event("content_block_delta", delta)]
        return Response(body=[*events[:2], *middle, *events[2:]], headers={"content-type": "text/event-stream"})

    def event(name: str, data: dict[str, Any]) -> bytes:
        return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()

    server.script(streamed)
    done = condensed(server, request(user("Hello"), assistant("Hi.")))
    wanted: Block = {
        "type": "compaction",
        "content": "They talked.",
        "signature": "s",
        "tool_changes": [],
        "new_field": 1,
    }
    assert done.block == wanted


def test_by_threshold_a_long_conversation_becomes_one_block(server: AnthropicServer):
    async def whole(model: AnthropicTalk) -> tuple[Condensed, Any]:
        done = await model.condense(request(user("Long. " * 40_000), assistant("Indeed.")), "Tell it as a story.")
        assert done.block is not None
        return done, await model.answer(request(assistant(done.block), user("Go on.")), Heard().take)

    done, _ = talk(server, whole, model=PLAIN)
    assert done.summary
    assert done.usage.input_tokens > 50_000
    assert done.usage.output_tokens > 0
    edit = server.asked[0]["context_management"]["edits"][0]
    assert (edit["instructions"], edit["pause_after_compaction"]) == ("Tell it as a story.", True)
    assert server.asked[0]["messages"][-1]["role"] == "user"
    posts = [one for one in server.requests if one.method == "POST"]
    assert [one.headers.get("anthropic-beta") for one in posts] == ["compact-2026-01-12"] * 2
    assert unmarked(server.asked[1]["messages"][0]["content"][0]) == done.block


def test_by_threshold_a_short_conversation_stays_as_it_is(server: AnthropicServer):
    done = condensed(server, request(user("Short."), assistant("Yes.")), model=PLAIN)
    assert (done.block, done.summary) == (None, "")
    assert done.usage.calls == 1


def test_a_summary_that_failed_is_none(server: AnthropicServer):
    server.script(Answer())
    done = condensed(server, request(user("Hello"), assistant("Hi.")))
    assert (done.block, done.summary) == (None, "")
    assert done.usage.input_tokens > 0


def test_a_summary_that_the_provider_does_not_take_back_is_told_apart(server: AnthropicServer):
    done = condensed(server, request(user("Hello"), assistant("Hi.")))
    assert done.block is not None
    edited = done.block | {"content": "Something else."}
    assert isinstance(failure(server, request(assistant(edited), user("Go on."))), SummaryRefused)
    with pytest.raises(Invalid) as caught:
        condensed(server, request(user("Hello"), assistant({"type": "tool_use", "id": "a", "name": "x", "input": {}})))
    assert type(caught.value) is Invalid


def test_who_cannot_be_asked_condenses_nothing():
    with AnthropicServer() as gone:
        pass
    with pytest.raises(Invalid):
        condensed(gone, request(user("Hello")))


def test_warming_reads_all_of_it_and_writes_no_word(server: AnthropicServer):
    async def whole(model: AnthropicTalk) -> tuple[Usage, Usage]:
        asked = request(user("Hello " * 500))
        answer = await model.answer(asked, Heard().take)
        return answer.usage, await model.warm(asked)

    answered_usage, warmed = talk(server, whole)
    assert warmed.cached_tokens == warmed.input_tokens == answered_usage.input_tokens
    assert (warmed.output_tokens, warmed.written_tokens, warmed.calls) == (0, 0, 1)
    answer, warm = server.asked
    assert warm["max_tokens"] == 0
    assert warm["messages"] == answer["messages"]


def test_warming_a_dead_provider_is_told(server: AnthropicServer):
    server.script(*[Response(hang_up_after=BEFORE_ANYTHING)] * 9)
    with pytest.raises(Unavailable):
        talk(server, lambda model: model.warm(request(user("Hello"))), timeout_seconds=0.3)


def test_nothing_heavy_is_imported_before_a_model_is_asked():
    code = (
        "import sys; from recollect.llm.anthropic_talk import AnthropicTalk; from recollect.llm.openai_talk import "
        "OpenAITalk; AnthropicTalk('m', 'k'); OpenAITalk('http://127.0.0.1:1/v1', 'm'); "
        "print([name for name in ('anthropic', 'httpx2', 'pydantic', 'openai') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
