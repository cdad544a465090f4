"""Thinking that is signed and conversations that are compacted, both ways, through the official SDK."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from anthropic import Anthropic
from anthropic_talk import ADAPTIVE, COMMON, HI, OBJECT, ON_DEMAND, THRESHOLD, WEATHER, after, refusal

from recollect.testing import AnthropicServer
from recollect.testing.anthropic_answers import Answer, say, think, use_tool


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


# --- thinking


def thought(client: Anthropic, server: AnthropicServer, **options: Any) -> list[Any]:
    """A conversation with a thinking block in it, as it came from the server."""
    server.script(think("They greet.") + say("Hello."))
    reply = client.messages.create(**COMMON, **ADAPTIVE, messages=HI, system="Be kind.", **options)
    return [block.to_dict() for block in reply.content]


def test_thinking_comes_back_unchanged_or_not_at_all(client: Anthropic, server: AnthropicServer) -> None:
    said = thought(client, server)
    talk = after("hi", said, "more")
    assert client.messages.create(**COMMON, messages=talk, system="Be kind.").stop_reason == "end_turn"
    edited = after("hi", [{**said[0], "thinking": "They mock."}, said[1]], "more")
    assert "Invalid `signature`" in str(refusal(client, messages=edited, system="Be kind."))
    unsigned = after("hi", [{**said[0], "signature": "!"}, said[1]], "more")
    assert "Invalid `signature`" in str(refusal(client, messages=unsigned, system="Be kind."))


@pytest.mark.parametrize(
    "changes",
    [
        {"system": "Be rude."},
        {"system": "Be kind.", "tools": [WEATHER]},
        {"system": "Be kind.", "first": "ho"},
    ],
    ids=["system", "tools", "message"],
)
def test_an_edit_before_a_thinking_block_is_refused(
    client: Anthropic, server: AnthropicServer, changes: dict[str, Any]
) -> None:
    said = thought(client, server)
    talk = after(changes.pop("first", "hi"), said, "more")
    error = refusal(client, messages=talk, **changes)
    assert "messages.1.content.0" in str(error)
    assert "differs" in str(error)


def test_cache_marks_and_later_turns_are_no_edits(client: Anthropic, server: AnthropicServer) -> None:
    said = thought(client, server)
    marked = [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]
    note = {"role": "system", "content": "They like tea.", "clear_at": "next_user_message"}
    talk = [
        *after(marked, said, "more"),
        note,
        {"role": "assistant", "content": "OK."},
        {"role": "user", "content": "?"},
    ]
    betas = ["mid-conversation-system-clear-at-2026-08-21"]
    message = client.beta.messages.create(**COMMON, messages=talk, system="Be kind.", betas=betas)  # type: ignore[arg-type]
    assert message.stop_reason == "end_turn"


def test_a_mismatch_can_be_dropped_and_is_then_reported(client: Anthropic, server: AnthropicServer) -> None:
    said = thought(client, server)
    message = client.beta.messages.create(
        **COMMON,
        messages=after("ho", said, "more"),
        system="Be kind.",
        thinking={"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
        betas=["thinking-binding-controls-2026-08-01"],
    )
    assert [(one.type, one.path) for one in message.input_transformations or []] == [
        ("thinking_dropped", "messages.1.content.0")
    ]


def test_older_accounts_may_edit(line: httpx2.Client) -> None:
    with AnthropicServer(binds_thinking=False) as server:
        client = Anthropic(base_url=server.url, api_key="any", http_client=line)
        said = thought(client, server)
        assert client.messages.create(**COMMON, messages=after("ho", said, "more")).stop_reason == "end_turn"


def test_thinking_that_is_not_shown_is_signed_all_the_same(client: Anthropic, server: AnthropicServer) -> None:
    server.script(think("secret") + say("Hello."))
    hidden: Any = {"type": "adaptive", "display": "omitted"}
    reply = client.messages.create(**COMMON, thinking=hidden, messages=HI)
    assert reply.content[0].thinking == ""  # type: ignore[union-attr]
    assert client.messages.create(**COMMON, messages=after("hi", reply.content, "more")).stop_reason == "end_turn"


# --- compaction


def compacted(client: Anthropic, messages: list[Any], **options: Any) -> Any:
    return client.beta.messages.create(
        **COMMON, messages=messages, compaction={"type": "summarize"}, betas=[ON_DEMAND], **options
    )


def test_a_conversation_is_compacted_on_demand(client: Anthropic, server: AnthropicServer) -> None:
    server.script(say("They greeted."))
    message = compacted(client, after("hi", "Hello.", "How are you?"))
    (block,) = message.content
    assert (message.stop_reason, block.content, block.tool_changes) == ("compaction", "They greeted.", [])
    assert (message.usage.input_tokens, message.usage.output_tokens) == (0, 0)
    (cost,) = message.usage.iterations
    assert (cost.type, cost.input_tokens > 0, cost.output_tokens > 0) == ("compaction", True, True)
    talk = [{"role": "assistant", "content": message.content}, {"role": "user", "content": "And now?"}]
    again = client.beta.messages.create(**COMMON, messages=talk, betas=[ON_DEMAND])  # type: ignore[arg-type]
    assert again.stop_reason == "end_turn"
    assert "needs the beta" in str(refusal(client, messages=talk))


def test_a_compaction_streams_with_its_signature(client: Anthropic) -> None:
    with client.beta.messages.stream(
        **COMMON, messages=HI, compaction={"type": "summarize"}, betas=[ON_DEMAND]
    ) as stream:
        (block,) = stream.get_final_message().content
    assert block.type == "compaction"
    assert block.signature
    assert block.content == 'A summary of 1 messages that began with "hi".'


def test_a_summary_that_failed_has_no_content(client: Anthropic, server: AnthropicServer) -> None:
    server.script(Answer())
    (block,) = compacted(client, HI).content
    assert (block.content, block.signature) == (None, None)


def test_a_summary_must_come_back_first_alone_and_unchanged(client: Anthropic) -> None:
    block = compacted(client, HI).content[0].to_dict()
    summary = {"role": "assistant", "content": [block]}
    ask = {"role": "user", "content": "And now?"}
    change: Any = {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "x"}}
    codes = {
        "compaction_block_misplaced": [*HI, summary, ask],
        "compaction_block_ambiguous": [summary, ask, summary, ask],
        "compaction_content_mismatch": [{**summary, "content": [{**block, "content": "They fought."}]}, ask],
        "compaction_signature_invalid": [{**summary, "content": [{**block, "signature": "AAAA"}]}, ask],
        "compaction_tool_changes_mismatch": [{**summary, "content": [{**block, "tool_changes": [change]}]}, ask],
    }
    assert {refusal(client, ON_DEMAND, messages=talk).error_code for talk in codes.values()} == set(codes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"context_management": {"edits": [{"type": "clear_thinking_20251015"}]}}, "context_management"),
        ({"stop_sequences": ["x"]}, "stop_sequences"),
        ({"tool_choice": {"type": "any"}, "tools": [WEATHER]}, "tool_choice"),
        ({"output_config": {"format": {"type": "json_schema", "schema": OBJECT}}}, "output_config.format"),
        ({"model": "claude-haiku-4-5"}, "not supported"),
    ],
)
def test_what_cannot_go_with_a_compaction(client: Anthropic, changes: dict[str, Any], words: str) -> None:
    error = refusal(client, ON_DEMAND, "context-management-2025-06-27", compaction={"type": "summarize"}, **changes)
    assert words in str(error)


def test_an_unfinished_turn_is_not_compacted(client: Anthropic, server: AnthropicServer) -> None:
    server.script(use_tool("weather", {"city": "Oslo"}))
    used = client.messages.create(**COMMON, messages=HI, tools=[WEATHER])
    error = refusal(
        client, ON_DEMAND, messages=after("hi", used.content), tools=[WEATHER], compaction={"type": "summarize"}
    )
    assert error.error_code == "compaction_incomplete_turn"


def test_thinking_of_kept_turns_stays_valid_behind_a_summary(client: Anthropic, server: AnthropicServer) -> None:
    start = after("hi", "Hello.", "How are you?")
    server.script(think("Polite.") + say("Well."))
    kept = client.messages.create(**COMMON, **ADAPTIVE, messages=start, system="Be kind.")
    summary = compacted(client, start, system="Be kind.")
    talk: list[Any] = [
        {"role": "assistant", "content": summary.content},
        {"role": "assistant", "content": kept.content},
        {"role": "user", "content": "And now?"},
    ]
    again = client.beta.messages.create(**COMMON, messages=talk, system="Be kind.", betas=[ON_DEMAND])
    assert again.stop_reason == "end_turn"
    assert "differs" in str(refusal(client, ON_DEMAND, messages=talk, system="Be rude."))


def test_a_summary_keeps_the_changes_of_tools(client: Anthropic) -> None:
    change = {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "weather"}}
    talk = [*after("hi", "Hello.", "No weather, please."), {"role": "system", "content": [change]}]
    assert "tool_removal" in str(refusal(client, messages=talk, tools=[WEATHER]))
    betas = ["inline-tools-2026-09-15", ON_DEMAND]
    message = client.beta.messages.create(
        **COMMON,
        messages=talk,
        tools=[WEATHER],
        compaction={"type": "summarize"},
        betas=betas,  # type: ignore[arg-type]
    )
    assert message.content[0].to_dict()["tool_changes"] == [change]
    more: list[Any] = [{"role": "assistant", "content": message.content}, *HI]
    again = client.beta.messages.create(**COMMON, messages=more, tools=[WEATHER], betas=betas)  # type: ignore[arg-type]
    assert again.stop_reason == "end_turn"


def threshold(value: int = 50_000, **options: Any) -> dict[str, Any]:
    edit = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": value}, **options}
    return {"context_management": {"edits": [edit]}}


def test_a_long_conversation_compacts_itself(client: Anthropic, server: AnthropicServer) -> None:
    server.script(think("Long.") + say("Yes."))
    talk = after("x" * 160_000, "Yes.", "And now?")
    message = client.beta.messages.create(**COMMON, **ADAPTIVE, messages=talk, **threshold(), betas=[THRESHOLD])
    assert [block.type for block in message.content] == ["compaction", "thinking", "text"]
    assert message.usage.iterations
    assert [one.type for one in message.usage.iterations] == ["compaction", "message"]
    assert message.usage.input_tokens < 1_000 < message.usage.iterations[0].input_tokens  # type: ignore[union-attr]
    more: list[Any] = [*talk, {"role": "assistant", "content": message.content}, {"role": "user", "content": "?"}]
    for kept in (more, more[-2:]):  # All before the summary is ignored, whether it is sent or not.
        again = client.beta.messages.create(**COMMON, messages=kept, **threshold(), betas=[THRESHOLD])
        assert again.content[0].type == "text"
        assert again.usage.input_tokens < 1_000


def test_a_compaction_can_pause(client: Anthropic) -> None:
    options = threshold(pause_after_compaction=True)
    with client.beta.messages.stream(**COMMON, messages=after("x" * 160_000), **options, betas=[THRESHOLD]) as stream:
        message = stream.get_final_message()
    assert (message.stop_reason, [block.type for block in message.content]) == ("compaction", ["compaction"])
    talk: list[Any] = [*after("x" * 160_000), {"role": "assistant", "content": message.content}]
    assert client.beta.messages.create(**COMMON, messages=talk, **options, betas=[THRESHOLD]).stop_reason == "end_turn"


def test_a_threshold_has_its_rules(client: Anthropic) -> None:
    assert "at least 50000" in str(refusal(client, THRESHOLD, **threshold(9)))
    assert "need the beta" in str(refusal(client, "context-management-2025-06-27", **threshold()))
    summary = {"role": "assistant", "content": compacted(client, HI).content}
    error = refusal(client, ON_DEMAND, THRESHOLD, messages=[summary, *HI], **threshold())
    assert "cannot be combined" in str(error)
