"""`POST /v1/responses`, as far as a program needs it that asks for a text or lets a model use tools: Codex,
`responses.parse` of the SDK."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from recollect.testing.loopback import Response, as_json
from recollect.testing.openai_answers import CREATED, Call, Completion, Refusal, event, pieces_of
from recollect.testing.openai_schema import Unfit, check_format


def check_responses(body: Mapping[str, Any]) -> None:
    if not isinstance(body.get("model"), str):
        raise Refusal("Missing required parameter: 'model'.", param="model")
    if not body.get("input"):
        raise Refusal("Missing required parameter: 'input'.", param="input")
    _check_calls(body)
    given = _format(body)
    if given.get("type") == "json_schema":
        try:
            check_format(given)
        except Unfit as unfit:
            raise Refusal(str(unfit).replace("response_format", "text.format"), param="text.format") from unfit


def _check_calls(body: Mapping[str, Any]) -> None:
    """Each call has its output behind it, and each output its call before it; calls of `previous_response_id` are not
    seen here."""
    asked: Any = body["input"]
    items = cast(list[dict[str, Any]], asked) if isinstance(asked, list) else []
    waiting: set[str] = set()
    for item in items:
        if item.get("type") == "function_call":
            waiting.add(str(item.get("call_id")))
        elif item.get("type") == "function_call_output" and not body.get("previous_response_id"):
            call_id = str(item.get("call_id"))
            if call_id not in waiting:
                raise Refusal(f"No tool call found for function call output with call_id {call_id}.", param="input")
            waiting.discard(call_id)
    if waiting:
        raise Refusal(f"No tool output found for function call {sorted(waiting)[0]}.", param="input")


def responses_schema(body: Mapping[str, Any]) -> dict[str, Any] | None:
    given = _format(body)
    return given["schema"] if given.get("type") == "json_schema" else None


def responses_text(body: Mapping[str, Any]) -> str:
    """All that the model reads, as one text."""
    asked = body["input"]
    return str(body.get("instructions") or "") + (asked if isinstance(asked, str) else json.dumps(asked))


def _format(body: Mapping[str, Any]) -> dict[str, Any]:
    return cast(dict[str, Any], cast(dict[str, Any], body.get("text") or {}).get("format") or {})


def answer_of_responses(made: Completion, *, is_streamed: bool) -> Response:
    if not is_streamed:
        return Response(
            body=as_json(_whole(made)).body,
            headers={"content-type": "application/json"},
            wait_seconds=made.answer.wait_seconds,
            hang_up_after=made.answer.hang_up_after,
        )
    return Response(
        body=_numbered(_events(made)),
        headers={"content-type": "text/event-stream; charset=utf-8"},
        wait_seconds=made.answer.wait_seconds,
        pause_seconds=made.answer.pause_seconds,
        hang_up_after=made.answer.hang_up_after,
    )


def _whole(made: Completion) -> dict[str, Any]:
    is_cut = made.finish_reason == "length"
    return {
        **_head(made),
        "status": "incomplete" if is_cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "output": _items(made),
        "usage": _usage(made.usage),
    }


def _head(made: Completion) -> dict[str, Any]:
    return {
        "id": f"resp_{made.number:08d}",
        "object": "response",
        "created_at": CREATED,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": made.model,
        "output": [],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": None,
    }


def _message(made: Completion, *, is_empty: bool = False) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "output_text", "text": made.text or "", "annotations": []}
    if made.answer.refusal:
        part = {"type": "refusal", "refusal": made.answer.refusal}
    return {
        "id": f"msg_{made.number:08d}",
        "type": "message",
        "role": "assistant",
        "status": "in_progress" if is_empty else "completed",
        "content": [] if is_empty else [part],
    }


def _usage(told: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if told is None:
        return None
    return {
        "input_tokens": told["prompt_tokens"],
        "input_tokens_details": {"cached_tokens": told["prompt_tokens_details"]["cached_tokens"]},
        "output_tokens": told["completion_tokens"],
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": told["total_tokens"],
    }


def _items(made: Completion) -> list[dict[str, Any]]:
    says = made.text or made.answer.refusal or not made.answer.calls
    calls = [_called(made, number, call) for number, call in enumerate(made.answer.calls)]
    return [_message(made), *calls] if says else calls


def _called(made: Completion, number: int, call: Call) -> dict[str, Any]:
    given = call.given if isinstance(call.given, str) else json.dumps(call.given, ensure_ascii=False)
    item: dict[str, Any] = {
        "id": f"fc_{made.number:08d}_{number}",
        "type": "function_call",
        "status": "completed",
        "name": call.name,
        "arguments": given,
        "call_id": call.id or f"call_{made.number:08d}_{number}",
    }
    return item | ({"namespace": call.namespace} if call.namespace else {})


def _events(made: Completion) -> Iterator[dict[str, Any]]:
    whole = _whole(made)
    yield {"type": "response.created", "response": _head(made)}
    yield {"type": "response.in_progress", "response": _head(made)}
    for index, item in enumerate(whole["output"]):
        yield from _call_events(index, item) if item["type"] == "function_call" else _message_events(made, index)
    yield {"type": f"response.{whole['status']}", "response": whole}


def _message_events(made: Completion, index: int) -> Iterator[dict[str, Any]]:
    message = _message(made)
    place = {"item_id": message["id"], "output_index": index, "content_index": 0}
    kind = "refusal" if made.answer.refusal else "output_text"
    text = made.answer.refusal or made.text or ""
    last: dict[str, Any] = {"refusal": text} if made.answer.refusal else {"text": text, "logprobs": []}
    empty: dict[str, Any] = {"type": kind, "refusal": ""} if made.answer.refusal else {"type": kind, "text": ""}
    yield {"type": "response.output_item.added", "output_index": index, "item": _message(made, is_empty=True)}
    yield {"type": "response.content_part.added", **place, "part": {**empty, "annotations": []}}
    for piece in pieces_of(text):
        yield {"type": f"response.{kind}.delta", **place, "delta": piece, "logprobs": []}
    yield {"type": f"response.{kind}.done", **place, **last}
    yield {"type": "response.content_part.done", **place, "part": message["content"][0]}
    yield {"type": "response.output_item.done", "output_index": index, "item": message}


def _call_events(index: int, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    place = {"item_id": item["id"], "output_index": index}
    begun = {**item, "status": "in_progress", "arguments": ""}
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    for piece in pieces_of(item["arguments"]):
        yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
    done = {"name": item["name"], "arguments": item["arguments"]}
    yield {"type": "response.function_call_arguments.done", **place, **done}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _numbered(events: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    for number, one in enumerate(events):
        yield event({**one, "sequence_number": number}, str(one["type"]))
