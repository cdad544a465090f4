"""What the chunks of a chat completion say: as increments (`delta`), as snapshots (`message`), or both in turn."""

import json
import re
import uuid
from collections.abc import Mapping
from typing import Any, cast

from recollect.llm.assembling import Assembly, Part, without_half
from recollect.llm.model import Usage
from recollect.llm.openai import first_of, mapping, text_of, usage_of
from recollect.llm.talking import Answer, Block, Hear, Stop, ThinkingPiece
from recollect.tokens import of_bytes

STOPS = {"length": Stop.LENGTH, "content_filter": Stop.REFUSED}
MOST_DETAIL = 300
"""Characters of a refusal that are kept."""
A_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What the id of a tool's use and the tool's name may be for every provider: the conversation may go on with another,
and a name that a model made up would have each request refused from then on."""
NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")
UNNAMED = "unnamed"
THOUGHTS = ("reasoning_content", "reasoning")


class Reading:
    """A `Reader` of one answer. `used`: ids of earlier uses of tools; some servers count from nought in each answer."""

    def __init__(self, hear: Hear, used: frozenset[str] = frozenset()) -> None:
        self._hear = hear
        self._assembly = Assembly(hear)
        self._used = set(used)
        self._calls: list[Part] = []
        self._indexes: dict[int, Part] = {}
        self._named: dict[str, Part] = {}
        self._written = 0
        """Characters of all text so far, over all blocks: where what is new in a snapshot begins."""
        self._refusal = ""
        self._told: Mapping[str, Any] = {}
        self._stop_reason = ""
        self._is_thinking = False
        self._model = ""
        self.has_choice = False

    @property
    def is_heard(self) -> bool:
        return self._assembly.is_heard

    @property
    def is_whole(self) -> bool:
        return bool(self._stop_reason)

    @property
    def characters(self) -> int:
        return self._assembly.characters

    def usage(self, input_estimate: int) -> Usage:
        return usage_of(self._told, input_estimate, of_bytes(self.characters))

    def answer(self, model: str, input_estimate: int) -> Answer:
        """Tools stand in it if and only if it waits for them."""
        stop = Stop.REFUSED if self._refusal else STOPS.get(self._stop_reason, Stop.END)
        blocks = tuple(map(_named, self._assembly.blocks(is_cut=stop is Stop.LENGTH)))
        if stop is Stop.REFUSED:
            blocks = tuple(block for block in blocks if block["type"] != "tool_use")
        elif any(block["type"] == "tool_use" for block in blocks):
            stop = Stop.TOOLS
        detail = self._refusal[:MOST_DETAIL]
        usage = self.usage(input_estimate)
        return Answer(blocks=blocks, stop=stop, usage=usage, model=self._model or model, detail=detail)

    def take(self, found: Mapping[str, Any]) -> None:
        self._told = mapping(found.get("usage")) or self._told
        self._model = self._model or str(found.get("model") or "")
        choice = first_of(found.get("choices"))
        if not choice:
            return
        self.has_choice = True
        if delta := mapping(choice.get("delta")):
            self._think(delta)
            self._write(text_of(delta.get("content")))
            self._refusal += str(delta.get("refusal") or "")
            self._call(delta.get("tool_calls"), is_snapshot=False)
        if message := mapping(choice.get("message")):
            self._think(message)
            # Half a character may have become a whole one by the next snapshot.
            self._write(without_half(text_of(message.get("content")))[self._written :])
            self._refusal = str(message.get("refusal") or self._refusal)
            self._call(message.get("tool_calls"), is_snapshot=True)
        self._stop_reason = str(choice.get("finish_reason") or self._stop_reason)

    def _write(self, more: str) -> None:
        if more:
            self._written += len(more)
            self._assembly.write(self._assembly.text_at_the_end(), more)

    def _think(self, said: Mapping[str, Any]) -> None:
        """That it thinks is told; what, is nobody's to keep."""
        if not self._is_thinking and any(said.get(name) for name in THOUGHTS):
            self._is_thinking = True
            self._hear(ThinkingPiece())

    def _call(self, calls: object, *, is_snapshot: bool) -> None:
        for place, one in enumerate(cast(list[object], calls) if isinstance(calls, list) else []):
            call = mapping(one)
            function = mapping(call.get("function"))
            part = self._part_of(call, function, place if is_snapshot else None)
            given = function.get("arguments")
            if isinstance(given, str) and not is_snapshot:
                self._assembly.write(part, given)
            elif given is not None:  # Some give the object itself, and that is all of it.
                part.become(given if isinstance(given, str) else json.dumps(given, ensure_ascii=False))

    def _part_of(self, call: Mapping[str, Any], function: Mapping[str, Any], place: int | None) -> Part:
        """By its index; where a server leaves that out, by its id, or as the last one."""
        index = call.get("index", place)
        name, told_id = str(function.get("name") or ""), str(call.get("id") or "")
        if isinstance(index, int):
            part = self._indexes.get(index)
        elif told_id:
            part = self._named.get(told_id)
        else:
            part = self._calls[-1] if self._calls and not name else None
        if part is None:
            block: Block = {"type": "tool_use", "id": self._new_id(told_id), "name": name}
            part = self._assembly.begin(block, "input")
            self._calls.append(part)
        elif name and not part.block["name"]:
            part.block["name"] = name
        if isinstance(index, int):
            self._indexes[index] = part
        if told_id:
            self._named.setdefault(told_id, part)
        return part

    def _new_id(self, told: str) -> str:
        found = told if A_NAME.fullmatch(told) and told not in self._used else f"call_{uuid.uuid4().hex[:24]}"
        self._used.add(found)
        return found


def _named(block: Block) -> Block:
    """A use of a tool with a name that every provider takes back."""
    if block["type"] != "tool_use" or A_NAME.fullmatch(block["name"]):
        return block
    return {**block, "name": NO_NAME.sub("_", block["name"])[:64] or UNNAMED}
