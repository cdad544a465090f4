"""A model that answers what a test wrote: at once or late, right or wrong, or not at all.

It does to its answers what a real one does: a text that is not of the schema is a `BadReply`, one longer than allowed
is `CutOff`, and each is paid for.

    model = ScriptedModel([{"title": "A walk"}, Refused("no"), "not JSON"])
    model = ScriptedModel(lambda system, prompt, schema: schema(title=prompt[:5]))
"""

import asyncio
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from recollect.llm.model import BadReply, CutOff, Reply, T, Usage
from recollect.tokens import BYTES_PER_TOKEN, estimate

if TYPE_CHECKING:
    from pydantic import BaseModel

Answer: TypeAlias = "BaseModel | Mapping[str, Any] | str | Exception"
"""An object, its fields, the text as a model would write it, or what goes wrong."""
Script: TypeAlias = "Callable[[str, str, type[Any]], Answer]"
"""(system, prompt, schema) in."""
LOOK_SECONDS = 0.002
"""How often it looks at an event that another thread sets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What it was asked."""

    system: str
    prompt: str
    schema: "type[BaseModel]"
    most_output_tokens: int


class ScriptedModel:
    """A `ChatModel`. A list of answers is used up one by one; a function is asked each time."""

    def __init__(
        self,
        answers: "Sequence[Answer] | Script",
        *,
        name: str = "scripted",
        is_paid: bool = False,
        until: asyncio.Event | threading.Event | None = None,
        obeys_limit: bool = True,
    ) -> None:
        """`until`: no answer before it is set. `obeys_limit`: False for one that writes as much as it likes."""
        self._answers = answers
        self._name = name
        self._is_paid = is_paid
        self._until = until
        self._obeys_limit = obeys_limit
        self.requests: list[Request] = []
        self.answered = 0
        self.closed = 0
        """How often: a session is closed and made anew now and then."""
        self.asked = threading.Event()
        """Set when the first request is there: a test can wait for it while no answer comes."""

    @property
    def name(self) -> str:
        return self._name

    @property
    def is_paid(self) -> bool:
        return self._is_paid

    async def complete(self, system: str, prompt: str, schema: type[T], *, most_output_tokens: int = 8_000) -> Reply[T]:
        request = Request(system=system, prompt=prompt, schema=schema, most_output_tokens=most_output_tokens)
        self.requests.append(request)
        self.asked.set()
        await self._wait()
        answer = self._next(request)
        self.answered += 1
        input_tokens = estimate(system) + estimate(prompt)
        if isinstance(answer, Exception):
            if isinstance(answer, BadReply) and not answer.usage.calls:
                answer.usage = Usage(input_tokens=input_tokens, calls=1)
            raise answer
        text = _written(answer)
        usage = Usage(input_tokens=input_tokens, output_tokens=estimate(text), calls=1)
        if self._obeys_limit and usage.output_tokens > most_output_tokens:
            text = text.encode()[: most_output_tokens * BYTES_PER_TOKEN].decode(errors="ignore")
            cut = Usage(input_tokens=input_tokens, output_tokens=most_output_tokens, calls=1)
            raise CutOff(f"{self._name} ended at {most_output_tokens} tokens: …{text[-40:]!r}.", cut)
        return Reply(value=self._read(text, schema, usage), text=text, usage=usage, model=self._name)

    async def close(self) -> None:
        self.closed += 1

    async def _wait(self) -> None:
        if isinstance(self._until, asyncio.Event):
            await self._until.wait()
        elif self._until is not None:
            while not self._until.is_set():  # noqa: ASYNC110 - the event belongs to another thread
                await asyncio.sleep(LOOK_SECONDS)

    def _next(self, request: Request) -> "Answer":
        if callable(self._answers):
            return self._answers(request.system, request.prompt, request.schema)
        if self.answered >= len(self._answers):
            raise AssertionError(
                f"{self._name} was asked once more than the {len(self._answers)} answers it was given."
            )
        return self._answers[self.answered]

    def _read(self, text: str, schema: type[T], usage: Usage) -> T:
        from pydantic import ValidationError

        try:
            return schema.model_validate_json(text)
        except ValidationError as error:
            raise BadReply(f"{self._name} answered what is no {schema.__name__}: {error}", usage) from error


def _written(answer: "BaseModel | Mapping[str, Any] | str") -> str:
    if isinstance(answer, str):
        return answer
    if isinstance(answer, Mapping):
        return json.dumps(dict(answer), ensure_ascii=False)
    return answer.model_dump_json()
