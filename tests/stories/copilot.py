"""Copilot CLI: events in lines that move and are cut back, and the documents of its first weeks."""

import json
from typing import Any

from stories import Files, Story, iso, name_to_uuid, words

Record = dict[str, Any]
FLAT, FOLDER, DOCUMENT = range(3)


class CopilotCli(Story):
    moves = ("prompt", "prompt", "call", "pieces", "shell", "agent", "rewind", "notice", "compact", "wait", "move")
    variants = 3

    def __init__(self, variant: int = 0) -> None:
        super().__init__(variant)
        self.session = name_to_uuid("session")
        self.began = self.stamp()
        self.events: list[Record] = []
        self.items: list[Record] = []
        context = {"cwd": "/home/mara/greenhouse"}
        self._event("session.start", sessionId=self.session, version=1, startTime=self.began, context=context)

    def files(self) -> Files:
        if self.variant == DOCUMENT:
            told = {"sessionId": self.session, "startTime": self.began, "chatMessages": [], "timeline": self.items}
            path = f"history-session-state/session_{self.session}_1758000000000.json"
            return {path: json.dumps(told, indent=2).encode()}
        name = f"{self.session}.jsonl" if self.variant == FLAT else f"{self.session}/events.jsonl"
        raw = b"".join(json.dumps(event, ensure_ascii=False).encode() + b"\n" for event in self.events)
        return {f"session-state/{name}": raw}

    def _event(self, kind: str, agent: str = "", **data: Any) -> None:
        own = name_to_uuid(f"event {self.count()}")
        parent = self.events[-1]["id"] if self.events else None
        whose = {"agentId": agent} if agent else {}
        event = {"type": kind, "data": data, "id": own, "timestamp": self.stamp(), "parentId": parent, **whose}
        self.events.append(event)

    def _item(self, kind: str, **fields: Any) -> None:
        self.items.append({"id": f"t{self.count()}", "timestamp": iso(self.now), "type": kind, **fields})

    def _prompt(self, number: int, agent: str = "") -> None:
        self._event("user.message", agent, content=words(number), transformedContent=f"<x/>{words(number)}")
        self._item("user", text=words(number))
        self._event("assistant.turn_start", agent, turnId=str(number))
        answer = f"Answer {number}: {words(number + 1)}"
        self._event("assistant.message", agent, messageId=name_to_uuid(f"reply {self.count()}"), content=answer)
        self._item("copilot", text=answer)

    def _call(self, number: int) -> None:
        call = f"call_{self.count()}"
        asked = {"toolCallId": call, "name": "bash", "arguments": {"command": words(number)}}
        reply = name_to_uuid(f"reply {self.count()}")
        self._event("assistant.message", messageId=reply, content="", toolRequests=[asked], reasoningText="hm")
        self._event("tool.execution_start", toolCallId=call, toolName="bash")
        self._event("tool.execution_complete", toolCallId=call, success=True, result={"content": words(number)})
        self._item("tool_call_requested", callId=call, name="bash", arguments={"command": words(number)})
        self._item("tool_call_completed", callId=call, result={"type": "success", "log": words(number)})

    def _pieces(self, number: int) -> None:
        """One reply in several events."""
        reply = name_to_uuid(f"reply {self.count()}")
        for part in range(number % 3 + 1):
            self._event("assistant.message", messageId=reply, content=f"Part {part} of {words(number)}")
        self._item("copilot", text=words(number))

    def _shell(self, number: int) -> None:
        self._event("tool.user_requested", toolCallId=f"call_{self.count()}", arguments={"command": words(number)})

    def _agent(self, number: int) -> None:
        self._prompt(number, agent=f"helper-{number % 2}")

    def _rewind(self, number: int) -> None:
        """The file is cut back to before a prompt."""
        prompts = [place for place, event in enumerate(self.events) if event["type"] == "user.message"]
        if self.variant == DOCUMENT or not prompts:
            return
        del self.events[prompts[number % len(prompts)] :]
        self._event("session.info", infoType="rewind", message="Rewound.")

    def _notice(self, number: int) -> None:
        self._event("session.error", errorType="query", message=words(number))
        self._item("error", text=words(number))

    def _compact(self, number: int) -> None:
        self._event("session.compaction_complete", success=True, summaryContent=words(number))

    def _move(self, _: int) -> None:
        if self.variant == FLAT:
            self.variant = FOLDER
