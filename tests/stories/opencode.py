"""OpenCode: rows that are updated in place, in a database that may have part of them in its log; exports beside it."""

import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

from stories import Files, Story, millis, words

Record = dict[str, Any]
SCHEMA = """
CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL);
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
    directory text NOT NULL, title text NOT NULL, version text NOT NULL, revert text,
    time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE event_sequence (aggregate_id text PRIMARY KEY, seq integer NOT NULL, owner_id text);
"""
STEPS = {"pending": "running", "running": "completed"}


class Message:
    def __init__(self, name: str, info: Record, parts: list[Record]) -> None:
        self.id, self.info, self.parts = name, info, parts
        self.changed = info["time"]["created"]


class Session:
    def __init__(self, name: str, created: int, parent: str = "") -> None:
        self.id, self.created, self.parent = name, created, parent
        self.title = "New session - 2026"
        self.revert = ""
        self.changed = created
        self.sequence = 0
        self.messages: list[Message] = []


class OpenCode(Story):
    """Variant 1 leaves the latest rows in the write-ahead log."""

    moves = (
        "prompt",
        "prompt",
        "call",
        "step",
        "step",
        "revert",
        "restore",
        "fork",
        "child",
        "title",
        "compact",
        "fail",
        "start",
        "wait",
        "export",
    )
    variants = 2

    def __init__(self, variant: int = 0) -> None:
        super().__init__(variant)
        self.sessions: list[Session] = []
        self.exports: Files = {}
        self._start(0)

    def files(self) -> Files:
        return {**self._database(), **self.exports}

    def _database(self) -> Files:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "opencode.db"
            database = sqlite3.connect(path)
            database.executescript(SCHEMA)
            if self.variant:
                database.execute("PRAGMA journal_mode = wal")
            for session in self.sessions:
                insert(database, session)
            database.commit()
            log = path.with_name("opencode.db-wal")
            found = {"opencode.db": path.read_bytes()}
            if log.exists():
                found["opencode.db-wal"] = log.read_bytes()
            database.close()
        return found

    @property
    def session(self) -> Session:
        return self.sessions[-1]

    def _now(self) -> int:
        return millis(self.tick())

    def _start(self, _: int, parent: str = "") -> None:
        self.sessions.append(Session(f"ses_{self.count():06d}", self._now(), parent))

    def _touch(self) -> None:
        self.session.sequence += 1

    def _write(self, role: str, *parts: Record, **info: Any) -> Message:
        session = self.session
        if session.revert:
            session.messages = session.messages[: place_of(session, session.revert)]
            session.revert = ""
        at = self._now()
        done = {"completed": at + 900} if role == "assistant" else {}
        told = {"role": role, "time": {"created": at, **done}, "modelID": "tiny", **info}
        message = Message(f"msg_{self.count():06d}", told, list(parts))
        session.messages.append(message)
        self._touch()
        return message

    def _prompt(self, number: int) -> None:
        self._write("user", text(words(number)))
        start, end = {"type": "step-start"}, {"type": "step-finish", "reason": "stop"}
        self._write("assistant", start, text(f"Answer {number}: {words(number + 1)}"), end)

    def _call(self, number: int) -> None:
        state = {"status": "pending", "input": {"command": words(number)}}
        self._write("assistant", text("I look."), tool(f"call_{self.count()}", state))

    def _step(self, number: int) -> None:
        """What the last tool does goes on, in its own row."""
        waiting = [
            (message, place)
            for message in self.session.messages
            for place, part in enumerate(message.parts)
            if part.get("state", {}).get("status") in STEPS
        ]
        if not waiting:
            return
        message, place = waiting[-1]
        part = message.parts[place]
        status = STEPS[part["state"]["status"]]
        output = {"output": words(number)} if status == "completed" else {}
        message.parts[place] = {**part, "state": {**part["state"], "status": status, **output}}
        message.changed = self._now()
        self._touch()

    def _revert(self, number: int) -> None:
        prompts = [message.id for message in self.session.messages if message.info["role"] == "user"]
        if prompts:
            self.session.revert = prompts[number % len(prompts)]
            self.session.changed = self._now()
            self._touch()

    def _restore(self, _: int) -> None:
        self.session.revert = ""
        self.session.changed = self._now()
        self._touch()

    def _fork(self, number: int) -> None:
        """A copy with new ids and the old times, then its own way."""
        parent = self.session
        if parent.parent:
            return
        self._start(0)
        kept = parent.messages[: place_of(parent, parent.revert)] if parent.revert else parent.messages
        self.session.messages = [
            Message(f"msg_{self.count():06d}", message.info, list(message.parts)) for message in kept
        ]
        self._prompt(number)

    def _child(self, number: int) -> None:
        """A sub-agent; the conversation goes on in the session that started it."""
        parent = self.session
        self._start(0, parent.parent or parent.id)
        self._prompt(number)
        self.sessions.remove(parent)
        self.sessions.append(parent)

    def _title(self, number: int) -> None:
        """Comes without a new time."""
        self.session.title = words(number)
        self._touch()

    def _compact(self, number: int) -> None:
        self._write("assistant", text(words(number)), summary=True)

    def _fail(self, number: int) -> None:
        name = ("MessageAbortedError", "APIError")[number % 2]
        self._write("assistant", error={"name": name, "data": {"message": words(number)}})

    def _export(self, _: int) -> None:
        if self.session.messages:
            self.exports[f"exports/{self.session.id}.json"] = exported(self.session)


def place_of(session: Session, name: str) -> int:
    return next(place for place, message in enumerate(session.messages) if message.id == name)


def text(words: str) -> Record:
    return {"type": "text", "text": words}


def tool(call: str, state: Record) -> Record:
    return {"type": "tool", "tool": "bash", "callID": call, "state": state}


def insert(database: sqlite3.Connection, session: Session) -> None:
    revert = json.dumps({"messageID": session.revert}) if session.revert else None
    row = (session.id, session.parent or None, "/greenhouse", session.title, revert, session.created, session.changed)
    database.execute("INSERT INTO session VALUES (?1, 'p', ?2, 's', ?3, ?4, '1', ?5, ?6, ?7)", row)
    database.execute("INSERT INTO event_sequence VALUES (?, ?, NULL)", (session.id, session.sequence))
    for message in session.messages:
        created = message.info["time"]["created"]
        values = (message.id, session.id, created, created, json.dumps(message.info))
        database.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", values)
        for place, part in enumerate(message.parts):
            own = (f"prt_{message.id[4:]}{place:03d}", message.id, session.id, created, message.changed)
            database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", (*own, json.dumps(part)))


def exported(session: Session) -> bytes:
    told = {"created": session.created, "updated": session.changed}
    info: Record = {"id": session.id, "directory": "/greenhouse", "title": session.title, "time": told}
    if session.parent:
        info["parentID"] = session.parent
    if session.revert:
        info["revert"] = {"messageID": session.revert}
    messages = [
        {
            "info": {**message.info, "id": message.id, "sessionID": session.id},
            "parts": [
                {**part, "id": f"prt_{message.id[4:]}{place:03d}", "sessionID": session.id, "messageID": message.id}
                for place, part in enumerate(message.parts)
            ],
        }
        for message in session.messages
    ]
    return json.dumps({"info": info, "messages": messages}, indent=2).encode()
