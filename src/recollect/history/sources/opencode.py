"""OpenCode: its database `opencode.db`, and what `opencode export` writes of one session.

Both become the same records: a header, then one record for each message with its parts, in order. Parts are updated
in place (a tool runs, then has run), so a record may differ later; the core replaces it. A fork copies messages under
new ids and keeps their times: what a message is known by is made of those. Facts: `docs/sources/opencode.md`.
"""

import re
from collections.abc import Iterator
from typing import Any

from recollect.clock import parse_time
from recollect.database.foreign import MAGIC
from recollect.history.messages import Author, Block, Entry, Standing
from recollect.history.sources.fields import (
    as_dict,
    as_list,
    as_text,
    identifier,
    image_block,
    read_object,
    short,
    text_block,
    thinking_block,
    title_of,
    tool_call,
    tool_result,
    words_of,
)
from recollect.history.sources.opencode_stores import (
    NAME,
    TABLES,
    from_database,
    from_export,
    key_of,
    name_of,
    texts_of,
)
from recollect.history.sources.source import (
    BadRecord,
    Computer,
    FileFacts,
    Growth,
    Head,
    Opened,
    Source,
    Transcript,
)

_DATABASE_NAME = re.compile(r"opencode(?:-[A-Za-z0-9._-]+)?\.db")
_EXPORT_NAME = re.compile(r"ses_[A-Za-z0-9]+\.json")
_OLD_STORE = re.compile(r"[/\\]opencode[/\\](?:project[/\\].*)?storage[/\\]")
_MADE_UP_TITLE = re.compile(r"(?:New|Child) session - \d{4}-")


class OpenCode(Source):
    name = NAME
    title = "OpenCode"
    growth = Growth.UPDATED
    holds_many = True

    def places(self, computer: Computer) -> list[str]:
        folder = f"{computer.data_folder}/opencode"
        named = computer.environment.get("OPENCODE_DB", "").strip()
        names = ["opencode.db", "opencode-local.db", "opencode-dev.db"]
        if named and named != ":memory:":
            is_whole = named.startswith("/") or named[1:3] in (":\\", ":/")
            return [named if is_whole else f"{folder}/{named}", *(f"{folder}/{name}" for name in names)]
        return [f"{folder}/{name}" for name in names]

    def is_candidate(self, path: str) -> bool:
        if not path.endswith((".db", ".json")):
            return False
        name = name_of(path)
        return _DATABASE_NAME.fullmatch(name) is not None or _EXPORT_NAME.fullmatch(name) is not None

    def leaves_out(self, path: str) -> str:
        is_old = "storage" in path and _OLD_STORE.search(path)
        return "OpenCode moved this old store into its database itself" if is_old else ""

    def recognises(self, head: Head) -> bool:
        if head.tables:
            return head.tables >= TABLES
        return head.keys >= {"info", "messages"} and not head.is_array and b'"ses_' in head.start

    def transcripts(self, opened: Opened, facts: FileFacts) -> Iterator[Transcript]:
        start = opened.file.read(len(MAGIC))
        opened.file.seek(0)
        return from_database(opened) if start == MAGIC else from_export(opened)

    def parse(self, raw: bytes, facts: FileFacts) -> Entry:
        record = read_object(raw)
        if "info" in record:
            return _read_message(record, facts)
        if "session" in record:
            return _read_header(as_dict(record["session"]), facts)
        if "back_to" in record:
            return Entry(kind="revert", session_id=facts.session_id, back_to=identifier(record["back_to"]))
        raise BadRecord("neither a session, nor a message, nor a revert of OpenCode")


def _read_header(session: dict[str, Any], facts: FileFacts) -> Entry:
    entry = Entry(kind="session", at=parse_time(session.get("created") or None), cwd=as_text(session.get("directory")))
    entry.session_id = facts.session_id or identifier(session.get("id"))
    entry.agent_id = facts.agent_id
    title = title_of(session.get("title"))
    entry.title = "" if _MADE_UP_TITLE.match(title) else title
    return entry


def _read_message(record: dict[str, Any], facts: FileFacts) -> Entry:
    info, parts = as_dict(record["info"]), as_list(record.get("parts"))
    role = short(info.get("role"), 80) or "(no role)"
    entry = Entry(kind=role, at=parse_time(as_dict(info.get("time")).get("created")))
    entry.session_id = facts.session_id or identifier(info.get("sessionID"))
    entry.agent_id = facts.agent_id
    entry.cwd = as_text(as_dict(info.get("path")).get("cwd")) or facts.cwd
    entry.counted_blocks = tuple(f"{role}:{short(as_dict(part).get('type'), 40) or '(no type)'}" for part in parts)
    if role == "assistant":
        _read_assistant(entry, info, parts)
    elif role == "user":
        _read_user(entry, parts)
    if entry.blocks:
        entry.key = key_of(info, short(record.get("began")), facts)
        if facts.kind == "subagent":
            entry.make_subagent()
    return entry


def _read_assistant(entry: Entry, info: dict[str, Any], parts: list[Any]) -> None:
    entry.author, entry.standing = Author.ASSISTANT, Standing.SAID
    entry.model = short(info.get("modelID"))
    entry.blocks = [block for part in parts for block in _assistant_blocks(as_dict(part))]
    if info.get("summary") is True:
        entry.author, entry.standing, entry.message_kind = Author.MACHINE, Standing.ASIDE, "summary"
    elif not entry.blocks and (error := as_dict(info.get("error"))):
        entry.author, entry.standing = Author.MACHINE, Standing.ASIDE
        name = short(error.get("name"))
        entry.message_kind = "interruption" if name == "MessageAbortedError" else "error"
        entry.blocks = [text_block(as_text(as_dict(error.get("data")).get("message")) or name or "error")]
    entry.text = words_of(entry.blocks)


def _assistant_blocks(part: dict[str, Any]) -> Iterator[Block]:
    kind, text = part.get("type"), as_text(part.get("text"))
    if kind == "text" and text.strip() and not part.get("ignored"):
        yield text_block(text)
    elif kind == "reasoning":
        yield thinking_block(part.get("text"))
    elif kind == "file":
        yield _file_block(part)
    elif kind == "tool":
        state = as_dict(part.get("state"))
        yield tool_call(part.get("tool"), part.get("callID"), state.get("input"))
        is_error = state.get("status") == "error"
        if is_error or state.get("status") == "completed":
            output = as_text(state.get("error") if is_error else state.get("output"))
            yield tool_result(part.get("callID"), len(output), error=is_error)


def _read_user(entry: Entry, parts: list[Any]) -> None:
    own, added = texts_of(parts, synthetic=False), texts_of(parts, synthetic=True)
    files = [_file_block(as_dict(part)) for part in parts if as_dict(part).get("type") == "file"]
    task = next((as_dict(part) for part in parts if as_dict(part).get("type") == "subtask"), None)
    entry.author, entry.standing = Author.MACHINE, Standing.ASIDE
    if own or (files and not task):
        entry.author, entry.standing = Author.USER, Standing.SAID
    elif task is not None:
        command, prompt = short(task.get("command")), as_text(task.get("prompt"))
        own = [f"/{command}"] if command else [prompt] if prompt else []
        entry.author = Author.USER if command else Author.MACHINE
        entry.message_kind = "command" if command else "task"
    elif added:
        own, entry.message_kind = added, "context"
    else:
        own = [text for part in parts if (text := as_text(as_dict(part).get("text"))).strip()]
        entry.message_kind = "notice"
    entry.blocks = [*(text_block(text) for text in own), *files]
    entry.text = words_of(entry.blocks)


def _file_block(part: dict[str, Any]) -> Block:
    media_type = short(part.get("mime"))
    url = part.get("url")
    data = url.partition(",")[2] if isinstance(url, str) and url.startswith("data:") else None
    return image_block(media_type, data, "image" if media_type.startswith("image/") else "document")
