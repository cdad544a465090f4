"""Our own compaction, for every model: it is asked for a summary in words.

The request is the conversation itself with one more turn, so that a provider that keeps prefixes reads what it has.
An answer that is no summary gets one word back and a second try. A conversation that is longer than the model can take
in is condensed in steps, each of which begins with the summary of the one before.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollect.errors import Invalid
from recollect.llm.model import Usage
from recollect.llm.talking import Answer, Piece, Request, Stop, SummaryRefused, TalkModel, Turn
from recollect.mind.compaction.compaction import HEADING, OWN, Compacted, standing_for
from recollect.mind.compaction.instructing import SUMMARY_WORDS
from recollect.mind.compaction.trimming import results_for, shortened, without_thinking
from recollect.mind.compaction.weighing import exchanges, tokens_of_frame, tokens_of_turns
from recollect.texts import clean
from recollect.tokens import estimate

MOST_SUMMARY_TOKENS = 8_000
"""Several times what is asked for: a model that thinks does so inside of this."""
OUTPUT_SHARE = 4
"""The answer is at most one part in so many of what a small model can take in."""
LEAST_SUMMARY_TOKENS = 40
"""Two or three sentences. Less cannot stand for a conversation, unless that was short itself."""
LEAST_SUMMARY_SHARE = 50
"""Of a short conversation: one part in so many."""
LEAST_ROOM_TOKENS = 1_000
"""A model that refuses even this does so for another reason than length."""
MOST_HALVINGS = 4
"""The same: what was told before a refusal is paid for each time."""
THOUGHT_END = "</think>"
"""Models that think aloud do it before this."""

ASKED = "No tool is at hand for this answer. It is the summary and nothing else: no greeting, no remark on the task."
ONCE_MORE = {
    Stop.TOOLS: "[From the same program.] Tools cannot be used here. What is waited for is the summary, in words.",
    Stop.LENGTH: "[From the same program.] That was cut at the limit of its length and is lost. There is room for "
    f"{SUMMARY_WORDS // 2} words; the whole story fits into them if it is told from further away.",
    Stop.END: "[From the same program.] That is too little for the conversation to go on from. What is waited for is "
    "the whole story up to here, as described above.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    text: str
    """Empty: no summary could be had."""
    usage: Usage


class _TooLong(Exception):
    """The model had no room left to answer."""


class OwnCompaction:
    def __init__(self, model: TalkModel) -> None:
        self._model = model

    @property
    def kind(self) -> str:
        return OWN

    async def compact(self, request: Request, instructions: str) -> Compacted | None:
        """What a model says of its limits is not always so: after a refusal the parts are half as long."""
        most_input = (await self._model.abilities()).most_input_tokens
        output = min(MOST_SUMMARY_TOKENS, most_input // OUTPUT_SHARE)
        room = most_input - output - tokens_of_frame(request) - estimate(instructions + ASKED)
        asked = replace(request, most_output_tokens=output)
        for halvings in range(MOST_HALVINGS + 1):
            try:
                return await self._in_steps(asked, instructions, max(room, LEAST_ROOM_TOKENS))
            except SummaryRefused:
                raise
            except (Invalid, _TooLong) as error:
                room = min(room, tokens_of_turns(request.turns)) // 2
                is_last = room < LEAST_ROOM_TOKENS or halvings == MOST_HALVINGS
                if is_last and isinstance(error, Invalid):
                    raise
                if is_last:
                    break
        return None

    async def _in_steps(self, request: Request, instructions: str, room: int) -> Compacted | None:
        summary, usage = "", Usage()
        for part in _parts(request.turns, room):
            turns = (standing_for(OWN, summary, None, accepts=OWN), *part) if summary else part
            told = await self._told(replace(request, turns=turns), instructions)
            usage += told.usage
            if not told.text:
                return None
            summary = told.text
        return Compacted(kind=OWN, summary=summary, block=None, usage=usage) if summary else None

    async def _told(self, request: Request, instructions: str) -> _Told:
        least = min(LEAST_SUMMARY_TOKENS, tokens_of_turns(request.turns) // LEAST_SUMMARY_SHARE)
        asking = (*results_for(_last_said(request)), {"type": "text", "text": f"{instructions}\n\n{ASKED}"})
        asked = replace(request, turns=(*request.turns, Turn(role="user", content=asking)))
        first = await self._model.answer(asked, _unheard)
        if _is_summary(first, least) or first.stop is Stop.REFUSED:
            return _Told(text=_text(first) if first.stop is Stop.END else "", usage=first.usage)
        if first.stop is Stop.LENGTH and not _text(first):
            raise _TooLong
        again = replace(asked, turns=(*asked.turns, *_answered(first)))
        second = await self._model.answer(again, _unheard)
        return _Told(text=_text(second) if _is_summary(second, least) else "", usage=first.usage + second.usage)


def _unheard(_: Piece) -> None:
    """A summary is shown to nobody while it is written."""


def _last_said(request: Request) -> tuple[dict[str, object], ...]:
    last = request.turns[-1] if request.turns else None
    return last.content if last and last.role == "assistant" else ()


def _is_summary(answer: Answer, least_tokens: int) -> bool:
    text = _text(answer)
    return answer.stop is Stop.END and bool(text) and estimate(text) >= least_tokens


def _text(answer: Answer) -> str:
    said = "\n\n".join(str(block["text"]) for block in answer.blocks if block.get("type") == "text")
    return clean(said.rpartition(THOUGHT_END)[2]).strip().removeprefix(HEADING).strip()


def _answered(answer: Answer) -> tuple[Turn, ...]:
    """The answer that was none, and what is said to it."""
    said = tuple(block for block in answer.blocks if block.get("type") != "text" or str(block["text"]).strip())
    words = {"type": "text", "text": ONCE_MORE.get(answer.stop, ONCE_MORE[Stop.END])}
    if not without_thinking([Turn(role="assistant", content=said)]):
        return (Turn(role="user", content=(words,)),)
    return (Turn(role="assistant", content=said), Turn(role="user", content=(*results_for(said), words)))


def _parts(turns: Sequence[Turn], room: int) -> list[tuple[Turn, ...]]:
    """One if it fits, as it is. Else as many as are needed, each of whole exchanges, with room for the summary before
    it, and without thinking, which fits behind nothing else than what it followed."""
    if tokens_of_turns(turns) <= room:
        return [tuple(turns)] if turns else []
    room -= min(MOST_SUMMARY_TOKENS, room // OUTPUT_SHARE)
    parts: list[tuple[Turn, ...]] = []
    weight = 0
    for exchange in exchanges(without_thinking(turns)):
        size = tokens_of_turns(exchange)
        if size > room:
            exchange = shortened(exchange, room)
            size = room
        if parts and weight + size <= room:
            parts[-1] += exchange
            weight += size
        else:
            parts.append(exchange)
            weight = size
    return parts
