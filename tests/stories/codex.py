"""Codex: rollouts of four generations, packed, archived, forked; sub-agents; the prompt log."""

import json
from dataclasses import dataclass, field
from typing import Any

import zstandard

from stories import Files, Story, iso, millis, words

Record = dict[str, Any]
FLAT, PLAIN, TURNS, PAGINATED = range(4)
"""What a line is: the item itself; wrapped; wrapped, with ids of turns; the same with prompts as items."""


@dataclass
class Rollout:
    thread: str
    name: str
    records: list[Record] = field(default_factory=list)
    is_packed: bool = False
    is_archived: bool = False

    @property
    def raw(self) -> bytes:
        return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in self.records)

    def file(self) -> tuple[str, bytes]:
        folder = "archived_sessions" if self.is_archived else "sessions/2026/03/02"
        path, raw = f"{folder}/{self.name}", self.raw
        return (f"{path}.zst", zstandard.compress(raw)) if self.is_packed else (path, raw)


class Codex(Story):
    moves = (
        "prompt",
        "prompt",
        "call",
        "again",
        "back",
        "fork",
        "agent",
        "title",
        "compact",
        "context",
        "wait",
        "pack",
        "archive",
        "log",
    )
    variants = 4

    def __init__(self, variant: int = 0) -> None:
        super().__init__(variant)
        self.rollouts: list[Rollout] = []
        self.typed: list[Record] = []
        self.turn = ""
        self._begin()

    def files(self) -> Files:
        found = dict(rollout.file() for rollout in self.rollouts)
        if self.typed:
            found["history.jsonl"] = b"".join(json.dumps(record).encode() + b"\n" for record in self.typed)
        return found

    def _identity(self) -> str:
        """Ids sort by time, as those of Codex do."""
        stamp = f"{millis(self.tick(1)):012x}"
        return f"{stamp[:8]}-{stamp[8:]}-7000-8000-{self.count():012d}"

    def _begin(self, **meta: Any) -> Rollout:
        thread = self._identity()
        rollout = Rollout(thread, f"rollout-{self.now:%Y-%m-%dT%H-%M-%S}-{thread}.jsonl")
        self.rollouts.append(rollout)
        if self.variant == FLAT:
            rollout.records.append({"id": thread, "timestamp": iso(self.now), "instructions": None})
        else:
            self._write("session_meta", id=thread, timestamp=iso(self.now), cwd="/fields/orchard", **meta)
        return rollout

    @property
    def _open(self) -> Rollout:
        return self.rollouts[-1]

    def _write(self, kind: str, **payload: Any) -> None:
        rollout = self._open
        rollout.is_packed = rollout.is_archived = False
        rollout.records.append({"timestamp": self.stamp(), "type": kind, "payload": payload})

    def _item(self, **item: Any) -> None:
        if self.variant == FLAT:
            self._open.is_packed = self._open.is_archived = False
            self._open.records.append(item)
        else:
            self._write("response_item", **item)

    def _event(self, kind: str, **payload: Any) -> None:
        if self.variant != FLAT:
            self._write("event_msg", type=kind, **payload)

    def _message(self, role: str, text: str, **more: Any) -> None:
        kind = "output_text" if role == "assistant" else "input_text"
        self._item(type="message", role=role, content=[{"type": kind, "text": text}], **more)

    def _ask(self, text: str) -> None:
        if self.variant >= TURNS:
            self.turn = self._identity()
            self._event("task_started", turn_id=self.turn)
            self._write("turn_context", turn_id=self.turn, cwd="/fields/orchard", model="gpt-5.5")
        named = {"turn_id": self.turn, "content_item_kinds": ["user.text"]}
        is_paginated = self.variant == PAGINATED
        extra: Record = {"internal_chat_message_metadata_passthrough": named} if is_paginated else {}
        self._message("user", text, **extra)
        if is_paginated:
            item = {"type": "UserMessage", "id": f"item-{self.count()}", "content": [{"type": "text", "text": text}]}
            self._event("item_completed", turn_id=self.turn, item=item)
        else:
            self._event("user_message", message=text, images=[], local_images=[])

    def _reply(self, text: str) -> None:
        self._item(type="reasoning", summary=[], encrypted_content="x")
        self._event("agent_message", message=text)
        named = {"id": f"msg_{self.count():020d}"} if self.variant >= TURNS else {}
        self._message("assistant", text, **named)
        self._event("token_count", info=None)

    def _prompt(self, number: int) -> None:
        self._ask(words(number))
        self._reply(f"Answer {number}: {words(number + 1)}")

    def _call(self, number: int) -> None:
        call = f"call_{self.count()}"
        self._item(
            type="function_call", name="shell", arguments=json.dumps({"command": ["ls", words(number)]}), call_id=call
        )
        output = f"Process exited with code {number % 2}\n{words(number)}"
        self._item(type="function_call_output", call_id=call, output=output)

    def _again(self, number: int) -> None:
        """The same words in two turns, and the same answer."""
        for _ in range(number % 2 + 1):
            self._ask("continue")
            self._reply("Done.")

    def _back(self, number: int) -> None:
        self._event("thread_rolled_back", num_turns=number % 3 + 1)

    def _fork(self, _: int) -> None:
        """A copy of every line at the time of the copy, then its own way."""
        parent = self._open
        if self.variant == FLAT:
            return
        self._begin(forked_from_id=parent.thread)
        stamp = self.stamp()
        if self.variant != PAGINATED:
            self._open.records += [{**record, "timestamp": stamp} for record in parent.records]
        self._prompt(self.count())

    def _agent(self, number: int) -> None:
        """A sub-agent has a rollout of its own; the thread goes on in the old one."""
        if self.variant < TURNS:
            return
        parent = self._open
        source = {"subagent": {"thread_spawn": {"parent_thread_id": parent.thread, "depth": 1}}}
        rollout = self._begin(source=source, session_id=parent.thread, parent_thread_id=parent.thread)
        self._prompt(number)
        self.rollouts.remove(rollout)
        self.rollouts.insert(0, rollout)

    def _title(self, number: int) -> None:
        self._event("thread_name_updated", thread_id=self._open.thread, thread_name=words(number))

    def _compact(self, number: int) -> None:
        if self.variant != FLAT:
            self._write("compacted", message=f"So far: {words(number)}")

    def _context(self, _: int) -> None:
        self._message("user", "<environment_context>\n  <cwd>/fields/orchard</cwd>\n</environment_context>")

    def _pack(self, _: int) -> None:
        self._open.is_packed = True

    def _archive(self, _: int) -> None:
        self._open.is_archived = True

    def _log(self, number: int) -> None:
        at = self.tick()
        self._ask(words(number))
        self.typed.append({"session_id": self._open.thread, "ts": int(at.timestamp()), "text": words(number)})
