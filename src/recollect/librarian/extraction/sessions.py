"""A model that is closed and opened anew every few prompts.

A connection or a process serves several conversations one after the other; one that lives for ever gathers what nobody
looks at. Made again when it was closed, so that whoever holds it need not know.
"""

from collections.abc import Callable

from recollect.llm import ChatModel, Reply
from recollect.llm.model import T

PROMPTS = 15


class Cycled:
    """Itself a `ChatModel`."""

    def __init__(self, open_model: Callable[[], ChatModel], prompts: int = PROMPTS) -> None:
        self._open = open_model
        self._prompts = prompts
        self._model = open_model()
        self._asked = 0
        self._is_closed = False

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def is_paid(self) -> bool:
        return self._model.is_paid

    async def complete(self, system: str, prompt: str, schema: type[T], *, most_output_tokens: int = 8_000) -> Reply[T]:
        if self._is_closed or self._asked >= self._prompts:
            await self.close()
            self._model, self._asked, self._is_closed = self._open(), 0, False
        self._asked += 1
        return await self._model.complete(system, prompt, schema, most_output_tokens=most_output_tokens)

    async def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            await self._model.close()
