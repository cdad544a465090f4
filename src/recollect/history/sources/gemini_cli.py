"""Gemini CLI: one `.json` document a session, rewritten whole; since 0.39 JSON lines, where a later line may replace
an earlier one, go back to a point, or set what the model is given to read.

A document is given as the lines it would be today, so that both forms are one. `$set` with `messages` is the context of
the model (set up, shortened, masked, rolled back), not the conversation: the lines before it stay as they were said.
Facts behind each rule: `docs/sources/gemini-cli.md`.
"""

import json
import os
import re
from collections.abc import Iterator
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
    title_of,
    tool_call,
    tool_result,
)
from recollect.history.sources.source import Computer, FileFacts, Head, Opened, Source, Transcript
from recollect.ids import derived_id

NAME = "gemini-cli"

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SESSION = re.compile(r"(session-\d{4}-\d\d-\d\dT\d\d-\d\d-[A-Za-z0-9_-]{1,8})\.jsonl?")
_LINES = "jsonl"
"""The version of a session in lines: later than any time, because a document is copied into lines, never back."""
_TAIL_BYTES = 8 << 10
"""Versions 0.3x wrote `kind` after the messages, at the very end."""
_DIRECTORIES = re.compile(rb'"directories":\s*\[\s*"((?:[^"\\\x00-\x1f\x7f-\xff]|\\["\\/])*)"')
_SUBAGENT_TAIL = re.compile(rb'\n  "kind": "subagent"[,\s]')
_HEADER = ("sessionId", "projectHash", "startTime", "kind")
_LATE = ("summary", "directories")
"""They change while the session goes on, so they stand behind the messages, whose records then stay the same."""

_REFERENCES = re.compile(
    r"\n--- Content from referenced (?:files|context) ---\n"
    r"(?:.*\n--- End of content ---|\s*Content from @.*\Z)",
    re.DOTALL,
)
_SHELL = re.compile(
    r"I ran the following shell command:\n```sh\n(.*?)\n```\n\nThis produced the following result:\n```", re.DOTALL
)
_COMMAND = re.compile(r"\s*[/?][\w:-]*\s*\Z")
_DIRECTORY = re.compile(r"\*\*Workspace Directories:\*\*\n\s+- (.+)\n")
_MACHINE = (
    ("<session_context>", "context"),
    ("This is the Gemini CLI. We are setting up the context for our chat.", "context"),
    ("<hook_context>", "context"),
    ("Here is the user's editor context as a JSON object.", "context"),
    ("Here is a summary of changes in the user's editor context", "context"),
    ("System: Potential loop detected. Details:", "notice"),
    ("<state_snapshot>", "summary"),
)
"""How text begins that the program puts in the user's name."""
_CONTINUE = "Please continue."
"""What the program itself says when it finds that the model has not finished."""
_ACKNOWLEDGEMENT = "Got it. Thanks for the additional context!"
"""What it lets the model say after a summary, which stands right before."""
_INTERRUPTED = "[The previous response was interrupted before it completed.]"


class _Record(msgspec.Struct, rename="camel"):
    """The fields that matter; `Any` because any of them may hold something else one day."""

    id: Any = None
    type: Any = None
    timestamp: Any = None
    content: Any = None
    display_content: Any = None
    thoughts: Any = None
    tool_calls: Any = None
    model: Any = None
    update: Any = msgspec.field(default=None, name="$set")
    rewind_to: Any = msgspec.field(default=None, name="$rewindTo")
    session_id: Any = None
    start_time: Any = None
    summary: Any = None
    directories: Any = None


_decode = msgspec.json.Decoder(_Record).decode


class GeminiCli(Source):
    name = NAME
    title = "Gemini CLI"

    def places(self, computer: Computer) -> list[str]:
        return [f"{computer.configured('GEMINI_CLI_HOME')}/.gemini/tmp"]

    def is_candidate(self, path: str) -> bool:
        if not path.endswith((".json", ".jsonl")):
            return False
        parts = path.replace("\\", "/").split("/")
        return bool(_SESSION.fullmatch(parts[-1])) or (path.endswith("l") and parts[-3:-2] == ["chats"])

    def comes_later(self, path: str) -> bool:
        return path.replace("\\", "/").split("/")[-3:-2] == ["chats"]

    def recognises(self, head: Head) -> bool:
        if any(_is_header(record) for record in head.records):
            return True
        return not head.is_array and {"sessionId", "projectHash"} <= head.keys

    def locate(self, path: str, root: str) -> FileFacts:
        parts = path.replace("\\", "/").split("/")
        session = _SESSION.fullmatch(parts[-1])
        if session:
            version = _LINES if path.endswith("l") else ""
            return FileFacts(key=session[1], kind="session", is_unique=True, cwd=_project(path), version=version)
        if parts[-3:-2] == ["chats"]:
            agent, parent = parts[-1].removesuffix(".jsonl"), parts[-2]
            is_unique = bool(_UUID.fullmatch(parent))
            return FileFacts(
                key=f"{parent}/{agent}" if is_unique else "/".join(parts[-4:]),
                kind="subagent",
                session_id=identifier(parent),
                agent_id=identifier(agent),
                is_unique=is_unique,
                cwd=_project(os.path.dirname(path)),
            )
        return super().locate(path, root)

    def refine(self, facts: FileFacts, head: Head) -> FileFacts:
        header = next((record for record in head.records if _is_header(record)), None)
        told = [record.get("directories") or as_dict(record.get("$set")).get("directories") for record in head.records]
        folder = next((name for name in map(_first_directory, told) if name), "")
        return _told_by(as_dict(header), replace(facts, cwd=facts.cwd or folder))

    def transcripts(self, opened: Opened, facts: FileFacts) -> Iterator[Transcript] | None:
        return _document(opened, facts) if opened.path.endswith(".json") else None

    def parse(self, raw: bytes, facts: FileFacts) -> Entry:
        record = _read(raw)
        if isinstance(record.rewind_to, str):
            return Entry(kind="$rewindTo", back_to=_key(record.rewind_to, facts))
        if isinstance(record.id, str) and record.id:
            return _message(record, facts)
        update = as_dict(record.update)
        if update:
            return _update(update, facts)
        kind = short(record.type, 80) or ("metadata" if isinstance(record.session_id, str) else "(no type)")
        entry = Entry(kind=kind, at=parse_time(record.start_time), session_id=identifier(record.session_id))
        entry.title, entry.cwd = title_of(record.summary), _first_directory(record.directories)
        return entry


def _is_header(record: dict[str, object]) -> bool:
    return isinstance(record.get("sessionId"), str) and isinstance(record.get("projectHash"), str)


def _told_by(header: dict[str, Any], facts: FileFacts) -> FileFacts:
    """A message does not name its session; the header does."""
    if facts.kind == "subagent":
        return facts
    session_id = identifier(header.get("sessionId"))
    if header.get("kind") == "subagent":
        return replace(facts, kind="subagent", agent_id=session_id or facts.key)
    return replace(facts, session_id=session_id)


def _project(path: str) -> str:
    """Gemini CLI notes the project beside its chats, for its own use; older versions did not."""
    try:
        with open(os.path.join(os.path.dirname(os.path.dirname(path)), ".project_root"), "rb") as file:
            return as_text(file.read(4 << 10).decode("utf-8", "replace").strip())
    except (OSError, ValueError):
        return ""


def _key(own_id: str, facts: FileFacts) -> str:
    """Messages have a random UUID; what the program makes up has an id that repeats in other sessions."""
    return own_id if _UUID.fullmatch(own_id) else derived_id(NAME, facts.key, own_id)


def _read(raw: bytes) -> _Record:
    try:
        return _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return chosen(_Record, read_object(raw))


def _document(opened: Opened, facts: FileFacts) -> Iterator[Transcript]:
    header: dict[str, Any] = {}
    tail = _tail_of(opened)
    kind = {"kind": "subagent"} if _SUBAGENT_TAIL.search(tail) else {}
    folder = _DIRECTORIES.search(tail)
    if folder and not facts.cwd:  # It stands behind the messages, and whether they stay out depends on it.
        facts = replace(facts, cwd=as_text(json.loads(b'"' + folder[1] + b'"', strict=False)))
    values = walk(opened.file, _is_entered, lambda value: "id" in value and "type" in value, opened.report)
    first: Any = None
    try:
        for path, value in values:
            if path[:1] == ("messages",):
                first = value
                break
            header.update({str(path[0]): value} if path else {})
    except BrokenDocument as error:
        raise _unfinished(opened, error) from None
    yield Transcript(
        facts=_told_by({**header, **kind}, facts),
        version=short(header.get("lastUpdated")),
        records=_lines(opened, header, first, values),
    )


def _is_entered(path: Path) -> bool:
    return path in ((), ("messages",))


def _tail_of(opened: Opened) -> bytes:
    if not opened.file.seekable():
        return b""
    start = opened.file.tell()
    size = opened.file.seek(0, os.SEEK_END)
    opened.file.seek(max(start, size - _TAIL_BYTES))
    tail = opened.file.read(_TAIL_BYTES)
    opened.file.seek(start)
    return tail


def _lines(opened: Opened, header: dict[str, Any], first: Any, values: Iterator[tuple[Path, Any]]) -> Iterator[bytes]:
    yield line_of({name: header[name] for name in _HEADER if name in header})
    if as_dict(first):
        yield line_of(as_dict(first))
    try:
        for path, value in values:
            if path[:1] != ("messages",):
                header[str(path[0])] = value
            elif as_dict(value):
                yield line_of(as_dict(value))
    except BrokenDocument as error:
        raise _unfinished(opened, error) from None
    late = {name: header[name] for name in _LATE if name in header}
    if late:
        yield line_of({"$set": late})


def _unfinished(opened: Opened, error: BrokenDocument) -> BrokenDocument:
    return BrokenDocument(
        f"{opened.path}: {error}. What stands before is read. Gemini CLI writes this file anew when the session goes "
        "on: open the session once more with `gemini --resume`, or bring the file back from a backup"
    )


def _update(fields: dict[str, Any], facts: FileFacts) -> Entry:
    entry = Entry(kind="$set", session_id=identifier(fields.get("sessionId")))
    entry.title, entry.cwd = title_of(fields.get("summary")), _first_directory(fields.get("directories"))
    messages = as_list(fields.get("messages"))
    if not messages:
        return entry
    entry.kind, entry.repeats = "$set messages", True
    context = _all_text(as_dict(messages[0]).get("content"))
    directory = _DIRECTORY.search(context) if context.startswith("<session_context>") else None
    entry.cwd = as_text(directory[1].strip()) if directory else entry.cwd
    _read_summary(entry, messages, facts)
    return entry


def _read_summary(entry: Entry, messages: list[Any], facts: FileFacts) -> None:
    """A summary of what was compressed stands in no line of its own."""
    for message, following in zip(reversed(messages[:-1]), reversed(messages), strict=False):
        fields = as_dict(message)
        own_id, text = fields.get("id"), _all_text(fields.get("content"))
        if fields.get("type") != "user" or not isinstance(own_id, str) or not text:
            continue
        if "<state_snapshot>" in text or _all_text(as_dict(following).get("content")) == _ACKNOWLEDGEMENT:
            entry.key, entry.at = _key(own_id, facts), parse_time(fields.get("timestamp"))
            entry.message_kind, entry.text, entry.blocks = "summary", as_text(text), [text_block(as_text(text))]
            entry.replaces = True
            return


def _first_directory(value: Any) -> str:
    """The folders of the workspace, the project first."""
    return as_text(next(iter(as_list(value)), ""))


def _message(record: _Record, facts: FileFacts) -> Entry:
    entry = Entry(kind=short(record.type, 80) or "(no type)", at=parse_time(record.timestamp), replaces=True)
    entry.agent_id = facts.agent_id
    if entry.kind == "gemini":
        _read_reply(entry, record)
    elif entry.kind == "user":
        _read_user(entry, record)
    elif entry.kind in ("info", "warning", "error"):
        text = as_text(_all_text(record.content))
        entry.message_kind, entry.text = entry.kind, text
        entry.blocks = [*([text_block(text)] if text.strip() else []), *_media(record.content)]
        if not entry.blocks:
            return entry
    else:
        return entry
    entry.key = _key(str(record.id), facts)
    entry.counted_blocks = tuple(f"{entry.kind}:{block['type']}" for block in entry.blocks)
    if facts.kind == "subagent":
        entry.make_subagent()
    return entry


def _parts(content: Any) -> list[Any]:
    """Content is words, one part, or a list of either."""
    items = as_list(content) if isinstance(content, list) else [content]
    return [{"text": item} if isinstance(item, str) else item for item in items]


def _all_text(content: Any) -> str:
    texts = [as_dict(part).get("text") for part in _parts(content) if not as_dict(part).get("thought")]
    return "".join(text for text in texts if isinstance(text, str))


def _media(content: Any) -> list[Block]:
    blocks: list[Block] = []
    for part in map(as_dict, _parts(content)):
        data = as_dict(part.get("inlineData")) or as_dict(part.get("fileData"))
        if data:
            kind = "image" if short(data.get("mimeType")).startswith("image/") else "document"
            blocks.append(image_block(data.get("mimeType"), data.get("data"), kind))
    return blocks


def _read_user(entry: Entry, record: _Record) -> None:
    responses = [as_dict(part).get("functionResponse") for part in _parts(record.content)]
    if any(responses):
        _read_responses(entry, [as_dict(response) for response in responses if response])
        entry.blocks += _media(record.content)
        return
    text = as_text(_all_text(record.display_content) or _all_text(record.content))
    entry.author, entry.standing, entry.message_kind, entry.text = _reading(text)
    media = _media(record.content)
    if media and not entry.text:
        entry.author, entry.standing, entry.message_kind = Author.USER, Standing.SAID, ""
    entry.blocks = [*([text_block(entry.text)] if entry.text else []), *media]


def _reading(text: str) -> tuple[Author, Standing, str, str]:
    """Whose words these are, and the words without what was put beside them."""
    typed = _without_hook(_REFERENCES.sub("", text))
    opening = typed.lstrip()
    for start, kind in _MACHINE:
        if opening.startswith(start):
            return Author.MACHINE, Standing.ASIDE, kind, typed
    if not opening:
        return Author.MACHINE, Standing.ASIDE, "context" if text.strip() else "empty", text
    if opening == _CONTINUE:
        return Author.MACHINE, Standing.ASIDE, "continuation", typed
    shell = _SHELL.match(opening)
    if shell:
        command = re.sub(r"\\([\\`])", r"\1", shell[1])
        return Author.USER, Standing.SAID, "shell", f"! {command}"
    if _COMMAND.match(typed):
        return Author.USER, Standing.ASIDE, "command", typed
    return Author.USER, Standing.SAID, "", typed


def _without_hook(text: str) -> str:
    """What a hook has to say is put behind what was typed."""
    start = text.rfind("<hook_context>") if text.rstrip().endswith("</hook_context>") else -1
    return text[:start].rstrip() if start >= 0 else text


def _read_responses(entry: Entry, responses: list[dict[str, Any]]) -> None:
    outputs = [_output(response) for response in responses]
    entry.author, entry.message_kind = Author.TOOL, "tool_result"
    entry.text = output_text(outputs)[0]
    for response, output in zip(responses, outputs, strict=True):
        is_error = "error" in as_dict(response.get("response"))
        entry.blocks = [*entry.blocks, tool_result(response.get("id"), len(output), error=is_error)]


def _output(response: dict[str, Any]) -> str:
    fields = as_dict(response.get("response"))
    return "\n".join(text for text in fields.values() if isinstance(text, str))


def _read_reply(entry: Entry, record: _Record) -> None:
    entry.author, entry.standing = Author.ASSISTANT, Standing.SAID
    entry.model = short(record.model)
    parts = [as_dict(part) for part in _parts(record.content)]
    thoughts = [as_dict(thought).get("description") for thought in as_list(record.thoughts)]
    thoughts = thoughts or [part.get("text") for part in parts if part.get("thought")]
    entry.text = as_text(_all_text(record.content))
    calls = [as_dict(call) for call in as_list(record.tool_calls)]
    known = {call.get("id") for call in calls if isinstance(call.get("id"), str)}
    asked = [as_dict(part.get("functionCall")) for part in parts]
    calls += [call for call in asked if call and not (isinstance(call.get("id"), str) and call["id"] in known)]
    entry.blocks = [thinking_block(thought) for thought in thoughts]
    entry.blocks += [text_block(entry.text)] if entry.text else []
    entry.blocks += _media(record.content)
    for call in calls:
        entry.blocks += _call_blocks(call)
    if entry.text == _INTERRUPTED:
        entry.author, entry.standing, entry.message_kind = Author.MACHINE, Standing.ASIDE, "interruption"


def _call_blocks(call: dict[str, Any]) -> list[Block]:
    """A call and, once the tool has answered, how long the answer is: the record holds both."""
    blocks = [tool_call(call.get("name"), call.get("id"), call.get("args"))]
    result = call.get("result")
    if result is None:
        return blocks
    responses = [as_dict(as_dict(part).get("functionResponse")) for part in _parts(result)]
    characters = sum(len(_output(response)) for response in responses) + len(_all_text(result))
    is_error = call.get("status") in ("error", "cancelled")
    return [*blocks, tool_result(call.get("id"), characters, error=is_error)]
