"""Gemini CLI: a document that is rewritten whole, then lines beside it, with replacements, rewinds and sub-agents."""

import json
from typing import Any

from stories import Files, Story, name_to_uuid, words

Record = dict[str, Any]
CHATS = "tmp/greenhouse/chats"


class GeminiCli(Story):
    """Variant 0 begins as a document, as versions up to 0.38 wrote it; one day it is resumed by a newer one."""

    moves = (
        "prompt",
        "prompt",
        "call",
        "answer",
        "rewind",
        "title",
        "info",
        "context",
        "summary",
        "resume",
        "shell",
        "agent",
        "wait",
        "lines",
    )
    variants = 2

    def __init__(self, variant: int = 0) -> None:
        super().__init__(variant)
        self.session = name_to_uuid("session")
        self.began = self.stamp()
        self.is_document = variant == 0
        self.title = ""
        self.messages: list[Record] = []
        self.lines: list[Record] = [] if self.is_document else [self._header()]
        self.agents: dict[str, list[Record]] = {}
        self.document = b""

    def files(self) -> Files:
        name = f"{CHATS}/session-2026-03-02T10-00-{self.session[:8]}"
        found: Files = {"tmp/greenhouse/.project_root": b"/home/mara/greenhouse"}
        if self.is_document:
            late = {"summary": self.title} if self.title else {}
            told = {**self._header(), "lastUpdated": self._iso(), "messages": self.messages, **late}
            self.document = json.dumps(told, indent=2).encode()
        if self.document:
            found[f"{name}.json"] = self.document
        if self.lines:
            found[f"{name}.jsonl"] = raw(self.lines)
        for agent, lines in self.agents.items():
            found[f"{CHATS}/{self.session}/{agent}.jsonl"] = raw(lines)
        return found

    def _iso(self) -> str:
        return f"{self.now:%Y-%m-%dT%H:%M:%S}.000Z"

    def _header(self) -> Record:
        return {"sessionId": self.session, "projectHash": "0f" * 32, "startTime": self.began, "kind": "main"}

    def _write(self, kind: str, content: Any, own_id: str = "", **fields: Any) -> Record:
        own_id = own_id or name_to_uuid(f"message {self.count()}")
        record = {"id": own_id, "timestamp": self.stamp(), "type": kind, "content": content, **fields}
        self.messages = [*(one for one in self.messages if one["id"] != own_id), record]
        if not self.is_document:
            self.lines.append(record)
        return record

    def _set(self, **fields: Any) -> None:
        if not self.is_document:
            self.lines.append({"$set": {"lastUpdated": self.stamp(), **fields}})

    def _prompt(self, number: int) -> None:
        self._write("user", [{"text": words(number)}])
        self._set()
        thought = {"subject": "s", "description": "hm" * number, "timestamp": self._iso()}
        self._write("gemini", f"Answer {number}: {words(number + 1)}", thoughts=[thought], model="gemini-3")

    def _call(self, number: int) -> None:
        call = {"id": f"ls-{self.count()}", "name": "run_shell_command", "args": {"command": words(number)}}
        self._write("gemini", "I look.", model="gemini-3", toolCalls=[{**call, "status": "executing"}])

    def _answer(self, number: int) -> None:
        """The last reply once more, with what its tools gave back."""
        if not self.messages or "toolCalls" not in self.messages[-1]:
            return
        reply = self.messages[-1]
        call = reply["toolCalls"][0]
        response = {"functionResponse": {"id": call["id"], "name": call["name"], "response": {"output": words(number)}}}
        self.messages[-1] = {**reply, "toolCalls": [{**call, "result": [response], "status": "success"}]}
        if not self.is_document:
            self.lines.append(self.messages[-1])

    def _rewind(self, number: int) -> None:
        prompts = [message for message in self.messages if message["type"] == "user"]
        if self.is_document or not prompts:
            return
        to = prompts[number % len(prompts)] if number < 10 else {"id": "d04923d3"}
        self.lines.append({"$rewindTo": to["id"]})
        self.messages = self.messages[: self.messages.index(to)] if to in self.messages else []

    def _title(self, number: int) -> None:
        self.title = words(number)
        self.tick()
        self._set(summary=self.title)

    def _info(self, number: int) -> None:
        self._write(("info", "warning", "error")[number % 3], words(number))

    def _context(self, _: int) -> None:
        text = "<session_context>\n- **Workspace Directories:**\n  - /home/mara/greenhouse\n</session_context>"
        context = {"id": "d04923d3", "timestamp": self._iso(), "type": "user", "content": [{"text": text}]}
        self._set(messages=[context, *self.messages])

    def _summary(self, number: int) -> None:
        text = f"<state_snapshot>{words(number)}</state_snapshot>"
        own_id = name_to_uuid(f"summary {self.count()}")
        told = {"id": own_id, "timestamp": self.stamp(), "type": "user", "content": [{"text": text}]}
        self._set(messages=[told])

    def _resume(self, _: int) -> None:
        if not self.is_document:
            self.lines.append(self._header())

    def _shell(self, number: int) -> None:
        ran = f"I ran the following shell command:\n```sh\n{words(number)}\n```\n\n"
        self._write("user", [{"text": f"{ran}This produced the following result:\n```\nok\n```"}])

    def _agent(self, number: int) -> None:
        lines = self.agents.setdefault(f"looker-{number % 2}", [])
        if not lines:
            lines.append({"sessionId": name_to_uuid(f"agent {self.count()}"), "projectHash": "0f", "kind": "subagent"})
        for kind, text in (("user", words(number)), ("gemini", "Two.")):
            own_id = name_to_uuid(f"message {self.count()}")
            lines.append({"id": own_id, "timestamp": self.stamp(), "type": kind, "content": text})

    def _lines(self, _: int) -> None:
        """Resumed by a newer version: copied into lines beside the document, which stays."""
        if self.is_document:
            self.files()
            self.is_document = False
            named = {"summary": self.title} if self.title else {}
            self.lines = [{**self._header(), "lastUpdated": self._iso(), **named}, *self.messages]


def raw(records: list[Record]) -> bytes:
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)
