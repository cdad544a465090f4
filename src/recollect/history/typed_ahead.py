"""Text typed while the agent was busy.

Claude Code writes it to a queue first, and then, depending on its version, again as a user line, again as an
attachment, or nowhere else. Each text is kept once: where it was delivered if that is written, else where it was
typed. Taken back before it was delivered, it was not said.
"""

from dataclasses import dataclass
from datetime import timedelta

from recollect.clock import from_text, to_text

MAX_WAITING = 50
"""Texts remembered per file; older ones will not be delivered any more."""
DELIVERY = timedelta(minutes=10)
"""A line with the same words that comes later than this after a text left the queue is said anew."""


@dataclass(slots=True)
class Waiting:
    message_id: str
    text: str
    delivered: bool = False
    left_at: str = ""
    """When it left the queue, if that is known."""


class TypedAhead:
    def __init__(self, waiting: list[Waiting] | None = None) -> None:
        self.waiting = waiting or []

    def enqueue(self, message_id: str, text: str) -> None:
        self.waiting.append(Waiting(message_id, text))
        del self.waiting[:-MAX_WAITING]

    def enqueue_forgotten(self) -> None:
        """A text that may not be told holds its place in the queue."""
        self.enqueue("", "")

    def deliver_forgotten(self, at: str) -> None:
        """One of those texts leaves the queue."""
        found = next((item for item in self.waiting if not item.delivered and not item.text), None)
        if found:
            found.delivered, found.left_at = True, at

    def drop_forgotten(self) -> None:
        """One of those texts was said."""
        found = next((item for item in self.waiting if not item.text), None)
        if found:
            self.waiting.remove(found)

    def deliver(self, at: str = "", text: str = "") -> bool:
        """A text leaves the queue, the one with these words or the first; False when none has them."""
        found = next((item for item in self.waiting if not item.delivered and text in ("", item.text)), None)
        if found:
            found.delivered, found.left_at = True, at
        return found is not None

    def withdraw(self, text: str) -> list[str]:
        """The messages that were taken back: those in the queue whose words are in `text`, or all without one."""
        taken = [item for item in self.waiting if not item.delivered and (not text or item.text in text)]
        self.waiting = [item for item in self.waiting if item not in taken]
        return [item.message_id for item in taken if item.message_id]

    def repeated_by(self, text: str, at: str = "") -> list[str]:
        """The queued messages that this delivered text repeats: one, or several joined line by line."""
        self._drop_delivered_before(at)
        for start in range(len(self.waiting)):
            joined = ""
            for end in range(start, len(self.waiting)):
                part = self.waiting[end].text
                if not part:
                    break
                joined = f"{joined}\n{part}" if joined else part
                if joined == text:
                    found = self.waiting[start : end + 1]
                    del self.waiting[start : end + 1]
                    return [item.message_id for item in found]
                if not text.startswith(joined):
                    break
        return []

    def _drop_delivered_before(self, at: str) -> None:
        if any(item.left_at for item in self.waiting) and at:
            try:
                limit = to_text(from_text(at) - DELIVERY)
            except OverflowError:  # A clock that says the year 1.
                return
            self.waiting = [item for item in self.waiting if not item.left_at or item.left_at >= limit]

    def to_json(self) -> list[tuple[str, str, bool, str]]:
        return [(item.message_id, item.text, item.delivered, item.left_at) for item in self.waiting]

    @classmethod
    def from_json(cls, items: list[tuple[str, str, bool, str]]) -> "TypedAhead":
        return cls([Waiting(*item) for item in items])
