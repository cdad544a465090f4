"""Recollect's own conversation, written out as JSON lines."""

import json
from typing import Any

from stories import Files, Story, words


class RecollectChat(Story):
    moves = ("prompt", "prompt", "call", "note", "image", "file", "wait")

    def __init__(self, variant: int = 0) -> None:
        super().__init__(variant)
        self.records: list[dict[str, Any]] = []

    def files(self) -> Files:
        return {"mind.jsonl": b"".join(json.dumps(record).encode() + b"\n" for record in self.records)}

    def _add(self, role: str, *content: dict[str, Any]) -> None:
        self.records.append(
            {
                "recollect": "mind",
                "id": f"0000-{self.count()}",
                "agent": "assistant",
                "role": role,
                "channel": "terminal" if role == "user" else "",
                "at": self.tick(20).isoformat(),
                "content": list(content),
            }
        )

    def _prompt(self, number: int) -> None:
        self._add("user", {"type": "text", "text": words(number)})
        self._add("assistant", {"type": "thinking", "characters": 7}, {"type": "text", "text": f"Answer {number}."})

    def _call(self, number: int) -> None:
        call = f"toolu_{self.count()}"
        self._add("assistant", {"type": "tool_use", "id": call, "name": "sql", "input": {"query": words(number)}})
        self._add("tool", {"type": "tool_result", "tool_use_id": call, "content": words(number)})

    def _note(self, number: int) -> None:
        self._add("note", {"type": "text", "text": words(number)})

    def _image(self, _: int) -> None:
        source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
        self._add("user", {"type": "image", "source": source}, {"type": "text", "text": "What is this?"})

    def _file(self, number: int) -> None:
        file = {"type": "file", "name": f"plan {number}.pdf", "media_type": "application/pdf", "data": "AAAA"}
        self._add("user", file, {"type": "text", "text": words(number)})

    def _wait(self, number: int) -> None:
        self.tick(3_600 * (number % 3 + 1))
