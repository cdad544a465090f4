"""Turns as OpenAI's chat completions want them.

Turns of one side that follow each other become one message: the templates of many models take no other order. Thoughts
and a provider's summaries are for who made them, and are left out. The same turns are always the same messages.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from recollect.llm.talking import Block, Request, Tool

Message: TypeAlias = dict[str, Any]
NO_IMAGE = "[An image, which this model cannot see.]"
BETWEEN = "\n\n"
"""Between texts that were blocks of their own."""


def messages_of(request: Request, *, sees: bool) -> list[Message]:
    """`sees`: whether images are sent, or a word in their place."""
    system = BETWEEN.join(section for section in request.system if section.strip())
    messages: list[Message] = [{"role": "system", "content": system}] if system else []
    for role, blocks in _joined(request):
        if role == "assistant":
            messages += _assistant(blocks)
        else:
            messages += [_result(block) for block in blocks if block.get("type") == "tool_result"]
            messages += _user([block for block in blocks if block.get("type") != "tool_result"], sees=sees)
    return messages


def tools_of(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)},
        }
        for tool in tools
    ]


def _joined(request: Request) -> Iterator[tuple[str, list[Block]]]:
    role, blocks = "", list[Block]()
    for turn in request.turns:
        said = [block for block in turn.content if _is_sent(block)]
        if not said:
            continue
        # A result stands right behind its use: it never joins words that came before it.
        if turn.role != role or any(block.get("type") == "tool_result" for block in said):
            if blocks:
                yield role, blocks
            role, blocks = turn.role, []
        blocks = blocks + said
    if blocks:
        yield role, blocks


def _is_sent(block: Block) -> bool:
    match block.get("type"):
        case "text":
            return bool(str(block.get("text") or "").strip())
        case "image" | "tool_use" | "tool_result":
            return True
        case _:
            return False


def _assistant(blocks: Sequence[Block]) -> list[Message]:
    text = BETWEEN.join(block["text"] for block in blocks if block["type"] == "text")
    calls = [
        {
            "id": block["id"],
            "type": "function",
            "function": {"name": block["name"], "arguments": json.dumps(block.get("input") or {}, ensure_ascii=False)},
        }
        for block in blocks
        if block["type"] == "tool_use"
    ]
    message: Message = {"role": "assistant", "content": text or None}
    return [message | {"tool_calls": calls}] if calls else [message]


def _result(block: Block) -> Message:
    """A tool answers in words only."""
    content = block.get("content")
    if isinstance(content, list | tuple):
        parts = cast(Sequence[Mapping[str, Any]], content)
        content = BETWEEN.join(str(part.get("text") or NO_IMAGE) for part in parts)
    return {"role": "tool", "tool_call_id": block["tool_use_id"], "content": str(content or "")}


def _user(blocks: Sequence[Block], *, sees: bool) -> list[Message]:
    if not blocks:
        return []
    parts = [_part(block, sees=sees) for block in blocks]
    if any(part["type"] == "image_url" for part in parts):
        return [{"role": "user", "content": parts}]
    return [{"role": "user", "content": BETWEEN.join(part["text"] for part in parts)}]  # Every server reads a text.


def _part(block: Block, *, sees: bool) -> dict[str, Any]:
    if block["type"] != "image":
        return {"type": "text", "text": str(block.get("text") or "")}
    source = cast(Mapping[str, Any], block.get("source") or {})
    if not sees:
        return {"type": "text", "text": NO_IMAGE}
    url = source.get("url") or f"data:{source.get('media_type')};base64,{source.get('data')}"
    return {"type": "image_url", "image_url": {"url": url}}
