"""Mind: the one object through which an agent is talked with. `memory.mind()`.

Used in one event loop. Several programs may have one for the same agent: all of them hear, and one of them, who holds
the lease, runs the turns. Each delivers the answers of the channels that are attached to it.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from recollect.clock import Clock, local, to_text
from recollect.context import Contexts
from recollect.database import Database
from recollect.errors import Invalid, RecollectError, Unavailable
from recollect.history.appending import Appending
from recollect.llm.talking import Abilities, TalkModel
from recollect.mind.afterwards import Afterwards
from recollect.mind.channel import Again, Began, Channel, Paused, Said, ToolResult
from recollect.mind.condensing import Condensing, Material
from recollect.mind.conversation import Conversation
from recollect.mind.delivering import Delivering, Spoken
from recollect.mind.entries import Role, TurnState, Written
from recollect.mind.heartbeat.awareness import QuietHours
from recollect.mind.heartbeat.keeping import Standing
from recollect.mind.held import Held, Making
from recollect.mind.holding import Holding
from recollect.mind.log import Log, Overtaken, Taken
from recollect.mind.prefix import Prefix
from recollect.mind.prompt import Prompts
from recollect.mind.saying import checked
from recollect.mind.state import state_path
from recollect.mind.tools import Toolbox
from recollect.mind.turns import Ended, Turns
from recollect.settings import Settings

ORPHAN_SECONDS = 5.0
"""After so long, what somebody said in a window is answered by the program in the background: the window is gone."""
LOOK_SECONDS = 0.5
"""How often a program looks for what others heard or answered."""
RETRY_SECONDS = 2.5
"""After the database could not be reached; doubled by each further failure."""
LONGEST_RETRY_SECONDS = 300.0
MOST_ATTEMPTS = 25
"""Of one turn. More than a computer is switched off by chance in the middle of an answer, or than a storm of kills."""
GIVEN_UP = "The program ended {number} times while this was being answered, so it is not tried again by itself."
DELIVERY_SECONDS = 10.0
"""Given to an answer that is on its way when the program ends."""

RecordRun = Callable[[str, str, float, dict[str, object]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a mind is made of, all of it as the agent sees it."""

    database: Database
    settings: Settings
    clock: Clock
    agent: str
    """Its scope."""
    appending: Callable[[], Appending]
    contexts: Contexts
    prompts: Prompts
    toolbox: Toolbox
    open_model: Callable[[Callable[[], str]], tuple[TalkModel, TalkModel]]
    """The name of the turn that a call is for in; the model for turns and the one for compactions out."""
    material: Material
    afterwards: Callable[[], Afterwards]
    learn: Callable[[], None]
    """From markers in what was just said, and what is asked of being written to first."""
    wishes: Callable[[datetime], Standing]
    """What the person asks of that."""
    record: RecordRun
    paused_since: Callable[[], str | None]
    was_paused_at: Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDone:
    turn: int
    state: TurnState
    reason: str
    context_tokens: int
    tools: list[ToolResult] = field(default_factory=list[ToolResult])
    error: RecollectError | None = None
    """What it failed of, where it was one: its kind tells a caller whether to come again."""


class Mind:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._settings = parts.settings
        house = parts.settings.house
        self._holding = Holding(parts.database, parts.settings, parts.clock, parts.agent)
        self._log = Log(parts.database, house, parts.clock, parts.agent, parts.appending, self._holding.is_ours)
        quiet = _quiet_hours(parts.settings.heartbeat.quiet_hours)
        self._delivering = Delivering(
            parts.database, house, parts.clock, parts.agent, self._log, quiet, parts.wishes, parts.record
        )
        self._turn_name = ""
        self._model, compacting = parts.open_model(lambda: self._turn_name)
        self._prefix = Prefix()
        self._turns = Turns(self._log, self._model, parts.toolbox, self._prefix, parts.record)
        self._held = self._holder(compacting)
        self._afterwards = parts.afterwards()
        self._one = asyncio.Lock()
        self._arrived = asyncio.Event()
        self._is_closed = False
        self._in_flight: asyncio.Task[TurnDone | None] | None = None
        self._is_answered = False
        self._is_background = False

    def _holder(self, compacting: TalkModel) -> Held:
        parts, mind = self._parts, self._settings.mind
        condensing = Condensing(
            parts.database,
            parts.settings.house,
            parts.agent,
            parts.clock,
            compacting,
            parts.material,
            parts.record,
            threshold_tokens=mind.compact_at_tokens,
        )
        making = Making(
            log=self._log,
            clock=parts.clock,
            path=state_path(parts.settings.runtime, parts.agent),
            belongs_to=f"{parts.settings.house}\n{parts.database.location}",
            prompts=parts.prompts,
            restarted=parts.contexts.restarted,
            compacted=parts.contexts.compacted,
            tools=parts.toolbox.specs,
            keep_warm_hours=mind.keep_warm_hours,
        )
        return Held(making, condensing, self._prefix)

    # Hearing

    def attach(self, channel: Channel) -> None:
        self._delivering.attach(channel)

    def detach(self, channel: Channel) -> None:
        """What is to be delivered by it waits until it is there again."""
        self._delivering.detach(channel)

    async def hear(self, said: Said) -> int:
        """Write down what somebody says; its number. It is answered by whoever runs the turns. What was heard under the
        same key before has the number it got then, or 0 where it was forgotten since."""
        said = checked(said)
        since = await asyncio.to_thread(self._parts.paused_since)
        if since:
            told = f"{local(since):%Y-%m-%d %H:%M}"
            raise Paused(f"Taking in is paused since {told}, so this was not heard. `recollect resume` goes on.")
        if said.at and await asyncio.to_thread(self._parts.was_paused_at, said.at):
            raise Paused("This was said while taking in was paused, and stays out.")
        entry = await asyncio.to_thread(self._log.hear, said)
        self._arrived.set()
        return entry.number if entry else 0

    def heard(self, channel: str, key: str) -> str:
        """The words that were heard under a channel's own name for them. Empty: none, or they were forgotten."""
        return self._log.heard(channel, key)

    async def withdraw(self, channel: str, address: str = "") -> int:
        """Take back what was said by this channel and waits still; how many messages."""
        return await asyncio.to_thread(self._log.withdraw, channel, address)

    async def withdraw_key(self, channel: str, key: str) -> bool:
        """Take back the one message that the channel knows by this name. False: it does not wait any more."""
        return await asyncio.to_thread(self._log.withdraw_key, channel, key)

    async def interrupt(self) -> bool:
        """Stop the turn that is in flight; what was said until then stays. False: none is."""
        return self._turns.interrupt()

    def latest(self, number: int = 10) -> list[Spoken]:
        """What was said last, the oldest first."""
        return self._delivering.latest(number)

    # Turns

    async def write_first(
        self, text: str, place: tuple[str, str], topic: str, last_number: int, forgotten: int | None = None
    ) -> Written | None:
        """Say something that nobody asked for (`Log.write_first`), and have it delivered. Who only looks for work, or
        delivers, is waited for."""
        if await asyncio.to_thread(self._log.has_work):
            return None
        async with self._one:
            written = await asyncio.to_thread(self._log.write_first, text, place, topic, last_number, forgotten)
            if written:
                await asyncio.to_thread(self._held.follow, written)
                await asyncio.to_thread(self._learn)
                self._afterwards.after([written.entry.message_id])
                self._arrived.set()
        return written

    async def run(self, *, is_background: bool = False) -> None:
        """Answer whatever comes, until `close`. `is_background`: a program in which nobody sits leaves what others hear
        to them, who show it as it comes; unless they are gone."""
        self._is_background = is_background
        opening = asyncio.ensure_future(self._model.abilities())  # So that who speaks first need not wait for it.
        try:
            await self._run()
        finally:
            opening.cancel()

    async def _run(self) -> None:
        failures = 0
        while not self._is_closed:
            self._arrived.clear()
            try:
                done = await self.turn()
                if done is None:
                    await self.rest()
                seconds, failures = 0.0 if done else LOOK_SECONDS, 0
            except Unavailable:  # The database: the turn stays open. It may have been paid for, so not at once again.
                failures += 1
                seconds = min(RETRY_SECONDS * 2**failures, LONGEST_RETRY_SECONDS)
            except asyncio.CancelledError:
                if self._is_closed:
                    return
                raise
            if seconds and not self._is_closed:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._arrived.wait(), seconds)

    async def turn(self) -> TurnDone | None:
        """Take all that waits as one turn, if it is ours to do. None: nothing waits, or another program has it."""
        self._in_flight = asyncio.ensure_future(self._turn())
        return await self._in_flight

    async def _turn(self) -> TurnDone | None:
        async with self._one:
            done, self._is_answered = None, False
            while await asyncio.to_thread(self._has_work) and await self._hold():
                with suppress(Overtaken):  # It goes on with what stands in the log, if it is still ours.
                    done = await self._answered()
                    break
            self._is_answered = True
            if self._is_background and self._holding.is_held and not self._held.condensing.is_running:
                await asyncio.to_thread(self._holding.let_go)
            await self._delivering.deliver(done.turn if done else 0)
            return done

    def _has_work(self) -> bool:
        if not self._is_background:
            return self._log.has_work()
        before = self._parts.clock() - timedelta(seconds=ORPHAN_SECONDS)
        return self._log.has_work_for(self._delivering.names, to_text(before))

    async def _hold(self) -> bool:
        before = self._holding.takings
        is_ours = await asyncio.to_thread(self._holding.hold)
        if is_ours and self._holding.takings != before:
            await asyncio.to_thread(self._delivering.doubt)
        return is_ours

    async def _answered(self) -> TurnDone | None:
        abilities = await self._able()
        conversation = await self._held.ready(abilities)
        taken = await asyncio.to_thread(self._log.begin)
        if taken is None:
            return None
        self._turn_name = f"{self._parts.agent.rpartition('/')[2]}#{taken.turn}"
        if taken.attempts > MOST_ATTEMPTS:
            return await self._given_up(taken)
        if not await self._held.begin(taken, conversation, self._turn_name):
            await asyncio.to_thread(self._log.end, taken, TurnState.STOPPED)
            return None
        show = self._delivering.shower(taken.places)
        show(Began(turn=taken.turn, messages=sum(one.entry.role is Role.USER for one in taken.written)))
        try:
            ended = await self._turns.run(taken, conversation, self._held.system, show)
        except Overtaken:
            show(Again())
            raise
        self._is_answered = True
        await self._after(taken, conversation, ended, abilities)
        return TurnDone(
            turn=taken.turn,
            state=ended.state,
            reason=ended.reason,
            context_tokens=self._held.context_tokens,
            tools=ended.tools,
            error=ended.error,
        )

    async def _able(self) -> Abilities:
        """Asked each time: what could not be asked of the provider once may be later. A model that refused a length
        reads less than it says."""
        abilities = await self._model.abilities()
        most = min(abilities.most_input_tokens, self._turns.most_tokens or abilities.most_input_tokens)
        return replace(abilities, most_input_tokens=most)

    async def _given_up(self, taken: Taken) -> TurnDone:
        """Each attempt is paid for, and this one always ends in the middle."""
        reason = GIVEN_UP.format(number=taken.attempts - 1)
        await asyncio.to_thread(self._log.end, taken, TurnState.FAILED, reason)
        return TurnDone(turn=taken.turn, state=TurnState.FAILED, reason=reason, context_tokens=0)

    # After a turn

    async def _after(self, taken: Taken, conversation: Conversation, ended: Ended, abilities: Abilities) -> None:
        await self._held.keep(conversation, taken.turn, ended.context_tokens)
        await asyncio.to_thread(self._learn)
        written = await asyncio.to_thread(self._log.of_turn, taken.turn)
        self._afterwards.after([one.entry.message_id for one in written])
        self._held.condense_if_due(abilities)

    def _learn(self) -> None:
        with suppress(RecollectError):  # What was said is history: it is read for markers again.
            self._parts.learn()

    # In a silence

    async def rest(self) -> datetime | None:
        """What is to be done while nobody speaks; when to come again. None: not before somebody does."""
        return None if self._one.locked() else await self._held.warm(self._model, self._turns.last_request)

    async def _end_flight(self, seconds: float) -> None:
        """An answer that is there is given the time to be delivered: else nobody knew whether it arrived."""
        if self._in_flight is None or self._in_flight.done():
            return
        if self._is_answered:
            await asyncio.wait([self._in_flight], timeout=seconds)
        self._in_flight.cancel()
        with suppress(asyncio.CancelledError, RecollectError):
            await self._in_flight

    async def settle(self) -> None:
        """Wait for what goes on in the background."""
        await self._held.condensing.settle()
        await self._afterwards.settle()

    async def close(self, seconds: float = DELIVERY_SECONDS) -> None:
        """A turn that is in flight stays open: the next program goes on with it. `seconds`: for answers on the way."""
        self._is_closed = True
        self._arrived.set()
        until = asyncio.get_running_loop().time() + seconds
        await self._end_flight(seconds)
        await self._delivering.close(max(0.0, until - asyncio.get_running_loop().time()))
        await self._held.condensing.close()
        await self._afterwards.close()
        await self._model.close()
        await asyncio.to_thread(self._holding.let_go)


def _quiet_hours(text: str) -> QuietHours | None:
    """A mistake in them keeps nobody from being answered: the heartbeat refuses it, and doctor tells of it."""
    try:
        return QuietHours.parse(text)
    except Invalid:
        return None
