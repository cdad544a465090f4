"""One who keeps a copy of history and looks at nothing but its changes: what a search index is."""

from dataclasses import asdict
from typing import Any

from recollect import Memory
from recollect.history import History

PAGE = 3


class Follower:
    """`copy` holds each message's row by its id."""

    def __init__(self, memory: Memory) -> None:
        self._history = history = memory.history
        self._feed = memory.feed
        self._feed_id = self._feed.id()
        self.cursor = self._feed.newest()
        self.copy: dict[str, dict[str, Any]] = {}
        after = ""
        while page := history.page(after, PAGE):
            self.copy |= {message.id: asdict(message) for message in page}
            after = page[-1].id

    def step(self, limit: int) -> int:
        """Follow some changes; how many."""
        assert self._feed.id() == self._feed_id
        assert self._feed.can_follow(self.cursor)
        changes = self._feed.changes(self.cursor, limit)
        touched = sorted({change.id for change in changes})
        found = self._history.documents(touched)
        for message_id in touched:
            self.copy.pop(message_id, None)
            if message_id in found:
                self.copy[message_id] = asdict(found[message_id])
        if changes:
            self.cursor = changes[-1].change
        return len(changes)

    def catch_up(self, limit: int = 1_000) -> None:
        while self.step(limit):
            pass


def rows_of(history: History) -> dict[str, dict[str, Any]]:
    """What a follower should have."""
    return {message.id: asdict(message) for message in history.export()}
