"""What the model of a made-up month says, and who counts what each of its calls took."""

import json
from collections.abc import Callable
from typing import Any, cast

import mind_month
from mind_costs import ANSWER, COMPACTION, WARM, Call
from mind_month import Exchange

from recollect.clock import Clock
from recollect.llm.model import Usage
from recollect.llm.talking import Abilities, Answer, Block, Condensed, Hear, Request, TalkModel
from recollect.testing.anthropic_answers import Answer as Step
from recollect.testing.anthropic_answers import say, think, use_tool
from recollect.testing.anthropic_server import AnthropicServer
from recollect.tokens import BYTES_PER_TOKEN


class Script:
    """What the model says: the exchange that is being held tells."""

    def __init__(self, seed: int) -> None:
        self.exchange: Exchange | None = None
        self.result = ""
        """What the last tool gave."""
        self._seed = seed
        self._summaries = 0

    def __call__(self, body: dict[str, Any]) -> Step:
        if body.get("compaction") or body.get("context_management"):
            self._summaries += 1
            return say(mind_month.summary_of(self._seed, self._summaries))
        exchange = self.exchange
        if exchange is None or not body.get("max_tokens"):
            return say("")
        last = cast("list[Block]", body["messages"][-1]["content"])
        results = [block for block in last if block["type"] == "tool_result"]
        if exchange.call and not results:
            return think(exchange.thought) + use_tool(exchange.call.name, exchange.call.given)
        self.result = str(results[0]["content"]) if results else ""
        return think(exchange.thought) + say(exchange.answered)


class Counted:
    """A `TalkModel` that notes what each call took."""

    def __init__(self, model: TalkModel, clock: Clock, day: Callable[[], int], server: AnthropicServer) -> None:
        self._model = model
        self._clock = clock
        self._day = day
        self._server = server
        self._beginning: object = None
        self.calls: list[Call] = []

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def is_paid(self) -> bool:
        return self._model.is_paid

    async def abilities(self) -> Abilities:
        return await self._model.abilities()

    async def answer(self, request: Request, hear: Hear) -> Answer:
        found = await self._model.answer(request, hear)
        first = request.turns[0].content[0]
        summary = first.get("content") if first.get("type") == "compaction" else None
        self._take(ANSWER, found.usage, _head_tokens(request), follows=summary != self._beginning)
        self._beginning = summary
        return found

    async def condense(self, request: Request, instructions: str) -> Condensed:
        found = await self._model.condense(request, instructions)
        self._take(COMPACTION, found.usage)
        return found

    async def warm(self, request: Request) -> Usage:
        usage = await self._model.warm(request)
        self._take(WARM, usage)
        return usage

    async def close(self) -> None:
        await self._model.close()

    def _take(self, kind: str, usage: Usage, head_tokens: int = 0, *, follows: bool = False) -> None:
        log = self._server.cache.log
        self.calls.append(
            Call(
                at=self._clock(),
                day=self._day(),
                kind=kind,
                usage=usage,
                missed=log[-1].missed if log else "",
                head_tokens=head_tokens,
                follows_compaction=follows,
            )
        )


def _head_tokens(request: Request) -> int:
    tools = sum(
        len(json.dumps([tool.name, tool.description, dict(tool.schema)])) for tool in request.tools if not tool.kind
    )
    return (sum(len(text.encode()) for text in request.system) + tools) // BYTES_PER_TOKEN
