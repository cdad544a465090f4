"""Claude Code: session files, three generations of sub-agent files, and the prompt log `history.jsonl`.

The format is internal to Claude Code and changes about monthly: unknown fields are ignored, unknown types are kept
and counted. Facts behind each rule: `docs/sources/claude-code.md`.
"""

import os
import re
from typing import Any, cast

import msgspec

from recollect.clock import parse_time
from recollect.history.messages import MASK_MARGIN, Author, Block, Entry, Standing
from recollect.history.sources.claude_blocks import content_blocks
from recollect.history.sources.claude_text import Reading, read_user_text
from recollect.history.sources.fields import as_dict, chosen, identifier, read_object, words_of
from recollect.history.sources.source import Computer, FileFacts, Head, Source, key_below
from recollect.ids import derived_id
from recollect.redaction import mask
from recollect.texts import clean

NAME = "claude-code"

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_ID = re.compile(r"[A-Za-z0-9_.:-]{16,80}")
_AGENT_FILE = re.compile(r"agent-(.+)\.jsonl")
_TYPES = frozenset(
    [
        "user",
        "assistant",
        "system",
        "summary",
        "progress",
        "file-history-snapshot",
        "queue-operation",
        "attachment",
        "last-prompt",
        "mode",
        "permission-mode",
        "ai-title",
        "custom-title",
        "pr-link",
        "started",
        "result",
    ]
)


class _Record(msgspec.Struct, rename="camel"):
    """The fields that matter; `Any` because any of them may hold something else one day."""

    type: Any = None
    uuid: Any = None
    parent_uuid: Any = None
    timestamp: Any = None
    session_id: Any = None
    agent_id: Any = None
    cwd: Any = None
    is_sidechain: Any = None
    is_meta: Any = None
    is_compact_summary: Any = None
    is_api_error_message: Any = None
    message: Any = None
    origin: Any = None
    plan_content: Any = None
    subtype: Any = None
    content: Any = None
    operation: Any = None
    attachment: Any = None
    summary: Any = None
    leaf_uuid: Any = None
    ai_title: Any = None
    custom_title: Any = None
    title: Any = None
    forked_from: Any = None
    continued_in_session_id: Any = None
    parent_session_id: Any = None
    display: Any = None
    project: Any = None


_decode = msgspec.json.Decoder(_Record).decode


class ClaudeCode(Source):
    name = NAME
    title = "Claude Code"
    parser_version = 2

    def places(self, computer: Computer) -> list[str]:
        configured = computer.environment.get("CLAUDE_CONFIG_DIR", "")
        folders = [part.replace("~", computer.home, 1) if part[:1] == "~" else part for part in configured.split(",")]
        folders += [computer.below_home(".claude"), computer.below_home(".config", "claude")]
        return [f"{folder}/{name}" for folder in folders if folder for name in ("projects", "history.jsonl")]

    def is_candidate(self, path: str) -> bool:
        return path.endswith(".jsonl")

    def comes_later(self, path: str) -> bool:
        return "/subagents/" in path or "/agent-" in path or path.endswith("/history.jsonl")

    def recognises(self, head: Head) -> bool:
        return any(_is_claude_record(record) for record in head.records)

    def locate(self, path: str, root: str) -> FileFacts:
        key = _key(path, root)
        parts = key.split("/")
        name = parts[-1]
        if name == "history.jsonl":
            return FileFacts(key=name, kind="prompts")
        agent = _AGENT_FILE.fullmatch(name)
        if agent:
            kind = "compaction" if agent[1].startswith("acompact") else "subagent"
            session_id = parts[parts.index("subagents") - 1] if "subagents" in parts[1:] else ""
            return FileFacts(key=key, kind=kind, session_id=session_id, agent_id=agent[1])
        if "subagents" in parts[1:]:
            return FileFacts(key=key, kind="subagent", session_id=parts[parts.index("subagents") - 1], agent_id=name)
        stem = name.removesuffix(".jsonl")
        return FileFacts(key=key, kind="session", session_id=stem if _UUID.fullmatch(stem) else "")

    def parse(self, raw: bytes, facts: FileFacts) -> Entry:
        record = _read(raw)
        if facts.kind == "prompts" or (record.type is None and isinstance(record.display, str)):
            return _prompt_log_entry(record)
        kind = record.type if isinstance(record.type, str) and record.type else "(no type)"
        entry = Entry(
            kind=clean(kind)[:80],
            at=parse_time(record.timestamp) if record.timestamp is not None else None,
            uuid=_line_uuid(record),
            session_id=identifier(record.session_id),
            agent_id=identifier(record.agent_id) or (facts.agent_id if record.is_sidechain else ""),
            cwd=clean(record.cwd) if isinstance(record.cwd, str) else "",
            parent_id=identifier(record.parent_uuid),
        )
        reader = _READERS.get(entry.kind)
        if reader:
            reader(entry, record)
        if entry.key and (facts.kind != "session" or record.is_sidechain):
            _make_subagent(entry, facts)
        return entry


def _read(raw: bytes) -> _Record:
    try:
        return _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return chosen(_Record, read_object(raw))


def _is_claude_record(record: dict[str, object]) -> bool:
    kind = record.get("type")
    if isinstance(kind, str) and kind in _TYPES and not isinstance(record.get("payload"), dict):
        return bool({"sessionId", "uuid", "leafUuid", "messageId", "agentId", "parentUuid", "key"} & record.keys())
    return isinstance(record.get("display"), str) and ("timestamp" in record or "pastedContents" in record)


def _key(path: str, root: str) -> str:
    """Below a folder named `projects` the path from there on, else the path below the root."""
    parts = path.replace(os.sep, "/").split("/")
    if "projects" in parts[:-1]:
        last = len(parts) - 1 - parts[::-1].index("projects")
        if last < len(parts) - 1:
            return "/".join(parts[last + 1 :])
    return key_below(path, root)


def _line_uuid(record: _Record) -> str:
    """A forked line has a new uuid and says which line it copies: that one is its identity."""
    original = as_dict(record.forked_from).get("messageUuid")
    return identifier(original) or identifier(record.uuid)


def _make_subagent(entry: Entry, facts: FileFacts) -> None:
    """Nothing in a sub-agent's stream was said by or to the user."""
    entry.agent_id = entry.agent_id or facts.agent_id or "inline"
    entry.make_subagent()
    if facts.kind == "compaction":
        entry.author, entry.message_kind = Author.MACHINE, "compaction"


def _links(entry: Entry, record: _Record) -> None:
    links: list[tuple[str, str]] = []
    if record.forked_from:
        links.append(("fork", identifier(as_dict(record.forked_from).get("sessionId"))))
    if record.continued_in_session_id:
        links.append(("continue", identifier(record.continued_in_session_id)))
    if entry.kind == "fork-context-ref":
        links.append(("fork", identifier(record.parent_session_id)))
    entry.links = tuple(link for link in links if link[1])


def _read_assistant(entry: Entry, record: _Record) -> None:
    message = as_dict(record.message)
    message_id = message.get("id")
    entry.key = message_id if isinstance(message_id, str) and _ID.fullmatch(message_id) else entry.uuid
    model = message.get("model")
    entry.model = clean(model) if isinstance(model, str) else ""
    entry.author, entry.standing = Author.ASSISTANT, Standing.SAID
    entry.blocks, entry.counted_blocks = content_blocks(message.get("content"), "assistant")
    entry.text = words_of(entry.blocks)
    for block in entry.blocks:
        block.pop("output", None)
    if record.is_api_error_message or entry.model == "<synthetic>":
        entry.author, entry.standing = Author.MACHINE, Standing.ASIDE
        entry.message_kind = "api_error" if record.is_api_error_message else "synthetic"
    _links(entry, record)


def _read_user(entry: Entry, record: _Record) -> None:
    entry.key = entry.uuid
    blocks, entry.counted_blocks = content_blocks(as_dict(record.message).get("content"), "user")
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    result = next((block for block in blocks if block["type"] == "tool_result"), None)
    reading = read_user_text("\n\n".join(texts)) if texts else _without_text(blocks)
    reading = _overruled(reading, record)
    if (result is not None and reading.author is not Author.USER) or (result is not None and not reading.text):
        output = "\n".join(block.pop("output") for block in blocks if "output" in block)
        reading = Reading(Author.TOOL, Standing.ASIDE, "tool_result", output)
    entry.author, entry.standing, entry.message_kind = reading.author, reading.standing, reading.kind
    entry.text = reading.text
    entry.blocks = _with_text(blocks, reading)
    _links(entry, record)


def _without_text(blocks: list[Block]) -> Reading:
    """An image or a document is something said; nothing at all is not."""
    return Reading(Author.USER, Standing.SAID if blocks else Standing.ASIDE, "" if blocks else "empty", "")


def _kind_name(name: str) -> str:
    return clean(name).replace("-", "_")[:40]


def _overruled(reading: Reading, record: _Record) -> Reading:
    """Flags are stronger evidence than the text."""
    origin = as_dict(record.origin).get("kind")
    if record.is_compact_summary:
        return Reading(Author.MACHINE, Standing.ASIDE, "summary", reading.text)
    if record.is_meta:
        return Reading(Author.MACHINE, Standing.ASIDE, reading.kind or "meta", reading.text)
    if record.plan_content:
        return Reading(Author.MACHINE, Standing.ASIDE, "plan", reading.text)
    if isinstance(origin, str) and origin != "human" and reading.author is Author.USER:
        return Reading(Author.MACHINE, Standing.ASIDE, _kind_name(origin), reading.text)
    return reading


def _with_text(blocks: list[Block], reading: Reading) -> list[Block]:
    """The blocks with their texts replaced by what the reading left of them."""
    kept = [block for block in blocks if block["type"] != "text"]
    for block in kept:
        block.pop("output", None)
    if reading.text and reading.author is not Author.TOOL:
        kept.insert(0, {"type": "text", "text": reading.text})
    return kept


def _read_queue(entry: Entry, record: _Record) -> None:
    """Text typed ahead. What the queue says may stand nowhere else."""
    operation = record.operation if isinstance(record.operation, str) else ""
    entry.queue = {"enqueue": "enqueue", "dequeue": "dequeue", "remove": "remove", "popAll": "withdraw"}.get(
        operation, ""
    )
    text = _queue_text(record.content)
    if not text or not entry.queue:
        return
    reading = read_user_text(text)
    entry.text = reading.text
    if entry.queue == "withdraw":
        return
    entry.author, entry.standing = reading.author, reading.standing
    entry.message_kind = reading.kind or "queued"
    if entry.author is Author.USER and _is_bare_command(reading.text):
        entry.standing, entry.message_kind = Standing.ASIDE, "command"
    entry.blocks = [{"type": "text", "text": reading.text}]
    entry.key = derived_id("queue", entry.at or "", mask(text))


def _is_bare_command(text: str) -> bool:
    """Such as `/compact`: something done, not said. `claude -p` puts it into the queue too."""
    return text.startswith("/") and " " not in text.strip()


def _queue_text(content: Any) -> str:
    if isinstance(content, list):
        content = "\n\n".join(
            text for item in cast(list[Any], content) if isinstance(text := as_dict(item).get("text"), str)
        )
    if not isinstance(content, str):
        return ""
    if content.lstrip().startswith('{"type"'):
        return f"<teammate-message>{clean(content)}</teammate-message>"
    return clean(content)


def _read_attachment(entry: Entry, record: _Record) -> None:
    """Only a typed-ahead prompt that was delivered inside a turn is speech; the rest is injected context."""
    attachment = as_dict(record.attachment)
    if attachment.get("type") != "queued_command":
        return
    text = _queue_text(attachment.get("prompt"))
    if not text:
        return
    reading = read_user_text(text)
    entry.key = entry.uuid
    entry.author, entry.standing, entry.message_kind = (
        reading.author,
        reading.standing,
        reading.kind or "queued",
    )
    if attachment.get("commandMode") not in (None, "prompt"):
        entry.author, entry.standing = Author.MACHINE, Standing.ASIDE
        entry.message_kind = _kind_name(str(attachment["commandMode"]))
    entry.text = reading.text
    entry.blocks = [{"type": "text", "text": reading.text}]


def _read_system(entry: Entry, record: _Record) -> None:
    """Built-in slash commands of newer versions; everything else is bookkeeping."""
    if record.subtype == "local_command" and isinstance(record.content, str):
        reading = read_user_text(clean(record.content))
        entry.key = entry.uuid
        entry.author, entry.standing, entry.message_kind = reading.author, Standing.ASIDE, reading.kind
        entry.text = reading.text
        entry.blocks = [{"type": "text", "text": reading.text}]


def _read_title(entry: Entry, record: _Record) -> None:
    for value in (record.custom_title, record.ai_title, record.title, record.summary):
        if isinstance(value, str) and value.strip():
            entry.title = clean(value.strip())[: 300 + MASK_MARGIN]
            break
    entry.title_by_user = entry.kind == "custom-title"
    if entry.kind == "summary":
        entry.title_leaf = identifier(record.leaf_uuid)
        if not entry.title_leaf:
            entry.title = ""


def _prompt_log_entry(record: _Record) -> Entry:
    """A line of `history.jsonl`: what was typed, in which project; it outlives the transcripts."""
    entry = Entry(kind="prompt", at=parse_time(record.timestamp), session_id=identifier(record.session_id))
    entry.cwd = clean(record.project) if isinstance(record.project, str) else ""
    entry.stream = entry.session_id or (entry.cwd if len(entry.cwd) <= 200 else derived_id(entry.cwd))
    if isinstance(record.display, str) and record.display.strip():
        text = clean(record.display)
        is_command = _is_bare_command(text)
        entry.key = derived_id("prompt", entry.stream, entry.at or "", mask(text))
        entry.author = Author.USER
        entry.standing = Standing.ASIDE if is_command else Standing.SAID
        entry.message_kind = "prompt"
        entry.text = text
        entry.blocks = [{"type": "text", "text": text}]
    return entry


_READERS = {
    "assistant": _read_assistant,
    "user": _read_user,
    "queue-operation": _read_queue,
    "attachment": _read_attachment,
    "system": _read_system,
    "summary": _read_title,
    "ai-title": _read_title,
    "custom-title": _read_title,
    "continued-in": _links,
    "fork-context-ref": _links,
}
