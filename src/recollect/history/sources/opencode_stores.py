"""Where OpenCode keeps its sessions, as records: the database, and what `opencode export` writes.

Both give the very same bytes for the same session: a header, then each message with its parts, in order, and last,
if the user went back, to where.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from recollect.database.foreign import Rows, open_foreign
from recollect.errors import Unreadable
from recollect.history.sources.documents import BrokenDocument, Path, line_of, walk
from recollect.history.sources.fields import as_dict, as_list, as_text, identifier, short
from recollect.history.sources.source import FileFacts, Opened, Transcript
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
ORDER BY s.parent_id IS NOT NULL, s.time_created, s.id
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

_MOMENT = re.compile(rb'"(?:created|updated|completed|compacted|start|end)":\s*(\d{13})\b')
_REDACTED = "[redacted:"

Message = tuple[dict[str, Any], list[Any]]
"""What is said of a message, and its parts."""


def from_database(opened: Opened) -> Iterator[Transcript]:
    name = name_of(opened.path)
    with open_foreign(opened.database) as rows:
        _check_columns(rows, name)
        roots: dict[str, str] = {}
        has_sequence = next(rows(HAS_TABLE, {"table": "event_sequence"}))[0]
        for row in rows(SESSIONS.format(sequence=SEQUENCE if has_sequence else "0")):
            identity, parent, directory, title = (_plain(value) for value in row[:4])
            revert, created, sequence, updated = row[4:]
            header = _header(identity, parent, directory, title, created)
            if not header["id"]:
                opened.report(f"{name}: a session without an id is left out. The others are read.")
                continue
            roots[header["id"]] = roots.get(header["parentID"]) or header["parentID"]
            messages = _stored_messages(rows, opened, header["id"])
            yield Transcript(
                facts=_facts(header, roots[header["id"]]),
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
            opened.report(f"{name_of(opened.path)}: the message {identity} cannot be read and is left out.")
            continue
        yield (
            _named(info, id=identity, sessionID=session),
            [
                _named(_decoded(part), id=_plain(part_id), sessionID=session, messageID=identity)
                for part_id, part in rows(PARTS, {"message": identity})
            ],
        )


def from_export(opened: Opened) -> Iterator[Transcript]:
    version = _latest_moment(opened)
    values = _values(opened)
    info = as_dict(next((value for path, value in values if path == ("info",) or path[:1] == ("messages",)), None))
    identity, parent, directory, title = (info.get(name) for name in ("id", "parentID", "directory", "title"))
    header = _header(identity, parent, directory, title, _created(info))
    if not header["id"]:
        raise Unreadable(
            f"{name_of(opened.path)} does not say first which session it is. Write it again: `opencode export`."
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
    name = name_of(opened.path)
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
            opened.report(f"{name_of(opened.path)}: message {path[1]} has no id and is left out. The others are read.")
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


def _facts(header: dict[str, Any], root: str = "") -> FileFacts:
    """A session that another one started is a sub-agent, of the session at the root if that is known.

    The key sorts by age: what a fork copies belongs to the older one.
    """
    child = bool(header["parentID"])
    return FileFacts(
        key=f"{header['created']:015d}-{header['id']}",
        kind="subagent" if child else "session",
        session_id=root or header["parentID"] or header["id"],
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
        began = began or f"{_created(info)}-{sum(len(text) for text in texts_of(parts, synthetic=False))}"
        if is_left and not back_to:
            back_to = key_of(info, began, facts)
        elif revert and info["id"] == revert.get("messageID"):
            is_left = True
            back_to = "" if revert.get("partID") else key_of(info, began, facts)
        try:
            yield line_of({"began": began, "info": info, "parts": parts})
        except RecursionError:
            opened.report(f"The message {info['id']} is nested too deeply to be kept; the others are read.")
    if back_to:
        yield line_of({"back_to": back_to})


def key_of(info: dict[str, Any], began: str, facts: FileFacts) -> str:
    """A fork has new ids, but the times of what it copies. Sub-agents are not forked, and start at once together."""
    created = _created(info)
    if facts.kind == "subagent" or not created or not began:
        return identifier(info.get("id"))
    return derived_id(NAME, began, str(created), short(info.get("role")))


def _created(info: dict[str, Any]) -> int:
    return _number(as_dict(info.get("time")).get("created"))


def texts_of(parts: list[Any], *, synthetic: bool) -> list[str]:
    """The words a person wrote, or those a program added. What is `ignored` was for the eye only: neither."""
    found = [as_dict(part) for part in parts]
    return [
        text
        for part in found
        if part.get("type") == "text" and not part.get("ignored") and bool(part.get("synthetic")) is synthetic
        if (text := as_text(part.get("text"))).strip()
    ]


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


def name_of(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
