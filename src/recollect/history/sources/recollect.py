"""Recollect's own conversation: what was said to its mind and by it.

It lies in no file: the mind hands each record to `history.appending`, and the vault has the only copy. A copy that was
written out as JSON lines is read like any other transcript.

One object a record: `recollect` ("mind"), `id`, `agent`, `role` (user, assistant, tool, note), `channel`, `at`, `model`
and `content`, whose blocks have the form of Anthropic's API; of a thought only its length is there. A `file` is ours:
`name`, `media_type` and `data` in base64. What else a record holds (`head`, `outreach`, `stopped`) is the mind's own.
"""

from typing import Any

from recollect.clock import parse_time
from recollect.history.messages import Author, Block, Entry, Standing
from recollect.history.sources.fields import (
    as_dict,
    as_list,
    as_text,
    image_block,
    output_text,
    read_object,
    short,
    text_block,
    tool_call,
    tool_result,
    words_of,
)
from recollect.history.sources.source import BadRecord, FileFacts, Head, Source
from recollect.ids import derived_id

NAME = "recollect"
FORM = "mind"
_AUTHORS = {
    "user": Author.USER,
    "assistant": Author.ASSISTANT,
    "tool": Author.TOOL,
    "note": Author.MACHINE,
}


def session_of(agent: str) -> str:
    """One session for each agent, for ever."""
    return f"mind-{agent}"


def message_id(record_id: str) -> str:
    return derived_id(NAME, record_id)


class RecollectChat(Source):
    name = NAME
    title = "Recollect's own conversation"
    parser_version = 1

    def is_candidate(self, path: str) -> bool:
        return path.endswith(".jsonl")

    def recognises(self, head: Head) -> bool:
        return any(record.get(NAME) == FORM for record in head.records)

    def parse(self, raw: bytes, facts: FileFacts) -> Entry:
        record = read_object(raw)
        author, identity = _AUTHORS.get(as_text(record.get("role"))), short(record.get("id"))
        if record.get(NAME) != FORM or author is None or not identity:
            raise BadRecord("no record of Recollect's own conversation")
        blocks = [block for given in as_list(record.get("content")) if (block := _block(as_dict(given)))]
        entry = Entry(kind=author, at=parse_time(record.get("at")), key=message_id(identity), author=author)
        entry.session_id = session_of(short(record.get("agent")))
        entry.model = short(record.get("model"))
        is_said = author in (Author.USER, Author.ASSISTANT)
        entry.standing = Standing.SAID if is_said else Standing.ASIDE
        entry.message_kind = "" if is_said or author is Author.TOOL else "context"
        entry.text = _printed(record) if author is Author.TOOL else words_of(blocks)
        entry.blocks = blocks
        entry.counted_blocks = tuple(f"{author}:{block['type']}" for block in blocks)
        return entry


def _block(given: dict[str, Any]) -> Block | None:
    match given.get("type"):
        case "text":
            return text_block(as_text(given.get("text")))
        case "tool_use":
            return tool_call(given.get("name"), given.get("id"), given.get("input"))
        case "tool_result":
            characters = sum(map(len, _texts(given)))
            return tool_result(given.get("tool_use_id"), characters, error=bool(given.get("is_error")))
        case "image":
            source = as_dict(given.get("source"))
            return image_block(source.get("media_type"), source.get("data"))
        case "file":
            return _file(given)
        case "thinking":
            length = given.get("characters")
            return {"type": "thinking", "characters": length if isinstance(length, int) else 0}
        case _:
            return None


def _file(given: dict[str, Any]) -> Block:
    """Its bytes stay in the vault, like those of an image."""
    block, name = image_block(given.get("media_type"), given.get("data"), "document"), short(given.get("name"))
    return {**block, "name": name} if name else block


def _printed(record: dict[str, Any]) -> str:
    return output_text([text for given in as_list(record.get("content")) for text in _texts(as_dict(given))])[0]


def _texts(given: dict[str, Any]) -> list[str]:
    content = given.get("content")
    if isinstance(content, str):
        return [as_text(content)]
    return [as_text(as_dict(part).get("text")) for part in as_list(content)]
