"""The adapter for servers of OpenAI's kind, over real connections to one that keeps the rules of the API."""

import asyncio
import gc
import json
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from typing import Annotated, Any, Literal, TypeVar

import pytest
from asking import Waits
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from recollect.errors import Denied, Invalid, RecollectError, Unavailable
from recollect.llm import BadReply, Busy, ChatModel, CutOff, Refused, Usage
from recollect.llm.endpoint import MOST_BYTES, MOST_RETRIES, MOST_WAITING_SECONDS
from recollect.llm.openai import OpenAIModel
from recollect.testing.loopback import BEFORE_ANYTHING, Request, Response, as_json
from recollect.testing.openai_server import Answer, Fault, OpenAIServer, SchemaSupport, rate_limited
from recollect.tokens import estimate

T = TypeVar("T")
KEY = "a-key-of-the-tests"
MODEL = "test-model"
SYSTEM, PROMPT = "You keep notes.", "Ada: I moved to Lyon in May."


class Fact(BaseModel):
    about: str
    kind: Literal["home", "work"]
    text: Annotated[str, Field(max_length=40)]
    since: str | None


class Facts(BaseModel):
    title: str
    facts: list[Fact] = []


LYON = Facts(title="A move", facts=[Fact(about="Ada", kind="home", text="Ada lives in Lyon.", since="May")])
TOO_LONG = LYON.model_dump() | {"facts": [LYON.facts[0].model_dump() | {"text": "x" * 41}]}


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(key=KEY) as made:
        yield made


def run(asked: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asked)


async def _ask(server: OpenAIServer, times: int, most: int, waits: Waits, **options: Any) -> list[Any]:
    model = OpenAIModel(server.base_url, options.pop("model", MODEL), options.pop("key", KEY), wait=waits, **options)
    try:
        return [await model.complete(SYSTEM, PROMPT, Facts, most_output_tokens=most) for _ in range(times)]
    finally:
        await model.close()


def ask(server: OpenAIServer, times: int = 1, most: int = 500, waits: Waits | None = None, **options: Any) -> Any:
    """The last reply of some in one session."""
    return run(_ask(server, times, most, Waits() if waits is None else waits, **options))[-1]


def bodies(server: OpenAIServer) -> list[dict[str, Any]]:
    return [request.body for request in server.requests]


def test_a_checked_object_comes_back_with_what_it_cost(server: OpenAIServer) -> None:
    server.script(LYON)
    reply = ask(server)
    assert reply.value == LYON
    assert Facts.model_validate_json(reply.text) == LYON
    assert reply.model == MODEL
    assert reply.usage.calls == 1
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens == estimate(reply.text)
    assert reply.usage.dollars is None


def test_the_server_is_asked_to_hold_the_model_to_the_schema(server: OpenAIServer) -> None:
    ask(server, most=321)
    body = bodies(server)[0]
    assert body["messages"] == [{"role": "system", "content": SYSTEM}, {"role": "user", "content": PROMPT}]
    assert (body["max_tokens"], body["temperature"]) == (321, 0)
    assert body["response_format"]["json_schema"]["name"] == "Facts"
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["title", "facts"]
    assert "maxLength" not in json.dumps(schema)


def test_it_is_a_chat_model() -> None:
    model: ChatModel = OpenAIModel("https://api.example.com/v1", "m", KEY)
    assert model.name == "https://api.example.com/v1#m"
    assert model.is_paid
    assert KEY not in repr(model)
    assert KEY not in repr(vars(model))


@pytest.mark.parametrize(
    ("address", "is_paid"),
    [
        ("http://127.0.0.1:11434/v1", False),
        ("http://localhost:1234/v1", False),
        ("http://[::1]:8080/v1", False),
        ("http://192.168.1.20/v1", False),
        ("http://10.0.0.7/v1", False),
        ("https://8.8.8.8/v1", True),
        ("https://openrouter.ai/api/v1", True),
        ("https://localhost.example.com/v1", True),
    ],
)
def test_a_server_of_the_house_costs_nothing(address: str, is_paid: bool) -> None:
    assert OpenAIModel(address, "m").is_paid is is_paid


@pytest.mark.parametrize(
    "address",
    ["", "host/v1", "ftp://host/v1", "https://", "https://ada:secret@host/v1", "http://[/v1", "http://h/v1?k=1"],
)
def test_an_address_must_be_one_and_hold_no_password(address: str) -> None:
    with pytest.raises(Invalid, match="https://host/v1") as caught:
        OpenAIModel(address, "m")
    assert "secret" not in str(caught.value)
    with pytest.raises(Invalid, match="#MODEL"):
        OpenAIModel("https://host/v1", "")


@pytest.mark.parametrize("key", ["schlüssel-der-tests", "two-lines\nof-the-tests", "a key of the tests", "k\0-tests"])
def test_what_can_be_no_key_is_denied_before_it_is_sent_and_not_shown(key: str) -> None:
    with pytest.raises(Denied, match="Copy it once more") as caught:
        OpenAIModel("https://host/v1", "m", key)
    assert "tests" not in _all_text(caught.value)


@pytest.mark.parametrize("address", ["http://127.0.0.1:99999/v1", "http://exa\x7fmple/v1"])
def test_an_address_that_cannot_be_one_is_explained(address: str) -> None:
    async def asked() -> None:
        model = OpenAIModel(address, "m", wait=Waits())
        try:
            await model.complete(SYSTEM, PROMPT, Facts)
        finally:
            await model.close()

    with pytest.raises(Invalid, match="no address of a model server"):
        run(asked())


# A server that knows no schema.


@pytest.mark.parametrize(
    "refusal",
    [
        None,
        Fault(status=422, message="body.response_format.type: unexpected value 'json_schema'"),
        Fault(status=500, message="[{'loc': ('body', 'response_format', 'type'), 'msg': 'Input should be …'}]"),
        Fault(status=400, message="This response_format type is unavailable now"),
    ],
)
def test_where_no_schema_is_known_it_stands_in_the_prompt_from_then_on(refusal: Fault | None) -> None:
    known = SchemaSupport.UNKNOWN if refusal is None else SchemaSupport.IGNORED
    waits = Waits()
    with OpenAIServer(key=KEY, schemas=known) as server:
        server.script(*([refusal] if refusal else []), LYON, LYON)
        assert ask(server, times=2, waits=waits).value == LYON
        assert ["response_format" in body for body in bodies(server)] == [True, False, False]
        system = bodies(server)[1]["messages"][0]["content"]
    assert system.startswith(f"{SYSTEM}\n\n")
    assert '"additionalProperties": false' in system
    assert not waits


def test_a_server_that_ignores_the_schema_is_noticed_and_remembered() -> None:
    with OpenAIServer(key=KEY, schemas=SchemaSupport.IGNORED) as server:
        server.script("Sure! Ada moved to Lyon.", LYON, LYON)
        reply = ask(server, times=2)
        assert ["response_format" in body for body in bodies(server)] == [True, False, False]
        mended = bodies(server)[1]["messages"]
    assert reply.value == LYON
    assert [message["role"] for message in mended] == ["system", "user", "assistant", "user"]
    assert mended[2]["content"] == "Sure! Ada moved to Lyon."


@pytest.mark.parametrize(
    "wrapped",
    [
        "```json\n{}\n```",
        "<think>Where does she live? {maybe Lyon}</think>\n{}",
        "Here you are:\n\n```\n{}\n```\nAnything else?",
        "The object is {} as you asked.",
    ],
)
def test_what_stands_around_the_object_is_passed_over(wrapped: str) -> None:
    with OpenAIServer(key=KEY, schemas=SchemaSupport.UNKNOWN) as server:
        server.script(wrapped.replace("{}", LYON.model_dump_json(indent=1)))
        reply = ask(server)
    assert reply.value == LYON
    assert json.loads(reply.text) == LYON.model_dump()
    assert reply.usage.calls == 1


def test_parameters_that_a_model_does_not_take_are_left_out_from_then_on() -> None:
    with OpenAIServer(key=KEY, refused=("max_tokens", "temperature")) as server:
        ask(server, times=2, most=77)
        sent = bodies(server)
    assert len(sent) == 4
    assert sent[-1]["max_completion_tokens"] == 77
    assert not {"max_tokens", "temperature"} & set(sent[-1])
    assert "response_format" in sent[-1]


# Answers that are not what was asked for.


def test_a_wrong_answer_is_shown_to_the_model_once_with_what_is_wrong(server: OpenAIServer) -> None:
    server.script(TOO_LONG, LYON)
    reply = ask(server)
    assert reply.value == LYON
    assert reply.usage.calls == 2
    first, second = bodies(server)
    assert "response_format" in second  # It was of the schema: the server did its part.
    assert second["messages"][:2] == first["messages"]
    assert second["messages"][2] == {"role": "assistant", "content": json.dumps(TOO_LONG)}
    assert "facts.0.text: String should have at most 40 characters" in second["messages"][3]["content"]
    assert reply.usage.input_tokens > 2 * estimate(SYSTEM + PROMPT)


def test_after_two_wrong_answers_it_says_what_was_wrong_and_what_they_cost(server: OpenAIServer) -> None:
    server.script(TOO_LONG, {"title": 3})
    with pytest.raises(BadReply, match=r"no Facts:\n- title: Input should be a valid string") as caught:
        ask(server)
    assert caught.value.usage.calls == 2
    assert caught.value.usage.output_tokens > estimate(json.dumps(TOO_LONG))
    assert type(caught.value) is BadReply


def test_an_empty_answer_is_not_shown_again(server: OpenAIServer) -> None:
    server.script(Answer(text=None), LYON)
    assert ask(server).value == LYON
    assert [message["role"] for message in bodies(server)[1]["messages"]] == ["system", "user", "user"]


def test_an_answer_that_ends_at_the_limit_is_cut_off(server: OpenAIServer) -> None:
    server.script(LYON)
    with pytest.raises(CutOff) as caught:
        ask(server, most=5)
    assert caught.value.usage.output_tokens == 5
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "step",
    [
        Answer(text=None, refusal="I can't help with that."),
        Answer(text="", finish_reason="content_filter"),
        Fault(status=400, message="The prompt was filtered.", code="content_filter"),
    ],
)
def test_a_refusal_is_one(server: OpenAIServer, step: object) -> None:
    server.script(step)
    with pytest.raises(Refused) as caught:
        ask(server)
    assert caught.value.usage.calls == 1
    assert len(server.requests) == 1


@pytest.mark.parametrize("second", [Answer(text="{", finish_reason="length"), Answer(text=None, refusal="No.")])
def test_what_the_first_answer_cost_is_known_when_the_second_fails(server: OpenAIServer, second: Answer) -> None:
    server.script(TOO_LONG, second)
    with pytest.raises((CutOff, Refused)) as caught:
        ask(server)
    assert caught.value.usage.calls == 2


def test_what_the_first_answer_cost_is_known_when_the_second_cannot_be_asked(server: OpenAIServer) -> None:
    server.script(TOO_LONG, rate_limited(3_600_000))
    with pytest.raises(BadReply, match="could not be asked again") as caught:
        ask(server)
    assert caught.value.usage.calls == 1
    assert caught.value.usage.output_tokens > 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Welcome to nginx</html>",
        b"[]",
        b"null",
        b'"choices"',
        b'{"choices": []}',
        b'{"choices": null}',
        b'{"choices": ["x"]}',
        b"[" * 100_000,
        b"\xff\xfe\x00",
    ],
)
def test_an_odd_reply_is_told_as_one(server: OpenAIServer, body: bytes) -> None:
    server.script(Response(body=body))
    with pytest.raises(BadReply) as caught:
        ask(server)
    assert caught.value.usage.calls == 1


def test_an_error_inside_of_a_good_status_is_an_error(server: OpenAIServer) -> None:
    waits = Waits()
    server.script(as_json({"error": {"code": 429, "message": "slow down"}}), LYON)
    assert ask(server, waits=waits).value == LYON
    assert len(waits) == 1
    server.script(as_json({"error": {"code": 400, "message": "no such thing"}}))
    with pytest.raises(Invalid, match="no such thing"):
        ask(server)


def test_an_answer_of_parts_is_put_together(server: OpenAIServer) -> None:
    whole = LYON.model_dump_json()
    parts = [
        {"type": "text", "text": whole[:9]},
        {"type": "reference", "ids": [1]},
        {"type": "text", "text": whole[9:]},
    ]
    server.script(as_json({"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]}))
    assert ask(server).value == LYON


def test_an_endless_answer_is_not_read_to_its_end(server: OpenAIServer) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while sent < 50 * MOST_BYTES:
            sent += 65_536
            yield b'{"choices":' + b" " * 65_525

    server.script(Response(body=endless()))
    with pytest.raises(BadReply, match="more than 1,000,000 bytes") as caught:
        ask(server)
    assert sent < 20 * MOST_BYTES
    assert caught.value.usage.output_tokens > MOST_BYTES // 4
    server.script(Answer(text="x" * 10_000_000))
    with pytest.raises(BadReply, match="more than 1,000,000 bytes"):
        ask(server, most=10_000_000)


# Usage.


def test_what_was_read_from_a_cache_is_told(server: OpenAIServer) -> None:
    async def twice() -> list[Usage]:
        model = OpenAIModel(server.base_url, MODEL, KEY)
        long = "You keep notes about rivers. " * 200
        found = [(await model.complete(long, prompt, Facts)).usage for prompt in ("Elbe", "Oder")]
        await model.close()
        return found

    first, second = run(twice())
    assert first.cached_tokens == 0
    assert 1_024 <= second.cached_tokens < second.input_tokens


def test_a_server_that_counts_nothing_is_estimated() -> None:
    with OpenAIServer(tells_usage=False) as server:
        server.script(LYON)
        usage = ask(server).usage
    assert usage.input_tokens >= estimate(SYSTEM + PROMPT)
    assert usage.output_tokens == estimate(LYON.model_dump_json())


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"cost": 0.002}, Usage(dollars=0.002)),
        ({"cost": 0}, Usage(dollars=0)),
        ({"prompt_cache_hit_tokens": 8}, Usage(cached_tokens=8)),
        ({"prompt_tokens_details": {"cached_tokens": 99}}, Usage(cached_tokens=9)),
        ({"prompt_tokens_details": {"cache_write_tokens": 7}}, Usage(written_tokens=7)),
        ({"prompt_tokens_details": None, "cost": "free"}, Usage()),
    ],
)
def test_usage_is_read_in_the_forms_of_several_servers(
    server: OpenAIServer, told: dict[str, Any], expected: Usage
) -> None:
    choice = {"message": {"content": LYON.model_dump_json()}, "finish_reason": "stop"}
    server.script(as_json({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 4, **told}}))
    assert ask(server).usage == expected + Usage(input_tokens=9, output_tokens=4, calls=1)


@pytest.mark.parametrize("told", [{"prompt_tokens": -5, "completion_tokens": "many"}, {"prompt_tokens": True}, [], "x"])
def test_nonsense_in_the_usage_is_estimated_instead(server: OpenAIServer, told: Any) -> None:
    choice = {"message": {"content": LYON.model_dump_json()}, "finish_reason": "stop"}
    server.script(as_json({"choices": [choice], "usage": told}))
    usage = ask(server).usage
    assert usage.input_tokens >= estimate(SYSTEM + PROMPT)
    assert usage.output_tokens == estimate(LYON.model_dump_json())


# Servers that are busy, gone or not willing.


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_a_request_is_sent_again_after_growing_pauses(server: OpenAIServer, status: int) -> None:
    waits = Waits()
    server.script(*[Fault(status=status, message="later")] * 3, LYON)
    assert ask(server, waits=waits).value == LYON
    assert all(0.75 * most <= wait <= most for wait, most in zip(waits, (0.5, 1, 2), strict=True))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0"}, 0),
        ({"retry-after-ms": "soon", "retry-after": "3"}, 3),
    ],
)
def test_the_server_says_how_long_to_wait(server: OpenAIServer, headers: dict[str, str], seconds: float) -> None:
    waits = Waits()
    server.script(Fault(status=429, message="later", headers=headers), LYON)
    assert ask(server, waits=waits).value == LYON
    assert waits == [seconds]


def test_a_date_to_wait_for_is_read_by_the_servers_own_clock(server: OpenAIServer) -> None:
    waits = Waits()

    def later(_: Request) -> Response:
        from email.utils import formatdate
        from time import time

        return Fault(status=503, headers={"retry-after": formatdate(time() + 9, usegmt=True)}).response()

    server.script(later, LYON)
    assert ask(server, waits=waits).value == LYON
    assert 8 <= waits[0] <= 10


@pytest.mark.parametrize("hint", ["soon", "-3", "nan", "inf", "Mon, 99 Nov"])
def test_a_senseless_hint_is_passed_over(server: OpenAIServer, hint: str) -> None:
    waits = Waits()
    server.script(Fault(status=429, headers={"retry-after": hint}), LYON)
    assert ask(server, waits=waits).value == LYON
    assert 0.375 <= waits[0] <= 0.5


def test_a_long_wait_is_left_to_the_caller(server: OpenAIServer) -> None:
    waits = Waits()
    server.script(Fault(status=429, headers={"retry-after": "40"}), Fault(status=429, headers={"retry-after": "41"}))
    with pytest.raises(Busy, match="status 429") as caught:
        ask(server, waits=waits)
    assert caught.value.retry_seconds == 41
    assert waits == [40]
    assert sum(waits) <= MOST_WAITING_SECONDS


def test_a_server_that_stays_overloaded_is_busy_and_one_that_fails_is_unavailable(server: OpenAIServer) -> None:
    server.script(*[Fault(status=529, message="overloaded")] * (MOST_RETRIES + 1))
    with pytest.raises(Busy, match=f"after {MOST_RETRIES + 1} attempts") as busy:
        ask(server)
    assert busy.value.retry_seconds is None
    server.script(*[Fault(status=500, message="oops")] * (MOST_RETRIES + 1))
    with pytest.raises(Unavailable, match="status 500") as caught:
        ask(server)
    assert type(caught.value) is Unavailable
    assert len(server.requests) == 2 * (MOST_RETRIES + 1)


def test_a_server_may_say_that_asking_again_is_of_no_use(server: OpenAIServer) -> None:
    waits = Waits()
    server.script(Fault(status=500, message="for good", headers={"x-should-retry": "false"}))
    with pytest.raises(Unavailable, match="for good"):
        ask(server, waits=waits)
    server.script(Fault(status=429, message="You exceeded your current quota", code="insufficient_quota"))
    with pytest.raises(Denied, match="quota"):
        ask(server, waits=waits)
    assert not waits


@pytest.mark.parametrize("after", [BEFORE_ANYTHING, 0])
def test_a_line_that_breaks_is_taken_up_again(server: OpenAIServer, after: int) -> None:
    waits = Waits()
    server.script(Response(body=LYON.model_dump_json().encode(), hang_up_after=after), LYON)
    assert ask(server, waits=waits).value == LYON
    assert len(waits) == 1


def test_nobody_there_is_unavailable() -> None:
    with OpenAIServer() as server:
        pass
    with pytest.raises(Unavailable, match="Check that it runs") as caught:
        ask(server)
    assert not isinstance(caught.value, Busy)


@pytest.mark.parametrize(
    "answer", [Answer(text="late", wait_seconds=60), Response(body=iter([b"{"] * 900), pause_seconds=0.1)]
)
def test_an_answer_must_come_in_time_as_a_whole(server: OpenAIServer, answer: object) -> None:
    server.script(answer)
    with pytest.raises(Unavailable, match=r"no answer in 0\.3 seconds"):
        ask(server, timeout_seconds=0.3)
    assert len(server.requests) == 1


@pytest.mark.parametrize("key", ["", "another-key-of-the-tests"])
def test_a_key_that_does_not_count_is_denied_and_not_shown(server: OpenAIServer, key: str) -> None:
    with pytest.raises(Denied, match=r"librarian\.key_variable") as caught:
        ask(server, key=key)
    assert "another-key" not in _all_text(caught.value)
    assert len(server.requests) == 1


def test_a_server_that_repeats_the_key_does_not_bring_it_into_a_message(server: OpenAIServer) -> None:
    for status in (400, 404, 500):
        headers = {"x-should-retry": "false"}
        server.script(Fault(status=status, message=f"bad request by {KEY}: nothing", headers=headers))
        with pytest.raises(RecollectError, match="bad request by …") as caught:
            ask(server)
        assert KEY not in _all_text(caught.value)


def test_an_unknown_model_is_explained(server: OpenAIServer) -> None:
    with pytest.raises(Denied, match=r"'other' does not exist.*after # in librarian\.model"):
        ask(server, model="other")


def test_a_message_of_the_server_is_not_shown_without_end(server: OpenAIServer) -> None:
    server.script(Fault(status=400, message="no " * 10_000))
    with pytest.raises(Invalid) as caught:
        ask(server)
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_the_key_is_not_carried_to_another_address(server: OpenAIServer, status: int) -> None:
    with OpenAIServer() as other:
        server.script(Response(status=status, headers={"location": f"{other.base_url}/chat/completions"}))
        with pytest.raises(Denied, match=f"status {status}"):
            ask(server)
        assert not other.requests


def test_a_proxy_of_the_environment_is_not_asked_for_a_server_of_the_house(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server.script(LYON)
    assert ask(server).value == LYON


def test_half_a_surrogate_pair_does_not_stop_a_request(server: OpenAIServer) -> None:
    async def broken() -> Facts:
        model = OpenAIModel(server.base_url, MODEL, KEY)
        try:
            return (await model.complete(SYSTEM, "Ada \ud83d wrote", Facts)).value
        finally:
            await model.close()

    assert run(broken()) == Facts(title="")
    assert bodies(server)[0]["messages"][1]["content"] == "Ada ? wrote"


@pytest.mark.parametrize("is_closed", [True, False])
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_session_that_comes_to_another_event_loop_connects_anew(server: OpenAIServer, is_closed: bool) -> None:
    """Left open, the first connection is lost with its loop, which Python warns of."""
    model = OpenAIModel(server.base_url, MODEL, KEY)

    async def once(closes: bool) -> Facts:
        found = await model.complete(SYSTEM, PROMPT, Facts)
        if closes:
            await model.close()
        return found.value

    assert [run(once(is_closed)), run(once(True))] == [Facts(title="")] * 2
    gc.collect()


def test_prompts_may_be_sent_at_the_same_time(server: OpenAIServer) -> None:
    async def together() -> list[Facts]:
        model = OpenAIModel(server.base_url, MODEL, KEY)
        found = await asyncio.gather(*(model.complete(SYSTEM, str(number), Facts) for number in range(8)))
        await model.close()
        return [reply.value for reply in found]

    assert run(together()) == [Facts(title="")] * 8


NAMES = ["choices", "message", "content", "usage", "error", "code", "finish_reason", "prompt_tokens", "model"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=80, deadline=None)
@given(
    status=st.sampled_from([200, 200, 200, 201, 204, 400, 401, 404, 418, 422, 429, 500]),
    value=JSON | st.fixed_dictionaries({"choices": st.lists(JSON, max_size=2), "usage": JSON}),
)
def test_whatever_a_server_answers_is_a_reply_or_an_error_of_ours(status: int, value: Any) -> None:
    with OpenAIServer() as server:
        server.script(*[as_json(value, status)] * 10)
        with suppress(RecollectError):
            assert isinstance(ask(server).value, Facts)


def _all_text(error: BaseException | None) -> str:
    found: list[str] = []
    while error is not None:
        found += [str(error), repr(error)]
        error = error.__cause__ or error.__context__
    return "\n".join(found)
