"""Entries in the true form of Pi's session files, about a greenhouse."""

import json
from typing import Any

from recollect.history.messages import Entry
from recollect.history.sources.pi import Pi
from recollect.history.sources.source import FileFacts

SOURCE = Pi()
SESSION = "0199a213-81c0-7800-8aa1-bbab2a035a53"
OTHER = "3d2f6a10-5d5f-4c8e-9a51-0f7f5d9a2b11"
NAME = f"2026-03-02T10-00-00-000Z_{SESSION}.jsonl"
FACTS = FileFacts(key=NAME, kind="session", session_id=SESSION, is_unique=True)
SUBAGENT = FileFacts(key="a/run-0", kind="subagent", session_id=SESSION, agent_id="a/run-0", is_unique=True)
MILLISECONDS = 1_772_445_600_000


def raw(record: Any) -> bytes:
    return json.dumps(record).encode()


def read(record: Any, facts: FileFacts = FACTS) -> Entry:
    return SOURCE.parse(raw(record), facts)


def header(**fields: Any) -> dict[str, Any]:
    return {"type": "session", "version": 3, "id": SESSION, "timestamp": at(0), "cwd": "/greenhouse", **fields}


def at(second: int) -> str:
    return f"2026-03-02T10:00:{second:02d}.000Z"


def entry(number: int, parent: int | None = None, **fields: Any) -> dict[str, Any]:
    parent_id = None if parent is None else f"{parent:08x}"
    return {"id": f"{number:08x}", "parentId": parent_id, "timestamp": at(number), **fields}


def message(role: str, content: Any = None, number: int = 1, **fields: Any) -> dict[str, Any]:
    inner = {"role": role, "content": content, "timestamp": MILLISECONDS + number, **fields}
    return entry(number, number - 1, type="message", message=inner)


def text(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


def version_1(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in ("id", "parentId")}


USAGE = {"input": 5, "output": 7, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 12, "cost": {"total": 0.1}}
CALL = {"type": "toolCall", "id": "call_1", "name": "bash", "arguments": {"command": "ls seeds"}}
TALK = [
    header(),
    entry(1, None, type="model_change", provider="p", modelId="m"),
    message("user", text("Water the tomatoes?"), 2),
    message("assistant", [{"type": "thinking", "thinking": "hm"}, *text("I look."), CALL], 3, model="m", usage=USAGE),
    message("toolResult", text("tomato.txt\n"), 4, toolCallId="call_1", toolName="bash", isError=False),
    message("assistant", text("Yes."), 5, model="m", usage={**USAGE, "output": 2}, stopReason="stop"),
]
