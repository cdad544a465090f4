"""Reading the fields of a foreign record, any of which may be missing or hold something else one day."""

from functools import cache
from typing import Any, TypeVar, cast

import msgspec

from recollect.history.messages import MASK_MARGIN, SUMMARY_CHARACTERS, TOOL_TEXT_CHARACTERS, Block
from recollect.history.records import decode_lenient
from recollect.history.sources.source import BadRecord
from recollect.ids import derived_id
from recollect.texts import clean

_SUMMARY_KEYS = (
    "command",
    "cmd",
    "file_path",
    "filePath",
    "notebook_path",
    "pattern",
    "path",
    "query",
    "url",
    "description",
    "prompt",
)
_decode = msgspec.json.Decoder().decode
T = TypeVar("T", bound=msgspec.Struct)


def read_object(raw: bytes) -> dict[str, Any]:
    """The JSON object in these bytes. Raises BadRecord."""
    try:
        value = _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        try:
            value = decode_lenient(raw)
        except (ValueError, RecursionError) as error:
            raise BadRecord(f"not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadRecord("not a JSON object")
    return cast(dict[str, Any], value)


def chosen(kind: type[T], fields: dict[str, Any]) -> T:
    """The fields that a Struct names. By hand: `msgspec.convert` raises on a name with a lone surrogate."""
    return kind(**{name: fields[key] for name, key in _names(kind) if key in fields})


@cache
def _names(kind: type[msgspec.Struct]) -> list[tuple[str, str]]:
    return [(field.name, field.encode_name) for field in msgspec.structs.fields(kind)]


def as_dict(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def as_text(value: Any) -> str:
    """Words, made fit for every store; empty when there are none."""
    return clean(value) if isinstance(value, str) else ""


def identifier(value: Any) -> str:
    if not value or not isinstance(value, str):
        return ""
    return value if len(value) <= 120 and value.isascii() and value.isprintable() else derived_id(value)


def short(value: Any, characters: int = 200) -> str:
    """A name, or a number that stands for one."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return clean(value)[:characters] if isinstance(value, str) else ""


def title_of(value: Any) -> str:
    return short(value, 300 + MASK_MARGIN).strip()


def text_block(text: str) -> Block:
    return {"type": "text", "text": text}


def words_of(blocks: list[Block]) -> str:
    return "\n\n".join(block["text"] for block in blocks if block["type"] == "text")


def thinking_block(thought: Any) -> Block:
    return {"type": "thinking", "characters": len(thought) if isinstance(thought, str) else 0}


def tool_call(name: Any, call: Any, given: Any) -> Block:
    """`given` is what the tool was called with: an object, JSON text of one, or plain words."""
    return {"type": "tool_call", "name": short(name) or "tool", "call": identifier(call), "summary": _summary(given)}


def tool_result(call: Any, characters: int, *, error: bool = False) -> Block:
    return {"type": "tool_result", "call": identifier(call), "error": error, "characters": characters}


def image_block(media_type: Any, data: Any = None, kind: str = "image") -> Block:
    """`data` in base64; only its size is kept."""
    size = len(data) * 3 // 4 if isinstance(data, str) else 0
    return {"type": kind, "media_type": short(media_type), "bytes": size}


def output_text(parts: list[str]) -> tuple[str, int]:
    """What a tool printed, cut for keeping, and how long all of it is."""
    return clean("\n".join(parts)[: TOOL_TEXT_CHARACTERS + MASK_MARGIN]), sum(len(part) for part in parts)


def _summary(given: Any) -> str:
    if isinstance(given, str):
        if given.lstrip()[:1] != "{":
            return clean(given[: SUMMARY_CHARACTERS + MASK_MARGIN])
        try:
            given = _decode(given)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return clean(given[: SUMMARY_CHARACTERS + MASK_MARGIN])
    fields = as_dict(given)
    for name in _SUMMARY_KEYS:
        text = fields.get(name)
        if isinstance(text, list):
            text = " ".join(item for item in cast(list[Any], text) if isinstance(item, str))
        if isinstance(text, str) and text.strip():
            return clean(text[: SUMMARY_CHARACTERS + MASK_MARGIN])
    small = {name: item for name, item in fields.items() if isinstance(item, str | int | float | bool)}
    return clean(", ".join(f"{name}: {item}" for name, item in small.items())[: SUMMARY_CHARACTERS + MASK_MARGIN])
