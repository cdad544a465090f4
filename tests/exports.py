"""Exports and packed sessions for tests, in the shapes that services write: the same call, the same bytes."""

import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from transcripts import START, moment, name_to_uuid, write

Record = dict[str, Any]

OWNER, MARA = 700, 801


def seconds(minutes: float) -> float:
    return START.timestamp() + minutes * 60


def iso(minutes: float) -> str:
    return f"{datetime.fromtimestamp(seconds(minutes), UTC):%Y-%m-%dT%H:%M:%S}.000000Z"


def words(name: str, number: int) -> str:
    return f"{'Question' if number % 2 == 0 else 'Answer'} {number // 2} about {name}"


# Conversations of two services. `messages` come a minute apart, so that they are one conversation up to an hour.


def chatgpt(name: str, messages: int = 4, start: float = 0) -> Record:
    names = [name_to_uuid(f"{name} node {number}") for number in range(messages + 1)]
    mapping: Record = {names[0]: {"id": names[0], "parent": None, "children": names[1:2], "message": None}}
    for number in range(messages):
        mapping[names[number + 1]] = {
            "id": names[number + 1],
            "parent": names[number],
            "children": names[number + 2 : number + 3],
            "message": {
                "id": names[number + 1],
                "author": {"role": "user" if number % 2 == 0 else "assistant", "metadata": {}},
                "create_time": seconds(start + number),
                "content": {"content_type": "text", "parts": [words(name, number)]},
                "weight": 1.0,
                "metadata": {},
                "recipient": "all",
            },
        }
    identity = name_to_uuid(f"chatgpt {name}")
    return {
        "title": name,
        "create_time": seconds(start),
        "update_time": seconds(start + messages - 1),
        "mapping": mapping,
        "current_node": names[-1],
        "conversation_id": identity,
        "id": identity,
    }


def claude_ai(name: str, messages: int = 4, start: float = 0) -> Record:
    names = [name_to_uuid(f"{name} message {number}") for number in range(messages)]
    said = [
        {
            "uuid": names[number],
            "text": words(name, number),
            "content": [{"type": "text", "text": words(name, number)}],
            "sender": "human" if number % 2 == 0 else "assistant",
            "created_at": iso(start + number),
            "updated_at": iso(start + number),
            "attachments": [],
            "files": [],
        }
        for number in range(messages)
    ]
    return {
        "uuid": name_to_uuid(f"claude.ai {name}"),
        "name": name,
        "created_at": iso(start),
        "updated_at": iso(start + messages - 1),
        "account": {"uuid": name_to_uuid("account")},
        "chat_messages": said,
    }


def document(*conversations: Record) -> bytes:
    return json.dumps(list(conversations), ensure_ascii=False).encode()


@dataclass(frozen=True, slots=True)
class Service:
    name: str
    conversation: Callable[..., Record]


SERVICES = [Service("chatgpt", chatgpt), Service("claude-ai", claude_ai)]


def export_file(folder: Path, raw: bytes, name: str = "conversations.json") -> Path:
    return write(folder / name, raw)


def export_zip(path: Path, *documents: bytes) -> Path:
    """As a service packs it, with things in it that are no conversations."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("chat.html", "<html></html>")
        archive.writestr("user.json", '{"id": "user-1", "email": "ada@example.org"}')
        for number, raw in enumerate(documents):
            name = "conversations.json" if len(documents) == 1 else f"conversations-{number:03d}.json"
            archive.writestr(name, raw)
    return path


# Telegram: one chat, of which a person may export any stretch of time.


def telegram(numbers: range, texts: Callable[[int], str] = lambda number: f"Message {number}") -> bytes:
    messages = [
        {
            "id": number,
            "type": "message",
            "date": f"{START + timedelta(minutes=number):%Y-%m-%dT%H:%M:%S}",
            "date_unixtime": str(int(seconds(number))),
            "from": "Mara" if number % 2 else "Ada",
            "from_id": f"user{MARA if number % 2 else OWNER}",
            "text": texts(number),
            "text_entities": [],
        }
        for number in numbers
    ]
    chat = {"name": "Mara", "type": "personal_chat", "id": MARA, "messages": messages}
    return json.dumps(chat, indent=1).encode()


# Codex: a rollout.


class Rollout:
    """A session of Codex that grows turn by turn."""

    def __init__(self, name: str) -> None:
        self.thread = name_to_uuid(f"thread {name}")
        self.name = f"rollout-2026-03-02T10-00-00-{self.thread}.jsonl"
        self._subject = name
        self._now = START
        self.turns = 0
        self.records: list[Record] = [self._line("session_meta", id=self.thread, cwd="/home/ada/garden")]

    def say(self, turns: int) -> "Rollout":
        for _ in range(turns):
            prompt, answer = words(self._subject, self.turns * 2), words(self._subject, self.turns * 2 + 1)
            self.turns += 1
            turn = name_to_uuid(f"{self._subject} turn {self.turns}")
            self.records += [
                self._line("turn_context", turn_id=turn, cwd="/home/ada/garden", model="gpt-5.5"),
                self._line("event_msg", type="user_message", message=prompt, images=[]),
                self._line(
                    "response_item",
                    type="message",
                    role="assistant",
                    content=[{"type": "output_text", "text": answer}],
                ),
            ]
        return self

    def note(self, kind: str, times: int) -> "Rollout":
        """Records of a type of their own, which say nothing."""
        self.records += [self._line(kind, noise=name_to_uuid(f"{kind} {number}")) for number in range(times)]
        return self

    @property
    def raw(self) -> bytes:
        return b"".join(json.dumps(record).encode() + b"\n" for record in self.records)

    def _line(self, kind: str, **payload: Any) -> Record:
        self._now += timedelta(seconds=10)
        return {"timestamp": moment(self._now), "type": kind, "payload": payload}
