"""The content blocks of Claude Code's messages: text, tool calls and results, thinking, images.

A message keeps its words; what tools took and gave is kept as a line each. All of it stays in the vault.
"""

from typing import Any, cast

from recollect.history.messages import Block
from recollect.history.sources.fields import as_dict, image_block, output_text, thinking_block, tool_call, tool_result
from recollect.texts import clean

_OURS = frozenset({"tool_call", "other"})
"""Types of blocks that we give: a foreign block may not pass for one of them."""


def content_blocks(content: Any, role: str) -> tuple[list[Block], tuple[str, ...]]:
    if isinstance(content, str):
        return [{"type": "text", "text": clean(content)}], (f"{role}:text",)
    blocks: list[Block] = []
    counted: list[str] = []
    for item in cast(list[Any], content) if isinstance(content, list) else []:
        if isinstance(item, str):
            item = {"type": "text", "text": item}
        if not isinstance(item, dict):
            continue
        fields = cast(dict[str, Any], item)
        kind = clean(str(fields.get("type")))[:80]
        counted.append(f"{role}:{kind}")
        blocks.append(_block(kind, fields))
    return blocks, tuple(counted)


def _block(kind: str, fields: dict[str, Any]) -> Block:
    if kind == "text":
        text = fields.get("text")
        return {"type": "text", "text": clean(text) if isinstance(text, str) else ""}
    if kind == "tool_use":
        return tool_call(fields.get("name"), fields.get("id"), fields.get("input"))
    if kind == "tool_result":
        output, characters = _output(fields.get("content"))
        error = bool(fields.get("is_error"))
        return {**tool_result(fields.get("tool_use_id"), characters, error=error), "output": output}
    if kind in ("thinking", "redacted_thinking"):
        return thinking_block(fields.get("thinking"))
    if kind in ("image", "document"):
        source = as_dict(fields.get("source"))
        return image_block(source.get("media_type"), source.get("data"), kind)
    return {"type": "other", "name": kind} if kind in _OURS else {"type": kind}


def _output(content: Any) -> tuple[str, int]:
    """What a tool printed, cut for keeping, and how long all of it is."""
    if isinstance(content, str):
        parts = [content]
    else:
        items = cast(list[Any], content) if isinstance(content, list) else []
        parts = [text for item in items if isinstance(text := as_dict(item).get("text"), str)]
    return output_text(parts)
