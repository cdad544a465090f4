"""The content blocks of Pi's messages: text, tool calls, thinking, images."""

from typing import Any

from recollect.history.messages import Block
from recollect.history.sources.fields import (
    as_dict,
    as_list,
    as_text,
    image_block,
    short,
    text_block,
    thinking_block,
    tool_call,
)

_CALLS = frozenset(["toolCall", "toolUse", "functionCall"])
"""Pi's own name for it, and two that OpenClaw takes over from other programs."""


def content_blocks(content: Any, role: str) -> tuple[list[Block], tuple[str, ...]]:
    """What is kept of a message's content, in its order, and the types of all it had."""
    blocks: list[Block] = []
    counted: list[str] = []
    for item in [content] if isinstance(content, str) else as_list(content):
        fields = {"type": "text", "text": item} if isinstance(item, str) else as_dict(item)
        kind = short(fields.get("type"), 80)
        counted.append(f"{role}:{kind}")
        block = _block(kind, fields)
        if block:
            blocks.append(block)
    return blocks, tuple(counted)


def printed_texts(content: Any) -> tuple[list[str], list[Any]]:
    """What a tool printed, as it is, and the rest of its content: output is long, and little of it is kept."""
    if isinstance(content, str):
        return [content], []
    texts: list[str] = []
    others: list[Any] = []
    for item in as_list(content):
        text = as_dict(item).get("text")
        if isinstance(text, str):
            texts.append(text)
        else:
            others.append(item)
    return texts, others


def _block(kind: str, fields: dict[str, Any]) -> Block | None:
    if kind == "text":
        text = as_text(fields.get("text"))
        return text_block(text) if text else None
    if kind in _CALLS:
        return tool_call(fields.get("name"), fields.get("id"), fields.get("arguments"))
    if kind == "thinking":
        return thinking_block(fields.get("thinking"))
    if kind == "image":
        return image_block(fields.get("mimeType"), fields.get("data"))
    return None
