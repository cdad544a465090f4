"""Cursor: lines with a role and a message, in two places, with sub-agents; going back writes the file anew."""

import json
from typing import Any

from stories import Files, Story, name_to_uuid, words

FOLDER = "projects/home-mara-greenhouse/agent-transcripts"


class Cursor(Story):
    moves = ("prompt", "prompt", "timed", "call", "context", "ended", "back", "agent", "wait", "move")
    variants = 2

    def __init__(self, variant: int = 0) -> None:
        super().__init__(variant)
        self.session = name_to_uuid("session")
        self.is_flat = variant == 0
        self.lines: list[bytes] = []
        self.agents: dict[str, list[bytes]] = {}
        self._prompt(0)

    def files(self) -> Files:
        name = f"{self.session}.jsonl" if self.is_flat else f"{self.session}/{self.session}.jsonl"
        found = {f"{FOLDER}/{name}": b"".join(self.lines)}
        for agent, lines in self.agents.items():
            found[f"{FOLDER}/{self.session}/subagents/{agent}.jsonl"] = b"".join(lines)
        return found

    def _prompt(self, number: int, before: str = "") -> None:
        self.lines.append(line("user", f"{before}<user_query>\n{words(number)}\n</user_query>"))
        self.lines.append(line("assistant", f"Answer {number}: {words(number + 1)}\n\n[REDACTED]"))

    def _timed(self, number: int) -> None:
        at = self.tick(60)
        clock = f"{at:%A, %b} {at.day}, {at.year}, {at.hour % 12 or 12}:{at:%M %p} (UTC)"
        self._prompt(number, f"<timestamp>{clock}</timestamp>\n")

    def _call(self, number: int) -> None:
        use = {"type": "tool_use", "name": "Bash", "input": {"command": words(number)}}
        self.lines.append(line("assistant", "I look.", use))

    def _context(self, _: int) -> None:
        self.lines.append(line("user", "<user_info>\nOS: linux\n</user_info>"))

    def _ended(self, number: int) -> None:
        status = ("success", "error", "aborted")[number % 3]
        self.lines.append(json.dumps({"type": "turn_ended", "status": status, "error": words(number)}).encode() + b"\n")

    def _back(self, number: int) -> None:
        del self.lines[max(len(self.lines) - number, 1) :]
        self._prompt(number)

    def _agent(self, number: int) -> None:
        lines = self.agents.setdefault(name_to_uuid(f"agent {number % 2}"), [])
        lines += [line("user", words(number)), line("assistant", "Two.")]

    def _move(self, _: int) -> None:
        self.is_flat = False


def line(role: str, *items: dict[str, Any] | str) -> bytes:
    content = [{"type": "text", "text": item} if isinstance(item, str) else item for item in items]
    return json.dumps({"role": role, "message": {"content": content}}, ensure_ascii=False).encode() + b"\n"
