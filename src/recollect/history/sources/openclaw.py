"""OpenClaw's database: since 2026.7.2 it keeps its sessions there, one for each agent, no longer in files.

The events in it are the lines that stood in the files before, so they are read as Pi's entries and a session that was
moved into the database gives the same messages. Facts: `docs/sources/pi.md`.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import zstandard

from recollect.database.foreign import Rows, open_foreign
from recollect.errors import Unreadable
from recollect.history.messages import Entry
from recollect.history.sources.documents import line_of
from recollect.history.sources.fields import as_dict, identifier, read_object, title_of
from recollect.history.sources.pi import Pi
from recollect.history.sources.pi_files import openclaw_agents
from recollect.history.sources.source import Computer, FileFacts, Growth, Head, Opened, Source, Transcript

NAME = "openclaw"
FILE_NAME = "openclaw-agent.sqlite"
MAX_EVENT_BYTES = 64 << 20
"""OpenClaw itself packs no event above 4 MiB."""

COLUMNS = "SELECT name FROM pragma_table_info(:table)"
# The key of the table answers this alone: `created_at` lies behind the text of each row.
SESSIONS = """
SELECT CAST(s.session_id AS BLOB), s.last,
       (SELECT created_at FROM transcript_events e WHERE e.session_id = s.session_id AND e.seq = s.last)
FROM (SELECT session_id, max(seq) AS last FROM transcript_events GROUP BY session_id) s ORDER BY s.session_id
"""
EVENTS = (
    "SELECT seq, CAST(event_json AS BLOB), {packed} FROM transcript_events WHERE session_id = :session ORDER BY seq"
)
KEYS = "SELECT CAST(session_id AS BLOB), CAST(session_key AS BLOB) FROM {table}"
ENTRIES = "SELECT CAST(session_key AS BLOB), CAST({session} AS BLOB), CAST(entry_json AS BLOB) FROM {table}"

_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_SUBAGENT = re.compile(r"(?:^|:)subagent:")
_PI = Pi()


class OpenClaw(Source):
    name = NAME
    title = "OpenClaw's database"
    growth = Growth.UPDATED
    holds_many = True

    def places(self, computer: Computer) -> list[str]:
        return openclaw_agents(computer)

    def is_candidate(self, path: str) -> bool:
        return path.endswith(FILE_NAME)

    def recognises(self, head: Head) -> bool:
        return head.tables >= {"transcript_events", "transcript_event_identities"}

    def transcripts(self, opened: Opened, facts: FileFacts) -> Iterator[Transcript]:
        with open_foreign(opened.database) as rows:
            if not _has(rows, "transcript_events", "session_id", "seq", "event_json", "created_at"):
                raise Unreadable(
                    f"{opened.path} is from an OpenClaw that this Recollect does not know. Update Recollect."
                )
            packed = "event_zstd" if _has(rows, "transcript_events", "event_zstd") else "NULL"
            known = _Known(rows)
            agent = _agent_of(opened.path)
            sessions = [(known.facts(_plain(row[0]), agent), *row) for row in rows(SESSIONS)]
            for own, session, last, changed in sorted(sessions, key=lambda item: item[0].kind == "subagent"):
                yield Transcript(
                    facts=own,
                    records=_records(rows, EVENTS.format(packed=packed), _plain(session), known, opened),
                    version=f"{_number(changed):015d}.{_number(last):010d}",
                )

    def parse(self, raw: bytes, facts: FileFacts) -> Entry:
        entry = _PI.parse(raw, facts)
        if entry.kind == "openclaw":
            fields = read_object(raw)
            entry.title = title_of(fields.get("label")) or title_of(fields.get("displayName"))
            entry.title_by_user = bool(title_of(fields.get("label")))
            entry.session_id = facts.session_id
        return entry


class _Known:
    """What the database tells of its sessions beside their events."""

    def __init__(self, rows: Rows) -> None:
        self.keys: dict[str, str] = {}
        self.entries: dict[str, dict[str, Any]] = {}
        self._current: dict[str, str] = {}
        for table, session in (("session_nodes", "current_session_id"), ("session_entries", "session_id")):
            if _has(rows, table, session, "session_key", "entry_json"):
                for row in rows(ENTRIES.format(table=table, session=session)):
                    key, session_id = _plain(row[0]), _plain(row[1])
                    self._current[key], self.keys[session_id], self.entries[key] = session_id, key, _object(row[2])
        for table in ("session_windows", "sessions"):
            if _has(rows, table, "session_id", "session_key"):
                self.keys.update((_plain(one), _plain(key)) for one, key in rows(KEYS.format(table=table)))

    def facts(self, session_id: str, agent: str) -> FileFacts:
        key = self.keys.get(session_id, "")
        own = session_id if _UUID.fullmatch(session_id) else f"{agent}/{session_id}"
        if not _SUBAGENT.search(key):
            return FileFacts(key=own, kind="session", session_id=identifier(session_id), is_unique=True)
        entry = self.entries.get(key, {})
        parent = self._current.get(str(entry.get("spawnedBy") or entry.get("parentSessionKey") or ""), "")
        agent_id = identifier(session_id)
        return FileFacts(key=own, kind="subagent", session_id=identifier(parent), agent_id=agent_id, is_unique=True)

    def header(self, session_id: str) -> bytes:
        """What names the session: its key, and the titles that the user and a model gave it."""
        key = self.keys.get(session_id, "")
        entry = self.entries.get(key, {}) if self._current.get(key) == session_id else {}
        named = {name: entry[name] for name in ("label", "displayName") if isinstance(entry.get(name), str)}
        return line_of({"type": "openclaw", "sessionKey": key, **named})


def _records(rows: Rows, events: str, session_id: str, known: _Known, opened: Opened) -> Iterator[bytes]:
    yield known.header(session_id)
    for sequence, text, packed in rows(events, {"session": session_id}):
        try:
            event = bytes(text) if text is not None else _unpacked(packed)
        except (zstandard.ZstdError, MemoryError, TypeError) as error:
            opened.report(f"event {sequence} of session {session_id} cannot be unpacked: {error}")
            continue
        yield event.replace(b"\n", b" ")  # Outside of strings, where alone JSON may have one.


def _unpacked(packed: Any) -> bytes:
    return zstandard.ZstdDecompressor().decompress(bytes(packed), max_output_size=MAX_EVENT_BYTES)


def _has(rows: Rows, table: str, *columns: str) -> bool:
    return {str(name) for (name,) in rows(COLUMNS, {"table": table})} >= set(columns)


def _plain(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")


def _number(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _object(raw: Any) -> dict[str, Any]:
    try:
        return as_dict(msgspec.json.decode(bytes(raw or b"{}")))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError):
        return {}


def _agent_of(path: str) -> str:
    """The database of an agent lies in `agents/<agent>/agent/`."""
    parts = path.replace("\\", "/").split("/")
    return parts[-3] if len(parts) > 2 and parts[-2] == "agent" else ""
