"""Whether a request begins with all of the one before, and where it does not and why (rule 10).

A provider reads from its cache what is the same from the first byte on. So every break is counted with its reason; one
for which nobody gave a reason is a bug, and says so.
"""

import hashlib
from dataclasses import dataclass

import msgspec

from recollect.llm.talking import Request

UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    where: str
    """`start` (there was none before), `system`, `tools`, or `turn N`, the first that differs."""
    reason: str
    kept_turns: int
    """How many turns at the start are the same."""


class Prefix:
    def __init__(self) -> None:
        self._head: tuple[str, str] | None = None
        self._turns: list[str] = []
        self._reasons: list[str] = []

    def expect(self, reason: str) -> None:
        """Why the next request may not begin with all of the last."""
        if reason and reason not in self._reasons:
            self._reasons.append(reason)

    def sent(self, request: Request) -> Break | None:
        """To be asked before each request, in their order."""
        head = _digest(request.system), _digest(request.tools)
        turns = [_digest(turn) for turn in request.turns]
        found = self._break(head, turns)
        self._head, self._turns, self._reasons = head, turns, []
        return found

    def _break(self, head: tuple[str, str], turns: list[str]) -> Break | None:
        reason = ", ".join(self._reasons) or UNEXPLAINED
        if self._head is None:
            return Break(where="start", reason=", ".join(self._reasons) or "first", kept_turns=0)
        if head != self._head:
            return Break(where="system" if head[0] != self._head[0] else "tools", reason=reason, kept_turns=0)
        for place, before in enumerate(self._turns):
            if place >= len(turns) or turns[place] != before:
                return Break(where=f"turn {place}", reason=reason, kept_turns=place)
        return None


def _digest(value: object) -> str:
    return hashlib.sha256(msgspec.json.encode(value), usedforsecurity=False).hexdigest()
