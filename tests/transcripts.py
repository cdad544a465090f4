"""Transcripts of Claude Code for tests, with ids and times that follow from names: the same call, the same bytes."""

import json
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
"""When a transcript begins unless it says otherwise."""
PROJECT = "/home/ada/garden"
SLUG = "-home-ada-garden"

Record = dict[str, Any]


def name_to_uuid(name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, name))


def line(record: Record) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def moment(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"


def text(words: str) -> Record:
    return {"type": "text", "text": words}


def tool_use(name: str, call: str, **given: Any) -> Record:
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def thinking(words: str = "") -> Record:
    return {"type": "thinking", "thinking": words, "signature": "c2lnbmVk"}


class Transcript:
    """A session file that grows record by record. Each method adds records and gives back what they are known by."""

    def __init__(
        self, name: str, *, start: datetime = START, cwd: str = PROJECT, agent: str = "", step_seconds: float = 20
    ) -> None:
        self.name = name
        self.session_id = name_to_uuid(f"session {name}")
        self.cwd = cwd
        self.agent = agent
        self.now = start
        self.records: list[Record] = []
        self._step = timedelta(seconds=step_seconds)
        self._last: str | None = None
        self._replies = 0

    # What people and agents say

    def user(self, words: str | list[Record], **fields: Any) -> str:
        return self._chain("user", {"message": {"role": "user", "content": words}, **fields})

    def assistant(self, *blocks: str | Record, message_id: str = "", **fields: Any) -> str:
        """One reply, each block on a line of its own as Claude Code writes it; the id of the message."""
        if not message_id:
            self._replies += 1
            message_id = f"msg_{name_to_uuid(f'{self.name} {self.agent} reply {self._replies}').replace('-', '')[:24]}"
        for block in blocks:
            message = {
                "id": message_id,
                "type": "message",
                "role": "assistant",
                "model": "claude-opus-4-5",
                "content": [text(block) if isinstance(block, str) else block],
                "stop_reason": None,
                "usage": {"input_tokens": 3, "output_tokens": len(self.records)},
            }
            self._chain("assistant", {"message": message, "requestId": f"req_{message_id}", **fields})
        return message_id

    def tool_result(self, call: str, output: str, **fields: Any) -> str:
        content = [{"type": "tool_result", "tool_use_id": call, "content": output, "is_error": False}]
        return self.user(content, toolUseResult={"stdout": output}, **fields)

    def exchanges(self, number: int, about: str = "beans") -> "Transcript":
        for index in range(number):
            self.user(f"Question {index} about {about}?")
            self.assistant(f"Answer {index} about {about}.")
        return self

    # What Claude Code writes beside it

    def queue(self, operation: str, content: str | list[Record] | None = None, **fields: Any) -> None:
        given = {} if content is None else {"content": content}
        self._plain("queue-operation", {"operation": operation, "timestamp": self._tick(), **given, **fields})

    def queued_command(self, prompt: str, mode: str = "prompt") -> str:
        return self._chain(
            "attachment", {"attachment": {"type": "queued_command", "prompt": prompt, "commandMode": mode}}
        )

    def summary(self, title: str, leaf: str) -> None:
        self.records.append({"type": "summary", "summary": title, "leafUuid": leaf})

    def custom_title(self, title: str) -> None:
        self._plain("custom-title", {"customTitle": title})

    def ai_title(self, title: str) -> None:
        self._plain("ai-title", {"aiTitle": title})

    def snapshot(self) -> None:
        self.records.append(
            {
                "type": "file-history-snapshot",
                "messageId": self._last or name_to_uuid(f"{self.name} snapshot"),
                "snapshot": {"trackedFileBackups": {}, "timestamp": moment(self.now)},
                "isSnapshotUpdate": False,
            }
        )

    def system(self, subtype: str, **fields: Any) -> str:
        return self._chain("system", {"subtype": subtype, "content": "", "level": "info", **fields})

    def continued_in(self, session_id: str) -> None:
        self._plain("continued-in", {"continuedInSessionId": session_id, "timestamp": self._tick()})

    def fork_context(self, parent_session_id: str) -> None:
        self._plain("fork-context-ref", {"parentSessionId": parent_session_id, "contextLength": 3})

    def sidechain(self, prompt: str, *replies: str, agent: str = "") -> None:
        """A sub-agent inside the session file, as versions up to 2.0 wrote it."""
        last, self._last = self._last, None
        fields: Record = {"isSidechain": True, **({"agentId": agent} if agent else {})}
        self.user(prompt, **fields)
        for reply in replies:
            self.assistant(reply, **fields)
        self._last = last

    def add(self, record: Record) -> None:
        self.records.append(record)

    # Time and copies

    def wait(self, **by: float) -> "Transcript":
        self.now += timedelta(**by)
        return self

    @property
    def last(self) -> str | None:
        """The uuid of the last entry of the chain; the next one hangs on it."""
        return self._last

    def go_back_to(self, entry: str | None) -> None:
        """The next entry hangs on an earlier one: what came after it is left."""
        self._last = entry

    def fork(self, name: str, *, rewrite_session: bool = False, new_uuids: bool = False) -> "Transcript":
        """A copy in a file of its own, in one of the ways that versions of Claude Code have made them."""
        copy = Transcript(name, start=self.now, cwd=self.cwd)
        for record in self.records:
            record = json.loads(json.dumps(record))
            if (rewrite_session or new_uuids) and "sessionId" in record:
                record["sessionId"] = copy.session_id
            if new_uuids and "uuid" in record:
                record["forkedFrom"] = {"sessionId": self.session_id, "messageUuid": record["uuid"]}
                record["uuid"] = name_to_uuid(f"{name} {record['uuid']}")
                if record.get("parentUuid"):
                    record["parentUuid"] = name_to_uuid(f"{name} {record['parentUuid']}")
            copy.records.append(record)
        copy._last = name_to_uuid(f"{name} {self._last}") if new_uuids and self._last else self._last
        return copy

    # Bytes and files

    @property
    def raw(self) -> bytes:
        return b"".join(line(record) for record in self.records)

    @property
    def key(self) -> str:
        """The path below `projects`."""
        if self.agent:
            return f"{SLUG}/{self.session_id}/subagents/agent-{self.agent}.jsonl"
        return f"{SLUG}/{self.session_id}.jsonl"

    def save(self, projects: Path) -> Path:
        return write(projects / self.key, self.raw)

    def _chain(self, kind: str, fields: Record) -> str:
        entry = name_to_uuid(f"{self.name} {self.agent} entry {len(self.records)}")
        record = {
            "parentUuid": self._last,
            "isSidechain": bool(self.agent),
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session_id,
            "version": "2.1.100",
            "gitBranch": "main",
            **({"agentId": self.agent} if self.agent else {}),
            "type": kind,
            "uuid": entry,
            "timestamp": self._tick(),
            **fields,
        }
        self.records.append(record)
        self._last = str(record["uuid"])
        return self._last

    def _plain(self, kind: str, fields: Record) -> None:
        self.records.append({"type": kind, "sessionId": self.session_id, **fields})

    def _tick(self) -> str:
        at = moment(self.now)
        self.now += self._step
        return at


def subagent(of: Transcript, agent: str, start: datetime | None = None) -> Transcript:
    """The file of a sub-agent: its own name, the session of its parent."""
    made = Transcript(of.name, start=start or of.now, cwd=of.cwd, agent=agent)
    made.session_id = of.session_id
    return made


def prompt_log(*prompts: tuple[str, str, datetime], project: str = PROJECT) -> bytes:
    """`history.jsonl`: (session id, what was typed, when)."""
    return b"".join(
        line(
            {
                "display": display,
                "pastedContents": {},
                "timestamp": round(at.timestamp() * 1000),
                "project": project,
                "sessionId": session_id,
            }
        )
        for session_id, display, at in prompts
    )


def write(path: Path, raw: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    return path


def append(path: Path, raw: bytes) -> None:
    with path.open("ab") as file:
        file.write(raw)
