"""ChatGPT: the export that a person asks for, `conversations.json` or `conversations-000.json` and on.

A conversation is a tree: editing a prompt or asking for another reply starts a branch. What the person saw last is the
way from `current_node` to the root; all other branches were left. Every node with a message becomes a record, in the
order of the tree. Facts behind each rule: `docs/sources/chatgpt.md`.
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
    output_text,
    short,
    text_block,
    thinking_block,
    title_of,
    tool_call,
    tool_result,
)
from recollect.history.sources.source import FileFacts, Head, Opened, Transcript
from recollect.ids import derived_id

NAME = "chatgpt"

_MARK = re.compile(rb'"mapping"\s*:\s*\{')
_SIBLINGS = frozenset({"title", "create_time", "update_time", "current_node", "conversation_id"})
_VOLATILE = frozenset({"mapping", "current_node", "update_time"})
"""Of a conversation, not repeated in its header: what changes though nothing was said."""

_THINKING = frozenset({"thoughts", "reasoning_recap"})
_CONTEXT = frozenset({"user_editable_context", "model_editable_context"})
_WORDS = {
    "user_editable_context": ("user_profile", "user_instructions"),
    "model_editable_context": ("model_set_context",),
    "tether_quote": ("title", "url", "text"),
    "tether_browsing_display": ("summary", "result"),
    "sonic_webpage": ("title", "url", "text"),
    "citable_code_output": ("output_str",),
}
_ANY_WORDS = ("text", "result", "content", "output_str")
_SOUND = re.compile(r"audio|video")

_ANY_MARKER = re.compile("[\ue200-\ue206]")
_MARKER = re.compile("([ \t]*)\ue200([^\ue200\ue201]*)\ue201")
_STRAY_MARKERS = re.compile("\ue200[a-z_]*(?:\ue202turn[0-9]+[a-z]+[0-9]+)*|[\ue200-\ue206]")


class ChatGpt(Export):
    name = NAME
    title = "ChatGPT export"

    def recognises(self, head: Head) -> bool:
        is_named = "mapping" in head.keys and _SIBLINGS & head.keys
        return is_export(head, "mapping", _MARK) and bool(is_named or b'"current_node"' in head.start)

    def transcripts(self, opened: Opened, facts: FileFacts) -> Iterator[Transcript]:
        times = Times(opened)
        for conversation in conversations(opened, "mapping", dict, "title"):
            title = title_of(conversation.get("title"))
            nodes = _nodes(conversation)
            made = [node["message"].get("create_time") for node in nodes]
            times.check("create_time", made, title)
            version = times.version("update_time", conversation.get("update_time"), made, title)
            if nodes:
                header = {key: value for key, value in conversation.items() if key not in _VOLATILE}
                records = [{"conversation": header}, *nodes]
                own = conversation_facts(_identity(conversation))
                yield Transcript(facts=own, records=lines(records, opened.report), version=version)

    def read_message(self, record: dict[str, Any], facts: FileFacts) -> Entry:
        return _message(record, facts)

    def read_header(self, conversation: dict[str, Any]) -> Entry:
        return _header(conversation)


def _identity(conversation: dict[str, Any]) -> str:
    named = identifier(conversation.get("conversation_id")) or identifier(conversation.get("id"))
    return named or derived_id(NAME, str(conversation.get("create_time")), title_of(conversation.get("title")))


# --- The tree ---------------------------------------------------------------------------------------------------------


def _nodes(conversation: dict[str, Any]) -> list[dict[str, Any]]:
    """The nodes that hold a message, in the order of the tree, each with whether it is part of what was last seen.

    A sound conversation is one tree. In a damaged one each part counts as a tree of its own, so that a lost node makes
    nobody seem to have gone back.
    """
    mapping = {name: as_dict(node) for name, node in as_dict(conversation["mapping"]).items()}
    parents = _parents(mapping)
    children = _children(mapping, parents)
    visible: set[str] = set()
    order: list[str] = []
    for tree in _trees(mapping, parents, children):
        order += tree
        visible |= _last_seen(tree, conversation.get("current_node"), mapping, parents, children)
    identity = _identity(conversation)
    return [
        {
            "conversation_id": identity,
            "node": name,
            "parent": parents.get(name),
            "visible": name in visible,
            "message": mapping[name]["message"],
        }
        for name in order
        if isinstance(mapping[name].get("message"), dict)
    ]


def _parents(mapping: dict[str, dict[str, Any]]) -> dict[str, str]:
    parents: dict[str, str] = {}
    for name, node in mapping.items():
        parent = node.get("parent")
        if isinstance(parent, str) and parent in mapping and parent != name:
            parents[name] = parent
    for name, node in mapping.items():
        for child in as_list(node.get("children")):
            if isinstance(child, str) and child in mapping and child != name:
                parents.setdefault(child, name)
    return parents


def _children(mapping: dict[str, dict[str, Any]], parents: dict[str, str]) -> dict[str, list[str]]:
    """In the order that the parent gives, then those it does not name."""
    children: dict[str, dict[str, None]] = {name: {} for name in mapping}
    for name, node in mapping.items():
        for child in as_list(node.get("children")):
            if isinstance(child, str) and parents.get(child) == name:
                children[name][child] = None
    for child, parent in parents.items():
        children[parent][child] = None
    return {name: list(named) for name, named in children.items()}


def _trees(
    mapping: dict[str, dict[str, Any]], parents: dict[str, str], children: dict[str, list[str]]
) -> Iterator[list[str]]:
    """Each as the names of its nodes: first those with a root, then what hangs on nothing, then circles."""
    roots = sorted(
        (name for name in mapping if name not in parents), key=lambda name: bool(mapping[name].get("parent"))
    )
    seen: set[str] = set()
    for root in [*roots, *mapping]:
        tree: list[str] = []
        waiting = [root]
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                tree.append(name)
                waiting += reversed(children[name])
        if tree:
            yield tree


def _last_seen(
    tree: list[str],
    current: Any,
    mapping: dict[str, dict[str, Any]],
    parents: dict[str, str],
    children: dict[str, list[str]],
) -> set[str]:
    members = set(tree)
    if not isinstance(current, str) or current not in members:
        leaves = [name for name in tree if not children[name]] or tree[-1:]
        current = max(
            reversed(leaves), key=lambda name: parse_time(_message_of(mapping[name]).get("create_time")) or ""
        )
    path: set[str] = set()
    name: str | None = current
    while name in members and name not in path:
        path.add(name)
        name = parents.get(name)
    return path


def _message_of(node: dict[str, Any]) -> dict[str, Any]:
    return as_dict(node.get("message"))


# --- The records ------------------------------------------------------------------------------------------------------


def _header(conversation: dict[str, Any]) -> Entry:
    entry = Entry(kind="conversation", at=parse_time(conversation.get("create_time") or None))
    entry.session_id = _identity(conversation)
    entry.title = title_of(conversation.get("title"))
    entry.model = short(conversation.get("default_model_slug"))
    return entry


def _message(record: dict[str, Any], facts: FileFacts) -> Entry:
    message = as_dict(record["message"])
    kind = short(as_dict(message.get("content")).get("content_type"), 80) or "text"
    entry = Entry(kind=kind, at=parse_time(message.get("create_time") or None))
    entry.session_id = identifier(record.get("conversation_id")) or facts.session_id
    metadata = as_dict(message.get("metadata"))
    entry.model = short(metadata.get("model_slug"))
    node = as_text(record.get("node")) or as_text(message.get("id"))
    role = as_dict(message.get("author")).get("role")
    entry.author, entry.message_kind = _author(role, kind, metadata)
    is_speech = entry.author in (Author.USER, Author.ASSISTANT) and message.get("weight") != 0
    entry.standing = Standing.SAID if is_speech else Standing.ASIDE
    if record.get("visible") is False:
        entry.standing = Standing.ABANDONED
    if not _read_thinking(entry, message, role == "assistant"):
        _read_words(entry, message, role == "assistant", (node, as_text(record.get("parent"))))
    if entry.blocks:
        entry.key = derived_id(NAME, entry.session_id, node)
        entry.key_by_place = not node
    entry.counted_blocks = tuple(f"{entry.author}:{block['type']}" for block in entry.blocks)
    return entry


def _author(role: Any, kind: str, metadata: dict[str, Any]) -> tuple[Author, str]:
    if kind in _CONTEXT or metadata.get("is_user_system_message"):
        return Author.MACHINE, "context"
    if kind == "system_error":
        return Author.MACHINE, "error"
    if role == "tool":
        return Author.TOOL, "tool_result"
    if role not in ("user", "assistant"):
        return Author.MACHINE, "system"
    if metadata.get("is_visually_hidden_from_conversation"):
        return Author.MACHINE, "hidden"
    return (Author.USER if role == "user" else Author.ASSISTANT), ""


def _read_thinking(entry: Entry, message: dict[str, Any], is_assistant: bool) -> bool:
    is_analysis = is_assistant and message.get("channel") == "analysis" and not _tool_called(message)
    if entry.kind in _THINKING or is_analysis:
        content = message.get("content")
        entry.blocks = [thinking_block("".join([*_words(content, entry.kind), *_thoughts(content)]))]
        return True
    return False


def _read_words(entry: Entry, message: dict[str, Any], is_assistant: bool, place: tuple[str, str]) -> None:
    """`place`: the node, and the one it follows."""
    content = message.get("content")
    words = [word for word in _words(content, entry.kind) if word.strip()]
    tool = _tool_called(message) if is_assistant else ""
    if entry.author is Author.TOOL:
        entry.text, characters = output_text(words)
        entry.blocks = [tool_result(place[1], characters)]
    elif tool:
        entry.blocks = [tool_call(tool, place[0], "\n".join(words))]
    else:
        entry.text = "\n\n".join(words if entry.author is Author.USER else filter(None, map(_readable, words)))
        entry.blocks = [text_block(entry.text)] if entry.text else []
    entry.blocks += _files(message, content)


def _tool_called(message: dict[str, Any]) -> str:
    """Whom an assistant's message is for, when that is not the person."""
    recipient = message.get("recipient")
    return "" if recipient == "all" else short(recipient)


def _words(content: Any, kind: str) -> list[str]:
    if isinstance(content, str):
        return [as_text(content)]
    fields = as_dict(content)
    named = [as_text(fields.get(name)) for name in _WORDS.get(kind, ())]
    parts = [_part_words(part) for part in as_list(fields.get("parts"))]
    if any(named) or any(parts):
        return [*named, *parts]
    return [next((text for name in _ANY_WORDS if (text := as_text(fields.get(name)))), "")]


def _part_words(part: Any) -> str:
    """A part is text, or an object: a picture, a recording, or the words of a recording."""
    return as_text(part) or as_text(as_dict(part).get("text"))


def _thoughts(content: Any) -> Iterator[str]:
    for thought in as_list(as_dict(content).get("thoughts")):
        yield as_text(thought) or as_text(as_dict(thought).get("content")) or as_text(as_dict(thought).get("summary"))


def _readable(text: str) -> str:
    """Without the marks that ChatGPT's page turns into links: `\\ue200cite\\ue202turn0search3\\ue201`."""
    if text.isascii() or not _ANY_MARKER.search(text):
        return text
    return _STRAY_MARKERS.sub("", _MARKER.sub(_marked_words, text)).strip()


def _marked_words(match: re.Match[str]) -> str:
    """A marked person, place or thing keeps its name, a link its text; references leave nothing."""
    kind, _, rest = match[2].partition("\ue202")
    if kind == "url":
        return match[1] + rest.partition("\ue202")[0]
    if kind != "entity":
        return ""
    try:
        named = as_list(msgspec.json.decode(rest))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return match[1] + rest
    return match[1] + next((word for word in named[1:2] if isinstance(word, str)), "")


def _files(message: dict[str, Any], content: Any) -> list[Block]:
    fields = as_dict(content)
    parts = [as_dict(part) for part in [*as_list(fields.get("parts")), fields.get("screenshot")]]
    pointers = [part for part in parts if any(key.endswith("asset_pointer") for key in part)]
    shown = [as_text(pointer.get("asset_pointer")) for pointer in pointers]
    blocks = [_pointer_block(pointer) for pointer in pointers]
    for attachment in map(as_dict, as_list(as_dict(message.get("metadata")).get("attachments"))):
        file_id = as_text(attachment.get("id"))
        if attachment and not (file_id and any(pointer.endswith(file_id) for pointer in shown)):
            media = short(attachment.get("mime_type") or attachment.get("mimeType"))
            kind = "image" if media.startswith("image/") else "document"
            blocks.append(_sized(image_block(media, kind=kind), attachment.get("size"), attachment.get("name")))
    return blocks


def _pointer_block(pointer: dict[str, Any]) -> Block:
    if _SOUND.search(short(pointer.get("content_type"))):
        sound = as_dict(pointer.get("audio_asset_pointer")) or pointer
        return _sized(
            image_block(f"audio/{short(sound.get('format')) or '*'}", kind="document"), sound.get("size_bytes")
        )
    return _sized(image_block(""), pointer.get("size_bytes"))


def _sized(block: Block, size: Any, name: Any = None) -> Block:
    if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 1 << 53:
        block["bytes"] = size
    return {**block, "name": short(name)} if short(name) else block
