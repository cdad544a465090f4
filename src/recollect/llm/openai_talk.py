"""Models behind OpenAI's chat completions as a mind talks with them: streamed, with tools, on any server that has them.

What a server does not take and a conversation can do without is left out from then on. None of them condenses a
conversation in a way that can be read, and none has a cache that can be kept warm: what they keep, they keep by
themselves.
"""

import asyncio
from typing import Any, cast

from recollect.errors import Invalid
from recollect.llm.endpoint import Endpoint, Unwanted, Wait
from recollect.llm.model import BadReply, Usage
from recollect.llm.openai import mapping
from recollect.llm.openai_messages import messages_of, tools_of
from recollect.llm.openai_reading import Reading
from recollect.llm.talking import Abilities, Answer, Condensed, Hear, Request
from recollect.tokens import estimate

LIMIT, COUNTS, IMAGES = "max_tokens", "stream_options", "images"
NAMED_BY = {
    LIMIT: ("max_completion_tokens",),
    COUNTS: ("stream_options", "include_usage"),
    IMAGES: ("image", "multimodal", "vision"),
}
"""Parts of a request that some server refuses, and the words in its refusal."""

LOOK_SECONDS = 10
"""For what a model can do: nobody shall wait long for that."""
CONTEXTS = ("max_model_len", "context_length", "max_context_length", "context_window", "n_ctx", "n_ctx_train")
"""How servers call the length of what a model reads: vLLM, OpenRouter, Mistral, Groq, llama.cpp (in `meta`)."""
IMAGE_TOKENS = 1_000
"""About what an image is to most models: nobody reads its letters."""


class OpenAITalk:
    """A `TalkModel`. `base_url` is the part before `/chat/completions`, such as `http://127.0.0.1:11434/v1`."""

    def __init__(
        self, base_url: str, model: str, key: str = "", *, timeout_seconds: float = 600, wait: Wait = asyncio.sleep
    ) -> None:
        self._endpoint = Endpoint(base_url, key, timeout_seconds=timeout_seconds, wait=wait, part="mind")
        if not model:
            raise Invalid(f"{base_url} names no model. Write it after the address: {base_url}#MODEL.")
        self._name = f"{base_url}#{model}"
        self._model = model
        self._abilities: Abilities | None = None
        self._refused: set[str] = set()
        """Parts of a request that this server does not take."""

    @property
    def name(self) -> str:
        return self._name

    @property
    def is_paid(self) -> bool:
        return not self._endpoint.is_local

    async def abilities(self) -> Abilities:
        """How much it reads, where its server says so in the list of its models; they differ in the name of it."""
        if self._abilities is None:
            found = await self._endpoint.look("/models", LOOK_SECONDS)
            if found is None:
                return Abilities()
            most = _most_input_tokens(found, self._model)
            self._abilities = Abilities(most_input_tokens=most) if most else Abilities()
        return self._abilities

    async def answer(self, request: Request, hear: Hear) -> Answer:
        used = frozenset(_ids(request))
        while True:
            body = self._body(request)
            try:
                reading = await self._endpoint.stream(
                    "/chat/completions", body, self._optional(request), lambda: Reading(hear, used)
                )
            except Unwanted as unwanted:
                self._refused.add(unwanted.part)
                continue
            except BadReply as error:
                error.usage += Usage(input_tokens=_input_estimate(body), calls=1)
                raise
            if not reading.has_choice:
                usage = reading.usage(_input_estimate(body))
                raise BadReply(f"{self._name} answered without a choice. Check that it is a chat endpoint.", usage)
            return reading.answer(self._model, _input_estimate(body))

    async def condense(self, request: Request, instructions: str) -> Condensed:
        raise Invalid(f"{self._name} condenses no conversation by itself.")

    async def warm(self, request: Request) -> Usage:
        return Usage()

    async def close(self) -> None:
        await self._endpoint.close()

    def _optional(self, request: Request) -> dict[str, tuple[str, ...]]:
        """A refusal that speaks of images is about ours only if there are any."""
        kinds = {block.get("type") for turn in request.turns for block in turn.content}
        left = {part: words for part, words in NAMED_BY.items() if part not in self._refused}
        if "image" not in kinds:
            left.pop(IMAGES, None)
        return left

    def _body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._model, "stream": True}
        if COUNTS not in self._refused:
            body[COUNTS] = {"include_usage": True}
        body["max_completion_tokens" if LIMIT in self._refused else LIMIT] = request.most_output_tokens
        if request.tools:
            body["tools"] = tools_of(request.tools)
        body["messages"] = messages_of(request, sees=IMAGES not in self._refused)
        return body


def _most_input_tokens(found: dict[str, Any], model: str) -> int:
    """0: it does not say."""
    models = found.get("data")
    listed = [mapping(one) for one in cast(list[object], models)] if isinstance(models, list) else []
    for card in (one for one in listed if one.get("id") == model):
        told = [mapping(card.get("meta")).get(name, card.get(name)) for name in CONTEXTS]
        return next((value for value in told if isinstance(value, int) and value > 0), 0)
    return 0


def _ids(request: Request) -> list[str]:
    blocks = [block for turn in request.turns for block in turn.content]
    return [str(block["id"]) for block in blocks if block.get("type") == "tool_use"]


def _input_estimate(body: dict[str, Any]) -> int:
    return sum(
        _estimate(message.get("content")) + estimate(str(message.get("tool_calls") or ""))
        for message in body["messages"]
    )


def _estimate(content: object) -> int:
    if not isinstance(content, list):
        return estimate(str(content or ""))
    parts = cast(list[dict[str, Any]], content)
    return sum(estimate(part["text"]) if part["type"] == "text" else IMAGE_TOKENS for part in parts)
