"""What a mind holds now: the array, the prompt before it, and how long and how warm both are.

It is made ready before each turn and kept after it. Nothing in it is an only copy.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from recollect.clock import Clock
from recollect.errors import RecollectError
from recollect.llm.talking import Abilities, Request, TalkModel, Tool
from recollect.mind.compaction.weighing import tokens_of_request
from recollect.mind.condensing import Condensing
from recollect.mind.conversation import Conversation, conversation_of
from recollect.mind.entries import Role, Standing, Written
from recollect.mind.log import Log, Taken
from recollect.mind.prefix import Prefix
from recollect.mind.prompt import Prompts
from recollect.mind.state import load, save
from recollect.mind.warming import Warmth

MOST_WINDOW = 0.95
"""Of what the model takes in. The rest is for its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """What the array and the prompt are made from."""

    log: Log
    clock: Clock
    path: Path
    """Of the saved state."""
    belongs_to: str
    """House and database."""
    prompts: Prompts
    restarted: Callable[[], None]
    """The prompt begins anew, because the program did."""
    compacted: Callable[[], None]
    """The same, because the conversation was condensed."""
    tools: tuple[Tool, ...]
    keep_warm_hours: float


class Held:
    warm_seconds = 20.0
    """Given to a touch of the cache: whoever speaks meanwhile waits for it."""

    def __init__(self, making: Making, condensing: Condensing, prefix: Prefix) -> None:
        self._making = making
        self._log = making.log
        self.condensing = condensing
        self._prefix = prefix
        self.warmth = Warmth()
        self.conversation: Conversation | None = None
        self.system: tuple[str, ...] = ()
        self.context_tokens = 0

    # Before a turn

    async def ready(self, abilities: Abilities) -> Conversation:
        """The array as it has to be sent next: with the summary that was made meanwhile, and not too long."""
        self.warmth.lifetime_seconds = abilities.cache_seconds
        while True:
            await self._take_summary()
            now = await asyncio.to_thread(self._log.standing)
            if self.conversation and self._is_just_condensed(self.conversation.standing, now):
                await self.condensing.settle()
                continue
            if self.conversation is None or self.conversation.standing != now:  # Forgotten, or another program.
                await self._load(self.conversation, abilities)
                continue
            self._condense_if_due(self.conversation, abilities)
            if not self.condensing.must_wait(self.context_tokens, abilities):
                self._cut_if_hopeless(self.conversation, abilities)
                return self.conversation
            await self.condensing.settle()

    async def _take_summary(self) -> None:
        row = self.condensing.taken()
        if row and self.conversation:
            self.conversation = self.conversation.condensed(row)
            self.conversation.forget_thinking()
            self._prefix.expect("compaction")
            await asyncio.to_thread(self._making.compacted)
            self.context_tokens = self._estimated(self.conversation)

    def _is_just_condensed(self, before: Standing, now: Standing) -> bool:
        """A summary of ours is written down already: it can be taken, now or in a moment."""
        is_alone = now != before and now == replace(before, compaction=now.compaction)
        return is_alone and self.condensing.has_more

    async def _load(self, before: Conversation | None, abilities: Abilities) -> None:
        if before is None:
            self._prefix.expect("restart")
            await asyncio.to_thread(self._making.restarted)
        made = await asyncio.to_thread(self.made, str(abilities.condensing))
        if before:
            is_forgotten = made.standing.forgotten != before.standing.forgotten
            self._prefix.expect("forgotten" if is_forgotten else "another program")
        prompt = await asyncio.to_thread(self._making.prompts, "", self._is_warm())
        self._prefix.expect(prompt.reason)
        self.system = prompt.system
        self.conversation, self.context_tokens = made, self._estimated(made)

    def made(self, accepts: str) -> Conversation:
        """From the saved state where it says what the database says, else from the log."""
        saved = load(self._making.path, self._log.standing(), self._making.belongs_to, accepts)
        return saved or conversation_of(*self._log.read(), accepts)

    def _estimated(self, conversation: Conversation) -> int:
        return tokens_of_request(Request(system=self.system, tools=self._making.tools, turns=conversation.turns))

    def _is_warm(self) -> bool:
        return self.warmth.is_warm(self._making.clock())

    def _cut_if_hopeless(self, conversation: Conversation, abilities: Abilities) -> None:
        """No summary could be made, and the model has no room for all of it: the oldest is left to the archive."""
        if self.context_tokens <= abilities.most_input_tokens * MOST_WINDOW:
            return
        self._prefix.expect("too long")
        conversation.keep_latest(abilities.most_input_tokens // 2)
        conversation.forget_thinking()
        self.context_tokens = self._estimated(conversation)

    async def begin(self, taken: Taken, conversation: Conversation, name: str) -> bool:
        """The turn stands at the end of the array, behind what changed in the notes. False: all that was asked in it
        was forgotten."""
        if taken.is_resumed:
            self._prefix.expect("resumed")  # Its thoughts went with the program that had them.
        conversation.begin(taken.turn, taken.written)
        if not conversation.exchange(taken.turn).turns:
            return False
        prompt = await asyncio.to_thread(self._making.prompts, name, self._is_warm())
        if prompt.system != self.system:
            self._prefix.expect(prompt.reason)
            conversation.forget_thinking()
        self.system = prompt.system
        if prompt.added:
            note = [{"type": "text", "text": prompt.added}]
            written = await asyncio.to_thread(self._log.add, taken.turn, Role.NOTE, note)
            conversation.begin(taken.turn, [*taken.written, written])
        return True

    def follow(self, written: Written) -> None:
        """The agent said something first. Where the array is what stood in the log before, it grows by that; else it is
        made again before the next turn, as ever."""
        conversation, now = self.conversation, self._log.standing()
        if conversation is None:
            return
        before = replace(now, last_number=conversation.standing.last_number, last_turn=conversation.standing.last_turn)
        is_next = now.last_turn == conversation.standing.last_turn + 1
        if before == conversation.standing and is_next and now.last_number == written.entry.number:
            conversation.begin(written.entry.turn, [written])
            self._save(conversation, now)

    # After a turn

    async def keep(self, conversation: Conversation, turn: int, context_tokens: int) -> None:
        """`turn`: the last one in the array. `context_tokens`: as the provider counted them; 0: it did not come to
        that."""
        self.context_tokens = context_tokens or self._estimated(conversation)
        if context_tokens:
            self.warmth.spoken(self._making.clock(), context_tokens)
        now = await asyncio.to_thread(self._log.standing)
        if now.last_turn == turn:  # Else another program wrote first meanwhile: the array is made again with that.
            await asyncio.to_thread(self._save, conversation, now)

    def _save(self, conversation: Conversation, now: Standing) -> None:
        """`now`: where the array stands, but for a summary that was made meanwhile and is not in it yet. What was
        forgotten meanwhile still is: then it is not saved, and the array is made again before the next turn."""
        if now.forgotten != conversation.standing.forgotten:
            return
        base = conversation.base.number if conversation.base else 0
        conversation.standing = replace(now, compaction=base)
        save(self._making.path, conversation, self._making.belongs_to)
        if self._log.standing().forgotten != now.forgotten:  # Whoever forgot may have looked before it was saved.
            with suppress(OSError):
                self._making.path.unlink()

    def condense_if_due(self, abilities: Abilities) -> None:
        if self.conversation:
            self._condense_if_due(self.conversation, abilities)

    def _condense_if_due(self, conversation: Conversation, abilities: Abilities) -> None:
        if self.condensing.is_due(self.context_tokens, abilities):
            self.condensing.start(conversation, self.system, self._making.tools, self.context_tokens, abilities)

    # In a silence

    async def warm(self, model: TalkModel, request: Request | None) -> datetime | None:
        """Touch the provider's cache of the last request, if it is time for that; when to come again."""
        hours, now = self._making.keep_warm_hours, self._making.clock()
        due = self.warmth.due_at(hours)
        if due is None or request is None or now < due:
            return due
        self.warmth.touched_at = now if await self._is_touched(model, request, now) else None
        return self.warmth.due_at(hours)

    async def _is_touched(self, model: TalkModel, request: Request, now: datetime) -> bool:
        if not self.warmth.is_warm(now) or await asyncio.to_thread(self._is_other):
            return False
        try:
            async with asyncio.timeout(self.warm_seconds):
                return bool((await model.warm(request)).calls)
        except (RecollectError, TimeoutError):
            return False  # Told in runs. It is filled again when somebody speaks.

    def _is_other(self) -> bool:
        """Whether the next request will begin otherwise: a summary was made, something was forgotten, or another
        program speaks by now."""
        return self.conversation is None or self._log.standing() != self.conversation.standing
