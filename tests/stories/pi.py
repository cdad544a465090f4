"""Pi and OpenClaw: trees in JSON lines, files of version 1 that are rewritten, forks, and OpenClaw's database."""

import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

from stories import Files, Story, millis, name_to_uuid, words

Record = dict[str, Any]
FOLDER = "--greenhouse--"


class Session:
    def __init__(self, name: str, started: str) -> None:
        self.id = name
        self.started = started.replace(":", "-").replace(".", "-")
        self.records: list[Record] = []
        self.last: str | None = None

    @property
    def name(self) -> str:
        return f"{self.started}_{self.id}.jsonl"


class Pi(Story):
    """Variant 0 begins with version 1, which has no tree, and is rewritten when a newer Pi opens it."""

    moves = (
        "prompt",
        "prompt",
        "call",
        "again",
        "shell",
        "abort",
        "branch",
        "root",
        "fork",
        "agent",
        "title",
        "compact",
        "label",
        "wait",
        "migrate",
    )
    variants = 2

    def __init__(self, variant: int = 0) -> None:
        super().__init__(variant)
        self.version = 1 if variant == 0 else 3
        self.agents: Files = {}
        self.sessions: list[Session] = []
        self._begin()

    def files(self) -> Files:
        return {f"{FOLDER}/{session.name}": lines(session.records) for session in self.sessions} | self.agents

    @property
    def session(self) -> Session:
        return self.sessions[-1]

    def _begin(self, **header: Any) -> None:
        stamp = self.stamp()
        session = Session(name_to_uuid(f"session {self.count()}"), stamp)
        self.sessions.append(session)
        named = {} if self.version == 1 else {"version": self.version}
        first = {"type": "session", **named, "id": session.id, "timestamp": stamp, "cwd": "/greenhouse", **header}
        session.records.append(first)

    def _write(self, kind: str, **fields: Any) -> str:
        session = self.session
        own = f"{self.count():08x}"
        tree = {} if self.version == 1 else {"id": own, "parentId": session.last}
        session.records.append({"type": kind, **tree, "timestamp": self.stamp(), **fields})
        session.last = own
        return own

    def _message(self, role: str, text: str | None, **fields: Any) -> str:
        content = {} if text is None else {"content": [{"type": "text", "text": text}, *fields.pop("more", [])]}
        message = {"role": role, **content, "timestamp": millis(self.now) + 20_000, **fields}
        return self._write("message", message=message)

    def _answer(self, text: str, **fields: Any) -> str:
        usage = {"input": self.count(), "output": 7, "cacheRead": 0, "cacheWrite": 0}
        return self._message("assistant", text, model="m", provider="p", usage=usage, stopReason="stop", **fields)

    def _prompt(self, number: int) -> None:
        self._message("user", words(number))
        self._answer(f"Answer {number}: {words(number + 1)}")

    def _again(self, _: int) -> None:
        self._message("user", "continue")
        self._answer("Done.")

    def _call(self, number: int) -> None:
        call = f"call_{self.count()}"
        given = {"type": "toolCall", "id": call, "name": "bash", "arguments": {"command": words(number)}}
        self._answer("I look.", more=[given])
        self._message("toolResult", words(number), toolCallId=call, toolName="bash", isError=bool(number % 2))

    def _shell(self, number: int) -> None:
        self._message("bashExecution", None, command=words(number), output="ok", exitCode=number % 2, cancelled=False)

    def _abort(self, _: int) -> None:
        message = {"role": "assistant", "content": [], "stopReason": "aborted", "errorMessage": "Request was aborted."}
        self._write("message", message={**message, "timestamp": millis(self.now) + 20_000})

    def _branch(self, number: int) -> None:
        """Goes to an earlier entry and writes on from there."""
        known = [record["id"] for record in self.session.records if "id" in record and record["type"] != "session"]
        if self.version == 1 or not known:
            return
        self.session.last = known[number % len(known)]
        self._write("branch_summary", fromId=self.session.last, summary=f"Left: {words(number)}")
        self._prompt(number)

    def _root(self, number: int) -> None:
        """Goes back to before the first prompt: a second root."""
        if self.version > 1:
            self.session.last = None
            self._prompt(number)

    def _fork(self, number: int) -> None:
        parent = self.session
        key = "branchedFrom" if self.version == 1 else "parentSession"
        self._begin(**{key: f"/home/mara/.pi/agent/sessions/{FOLDER}/{parent.name}"})
        self.session.records += parent.records[1:]
        self.session.last = parent.last
        self._prompt(number)

    def _agent(self, number: int) -> None:
        stamp = self.stamp()
        own = {"type": "session", "version": 3, "id": name_to_uuid(f"agent {self.count()}"), "timestamp": stamp}
        prompt = {"role": "user", "content": [{"type": "text", "text": words(number)}], "timestamp": millis(self.now)}
        reply = {"role": "assistant", "content": [{"type": "text", "text": "Seen."}], "timestamp": millis(self.now) + 9}
        first = {"type": "message", "id": "00000001", "parentId": None, "timestamp": stamp, "message": prompt}
        second = {"type": "message", "id": "00000002", "parentId": "00000001", "timestamp": stamp, "message": reply}
        folder = self.session.name.removesuffix(".jsonl")
        path = f"{FOLDER}/{folder}/{self.count():08x}/run-0/session.jsonl"
        self.agents[path] = lines([{**own, "cwd": "/greenhouse"}, first, second])

    def _title(self, number: int) -> None:
        self._write("session_info", name=words(number))

    def _compact(self, number: int) -> None:
        self._write("compaction", summary=words(number), tokensBefore=self.count(), firstKeptEntryId="00000001")

    def _label(self, number: int) -> None:
        self._write("label", targetId="00000001", label=words(number))

    def _migrate(self, _: int) -> None:
        """A newer Pi opens the last session: it is rewritten with ids. The others stay as they are."""
        if self.version > 1:
            return
        self.version = 3
        session, last = self.session, None
        for record in session.records:
            if record["type"] == "session":
                record["version"] = 3
                continue
            own = f"{self.count():08x}"
            record.update(id=own, parentId=last)
            last = own
        session.last = last


SCHEMA = """
CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT);
CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT, entry_json TEXT);
CREATE TABLE transcript_events (
  session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT, created_at INTEGER NOT NULL, event_zstd BLOB,
  PRIMARY KEY (session_id, seq)) STRICT;
CREATE TABLE transcript_event_identities (session_id TEXT, event_id TEXT);
"""


class OpenClaw(Pi):
    """The same entries as rows. Variant 0 begins with files, which are moved into the database one day."""

    moves = (*(move for move in Pi.moves if move not in ("migrate", "agent")), "helper", "leaf", "side", "store")

    def __init__(self, variant: int = 0) -> None:
        self.is_stored = variant == 1
        self.keys: dict[str, tuple[str, str]] = {}
        super().__init__(variant)
        self.version = 3

    def files(self) -> Files:
        found: Files = {}
        for session in self.sessions:
            if not self.is_stored:
                found[f"agents/main/sessions/{session.id}.jsonl"] = lines(session.records)
            elif self.variant == 0 and session is self.sessions[0]:
                place = "agents/main/session-sqlite-import-archive/main"
                found[f"{place}.{session.id}.jsonl.imported-1772445600000"] = lines(session.records[: self.moved])
        if self.is_stored:
            found["agents/main/agent/openclaw-agent.sqlite"] = self._database()
        return found

    def _database(self) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "openclaw-agent.sqlite"
            database = sqlite3.connect(path)
            database.executescript(SCHEMA)
            for session in self.sessions:
                key, title = self.keys.get(session.id, (f"agent:main:{session.id}", ""))
                entry = json.dumps({"spawnedBy": f"agent:main:{self.sessions[0].id}", "label": title})
                database.execute("INSERT INTO session_nodes VALUES (?, ?, ?)", (key, session.id, entry))
                database.execute("INSERT INTO session_windows VALUES (?, ?)", (session.id, key))
                for number, record in enumerate(session.records):
                    row = (session.id, number, json.dumps(record), 1_000 + number)
                    database.execute("INSERT INTO transcript_events VALUES (?, ?, ?, ?, NULL)", row)
            database.commit()
            database.close()
            return path.read_bytes()

    def _store(self, _: int) -> None:
        if not self.is_stored:
            self.is_stored, self.moved = True, len(self.sessions[0].records)

    def _title(self, number: int) -> None:
        """Stands beside the events, and is seen with the next one."""
        key, _ = self.keys.get(self.session.id, (f"agent:main:{self.session.id}", ""))
        self.keys[self.session.id] = (key, words(number))
        self._prompt(number)

    def _helper(self, number: int) -> None:
        """A sub-agent has a session of its own; the conversation goes on in the old one."""
        if not self.is_stored:
            return
        self._begin()
        helper = self.sessions.pop()
        self.sessions.insert(len(self.sessions) - 1, helper)
        talker = self.sessions.pop()
        self.keys[helper.id] = (f"agent:main:subagent:{helper.id}", "")
        self._prompt(number)
        self.sessions.append(talker)

    def _leaf(self, number: int) -> None:
        known = [record["id"] for record in self.session.records if "id" in record and record["type"] != "session"]
        if known:
            self._write("leaf", targetId=known[number % len(known)])

    def _side(self, number: int) -> None:
        last = self.session.last
        self._write("custom_message", appendMode="side", customType="note", content=words(number))
        self.session.last = last


def lines(records: list[Record]) -> bytes:
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)
