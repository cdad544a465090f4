"""What the server that stands in for Anthropic's API refuses, as the official SDK sees it."""

from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import Anthropic
from anthropic_talk import ADAPTIVE, HI, OBJECT, WEATHER, after, refusal

from recollect.testing import AnthropicServer
from recollect.testing.anthropic_answers import say


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


# --- rules

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"extra_body": {"temperature": 0}}, "temperature"),
    ({"extra_body": {"top_k": 3}}, "top_k"),
    ({"extra_body": {"colour": "green"}}, "colour: Extra inputs"),
    ({"messages": []}, "at least one message"),
    ({"messages": after("hi", "Sure, here")}, "prefill"),
    ({"messages": after("")}, "non-empty"),
    ({"messages": [{"role": "user", "content": []}]}, "non-empty content"),
    ({"messages": [{"role": "robot", "content": "hi"}]}, "role"),
    ({"messages": [{"role": "system", "content": "hi"}]}, "first message"),
    ({"model": "claude-opus-4-7", "messages": [*HI, {"role": "system", "content": "note"}]}, "not supported"),
    ({"messages": [*HI, {"role": "system", "content": "note", "clear_at": "next_user_message"}]}, "clear_at"),
    ({"messages": [*HI, {"role": "system", "content": "", "output_config": {"effort": "low"}}]}, "output_config"),
    ({"messages": [{"role": "user", "content": "x", "clear_at": "never"}]}, "only permitted on system"),
    ({"max_tokens": -1}, "max_tokens"),
    ({"max_tokens": 500_000, "timeout": 9}, "maximum allowed"),
    ({"tools": [WEATHER, WEATHER]}, "unique"),
    ({"tools": [{"name": "x", "input_schema": {"type": "string"}}]}, "input_schema"),
    ({"tools": [{**WEATHER, "name": f"t{n}", "strict": True} for n in range(21)]}, "strict"),
    ({"tool_choice": {"type": "any"}}, "tools must be given"),
    ({"tool_choice": {"type": "any"}, "tools": [WEATHER], **ADAPTIVE}, "forces tool use"),
    ({"thinking": {"type": "enabled", "budget_tokens": 2_000}}, "not supported"),
    ({"thinking": {"type": "disabled"}, "model": "claude-opus-5-5"}, "not supported"),
    ({"thinking": {"type": "enabled", "budget_tokens": 9}, "model": "claude-haiku-4-5"}, "budget_tokens"),
    ({"thinking": {"type": "deep"}}, "thinking.type"),
    ({"thinking": {"type": "adaptive", "block_binding": {}}}, "block_binding"),
    ({"output_config": {"effort": "huge"}}, "effort"),
    ({"cache_control": {"type": "ephemeral", "ttl": "1d"}}, "cache_control"),
    ({"system": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * 5}, "maximum of 4"),
    ({"compaction": {"type": "summarize"}}, "compaction: Extra inputs"),
    ({"thread": {"type": "create"}}, "thread: Extra inputs"),
    ({"context_management": {"edits": []}}, "context_management: Extra inputs"),
]


@pytest.mark.parametrize(("changes", "words"), WRONG, ids=[words for _, words in WRONG])
def test_what_the_api_refuses_is_refused_and_uses_up_no_step(
    client: Anthropic, server: AnthropicServer, changes: dict[str, Any], words: str
) -> None:
    server.script(say("for later"))
    error = refusal(client, **changes)
    assert isinstance(error, anthropic.BadRequestError)
    assert words in str(error)
    assert server.unused_steps == 1


NODE = {**OBJECT, "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["next"]}
SCHEMAS: list[tuple[Any, str]] = [
    ({**OBJECT, "additionalProperties": True}, "additionalProperties"),
    ({**OBJECT, "properties": {"a": {"type": "string", "maxLength": 3}}}, "maxLength"),
    ({**OBJECT, "properties": {"a": {"type": "string", "format": "binary"}}}, "format"),
    ({**OBJECT, "properties": {"a": {"type": "array", "items": {"type": "null"}, "minItems": 2}}}, "minItems"),
    ({**OBJECT, "properties": {f"f{n}": {"type": "null"} for n in range(25)}}, "optional"),
    ({**OBJECT, "properties": {"a": {"anyOf": [{"anyOf": []} for _ in range(17)]}}}, "union"),
    ({"$ref": "#/$defs/node", "$defs": {"node": NODE}}, "recursive"),
    ({"$ref": "#/$defs/other"}, "points nowhere"),
    ("a text", "object"),
]


@pytest.mark.parametrize(("schema", "words"), SCHEMAS, ids=[words for _, words in SCHEMAS])
def test_a_schema_that_the_api_cannot_follow_is_refused(client: Anthropic, schema: Any, words: str) -> None:
    error = refusal(client, output_config={"format": {"type": "json_schema", "schema": schema}})
    assert words in str(error)


def test_keys_and_models_that_do_not_count(line: httpx2.Client) -> None:
    with AnthropicServer(key="right") as server:
        wrong = Anthropic(base_url=server.url, api_key="wrong", http_client=line)
        with pytest.raises(anthropic.AuthenticationError):
            wrong.models.list()
        right = Anthropic(base_url=server.url, api_key="right", http_client=line)
        assert isinstance(refusal(right, model="claude-none"), anthropic.NotFoundError)
        assert line.get(server.url + "/v1/models", headers={"x-api-key": "right"}).status_code == 400
        assert line.head(server.url).status_code == 200


def test_a_prompt_that_is_too_long_is_refused(client: Anthropic) -> None:
    error = refusal(client, model="claude-haiku-4-5", messages=after("x" * 700_000))
    assert "prompt is too long" in str(error)
