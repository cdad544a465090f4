"""Keeps the mind of a daemon awake: who can be reached by a channel, answers, and has moments of its own.

One thread with an event loop: the mind in the background, each channel that the settings ask for, and the heartbeat. A
channel that fails is opened again after a while and stops nothing else; what fails is told to `doctor`. It never ends
the daemon (`supervision`). Without a model that answers (`mind.model`) none of it is there.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING

from recollect.clock import to_text
from recollect.errors import RecollectError, reason_of
from recollect.loading import load_package
from recollect.memory import Memory
from recollect.supervision import Shift, Supervised

if TYPE_CHECKING:
    from recollect.channels.kinds import Kind
    from recollect.llm.model import ChatModel
    from recollect.llm.talking import TalkModel
    from recollect.mind.heartbeat.heartbeat import Heartbeat
    from recollect.mind.mind import Mind

RETRY_SECONDS = 5.0
"""After an error; longer after each further one."""
LONGEST_RETRY_SECONDS = 600.0
SETTLED_SECONDS = 3.0
"""A channel that was opened again and has run for so long is well."""
DELIVERY_SECONDS = 2.5
"""At the end of the daemon, for an answer that is on its way: a part of the time that all parts have to end."""
BEAT_SECONDS = 15.0
"""How often it is looked whether a moment has come: by the clock on the wall, so that a sleep of the computer or a
change of its clock is seen."""
UNASKED = ("quiet", "skipped", "paused")
"""What comes of a moment in which no model was asked."""
NO_DECISION = "Its model gave no answer that could be read."


@dataclass(frozen=True, slots=True, kw_only=True)
class MindingProgress:
    is_at_work: bool = False
    """False: no model is set that could answer."""
    channels: dict[str, str] = field(default_factory=dict[str, str])
    """Those that the settings ask for, each with what is the matter with it; empty: all is well."""
    outreach_due_at: str = ""
    reflection_due_at: str = ""
    problem: str = ""
    restarts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """In the place of those of the settings."""

    mind: "Callable[[], TalkModel] | None" = None
    decision: "Callable[[], ChatModel] | None" = None
    reflection: "Callable[[], TalkModel] | None" = None


class Minding:
    def __init__(
        self,
        memory: Memory,
        tell: Callable[[MindingProgress], None],
        models: Models | None = None,
        kinds: "Callable[[], dict[str, Kind]] | None" = None,
    ) -> None:
        """`tell` is called from both threads."""
        self._memory = memory
        self._tell = tell
        self._models = models or Models()
        self._kinds = kinds
        self._progress = MindingProgress()
        self._recorded: dict[str, str] = {}
        self.part = Supervised("mind", self._work, on_crash=self._note_crash, clock=memory.clock)

    # Called by the daemon

    @property
    def is_wanted(self) -> bool:
        return bool(self._memory.settings.mind.model or self._models.mind)

    def load(self) -> None:
        """Before there are threads (`loading`). What another package registered loads what it likes."""
        if self.is_wanted:
            import_module("recollect.wiring")
            packages = {type(kind).__module__.rpartition(".")[0] for kind in self._wanted_kinds()}
            for name in sorted(packages):
                if name.startswith("recollect.channels."):
                    load_package(name)

    def start(self) -> None:
        if self.is_wanted:
            self.part.start()

    # In its thread

    def _work(self, shift: Shift) -> None:
        asyncio.run(self._live(shift))

    def _note_crash(self, reason: str) -> None:
        self._progress = replace(self._progress, restarts=self.part.restarts)
        self._note("", reason)

    async def _live(self, shift: Shift) -> None:
        loop, leave = asyncio.get_running_loop(), asyncio.Event()
        shift.on_end(lambda: loop.call_soon_threadsafe(leave.set))
        if shift.ended.is_set():
            return
        from recollect.mind.visiting import Asked

        mind = self._memory.mind(open_model=self._models.mind)
        mind.attach(Asked())
        self._progress = replace(self._progress, is_at_work=True, channels={})
        heartbeat = await asyncio.to_thread(self._heartbeat, mind)
        running = asyncio.create_task(mind.run(is_background=True))
        beside = [asyncio.create_task(self._keep(kind, mind)) for kind in self._wanted_kinds()]
        if heartbeat:
            beside.append(asyncio.create_task(self._beat(heartbeat)))
        leaving = asyncio.create_task(leave.wait())
        self._note("", "")
        try:
            await asyncio.wait({running, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            try:
                await mind.close(DELIVERY_SECONDS)  # Before its channels: an answer that is on its way arrives by them.
            finally:
                for task in beside:
                    task.cancel()
                await asyncio.gather(*beside, return_exceptions=True)
            (ended,) = await asyncio.gather(running, return_exceptions=True)
        if isinstance(ended, Exception):
            raise ended

    # Channels

    def _wanted_kinds(self) -> "list[Kind]":
        from recollect.channels.kinds import wanted_kinds

        return wanted_kinds(self._memory.settings, self._kinds() if self._kinds else None)

    async def _keep(self, kind: "Kind", mind: "Mind") -> None:
        """One channel, opened again whenever it fails."""
        failures, reason = 0, ""
        self._note(kind.name, "")
        while True:
            begun = time.monotonic()
            settled = asyncio.get_running_loop().call_later(SETTLED_SECONDS, self._settle, kind.name, reason)
            try:
                await self._run(kind, mind)
                reason = "it ended by itself"
            except Exception as error:  # noqa: BLE001 - a channel that is broken stops no other one
                reason = reason_of(error)
            finally:
                settled.cancel()
            failures = _counted(failures, begun)
            self._note(kind.name, reason)
            await asyncio.sleep(min(RETRY_SECONDS * failures, LONGEST_RETRY_SECONDS))

    def _settle(self, name: str, reason: str) -> None:
        """It was opened again, and goes on: why it had ended is over, unless it tells something else by itself."""
        if reason and self._progress.channels.get(name) == reason:
            self._note(name, "")

    async def _run(self, kind: "Kind", mind: "Mind") -> None:
        from recollect.channels.kinds import door_of

        door = door_of(self._memory, mind, lambda problem: self._note(kind.name, problem))
        post = await asyncio.to_thread(kind.open, door)
        try:
            mind.attach(post)
            await post.run()
        finally:
            mind.detach(post)
            await post.close()

    # Moments

    def _heartbeat(self, mind: "Mind") -> "Heartbeat | None":
        """A mistake in its settings keeps nobody from being answered."""
        models = self._models
        if not (self._memory.settings.heartbeat.model or models.decision):
            return None
        try:
            return self._memory.heartbeat(
                mind=mind,
                open_chat=models.decision,
                open_talk=models.reflection,
                channels=frozenset(kind.name for kind in self._wanted_kinds()),
            )
        except RecollectError as error:
            self._note("heartbeat", str(error))
            return None

    async def _beat(self, heartbeat: "Heartbeat") -> None:
        from recollect.mind.heartbeat.ticks import Moment

        troubles: dict[Moment, str] = {}
        while True:
            try:
                for kind in Moment:
                    if await asyncio.to_thread(heartbeat.claim, kind):
                        done = await heartbeat.run(kind)
                        if done.outcome not in UNASKED:  # Else it is as it was.
                            troubles[kind] = _trouble_of(done.error)
                due = [await asyncio.to_thread(heartbeat.due_at, kind) for kind in Moment]
                self._note_due(*(to_text(one) if one else "" for one in due))
                self._note("heartbeat", next(filter(None, troubles.values()), ""))
            except Exception as error:  # noqa: BLE001 - the next moment comes, and doctor shows the reason
                self._note("heartbeat", reason_of(error))
            await asyncio.sleep(BEAT_SECONDS)

    # Telling

    def _note_due(self, outreach: str, reflection: str) -> None:
        progress = replace(self._progress, outreach_due_at=outreach, reflection_due_at=reflection)
        if progress != self._progress:
            self._progress = progress
            self._tell(progress)

    def _note(self, part: str, problem: str) -> None:
        """`part`: a channel, or `heartbeat`; empty: all of it. Each problem is recorded once, however often it is
        met."""
        if problem and self._recorded.get(part) != problem:
            with suppress(RecollectError):  # The database may be what fails.
                self._memory.runs.record("mind", "failed", 0.0, {"part": part or "all", "reason": problem})
        self._recorded[part] = problem
        if part:
            progress = replace(self._progress, channels={**self._progress.channels, part: problem})
        else:
            progress = replace(self._progress, problem=problem)
        if progress != self._progress or not part:
            self._progress = progress
            self._tell(progress)


def _counted(failures: int, begun: float) -> int:
    """One more; or the first, where it had gone well for long."""
    return 1 if time.monotonic() - begun > LONGEST_RETRY_SECONDS else failures + 1


def _trouble_of(error: RecollectError | None) -> str:
    """Why a model could not be asked. What it said stands in runs, where forgetting reaches it."""
    from recollect.llm.model import BadReply

    return NO_DECISION if isinstance(error, BadReply) else str(error or "")
