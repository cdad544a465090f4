"""Cursor: the transcripts of its agent, below `~/.cursor/projects`. (Its own databases are another matter.)

A line has a role and a message in the form of Anthropic's API, and nothing else: no id, no time, no project. So a
message is known by the place where it stands. What a person typed stands in `<user_query>`; the rest of a user line is
context. Facts: `docs/sources/cursor.md`.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import msgspec

from recollect.clock import parse_time, to_text
from recollect.history.messages import Author, Block, Entry, Standing
from recollect.history.sources.fields import (
    as_dict,
    as_list,
    as_text,
    chosen,
    identifier,
    image_block,
    output_text,
    read_object,
    short,
    text_block,
    thinking_block,
    tool_call,
    tool_result,
    words_of,
)
from recollect.history.sources.source import Computer, FileFacts, Head, Source, key_below
from recollect.ids import derived_id
from recollect.redaction import mask

NAME = "cursor"
FOLDER = "agent-transcripts"

_UUID = re.compile(r"(?:task-|agent-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_QUERY = re.compile(r"<user_query>\s*(.*)\s*</user_query>", re.DOTALL)
"""Cursor does not escape what is typed, so it ends where the last of the closing tags stands."""
_BETWEEN_QUERIES = re.compile(r"\s*</user_query>\s*(?:<timestamp>[^<]*</timestamp>\s*)?<user_query>\s*")
_TIMESTAMP = re.compile(r"<timestamp>([^<]{1,80})</timestamp>")
_MOMENT = re.compile(
    r"(?:[A-Za-z]+,\s*)?([A-Z][a-z]{2})[a-z]*\.?\s+(\d{1,2}),\s*(\d{4}),?\s+(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([AP]M)?"
    r"(?:\s*\((?:UTC|GMT)(?:([-+])(\d{1,2})(?::?(\d{2}))?)?\))?\s*\Z"
)
"""`Tuesday, Jul 21, 2026, 1:11 PM (UTC+3)`"""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_INJECTED = re.compile(r"\s*<((?:[a-z]+_)+[a-z]+|system-reminder|rules|timestamp)\b[^>]*>.*?</\1>\s*", re.DOTALL)
"""Context that Cursor adds: `<user_info>`, `<open_and_recently_viewed_files>`, `<system_reminder>` and many more."""
_ATTACHMENT = re.compile(r"\[(Image|File: [^\]\n]+)\]\s*\Z")
_REDACTED = re.compile(r"\s*\[REDACTED\]\s*\Z")
"""Stands where thinking was taken out."""


class _Line(msgspec.Struct):
    role: Any = None
    type: Any = None
    message: Any = None
    timestamp: Any = None
    id: Any = None
    status: Any = None
    error: Any = None


_decode = msgspec.json.Decoder(_Line).decode


class Cursor(Source):
    name = NAME
    title = "Cursor"

    def places(self, computer: Computer) -> list[str]:
        return [computer.configured("CURSOR_DATA_DIR", ".cursor") + "/projects"]

    def is_candidate(self, path: str) -> bool:
        return path.endswith(".jsonl") and FOLDER in path

    def recognises(self, head: Head) -> bool:
        return any(_is_message(record) for record in head.records)

    def locate(self, path: str, root: str) -> FileFacts:
        parts = path.replace("\\", "/").split("/")
        stem = parts[-1].removesuffix(".jsonl")
        is_child = "subagents" in parts[1:-1]
        parent = parts[len(parts) - 2 - parts[::-1].index("subagents")] if is_child else ""
        is_unique = _UUID.fullmatch(stem) is not None
        return FileFacts(
            key=stem if is_unique else _key(path, root),
            kind="subagent" if is_child else "session",
            session_id=parent or stem,
            agent_id=stem if is_child else "",
            is_unique=is_unique,
        )

    def parse(self, raw: bytes, facts: FileFacts) -> Entry:
        line = _read(raw)
        role = short(line.role, 80)
        entry = Entry(kind=role or short(line.type, 80) or "(no role)", session_id=facts.session_id)
        entry.agent_id = facts.agent_id
        entry.at = parse_time(line.timestamp)
        content = as_dict(line.message).get("content")
        items = [{"type": "text", "text": content}] if isinstance(content, str) else [*map(as_dict, as_list(content))]
        if role == "user":
            _read_user(entry, items)
        elif role == "assistant":
            _read_assistant(entry, items)
        elif role == "tool":
            _read_result(entry, items)
        elif line.type == "turn_ended":
            _read_end(entry, line)
        entry.counted_blocks = tuple(f"{entry.kind}:{short(item.get('type'), 40) or '(no type)'}" for item in items)
        if entry.blocks:
            own = identifier(line.id)
            scope = facts.agent_id or facts.session_id
            entry.key = derived_id(NAME, scope, own) if own else derived_id(NAME, scope, entry.kind, mask(entry.text))
            entry.key_by_place = not own
            if facts.kind == "subagent":
                entry.make_subagent()
        return entry


def _read(raw: bytes) -> _Line:
    try:
        return _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return chosen(_Line, read_object(raw))


def _is_message(record: dict[str, object]) -> bool:
    if record.get("role") not in ("user", "assistant") or "type" in record or "sessionId" in record:
        return False
    return isinstance(as_dict(record.get("message")).get("content"), list | str)


def _key(path: str, root: str) -> str:
    """From the project on, as far as it is known, else the path below the root."""
    parts = path.replace("\\", "/").split("/")
    if FOLDER in parts[1:-1]:
        return "/".join(parts[parts.index(FOLDER, 1) - 1 :])
    return key_below(path, root)


def _read_user(entry: Entry, items: list[dict[str, Any]]) -> None:
    results = [item for item in items if item.get("type") == "tool_result"]
    texts = [text for item in items if item.get("type") == "text" and (text := as_text(item.get("text"))).strip()]
    others = [image_block("", None, "image") for item in items if item.get("type") == "image"]
    words: list[str] = []
    context: list[str] = []
    for text in texts:
        found = _TIMESTAMP.search(text.partition("<user_query>")[0])
        if found and not entry.at:
            entry.at = _moment(found[1])
        said, rest = _split(text)
        others += _attachments(rest)
        if said:
            words.append(said)
        elif "<user_query>" not in text:
            context.append(text)
    if results and not words:
        _read_result(entry, results)
        return
    is_said = bool(words) or bool(others and not context)
    entry.author = Author.USER if is_said else Author.MACHINE
    entry.standing = Standing.SAID if is_said else Standing.ASIDE
    entry.message_kind = "" if is_said else "context"
    entry.blocks = [*(text_block(text) for text in (words or context)), *others]
    entry.text = words_of(entry.blocks)


def _split(text: str) -> tuple[str, str]:
    """What a person typed, and what stands after it. Without the tag it is what is left beside the context."""
    query = _QUERY.search(text)
    if query:
        return _BETWEEN_QUERIES.sub("\n\n", query[1]).strip(), text[query.end() :]
    while injected := _INJECTED.match(text):
        text = text[injected.end() :]
    return text.strip(), ""


def _attachments(rest: str) -> list[Block]:
    """`[Image]` and `[File: plan.pdf]`, a line each, stand for what was attached."""
    found = [_ATTACHMENT.match(line.strip()) for line in rest.splitlines()]
    return [image_block("", None, "image" if one[1] == "Image" else "document") for one in found if one]


def _moment(text: str) -> str | None:
    """A time as it is shown to the model, to the minute. Without a zone it is taken for UTC."""
    found = _MOMENT.match(text.strip())
    if found is None or found[1] not in _MONTHS:
        return parse_time(text.strip())
    month, day, year, hour, minute = _MONTHS.index(found[1]) + 1, *(int(found[place]) for place in (2, 3, 4, 5))
    hour = hour % 12 + (12 if found[7] == "PM" else 0) if found[7] else hour
    offset = timedelta(hours=int(found[9] or 0), minutes=int(found[10] or 0))
    try:
        zone = timezone(offset if found[8] == "+" else -offset) if offset else UTC
        return to_text(datetime(year, month, day, hour, minute, int(found[6] or 0), tzinfo=zone))
    except (ValueError, OverflowError):
        return None


def _read_assistant(entry: Entry, items: list[dict[str, Any]]) -> None:
    entry.author, entry.standing = Author.ASSISTANT, Standing.SAID
    entry.blocks = [block for item in items for block in _assistant_blocks(item)]
    entry.text = words_of(entry.blocks)


def _assistant_blocks(item: dict[str, Any]) -> Iterator[Block]:
    kind = item.get("type")
    if kind == "text":
        text, count = _REDACTED.subn("", as_text(item.get("text")))
        if text.strip():
            yield text_block(text)
        if count:
            yield thinking_block("")
    elif kind in ("thinking", "redacted_thinking"):
        yield thinking_block(item.get("thinking") or item.get("text"))
    elif kind == "tool_use":
        yield tool_call(item.get("name"), item.get("id"), item.get("input"))
    elif kind == "tool_result":
        yield tool_result(item.get("tool_use_id"), len(_output(item)), error=item.get("is_error") is True)


def _read_result(entry: Entry, items: list[dict[str, Any]]) -> None:
    results = [item for item in items if item.get("type") == "tool_result"]
    outputs = [_output(item) for item in results]
    entry.author, entry.standing, entry.message_kind = Author.TOOL, Standing.ASIDE, "tool_result"
    entry.text = output_text(outputs)[0]
    entry.blocks = [
        tool_result(item.get("tool_use_id"), len(output), error=item.get("is_error") is True)
        for item, output in zip(results, outputs, strict=True)
    ]


def _output(item: dict[str, Any]) -> str:
    content = item.get("content")
    if isinstance(content, str):
        return as_text(content)
    return "\n".join(as_text(as_dict(part).get("text")) for part in as_list(content))


def _read_end(entry: Entry, line: _Line) -> None:
    """A turn that failed or was stopped says why; one that succeeded says nothing."""
    reason = as_text(line.error).strip()
    if reason and line.status not in ("success", "completed"):
        entry.message_kind = "interruption" if line.status == "aborted" or "abort" in reason.lower() else "error"
        entry.text = reason
        entry.blocks = [text_block(reason)]
