"""Reading what people write, by one program at a time, each update in its order.

How far it was read is stored after each update is through. What comes again after a crash is known by its key, so it is
heard once.
"""

import asyncio
from collections.abc import Awaitable, Callable

from recollect.channels.kinds import Door
from recollect.channels.telegram.client import BotClient
from recollect.channels.telegram.errors import SlowDown, Taken, TokenRefused
from recollect.channels.telegram.sending import NAME
from recollect.channels.telegram.waiting import Patience
from recollect.errors import RecollectError, Unavailable
from recollect.mind.holding import Holding

RECENT_UPDATES = 10_000
"""Before our position: what has such a number was read. One much lower is new: after a week without any update the
service goes on counting from anywhere."""
MOST_STUMBLES = 5
"""Over one update: then it is passed by, and an event says so."""
TOLD_AFTER = 3
"""Failures in a row. A line that is down for a moment is nothing to tell."""


class Polling:
    def __init__(
        self, door: Door, client: BotClient, take: Callable[[dict[str, object]], Awaitable[None]], patience: Patience
    ) -> None:
        self._door = door
        self._client = client
        self._take = take
        self._patience = patience
        self._holding = Holding(door.database, door.settings, door.clock, client.bot_id, NAME)
        self._takings = 0
        self._position = 0
        self._has_stood = False
        self._told = ""
        self._stumbled_at = self._stumbles = 0
        self.is_ours = False
        """Whether this is the program that reads for the bot, and so the one that writes for it."""

    async def run(self) -> None:
        failures = 0
        while True:
            try:
                if await self._hold():
                    await self._read()
                    wait, failures = 0.0, 0
                    self._tell("")
                else:
                    wait = self._patience.standby
            except TokenRefused as error:
                self._tell(str(error))
                wait = self._patience.refused
            except SlowDown as error:
                wait = error.seconds
                if wait > self._patience.longest:
                    self._tell(str(error))
            except RecollectError as error:
                failures += 1
                if failures >= TOLD_AFTER or isinstance(error, Taken):
                    self._tell(str(error))
                wait = self._patience.after(failures)
            await asyncio.sleep(wait)

    async def close(self) -> None:
        self.is_ours = False
        await asyncio.to_thread(self._holding.let_go)

    async def _hold(self) -> bool:
        self.is_ours = await asyncio.to_thread(self._holding.hold)
        if self.is_ours and self._takings != self._holding.takings:
            self._position = await asyncio.to_thread(self._door.places.position, NAME, self._client.bot_id)
            self._takings = self._holding.takings
        return self.is_ours

    async def _read(self) -> None:
        updates = await self._client.get_updates(self._position, self._patience.poll)
        if updates and not await self._hold():  # This computer slept, and another one reads by now.
            return
        is_new = False
        for number, update in _numbered(updates):
            if not self._position - RECENT_UPDATES <= number < self._position:
                await self._taken(number, update)
                await self._move(number + 1)
                is_new = True
        self._has_stood = await self._moved_back(updates) if updates and not is_new else False

    async def _taken(self, number: int, update: dict[str, object]) -> None:
        """One that we have a bug with is tried a few times, and holds up the others no longer."""
        try:
            await self._take(update)
        except RecollectError:
            raise
        except Exception as error:  # noqa: BLE001 - the worker goes on, and runs have the reason
            self._stumbles = self._stumbles + 1 if number == self._stumbled_at else 1
            self._stumbled_at = number
            if self._stumbles < MOST_STUMBLES:
                raise Unavailable(
                    f"An update could not be handled ({type(error).__name__}); it is tried again."
                ) from None
            self._door.record("channel", "failed", 0.0, {"channel": NAME, "reason": type(error).__name__})

    async def _moved_back(self, updates: list[dict[str, object]]) -> bool:
        """Nothing but what was read: once, that is a repetition. Twice, the service counts anew from near our position,
        and would give us the same for ever."""
        numbered = _numbered(updates)
        if self._has_stood and numbered:
            await self._move(numbered[-1][0] + 1)
            return False
        return True

    async def _move(self, position: int) -> None:
        await asyncio.to_thread(self._door.places.move_position, NAME, self._client.bot_id, position)
        self._position = position

    def _tell(self, words: str) -> None:
        if words != self._told:
            self._told = words
            self._door.tell(words)


def _numbered(updates: list[dict[str, object]]) -> list[tuple[int, dict[str, object]]]:
    """In the order of their numbers. One without a number was never ours to confirm."""
    found = [(number, update) for update in updates if isinstance(number := update.get("update_id"), int)]
    return sorted(found, key=lambda pair: pair[0])
