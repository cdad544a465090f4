"""One turn: the model is asked, its tools are run, it is asked again, until it has said its last word.

Every step is written down before it is sent anywhere. What a turn has to do next follows from what stands in it, so one
that a crash cut off goes on where it was: a call without a result is run, a result without an answer is answered.
"""

import asyncio
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from recollect.errors import Invalid, RecollectError, Unavailable
from recollect.llm.model import BadReply, Busy
from recollect.llm.talking import (
    Answer,
    Block,
    Heard,
    Piece,
    Request,
    Stop,
    SummaryRefused,
    TalkModel,
    ThinkingPiece,
    Turn,
)
from recollect.mind.channel import Again, Shown, Thinking, ToolResult, ToolUse
from recollect.mind.compaction.trimming import THINKING, results_for
from recollect.mind.compaction.weighing import tokens_of_request
from recollect.mind.conversation import Conversation, Exchange, calls_of, is_blank, stopped_turn, words_of
from recollect.mind.entries import Role, TurnState, Written
from recollect.mind.log import Log, Overtaken, Taken
from recollect.mind.prefix import Prefix
from recollect.mind.showing import Showing
from recollect.mind.tools import Toolbox
from recollect.texts import clean

MOST_STEPS = 50
"""Of one turn: a model that calls tools without end is stopped."""
NO_RESULT = "The user stopped the turn before this had a result."
CUT_OFF = "It came to the limit of its answer, and was cut off there."
TOO_MANY_STEPS = "It used its tools {number} times without coming to an end, and was stopped."

WITHOUT_WORDS = "{model} ended without a word:{why}. The next message is answered together with this one."
UNEXPECTED = (
    "Something went wrong that nobody reckoned with ({kind}). The next message is answered together with this one."
)

TOO_LONG = re.compile(r"(?i)too long|context (?:length|size|window)|(?:maximum|too many|exceeds?)\b.*\btokens")
"""How servers say that a request is longer than their model reads."""

T = TypeVar("T")
Show = Callable[[Shown], None]
RecordRun = Callable[[str, str, float, dict[str, object]], None]


@dataclass(slots=True, kw_only=True)
class Ended:
    state: TurnState
    reason: str = ""
    context_tokens: int = 0
    """How long the conversation is by now, as the provider counts it. 0: nobody knows."""
    error: RecollectError | None = None
    """What it failed of, where it was one."""
    tools: list[ToolResult] = field(default_factory=list[ToolResult])
    written: list[Written] = field(default_factory=list[Written])


class Turns:
    """Runs turns of one agent, one at a time."""

    def __init__(self, log: Log, model: TalkModel, toolbox: Toolbox, prefix: Prefix, record: RecordRun) -> None:
        self._log = log
        self._model = model
        self._toolbox = toolbox
        self._prefix = prefix
        self._record = record
        self.last_request: Request | None = None
        self._asking: asyncio.Task[Ended] | None = None
        self._is_interrupted = False
        self._heard = Heard()
        self._showing = Showing()
        self.most_tokens = 0
        """That the model reads, by what it would not read any more. 0: it read all."""
        self._read_tokens = 0
        """The length of the last request that it read, as its provider counts it."""
        self._results: list[Block] = []
        """Of the tools that were used last."""

    def interrupt(self) -> bool:
        """Stop the turn that is in flight. False: none is."""
        if self._asking is None or self._asking.done():
            return False
        self._is_interrupted = True
        self._asking.cancel()
        return True

    async def run(self, taken: Taken, conversation: Conversation, system: tuple[str, ...], show: Show) -> Ended:
        """Cancelled from outside, or `Overtaken`, the turn stays open: whoever has it goes on with it."""
        exchange = conversation.exchange(taken.turn)
        ended = Ended(state=TurnState.OPEN)
        self._showing = Showing()
        self._toolbox.hidden = {one.entry.message_id: words_of(one.record) for one in taken.written}
        self._is_interrupted = False
        self._asking = asyncio.ensure_future(self._steps(taken, conversation, exchange, system, show, ended))
        try:
            return await self._asking
        except asyncio.CancelledError:
            if not self._is_interrupted:
                self._asking.cancel()
                with suppress(asyncio.CancelledError):
                    await self._asking
                raise
            return await self._stopped(taken, exchange, ended)
        except Overtaken:
            raise
        except RecollectError as error:
            ended.error = error
            return await self._failed(taken, exchange, ended, str(error))
        except Exception as error:  # noqa: BLE001 - left open, it would be paid for and fail again at each start
            detail: dict[str, object] = {"turn": taken.turn, "error": type(error).__name__}
            await asyncio.to_thread(self._record, "turn", "unexpected", 0.0, detail)
            return await self._failed(taken, exchange, ended, UNEXPECTED.format(kind=type(error).__name__))
        finally:
            self._asking = None

    async def _steps(
        self,
        taken: Taken,
        conversation: Conversation,
        exchange: Exchange,
        system: tuple[str, ...],
        show: Show,
        ended: Ended,
    ) -> Ended:
        for _ in range(MOST_STEPS):
            calls = calls_of(exchange.turns[-1])
            if calls:
                results = await self._use(calls, show, ended)
                await self._write(taken, exchange, Role.TOOL, Turn(role="user", content=tuple(results)))
                continue
            if exchange.turns[-1].role == "assistant":  # A crash came between its last word and its end.
                return await self._done(taken, exchange, ended, None)
            answer = await self._ask(conversation, system, show)
            ended.context_tokens = answer.usage.input_tokens + answer.usage.output_tokens
            if answer.stop is Stop.REFUSED:
                return await self._refused(taken, conversation, ended, answer)
            if answer.stop is not Stop.TOOLS or not calls_of(_turn_of(answer)):
                return await self._done(taken, exchange, ended, answer)
            await self._write(taken, exchange, Role.ASSISTANT, _turn_of(answer), answer.model)
        return await self._failed(taken, exchange, ended, TOO_MANY_STEPS.format(number=MOST_STEPS))

    async def _write(self, taken: Taken, exchange: Exchange, role: Role, turn: Turn, model: str = "") -> None:
        """Log and array say the same, also for who is stopped meanwhile."""
        await to_its_end(lambda: self._log.add(taken.turn, role, turn.content, model=model))
        exchange.add(turn)
        self._heard = Heard()  # It is written down: who stops the turn now stops no words.
        await asyncio.sleep(0)  # Whoever was cancelled while it was written is so now.

    # Asking

    async def _ask(self, conversation: Conversation, system: tuple[str, ...], show: Show) -> Answer:
        """A second time where that may help: when the line broke, or when something old in the array is not taken."""
        self._heard = Heard()
        try:
            return await self._answer(conversation, system, show)
        except SummaryRefused:
            self._prefix.expect("summary refused")
            conversation.tell_in_words()
            conversation.forget_thinking()
        except Invalid as error:
            if TOO_LONG.search(str(error)) and len(conversation.exchanges) > 1:
                self._cut(conversation, system)
                return await self._answer(conversation, system, show)
            if not conversation.has(*THINKING, "image"):
                raise
            self._prefix.expect("blocks refused")
            conversation.forget_thinking()
            conversation.tell_of_images()
        except Busy:
            raise
        except (Unavailable, BadReply):
            if not self._heard.parts:
                raise  # The model has tried by itself as often as it makes sense.
            show(Again())
            self._showing = Showing()
        self._heard = Heard()
        return await self._answer(conversation, system, show)

    def _cut(self, conversation: Conversation, system: tuple[str, ...]) -> None:
        """The model reads less than it, or its server, says. The older part is left to the archive, once: from now on
        it is condensed in time."""
        request = Request(system=system, tools=self._toolbox.specs, turns=conversation.turns)
        self.most_tokens = max(self._read_tokens, tokens_of_request(request) // 2)
        self._prefix.expect("too long")
        conversation.keep_latest(conversation.tokens // 2)
        conversation.forget_thinking()

    async def _answer(self, conversation: Conversation, system: tuple[str, ...], show: Show) -> Answer:
        await asyncio.to_thread(self._log.check, conversation.standing.forgotten)
        request = Request(system=system, tools=self._toolbox.specs, turns=conversation.turns)
        broken = self._prefix.sent(request)
        if broken:
            detail: dict[str, object] = {"where": broken.where, "kept_turns": broken.kept_turns}
            await asyncio.to_thread(self._record, "prefix", broken.reason, 0.0, detail)
        is_thinking = False

        def hear(piece: Piece) -> None:
            nonlocal is_thinking
            self._heard.take(piece)
            for shown in self._showing.feed(piece):
                show(shown)
            if isinstance(piece, ThinkingPiece) and not is_thinking:
                show(Thinking())
            is_thinking = isinstance(piece, ThinkingPiece)

        answer = await self._model.answer(request, hear)
        self.last_request, self._read_tokens = request, answer.usage.input_tokens
        for shown in self._showing.finish():
            show(shown)
        return replace(answer, blocks=_sound(answer.blocks))

    async def _use(self, calls: Sequence[Block], show: Show, ended: Ended) -> list[Block]:
        self._results = results = list[Block]()
        for call in calls:
            name, given = str(call["name"]), cast("dict[str, Any]", call.get("input") or {})
            show(ToolUse(name=name, line=self._toolbox.asked(name, given)))
            started = time.perf_counter()
            result = await asyncio.to_thread(self._toolbox.use, name, given)
            seconds = time.perf_counter() - started
            shown = ToolResult(name=name, line=result.line, is_error=result.is_error)
            show(shown)
            ended.tools.append(shown)
            outcome = "failed" if result.is_error else "done"
            await asyncio.to_thread(self._record, "tool", outcome, seconds, {"tool": name})
            block: Block = {"type": "tool_result", "tool_use_id": call["id"], "content": result.text}
            results.append({**block, "is_error": True} if result.is_error else block)
        return results

    # Ends

    async def _done(self, taken: Taken, exchange: Exchange, ended: Ended, answer: Answer | None) -> Ended:
        said = [_without_calls(answer.blocks)] if answer and _without_calls(answer.blocks) else []
        if answer and not said and not _has_words(exchange):
            limit = " it came to the limit of its answer" if answer.stop is Stop.LENGTH else " its answer was empty"
            return await self._failed(taken, exchange, ended, WITHOUT_WORDS.format(model=answer.model, why=limit))
        model = answer.model if answer else ""
        roles = [Role.ASSISTANT] * len(said)
        ended.reason = CUT_OFF if answer and answer.stop is Stop.LENGTH else ""
        ended.written = await to_its_end(
            lambda: self._log.end(taken, TurnState.DONE, ended.reason, said=said, roles=roles, model=model)
        )
        if said:
            exchange.add(Turn(role="assistant", content=tuple(said[0])))
        ended.state = TurnState.DONE
        return ended

    async def _refused(self, taken: Taken, conversation: Conversation, ended: Ended, answer: Answer) -> Ended:
        why = f" ({answer.detail})" if answer.detail else ""
        ended.reason = f"{answer.model or self._model.name} would not answer this{why}."
        ended.state = TurnState.REFUSED
        await asyncio.to_thread(self._log.end, taken, ended.state, ended.reason)
        conversation.exchanges = [one for one in conversation.exchanges if one.number != taken.turn]
        self._prefix.expect("refused")
        return ended

    async def _failed(self, taken: Taken, exchange: Exchange, ended: Ended, reason: str) -> Ended:
        exchange.close()
        ended.state, ended.reason = TurnState.FAILED, reason
        await asyncio.to_thread(self._log.end, taken, ended.state, reason)
        return ended

    async def _stopped(self, taken: Taken, exchange: Exchange, ended: Ended) -> Ended:
        """What was said until then is kept, and every call has a result."""
        said: list[list[Block]] = []
        roles: list[Role] = []
        last: Turn | None = None
        calls, heard = calls_of(exchange.turns[-1]), clean(self._heard.text).strip()
        if calls:
            there = {block["tool_use_id"]: block for block in self._results}
            content = tuple(there.get(block["tool_use_id"], block) for block in results_for(calls, NO_RESULT))
            last = Turn(role="user", content=content)
            said, roles = [list(last.content)], [Role.TOOL]
        elif heard and exchange.turns[-1].role == "user":
            last = stopped_turn(heard)
            said, roles = [[last.content[0]]], [Role.ASSISTANT]
        ended.written = await to_its_end(lambda: self._log.end(taken, TurnState.STOPPED, said=said, roles=roles))
        row = await asyncio.to_thread(self._log.turn, taken.turn)
        ended.state = row.state if row else TurnState.STOPPED
        if ended.state is TurnState.STOPPED and last:
            exchange.add(last)
        return ended


async def to_its_end(work: Callable[[], T]) -> T:
    """In a thread, and not left half done by who cancels meanwhile: that counts from the next pause on."""
    done = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        await asyncio.wait([done])
        task = asyncio.current_task()
        if task and not done.cancelled() and not done.exception():
            task.cancel()
            return done.result()
        raise


def _sound(value: Any) -> Any:
    """The same in characters that can be kept and sent: a server may send half of one."""
    match value:
        case str():
            return clean(value)
        case dict():
            return {clean(name): _sound(inner) for name, inner in cast("dict[str, Any]", value).items()}
        case list():
            return [_sound(inner) for inner in cast("list[Any]", value)]
        case tuple():
            return tuple(_sound(inner) for inner in cast("tuple[Any, ...]", value))
        case _:
            return value


def _turn_of(answer: Answer) -> Turn:
    return Turn(role="assistant", content=answer.blocks)


def _has_words(exchange: Exchange) -> bool:
    """Whether anything was said in the turn, before and between its tools."""
    said = [block for turn in exchange.turns if turn.role == "assistant" for block in turn.content]
    return any(block.get("type") == "text" for block in said)


def _without_calls(blocks: Sequence[Block]) -> list[Block]:
    """Of a last word: a call that was cut off by the limit of the answer has no result, and nothing but a thought is no
    answer."""
    left = [block for block in blocks if block.get("type") != "tool_use" and not is_blank(block)]
    return left if any(block.get("type") not in THINKING for block in left) else []
