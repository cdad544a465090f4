"""What the events of Anthropic's stream say: blocks, why it stopped, and what it cost."""

import json
from collections.abc import Mapping
from typing import Any, cast

from recollect.llm.assembling import Assembly, Part
from recollect.llm.model import Usage
from recollect.llm.talking import Answer, Block, Hear, Stop
from recollect.tokens import of_bytes

STOPS = {
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.LENGTH,
    "refusal": Stop.REFUSED,
}
MOST_DETAIL = 300
"""Characters of a reason that are kept."""
WRITTEN_INTO = {"text": "text", "tool_use": "input", "thinking": "thinking"}
"""By the kind of a block, the field that is written piece by piece. Other blocks come whole."""


class Reading:
    """One stream, event by event."""

    def __init__(self, hear: Hear, input_estimate: int) -> None:
        self._assembly = Assembly(hear)
        self._parts: dict[int, Part] = {}
        self._told: dict[str, Any] = {"input_tokens": input_estimate}
        self._stop_reason = ""
        self._detail = ""
        self.model = ""
        self.is_open = False
        """The API took the request. Until then the SDK tries again by itself."""
        self.is_begun = False
        self.is_ended = False

    @property
    def is_heard(self) -> bool:
        return self._assembly.is_heard

    @property
    def characters(self) -> int:
        return self._assembly.characters

    @property
    def usage(self) -> Usage:
        told = usage_of(self._told)
        if self.is_ended:
            return told
        # While it writes, the API has told only of the first token.
        unread = max(0, of_bytes(self.characters) - told.output_tokens)
        return told + Usage(output_tokens=unread)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self._assembly.blocks(is_cut=STOPS.get(self._stop_reason) is Stop.LENGTH)

    def answer(self, model: str, lost: Usage) -> Answer:
        """`lost`: what attempts before it cost. Tools stand in it if and only if it waits for them: a use that was cut
        off at the limit is left out, and so are those of an answer that the model took back."""
        stop = STOPS.get(self._stop_reason, Stop.END)
        blocks = self.blocks
        if stop is Stop.REFUSED:
            blocks = tuple(block for block in blocks if block["type"] != "tool_use")
        elif any(block["type"] == "tool_use" for block in blocks):
            stop = Stop.TOOLS
        usage = lost + self.usage
        return Answer(blocks=blocks, stop=stop, usage=usage, model=self.model or model, detail=self._detail)

    def take(self, event: Mapping[str, Any]) -> None:
        match event.get("type"):
            case "message_start":
                message = mapping(event.get("message"))
                self.is_begun = True
                self.model = str(message.get("model") or "")
                self._told |= mapping(message.get("usage"))
            case "content_block_start":
                self._begin(int(event["index"]), dict(mapping(event.get("content_block"))))
            case "content_block_delta":
                self._add(self._parts[int(event["index"])], mapping(event.get("delta")))
            case "message_delta":
                # Totals so far: a later one replaces an earlier.
                told = mapping(event.get("usage"))
                self._told |= {name: value for name, value in told.items() if value is not None}
                self._stop(mapping(event.get("delta")))
            case "message_stop":
                self.is_ended = True
            case _:
                pass  # The API adds events now and then.

    def _begin(self, index: int, block: Block) -> None:
        into = WRITTEN_INTO.get(str(block.get("type")), "")
        begun = block.pop(into, None) if into else None
        if into in ("text", "input"):  # Nulls are what the API has to say of nothing; it does not want them back.
            block = {name: value for name, value in block.items() if value is not None}
        self._parts[index] = part = self._assembly.begin(block, into)
        if begun:
            self._assembly.write(part, begun if isinstance(begun, str) else json.dumps(begun, ensure_ascii=False))

    def _add(self, part: Part, delta: Mapping[str, Any]) -> None:
        match delta.get("type"):
            case "text_delta":
                self._assembly.write(part, str(delta.get("text") or ""))
            case "input_json_delta":
                self._assembly.write(part, str(delta.get("partial_json") or ""))
            case "thinking_delta":
                self._assembly.write(part, str(delta.get("thinking") or ""))
            case "signature_delta" | "compaction_delta":
                # To be sent back as it came: nothing that stands in it is left out.
                part.block.update({name: value for name, value in delta.items() if name != "type"})
            case _:
                pass

    def _stop(self, delta: Mapping[str, Any]) -> None:
        self._stop_reason = str(delta.get("stop_reason") or "")
        details = mapping(delta.get("stop_details"))
        said = [str(details[name]) for name in ("category", "explanation") if details.get(name)]
        self._detail = ": ".join(said)[:MOST_DETAIL]


def usage_of(told: Mapping[str, Any]) -> Usage:
    """All that is paid for: compacting is not in the totals, but among the iterations."""
    found = _counted(told)
    iterations = told.get("iterations")
    for one in cast(list[object], iterations) if isinstance(iterations, list) else []:
        if mapping(one).get("type") == "compaction":
            found += _counted(mapping(one))
    return found + Usage(calls=1)


def _counted(told: Mapping[str, Any]) -> Usage:
    cached, written = _number(told, "cache_read_input_tokens"), _number(told, "cache_creation_input_tokens")
    return Usage(
        input_tokens=_number(told, "input_tokens") + cached + written,
        cached_tokens=cached,
        written_tokens=written,
        written_hour_tokens=min(written, _number(mapping(told.get("cache_creation")), "ephemeral_1h_input_tokens")),
        output_tokens=_number(told, "output_tokens"),
    )


def _number(told: Mapping[str, Any], name: str) -> int:
    value = told.get(name)
    return value if isinstance(value, int) and value >= 0 else 0


def mapping(value: object) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}
