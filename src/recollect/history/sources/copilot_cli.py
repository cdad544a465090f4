"""Copilot CLI: `session-state/<uuid>/events.jsonl`, one event a line, and the documents of its first weeks.

Every event has a UUID that a fork of the session keeps, so it is the identity. Going back cuts the file: the events are
gone from it and nothing says so. Sub-agents write into the file of their session; `agentId` (older: `parentToolCallId`)
tells them apart. Facts behind each rule: `docs/sources/copilot-cli.md`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import msgspec

from recollect.clock import parse_time
from recollect.history.messages import Author, Block, Entry, Standing
from recollect.history.sources.documents import BrokenDocument, Path, line_of, walk
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
)
from recollect.history.sources.source import Computer, FileFacts, Head, Opened, Source, Transcript
from recollect.ids import derived_id
from recollect.redaction import mask

NAME = "copilot-cli"

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_SESSION = re.compile(_UUID)
_FORKED = re.compile(rf"Forked from .*?\(({_UUID})\)", re.DOTALL)
_DOCUMENT = re.compile(r"session_(.+)_(\d+)\.json")
"""As versions up to 0.0.34x named a session."""
_TIMELINE = "timeline."
"""Put before the types of a document's timeline, which are other ones than those of events."""
_HUMAN_SOURCES = (None, "", "user")
"""Where a user's message comes from; every other source is a program: skill-…, agent-…, system, schedule, autopilot."""


class _Record(msgspec.Struct, rename="camel"):
    """The fields that matter; `Any` because any of them may hold something else one day."""

    type: Any = None
    id: Any = None
    timestamp: Any = None
    agent_id: Any = None
    data: msgspec.Raw = msgspec.Raw(b"{}")
    """Read only where it matters: most of a file is prompts of the system and snapshots of what the model was given."""


_decode = msgspec.json.Decoder(_Record).decode


class CopilotCli(Source):
    name = NAME
    title = "Copilot CLI"

    def places(self, computer: Computer) -> list[str]:
        homes = [computer.configured("COPILOT_HOME", ".copilot"), computer.below_home(".copilot")]
        if computer.environment.get("XDG_STATE_HOME", "").strip():
            homes.append(computer.configured("XDG_STATE_HOME") + "/.copilot")
        folders = [f"{home}/{name}" for home in homes for name in ("session-state", "history-session-state")]
        return list(dict.fromkeys(folders))

    def is_candidate(self, path: str) -> bool:
        parts = path.replace("\\", "/").split("/")
        if parts[-1] == "events.jsonl":
            return True
        if path.endswith(".jsonl"):
            return parts[-2:-1] == ["session-state"]
        return bool(_DOCUMENT.fullmatch(parts[-1]))

    def recognises(self, head: Head) -> bool:
        if any(_is_event(record) for record in head.records):
            return True
        return not head.is_array and {"sessionId", "startTime", "chatMessages"} <= head.keys

    def locate(self, path: str, root: str) -> FileFacts:
        parts = path.replace("\\", "/").split("/")
        document = _DOCUMENT.fullmatch(parts[-1])
        if document:
            return FileFacts(
                key=parts[-1].removesuffix(".json"), kind="session", session_id=identifier(document[1]), is_unique=True
            )
        session = parts[-2] if parts[-1] == "events.jsonl" and len(parts) > 1 else parts[-1].removesuffix(".jsonl")
        if _SESSION.fullmatch(session):
            return FileFacts(key=session, kind="session", session_id=session, is_unique=True)
        return super().locate(path, root)

    def refine(self, facts: FileFacts, head: Head) -> FileFacts:
        start = next((record for record in head.records if record.get("type") == "session.start"), None)
        session_id = identifier(as_dict(as_dict(start).get("data")).get("sessionId"))
        return facts if facts.session_id or not session_id else replace(facts, session_id=session_id)

    def transcripts(self, opened: Opened, facts: FileFacts) -> Iterator[Transcript] | None:
        if not opened.path.endswith(".json"):
            return None
        return iter([Transcript(facts=facts, records=_timeline(opened, facts))])

    def parse(self, raw: bytes, facts: FileFacts) -> Entry:
        record = _read(raw)
        entry = Entry(kind=short(record.type, 80) or "(no type)", at=parse_time(record.timestamp))
        entry.uuid, entry.agent_id = identifier(record.id), identifier(record.agent_id)
        reader = _READERS.get(entry.kind)
        if not reader:
            return entry
        data = as_dict(_value(bytes(record.data)))
        reader(entry, data)
        if entry.blocks:
            entry.agent_id = entry.agent_id or identifier(data.get("parentToolCallId"))
            entry.key = entry.key or entry.uuid or _made_up_key(entry, facts)
            entry.key_by_place = not (entry.uuid or entry.at or data.get("messageId"))
            entry.counted_blocks = tuple(f"{entry.author}:{block['type']}" for block in entry.blocks)
            if entry.agent_id:
                entry.make_subagent(is_task=entry.kind == "user.message")
        return entry


def _made_up_key(entry: Entry, facts: FileFacts) -> str:
    return derived_id(NAME, facts.session_id or facts.key, entry.kind, entry.at or "", mask(entry.text))


def _is_event(record: dict[str, object]) -> bool:
    kind = record.get("type")
    return (
        isinstance(kind, str)
        and "." in kind
        and isinstance(record.get("data"), dict)
        and "parentId" in record
        and isinstance(record.get("id"), str)
    )


def _read(raw: bytes) -> _Record:
    try:
        return _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        fields = read_object(raw)
        fields["data"] = msgspec.Raw(line_of(fields.get("data")))
        return chosen(_Record, fields)


def _value(data: bytes) -> Any:
    return read_object(data) if data.lstrip()[:1] == b"{" else None


def _timeline(opened: Opened, facts: FileFacts) -> Iterator[bytes]:
    """A document as events. Its chat messages are the same once more, as the model saw them."""
    header: dict[str, Any] = {}
    is_header_given = False
    try:
        for path, value in walk(opened.file, _is_entered, lambda item: "type" in item, opened.report):
            if len(path) == 1:
                header[str(path[0])] = value
                continue
            if not is_header_given:
                is_header_given = True
                yield _start(header, facts)
            if path[0] == "timeline":
                yield _timeline_event(as_dict(value), facts)
    except BrokenDocument as error:
        raise BrokenDocument(
            f"{opened.path}: {error}. What stands before is read; bring the file back from a backup to have the rest"
        ) from None


def _is_entered(path: Path) -> bool:
    return path in ((), ("timeline",), ("chatMessages",))


def _start(header: dict[str, Any], facts: FileFacts) -> bytes:
    data = {"sessionId": header.get("sessionId") or facts.session_id, "startTime": header.get("startTime")}
    return line_of({"type": "session.start", "timestamp": header.get("startTime"), "data": data})


def _timeline_event(item: dict[str, Any], facts: FileFacts) -> bytes:
    own_id = item.get("id")
    identity = derived_id(NAME, facts.session_id or facts.key, own_id) if isinstance(own_id, str) else None
    kind = _TIMELINE + short(item.get("type"), 60)
    data = {name: value for name, value in item.items() if name not in ("type", "id", "timestamp")}
    return line_of({"type": kind, "id": identity, "timestamp": item.get("timestamp"), "data": data})


def _say(entry: Entry, text: Any, kind: str, author: Author = Author.MACHINE) -> None:
    """One author's words; of a machine's they stand aside."""
    words = as_text(text)
    if not words.strip():
        return
    entry.author, entry.message_kind, entry.text = author, kind, words
    entry.standing = Standing.ASIDE if author is Author.MACHINE else Standing.SAID
    entry.blocks = [text_block(words)]


def _read_session(entry: Entry, data: dict[str, Any]) -> None:
    entry.session_id = identifier(data.get("sessionId"))
    entry.cwd = as_text(as_dict(data.get("context")).get("cwd")) or as_text(data.get("cwd"))
    entry.model = short(data.get("selectedModel"))
    parent = identifier(data.get("detachedFromSpawningParentSessionId"))
    entry.links = (("parent", parent),) if parent else ()


def _read_handoff(entry: Entry, data: dict[str, Any]) -> None:
    other = identifier(data.get("remoteSessionId"))
    entry.links = (("continue", other),) if other else ()
    _say(entry, data.get("summary") or data.get("context"), "handoff")


def _read_user(entry: Entry, data: dict[str, Any]) -> None:
    source = data.get("source")
    entry.author, entry.standing, entry.text = Author.USER, Standing.SAID, as_text(data.get("content"))
    entry.blocks = [text_block(entry.text)] if entry.text.strip() else []
    entry.blocks += [_attachment(as_dict(item)) for item in as_list(data.get("attachments"))]
    if source in _HUMAN_SOURCES and not data.get("isAutopilotContinuation"):
        return
    entry.message_kind = short(source, 40).partition("-")[0] or "continuation"
    if entry.message_kind == "command" and entry.text.startswith("/"):
        entry.standing = Standing.SAID if " " in entry.text.strip() else Standing.ASIDE
    else:
        entry.author, entry.standing = Author.MACHINE, Standing.ASIDE


def _attachment(item: dict[str, Any]) -> Block:
    """What hangs on a message: a file, a folder, a selection, a picture, something on GitHub."""
    media_type = short(item.get("mimeType"))
    kind = "image" if media_type.startswith("image/") else "document"
    block = image_block(media_type or item.get("type"), item.get("data"), kind)
    size = item.get("byteLength")
    return {**block, "bytes": size} if isinstance(size, int) and 0 <= size < 1 << 53 and not block["bytes"] else block


def _read_assistant(entry: Entry, data: dict[str, Any]) -> None:
    entry.author, entry.standing, entry.text = Author.ASSISTANT, Standing.SAID, as_text(data.get("content"))
    entry.model = short(data.get("model"))
    entry.key = identifier(data.get("messageId"))
    entry.blocks = [thinking_block(data["reasoningText"])] if data.get("reasoningText") else []
    entry.blocks += [text_block(entry.text)] if entry.text.strip() else []
    for request in map(as_dict, as_list(data.get("toolRequests"))):
        entry.blocks += [tool_call(request.get("name"), request.get("toolCallId"), request.get("arguments"))]


def _read_result(entry: Entry, data: dict[str, Any]) -> None:
    result, error = as_dict(data.get("result")), as_dict(data.get("error"))
    words = result.get("content") or result.get("detailedContent") or error.get("message") or ""
    entry.text, characters = output_text([words] if isinstance(words, str) else [])
    entry.author, entry.message_kind = Author.TOOL, "tool_result"
    entry.blocks = [tool_result(data.get("toolCallId"), characters, error=data.get("success") is False or bool(error))]
    for item in map(as_dict, as_list(result.get("contents"))):
        if item.get("type") in ("image", "audio"):
            entry.blocks += [image_block(item.get("mimeType"), item.get("data"), short(item.get("type")))]


def _read_requested(entry: Entry, data: dict[str, Any]) -> None:
    """What the user had run: `!ls` on the prompt."""
    command = as_text(as_dict(data.get("arguments")).get("command"))
    _say(entry, f"! {command}" if command.strip() else "", "shell", Author.USER)


def _read_answer(entry: Entry, data: dict[str, Any]) -> None:
    """A question of the agent was answered in a window of its own."""
    response = as_dict(data.get("response"))
    fields = as_dict(response.get("content")).values()
    words = response.get("answer") or response.get("feedback") or "\n".join(as_text(field) for field in fields)
    is_human = data.get("actor") == "human_response"
    _say(entry, words, "answer", Author.USER if is_human else Author.MACHINE)


def _read_info(entry: Entry, data: dict[str, Any]) -> None:
    forked = _FORKED.match(as_text(data.get("message"))) if data.get("infoType") == "fork" else None
    entry.links = (("fork", forked[1]),) if forked else ()
    _say(entry, data.get("message"), "info")


def _read_title(entry: Entry, data: dict[str, Any]) -> None:
    entry.title = short(data.get("title"), 300).strip()


def _read_call(entry: Entry, data: dict[str, Any]) -> None:
    entry.author, entry.standing = Author.ASSISTANT, Standing.SAID
    entry.blocks = [tool_call(data.get("name"), data.get("callId"), data.get("arguments"))]


def _read_completed(entry: Entry, data: dict[str, Any]) -> None:
    result = as_dict(data.get("result"))
    log = result.get("log")
    entry.text, characters = output_text([log] if isinstance(log, str) else [])
    entry.author, entry.message_kind = Author.TOOL, "tool_result"
    entry.blocks = [tool_result(data.get("callId"), characters, error=result.get("type") != "success")]


_Reader = Callable[[Entry, dict[str, Any]], None]


def _words(field: str, kind: str, author: Author = Author.MACHINE) -> _Reader:
    return lambda entry, data: _say(entry, data.get(field), kind, author)


_READERS: dict[str, _Reader] = {
    "session.start": _read_session,
    "session.resume": _read_session,
    "session.context_changed": _read_session,
    "session.handoff": _read_handoff,
    "session.title_changed": _read_title,
    "session.info": _read_info,
    "session.warning": _words("message", "warning"),
    "session.error": _words("message", "error"),
    "session.compaction_complete": _words("summaryContent", "summary"),
    "session.task_complete": _words("summary", "task_complete", Author.ASSISTANT),
    "user.message": _read_user,
    "human_response.recorded": _read_answer,
    "assistant.message": _read_assistant,
    "tool.user_requested": _read_requested,
    "tool.execution_complete": _read_result,
    "skill.invoked": _words("content", "skill"),
    "skill.context_delivered": _words("content", "skill"),
    "session.mode_notice_delivered": _words("content", "notice"),
    "system.notification": _words("content", "notification"),
    "abort": _words("reason", "interruption"),
    "timeline.user": _words("text", "", Author.USER),
    "timeline.copilot": _words("text", "", Author.ASSISTANT),
    "timeline.error": _words("text", "error"),
    "timeline.warning": _words("text", "warning"),
    "timeline.info": _words("text", "info"),
    "timeline.tool_call_requested": _read_call,
    "timeline.tool_call_completed": _read_completed,
}
