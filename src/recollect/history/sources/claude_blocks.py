"""The content blocks of Claude Code's messages: text, tool calls and results, thinking, images.

A message keeps its words; what tools took and gave is kept as a line each. All of it stays in the vault.
"""

from typing import Any, cast

from recollect.history.messages import MASK_MARGIN, SUMMARY_CHARACTERS, TOOL_TEXT_CHARACTERS, Block, clean
from recollect.ids import derived_id

_SUMMARY_KEYS = (
    "command",
    "file_path",
    "notebook_path",
    "pattern",
    "path",
    "query",
    "url",
    "description",
    "prompt",
)


_OURS = frozenset({"tool_call", "other"})
"""Types of blocks that we give: a foreign block may not pass for one of them."""


def identifier(value: Any) -> str:
    if not value or not isinstance(value, str):
        return ""
    return value if len(value) <= 120 and value.isascii() and value.isprintable() else derived_id(value)


def as_dict(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


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
        return {
            "type": "tool_call",
            "name": clean(str(fields.get("name", ""))),
            "call": identifier(fields.get("id")),
            "summary": _input_summary(fields.get("input")),
        }
    if kind == "tool_result":
        output, characters = _output(fields.get("content"))
        return {
            "type": "tool_result",
            "call": identifier(fields.get("tool_use_id")),
            "error": bool(fields.get("is_error")),
            "characters": characters,
            "output": output,
        }
    if kind in ("thinking", "redacted_thinking"):
        thought = fields.get("thinking")
        return {"type": "thinking", "characters": len(thought) if isinstance(thought, str) else 0}
    if kind in ("image", "document"):
        source = as_dict(fields.get("source"))
        data = source.get("data")
        size = len(data) * 3 // 4 if isinstance(data, str) else 0
        return {"type": kind, "media_type": clean(str(source.get("media_type", ""))), "bytes": size}
    return {"type": "other", "name": kind} if kind in _OURS else {"type": kind}


def _input_summary(value: Any) -> str:
    fields = as_dict(value)
    for name in _SUMMARY_KEYS:
        text = fields.get(name)
        if isinstance(text, str) and text.strip():
            return clean(text[: SUMMARY_CHARACTERS + MASK_MARGIN])
    if not fields:
        return ""
    small = {name: item for name, item in fields.items() if isinstance(item, str | int | float | bool)}
    return clean(", ".join(f"{name}: {item}" for name, item in small.items())[: SUMMARY_CHARACTERS + MASK_MARGIN])


def _output(content: Any) -> tuple[str, int]:
    """What a tool printed, cut for keeping, and how long all of it is."""
    if isinstance(content, str):
        parts = [content]
    else:
        items = cast(list[Any], content) if isinstance(content, list) else []
        parts = [text for item in items if isinstance(text := as_dict(item).get("text"), str)]
    characters = sum(len(part) for part in parts)
    return clean("\n".join(parts)[: TOOL_TEXT_CHARACTERS + MASK_MARGIN]), characters
