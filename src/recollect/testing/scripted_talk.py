"""A model that talks as a test wrote: piece by piece, late, wrongly, or not at all.

    model = ScriptedTalk(["Good morning.", use("search_memory", {"query": "Lyon"}), "She lives in Lyon."])
    model = ScriptedTalk(lambda request: said(f"{len(request.turns)} turns"))
    model = ScriptedTalk([[TextPiece(text="Well, "), event, "then."], [TextPiece(text="I"), HANG], Busy("later")])

Tokens are counted by the estimate of the house, and nothing is ever read from a cache.
"""

import asyncio
import itertools
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from recollect.errors import Invalid
from recollect.llm.model import Usage
from recollect.llm.talking import (
    Abilities,
    Answer,
    Block,
    Condensed,
    Condensing,
    Hear,
    Request,
    Stop,
    TextPiece,
    ThinkingPiece,
    ToolPiece,
)
from recollect.tokens import estimate


class _Hang:
    """No answer until it is cancelled."""


HANG: Final = _Hang()
LOOK_SECONDS = 0.002
"""How often it looks at an event that another thread sets."""

Event: TypeAlias = asyncio.Event | threading.Event
Part: TypeAlias = TextPiece | ToolPiece | ThinkingPiece | Event | _Hang | Answer | Exception | str
Step: TypeAlias = Part | Sequence[Part]
"""What happens at one request: the parts in their order. Pieces are heard, events are waited for, a text is heard and
is the rest of the answer, an `Answer` is what comes out. A step without an answer at its end answers with its text."""
Script: TypeAlias = Callable[[Request], Step]
Summary: TypeAlias = Condensed | Exception | str

_numbers = itertools.count(1)


def said(text: str) -> Answer:
    return Answer(blocks=({"type": "text", "text": text},), stop=Stop.END, usage=Usage(), model="")


def use(name: str, given: Mapping[str, Any], *, before: str = "", after: str = "") -> Answer:
    """The use of a tool, with words before and after it."""
    call: Block = {"type": "tool_use", "id": f"toolu_{next(_numbers):06d}", "name": name, "input": dict(given)}
    texts = [{"type": "text", "text": before}] if before else []
    last = [{"type": "text", "text": after}] if after else []
    return Answer(blocks=(*texts, call, *last), stop=Stop.TOOLS, usage=Usage(), model="")


class ScriptedTalk:
    """A `TalkModel`. A list of steps is used up one by one; a function is asked each time."""

    def __init__(
        self,
        script: Sequence[Step] | Script = (),
        *,
        summaries: Sequence[Summary] | Callable[[Request, str], Summary] = (),
        abilities: Abilities | None = None,
        name: str = "scripted",
        is_paid: bool = False,
        until: Event | None = None,
    ) -> None:
        """`summaries`: what condensing gives, in the same ways; an empty text is one that failed. `until`: no answer
        before it is set."""
        self._script = script
        self._summaries = summaries
        self._abilities = abilities or Abilities()
        self._name = name
        self._is_paid = is_paid
        self._until = until
        self._steps = 0
        self.requests: list[Request] = []
        """All that were to be answered, in their order."""
        self.condensed: list[tuple[Request, str]] = []
        """(request, instructions)"""
        self.warmed: list[Request] = []
        self.answered = 0
        self.cancelled = 0
        self.closed = 0
        self.asked = threading.Event()
        """Set when the first request is there: a test can wait for it while no answer comes."""

    @property
    def name(self) -> str:
        return self._name

    @property
    def is_paid(self) -> bool:
        return self._is_paid

    async def abilities(self) -> Abilities:
        return self._abilities

    async def answer(self, request: Request, hear: Hear) -> Answer:
        kept = replace(request, turns=tuple(request.turns))  # The caller's list grows.
        self.requests.append(kept)
        self.asked.set()
        step = self._next(kept)
        try:
            if self._until is not None:
                await _passed(self._until)
            answer = await _played(step, hear)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        self.answered += 1
        return self._finished(answer, kept)

    async def condense(self, request: Request, instructions: str) -> Condensed:
        if self._abilities.condensing is Condensing.NONE:
            raise Invalid(f"{self._name} condenses nothing by itself.")
        kept = replace(request, turns=tuple(request.turns))
        self.condensed.append((kept, instructions))
        found = self._next_summary(kept, instructions)
        if isinstance(found, Exception):
            raise found
        if isinstance(found, Condensed):
            return found
        usage = Usage(input_tokens=_input_tokens(kept), output_tokens=estimate(found), calls=1)
        block: Block = {"type": "compaction", "content": found, "signature": f"signed {estimate(found)}"}
        return Condensed(block=block if found else None, summary=found, usage=usage)

    async def warm(self, request: Request) -> Usage:
        self.warmed.append(replace(request, turns=tuple(request.turns)))
        return Usage(input_tokens=_input_tokens(request), calls=1)

    async def close(self) -> None:
        self.closed += 1

    def _next(self, request: Request) -> Step:
        if callable(self._script):
            return self._script(request)
        if self._steps >= len(self._script):
            raise AssertionError(f"{self._name} was asked once more than the {len(self._script)} steps it was given.")
        self._steps += 1
        return self._script[self._steps - 1]

    def _next_summary(self, request: Request, instructions: str) -> Summary:
        if callable(self._summaries):
            return self._summaries(request, instructions)
        number = len(self.condensed) - 1
        if number >= len(self._summaries):
            return f"A summary of {len(request.turns)} turns."
        return self._summaries[number]

    def _finished(self, answer: Answer, request: Request) -> Answer:
        if not answer.usage.calls:
            written = sum(estimate(json.dumps(block, ensure_ascii=False)) for block in answer.blocks)
            answer = replace(answer, usage=Usage(input_tokens=_input_tokens(request), output_tokens=written, calls=1))
        return answer if answer.model else replace(answer, model=self._name)


async def _played(step: Step, hear: Hear) -> Answer:
    parts: Sequence[Part] = step if isinstance(step, Sequence) and not isinstance(step, str) else (step,)
    heard: list[str] = []
    for part in parts:
        match part:
            case str():
                heard.append(part)
                if part:
                    hear(TextPiece(text=part))
            case Answer():
                if not heard:  # What was heard piece by piece is not told once more.
                    _told(part, hear)
                return part
            case Exception():
                raise part
            case _Hang():
                await asyncio.Event().wait()
            case asyncio.Event() | threading.Event():
                await _passed(part)
            case _:
                hear(part)
                heard += [part.text] if isinstance(part, TextPiece) else []
    return said("".join(heard))


def _told(answer: Answer, hear: Hear) -> None:
    for block in answer.blocks:
        match block["type"]:
            case "text":
                hear(TextPiece(text=block["text"]))
            case "tool_use":
                hear(ToolPiece(name=block["name"]))
            case "thinking":
                hear(ThinkingPiece())
            case _:
                pass


async def _passed(event: Event) -> None:
    if isinstance(event, asyncio.Event):
        await event.wait()
        return
    while not event.is_set():  # noqa: ASYNC110 - the event belongs to another thread
        await asyncio.sleep(LOOK_SECONDS)


def _input_tokens(request: Request) -> int:
    blocks = [json.dumps(block, ensure_ascii=False) for turn in request.turns for block in turn.content]
    return sum(estimate(text) for text in (*request.system, *blocks))
