"""What a script of an `AnthropicServer` is made of: answers of a model, and what goes wrong instead.

server.script(
    say("Good morning."),
    use_tool("weather", {"city": "Oslo"}),
    fail(429, retry_after_ms=20),
    replace(say("never heard to its end"), hang_up_after=4),
)
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

__all__ = [
    "Answer",
    "ApiError",
    "Block",
    "cut_off",
    "fail",
    "refuse",
    "replace",
    "say",
    "say_json",
    "think",
    "use_tool",
]

Block: TypeAlias = dict[str, Any]

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
FIRST_SERVER_ERROR = 500


class ApiError(Exception):
    """A refusal of the API: raised by its rules, or written into a script."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str = "",
        headers: Mapping[str, str] | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})
        self.details = {**({"error_code": code} if code else {}), **(details or {})}

    def body(self, request_id: str) -> dict[str, Any]:
        usual = "api_error" if self.status >= FIRST_SERVER_ERROR else "invalid_request_error"
        error: dict[str, Any] = {"type": ERROR_TYPES.get(self.status, usual), "message": self.message}
        if self.details:
            error["details"] = self.details
        return {"type": "error", "error": error, "request_id": request_id}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One turn of the model. The server gives ids, signatures and usage, and cuts at `max_tokens`."""

    blocks: tuple[Block, ...] = ()
    """At a request to compact: one text block is the summary, none is a summary that failed."""
    stop_reason: str = ""
    """Empty: follows from the blocks."""
    stop_details: Mapping[str, Any] | None = None
    obeys_limit: bool = True
    """False: longer than `max_tokens` allows."""
    wait_seconds: float = 0
    """Before the answer begins."""
    pause_seconds: float = 0
    """Before each event of a stream."""
    hang_up_after: int | None = None
    """Events of a stream after which the line breaks. In JSON there is one piece: the body."""
    error_after: int | None = None
    """Events of a stream after which `error` is sent as an event. In JSON the answer is that error."""
    error: ApiError = field(default_factory=lambda: ApiError(529, "Overloaded"))

    def __add__(self, other: "Answer") -> "Answer":
        """One turn with the blocks of both: `think("…") + use_tool("…", {})`."""
        return replace(other, blocks=self.blocks + other.blocks)


def say(text: str) -> Answer:
    return Answer(blocks=({"type": "text", "text": text},))


def say_json(value: object) -> Answer:
    return say(json.dumps(value, ensure_ascii=False))


def think(thoughts: str) -> Answer:
    return Answer(blocks=({"type": "thinking", "thinking": thoughts},))


def use_tool(name: str, arguments: Mapping[str, Any]) -> Answer:
    return Answer(blocks=({"type": "tool_use", "name": name, "input": dict(arguments)},))


def refuse(category: str | None = "general_harms", explanation: str | None = None) -> Answer:
    details = {"type": "refusal", "category": category, "explanation": explanation}
    return Answer(stop_reason="refusal", stop_details=details)


def cut_off(text: str) -> Answer:
    """What came before the limit of the length, whatever the limit is."""
    return replace(say(text), stop_reason="max_tokens")


def fail(
    status: int,
    message: str = "",
    *,
    code: str = "",
    retry_after_ms: int | None = None,
    retry_after_seconds: int | None = None,
    should_retry: bool | None = None,
) -> ApiError:
    headers: dict[str, str] = {}
    if retry_after_ms is not None:
        headers["retry-after-ms"] = str(retry_after_ms)
    if retry_after_seconds is not None:
        headers["retry-after"] = str(retry_after_seconds)
    if should_retry is not None:
        headers["x-should-retry"] = str(should_retry).lower()
    return ApiError(status, message or ERROR_TYPES.get(status, "error"), code=code, headers=headers)
