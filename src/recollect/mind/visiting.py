"""Speaking to an agent and reading its conversation without having it open: for who asks over HTTP.

Nothing here runs a turn or asks a model. What is said is written down, and answered by whoever has the conversation
open and holds its lease, as a rule the daemon. The answer stands in the log, where who asked reads it: to deliver it by
this channel is to leave it there.
"""

from collections.abc import Callable

from recollect.clock import local
from recollect.errors import NotFound
from recollect.mind.channel import Paused, Reply, Said, Shown
from recollect.mind.entries import Entry, TurnRow, Written
from recollect.mind.log import Log
from recollect.mind.saying import checked

HTTP = "http"
"""The name of the channel."""


class Visit:
    """`memory.visit()`. Every method asks the database: in an event loop, call it in a thread."""

    def __init__(self, log: Log, paused_since: Callable[[], str | None]) -> None:
        self._log = log
        self._paused_since = paused_since

    def hear(self, said: Said) -> Entry | None:
        """Write down what somebody says. None: it was heard under the same key, and forgotten since."""
        said = checked(said)
        since = self._paused_since()
        if since:
            told = f"{local(since):%Y-%m-%d %H:%M}"
            raise Paused(f"Taking in is paused since {told}, so this was not heard. `recollect resume` goes on.")
        return self._log.hear(said)

    def withdraw(self, channel: str, address: str = "") -> int:
        """Take back what was said there and waits still; how many messages."""
        return self._log.withdraw(channel, address)

    def spoken(self, *, before: int = 0, after: int = 0, limit: int) -> list[Written]:
        """What users and the agent said, the newest first: with numbers below `before` (0: any) and above `after`."""
        return self._log.spoken(before=before, after=after, limit=limit)

    def entry(self, number: int) -> Written:
        found = self.spoken(before=number + 1, after=number - 1, limit=1)
        if not found:
            raise NotFound(f"The conversation has no entry {number}, or it was forgotten.")
        return found[0]

    def turn(self, number: int) -> tuple[TurnRow, list[Written]]:
        """How it stands, and what was said in it, the oldest first."""
        row = self._log.turn(number)
        if row is None:
            raise NotFound(f"The conversation has no turn {number}.")
        return row, self._log.of_turn(number)


class Asked:
    """The channel of a visit, as the daemon has it: an answer is there to be read, so nothing is to be sent."""

    name = HTTP

    def show(self, address: str, shown: Shown) -> None: ...

    async def deliver(self, address: str, reply: Reply) -> None: ...
