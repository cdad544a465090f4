"""The rules of `POST /v1/chat/completions`: which requests the API refuses, and what a good one asks for."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from recollect.testing.openai_answers import Refusal
from recollect.testing.openai_schema import Unfit, check_format

ROLES = ("developer", "system", "user", "assistant", "tool", "function")
PARAMETERS = frozenset(
    (
        "model",
        "messages",
        "max_tokens",
        "max_completion_tokens",
        "temperature",
        "top_p",
        "n",
        "stream",
        "stream_options",
        "stop",
        "response_format",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "seed",
        "user",
        "logprobs",
        "top_logprobs",
        "logit_bias",
        "presence_penalty",
        "verbosity",
        "frequency_penalty",
        "reasoning_effort",
        "store",
        "metadata",
        "service_tier",
        "modalities",
        "prediction",
        "prompt_cache_key",
        "prompt_cache_retention",
        "safety_identifier",
    )
)
HIGHEST_TEMPERATURE = 2


def check_chat(body: Mapping[str, Any], refused: Sequence[str], *, knows_schema: bool) -> None:
    """Raises what the API answers to a request that breaks a rule. `refused`: parameters this model does not take."""
    for name in body:
        if name not in PARAMETERS:
            raise Refusal(f"Unrecognized request argument supplied: {name}", param=name)
    for name in refused:
        if name in body:
            instead = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
            message = f"Unsupported parameter: '{name}' is not supported with this model.{instead}"
            raise Refusal(message, code="unsupported_parameter", param=name)
    if not isinstance(body.get("model"), str):
        raise Refusal("you must provide a model parameter")
    _check_messages(body.get("messages"))
    _check_calls(cast(list[dict[str, Any]], body["messages"]))
    _check_tools(body.get("tools"))
    _check_numbers(body)
    _check_format(body, knows_schema)
    if "stream_options" in body and not body.get("stream"):
        raise Refusal(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.", param="stream_options"
        )


def _check_messages(messages: object) -> None:
    if not isinstance(messages, list) or not messages:
        raise Refusal("Invalid 'messages': empty array. Expected an array with minimum length 1.", param="messages")
    for number, given in enumerate(cast(list[object], messages)):
        place = f"messages[{number}]"
        if not isinstance(given, dict):
            raise Refusal(f"Invalid type for '{place}': expected an object.", param=place)
        message = cast(dict[str, Any], given)
        if message.get("role") not in ROLES:
            raise Refusal(f"Invalid value for '{place}.role': {message.get('role')!r}.", param=f"{place}.role")
        content = message.get("content")
        is_call = message["role"] == "assistant" and message.get("tool_calls")
        if not isinstance(content, str | list) and not is_call:
            raise Refusal(f"Invalid value for '{place}.content': expected a string.", param=f"{place}.content")


def _check_calls(messages: Sequence[Mapping[str, Any]]) -> None:
    """Each call is answered right behind it, and each answer has its call."""
    waiting: set[str] = set()
    for number, message in enumerate(messages):
        place = f"messages[{number}]"
        if message["role"] == "tool":
            if message.get("tool_call_id") not in waiting:
                raise Refusal(
                    f"Invalid parameter: {place} with role 'tool' must be a response to a preceding message with "
                    "'tool_calls'.",
                    param=place,
                )
            waiting.discard(message["tool_call_id"])
            continue
        _check_none_waits(waiting)
        for call in cast(list[dict[str, Any]], message.get("tool_calls") or []):
            if not isinstance(call.get("function", {}).get("arguments"), str) or not call.get("id"):
                raise Refusal(f"Invalid type for '{place}.tool_calls'.", param=f"{place}.tool_calls")
            waiting.add(call["id"])
    _check_none_waits(waiting)


def _check_none_waits(waiting: set[str]) -> None:
    if waiting:
        raise Refusal(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following did not have response messages: {', '.join(sorted(waiting))}",
            param="messages",
        )


def _check_tools(tools: object) -> None:
    if tools is None:
        return
    if not isinstance(tools, list) or not tools:
        raise Refusal("Invalid 'tools': empty array. Expected an array with minimum length 1.", param="tools")
    for number, tool in enumerate(cast(list[dict[str, Any]], tools)):
        function = cast(dict[str, Any], tool.get("function") or {})
        if tool.get("type") != "function" or not function.get("name"):
            raise Refusal(f"Missing required parameter: 'tools[{number}].function.name'.", param="tools")
        if cast(dict[str, Any], function.get("parameters") or {}).get("type") != "object":
            message = f"Invalid schema for function '{function['name']}': schema must be of type 'object'."
            raise Refusal(message, code="invalid_function_parameters", param=f"tools[{number}].function.parameters")


def _check_numbers(body: Mapping[str, Any]) -> None:
    if "max_tokens" in body and "max_completion_tokens" in body:
        raise Refusal("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
    limit = limit_of(body)
    if limit is not None and (type(limit) is not int or limit < 1):
        raise Refusal(f"Invalid 'max_tokens': integer below minimum value. Got {limit!r}.", param="max_tokens")
    temperature = body.get("temperature")
    if temperature is not None and not 0 <= temperature <= HIGHEST_TEMPERATURE:
        raise Refusal(f"Invalid 'temperature': {temperature!r} is not from 0 to 2.", param="temperature")
    if body.get("n") not in (None, 1):
        raise Refusal("This test server makes one choice: 'n' must be 1.", param="n")


def _check_format(body: Mapping[str, Any], knows_schema: bool) -> None:
    given = body.get("response_format")
    if given is None:
        return
    kind = cast(dict[str, Any], given).get("type") if isinstance(given, dict) else None
    known = ("text", "json_object", "json_schema") if knows_schema else ("text", "json_object")
    if kind not in known:
        message = f"Invalid value: {kind!r}. Supported values of 'response_format.type' are: {', '.join(known)}."
        raise Refusal(message, param="response_format.type")
    if kind == "json_object" and "json" not in messages_text(body["messages"]).lower():
        message = (
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
        )
        raise Refusal(message, param="messages")
    if kind == "json_schema":
        try:
            check_format(cast(dict[str, Any], given).get("json_schema") or {})
        except Unfit as unfit:
            raise Refusal(str(unfit), param="response_format") from unfit


def limit_of(body: Mapping[str, Any]) -> int | None:
    return body.get("max_completion_tokens", body.get("max_tokens"))


def schema_of(body: Mapping[str, Any]) -> dict[str, Any] | None:
    given = cast(dict[str, Any], body.get("response_format") or {})
    return given["json_schema"]["schema"] if given.get("type") == "json_schema" else None


def messages_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """All that the model reads, as one text: what is counted, and compared by the simulated cache."""
    return "".join(f"<{one['role']}>{_content(one.get('content'))}{_calls(one)}" for one in messages)


def _calls(message: Mapping[str, Any]) -> str:
    return json.dumps(message["tool_calls"], ensure_ascii=False) if message.get("tool_calls") else ""


def _content(content: object) -> str:
    if content is None:
        return ""
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
