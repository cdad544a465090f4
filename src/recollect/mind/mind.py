"""Mind: the one object through which an agent is talked with. `memory.mind()`.

Used in one event loop. Several programs may have one for the same agent: all of them hear, and one of them, who holds
the lease, runs the turns. Each delivers the answers of the channels that are attached to it.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

from recollect.clock import Clock, local
from recollect.context import Contexts
from recollect.database import Database
from recollect.errors import RecollectError, Unavailable
from recollect.history.appending import Appending
from recollect.llm.talking import Abilities, Request, TalkModel
from recollect.mind.afterwards import Afterwards
from recollect.mind.channel import Again, Began, Channel, Said, ToolResult
from recollect.mind.compaction.weighing import tokens_of_request
from recollect.mind.condensing import Condensing, Material
from recollect.mind.conversation import Conversation, conversation_of
from recollect.mind.delivering import Delivering, Spoken
from recollect.mind.entries import Role, Standing, TurnState, Written
from recollect.mind.holding import Holding
from recollect.mind.log import Log, Overtaken, Taken
from recollect.mind.prefix import Prefix
from recollect.mind.prompt import Prompt, Prompts
from recollect.mind.saying import checked
from recollect.mind.state import load, save, state_path
from recollect.mind.tools import Toolbox
from recollect.mind.turns import Ended, Turns
from recollect.mind.warming import Warmth
from recollect.settings import Settings

LOOK_SECONDS = 0.5
"""How often a program looks for what others heard or answered."""
RETRY_SECONDS = 2.5
"""After the database could not be reached; doubled by each further failure."""
LONGEST_RETRY_SECONDS = 300.0
DELIVERY_SECONDS = 10.0
"""Given to an answer that is on its way when the program ends."""
MOST_WINDOW = 0.95
"""Of what the model takes in. The rest is for its answer."""

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
    """From markers in what was just said."""
    record: RecordRun
    paused_since: Callable[[], str | None]


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
    warm_seconds = 20.0
    """Given to a touch of the cache: whoever speaks meanwhile waits for it."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._settings = parts.settings
        house = parts.settings.house
        self._belongs_to = f"{house}\n{parts.database.location}"
        self._holding = Holding(parts.database, parts.settings, parts.clock, parts.agent)
        self._log = Log(parts.database, house, parts.clock, parts.agent, parts.appending, self._holding.is_ours)
        self._delivering = Delivering(parts.database, house, parts.clock, parts.agent, self._log)
        self._turn_name = ""
        self._model, compacting = parts.open_model(lambda: self._turn_name)
        self._prefix = Prefix()
        self._turns = Turns(self._log, self._model, parts.toolbox, self._prefix, parts.record)
        self._condensing = Condensing(
            parts.database,
            house,
            parts.agent,
            parts.clock,
            compacting,
            parts.material,
            parts.record,
            threshold_tokens=parts.settings.mind.compact_at_tokens,
        )
        self._afterwards = parts.afterwards()
        self._warmth = Warmth()
        self._conversation: Conversation | None = None
        self._system: tuple[str, ...] = ()
        self._context_tokens = 0
        self._one = asyncio.Lock()
        self._arrived = asyncio.Event()
        self._is_closed = False
        self._in_flight: asyncio.Task[TurnDone | None] | None = None
        self._is_answered = False

    # Hearing

    def attach(self, channel: Channel) -> None:
        self._delivering.attach(channel)

    async def hear(self, said: Said) -> int:
        """Write down what somebody says; its number. It is answered by whoever runs the turns."""
        said = checked(said)
        since = await asyncio.to_thread(self._parts.paused_since)
        if since:
            told = f"{local(since):%Y-%m-%d %H:%M}"
            raise Unavailable(f"Taking in is paused since {told}: `recollect resume` goes on. Nothing was sent.")
        entry = await asyncio.to_thread(self._log.hear, said)
        self._arrived.set()
        return entry.number

    async def withdraw(self, channel: str, address: str = "") -> int:
        """Take back what was said by this channel and waits still; how many messages."""
        return await asyncio.to_thread(self._log.withdraw, channel, address)

    async def interrupt(self) -> bool:
        """Stop the turn that is in flight; what was said until then stays. False: none is."""
        return self._turns.interrupt()

    def latest(self, number: int = 10) -> list[Spoken]:
        """What was said last, the oldest first."""
        return self._delivering.latest(number)

    # Turns

    async def run(self) -> None:
        """Answer whatever comes, until `close`."""
        opening = asyncio.ensure_future(self._able())  # So that who speaks first need not wait for it.
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
            while await asyncio.to_thread(self._log.has_work) and await self._hold():
                with suppress(Overtaken):  # It goes on with what stands in the log, if it is still ours.
                    done = await self._answered()
                    break
            self._is_answered = True
            await self._delivering.deliver(done.turn if done else 0)
            return done

    async def _hold(self) -> bool:
        before = self._holding.takings
        is_ours = await asyncio.to_thread(self._holding.hold)
        if not is_ours:
            self._conversation = None
        elif self._holding.takings != before:
            await asyncio.to_thread(self._delivering.doubt)
        return is_ours

    async def _answered(self) -> TurnDone | None:
        abilities = await self._able()
        conversation = await self._ready(abilities)
        taken = await asyncio.to_thread(self._log.begin)
        if taken is None:
            return None
        self._turn_name = f"{self._parts.agent.rpartition('/')[2]}#{taken.turn}"
        conversation.begin(taken.turn, taken.written)
        if not conversation.exchange(taken.turn).turns:  # All of it was forgotten.
            await asyncio.to_thread(self._log.end, taken, TurnState.STOPPED)
            return None
        await self._tell_prompt(taken, conversation)
        show = self._delivering.shower(taken.places)
        show(Began(turn=taken.turn, messages=sum(one.entry.role is Role.USER for one in taken.written)))
        try:
            ended = await self._turns.run(taken, conversation, self._system, show)
        except Overtaken:
            show(Again())
            raise
        self._is_answered = True
        await self._after(taken, conversation, ended, abilities)
        return TurnDone(
            turn=taken.turn,
            state=ended.state,
            reason=ended.reason,
            context_tokens=self._context_tokens,
            tools=ended.tools,
            error=ended.error,
        )

    async def _able(self) -> Abilities:
        """Asked each time: what could not be asked of the provider once may be later."""
        abilities = await self._model.abilities()
        self._warmth.lifetime_seconds = abilities.cache_seconds
        most = min(abilities.most_input_tokens, self._turns.most_tokens or abilities.most_input_tokens)
        return replace(abilities, most_input_tokens=most)

    # Before a turn

    async def _ready(self, abilities: Abilities) -> Conversation:
        """The array as it has to be sent next: with the summary that was made meanwhile, and not too long."""
        while True:
            await self._take_summary()
            now = await asyncio.to_thread(self._log.standing)
            if self._conversation and self._is_just_condensed(self._conversation.standing, now):
                await self._condensing.settle()
                continue
            if self._conversation is None or self._conversation.standing != now:  # Forgotten, or another program.
                await self._load(self._conversation, abilities)
                continue
            self._condense_if_due(self._conversation, abilities)
            if not self._condensing.must_wait(self._context_tokens, abilities):
                self._cut_if_hopeless(self._conversation, abilities)
                return self._conversation
            await self._condensing.settle()

    async def _take_summary(self) -> None:
        row = self._condensing.taken()
        if row and self._conversation:
            self._conversation = self._conversation.condensed(row)
            self._conversation.forget_thinking()
            self._prefix.expect("compaction")
            await asyncio.to_thread(self._parts.contexts.compacted)
            self._context_tokens = self._estimated(self._conversation)

    def _is_just_condensed(self, before: Standing, now: Standing) -> bool:
        """A summary of ours is written down already, and in a moment it can be taken."""
        is_alone = now != before and now == replace(before, compaction=now.compaction)
        return is_alone and self._condensing.is_running

    async def _load(self, before: Conversation | None, abilities: Abilities) -> None:
        if before is None:
            self._prefix.expect("restart")
            await asyncio.to_thread(self._parts.contexts.restarted)
        made = await asyncio.to_thread(self._made, str(abilities.condensing))
        if before:
            is_forgotten = made.standing.forgotten != before.standing.forgotten
            self._prefix.expect("forgotten" if is_forgotten else "another program")
        prompt = await asyncio.to_thread(self._parts.prompts, "", self._is_warm())
        self._prefix.expect(prompt.reason)
        self._system = prompt.system
        self._conversation, self._context_tokens = made, self._estimated(made)

    def _made(self, accepts: str) -> Conversation:
        path = state_path(self._settings.runtime, self._parts.agent)
        saved = load(path, self._log.standing(), self._belongs_to, accepts)
        return saved or conversation_of(*self._log.read(), accepts)

    def _estimated(self, conversation: Conversation) -> int:
        request = Request(system=self._system, tools=self._parts.toolbox.specs, turns=conversation.turns)
        return tokens_of_request(request)

    def _is_warm(self) -> bool:
        return self._warmth.is_warm(self._parts.clock())

    def _cut_if_hopeless(self, conversation: Conversation, abilities: Abilities) -> None:
        """No summary could be made, and the model has no room for all of it: the oldest is left to the archive."""
        if self._context_tokens <= abilities.most_input_tokens * MOST_WINDOW:
            return
        self._prefix.expect("too long")
        conversation.keep_latest(abilities.most_input_tokens // 2)
        conversation.forget_thinking()
        self._context_tokens = self._estimated(conversation)

    async def _tell_prompt(self, taken: Taken, conversation: Conversation) -> None:
        prompt: Prompt = await asyncio.to_thread(self._parts.prompts, self._turn_name, self._is_warm())
        if prompt.system != self._system:
            self._prefix.expect(prompt.reason)
            conversation.forget_thinking()
        self._system = prompt.system
        if prompt.added:
            note = [{"type": "text", "text": prompt.added}]
            written: Written = await asyncio.to_thread(self._log.add, taken.turn, Role.NOTE, note)
            conversation.begin(taken.turn, [*taken.written, written])

    # After a turn

    async def _after(self, taken: Taken, conversation: Conversation, ended: Ended, abilities: Abilities) -> None:
        now = self._parts.clock()
        self._context_tokens = ended.context_tokens or self._estimated(conversation)
        if ended.context_tokens:
            self._warmth.spoken(now, ended.context_tokens)
        await asyncio.to_thread(self._keep, conversation)
        await asyncio.to_thread(self._learn)
        written = await asyncio.to_thread(self._log.of_turn, taken.turn)
        self._afterwards.after([one.entry.message_id for one in written])
        self._condense_if_due(conversation, abilities)

    def _keep(self, conversation: Conversation) -> None:
        """A summary that was made meanwhile is not in the array yet. What was forgotten meanwhile still is: then it is
        not saved, and the array is made again before the next turn."""
        now = self._log.standing()
        if now.forgotten != conversation.standing.forgotten:
            return
        base = conversation.base.number if conversation.base else 0
        conversation.standing = replace(now, compaction=base)
        path = state_path(self._settings.runtime, self._parts.agent)
        save(path, conversation, self._belongs_to)
        if self._log.standing().forgotten != now.forgotten:  # Whoever forgot may have looked before it was saved.
            with suppress(OSError):
                path.unlink()

    def _learn(self) -> None:
        with suppress(RecollectError):  # What was said is history: it is read for markers again.
            self._parts.learn()

    def _condense_if_due(self, conversation: Conversation, abilities: Abilities) -> None:
        if self._condensing.is_due(self._context_tokens, abilities):
            tools = self._parts.toolbox.specs
            self._condensing.start(conversation, self._system, tools, self._context_tokens, abilities)

    # In a silence

    async def rest(self) -> datetime | None:
        """What is to be done while nobody speaks; when to come again. None: not before somebody does."""
        now = self._parts.clock()
        due = self._warmth.due_at(self._settings.mind.keep_warm_hours)
        request = self._turns.last_request
        if due is None or request is None or now < due or self._one.locked():
            return due
        if not self._warmth.is_warm(now) or await asyncio.to_thread(self._is_other):
            self._warmth.touched_at = None
            return None
        try:
            async with asyncio.timeout(self.warm_seconds):
                usage = await self._model.warm(request)
        except (RecollectError, TimeoutError):
            self._warmth.touched_at = None  # Told in runs. It is filled again when somebody speaks.
            return None
        self._warmth.touched_at = now if usage.calls else None
        return self._warmth.due_at(self._settings.mind.keep_warm_hours)

    def _is_other(self) -> bool:
        """Whether the next request will begin otherwise: something was forgotten, or another program speaks by now."""
        now, before = self._log.standing(), self._conversation and self._conversation.standing
        return before is None or now != replace(before, compaction=now.compaction)

    async def _end_flight(self) -> None:
        """An answer that is there is given the time to be delivered: else nobody knew whether it arrived."""
        if self._in_flight is None or self._in_flight.done():
            return
        if self._is_answered:
            await asyncio.wait([self._in_flight], timeout=DELIVERY_SECONDS)
        self._in_flight.cancel()
        with suppress(asyncio.CancelledError, RecollectError):
            await self._in_flight

    async def settle(self) -> None:
        """Wait for what goes on in the background."""
        await self._condensing.settle()
        await self._afterwards.settle()

    async def close(self) -> None:
        """A turn that is in flight stays open: the next program goes on with it."""
        self._is_closed = True
        self._arrived.set()
        await self._end_flight()
        await self._condensing.close()
        await self._afterwards.close()
        await self._model.close()
        await asyncio.to_thread(self._holding.let_go)
