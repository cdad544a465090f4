"""Who follows the changes of the house, and what each of them is told.

One task looks at the feed, and only while somebody follows: a thousand followers cost one look. What a change names is
told to a follower only where it may see the thing, by its token as it is at that moment: a token that was taken back
ends the streams that were opened with it. Who reads too slowly is let go, and comes again from where it was.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby

import anyio
import anyio.to_thread
import msgspec

from recollect.errors import RecollectError, Unavailable
from recollect.feed import MESSAGE, NOTE, RECORD, Change
from recollect.memory import Memory

MOST_STREAMS = 128
"""At once: half of the connections there may be, so that others can ask."""
MOST_OF_ONE = 64
"""With one token."""
LOOK_SECONDS = 0.5
TOKEN_SECONDS = 5.0
"""So long a stream may outlive its token where nothing happens."""
MOST_WAITING = 64
"""Pieces of a stream that nobody has taken yet."""
MOST_CHANGES = 2_000
"""Read at once."""
MOST_THINGS = 500
"""Named in one event. One transaction may touch more: only the last event of it has its number."""
END = b""
RESET = "Changes are missing between: read anew what you follow."


@dataclass(eq=False, slots=True)
class Follower:
    secret: str
    reached: int
    """The number of the change it was told last."""
    pieces: "asyncio.Queue[bytes]" = field(default_factory=lambda: asyncio.Queue(MOST_WAITING + 1))

    def give(self, piece: bytes) -> bool:
        """False: it has not taken what it was given before."""
        if self.pieces.qsize() >= MOST_WAITING:
            return False
        self.pieces.put_nowait(piece)
        return True

    def end(self) -> None:
        with suppress(asyncio.QueueFull):
            self.pieces.put_nowait(END)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the followers with one token are told. `events`: (number, bytes), in order."""

    is_known: bool
    events: Sequence[tuple[int, bytes]] = ()


class Streams:
    """All of it in the event loop, but for what asks the database."""

    def __init__(
        self, memory: Memory, look_seconds: float = LOOK_SECONDS, token_seconds: float = TOKEN_SECONDS
    ) -> None:
        self._memory = memory
        self._look_seconds = look_seconds
        self._token_seconds = token_seconds
        self._ask_again_at = 0.0
        self._followers: set[Follower] = set()
        self._looking: asyncio.Task[None] | None = None
        self._reached = 0
        self._feed_id = ""
        self._turn = asyncio.Lock()
        self._thread = anyio.CapacityLimiter(1)  # Of its own: long work elsewhere keeps no news back.

    def __len__(self) -> int:
        return len(self._followers)

    def check_room(self, secret: str) -> None:
        of_one = sum(follower.secret == secret for follower in self._followers)
        if len(self._followers) >= MOST_STREAMS or of_one >= MOST_OF_ONE:
            raise Unavailable(f"{len(self._followers):,} follow already, which is as many as may. Come again later.")

    async def join(self, secret: str, last: str) -> Follower:
        """`last`: the id of the last event that was read; empty: only what comes from now on."""
        self.check_room(secret)
        async with self._turn:  # No look between: what it brings would be missed.
            self.check_room(secret)
            number, told = await anyio.to_thread.run_sync(self._begin, secret, last, limiter=self._thread)
            if not self._followers:
                self._reached = number
            follower = Follower(secret, number)
            follower.give(told)
            self._followers.add(follower)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        return follower

    def leave(self, follower: Follower) -> None:
        self._followers.discard(follower)

    async def close(self) -> None:
        for follower in self._followers:
            follower.end()
        self._followers.clear()
        if self._looking:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    # In the event loop

    async def _look(self) -> None:
        while self._followers:
            await asyncio.sleep(self._look_seconds)
            with suppress(RecollectError):  # A database that is busy now is asked again.
                async with self._turn:
                    await self._tell()

    async def _tell(self) -> None:
        secrets = {follower.secret for follower in self._followers}
        newest, told = await anyio.to_thread.run_sync(self._news, self._reached, secrets, limiter=self._thread)
        for follower in list(self._followers):
            given = told.get(follower.secret)
            if given is None:
                continue
            piece = b"".join(piece for number, piece in given.events if number > follower.reached)
            if not given.is_known or (piece and not follower.give(piece)):
                follower.end()
                self.leave(follower)
            follower.reached = max(follower.reached, newest)
        self._reached = max(self._reached, newest)

    # In a thread

    def _begin(self, secret: str, last: str) -> tuple[int, bytes]:
        """(where it stands now, what it is told first)."""
        feed = self._memory.feed
        self._feed_id = self._feed_id or feed.id()
        newest = feed.newest()
        after = self._number(last)
        if not last or after == newest:
            return newest, self._event(newest, "here", {})
        can_follow = after is not None and feed.can_follow(after)
        changes = feed.changes(after, MOST_CHANGES) if after is not None and can_follow else []
        if not can_follow or (changes and changes[-1].change < newest):
            return newest, self._event(newest, "reset", {"detail": RESET})
        newest = changes[-1].change if changes else newest
        told = b"".join(piece for _, piece in self._told(secret, changes).events)
        return newest, told + self._event(newest, "here", {})

    def _news(self, reached: int, secrets: set[str]) -> tuple[int, dict[str, Told]]:
        feed = self._memory.feed
        newest = feed.newest()
        if newest == reached:
            return newest, dict.fromkeys(self._taken_back(secrets), Told(is_known=False))
        if not feed.can_follow(reached):
            event = (newest, self._event(newest, "reset", {"detail": RESET}))
            known = {secret: self._memory.access.holder(secret) is not None for secret in secrets}
            return newest, {secret: Told(is_known=is_known, events=[event]) for secret, is_known in known.items()}
        changes = feed.changes(reached, MOST_CHANGES)  # The rest follows at the next look.
        newest = changes[-1].change if changes else newest
        return newest, {secret: self._told(secret, changes) for secret in secrets}

    def _taken_back(self, secrets: set[str]) -> list[str]:
        """Of these tokens, those that nobody has any more. While nothing happens it is asked at times only."""
        if time.monotonic() < self._ask_again_at:
            return []
        self._ask_again_at = time.monotonic() + self._token_seconds
        return [secret for secret in secrets if self._memory.access.holder(secret) is None]

    def _told(self, secret: str, changes: Sequence[Change]) -> Told:
        principal = self._memory.access.holder(secret)
        if principal is None:
            return Told(is_known=False)
        seen = visible(self._memory.acting_for(principal), changes)
        events: list[tuple[int, bytes]] = []
        for number, group in groupby(changes, key=lambda change: change.change):
            keys = [(one.kind, one.id) for one in group]
            things = [{"kind": key[0], "id": key[1], "is_there": seen[key]} for key in keys if key in seen]
            for start in range(0, len(things), MOST_THINGS):
                is_last = start + MOST_THINGS >= len(things)
                value = {"things": things[start : start + MOST_THINGS]}
                events.append((number, self._event(number if is_last else None, "change", value)))
        return Told(is_known=True, events=events)

    # How it is written

    def _event(self, number: int | None, name: str, value: Mapping[str, object]) -> bytes:
        beginning = b"" if number is None else b"id: %s.%d\n" % (self._feed_id.encode(), number)
        return b"%sevent: %s\ndata: %s\n\n" % (beginning, name.encode(), msgspec.json.encode(value))

    def _number(self, last: str) -> int | None:
        """None: it is from another database, or no id of ours."""
        name, _, number = last.rpartition(".")
        is_ours = name == self._feed_id and number.isascii() and number.isdigit() and len(number) < 19
        return int(number) if is_ours else None


def visible(memory: Memory, changes: Sequence[Change]) -> dict[tuple[str, str], bool]:
    """Of what was touched, what its principal may be told of; whether it is there."""
    ids = {kind: sorted({one.id for one in changes if one.kind == kind}) for kind in (MESSAGE, RECORD, NOTE)}
    there = {
        MESSAGE: memory.history.documents(ids[MESSAGE]).keys(),
        RECORD: memory.knowledge.shown(ids[RECORD]).keys(),
        NOTE: memory.notes.indexed(ids[NOTE]).keys(),
    }
    seen = {(kind, one): one in there[kind] for kind, some in ids.items() for one in some}
    if not memory.principal.is_confined:
        return seen
    # What is gone belongs to nobody any more, but for a note: its path says whose it was.
    return {
        (kind, one): is_there
        for (kind, one), is_there in seen.items()
        if is_there or (kind == NOTE and memory.notes.sees(one))
    }
