"""The prompt cache of the server that stands in for Anthropic's API: what is read, and why not more."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import Anthropic
from anthropic_talk import ADAPTIVE, COMMON, HI, MODEL, ON_DEMAND, THRESHOLD, WEATHER, after, refusal
from hypothesis import given
from hypothesis import strategies as st

from recollect.testing import AnthropicServer, FrozenClock
from recollect.testing.anthropic_answers import fail, say, think
from recollect.testing.anthropic_cache import LIFETIMES, LOOK_BACK, InputTokens, Look, Prompt, PromptCache
from recollect.testing.anthropic_conversation import Conversation
from recollect.testing.anthropic_models import MODELS
from recollect.testing.loopback import BEFORE_ANYTHING

HOUR: dict[str, Any] = {"type": "ephemeral", "ttl": "1h"}
MINUTES: dict[str, Any] = {"type": "ephemeral"}
LONG = "word " * 2_000


def text(said: str, mark: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "text", "text": said, **({"cache_control": mark} if mark else {})}


SYSTEM: list[Any] = [text(LONG, HOUR)]


@pytest.fixture(scope="module")
def line() -> Iterator[httpx2.Client]:
    with httpx2.Client(verify=False, trust_env=False) as line:
        yield line


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def server(clock: FrozenClock) -> Iterator[AnthropicServer]:
    with AnthropicServer(clock=clock) as server:
        yield server


@pytest.fixture
def client(server: AnthropicServer, line: httpx2.Client) -> Anthropic:
    return Anthropic(base_url=server.url, api_key="any", http_client=line, max_retries=0)


def reads(client: Anthropic, **request: Any) -> int:
    return client.messages.create(**{**COMMON, "messages": HI, **request}).usage.cache_read_input_tokens or 0


# --- lifetimes


@pytest.mark.parametrize(("mark", "minutes"), [(MINUTES, 5), (HOUR, 60)])
def test_what_is_kept_is_over_after_its_time_and_each_read_begins_it_anew(
    client: Anthropic, clock: FrozenClock, mark: dict[str, Any], minutes: int
) -> None:
    system = [text(LONG, mark)]
    assert reads(client, system=system) == 0
    for _ in range(3):
        clock.move(minutes=minutes - 1)
        assert reads(client, system=system)
    clock.move(minutes=minutes)
    assert reads(client, system=system) == 0


def test_five_minutes_and_an_hour_are_told_apart(client: Anthropic, clock: FrozenClock) -> None:
    request: Any = {**COMMON, "system": SYSTEM, "messages": after([text(LONG, MINUTES)])}
    first = client.messages.create(**request).usage
    assert first.cache_creation
    assert first.cache_creation.ephemeral_5m_input_tokens > 0
    assert first.input_tokens == 0
    clock.move(minutes=6)
    second = client.messages.create(**request).usage
    assert second.cache_creation
    assert second.cache_read_input_tokens == first.cache_creation.ephemeral_1h_input_tokens
    assert second.cache_creation.ephemeral_1h_input_tokens == 0
    assert second.cache_creation.ephemeral_5m_input_tokens == first.cache_creation.ephemeral_5m_input_tokens


def test_warming_keeps_a_conversation_alive(client: Anthropic, clock: FrozenClock, server: AnthropicServer) -> None:
    talk = after([text(LONG, HOUR)])
    for _ in range(4):
        client.messages.create(model=MODEL, max_tokens=0, messages=talk)
        clock.move(minutes=50)
    assert [use.missed for use in server.cache.log] == ["first", "", "", ""]
    assert reads(client, messages=talk)


# --- what is looked up


def test_an_entry_is_found_twenty_blocks_before_a_mark_and_no_further(
    client: Anthropic, server: AnthropicServer
) -> None:
    begun = reads(client, system=SYSTEM, messages=after([text(LONG, HOUR)]))
    assert begun == 0
    new = [text(str(number)) for number in range(LOOK_BACK)]
    new[-1]["cache_control"] = HOUR
    assert reads(client, system=SYSTEM, messages=after([text(LONG), *new[1:]])) > 6_000
    too_many = [text("other"), *new]
    assert 0 < reads(client, system=SYSTEM, messages=after([text(LONG), *too_many])) < 4_000
    assert [use.missed for use in server.cache.log] == ["first", "", "too far"]


@pytest.mark.parametrize("model", list(MODELS))
def test_a_beginning_must_be_long_enough_for_its_model(server: AnthropicServer, client: Anthropic, model: str) -> None:
    least = MODELS[model].least_cached_tokens
    around = len(b'{"text":"","type":"text"}')
    short, long = ("x" * (3 * tokens - around) for tokens in (least - 1, least))
    for said in (short, long):
        client.messages.create(model=model, max_tokens=100, messages=after([text(said, HOUR)]))
    assert [(use.written, use.missed) for use in server.cache.log] == [(0, "short"), (least, "first")]


def test_a_setting_makes_what_is_behind_it_new(client: Anthropic, server: AnthropicServer) -> None:
    request: Any = {"system": SYSTEM, "tools": [WEATHER], "messages": after([text(LONG, HOUR)])}
    reads(client, **request)
    whole = reads(client, **request)
    opening = reads(client, **request, **ADAPTIVE)
    assert 0 < opening < whole
    assert reads(client, **request, tool_choice={"type": "none"}) == opening
    assert reads(client, **request, model="claude-sonnet-5-5") == 0
    assert reads(client, **{**request, "tools": []}) == 0
    assert reads(client, **request) == whole
    assert [use.missed for use in server.cache.log] == [
        "first",
        "",
        "changed at thinking",
        "changed at tool_choice",
        "changed at model",
        "changed at system",
        "",
    ]


def test_the_log_says_where_a_conversation_changed(
    client: Anthropic, server: AnthropicServer, clock: FrozenClock
) -> None:
    reads(client)
    reads(client, system=SYSTEM, messages=after(LONG, "Yes.", [text("And?", HOUR)]))
    reads(client, system=SYSTEM, messages=after(LONG, "No.", [text("And?", HOUR)]))
    clock.move(hours=2)
    reads(client, system=SYSTEM, messages=after(LONG, "No.", [text("And?", HOUR)]))
    reads(client, system=[text(LONG + "!", HOUR)], messages=after(LONG, "No.", [text("And?", HOUR)]))
    assert [use.missed for use in server.cache.log] == [
        "unmarked",
        "first",
        "changed at messages[1].content[0]",
        "expired",
        "changed at system",
    ]
    assert [use.number for use in server.cache.log] == [1, 2, 3, 4, 5]


def test_the_order_of_the_arguments_of_a_tool_is_part_of_what_is_said(client: Anthropic) -> None:
    def talk(**arguments: Any) -> list[Any]:
        use = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": arguments}
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "rain", "cache_control": HOUR}
        return after(LONG, [use], [result])

    reads(client, messages=talk(city="Oslo", days=2))
    assert reads(client, messages=talk(city="Oslo", days=2))
    assert reads(client, messages=talk(days=2, city="Oslo")) == 0


# --- when it can be read


def test_what_never_began_was_never_kept(client: Anthropic, server: AnthropicServer) -> None:
    server.script(replace(say("never"), hang_up_after=BEFORE_ANYTHING), fail(529))
    for _ in range(2):
        with pytest.raises(anthropic.APIError):
            client.messages.create(**COMMON, messages=HI, system=SYSTEM)
    assert server.cache.log == []
    assert reads(client, system=SYSTEM) == 0


def test_two_requests_at_once_do_not_read_from_each_other(line: httpx2.Client) -> None:
    both = threading.Barrier(2, timeout=30)

    def together(_: dict[str, Any]) -> Any:
        both.wait()
        return say("Yes.")

    with AnthropicServer(together) as server, ThreadPoolExecutor(2) as threads:
        client = Anthropic(base_url=server.url, api_key="any", http_client=line)
        first, second = [threads.submit(reads, client, system=SYSTEM) for _ in range(2)]
        assert (first.result(), second.result()) == (0, 0)
        server.script(say("Yes."))
        assert reads(client, system=SYSTEM)


# --- compaction


def test_compacting_on_demand_reads_what_the_conversation_kept(client: Anthropic, server: AnthropicServer) -> None:
    talk = [*after(LONG, "Yes."), {"role": "user", "content": [text("And?", HOUR)]}]
    reads(client, system=SYSTEM, messages=talk)
    whole = server.cache.log[0].written
    server.script(say("They talked."))
    done = client.beta.messages.create(
        **COMMON,
        messages=[*talk, {"role": "assistant", "content": "Bye."}],
        system=SYSTEM,
        compaction={"type": "summarize", "instructions": "In one sentence."},
        betas=[ON_DEMAND],
    )
    assert done.usage.iterations
    cost = done.usage.iterations[0].to_dict()
    assert cost["cache_read_input_tokens"] == whole
    assert 0 < cost["input_tokens"] < 50  # type: ignore[operator]
    more: Any = [{"role": "assistant", "content": done.content}, {"role": "user", "content": [text("So?", HOUR)]}]
    for _ in range(2):
        client.beta.messages.create(**COMMON, messages=more, system=SYSTEM, betas=[ON_DEMAND])
    opening, then = server.cache.log[2:]
    assert opening.missed == "changed at messages[0].content[0]"
    assert 0 < opening.read < whole
    assert then.read == opening.read + opening.written
    assert then.missed == ""


def test_what_is_left_at_a_threshold_is_read_from_the_cache_too(client: Anthropic, server: AnthropicServer) -> None:
    edit = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 50_000}}
    client.messages.create(**COMMON, messages=HI, system=SYSTEM)
    message = client.beta.messages.create(
        **COMMON,
        messages=after("x" * 160_000),
        system=SYSTEM,
        context_management={"edits": [edit]},  # type: ignore[arg-type, list-item]
        betas=[THRESHOLD],
    )
    assert message.usage.cache_read_input_tokens == server.cache.log[0].written
    assert 0 < message.usage.input_tokens < 1_000
    assert [use.number for use in server.cache.log] == [1, 2, 2]


# --- rules

FIVE_THEN_HOUR = "a ttl='1h' cache_control block must not come after"
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"tools": [{**WEATHER, "cache_control": MINUTES}], "system": [text("x", HOUR)]}, f"system.0.* {FIVE_THEN_HOUR}"),
    (
        {"system": [text("x", MINUTES)], "messages": after([text("hi", HOUR)])},
        f"messages.0.content.0.*{FIVE_THEN_HOUR}",
    ),
    ({"system": [text("x", MINUTES)], "cache_control": HOUR}, FIVE_THEN_HOUR),
    ({"messages": after([text("hi", HOUR)]), "cache_control": MINUTES}, "another ttl"),
    ({"system": [text("x", HOUR)] * 4, "cache_control": HOUR}, "maximum of 4 .* Found 5"),
]


@pytest.mark.parametrize(("changes", "words"), WRONG)
def test_marks_have_their_rules(client: Anthropic, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(anthropic.BadRequestError, match=words):
        raise refusal(client, **changes)


def test_four_marks_of_which_the_last_is_given_twice_are_four(client: Anthropic) -> None:
    system = [text(LONG, HOUR)] * 3
    assert reads(client, system=system, messages=after([text("hi", HOUR)]), cache_control=HOUR) == 0


def test_thinking_carries_no_mark_and_the_mark_at_the_top_goes_before_it(
    client: Anthropic, server: AnthropicServer
) -> None:
    server.script(think("Hm.") + say(LONG))
    answer = client.messages.create(**{**COMMON, "max_tokens": 9_000}, **ADAPTIVE, messages=HI)
    thought, said = (block.to_dict() for block in answer.content)
    marked = after("hi", [{**thought, "cache_control": HOUR}, said], "And?")
    assert "Extra inputs" in str(refusal(client, messages=marked))
    body = {"messages": after("hi", [said, thought]), "cache_control": HOUR}
    (marked_at,) = [piece.place for piece in Conversation(body).pieces if piece.mark]
    assert marked_at == "messages[1].content[0]"


# --- long runs


def test_only_the_last_requests_are_kept_when_it_is_asked_so(line: httpx2.Client) -> None:
    for keeps, kept in ((0, []), (2, [2, 3]), (None, [1, 2, 3])):
        with AnthropicServer(keeps_requests=keeps) as server:
            client = Anthropic(base_url=server.url, api_key="any", http_client=line)
            for _ in range(3):
                client.messages.create(**COMMON, messages=HI)
            assert [request.number for request in server.requests] == kept
            assert len(server.asked) == len(kept)
            assert len(server.cache.log) == 3


# --- properties

CARD = replace(MODELS[MODEL], least_cached_tokens=30)
WORDS = st.sampled_from("ab")


@dataclass(frozen=True)
class Asked:
    said: str
    marks: frozenset[int]
    ttl: str
    wait_seconds: int


ASKED = st.builds(
    Asked,
    said=st.text("ab", min_size=1, max_size=6) | st.integers(1, 60).map(lambda length: "a" * length),
    marks=st.frozensets(st.integers(0, 60), max_size=4),
    ttl=st.sampled_from(["5m", "1h"]),
    wait_seconds=st.sampled_from([0, 1, 200, 299, 300, 301, 3_000, 3_600, 9_000]),
)


def looked(cache: PromptCache, asked: Asked) -> Look:
    mark = {"type": "ephemeral", "ttl": asked.ttl}
    blocks = [text(one * 10, mark if at in asked.marks else None) for at, one in enumerate(asked.said)]
    body = {"messages": [{"role": "user", "content": blocks}]}
    look = cache.look(1, Prompt.of(body, CARD, Conversation(body).pieces))
    cache.begin(look)
    return look


def tokens_of(said: str) -> int:
    one = len(b'{"text":"aaaaaaaaaa","type":"text"}')
    return -(-one // 3) * len(said)


@given(st.lists(ASKED, max_size=8))
def test_everything_is_read_written_or_fresh_and_only_what_was_marked_and_lives_is_read(story: list[Asked]) -> None:
    clock = FrozenClock()
    cache = PromptCache(clock)
    kept: dict[str, tuple[datetime, timedelta]] = {}
    for asked in story:
        clock.move(seconds=asked.wait_seconds)
        tokens = looked(cache, asked).tokens
        assert tokens.read + tokens.written + tokens.fresh == tokens.all == tokens_of(asked.said)
        assert min(tokens.read, tokens.written, tokens.fresh) >= 0
        marks = [at for at in sorted(asked.marks) if at < len(asked.said)]
        hits = [hit for mark in marks if (hit := found_from(mark, asked.said, kept, clock.now))]
        assert tokens.read == max((tokens_of(hit) for hit in hits), default=0)
        for hit in hits:
            kept[hit] = (clock.now + kept[hit][1], kept[hit][1])
        for mark in marks:
            beginning = asked.said[: mark + 1]
            lives = beginning in kept and kept[beginning][0] > clock.now
            if tokens_of(beginning) >= CARD.least_cached_tokens and not lives:
                kept[beginning] = (clock.now + LIFETIMES[asked.ttl], LIFETIMES[asked.ttl])


def found_from(mark: int, said: str, kept: dict[str, tuple[datetime, timedelta]], now: datetime) -> str:
    """The plain way: cut the text shorter until it is one that lives."""
    for length in range(mark + 1, max(0, mark + 1 - LOOK_BACK), -1):
        if said[:length] in kept and kept[said[:length]][0] > now:
            return said[:length]
    return ""


@given(st.lists(ASKED, min_size=1, max_size=6))
def test_what_is_read_is_never_longer_than_what_two_requests_begin_with(story: list[Asked]) -> None:
    cache = PromptCache(FrozenClock())
    before: list[str] = []
    for asked in story:
        read = looked(cache, asked).tokens.read
        shared = [sum(1 for _ in _same(asked.said, other)) for other in before]
        assert read <= tokens_of("a" * max(shared, default=0))
        before.append(asked.said)


def _same(one: str, other: str) -> Iterator[str]:
    for first, second in zip(one, other, strict=False):
        if first != second:
            return
        yield first


@given(st.lists(ASKED, max_size=6))
def test_after_an_hour_without_a_request_nothing_is_read(story: list[Asked]) -> None:
    clock = FrozenClock()
    cache = PromptCache(clock)
    for asked in story:
        looked(cache, asked)
    clock.move(hours=1)
    for asked in story:
        assert cache.look(1, _prompt(asked)).tokens.read == 0


def _prompt(asked: Asked) -> Prompt:
    return looked(PromptCache(FrozenClock()), asked).prompt


@given(st.lists(ASKED, max_size=8), ASKED)
def test_what_was_looked_up_without_an_answer_changes_nothing(story: list[Asked], asked: Asked) -> None:
    cache = PromptCache(FrozenClock())
    for one in story:
        looked(cache, one)
    before = len(cache.log)
    tokens: list[InputTokens] = [cache.look(1, _prompt(asked)).tokens for _ in range(2)]
    assert tokens[0] == tokens[1]
    assert len(cache.log) == before
