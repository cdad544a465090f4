"""The reflection tick (M7): the agent in a moment of its own, with its notes, its tools and a diary, and no history.

A small loop beside that of the turns: it is asked, its tools are run, it is asked again. Nothing it says joins the
conversation or the archive; what it writes with a tool stays. A moment leaves no trace that a crash could tear: each
entry is whole when it is there, and a moment that was cut off is over.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from recollect.clock import to_text
from recollect.context.your_memory import REFLECTION
from recollect.errors import RecollectError
from recollect.lineage import ReceiptStore
from recollect.llm.talking import Answer, Block, Piece, Request, Stop, TalkModel, Turn
from recollect.mind.channel import ToolResult
from recollect.mind.compaction.weighing import tokens_of_request
from recollect.mind.conversation import calls_of, is_blank
from recollect.redaction import mask
from recollect.texts import clean

if TYPE_CHECKING:
    from recollect.context import Context, Contexts
    from recollect.database import Database
    from recollect.mind.heartbeat.reflection_tools import ReflectionTools

MOST_STEPS = 12
"""How often the model is asked in one moment: enough to look through a day and to write of it."""
TOO_MANY_STEPS = "It used its tools {number} times without coming to an end, and was stopped."
NO_ROOM = "What its tools found left {model} no room for an answer."
CUT_OFF = "It came to the limit of its answer, and was cut off there."
REFUSED = "{model} would not answer this{why}."
FORGOTTEN = "Something was forgotten meanwhile, so it was stopped: it may have had that in front of it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflected:
    wrote: tuple[str, ...]
    """Names of the diary entries, in their order. A day may well leave none."""
    calls: int
    """How often the model was asked."""
    words: str
    """What it said besides, for who asks to see it. Nobody else ever does."""
    reason: str = ""
    """Why it ended before it came to an end by itself; empty: it did."""
    tools: tuple[ToolResult, ...] = ()
    """What it used, in its order."""


class Reflecting:
    def __init__(
        self, database: "Database", house: str, contexts: "Contexts", tools: "ReflectionTools", model: TalkModel
    ) -> None:
        """`contexts` and `tools` as the agent sees them. Who opened the model closes it."""
        self._database = database
        self._house = house
        self._contexts = contexts
        self._tools = tools
        self._model = model

    async def reflect(self, now: datetime) -> Reflected:
        """`now`: which moment it is; the same one asked for again is shown the same. Raises what keeps the model from
        answering, unless an entry was written before: then the moment was there, and is told with its reason."""
        moment = _Moment(self._model, self._tools, self._forgotten)
        before = await asyncio.to_thread(self._forgotten)
        context = await asyncio.to_thread(self._contexts.heartbeat, REFLECTION, turn=f"reflection {to_text(now)}")
        try:
            reason = await moment.spend(context, before)
        except RecollectError as error:
            if not moment.wrote:
                raise
            reason = str(error)
        words = mask(clean("\n\n".join(moment.words)))
        return Reflected(
            wrote=tuple(moment.wrote), calls=moment.calls, words=words, reason=reason, tools=tuple(moment.used)
        )

    def _forgotten(self) -> int:
        """How many acts of forgetting there have been."""
        with self._database.read() as session:
            return ReceiptStore(session, self._house).number()


class _Moment:
    """What happens in one, as far as it came."""

    def __init__(self, model: TalkModel, tools: "ReflectionTools", forgotten: Callable[[], int]) -> None:
        self._model = model
        self._tools = tools
        self._forgotten = forgotten
        self.wrote: list[str] = []
        self.calls = 0
        self.words: list[str] = []
        self.used: list[ToolResult] = []

    async def spend(self, context: "Context", forgotten: int) -> str:
        """Why it ended; empty: by itself. `forgotten`: how many acts there were before its context was made."""
        system, turns = _shown(context)
        most_tokens = (await self._model.abilities()).most_input_tokens
        while self.calls < MOST_STEPS:
            request = Request(system=system, tools=self._tools.specs, turns=tuple(turns))
            if await self._has_lost(forgotten):
                return FORGOTTEN
            if self.calls and tokens_of_request(request) > most_tokens:
                return NO_ROOM.format(model=self._model.name)
            self.calls += 1
            answer = await self._model.answer(request, _unheard)
            if await self._has_lost(forgotten):
                return FORGOTTEN
            blocks = _sound(answer.blocks)
            self.words += [text for block in blocks if (text := str(block.get("text", "")).strip())]
            said = Turn(role="assistant", content=blocks)
            calls = calls_of(said) if answer.stop is Stop.TOOLS else []
            if not calls:
                return _ending(answer, self._model.name)
            turns += [said, Turn(role="user", content=tuple([await self._use(call, forgotten) for call in calls]))]
        return TOO_MANY_STEPS.format(number=MOST_STEPS)

    async def _has_lost(self, forgotten: int) -> bool:
        """Whether something was forgotten that it may know: then it is neither told, nor written, nor asked on."""
        if await asyncio.to_thread(self._forgotten) == forgotten:
            return False
        self.words.clear()
        return True

    async def _use(self, call: Block, forgotten: int) -> Block:
        name, given = str(call["name"]), cast("Mapping[str, Any]", call.get("input") or {})
        result = await asyncio.to_thread(self._tools.use, name, given, forgotten)
        self.wrote += [result.entry] if result.entry else []
        self.used.append(ToolResult(name=name, line=result.line, is_error=result.is_error))
        block: Block = {"type": "tool_result", "tool_use_id": call["id"], "content": result.text}
        return {**block, "is_error": True} if result.is_error else block


def _shown(context: "Context") -> tuple[tuple[str, ...], list[Turn]]:
    """What is frozen stands before everything; the moment itself is all that is said."""
    system = tuple(section.text for section in context.sections if section.is_frozen and section.text.strip())
    texts = [part for section in context.sections if not section.is_frozen for part in section.blocks or [section.text]]
    content: list[Block] = [{"type": "text", "text": text} for text in texts if text.strip()]
    return system, [Turn(role="user", content=tuple(content))]


def _ending(answer: Answer, model: str) -> str:
    if answer.stop is Stop.REFUSED:
        return REFUSED.format(model=answer.model or model, why=f" ({answer.detail})" if answer.detail else "")
    return CUT_OFF if answer.stop is Stop.LENGTH else ""


def _sound(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The same as it can be sent back: a server may send half of a character, or a text without any."""
    sound = cast("list[Block]", json.loads(clean(json.dumps(list(blocks), ensure_ascii=False))))
    return tuple(block for block in sound if not is_blank(block))


def _unheard(piece: Piece) -> None:
    """Nobody listens."""
