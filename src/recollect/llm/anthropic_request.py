"""A request as Anthropic's API wants it.

Its bytes depend on the request alone, and a conversation that goes on only adds to their end: all that moves is the
cache marks, which are no part of what is cached. There are three of them. One stands behind the system prompt, which
outlives a compaction. One stands at the end, for the next request to read. And one stands where the end was at the
request before: the API looks only twenty blocks back from a mark for something that it has kept.
"""

from collections.abc import Sequence
from typing import Any, cast

from recollect.llm.anthropic_access import sendable
from recollect.llm.anthropic_betas import LEAST_TRIGGER_TOKENS, THRESHOLD_EDIT
from recollect.llm.talking import Block, Condensing, Request, Tool, Turn

HOUR: Block = {"type": "ephemeral", "ttl": "1h"}
SHORT: Block = {"type": "ephemeral", "ttl": "5m"}
CACHE_SECONDS = 3_600
UNMARKED = ("thinking", "redacted_thinking")
"""Kinds of blocks that take no mark."""
END_OF_TALK: Block = {"type": "text", "text": "[Here the conversation pauses and is summed up.]"}
"""The threshold edit takes only a conversation that ends with a user's turn."""


def body_of(model: str, request: Request, *, thinks: bool) -> dict[str, Any]:
    turns = _said(request.turns)
    return _head(model, request, thinks) | {"messages": _messages(turns, _ends(turns), HOUR)}


def condensing_body(
    model: str, request: Request, instructions: str, kind: Condensing, *, thinks: bool
) -> dict[str, Any]:
    """The same system prompt, tools and turns as in the conversation, so that its cache is read. The marks are short:
    what they would write nobody asks for again."""
    turns = _said(request.turns)
    marked = [number for number, turn in enumerate(turns) if turn.role == "user"][-2:]
    body = _head(model, request, thinks)
    if kind is Condensing.ON_DEMAND:
        asked = {"type": "summarize", "instructions": sendable(instructions)}
        return body | {"messages": _messages(turns, marked, SHORT), "compaction": asked}
    if turns and turns[-1].role != "user":
        turns.append(Turn(role="user", content=(END_OF_TALK,)))
    edit: dict[str, Any] = {
        "type": THRESHOLD_EDIT,
        "trigger": {"type": "input_tokens", "value": LEAST_TRIGGER_TOKENS},
        "instructions": sendable(instructions) or None,
        "pause_after_compaction": True,
    }
    return body | {"messages": _messages(turns, marked, SHORT), "context_management": {"edits": [edit]}}


def _head(model: str, request: Request, thinks: bool) -> dict[str, Any]:
    body: dict[str, Any] = {"model": model, "max_tokens": request.most_output_tokens}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    sections: list[Block] = [{"type": "text", "text": sendable(text)} for text in request.system if text.strip()]
    if sections:
        sections[-1]["cache_control"] = HOUR
        body["system"] = sections
    if thinks:
        body["thinking"] = {"type": "adaptive"}
    return body


def _tool(tool: Tool) -> dict[str, Any]:
    if tool.kind:
        return {"type": tool.kind, "name": tool.name}
    return {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}


def _said(turns: Sequence[Turn]) -> list[Turn]:
    """Without texts that say nothing, which the API refuses."""
    kept = [Turn(role=turn.role, content=tuple(block for block in turn.content if _says(block))) for turn in turns]
    return [turn for turn in kept if turn.content]


def _says(block: Block) -> bool:
    return block.get("type") != "text" or bool(str(block.get("text") or "").strip())


def _ends(turns: Sequence[Turn]) -> list[int]:
    """The last turn, and the user's turn before it."""
    last = len(turns) - 1
    before = [number for number, turn in enumerate(turns[:-1]) if turn.role == "user"]
    return [*before[-1:], last] if turns else []


def _messages(turns: Sequence[Turn], marked: Sequence[int], mark: Block) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for number, turn in enumerate(turns):
        content = [cast(Block, _clean(block)) for block in turn.content]
        messages.append({"role": turn.role, "content": _marked(content, mark) if number in marked else content})
    return messages


def _marked(content: list[Block], mark: Block) -> list[Block]:
    for number in range(len(content) - 1, -1, -1):
        if content[number].get("type") not in UNMARKED:
            return [*content[:number], {**content[number], "cache_control": mark}, *content[number + 1 :]]
    return content


def _clean(value: Any) -> Any:
    """The same, in characters that can be sent."""
    match value:
        case str():
            return value if value.isascii() else sendable(value)
        case dict():
            return {str(name): _clean(inner) for name, inner in cast(dict[str, Any], value).items()}
        case list() | tuple():
            return [_clean(inner) for inner in cast(list[Any], value)]
        case _:
            return value
