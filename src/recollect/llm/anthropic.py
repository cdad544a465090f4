"""Models of Anthropic, through the official SDK.

Every answer is streamed: so no length of an answer needs another way, one that never ends is noticed, and nothing is
parsed before all of it is known to be small. The API holds the model to the schema; an answer that is none of it all
the same is shown to the model once more, with what is wrong.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from recollect.errors import Invalid, Unavailable
from recollect.llm.answers import NotAsAsked, read_answer
from recollect.llm.anthropic_access import Access, sendable
from recollect.llm.model import BadReply, CutOff, Refused, Reply, T, Usage
from recollect.llm.schemas import strict_schema
from recollect.logs import quoted
from recollect.tokens import estimate, of_bytes

if TYPE_CHECKING:
    from anthropic.types import MessageParam

MOST_CHARACTERS = 1_000_000
"""Of an answer. A longer one is refused before anything is made of it."""
MOST_SHOWN_AGAIN = 20_000
"""Characters of a wrong answer that are shown to the model once more."""
ATTEMPTS = 2
"""At a stream that breaks off: the SDK begins anew only before its start."""
REPAIR = (
    "That answer cannot be used:\n{complaint}\n\nGive the whole answer again with this put right, as one JSON object "
    "without any other text. Its schema is:\n{schema}"
)


class AnthropicModel:
    """A `ChatModel`. `base_url`: a server that speaks the same API; empty: Anthropic's own."""

    def __init__(self, model: str, key: str, *, base_url: str = "", timeout_seconds: float = 600) -> None:
        """`timeout_seconds` is for all of an answer, with the SDK's waits."""
        self._access = Access(model, key, base_url, timeout_seconds, part="librarian")
        self._model = model
        self._timeout_seconds = timeout_seconds

    @property
    def name(self) -> str:
        return self._access.name

    @property
    def is_paid(self) -> bool:
        return not self._access.is_own

    async def complete(self, system: str, prompt: str, schema: type[T], *, most_output_tokens: int = 8_000) -> Reply[T]:
        shape = strict_schema(schema.model_json_schema())
        request = self._request(system, shape, most_output_tokens)
        talk: list[MessageParam] = [{"role": "user", "content": sendable(prompt)}]
        first = await self._ask(request, talk)
        try:
            return self._reply(first, read_answer(first.text, schema), first.usage)
        except NotAsAsked as wrong:
            talk += _mending(first.text, wrong.complaint, shape)
        second = await self._ask_again(request, talk, first.usage)
        spent = first.usage + second.usage
        try:
            return self._reply(second, read_answer(second.text, schema), spent)
        except NotAsAsked as wrong:
            raise BadReply(
                f"{self.name} answered twice what is no {schema.__name__}:\n{wrong.complaint}", spent
            ) from None

    async def close(self) -> None:
        await self._access.close()

    def _request(self, system: str, shape: dict[str, Any], most_output_tokens: int) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self._model,
            "max_tokens": most_output_tokens,
            "output_config": {"format": {"type": "json_schema", "schema": shape}},
        }
        if system.strip():  # The same for every conversation: paid in full once, then read from the cache.
            mark = {"type": "ephemeral"}
            request["system"] = [{"type": "text", "text": sendable(system), "cache_control": mark}]
        return request

    async def _ask_again(self, request: dict[str, Any], talk: "list[MessageParam]", spent: Usage) -> "_Answer":
        try:
            return await self._ask(request, talk)
        except BadReply as error:
            error.usage = spent + error.usage
            raise
        except (Unavailable, Invalid) as error:  # The first answer was paid for: that must not be lost.
            raise BadReply(f"{self.name} answered wrongly, and could not be asked again: {error}", spent) from None

    async def _ask(self, request: dict[str, Any], talk: "list[MessageParam]") -> "_Answer":
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return await self._attempts(request, talk)
        except TimeoutError:
            raise Unavailable(
                f"{self.name} gave no answer in {self._timeout_seconds:g} seconds. It is tried again later."
            ) from None

    async def _attempts(self, request: dict[str, Any], talk: "list[MessageParam]") -> "_Answer":
        lost = Usage()
        for attempt in range(ATTEMPTS):
            answer = _Answer(sum(estimate(str(turn["content"])) for turn in talk))
            try:
                await self._stream(request, talk, answer)
            except Unavailable:
                if not answer.is_begun or attempt + 1 == ATTEMPTS:
                    raise
                lost += answer.usage
                continue
            except BadReply as error:
                error.usage = lost + answer.usage
                raise
            answer.lost = lost
            self._check_end(answer)
            return answer
        raise AssertionError("the last attempt returns or raises")

    async def _stream(self, request: dict[str, Any], talk: "list[MessageParam]", answer: "_Answer") -> None:
        import httpx2
        from anthropic import APIError

        from recollect.llm.anthropic_session import TooLong, explained

        try:
            stream = await self._access.connected().messages.create(**request, messages=talk, stream=True)
            async with stream:
                async for event in stream:
                    answer.take(event.to_dict(warnings=False))
                    if answer.characters > MOST_CHARACTERS:
                        raise TooLong
            if answer.is_begun and not answer.is_ended:
                raise Unavailable(f"{self.name} broke off in its answer. It is tried again later.")
        except TooLong:
            raise BadReply(f"{self.name} answered more than {MOST_CHARACTERS:,} characters; it was not read.") from None
        except (APIError, httpx2.TransportError) as error:
            raise explained(error, self._access) from None
        except (ValueError, AttributeError, TypeError, RecursionError):  # From the SDK, at what the API never sends.
            raise BadReply(f"{self.name} sent what is no answer of Anthropic's API. Check the address.") from None

    def _check_end(self, answer: "_Answer") -> None:
        if not answer.is_begun:
            raise BadReply(
                f"{self.name} sent no answer. Check that the address is one of Anthropic's API.", answer.usage
            )
        if answer.stop_reason == "refusal":
            raise Refused(f"{self.name} would not answer{answer.refusal}", answer.usage)
        if answer.stop_reason in ("max_tokens", "model_context_window_exceeded"):
            written = answer.usage.output_tokens
            raise CutOff(f"{self.name} reached the limit of its answer after {written} tokens.", answer.usage)

    def _reply(self, answer: "_Answer", value: T, usage: Usage) -> Reply[T]:
        return Reply(value=value, text=answer.text, usage=usage, model=answer.model or self._model)


class _Answer:
    """What the events of a stream have said so far."""

    def __init__(self, input_estimate: int) -> None:
        self._parts: list[str] = []
        self._told: dict[str, int] = {"input_tokens": input_estimate}
        self.characters = 0
        self.lost = Usage()
        """What an attempt that broke off had cost."""
        self.model = ""
        self.stop_reason = ""
        self.refusal = ""
        self.is_begun = False
        self.is_ended = False

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def usage(self) -> Usage:
        told = self._told
        cached, written = told.get("cache_read_input_tokens", 0), told.get("cache_creation_input_tokens", 0)
        return self.lost + Usage(
            input_tokens=told["input_tokens"] + written + cached,
            cached_tokens=cached,
            written_tokens=written,
            # While it writes, the API has told only of the first.
            output_tokens=max(told.get("output_tokens", 0), 0 if self.is_ended else of_bytes(self.characters)),
            calls=1,
        )

    def take(self, event: Mapping[str, Any]) -> None:
        match event.get("type"):
            case "message_start":
                message = _mapping(event.get("message"))
                self.is_begun = True
                self.model = str(message.get("model") or "")
                self._count(message.get("usage"))
            case "content_block_start":
                self._write(_mapping(event.get("content_block")))
            case "content_block_delta":
                self._write(_mapping(event.get("delta")))
            case "message_delta":
                self._count(event.get("usage"))
                self._stop(_mapping(event.get("delta")))
            case "message_stop":
                self.is_ended = True
            case _:
                pass  # The API adds events now and then.

    def _write(self, part: Mapping[str, Any]) -> None:
        text = part.get("text")
        if part.get("type") in ("text", "text_delta") and isinstance(text, str):
            self._parts.append(text)
            self.characters += len(text)

    def _count(self, usage: object) -> None:
        """Totals so far: a later one replaces an earlier."""
        for name, value in _mapping(usage).items():
            if isinstance(value, int) and value >= 0:
                self._told[name] = value

    def _stop(self, delta: Mapping[str, Any]) -> None:
        self.stop_reason = str(delta.get("stop_reason") or "")
        details = _mapping(delta.get("stop_details"))
        said = [str(details[name]) for name in ("category", "explanation") if details.get(name)]
        self.refusal = f" ({quoted(': '.join(said)[:300])})" if said else ""


def _mending(text: str, complaint: str, shape: dict[str, Any]) -> "list[MessageParam]":
    asked = REPAIR.format(complaint=complaint, schema=json.dumps(shape, ensure_ascii=False))
    mending: list[MessageParam] = [{"role": "user", "content": asked}]
    if text.strip():  # The API refuses an empty turn.
        mending.insert(0, {"role": "assistant", "content": text[:MOST_SHOWN_AGAIN].rstrip()})
    return mending


def _mapping(value: object) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}
