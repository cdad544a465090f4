"""Claude.ai: the export that a person asks for, `conversations.json`.

A conversation is a list of messages in the order in which they were made. Each names the message it answers; when the
person edited a prompt or asked for another reply, only the way from the last message to the beginning is what was last
seen. Facts behind each rule: `docs/sources/claude-ai.md`.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from recollect.clock import parse_time
from recollect.history.messages import Author, Block, Entry, Standing
from recollect.history.sources.exports import Export, Times, conversation_facts, conversations, is_export, lines
from recollect.history.sources.fields import (
    as_dict,
    as_list,
    as_text,
    identifier,
    image_block,
    short,
    text_block,
    thinking_block,
    title_of,
    tool_call,
    tool_result,
    words_of,
)
from recollect.history.sources.source import FileFacts, Head, Opened, Transcript
from recollect.ids import derived_id
from recollect.redaction import mask

NAME = "claude-ai"

ROOT = "00000000-0000-4000-8000-000000000000"
"""What the first message names as the one before it."""

_MARK = re.compile(rb'"chat_messages"\s*:\s*\[')
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_VOLATILE = frozenset({"chat_messages", "updated_at", "current_leaf_message_uuid"})
"""Of a conversation, not repeated in its header: what changes though nothing was said."""
_AUTHORS = {"human": Author.USER, "user": Author.USER, "assistant": Author.ASSISTANT}

_PASTE = re.compile(r"(?:paste(?:[-_ ]?\d+| \(\d+\))?\.txt)?", re.IGNORECASE)
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|webp|heic|bmp|svg)$", re.IGNORECASE)
_INLINE_THOUGHT = re.compile(r"<antThinking>(.*?)</antThinking>\s*", re.DOTALL)
_PLACEHOLDER = re.compile(
    r"\s*```\n(?:This block is not supported on your current device yet\.|"
    r"Viewing artifacts created via the Analysis Tool web feature preview isn.t yet supported on mobile\.)\n```\s*"
)
"""What the plain text of a message has in the place of a tool call."""


class ClaudeAi(Export):
    name = NAME
    title = "Claude.ai export"

    def recognises(self, head: Head) -> bool:
        return is_export(head, "chat_messages", _MARK)

    def transcripts(self, opened: Opened, facts: FileFacts) -> Iterator[Transcript]:
        times = Times(opened)
        for conversation in conversations(opened, "chat_messages", list, "name"):
            title = title_of(conversation.get("name"))
            listed = as_list(conversation["chat_messages"])
            messages = [message for message in map(as_dict, listed) if message]
            if len(messages) < len(listed):
                lost = len(listed) - len(messages)
                opened.report(f"{lost} messages of the conversation {title!r} are left out: they are not objects.")
            made = [message.get("created_at") for message in messages]
            times.check("created_at", made, title)
            version = times.version("updated_at", conversation.get("updated_at"), made, title)
            if messages:
                records = _records(conversation, messages)
                own = conversation_facts(_identity(conversation))
                yield Transcript(facts=own, records=lines(records, opened.report), version=version)

    def read_message(self, record: dict[str, Any], facts: FileFacts) -> Entry:
        return _message(record, facts)

    def read_header(self, conversation: dict[str, Any]) -> Entry:
        return _header(conversation)


def _identity(conversation: dict[str, Any]) -> str:
    named = identifier(conversation.get("uuid")) or identifier(conversation.get("id"))
    return named or derived_id(NAME, as_text(conversation.get("created_at")), title_of(conversation.get("name")))


def _records(conversation: dict[str, Any], messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    identity = _identity(conversation)
    visible = _last_seen(messages, conversation.get("current_leaf_message_uuid"))
    yield {"conversation": {key: value for key, value in conversation.items() if key not in _VOLATILE}}
    for place, message in enumerate(messages):
        yield {"conversation_uuid": identity, "visible": place in visible, "message": message}


def _last_seen(messages: list[dict[str, Any]], leaf: Any) -> set[int]:
    """The places of the messages on the way from the last one to the beginning; all where nothing tells branches.

    A message whose predecessor is not in the file goes on from the one before it: a lost message makes nobody seem to
    have gone back.
    """
    if not any(message.get("parent_message_uuid") for message in messages):
        return set(range(len(messages)))
    places = {uuid: place for place, message in enumerate(messages) if (uuid := as_text(message.get("uuid")))}
    parents: dict[int, int] = {}
    for place, message in enumerate(messages):
        parent = as_text(message.get("parent_message_uuid"))
        if parent in places or (parent != ROOT and place):
            parents[place] = places.get(parent, place - 1)
    current: int | None = places.get(as_text(leaf))
    if current is None:
        answered = set(parents.values())
        leaves = [place for place in range(len(messages)) if place not in answered] or [len(messages) - 1]
        current = max(leaves, key=lambda place: (parse_time(messages[place].get("created_at")) or "", place))
    path: set[int] = set()
    while current is not None and current not in path:
        path.add(current)
        current = parents.get(current)
    return path


def _header(conversation: dict[str, Any]) -> Entry:
    entry = Entry(kind="conversation", at=parse_time(conversation.get("created_at")))
    entry.session_id = _identity(conversation)
    entry.title = title_of(conversation.get("name"))
    entry.model = short(conversation.get("model"))
    return entry


def _message(record: dict[str, Any], facts: FileFacts) -> Entry:
    message = as_dict(record["message"])
    sender = short(message.get("sender"), 80)
    entry = Entry(kind=sender or "(no sender)", at=parse_time(message.get("created_at")))
    entry.session_id = identifier(record.get("conversation_uuid")) or facts.session_id
    entry.model = short(message.get("model"))
    entry.author = _AUTHORS.get(sender, Author.MACHINE)
    entry.standing = Standing.ASIDE if entry.author is Author.MACHINE else Standing.SAID
    if record.get("visible") is False:
        entry.standing = Standing.ABANDONED
    content_blocks, types = _content(message, entry.author)
    entry.blocks = content_blocks + _attachments(message, content_blocks)
    entry.text = words_of(entry.blocks)
    entry.counted_blocks = tuple(f"{entry.author}:{kind}" for kind in types)
    for block in entry.blocks:
        block.pop("file", None)
    if entry.blocks:
        _name(entry, message)
    return entry


def _name(entry: Entry, message: dict[str, Any]) -> None:
    """A uuid is enough; other ids, of other programs' exports, only say which message of this conversation it is."""
    uuid = as_text(message.get("uuid"))
    if _UUID.fullmatch(uuid):
        entry.key = uuid.lower()
        return
    named = (uuid,) if uuid else (entry.at or "", entry.author, mask(entry.text))
    entry.key = derived_id(NAME, entry.session_id, *named)
    entry.key_by_place = not (uuid or entry.at)


# --- The content ------------------------------------------------------------------------------------------------------


def _content(message: dict[str, Any], author: Author) -> tuple[list[Block], list[str]]:
    """Its blocks, and the types of all of them, also of those that only the vault keeps.

    The field `text` says the same once more, with a remark in the place of each tool call, so it counts only where the
    blocks say nothing.
    """
    blocks: list[Block] = []
    types: list[str] = []
    for item in _items(message.get("content")):
        types.append(short(as_dict(item).get("type"), 80) or "(no type)")
        blocks += _item_blocks(as_dict(item), types[-1], author)
    if not blocks:
        blocks = _text_blocks(as_text(message.get("text")), author)
        types += [block["type"] for block in blocks]
    return blocks, types


def _items(content: Any) -> list[Any]:
    """Some programs write the blocks as one string: as JSON, or as plain words."""
    if not isinstance(content, str):
        return as_list(content)
    if content.lstrip().startswith("["):
        try:
            return as_list(msgspec.json.decode(content))
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            pass
    return [{"type": "text", "text": content}]


def _item_blocks(item: dict[str, Any], kind: str, author: Author) -> list[Block]:
    if kind in ("text", "voice_note"):
        return _text_blocks(as_text(item.get("text")), author)
    if kind in ("thinking", "redacted_thinking"):
        return [thinking_block(item.get("thinking"))]
    if kind == "tool_use":
        return [tool_call(item.get("name"), item.get("id"), item.get("input"))]
    if kind == "tool_result":
        return [tool_result(item.get("tool_use_id"), _length(item.get("content")), error=bool(item.get("is_error")))]
    if kind in ("image", "document"):
        return [_file_block(item, item.get("title"), kind)]
    return []


def _text_blocks(text: str, author: Author) -> list[Block]:
    """The words; of an assistant, without what stands in the place of thinking and of tools."""
    if author is not Author.ASSISTANT:
        return [text_block(text)] if text.strip() else []
    thoughts = _INLINE_THOUGHT.findall(text) if "<antThinking>" in text else []
    if thoughts:
        text = _INLINE_THOUGHT.sub("", text)
    if "```\n" in text:
        text = _PLACEHOLDER.sub("\n\n", text)
    words = [text_block(text.strip())] if text.strip() else []
    return [*(thinking_block(thought) for thought in thoughts), *words]


def _length(content: Any) -> int:
    """Of what a tool gave back: the characters of its texts."""
    if isinstance(content, str):
        return len(content)
    return sum(len(as_text(as_dict(item).get("text")) or as_text(item)) for item in as_list(content))


def _attachments(message: dict[str, Any], content_blocks: list[Block]) -> list[Block]:
    """Long pasted words become a nameless file on Claude's page: they are words all the same. Other files are named."""
    blocks: list[Block] = []
    names: set[str] = set()
    seen = {block["file"] for block in content_blocks if block.get("file")}
    for attachment in map(as_dict, as_list(message.get("attachments"))):
        name, pasted = short(attachment.get("file_name")), as_text(attachment.get("extracted_content"))
        names.add(name)
        if _PASTE.fullmatch(name) and pasted.strip():
            blocks.append(text_block(pasted))
        elif attachment:
            blocks.append(_file_block(attachment, name, "document"))
    for file in map(as_dict, as_list(message.get("files")) or as_list(message.get("files_v2"))):
        name = short(file.get("file_name"))
        is_picture = file.get("file_kind") == "image" or _PICTURE.search(name)
        if file and name not in names and as_text(file.get("file_uuid")) not in seen:
            blocks.append(_file_block(file, name, "image" if is_picture else "document"))
    return blocks


def _file_block(fields: dict[str, Any], name: Any, kind: str) -> Block:
    """`file`: to tell the same file in two lists of a message."""
    block = image_block(fields.get("file_type"), kind=kind)
    size = fields.get("file_size")
    if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 1 << 53:
        block["bytes"] = size
    if short(name):
        block["name"] = short(name)
    return {**block, "file": as_text(fields.get("file_uuid"))}
