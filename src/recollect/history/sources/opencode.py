"""OpenCode: its database `opencode.db`, and what `opencode export` writes of one session.

Both become the same records: a header, then one record for each message with its parts, in order. Parts are updated
in place (a tool runs, then has run), so a record may differ later; the core replaces it. A fork copies messages under
new ids and keeps their times: what a message is known by is made of those. Facts: `docs/sources/opencode.md`.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from recollect.clock import parse_time
from recollect.database.foreign import MAGIC, Rows, open_foreign
from recollect.errors import Unreadable
from recollect.history.messages import Author, Block, Entry, Standing
from recollect.history.sources.documents import BrokenDocument, Path, line_of, walk
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
from recollect.ids import derived_id

NAME = "opencode"
BLOCK_BYTES = 1 << 20

TABLES = frozenset({"project", "session", "message", "part"})
COLUMNS = {
    "session": ("id", "parent_id", "directory", "title", "revert", "time_created", "time_updated"),
    "message": ("id", "session_id", "time_created", "time_updated", "data"),
    "part": ("id", "message_id", "session_id", "time_updated", "data"),
}
HAS_COLUMNS = "SELECT name FROM pragma_table_info(:table)"
HAS_TABLE = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = :table"

# As bytes, because text that is not UTF-8 would end the reading.
# Not every change touches the row of the session: a part that goes on does not, a new title does without a new time.
SESSIONS = """
SELECT CAST(s.id AS BLOB), CAST(s.parent_id AS BLOB), CAST(s.directory AS BLOB), CAST(s.title AS BLOB),
       CAST(s.revert AS BLOB), CAST(s.time_created AS INTEGER), CAST({sequence} AS INTEGER),
       max(CAST(s.time_updated AS INTEGER),
           coalesce((SELECT max(CAST(m.time_updated AS INTEGER)) FROM message m WHERE m.session_id = s.id), 0),
           coalesce((SELECT max(CAST(p.time_updated AS INTEGER)) FROM part p WHERE p.session_id = s.id), 0))
FROM session s
WHERE EXISTS (SELECT 1 FROM message m WHERE m.session_id = s.id)
ORDER BY s.time_created, s.id
"""
SEQUENCE = "(SELECT e.seq FROM event_sequence e WHERE e.aggregate_id = s.id)"
MESSAGES = (
    "SELECT CAST(id AS BLOB), CAST(data AS BLOB) FROM message WHERE session_id = :session ORDER BY time_created, id"
)
PARTS = "SELECT CAST(id AS BLOB), CAST(data AS BLOB) FROM part WHERE message_id = :message ORDER BY id"
NEWER_SESSIONS = """
SELECT count(DISTINCT n.session_id) FROM session_message n
WHERE NOT EXISTS (SELECT 1 FROM message m WHERE m.session_id = n.session_id)
"""

_DATABASE_NAME = re.compile(r"opencode(?:-[A-Za-z0-9._-]+)?\.db")
_EXPORT_NAME = re.compile(r"ses_[A-Za-z0-9]+\.json")
_OLD_STORE = re.compile(r"[/\\]opencode[/\\](?:project[/\\].*)?storage[/\\]")
_MADE_UP_TITLE = re.compile(r"(?:New|Child) session - \d{4}-")
_MOMENT = re.compile(rb'"(?:created|updated|completed|compacted|start|end)":\s*(\d{13})\b')
_REDACTED = "[redacted:"

Message = tuple[dict[str, Any], list[Any]]
"""What is said of a message, and its parts."""


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
        name = _name_of(path)
        return _DATABASE_NAME.fullmatch(name) is not None or _EXPORT_NAME.fullmatch(name) is not None

    def leaves_out(self, path: str) -> str:
        is_old = "storage" in path and _OLD_STORE.search(path)
        return "OpenCode moved this old store into its database itself" if is_old else ""

    def recognises(self, head: Head) -> bool:
        if head.tables:
            return head.tables >= TABLES
        return head.keys >= {"info", "messages"} and not head.is_array and b'"ses_' in head.start

    def locate(self, path: str, root: str) -> FileFacts:
        return FileFacts(key=os.path.relpath(path, root).replace(os.sep, "/"), kind="session")

    def transcripts(self, opened: Opened, facts: FileFacts) -> Iterator[Transcript]:
        start = opened.file.read(len(MAGIC))
        opened.file.seek(0)
        return _from_database(opened) if start == MAGIC else _from_export(opened)

    def parse(self, raw: bytes, facts: FileFacts) -> Entry:
        record = read_object(raw)
        if "info" in record:
            return _read_message(record, facts)
        if "session" in record:
            return _read_header(as_dict(record["session"]), facts)
        if "back_to" in record:
            return Entry(kind="revert", session_id=facts.session_id, back_to=identifier(record["back_to"]))
        raise BadRecord("neither a session, nor a message, nor a revert of OpenCode")


def _from_database(opened: Opened) -> Iterator[Transcript]:
    name = _name_of(opened.path)
    with open_foreign(opened.database) as rows:
        _check_columns(rows, name)
        has_sequence = next(rows(HAS_TABLE, {"table": "event_sequence"}))[0]
        for row in rows(SESSIONS.format(sequence=SEQUENCE if has_sequence else "0")):
            identity, parent, directory, title = (_plain(value) for value in row[:4])
            revert, created, sequence, updated = row[4:]
            header = _header(identity, parent, directory, title, created)
            if not header["id"]:
                opened.report(f"{name}: a session without an id is left out. The others are read.")
                continue
            messages = _stored_messages(rows, opened, header["id"])
            yield Transcript(
                facts=_facts(header),
                records=_records(header, messages, _decoded(revert), opened),
                version=f"{_number(updated):015d}.{_number(sequence):010d}",
            )
        if next(rows(HAS_TABLE, {"table": "session_message"}))[0]:
            count = next(rows(NEWER_SESSIONS))[0]
            if count:
                opened.report(
                    f"{name}: {count} sessions keep their messages in the table session_message, as a newer OpenCode "
                    "does, and cannot be read. Update Recollect; the other sessions are read."
                )


def _check_columns(rows: Rows, name: str) -> None:
    for table, needed in COLUMNS.items():
        present = {column for (column,) in rows(HAS_COLUMNS, {"table": table})}
        missing = [column for column in needed if column not in present]
        if missing:
            what = f"no column {missing[0]} in the table {table}" if present else f"no table {table}"
            raise Unreadable(
                f"{name} has {what}: it is from an OpenCode that this Recollect does not know. Update Recollect, or "
                "ingest what `opencode export` writes."
            )


def _stored_messages(rows: Rows, opened: Opened, session: str) -> Iterator[Message]:
    for name, data in rows(MESSAGES, {"session": session}):
        identity, info = _plain(name), _decoded(data)
        if not info:
            opened.report(f"{_name_of(opened.path)}: the message {identity} cannot be read and is left out.")
            continue
        yield (
            _named(info, id=identity, sessionID=session),
            [
                _named(_decoded(part), id=_plain(part_id), sessionID=session, messageID=identity)
                for part_id, part in rows(PARTS, {"message": identity})
            ],
        )


def _from_export(opened: Opened) -> Iterator[Transcript]:
    version = _latest_moment(opened)
    values = _values(opened)
    info = as_dict(next((value for path, value in values if path == ("info",) or path[:1] == ("messages",)), None))
    identity, parent, directory, title = (info.get(name) for name in ("id", "parentID", "directory", "title"))
    header = _header(identity, parent, directory, title, _created(info))
    if not header["id"]:
        raise Unreadable(
            f"{_name_of(opened.path)} does not say first which session it is. Write it again: `opencode export`."
        )
    if header["title"].startswith(_REDACTED) or header["directory"].startswith(_REDACTED):
        version = f"0.{version}"  # Made with --sanitize: never takes the place of the words themselves.
    messages = _exported_messages(values, opened, header["id"])
    yield Transcript(
        facts=_facts(header), records=_records(header, messages, as_dict(info.get("revert")), opened), version=version
    )


def _latest_moment(opened: Opened) -> str:
    """The latest of all times in the document: that of the session itself is not touched by every change."""
    latest, rest = 0, b""
    while block := opened.file.read(BLOCK_BYTES):
        text = rest + block
        latest = max([latest, *(int(moment) for moment in _MOMENT.findall(text))])
        rest = text[-64:]
    opened.file.seek(0)
    return f"{latest:015d}"


def _is_entered(path: Path) -> bool:
    return path in ((), ("messages",))


def _values(opened: Opened) -> Iterator[tuple[Path, Any]]:
    name = _name_of(opened.path)
    try:
        yield from walk(opened.file, _is_entered, lambda value: "info" in value and "parts" in value, opened.report)
    except BrokenDocument as damage:
        raise BrokenDocument(
            f"{name}: {damage}. What stands before that is read; for the rest, run `opencode export` again."
        ) from None


def _exported_messages(values: Iterable[tuple[Path, Any]], opened: Opened, session: str) -> Iterator[Message]:
    for path, value in values:
        if len(path) != 2 or path[0] != "messages":
            continue
        info = as_dict(as_dict(value).get("info"))
        identity = info.get("id")
        if not identity:
            opened.report(f"{_name_of(opened.path)}: message {path[1]} has no id and is left out. The others are read.")
            continue
        parts = [as_dict(part) for part in as_list(as_dict(value).get("parts"))]
        yield (
            _named(info, id=identity, sessionID=session),
            [_named(part, id=part.get("id"), sessionID=session, messageID=identity) for part in parts],
        )


def _named(fields: dict[str, Any], **names: Any) -> dict[str, Any]:
    """The names come last and always in the same order: the database keeps them apart from the rest."""
    return {**{name: value for name, value in fields.items() if name not in names}, **names}


def _header(identity: Any, parent: Any, directory: Any, title: Any, created: Any) -> dict[str, Any]:
    """What is told of a session, without what changes with every message."""
    return {
        "id": identifier(identity),
        "parentID": identifier(parent),
        "directory": as_text(directory),
        "title": as_text(title),
        "created": _number(created),
    }


def _facts(header: dict[str, Any]) -> FileFacts:
    """A session that another one started is that one's sub-agent. The key sorts by age: what a fork copies belongs to
    the older one."""
    child = bool(header["parentID"])
    return FileFacts(
        key=f"{header['created']:015d}-{header['id']}",
        kind="subagent" if child else "session",
        session_id=header["parentID"] or header["id"],
        agent_id=header["id"] if child else "",
        cwd=header["directory"],
        is_unique=True,
    )


def _records(
    header: dict[str, Any], messages: Iterable[Message], revert: dict[str, Any], opened: Opened
) -> Iterator[bytes]:
    """Header, messages, and last, while the user may still undo it, from where on messages are left."""
    yield line_of({"session": header})
    facts = _facts(header)
    began = ""
    back_to = ""
    is_left = False
    for info, parts in messages:
        began = began or f"{_created(info)}-{sum(len(text) for text in _texts(parts, synthetic=False))}"
        if is_left and not back_to:
            back_to = _key(info, began, facts)
        elif revert and info["id"] == revert.get("messageID"):
            is_left = True
            back_to = "" if revert.get("partID") else _key(info, began, facts)
        try:
            yield line_of({"began": began, "info": info, "parts": parts})
        except RecursionError:
            opened.report(f"The message {info['id']} is nested too deeply to be kept; the others are read.")
    if back_to:
        yield line_of({"back_to": back_to})


def _key(info: dict[str, Any], began: str, facts: FileFacts) -> str:
    """A fork has new ids, but the times of what it copies. Sub-agents are not forked, and start at once together."""
    created = _created(info)
    if facts.kind == "subagent" or not created or not began:
        return identifier(info.get("id"))
    return derived_id(NAME, began, str(created), short(info.get("role")))


def _created(info: dict[str, Any]) -> int:
    return _number(as_dict(info.get("time")).get("created"))


def _texts(parts: list[Any], *, synthetic: bool) -> list[str]:
    """The words a person wrote, or those a program added. What is `ignored` was for the eye only: neither."""
    found = [as_dict(part) for part in parts]
    return [
        text
        for part in found
        if part.get("type") == "text" and not part.get("ignored") and bool(part.get("synthetic")) is synthetic
        if (text := as_text(part.get("text"))).strip()
    ]


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
        entry.key = _key(info, short(record.get("began")), facts)
        if facts.kind == "subagent":
            _make_subagent(entry)
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
    entry.text = _joined(entry.blocks)


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
    own, added = _texts(parts, synthetic=False), _texts(parts, synthetic=True)
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
    entry.text = _joined(entry.blocks)


def _file_block(part: dict[str, Any]) -> Block:
    media_type = short(part.get("mime"))
    url = part.get("url")
    data = url.partition(",")[2] if isinstance(url, str) and url.startswith("data:") else None
    return image_block(media_type, data, "image" if media_type.startswith("image/") else "document")


def _make_subagent(entry: Entry) -> None:
    """Nothing here was said by or to the user."""
    entry.standing = Standing.ASIDE
    if entry.author is Author.ASSISTANT:
        entry.author = Author.SUBAGENT
    elif entry.author is Author.USER:
        entry.author, entry.message_kind = Author.MACHINE, "task"


def _joined(blocks: list[Block]) -> str:
    return "\n\n".join(block["text"] for block in blocks if block["type"] == "text")


def _plain(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _decoded(data: Any) -> dict[str, Any]:
    """The JSON object in a column; empty when there is none."""
    try:
        return as_dict(msgspec.json.decode(data or b"null"))
    except (msgspec.DecodeError, UnicodeError, RecursionError, TypeError):
        pass
    try:
        return as_dict(json.loads(_plain(data), strict=False))
    except (ValueError, RecursionError):
        return {}


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**15 else 0


def _name_of(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
