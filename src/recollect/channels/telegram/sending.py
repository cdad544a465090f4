"""An answer as messages of Telegram: formatted, in parts, each sent once.

Which parts of an answer are there is kept in memory only. After the end of the program in the middle of it all of them
are sent again, and the line before them says so.
"""

import asyncio
from collections.abc import Awaitable

from recollect.channels.telegram.client import BotClient
from recollect.channels.telegram.errors import BadRequest, ChatRefused, SlowDown, TokenRefused
from recollect.channels.telegram.formatting import Entity, Formatted, formatted
from recollect.channels.telegram.splitting import parts
from recollect.channels.telegram.waiting import Patience
from recollect.errors import Denied, RecollectError, Unavailable
from recollect.mind.channel import MayHaveArrived, Reply
from recollect.mind.places.places import Places

NAME = "telegram"
SENT_AGAIN = "(Sent again: it may not have arrived.)"
STOPPED = "(Stopped.)"
KEPT = "What you said is kept, and is answered with what you say next."
MOST_SIGNS = 800
"""An hour of typing. An answer that takes longer comes without."""
NO_WORDS = "(There was nothing to say.)"


class Sending:
    def __init__(self, client: BotClient, places: Places, patience: Patience) -> None:
        self._client = client
        self._places = places
        self._patience = patience
        self._arrived: dict[tuple[str, int], int] = {}
        """Of an answer that is not there as a whole, how many parts are."""
        self._doubted: set[tuple[str, int]] = set()
        """Those whose next part may be there, too."""
        self._failures = 0
        self._opening: asyncio.TimerHandle | None = None

    @property
    def is_open(self) -> bool:
        """Whether nobody told us to wait, and the line is not known to be down. It changes between two steps of the
        event loop only: who looks at several answers in one step is told the same for all, and none overtakes another.
        """
        return self._opening is None

    async def reply(self, address: str, reply: Reply) -> None:
        key = (address, reply.turn)
        try:
            await self._guarded(address, self._send(key, parts(_whole(reply)), is_again=reply.is_again))
        except Denied:
            self._forget(key)
            raise
        self._forget(key)

    async def say(self, address: str, text: str, update_id: int) -> None:
        """Because of this update: words of the channel's own, or an answer that is asked for once more."""
        key = (address, -update_id)  # Turns count upwards from 1.
        await self._guarded(address, self._send(key, parts(formatted(text)), is_again=False))
        self._forget(key)

    def close(self) -> None:
        if self._opening:
            self._opening.cancel()

    async def _send(self, key: tuple[str, int], pieces: list[Formatted], *, is_again: bool) -> None:
        """Where it is sent again, the line before it is for the one part of which nobody knows."""
        address, _ = key
        arrived = self._arrived.get(key, 0)
        is_doubtful = is_again and (not arrived or key in self._doubted)
        for number, piece in enumerate(pieces[arrived:], arrived + 1):
            with_line = parts(joined(Formatted(text=SENT_AGAIN), piece)) if is_doubtful else [piece]
            try:
                for part in with_line:
                    await self._send_part(address, part)
            except MayHaveArrived:
                self._doubted.add(key)
                raise
            self._doubted.discard(key)
            self._arrived[key] = number
            is_doubtful = False

    def _forget(self, key: tuple[str, int]) -> None:
        self._arrived.pop(key, None)
        self._doubted.discard(key)

    async def _send_part(self, address: str, part: Formatted) -> None:
        try:
            await self._client.send_message(address, part.text, [entity.as_json() for entity in part.entities])
        except BadRequest:
            if not part.entities:
                raise
            await self._client.send_message(address, part.text)

    async def _guarded(self, address: str, sending: Awaitable[None]) -> None:
        try:
            await sending
        except ChatRefused:
            await asyncio.to_thread(self._places.block, NAME, address)
            raise
        except TokenRefused as error:  # Not the end of the answer: it goes out with the next token.
            self._wait(self._patience.refused)
            raise Unavailable(str(error)) from None
        except BadRequest as error:
            raise Denied(str(error)) from None
        except SlowDown as error:
            self._wait(error.seconds)
            raise
        except Unavailable:
            self._failures += 1
            self._wait(self._patience.after(self._failures))
            raise
        self._failures = 0

    def _wait(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        if self._opening:
            until = max(until, self._opening.when())
            self._opening.cancel()
        self._opening = loop.call_at(until, self._open)

    def _open(self) -> None:
        self._opening = None


class Typing:
    """Shows in a chat that an answer is being made, until it is there."""

    def __init__(self, client: BotClient, patience: Patience) -> None:
        self._client = client
        self._patience = patience
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def begin(self, address: str) -> None:
        self.end(address)
        self._tasks[address] = asyncio.get_running_loop().create_task(self._go_on(address))

    def end(self, address: str) -> None:
        task = self._tasks.pop(address, None)
        if task:
            task.cancel()

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for address in tuple(self._tasks):
            self.end(address)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _go_on(self, address: str) -> None:
        for _ in range(MOST_SIGNS):
            try:
                await self._client.send_action(address, "typing")
                wait = self._patience.typing
            except SlowDown as error:
                wait = error.seconds
            except Unavailable:  # An answer is worth more than the sign that it comes.
                wait = self._patience.typing
            except RecollectError:
                return
            await asyncio.sleep(wait)


def joined(first: Formatted, second: Formatted) -> Formatted:
    """One paragraph after the other."""
    before = f"{first.text}\n\n"
    units = len(before.encode("utf-16-le", "surrogatepass")) // 2
    moved = [
        Entity(kind=one.kind, start=one.start + units, length=one.length, url=one.url, language=one.language)
        for one in second.entities
    ]
    return Formatted(text=before + second.text, entities=(*first.entities, *moved))


def _whole(reply: Reply) -> Formatted:
    remark = STOPPED if reply.state == "stopped" else KEPT if reply.is_kept else _in_brackets(reply.remark)
    answer = formatted(reply.text)
    if not answer.text.strip():
        answer = Formatted(text=reply.text)
    if not answer.text.strip():
        return Formatted(text=remark or NO_WORDS)
    return joined(answer, Formatted(text=remark)) if remark else answer


def _in_brackets(remark: str) -> str:
    return f"({remark})" if remark.strip() else ""
