"""Bringing answers to where they were asked, each once.

An answer is history before it is delivered. Who delivers it says so first: if the program ends in between, nobody knows
whether it arrived. It is sent again only by a channel that can say so; elsewhere it is not, and where it stands can be
read in the history of the conversation.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from recollect.clock import Clock, from_text, local, to_text
from recollect.database import Database, Session
from recollect.errors import Denied, RecollectError, Unavailable
from recollect.mind.channel import Channel, MayHaveArrived, Reply, Shown
from recollect.mind.conversation import words_of
from recollect.mind.entries import OUTREACH, Delivery, DeliveryState, Role, TurnRow, TurnState, Written
from recollect.mind.heartbeat.awareness import ACTIVE_MINUTES, QuietHours, barred
from recollect.mind.heartbeat.keeping import Standing
from recollect.mind.heartbeat.seen import topic_of
from recollect.mind.log import Log
from recollect.mind.showing import shown_text
from recollect.mind.store import MindStore
from recollect.redaction import mask

MOST_SHOWN = 100
"""Turns of which it is known that their words were shown as they came."""
LATE_MINUTES = 5
"""Before that, what the agent wrote first is a part of what is being said."""
UNANSWERED = "This could not be answered."
"""Where why not was forgotten with what was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    author: str
    """user or assistant."""
    text: str
    at: str
    channel: str = ""
    turn: int = 0


def _nothing(name: str, outcome: str, seconds: float, detail: dict[str, object]) -> None: ...


class Delivering:
    patience_seconds = 2.0
    """Given to all channels before the next turn: most answers are there by then."""

    def __init__(
        self,
        database: Database,
        house: str,
        clock: Clock,
        agent: str,
        log: Log,
        quiet: QuietHours | None = None,
        wishes: Callable[[datetime], Standing] = lambda now: Standing(),
        record: Callable[[str, str, float, dict[str, object]], None] = _nothing,
    ) -> None:
        """`quiet`: what the agent wrote first, and could not be sent in time, waits until they are over. `wishes`: what
        the person asks of being written to first."""
        self._database = database
        self._house = house
        self._clock = clock
        self._agent = agent
        self._log = log
        self._quiet = quiet
        self._wishes = wishes
        self._record = record
        self._channels: dict[str, Channel] = {}
        self._under_way: dict[str, asyncio.Task[int]] = {}
        self._shown: deque[int] = deque(maxlen=MOST_SHOWN)

    def attach(self, channel: Channel) -> None:
        self._channels[channel.name] = channel

    def detach(self, channel: Channel) -> None:
        if self._channels.get(channel.name) is channel:
            del self._channels[channel.name]
            under_way = self._under_way.pop(channel.name, None)
            if under_way:
                under_way.cancel()  # Another one of its name does not wait for it.

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._channels)

    def shower(self, places: Sequence[tuple[str, str]]) -> "Shower":
        return Shower([(self._channels[name], address) for name, address in places if name in self._channels])

    def doubt(self) -> None:
        """Whoever ran the turns before is gone."""
        with self._database.write() as session:
            self._store(session).doubt(to_text(self._clock()))

    async def deliver(self, shown_turn: int = 0) -> int:
        """All that waits for channels that are here, in its order. One that hangs is left to itself after a moment: no
        other one waits for it, and no turn. `shown_turn`: its words were shown as they came."""
        self._shown.extend([shown_turn] if shown_turn else [])
        for name, channel in self._channels.items():
            if name not in self._under_way:
                self._under_way[name] = asyncio.create_task(self._deliver_by(channel))
        if self._under_way:
            await asyncio.wait(self._under_way.values(), timeout=self.patience_seconds)
        ended = [self._under_way.pop(name) for name, task in tuple(self._under_way.items()) if task.done()]
        done = await asyncio.gather(*ended, return_exceptions=True)
        for one in done:
            if isinstance(one, BaseException):
                raise one
        return sum(one for one in done if isinstance(one, int))

    async def close(self, seconds: float) -> None:
        """What is on its way is waited for so long."""
        under_way = tuple(self._under_way.values())
        if under_way:
            await asyncio.wait(under_way, timeout=seconds)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        self._under_way.clear()

    async def _deliver_by(self, channel: Channel) -> int:
        delivered = 0
        passed_by = await asyncio.to_thread(self._say_again, channel) if _says_again(channel) else set[str]()
        for delivery in await asyncio.to_thread(self._due, channel.name):
            if delivery.address in passed_by or not _takes(channel, delivery.address):
                passed_by.add(delivery.address)
                continue
            wanted = await asyncio.to_thread(self._wanted, delivery)
            if wanted is delivery.state:
                continue  # An answer that comes after it does not wait for the morning.
            is_ours = await asyncio.to_thread(self._move, delivery, delivery.state, wanted)
            if not is_ours or wanted is not DeliveryState.SENDING:
                continue
            state = await self._sent(channel, delivery, delivery.turn in self._shown)
            await asyncio.to_thread(self._settle, delivery, state)
            if state not in (DeliveryState.SENT, DeliveryState.REFUSED):
                break  # What follows would overtake it.
            delivered += state is DeliveryState.SENT
        return delivered

    async def _sent(self, channel: Channel, delivery: Delivery, was_shown: bool) -> DeliveryState:
        reply = await asyncio.to_thread(self._reply, delivery, was_shown)
        try:
            await channel.deliver(delivery.address, reply)
        except MayHaveArrived:
            return DeliveryState.AGAIN if _says_again(channel) else DeliveryState.UNSURE
        except Unavailable:
            return delivery.state
        except Denied:
            return DeliveryState.REFUSED
        except Exception as error:  # noqa: BLE001 - a channel that is broken stops no other one, and repeats nothing for ever
            detail: dict[str, object] = {"channel": channel.name, "turn": delivery.turn, "error": type(error).__name__}
            with suppress(RecollectError):  # The database may be away; where it stands is settled all the same.
                await asyncio.to_thread(self._record, "channel", "failed", 0.0, detail)
            return DeliveryState.REFUSED if _says_again(channel) else DeliveryState.UNSURE
        return DeliveryState.SENT

    def latest(self, number: int) -> list[Spoken]:
        spoken = [spoken_of(one) for one in self._log.latest(number * 4)]
        return [one for one in spoken if one.text][-number:]

    def _say_again(self, channel: Channel) -> set[str]:
        """What a program that is gone was sending: one has such a channel at a time, and this one sends nothing now.
        Given are the addresses that are not ours now: if they are so a moment later, what follows does not overtake."""
        with self._database.read() as session:
            doubtful = self._store(session).doubtful(channel.name)
        passed_by = {one.address for one in doubtful if not _takes(channel, one.address)}
        for delivery in doubtful:
            if delivery.address not in passed_by:
                self._move(delivery, delivery.state, DeliveryState.AGAIN)
        return passed_by

    def _due(self, channel: str) -> list[Delivery]:
        with self._database.read() as session:
            return self._store(session).due(channel)

    def _wanted(self, delivery: Delivery) -> DeliveryState:
        """What nobody asked for keeps to the rules however late the line is there again: it wakes nobody, comes into no
        conversation that goes on, and waits, or is not sent at all, where the person asked for that meanwhile."""
        row = self._log.turn(delivery.turn)
        if row is None or row.kind != OUTREACH:
            return DeliveryState.SENDING
        now = self._clock()
        if self._quiet is not None and self._quiet.contains(local(to_text(now))):
            return delivery.state
        wishes = self._wishes(now)
        if wishes.is_unwelcome or self._is_barred(delivery.turn, wishes.unwelcome_topics):
            return DeliveryState.WITHDRAWN
        is_too_soon = wishes.not_before is not None and now < wishes.not_before
        is_held = is_too_soon or self._comes_between(row, now)
        return delivery.state if is_held else DeliveryState.SENDING

    def _is_barred(self, turn: int, unwelcome_topics: Sequence[str]) -> bool:
        said = [one for one in self._log.of_turn(turn) if one.entry.role is Role.ASSISTANT] if unwelcome_topics else []
        return any(barred(topic_of(one), words_of(one.record), unwelcome_topics) for one in said)

    def _comes_between(self, row: TurnRow, now: datetime) -> bool:
        """Whether it is late, others spoke after it was written, and that conversation goes on."""
        last = self._log.glance(outreaches=0, said=0, spoken=1).spoken[-1:]
        is_late = now - from_text(row.began_at) > timedelta(minutes=LATE_MINUTES)
        return is_late and any(
            one.entry.turn != row.number
            and timedelta() <= now - from_text(one.entry.at) < timedelta(minutes=ACTIVE_MINUTES)
            for one in last
        )

    def _move(self, delivery: Delivery, before: DeliveryState, state: DeliveryState) -> bool:
        with self._database.write() as session:
            return self._store(session).move(delivery, before, state, to_text(self._clock()))

    def _settle(self, delivery: Delivery, state: DeliveryState) -> None:
        """Whoever sends knows more than a program that took the turns over meanwhile, and doubted it."""
        if not self._move(delivery, DeliveryState.SENDING, state):
            self._move(delivery, DeliveryState.UNSURE, state)

    def _reply(self, delivery: Delivery, was_shown: bool) -> Reply:
        row = self._log.turn(delivery.turn)
        texts = [
            block["text"]
            for one in self._log.of_turn(delivery.turn)
            if one.entry.role is Role.ASSISTANT
            for block in one.record["content"]
            if block.get("type") == "text"
        ]
        is_failed = row is not None and row.state in (TurnState.FAILED, TurnState.REFUSED)
        text = shown_text(texts)
        if row and is_failed:
            text = f"{text}\n\n{row.reason or UNANSWERED}".strip()
        state = "failed" if is_failed else str(row.state) if row else "done"
        remark = row.reason if row and row.state is TurnState.DONE else ""
        is_kept = row is not None and row.state is TurnState.FAILED
        return Reply(
            turn=delivery.turn,
            text=text,
            at=row.ended_at if row else "",
            state=state,
            remark=remark,
            is_kept=is_kept,
            was_shown=was_shown,
            is_first=row is not None and row.kind == OUTREACH,
            is_again=delivery.state is DeliveryState.AGAIN,
        )

    def _store(self, session: Session) -> MindStore:
        return MindStore(session, self._house, self._agent)


class Shower:
    """Shows what happens in a turn wherever it was asked. Where that fails, nothing more of the turn is shown: the
    answer is worth more than its pieces, and is delivered all the same."""

    def __init__(self, places: Sequence[tuple[Channel, str]]) -> None:
        self._places = list(places)

    def __call__(self, shown: Shown) -> None:
        for channel, address in tuple(self._places):
            try:
                channel.show(address, shown)
            except Exception:  # noqa: BLE001 - a terminal that is gone stops no turn
                self._places.remove((channel, address))


def _takes(channel: Channel, address: str) -> bool:
    """A channel that is open in several programs takes only what is its own."""
    takes = getattr(channel, "takes", None)
    try:
        return takes is None or bool(takes(address))
    except Exception:  # noqa: BLE001 - a channel that is broken stops no other one
        return False


def _says_again(channel: Channel) -> bool:
    return bool(getattr(channel, "says_again", False))


def spoken_of(written: Written) -> Spoken:
    texts = [block["text"] for block in written.record["content"] if block.get("type") == "text"]
    is_user = written.entry.role is Role.USER
    images = sum(block.get("type") == "image" for block in written.record["content"])
    text = mask("\n\n".join(texts) if is_user else shown_text(texts))
    if images:
        text = f"{text} [{images} image{'' if images == 1 else 's'}]".strip()
    return Spoken(
        author="user" if is_user else "assistant",
        text=text,
        at=written.entry.at,
        channel=written.entry.channel,
        turn=written.entry.turn,
    )
