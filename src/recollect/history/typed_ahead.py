"""Text typed while the agent was busy.

Claude Code writes it to a queue first, and then, depending on its version, again as a user line, again as an
attachment, or nowhere else. Each text is kept once: where it was delivered if that is written, else where it was
typed. Taken back before it was delivered, it was not said.
"""

from dataclasses import dataclass

MAX_WAITING = 50
"""Texts remembered per file; older ones will not be delivered any more."""


@dataclass(slots=True)
class Waiting:
    message_id: str
    text: str
    delivered: bool = False


class TypedAhead:
    def __init__(self, waiting: list[Waiting] | None = None) -> None:
        self.waiting = waiting or []

    def enqueue(self, message_id: str, text: str) -> None:
        self.waiting.append(Waiting(message_id, text))
        del self.waiting[:-MAX_WAITING]

    def deliver(self) -> None:
        """The first text still in the queue leaves it; a line with the same words may follow."""
        first = next((item for item in self.waiting if not item.delivered), None)
        if first:
            first.delivered = True

    def withdraw(self, text: str) -> list[str]:
        """The messages that were taken back: those in the queue whose words are in `text`, or all without one."""
        taken = [item for item in self.waiting if not item.delivered and (not text or item.text in text)]
        self.waiting = [item for item in self.waiting if item not in taken]
        return [item.message_id for item in taken]

    def repeated_by(self, text: str) -> list[str]:
        """The queued messages that this delivered text repeats: one, or several joined line by line."""
        for start in range(len(self.waiting)):
            joined = ""
            for end in range(start, len(self.waiting)):
                part = self.waiting[end].text
                joined = f"{joined}\n{part}" if joined else part
                if joined == text:
                    found = self.waiting[start : end + 1]
                    del self.waiting[start : end + 1]
                    return [item.message_id for item in found]
                if not text.startswith(joined):
                    break
        return []

    def to_json(self) -> list[list[object]]:
        return [[item.message_id, item.text, item.delivered] for item in self.waiting]

    @classmethod
    def from_json(cls, items: list[list[object]]) -> "TypedAhead":
        return cls([Waiting(str(message_id), str(text), bool(done)) for message_id, text, done in items])
