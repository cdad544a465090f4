"""A server on this computer that speaks OpenAI's API, for tests: chat completions, responses, models.

It refuses what the API refuses, so that a mistake shows in a test and not with a user; it counts tokens the same way
every time; and it does what a script says: answers, refusals, cut-offs, faults, broken lines. Switches make it behave
like the many servers that speak only a part of the API.

    with OpenAIServer() as server:
        server.script("a text", {"title": "as JSON"}, rate_limited(), Answer(refusal="no"))
        client = openai.OpenAI(base_url=server.base_url, api_key="any")
"""

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, cast

from recollect.testing.loopback import LoopbackServer, Request, Response, as_json
from recollect.testing.openai_answers import CREATED, Answer, Call, Completion, Fault, Refusal, rate_limited
from recollect.testing.openai_requests import check_chat, limit_of, messages_text, schema_of
from recollect.testing.openai_responses import answer_of_responses, check_responses, responses_schema, responses_text
from recollect.testing.openai_schema import plain_value
from recollect.tokens import BYTES_PER_TOKEN, estimate

__all__ = ["Answer", "Call", "Fault", "OpenAIServer", "SchemaSupport", "rate_limited"]

CACHE_FROM_TOKENS = 1024
CACHE_STEP_TOKENS = 128
"""As OpenAI caches: prefixes from 1,024 tokens on, in steps of 128."""
PLAIN_ANSWER = "All is well."


class SchemaSupport(StrEnum):
    """What becomes of `response_format` with a schema."""

    ENFORCED = "enforced"
    UNKNOWN = "unknown"
    """Refused with a status of 400, as by servers that have only JSON mode."""
    IGNORED = "ignored"
    """Taken and not looked at: the worst kind."""


class OpenAIServer(LoopbackServer):
    """Steps of a script: a text, an object (a pydantic one or a mapping, sent as JSON), an `Answer`, a `Fault`, a
    `Response`, or a function from the request to one of these. Without a step it answers the least that is asked."""

    def __init__(
        self,
        *,
        key: str = "",
        models: Sequence[str] = ("test-model",),
        schemas: SchemaSupport = SchemaSupport.ENFORCED,
        refused: Sequence[str] = (),
        tells_usage: bool = True,
    ) -> None:
        """`key`: empty takes any, also none. `refused`: parameters that this model does not take, such as
        `max_tokens` and `temperature` for a reasoning model."""
        super().__init__()
        self._key = key
        self._models = tuple(models)
        self.schemas = schemas
        self._refused = tuple(refused)
        self._tells_usage = tells_usage
        self._numbers = itertools.count(1)
        self._seen: list[str] = []
        """Prompts that the simulated cache holds."""

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def answer(self, request: Request) -> Response:
        try:
            self._check_key(request)
            route = (request.method, request.path.rstrip("/"))
            if route == ("POST", "/v1/chat/completions"):
                return self._chat(request)
            if route == ("POST", "/v1/responses"):
                return self._responses(request)
            if request.method == "GET" and request.path.startswith("/v1/models"):
                return self._listed(request.path.removeprefix("/v1/models").strip("/"))
            raise Refusal(f"Invalid URL ({request.method} {request.path})", status=404)
        except Refusal as refusal:
            return refusal.fault.response()

    def _check_key(self, request: Request) -> None:
        given = request.headers.get("authorization", "")
        if self._key and not given:
            raise Refusal("You didn't provide an API key.", status=401)
        if self._key and given != f"Bearer {self._key}":
            shown = given.removeprefix("Bearer ")  # The real one masks only a part of it.
            raise Refusal(f"Incorrect API key provided: {shown}.", status=401, code="invalid_api_key")

    def _listed(self, name: str) -> Response:
        models = [{"id": one, "object": "model", "created": CREATED, "owned_by": "tests"} for one in self._models]
        if not name:
            return as_json({"object": "list", "data": models})
        self._check_model(name)
        return as_json(next(one for one in models if one["id"] == name))

    def _check_model(self, name: object) -> None:
        if name not in self._models:
            message = f"The model '{name}' does not exist or you do not have access to it."
            raise Refusal(message, status=404, code="model_not_found", param="model")

    def _chat(self, request: Request) -> Response:
        body = _object(request)
        check_chat(body, self._refused, knows_schema=self.schemas is not SchemaSupport.UNKNOWN)
        self._check_model(body["model"])
        prompt = messages_text(body["messages"])
        made = self._made(request, body, prompt, schema_of(body), limit_of(body))
        if isinstance(made, Response):
            return made
        options = cast(dict[str, Any], body.get("stream_options") or {})
        if body.get("stream"):
            return made.streamed(with_usage=bool(options.get("include_usage")))
        return made.whole()

    def _responses(self, request: Request) -> Response:
        body = _object(request)
        check_responses(body)
        self._check_model(body["model"])
        schema = responses_schema(body)
        made = self._made(request, body, responses_text(body), schema, body.get("max_output_tokens"))
        return made if isinstance(made, Response) else answer_of_responses(made, is_streamed=bool(body.get("stream")))

    def _made(
        self, request: Request, body: Mapping[str, Any], prompt: str, schema: dict[str, Any] | None, limit: int | None
    ) -> Completion | Response:
        step = self.next_step()
        while callable(step):
            step = cast(Callable[[Request], object], step)(request)
        if isinstance(step, Response):
            return step
        if isinstance(step, Fault):
            return step.response()
        answer = self._least(body, schema) if step is None else _answer_of(step)
        text, is_cut = _cut(answer.text, limit)
        return Completion(
            number=next(self._numbers),
            model=str(body["model"]),
            answer=answer,
            text=text,
            finish_reason=answer.finish_reason or ("length" if is_cut else "tool_calls" if answer.calls else "stop"),
            usage=self._usage(prompt, _written(text, answer)) if self._tells_usage else None,
        )

    def _least(self, body: Mapping[str, Any], schema: dict[str, Any] | None) -> Answer:
        if schema is not None and self.schemas is SchemaSupport.ENFORCED:
            return Answer(text=json.dumps(plain_value(schema)))
        kind = cast(dict[str, Any], body.get("response_format") or {}).get("type")
        return Answer(text="{}" if kind == "json_object" else PLAIN_ANSWER)

    def _usage(self, prompt: str, text: str) -> dict[str, Any]:
        known = max((_common(prompt, seen) for seen in self._seen), default=0)
        self._seen.append(prompt)
        cached = estimate(prompt[:known]) // CACHE_STEP_TOKENS * CACHE_STEP_TOKENS
        tokens_in, tokens_out = estimate(prompt), estimate(text)
        return {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
            "prompt_tokens_details": {"cached_tokens": cached if cached >= CACHE_FROM_TOKENS else 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        }


def _object(request: Request) -> dict[str, Any]:
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise Refusal("Unsupported content type. Send 'application/json'.", status=415)
    found = request.body
    if not isinstance(found, dict):
        raise Refusal("We could not parse the JSON body of your request.")
    return cast(dict[str, Any], found)


def _answer_of(step: object) -> Answer:
    if isinstance(step, Answer):
        return step
    if isinstance(step, str):
        return Answer(text=step)
    if isinstance(step, Mapping):
        return Answer(text=json.dumps(dict(cast(Mapping[str, Any], step)), ensure_ascii=False))
    return Answer(text=cast(Any, step).model_dump_json())


def _cut(text: str | None, limit: int | None) -> tuple[str | None, bool]:
    if text is None or limit is None or estimate(text) <= limit:
        return text, False
    return text.encode()[: limit * BYTES_PER_TOKEN].decode(errors="ignore"), True


def _written(text: str | None, answer: Answer) -> str:
    return (text or "") + answer.thoughts + "".join(f"{call.name}{call.given}" for call in answer.calls) + answer.after


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low
