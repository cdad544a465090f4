"""Anthropic's models through the real SDK, against a server on this computer that keeps the rules of the API."""

import asyncio
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from recollect.errors import Denied, Invalid, RecollectError, Unavailable
from recollect.llm.anthropic import MOST_CHARACTERS, AnthropicModel
from recollect.llm.model import BadReply, Busy, CutOff, Refused, Reply
from recollect.testing import AnthropicServer
from recollect.testing.anthropic_answers import Answer, cut_off, fail, refuse, say, say_json, think
from recollect.testing.anthropic_wire import events_of
from recollect.testing.loopback import BEFORE_ANYTHING, Response, as_json

KEY = "sk-ant-" + "x" * 40
MODEL = "claude-haiku-5-5"
GOOD = {"title": "A walk", "tags": ["sea"], "mood": None, "places": [{"name": "Ålesund"}]}
LONG_SYSTEM = "Read the conversation and say what is worth keeping. " * 80


class Place(BaseModel):
    name: str


class Note(BaseModel):
    """What the tests ask for."""

    title: str = Field(min_length=1, max_length=200)
    tags: list[str] = []
    mood: str | None = None
    places: list[Place] = []


@pytest.fixture
def server() -> Iterator[AnthropicServer]:
    with AnthropicServer(key=KEY) as server:
        yield server


def ask(server: AnthropicServer, *prompts: str, **options: Any) -> list[Reply[Note]]:
    """All prompts in one session."""
    settings = {"model": MODEL, "key": KEY, "base_url": server.url, "timeout_seconds": 30.0} | options.pop("of", {})

    async def all_of_them() -> list[Reply[Note]]:
        model = AnthropicModel(**settings)
        try:
            system = options.pop("system", "Be brief.")
            return [await model.complete(system, prompt, Note, **options) for prompt in prompts or ("Well?",)]
        finally:
            await model.close()

    return asyncio.run(all_of_them())


def failure(server: AnthropicServer, **options: Any) -> RecollectError:
    with pytest.raises(RecollectError) as caught:
        ask(server, **options)
    return caught.value


def test_an_answer_is_a_checked_object_with_its_cost(server: AnthropicServer) -> None:
    server.script(say_json(GOOD))
    (reply,) = ask(server, "What happened?")
    assert reply.value == Note(**GOOD)
    assert reply.model == MODEL
    assert reply.text.startswith('{"title"')
    assert (reply.usage.calls, reply.usage.cached_tokens) == (1, 0)
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > 0
    (body,) = server.asked
    assert body["messages"] == [{"role": "user", "content": "What happened?"}]
    assert body["max_tokens"] == 8_000


def test_the_schema_is_one_that_the_api_takes(server: AnthropicServer) -> None:
    server.script(say_json(GOOD))
    ask(server)
    schema = server.asked[0]["output_config"]["format"]["schema"]
    assert schema["required"] == ["title", "tags", "mood", "places"]
    assert "maxLength" not in str(schema)


def test_the_system_prompt_is_paid_in_full_once(server: AnthropicServer) -> None:
    server.script(say_json(GOOD), say_json(GOOD))
    first, second = ask(server, "One?", "Two?", system=LONG_SYSTEM)
    assert (first.usage.cached_tokens, second.usage.written_tokens) == (0, 0)
    assert second.usage.cached_tokens == first.usage.written_tokens > 1_000
    assert second.usage.input_tokens == first.usage.input_tokens


def test_an_empty_system_prompt_is_left_out(server: AnthropicServer) -> None:
    server.script(say_json(GOOD))
    ask(server, system=" ")
    assert "system" not in server.asked[0]


def test_a_long_answer_needs_no_other_way(server: AnthropicServer) -> None:
    server.script(say_json(GOOD | {"title": "words " * 30}))
    (reply,) = ask(server, most_output_tokens=60_000)
    assert reply.value.title.startswith("words")


def test_thinking_is_not_part_of_the_answer(server: AnthropicServer) -> None:
    server.script(think("Hm, {") + say_json(GOOD))
    (reply,) = ask(server, of={"model": "claude-opus-5-5"})
    assert reply.value == Note(**GOOD)


def test_half_a_character_does_not_stop_a_request(server: AnthropicServer) -> None:
    server.script(say_json(GOOD))
    ask(server, "broken \ud83d end", system="also \udc00")
    assert server.asked[0]["messages"][0]["content"] == "broken ? end"


def test_name_and_price_follow_from_model_and_address() -> None:
    paid = AnthropicModel(MODEL, KEY)
    assert (paid.name, paid.is_paid) == (f"anthropic:{MODEL}", True)
    assert not AnthropicModel(MODEL, "", base_url="http://127.0.0.1:1").is_paid
    assert AnthropicModel(MODEL, KEY, base_url="https://models.example.org").is_paid


# --- answers that cannot be used


@pytest.mark.parametrize(
    "wrong", [say("Certainly! Here it is:"), say_json({"title": 3}), say_json(GOOD | {"title": ""})]
)
def test_a_wrong_answer_is_mended_once_and_both_are_paid(server: AnthropicServer, wrong: Answer) -> None:
    server.script(wrong, say_json(GOOD))
    (reply,) = ask(server)
    assert reply.value == Note(**GOOD)
    assert reply.usage.calls == 2
    talk = server.asked[1]["messages"]
    assert [turn["role"] for turn in talk] == ["user", "assistant", "user"]
    assert talk[1]["content"] == wrong.blocks[0]["text"]
    assert "cannot be used" in talk[2]["content"]


def test_an_empty_answer_is_mended_too(server: AnthropicServer) -> None:
    server.script(Answer(), say_json(GOOD))
    assert ask(server)[0].value == Note(**GOOD)


def test_two_wrong_answers_are_a_bad_reply_with_the_cost_of_both(server: AnthropicServer) -> None:
    server.script(say("no"), say("never"))
    error = failure(server)
    assert type(error) is BadReply
    assert error.usage.calls == 2
    assert error.usage.output_tokens >= 2
    assert "Note" in str(error)


def test_what_was_paid_is_known_when_the_mending_fails(server: AnthropicServer) -> None:
    server.script(say("no"), fail(400, "not today"))
    error = failure(server)
    assert type(error) is BadReply
    assert error.usage.calls == 1
    assert "not today" in str(error)


@pytest.mark.parametrize("second", [cut_off('{"title": "A'), refuse()])
def test_a_mending_that_is_cut_off_or_refused_counts_both(server: AnthropicServer, second: Answer) -> None:
    server.script(say("no"), second)
    error = failure(server)
    assert isinstance(error, CutOff | Refused)
    assert error.usage.calls == 2


def test_a_refusal_is_refused_and_paid(server: AnthropicServer) -> None:
    server.script(refuse("bio", "This may do harm."))
    error = failure(server)
    assert isinstance(error, Refused)
    assert "bio: This may do harm." in str(error)
    assert (error.usage.calls, error.usage.input_tokens > 0) == (1, True)
    assert len(server.asked) == 1


def test_an_answer_at_the_limit_is_cut_off(server: AnthropicServer) -> None:
    server.script(say_json(GOOD | {"title": "x" * 150}))
    error = failure(server, most_output_tokens=20)
    assert isinstance(error, CutOff)
    assert error.usage.output_tokens == 20


def test_ten_megabytes_are_refused_before_they_are_parsed(server: AnthropicServer) -> None:
    huge = '{"title": "A", "tags": [' + '"x",' * 2_500_000 + '"x"]}'
    server.script(replace(say(huge), obeys_limit=False))
    error = failure(server)
    assert type(error) is BadReply
    assert f"{MOST_CHARACTERS:,}" in str(error)
    assert error.usage.output_tokens > MOST_CHARACTERS / 10
    assert len(server.asked) == 1


def test_one_giant_event_is_not_read_to_its_end(server: AnthropicServer) -> None:
    piece = b"x" * 65_536
    body = [b'event: message_start\ndata: {"type": "message_start", "junk": "', *[piece] * 160]
    server.script(Response(body=body, headers={"content-type": "text/event-stream"}))
    assert type(failure(server)) is BadReply


def test_a_giant_error_is_not_read_to_its_end(server: AnthropicServer) -> None:
    server.script(Response(status=400, body=[b"x" * 65_536] * 160))
    assert type(failure(server)) is BadReply


@pytest.mark.parametrize(
    "body",
    [
        b"<html>Please sign in</html>",
        b"event: message_start\ndata: {broken\n\n",
        b"event: message_start\ndata: []\n\n",
        b"event: message_start\ndata: {}\n\n",
        b'event: content_block_delta\ndata: {"type": "content_block_delta"}\n\n',
        b"event: message_start\ndata: \xff\xfe\n\n",
    ],
)
def test_what_is_no_answer_of_the_api_is_a_bad_reply(server: AnthropicServer, body: bytes) -> None:
    server.script(Response(body=body, headers={"content-type": "text/event-stream"}))
    assert type(failure(server)) is BadReply


SOUND = b"".join(
    events_of(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, *say_json(GOOD).blocks],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 9, "output_tokens": 9},
        }
    )
)
JUNK = {
    "nothing": b"",
    "an end": b"\n\n",
    "a brace": b"{",
    "a quote": b'"',
    "null": b"null",
    "a list": b"[]",
    "no letter": b"\xff",
    "a great number": b"9" * 400,
    "a deep list": b"[" * 9_000,
    "an error": b'{"type": "error"}',
}


@given(at=st.integers(0, len(SOUND)), gone=st.integers(0, 60), junk=st.sampled_from(sorted(JUNK)))
@example(at=SOUND.index(b"data: ") + 6, gone=0, junk="a deep list")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_stream_is_an_answer_or_an_error_of_ours(
    server: AnthropicServer, at: int, gone: int, junk: str
) -> None:
    damaged = SOUND[:at] + JUNK[junk] + SOUND[at + gone :]
    server.script(*[Response(body=damaged, headers={"content-type": "text/event-stream"})] * 4)
    with suppress(RecollectError):
        assert ask(server)[0].value.title
    while server.next_step():
        pass


# --- faults


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (fail(401), Denied),
        (fail(402), Denied),
        (fail(403), Denied),
        (fail(404), Denied),
        (fail(400, "max_tokens: too many"), Invalid),
        (fail(413), Invalid),
        (fail(422), Invalid),
        (Response(status=307, headers={"location": "http://127.0.0.1:9/"}), Invalid),
        (Response(status=400, body=b"<html>Bad gateway</html>"), Invalid),
    ],
)
def test_what_will_not_get_better_is_said_at_once(server: AnthropicServer, fault: Any, kind: type[Exception]) -> None:
    server.script(fault)
    assert type(failure(server)) is kind
    assert len(server.asked) == 1


def test_the_servers_words_are_shown(server: AnthropicServer) -> None:
    server.script(fail(400, "output_config.format.schema: too complex"))
    assert "schema: too complex" in str(failure(server))


def test_an_unknown_model_is_told_as_one_that_nobody_may_use(server: AnthropicServer) -> None:
    error = failure(server, of={"model": "claude-none"})
    assert type(error) is Denied
    assert "claude-none" in str(error)


def test_a_wrong_key_is_denied(server: AnthropicServer) -> None:
    error = failure(server, of={"key": "sk-ant-" + "y" * 40})
    assert type(error) is Denied
    assert "ANTHROPIC_API_KEY" in str(error)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 529])
def test_a_passing_fault_is_tried_again_when_the_server_says(server: AnthropicServer, status: int) -> None:
    server.script(fail(status, retry_after_ms=1), fail(status, retry_after_ms=1), say_json(GOOD))
    (reply,) = ask(server)
    assert reply.value == Note(**GOOD)
    assert reply.usage.calls == 1
    counts = [request.headers["x-stainless-retry-count"] for request in server.requests]
    assert counts == ["0", "1", "2"]


@pytest.mark.parametrize("status", [429, 529])
def test_a_server_that_stays_busy_says_when_to_come_again(server: AnthropicServer, status: int) -> None:
    server.script(*[fail(status, retry_after_ms=2)] * 9)
    error = failure(server)
    assert isinstance(error, Busy)
    assert error.retry_seconds == 0.002
    assert len(server.asked) == 5


def test_a_long_wait_is_not_waited_for(server: AnthropicServer) -> None:
    server.script(fail(429, retry_after_seconds=3_600))
    error = failure(server)
    assert isinstance(error, Busy)
    assert error.retry_seconds == 3_600
    assert len(server.asked) == 1


def test_a_server_that_keeps_failing_is_unavailable(server: AnthropicServer) -> None:
    server.script(fail(500, should_retry=False))
    assert type(failure(server)) is Unavailable


def test_an_answer_that_breaks_off_is_asked_for_once_more(server: AnthropicServer) -> None:
    server.script(replace(say_json(GOOD), hang_up_after=5), say_json(GOOD))
    (reply,) = ask(server)
    assert reply.value == Note(**GOOD)
    assert reply.usage.calls == 2


@pytest.mark.parametrize("after", [2, 5, 9])
def test_an_answer_that_breaks_off_twice_is_unavailable(server: AnthropicServer, after: int) -> None:
    server.script(*[replace(say_json(GOOD), hang_up_after=after)] * 2)
    assert type(failure(server)) is Unavailable
    assert len(server.asked) == 2


def test_a_stream_without_an_end_is_no_answer(server: AnthropicServer) -> None:
    start = b'event: message_start\ndata: {"type": "message_start", "message": {"usage": {"input_tokens": 7}}}\n\n'
    server.script(*[Response(body=start, headers={"content-type": "text/event-stream"})] * 2)
    assert type(failure(server)) is Unavailable


def test_an_error_inside_a_stream_is_tried_once_more(server: AnthropicServer) -> None:
    broken = replace(say_json(GOOD), error_after=4)
    server.script(broken, say_json(GOOD), broken, broken)
    assert ask(server)[0].value == Note(**GOOD)
    assert isinstance(failure(server), Busy)


def test_a_line_that_breaks_at_once_is_tried_again(server: AnthropicServer) -> None:
    server.script(Response(hang_up_after=BEFORE_ANYTHING), say_json(GOOD))
    assert ask(server)[0].value == Note(**GOOD)


def test_nobody_there_is_unavailable(server: AnthropicServer) -> None:
    with AnthropicServer() as gone:
        url = gone.url
    error = failure(server, of={"base_url": url, "timeout_seconds": 0.3})
    assert type(error) is Unavailable


def test_a_server_that_thinks_too_long_is_unavailable(server: AnthropicServer) -> None:
    server.script(replace(say_json(GOOD), wait_seconds=60))
    assert type(failure(server, of={"timeout_seconds": 0.2})) is Unavailable


def test_a_slow_drip_ends_at_the_limit_of_time(server: AnthropicServer) -> None:
    server.script(*[replace(say_json(GOOD), pause_seconds=0.05)] * 2)
    assert type(failure(server, of={"timeout_seconds": 0.3})) is Unavailable


def test_a_drip_in_time_is_an_answer(server: AnthropicServer) -> None:
    server.script(replace(say_json(GOOD), pause_seconds=0.002))
    assert ask(server)[0].value == Note(**GOOD)


# --- keys, sessions, the missing SDK

ECHOES: list[Callable[[], Any]] = [
    lambda: fail(400, f"you sent {KEY} and it is wrong"),
    lambda: fail(401, f"invalid key: {KEY}"),
    lambda: fail(500, KEY, should_retry=False),
    lambda: as_json({"error": KEY}, 400),
    lambda: replace(say("x"), error_after=3, error=fail(400, KEY)),
]


@pytest.mark.parametrize("echo", ECHOES)
def test_the_key_is_in_no_error(server: AnthropicServer, echo: Callable[[], Any]) -> None:
    server.script(echo())
    error = failure(server)
    assert KEY not in str(error)
    assert KEY not in repr(error)
    assert KEY not in "".join(traceback.format_exception(error))


def test_the_key_is_in_no_repr() -> None:
    model = AnthropicModel(MODEL, KEY)
    assert KEY not in repr(model)
    assert KEY not in model.name


def test_the_key_goes_only_where_it_belongs(server: AnthropicServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "a third")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    server.script(say_json(GOOD))
    ask(server)
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_server_of_ones_own_may_do_without_a_key() -> None:
    with AnthropicServer() as server:
        server.script(say_json(GOOD))
        assert ask(server, of={"key": ""})[0].value == Note(**GOOD)
    with pytest.raises(Denied, match="ANTHROPIC_API_KEY"):
        AnthropicModel(MODEL, "")


@pytest.mark.parametrize(
    "address", ["ftp://host", "api.anthropic.com", "http://me:word@host", "http://[", "http://h?q=1"]
)
def test_an_address_that_is_none_is_invalid(address: str) -> None:
    with pytest.raises(Invalid) as caught:
        AnthropicModel(MODEL, KEY, base_url=address)
    assert "word" not in str(caught.value)


def test_a_model_without_a_name_is_invalid() -> None:
    with pytest.raises(Invalid, match="anthropic:MODEL"):
        AnthropicModel("", KEY)


def test_without_the_sdk_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(Unavailable, match=r"pip install 'anthropic>="):
        AnthropicModel(MODEL, KEY)


def test_the_sdk_is_not_loaded_before_a_model_is_asked() -> None:
    code = (
        "import sys; from recollect.llm.anthropic import AnthropicModel; AnthropicModel('claude-haiku-5-5', 'key');"
        "print([name for name in ('anthropic', 'httpx2', 'pydantic') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_a_session_outlives_its_close_and_its_loop(server: AnthropicServer) -> None:
    server.script(say_json(GOOD), say_json(GOOD))
    model = AnthropicModel(MODEL, KEY, base_url=server.url)

    async def once() -> Note:
        reply = await model.complete("", "Well?", Note)
        await model.close()
        await model.close()
        return reply.value

    assert asyncio.run(once()) == asyncio.run(once())


def test_several_prompts_at_once_do_not_mix(server: AnthropicServer) -> None:
    server.script(*[lambda body: say_json({"title": body["messages"][0]["content"]})] * 6)

    async def together() -> list[str]:
        model = AnthropicModel(MODEL, KEY, base_url=server.url)
        try:
            replies = await asyncio.gather(*(model.complete("", f"prompt {number}", Note) for number in range(6)))
        finally:
            await model.close()
        return [reply.value.title for reply in replies]

    assert asyncio.run(together()) == [f"prompt {number}" for number in range(6)]


def test_no_spans_of_the_sdk_are_sent(server: AnthropicServer) -> None:
    server.script(say_json(GOOD))
    ask(server)
    assert "traceparent" not in server.requests[0].headers
