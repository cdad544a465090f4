"""Any server that speaks OpenAI's chat completions: OpenAI, Ollama, llama.cpp, vLLM, LM Studio, OpenRouter and others.

They agree on less than they say. So the adapter asks for what is best, a schema that the server holds the model to, and
does without what a server refuses or ignores: then the schema stands in the prompt, and pydantic alone decides. What a
server was found not to take is remembered as long as the session lasts.
"""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from recollect.errors import Invalid, Unavailable
from recollect.llm.answers import NotAsAsked, object_text, read_answer
from recollect.llm.endpoint import Endpoint, Unwanted, Wait
from recollect.llm.model import BadReply, CutOff, Refused, Reply, T, Usage
from recollect.llm.schemas import strict_schema
from recollect.logs import quoted
from recollect.tokens import estimate

if TYPE_CHECKING:
    from pydantic import BaseModel

FORMAT, LIMIT, TEMPERATURE = "response_format", "max_tokens", "temperature"
NAMED_BY = {
    FORMAT: ("response_format", "json_schema", "structured output", "guided"),
    LIMIT: ("max_completion_tokens",),
    TEMPERATURE: ("temperature",),
}
"""Parts of a request that some server refuses, and the words in its refusal: an older one does not know the schema,
OpenAI's reasoning models want `max_completion_tokens` and no temperature."""
MOST_SHOWN_AGAIN = 20_000
"""Characters of a wrong answer that are shown to the model once more."""
MOST_REFUSAL = 300
"""Characters of a refusal that are shown."""

ONLY_JSON = (
    "Answer with one JSON object and nothing else: no sentence before it, no code fence, no comment. It has every "
    "field of this JSON Schema and no other; where there is nothing to say, write null, an empty text or an empty "
    "list, as the schema allows.\n\n"
)
REPAIR = (
    "This answer cannot be used:\n{complaint}\n\n"
    "Write the whole answer once more with that corrected: one JSON object and nothing else."
)

Message = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    text: str
    usage: Usage
    model: str


class OpenAIModel:
    """A `ChatModel`. `base_url` is the part before `/chat/completions`, such as `http://127.0.0.1:11434/v1`."""

    def __init__(
        self, base_url: str, model: str, key: str = "", *, timeout_seconds: float = 600, wait: Wait = asyncio.sleep
    ) -> None:
        self._endpoint = Endpoint(base_url, key, timeout_seconds=timeout_seconds, wait=wait)
        if not model:
            raise Invalid(f"{base_url} names no model. Write it after the address: {base_url}#MODEL.")
        self._name = f"{base_url}#{model}"
        self._model = model
        self._refused: set[str] = set()
        """Parts of a request that this server does not take."""

    @property
    def name(self) -> str:
        return self._name

    @property
    def is_paid(self) -> bool:
        return not self._endpoint.is_local

    async def complete(self, system: str, prompt: str, schema: type[T], *, most_output_tokens: int = 8_000) -> Reply[T]:
        talk: list[Message] = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
        first = await self._ask(talk, schema, most_output_tokens)
        try:
            return _reply(first, read_answer(first.text, schema), first.usage)
        except NotAsAsked as wrong:
            if wrong.is_shapeless:
                self._refused.add(FORMAT)
            talk += _mending(first.text, wrong.complaint)
        try:
            second = await self._ask(talk, schema, most_output_tokens)
        except BadReply as error:
            error.usage = first.usage + error.usage
            raise
        except Unavailable as error:  # The first answer was paid for: that must not be lost.
            raise BadReply(
                f"{self._name} answered wrongly, and could not be asked again: {error}", first.usage
            ) from error
        spent = first.usage + second.usage
        try:
            return _reply(second, read_answer(second.text, schema), spent)
        except NotAsAsked as wrong:
            raise BadReply(
                f"{self._name} answered twice what is no {schema.__name__}:\n{wrong.complaint}\n"
                "A larger model keeps to it better.",
                spent,
            ) from None

    async def close(self) -> None:
        await self._endpoint.close()

    async def _ask(self, talk: Sequence[Message], schema: "type[BaseModel]", most_output_tokens: int) -> _Answer:
        while True:
            body = self._body(talk, schema, most_output_tokens)
            optional = {part: words for part, words in NAMED_BY.items() if part not in self._refused}
            try:
                found = await self._endpoint.post("/chat/completions", body, optional)
            except Unwanted as unwanted:
                self._refused.add(unwanted.part)
                continue
            except BadReply as error:
                error.usage += Usage(input_tokens=_input_estimate(body), calls=1)
                raise
            return self._answer(found, body)

    def _body(self, talk: Sequence[Message], schema: "type[BaseModel]", most_output_tokens: int) -> dict[str, Any]:
        shape = strict_schema(schema.model_json_schema())
        body: dict[str, Any] = {"model": self._model, "messages": list(talk)}
        body["max_completion_tokens" if LIMIT in self._refused else LIMIT] = most_output_tokens
        if TEMPERATURE not in self._refused:
            body[TEMPERATURE] = 0
        if FORMAT in self._refused:
            # Behind the system prompt, which is the same for every conversation: so a server's cache keeps both.
            told = f"{talk[0]['content']}\n\n{ONLY_JSON}{json.dumps(shape, ensure_ascii=False)}"
            body["messages"] = [{"role": "system", "content": told.strip()}, *talk[1:]]
        else:
            named = {"name": re.sub(r"[^A-Za-z0-9_-]", "_", schema.__name__)[:64], "schema": shape, "strict": True}
            body[FORMAT] = {"type": "json_schema", "json_schema": named}
        return body

    def _answer(self, found: Mapping[str, Any], body: Mapping[str, Any]) -> _Answer:
        choice = first_of(found.get("choices"))
        message = mapping(choice.get("message"))
        text = text_of(message.get("content"))
        usage = usage_of(mapping(found.get("usage")), _input_estimate(body), estimate(text))
        if not choice:
            raise BadReply(f"{self._name} answered without a choice. Check that it is a chat endpoint.", usage)
        if (refusal := message.get("refusal")) or choice.get("finish_reason") == "content_filter":
            said = f": {quoted(str(refusal)[:MOST_REFUSAL])}" if refusal else " (its content filter)"
            raise Refused(f"{self._name} would not answer{said}", usage)
        if choice.get("finish_reason") == "length":
            raise CutOff(f"{self._name} reached the limit of its answer after {usage.output_tokens} tokens.", usage)
        model = found.get("model")
        return _Answer(text=text, usage=usage, model=model if isinstance(model, str) and model else self._model)


def _reply(answer: _Answer, value: T, usage: Usage) -> Reply[T]:
    return Reply(value=value, text=object_text(answer.text), usage=usage, model=answer.model)


def _mending(text: str, complaint: str) -> list[Message]:
    asked = {"role": "user", "content": REPAIR.format(complaint=complaint)}
    # Servers refuse an empty turn.
    return [{"role": "assistant", "content": text[:MOST_SHOWN_AGAIN]}, asked] if text.strip() else [asked]


def text_of(content: object) -> str:
    """Most answer a text, some a list of parts."""
    if isinstance(content, list):
        parts = [mapping(part) for part in cast(list[object], content)]
        return "".join(str(part.get("text") or "") for part in parts if part.get("type") == "text")
    return content if isinstance(content, str) else ""


def usage_of(told: Mapping[str, Any], input_estimate: int, output_estimate: int) -> Usage:
    """What the server counted; where it says nothing, or nonsense, our estimate."""
    input_tokens = _count(told.get("prompt_tokens"), input_estimate)
    details = mapping(told.get("prompt_tokens_details"))
    cached = _count(details.get("cached_tokens", told.get("prompt_cache_hit_tokens")), 0)
    cost = told.get("cost")
    return Usage(
        input_tokens=input_tokens,
        cached_tokens=min(cached, input_tokens),
        written_tokens=min(_count(details.get("cache_write_tokens"), 0), input_tokens),
        output_tokens=_count(told.get("completion_tokens"), output_estimate),
        calls=1,
        dollars=float(cost) if isinstance(cost, int | float) and cost >= 0 else None,
    )


def _count(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else otherwise


def _input_estimate(body: Mapping[str, Any]) -> int:
    return sum(estimate(str(message["content"])) for message in body["messages"])


def first_of(choices: object) -> Mapping[str, Any]:
    return mapping(cast(list[object], choices)[0]) if isinstance(choices, list) and choices else {}


def mapping(value: object) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], value) if isinstance(value, dict) else {}
