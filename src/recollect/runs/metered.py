"""A model whose every call is inside the budget, counted, and an event.

Itself a `ChatModel`, so that who asks need not know. What is reserved covers the repair that a model may make by
itself: its answer shown to it once more, and a second answer. What a call took is told by its reply or by its
`BadReply`. When it ended without either, it counts as all that was reserved, save where nothing can have been sent.
"""

import json
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.llm.model import ChatModel, Reply, T, Usage
from recollect.llm.prices import most_price_of, price_of
from recollect.runs.budget import Budget, Reservation
from recollect.runs.metering import FRAME_TOKENS, Record, end_call, outcome_of, to_its_end, usage_after
from recollect.tokens import estimate

if TYPE_CHECKING:
    from pydantic import BaseModel

OWN_TOKENS = {"claude": 2_000, "codex": 6_000}
"""What a command line adds of its own for each call. Codex also sends the person's own AGENTS.md."""
MOST_CALLS = {"claude": 4}
"""Of one prompt, if not a first one and its repair. Claude Code goes on three times when its answer was cut off."""


class Metered:
    def __init__(
        self,
        model: ChatModel,
        budget: Budget,
        record: Record,
        *,
        purpose: str = "librarian",
        per_million: Sequence[float] = (),
    ) -> None:
        """`per_million` is `librarian.price_per_million`."""
        self._model = model
        self._budget = budget
        self._record = record
        self._purpose = purpose
        self._per_million = per_million

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def is_paid(self) -> bool:
        """Also on this computer, if the settings give a price: a proxy may run there, with others behind it."""
        return self._model.is_paid or any(self._per_million)

    async def close(self) -> None:
        await self._model.close()

    async def complete(self, system: str, prompt: str, schema: type[T], *, most_output_tokens: int = 8_000) -> Reply[T]:
        """Raises OverBudget and UnknownPrice besides what a model raises."""
        begun = time.monotonic()
        input_tokens = estimated_input(self.name, system, prompt, schema)
        reserved: list[Reservation] = []
        was_asked = False
        try:
            await to_its_end(lambda: reserved.append(self._reserve(input_tokens, most_output_tokens)))
            was_asked = True
            reply = await self._model.complete(system, prompt, schema, most_output_tokens=most_output_tokens)
        except BaseException as error:
            outcome, usage = outcome_of(error), usage_after(error) if was_asked else Usage()
            if reserved:
                await to_its_end(lambda: self._end(reserved[0], outcome, begun, usage))
            raise
        await to_its_end(lambda: self._end(reserved[0], "done", begun, reply.usage, reply.model))
        return reply

    def _reserve(self, input_tokens: int, output_tokens: int) -> Reservation:
        """Each further call shows the model all that it wrote before."""
        calls = MOST_CALLS.get(self.name.partition(":")[0], 2)
        inputs = [input_tokens + number * (output_tokens + FRAME_TOKENS) for number in range(calls)]
        prices = [self._most(tokens, output_tokens) for tokens in inputs]
        known = [price for price in prices if price is not None]
        dollars = sum(known) if len(known) == calls else None
        return self._budget.reserve(self._purpose, self.name, sum(inputs), calls * output_tokens, dollars)

    def _most(self, input_tokens: int, output_tokens: int) -> float | None:
        return most_price_of(self.name, input_tokens, output_tokens, self._per_million) if self.is_paid else 0.0

    def _end(self, reserved: Reservation, outcome: str, begun: float, usage: Usage | None, answered: str = "") -> None:
        dollars = None
        if usage:
            dollars = price_of(self.name, usage, self._per_million) if self.is_paid else 0.0
        end_call(
            self._budget,
            self._record,
            reserved,
            usage,
            dollars,
            outcome=outcome,
            seconds=time.monotonic() - begun,
            detail={"model": self.name, "answered": answered, "purpose": self._purpose},
        )


def estimated_input(model: str, system: str, prompt: str, schema: "type[BaseModel]") -> int:
    """Tokens of one request, rather too many than too few. `model` is named as in the settings."""
    described = estimate(json.dumps(schema.model_json_schema()))
    own = OWN_TOKENS.get(model.partition(":")[0], 0)
    return estimate(system) + estimate(prompt) + described + FRAME_TOKENS + own
