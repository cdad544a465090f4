"""Pi, and OpenClaw, which keeps its sessions in Pi's form: one JSON line an entry, and the entries form a tree.

Versions 1 to 3 differ little: 1 has no ids, 2 adds `id` and `parentId`, 3 renames a role. Pi rewrites an old file in
place when it opens it, with random ids; forks copy entries with their ids; OpenClaw appends rewritten branches with
new ids. So ids make the tree, and a message is known by what all of these leave as it is: its role, the millisecond
it was made, and a mark of its content. Facts behind each rule: `docs/sources/pi.md`.
"""

import re
from typing import Any

import msgspec

from recollect.clock import parse_time
from recollect.history.messages import Author, Block, Entry, Standing
from recollect.history.sources.fields import (
    as_dict,
    as_text,
    chosen,
    identifier,
    output_text,
    read_object,
    short,
    text_block,
    title_of,
    tool_result,
    words_of,
)
from recollect.history.sources.openclaw_text import read_user_text
from recollect.history.sources.pi_blocks import content_blocks, printed_texts
from recollect.history.sources.pi_files import (
    facts_of,
    is_transcript_name,
    openclaw_agents,
    pi_sessions,
    session_named,
    why_left_out,
)
from recollect.history.sources.source import BadRecord, Computer, FileFacts, Head, Source
from recollect.ids import derived_id
from recollect.redaction import mask
from recollect.texts import clean

NAME = "pi"

_MAX_NUMBER = 1 << 63
_YEAR_2000 = 946_684_800_000
"""In milliseconds: a smaller time is none."""
_ROLES = frozenset(
    ["user", "assistant", "toolResult", "bashExecution", "custom", "hookMessage", "branchSummary", "compactionSummary"]
)
_SILENT = frozenset(["NO_REPLY", "HEARTBEAT_OK"])
"""What OpenClaw's agent writes when there is nothing to say."""
_GATEWAY = {
    "delivery-mirror": (Author.ASSISTANT, Standing.SAID, "delivered"),
    "gateway-injected": (Author.MACHINE, Standing.ASIDE, "injected"),
}
"""Models that are none: what a tool sent into the chat for the assistant, and what the gateway itself answered."""
_OWN_FIELDS = {
    "model_change": "modelId",
    "thinking_level_change": "thinkingLevel",
    "compaction": "summary",
    "branch_summary": "fromId",
    "custom": "customType",
    "custom_message": "customType",
    "session_info": "parentId",
    "label": "targetId",
}
"""What else an entry of this type has, whatever its version."""


class _Message(msgspec.Struct, rename="camel"):
    """The fields that matter: `details` of tools are large and not among them."""

    role: Any = None
    content: Any = None
    timestamp: Any = None
    provider: Any = None
    model: Any = None
    response_id: Any = None
    usage: Any = None
    stop_reason: Any = None
    error_message: Any = None
    tool_call_id: Any = None
    tool_name: Any = None
    is_error: Any = None
    command: Any = None
    output: Any = None
    exit_code: Any = None
    exclude_from_context: Any = None
    custom_type: Any = None
    summary: Any = None
    provenance: Any = None


class _Record(msgspec.Struct, rename="camel"):
    type: Any = None
    id: Any = None
    parent_id: Any = msgspec.UNSET
    timestamp: Any = None
    message: _Message | None = None
    cwd: Any = None
    parent_session: Any = None
    branched_from: Any = None
    name: Any = None
    summary: Any = None
    tokens_before: Any = None
    from_id: Any = None
    target_id: Any = None
    append_mode: Any = None
    custom_type: Any = None
    content: Any = None
    kind: Any = None
    row: Any = None
    session_id: Any = None


_decode = msgspec.json.Decoder(_Record).decode


class Pi(Source):
    name = NAME
    title = "Pi and OpenClaw"

    def places(self, computer: Computer) -> list[str]:
        return pi_sessions(computer) + openclaw_agents(computer)

    def is_candidate(self, path: str) -> bool:
        return is_transcript_name(path)

    def leaves_out(self, path: str) -> str:
        return why_left_out(path)

    def recognises(self, head: Head) -> bool:
        others = any(record.get("type") == "session_start" for record in head.records)  # Droid writes much alike.
        return not others and any(_is_entry(record) for record in head.records)

    def locate(self, path: str, root: str) -> FileFacts:
        return facts_of(path, root)

    def parse(self, raw: bytes, facts: FileFacts) -> Entry:
        record = _read(raw)
        if record.type is None and record.kind == "event":
            record = _read_cold(record)
        entry = _begin(record)
        message = record.message
        if record.type == "message" and message is not None:
            _read_message(entry, message, record, facts)
        elif isinstance(record.type, str) and record.type in _READERS:
            _READERS[record.type](entry, record, facts)
        elif record.type is None and record.kind == "header":
            entry.session_id = identifier(record.session_id)
        if entry.key and facts.kind == "subagent":
            entry.agent_id = facts.agent_id
            entry.make_subagent()
        return entry


def _read(raw: bytes) -> _Record:
    try:
        return _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        fields = read_object(raw)
    message = fields.pop("message", None)
    record = chosen(_Record, fields)
    record.message = chosen(_Message, as_dict(message)) if isinstance(message, dict) else None
    return record


def _read_cold(record: _Record) -> _Record:
    """A line of OpenClaw's cold archive: the entry lies in it as text."""
    event = as_dict(record.row).get("event_json")
    if not isinstance(event, str):
        raise BadRecord("an archived event without its text")
    return _read(event.encode("utf-8", "surrogatepass"))


def _is_entry(record: dict[str, object]) -> bool:
    kind = record.get("type")
    if not isinstance(kind, str):
        return record.get("kind") == "header" and "sessionId" in record and "generation" in record
    if {"uuid", "sessionId", "payload", "data"} & record.keys() and kind != "custom":
        return False
    if kind == "session":
        return isinstance(record.get("id"), str) and bool({"cwd", "version"} & record.keys())
    if kind == "message":
        role = as_dict(record.get("message")).get("role")
        return isinstance(role, str) and role in _ROLES and "timestamp" in record
    return kind in _OWN_FIELDS and _OWN_FIELDS[kind] in record and "timestamp" in record


def _begin(record: _Record) -> Entry:
    kind = record.type if isinstance(record.type, str) else f"cold {record.kind}" if record.kind else "(no type)"
    entry = Entry(
        kind=clean(kind)[:80],
        at=parse_time(record.timestamp) if record.timestamp is not None else None,
    )
    if record.append_mode != "side" and record.parent_id is not msgspec.UNSET:
        entry.uuid = identifier(record.id)
        entry.follows = identifier(record.parent_id) if entry.uuid else ""
    return entry


def _read_header(entry: Entry, record: _Record, facts: FileFacts) -> None:
    """The head of the file, not of its tree."""
    entry.uuid, own = "", identifier(record.id)
    entry.session_id = facts.session_id if facts.kind == "subagent" else own
    entry.cwd = as_text(record.cwd)
    parent = record.parent_session or record.branched_from
    if not isinstance(parent, str) or not parent:
        return
    entry.at = None  # A fork begins with entries that are older than itself.
    other = identifier(session_named(parent))
    entry.links = (("fork", other),) if other and other != entry.session_id else ()


def _read_leaf(entry: Entry, record: _Record, _facts: FileFacts) -> None:
    """OpenClaw goes to another place of the tree: what comes next continues there."""
    entry.follows = identifier(record.target_id)


def _read_title(entry: Entry, record: _Record, _facts: FileFacts) -> None:
    entry.title = title_of(record.name)
    entry.title_by_user = bool(entry.title)


def _read_summary(entry: Entry, record: _Record, facts: FileFacts) -> None:
    mark = _number(record.tokens_before) or identifier(record.from_id)
    _name(entry, record, facts, None, entry.kind, mark)
    summary = as_text(record.summary)
    _say(entry, Author.MACHINE, Standing.ASIDE, "summary", summary, [text_block(summary)])


def _read_custom_message(entry: Entry, record: _Record, facts: FileFacts) -> None:
    _read_injected(entry, record, facts, None, record.content, record.custom_type)


_READERS = {
    "session": _read_header,
    "leaf": _read_leaf,
    "session_info": _read_title,
    "compaction": _read_summary,
    "branch_summary": _read_summary,
    "custom_message": _read_custom_message,
}


def _read_message(entry: Entry, message: _Message, record: _Record, facts: FileFacts) -> None:
    role = message.role if isinstance(message.role, str) else ""
    entry.kind = clean(role)[:80] or entry.kind
    if entry.at is None:
        entry.at = parse_time(message.timestamp)
    if role == "user":
        _read_user(entry, message, record, facts)
    elif role == "assistant":
        _read_assistant(entry, message, record, facts)
    elif role == "toolResult":
        _read_tool_result(entry, message, record, facts)
    elif role == "bashExecution":
        _read_shell(entry, message, record, facts)
    elif role in ("custom", "hookMessage"):
        _read_injected(entry, record, facts, message, message.content, message.custom_type)
    elif role in ("branchSummary", "compactionSummary"):
        summary = as_text(message.summary)
        _name(entry, record, facts, message, role, mask(summary))
        _say(entry, Author.MACHINE, Standing.ASIDE, "summary", summary, [text_block(summary)])


def _read_user(entry: Entry, message: _Message, record: _Record, facts: FileFacts) -> None:
    blocks, entry.counted_blocks = content_blocks(message.content, "user")
    text = words_of(blocks)
    _name(entry, record, facts, message, "user", mask(text), str(len(blocks)))
    sender = as_dict(message.provenance).get("kind")
    if isinstance(sender, str) and sender != "external_user":
        _say(entry, Author.MACHINE, Standing.ASIDE, _kind_of(sender), text, blocks)
        return
    others = [block for block in blocks if block["type"] != "text"]
    reading, attached = read_user_text(text, has_image=bool(others))
    typed = [text_block(reading.text)] if reading.text else []
    _say(entry, reading.author, reading.standing, reading.kind, reading.text, [*typed, *attached, *others])


def _read_assistant(entry: Entry, message: _Message, record: _Record, facts: FileFacts) -> None:
    blocks, entry.counted_blocks = content_blocks(message.content, "assistant")
    text = words_of(blocks)
    usage = as_dict(message.usage)
    spent = "/".join(_number(usage.get(name)) for name in ("input", "output", "cacheRead", "cacheWrite"))
    call = next((block["call"] for block in blocks if block["type"] == "tool_call"), "")
    marks = (identifier(message.response_id), call, spent if spent.strip("/0") else "")
    _name(entry, record, facts, message, "assistant", *(marks if any(marks) else (mask(text),)))
    entry.model = short(message.model)
    error = as_text(message.error_message)
    if error and all(block["type"] == "thinking" for block in blocks):
        kind = "interruption" if message.stop_reason == "aborted" else "error"
        _say(entry, Author.MACHINE, Standing.ASIDE, kind, error, [text_block(error), *blocks])
    elif message.provider == "openclaw" and entry.model in _GATEWAY:
        author, standing, kind = _GATEWAY[entry.model]
        _say(entry, author, standing, kind, text, blocks)
        entry.model = ""
    else:
        is_silent = text.strip() in _SILENT
        standing, kind = (Standing.ASIDE, "silent") if is_silent else (Standing.SAID, "")
        _say(entry, Author.ASSISTANT, standing, kind, text, blocks)


def _read_tool_result(entry: Entry, message: _Message, record: _Record, facts: FileFacts) -> None:
    texts, others = printed_texts(message.content)
    blocks, counted = content_blocks(others, "tool")
    entry.counted_blocks = ("tool:text",) * len(texts) + counted
    call = message.tool_call_id
    _name(entry, record, facts, message, "toolResult", identifier(call), short(message.tool_name))
    output, characters = output_text(texts)
    result = tool_result(call, characters, error=bool(message.is_error))
    _say(entry, Author.TOOL, Standing.ASIDE, "tool_result", output, [result, *blocks])


def _read_shell(entry: Entry, message: _Message, record: _Record, facts: FileFacts) -> None:
    """What the user ran with `!`; with `!!` the assistant never saw it."""
    command = as_text(message.command).strip()
    _name(entry, record, facts, message, "bashExecution", mask(command))
    sign, standing = ("!!", Standing.ASIDE) if message.exclude_from_context else ("!", Standing.SAID)
    printed = len(message.output) if isinstance(message.output, str) else 0
    failed = isinstance(message.exit_code, int) and message.exit_code != 0
    words = f"{sign} {command}"
    _say(entry, Author.USER, standing, "shell", words, [text_block(words), tool_result("", printed, error=failed)])


def _read_injected(
    entry: Entry, record: _Record, facts: FileFacts, message: _Message | None, content: Any, custom_type: Any
) -> None:
    blocks, entry.counted_blocks = content_blocks(content, "custom")
    text = words_of(blocks)
    _name(entry, record, facts, message, "custom", short(custom_type), mask(text))
    _say(entry, Author.MACHINE, Standing.ASIDE, _kind_of(custom_type), text, blocks)


def _name(entry: Entry, record: _Record, facts: FileFacts, message: _Message | None, role: str, *marks: str) -> None:
    """The id of the message. One entry is one message, and where it stands again it says the same."""
    made = message.timestamp if message else None
    made = str(made) if isinstance(made, int) and _YEAR_2000 < made < _MAX_NUMBER else entry.at
    own = identifier(record.id)
    if made:
        entry.key = derived_id(NAME, role, made, *marks)
    else:
        entry.key = derived_id(NAME, facts.session_id or facts.key, role, own, *marks)
        entry.key_by_place = not own
    entry.replaces = True


def _say(entry: Entry, author: Author, standing: Standing, kind: str, text: str, blocks: list[Block]) -> None:
    entry.author, entry.standing, entry.message_kind = author, standing, kind
    entry.text, entry.blocks = text, blocks


def _kind_of(custom_type: Any) -> str:
    name = short(custom_type, 40)
    return "context" if not name or name == "openclaw.runtime-context" else re.sub(r"\W+", "_", name)


def _number(value: Any) -> str:
    return str(value) if isinstance(value, int) and abs(value) < _MAX_NUMBER else ""
