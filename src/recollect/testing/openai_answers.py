"""What a server of OpenAI's kind answers: completions whole and streamed, errors, and the steps of a script."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from recollect.testing.loopback import Response, as_json

CREATED = 1_772_452_800
"""A fixed time: the same requests give the same answers."""
PIECE_CHARACTERS = 7
"""Of a streamed text. Odd, so that pieces end inside of words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The use of a tool."""

    name: str
    given: Mapping[str, Any] | str
    """A text is sent as it is, whether it is JSON or not."""
    id: str | None = ""
    """Empty: the server makes one. None: it leaves it out, as some do."""
    namespace: str = ""
    """Of responses only: the group that the tool stands in, such as `mcp__recollect` for Codex."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A step of a script: what the model says, and how."""

    text: str | None = ""
    calls: tuple[Call, ...] = ()
    after: str = ""
    """Text behind the calls."""
    thoughts: str = ""
    is_in_snapshots: bool = False
    """A stream says all so far each time, not what is new."""
    says_done: bool = True
    """False: a stream just ends."""
    finish_reason: str = ""
    """Empty: `stop`, `tool_calls`, or `length` where the text had to be cut."""
    refusal: str | None = None
    wait_seconds: float = 0
    pause_seconds: float = 0
    """Before each piece of a stream."""
    hang_up_after: int | None = None
    """Pieces of a stream after which the line breaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A step of a script: the request is refused, or the server fails."""

    status: int = 500
    message: str = "The server had an error while processing your request."
    code: str | None = None
    param: str | None = None
    kind: str = ""
    """Empty: `invalid_request_error` below 500, else `server_error`."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def response(self) -> Response:
        kind = self.kind or ("invalid_request_error" if self.status < 500 else "server_error")
        said = {"message": self.message, "type": kind, "param": self.param, "code": self.code}
        return as_json({"error": said}, self.status, {"x-request-id": "req_fault", **self.headers})


class Refusal(Exception):
    """A rule of the API was broken."""

    def __init__(self, message: str, *, status: int = 400, code: str | None = None, param: str | None = None) -> None:
        super().__init__(message)
        self.fault = Fault(status=status, message=message, code=code, param=param)


def rate_limited(milliseconds: int = 20) -> Fault:
    return Fault(
        status=429,
        message="Rate limit reached for requests. Please try again later.",
        code="rate_limit_exceeded",
        kind="requests",
        headers={"retry-after-ms": str(milliseconds), "retry-after": str(-(-milliseconds // 1000))},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One answer with all that is around it, before it is put on the line."""

    number: int
    model: str
    answer: Answer
    text: str | None
    finish_reason: str
    usage: Mapping[str, Any] | None

    @property
    def id(self) -> str:
        return f"chatcmpl-{self.number:08d}"

    def whole(self) -> Response:
        message = self._message(self.text, self._calls(), self.answer.after)
        choice: dict[str, Any] = {"index": 0, "message": message, "logprobs": None, "finish_reason": self.finish_reason}
        body: dict[str, Any] = {**self._head("chat.completion"), "choices": [choice]}
        if self.usage is not None:
            body["usage"] = self.usage
        made = as_json(body, headers={"x-request-id": f"req_{self.number:08d}"})
        return Response(
            body=made.body,
            headers=made.headers,
            wait_seconds=self.answer.wait_seconds,
            hang_up_after=self.answer.hang_up_after,
        )

    def streamed(self, *, with_usage: bool) -> Response:
        return Response(
            body=self._events(with_usage),
            headers={"content-type": "text/event-stream; charset=utf-8", "x-request-id": f"req_{self.number:08d}"},
            wait_seconds=self.answer.wait_seconds,
            pause_seconds=self.answer.pause_seconds,
            hang_up_after=self.answer.hang_up_after,
        )

    def _events(self, with_usage: bool) -> Iterator[bytes]:
        yield from self._snapshots() if self.answer.is_in_snapshots else self._increments()
        if with_usage and self.usage is not None:
            yield event({**self._head("chat.completion.chunk"), "choices": [], "usage": self.usage})
        if self.answer.says_done:
            yield b"data: [DONE]\n\n"

    def _increments(self) -> Iterator[bytes]:
        yield self._chunk({"role": "assistant", "content": None if self.text is None else "", "refusal": None})
        for piece in pieces_of(self.answer.thoughts):
            yield self._chunk({"reasoning_content": piece})
        for piece in pieces_of(self.text or ""):
            yield self._chunk({"content": piece})
        for index, call in enumerate(self._calls()):
            arguments = call["function"]["arguments"]
            begun: dict[str, Any] = {"index": index, **call, "function": {**call["function"], "arguments": ""}}
            yield self._chunk({"tool_calls": [begun]})
            for piece in pieces_of(arguments):
                yield self._chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        for piece in pieces_of(self.answer.after):
            yield self._chunk({"content": piece})
        for piece in pieces_of(self.answer.refusal or ""):
            yield self._chunk({"refusal": piece})
        yield self._chunk({}, self.finish_reason)

    def _snapshots(self) -> Iterator[bytes]:
        calls, text = self._calls(), self.text or ""
        for end in range(0, len(text) + PIECE_CHARACTERS, PIECE_CHARACTERS):
            yield self._snapshot(self._message(text[:end], [], ""))
        for number in range(1, len(calls) + 1):
            yield self._snapshot(self._message(text, calls[:number], ""))
        for end in range(0, len(self.answer.after) + PIECE_CHARACTERS, PIECE_CHARACTERS):
            yield self._snapshot(self._message(text, calls, self.answer.after[:end]))
        yield self._snapshot(self._message(text, calls, self.answer.after), self.finish_reason)

    def _calls(self) -> list[dict[str, Any]]:
        return [self._call(number, call) for number, call in enumerate(self.answer.calls)]

    def _call(self, number: int, call: Call) -> dict[str, Any]:
        given = call.given if isinstance(call.given, str) else json.dumps(call.given, ensure_ascii=False)
        made: dict[str, Any] = {"type": "function", "function": {"name": call.name, "arguments": given}}
        return made if call.id is None else {"id": call.id or f"call_{self.number:08d}_{number}", **made}

    def _message(self, text: str | None, calls: list[dict[str, Any]], after: str) -> dict[str, Any]:
        content = (text or "") + after if after else text
        message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": self.answer.refusal}
        return message | ({"tool_calls": calls} if calls else {}) | {"annotations": []}

    def _snapshot(self, message: dict[str, Any], finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason}
        return event({**self._head("chat.completion.chunk"), "choices": [choice]})

    def _chunk(self, delta: Mapping[str, Any], finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return event({**self._head("chat.completion.chunk"), "choices": [choice]})

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": CREATED, "model": self.model, "system_fingerprint": "fp_test"}


def pieces_of(text: str) -> Iterator[str]:
    for begin in range(0, len(text), PIECE_CHARACTERS):
        yield text[begin : begin + PIECE_CHARACTERS]


def event(value: Mapping[str, Any], name: str = "") -> bytes:
    """One event of a stream. Chat completions have no names, responses do."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()
