"""A model that talks whose every call is inside a budget, counted for its turn, and an event.

Itself a `TalkModel`, so that who asks need not know. What is reserved is one call, as if nothing of it were cached. A
call that ends without an answer counts as `metered` counts it, with one difference: people interrupt a conversation
often, and its prompt is long. Where an answer was cut short, what it took is estimated, by what was heard of it and by
what the call before it found in the cache, instead of leaving all that was reserved.
"""

import asyncio
import copy
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypeAlias, TypeVar, cast

from recollect.llm.model import BadReply, Usage
from recollect.llm.prices import most_price_of, price_of
from recollect.llm.talking import Abilities, Answer, Condensed, Hear, Piece, Request, Stop, TalkModel
from recollect.runs.budget import Budget, Reservation
from recollect.runs.metering import Record, end_call, outcome_of, to_its_end, usage_after
from recollect.runs.talk_calls import Call, LikelyCache, estimated_request
from recollect.tokens import estimate

R = TypeVar("R")
Purpose: TypeAlias = Literal["mind", "compaction", "warm", "reflection"]
"""By which it counts against the ceiling of the mind or of the heartbeat (`runs.store`)."""

CONDENSED_TOKENS = 16_000
"""The longest summary that is reckoned with."""
OUTCOMES = {Stop.LENGTH: "cut off", Stop.REFUSED: "refused"}


class MeteredTalk:
    def __init__(
        self,
        model: TalkModel,
        budget: Budget,
        record: Record,
        *,
        per_million: Sequence[float] = (),
        turn: Callable[[], str] = lambda: "",
    ) -> None:
        """`per_million` is `mind.price_per_million`; `turn` names the turn that a call is for, when it is asked."""
        self._model = model
        self._budget = budget
        self._record = record
        self._per_million = per_million
        self._turn = turn
        self._purpose: Purpose = "mind"
        self._cache = LikelyCache()

    def purposed(self, purpose: Purpose) -> "MeteredTalk":
        """The same model, whose answers count for this. Closing either closes both."""
        other = copy.copy(self)
        other._purpose = purpose
        return other

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def is_paid(self) -> bool:
        """Also on this computer, if the settings give a price: a proxy may run there, with others behind it."""
        return self._model.is_paid or any(self._per_million)

    async def abilities(self) -> Abilities:
        able = await self._model.abilities()
        self._cache.seconds = able.cache_seconds
        return able

    async def close(self) -> None:
        await self._model.close()

    async def answer(self, request: Request, hear: Hear) -> Answer:
        """Raises OverBudget and UnknownPrice besides what a model raises; so do `condense` and `warm`."""
        call = self._call(self._purpose, request, request.most_output_tokens)

        def listen(piece: Piece) -> None:
            call.take(piece)
            hear(piece)

        answer = await self._asked(call, lambda: self._model.answer(request, listen))
        outcome = OUTCOMES.get(answer.stop, "done")
        await to_its_end(lambda: self._end(call, outcome, answer.usage, answered=answer.model))
        return answer

    async def condense(self, request: Request, instructions: str) -> Condensed:
        call = self._call("compaction", request, CONDENSED_TOKENS, more=instructions)
        call.is_partly_unseen = True
        condensed = await self._asked(call, lambda: self._model.condense(request, instructions))
        outcome = "bad reply" if condensed.block is None else "done"
        await to_its_end(lambda: self._end(call, outcome, condensed.usage))
        return condensed

    async def warm(self, request: Request) -> Usage:
        call = self._call("warm", request, 1)
        usage = await self._asked(call, lambda: self._model.warm(request))
        await to_its_end(lambda: self._end(call, "done", usage))
        return usage

    def _call(self, purpose: Purpose, request: Request, most_output_tokens: int, more: str = "") -> Call:
        return Call(
            purpose=purpose,
            turn=self._turn(),
            request=request,
            more=more,
            most_output_tokens=most_output_tokens,
            begun=time.monotonic(),
        )

    async def _asked(self, call: Call, ask: Callable[[], Awaitable[R]]) -> R:
        was_asked = False
        try:
            await to_its_end(lambda: self._reserve(call))
            was_asked = True
            return await ask()
        except BaseException as error:
            if call.reserved:
                outcome = outcome_of(error)
                usage, is_estimated = self._usage_after(error, call) if was_asked else (Usage(), False)
                await to_its_end(lambda: self._end(call, outcome, usage, is_estimated=is_estimated))
            raise

    def _reserve(self, call: Call) -> None:
        call.input_tokens = estimated_request(call.request) + estimate(call.more)
        dollars = 0.0
        if self.is_paid:
            dollars = most_price_of(
                self.name, call.input_tokens, call.most_output_tokens, self._per_million, is_kept_an_hour=True
            )
        call.reserved = self._budget.reserve(
            call.purpose, self.name, call.input_tokens, call.most_output_tokens, dollars, turn=call.turn
        )

    def _usage_after(self, error: BaseException, call: Call) -> tuple[Usage | None, bool]:
        """And whether it is estimated. An error that usually costs nothing does, once something was heard."""
        known = usage_after(error)
        is_told = known is not None and (isinstance(error, BadReply) or not call.was_heard)
        if is_told:
            return known, False
        if call.was_heard or isinstance(error, asyncio.CancelledError):
            return self._cache.likely(call), True
        return None, False

    def _end(
        self, call: Call, outcome: str, usage: Usage | None, *, answered: str = "", is_estimated: bool = False
    ) -> None:
        dollars = None
        if usage:
            dollars = price_of(self.name, usage, self._per_million) if self.is_paid else 0.0
        if usage and usage.input_tokens and not is_estimated and call.purpose in ("mind", "warm"):
            self._cache.filled(call, usage)
        detail: dict[str, object] = {
            "model": self.name,
            "answered": answered,
            "purpose": call.purpose,
            "turn": call.turn,
        }
        if is_estimated:
            detail["is_estimated"] = True
        end_call(
            self._budget,
            self._record,
            cast(Reservation, call.reserved),
            usage,
            dollars,
            outcome=outcome,
            seconds=time.monotonic() - call.begun,
            detail=detail,
        )
