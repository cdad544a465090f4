"""Weeks of a person, their computer and an agent that may write first: lived through the real heartbeat, mind and
diary, by a clock that is moved, with a scripted model (`heartbeat_plan`). Beside it goes a `Watch`, which is told what
happens and says what would have been allowed.

The loop is that of the daemon: look whether a moment is due, claim it, have it. The clock jumps to what comes next.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import heartbeat_plan
from heartbeat_plan import Change, Plan, Saying
from heartbeat_watch import Watch

import recollect
from recollect.errors import Unavailable
from recollect.llm.talking import Request
from recollect.mind.channel import Reply, Said, Shown
from recollect.mind.heartbeat.heartbeat import Considered, Heartbeat
from recollect.mind.heartbeat.ticks import Moment
from recollect.mind.mind import Mind
from recollect.testing import FrozenClock
from recollect.testing.scripted import ScriptedModel
from recollect.testing.scripted_talk import ScriptedTalk, Step, use

MODEL = "anthropic:claude-haiku-5-5"
CHANNEL, ADDRESS = "telegram", "42"
LOOK_SECONDS = 15
"""So late at the most does the daemon see that a moment has come."""
MORNING = 8
"""When somebody may be written to again who asked not to be today."""
SETTINGS = """\
house = "life"
zone = "{zone}"
user_name = "Robin"

[heartbeat]
model = "{model}"
schedule = "{schedule}"
reflection = "{reflection}"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Had:
    """One moment, as it was had."""

    at: datetime
    zone: str
    outcome: str
    reason: str
    rules: tuple[str, ...]
    """That held it back, by its own word."""
    expected: tuple[str, ...]
    """Those by the watch."""
    was_asked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """A moment in which it looked back."""

    at: datetime
    zone: str
    outcome: str
    wrote: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class Lived:
    watch: Watch
    unruled: Counter[str]
    """What a message at every moment would have broken; `messages`: how many there would have been."""
    moments: list[Had] = field(default_factory=list[Had])
    reflections: list[Entered] = field(default_factory=list[Entered])
    arrived: list[tuple[datetime, str]] = field(default_factory=list[tuple[datetime, str]])
    """What it wrote first, when it reached the person."""
    said: int = 0
    on: list[tuple[datetime, datetime]] = field(default_factory=list[tuple[datetime, datetime]])
    """When the computer ran, by its own clock."""
    events: list[Any] = field(default_factory=list[Any])
    """In runs: of the heartbeat, of looking back, and of what the model took for both."""
    diary: list[str] = field(default_factory=list[str])

    @property
    def disagreements(self) -> list[Had]:
        return [one for one in self.moments if set(one.rules) != set(one.expected)]


class Phone:
    """The channel, with a line that is down at times."""

    name = CHANNEL
    says_again = True

    def __init__(self, arrive: Callable[[Reply], None]) -> None:
        self._arrive = arrive
        self.is_down = False

    def show(self, address: str, shown: Shown) -> None:
        """Typing, which nobody looks at here."""

    async def deliver(self, address: str, reply: Reply) -> None:
        if self.is_down:
            raise Unavailable("The line is down.")
        self._arrive(reply)


class Life:
    def __init__(
        self, plan: Plan, home: Path, database: str = "", furnish: Callable[[Any], None] | None = None
    ) -> None:
        """`furnish`: puts something into the house before it is lived in."""
        self._plan = plan
        self._home = home
        self._database = database or str(home / "life.db")
        self._furnish = furnish
        self._chance = random.Random(plan.seed + 2)
        self._now = plan.start
        """As it is; what the computer shows may be something else."""
        self._wrong = timedelta()
        self._clock = FrozenClock(plan.start)
        self._is_on, self._on_since = True, plan.start
        self._sayings = plan.sayings()
        self._changes = plan.changes()
        self._reactions: list[Saying] = []
        self._is_answer = False
        """Who speaks now answers what it wrote first."""
        self._held: asyncio.Event | None = None
        """An answer that takes an hour comes when this is set."""
        self._asked = asyncio.Event()
        self._turn: asyncio.Task[Any] | None = None
        self._turn_ends = plan.end
        self._heard_since = 0
        """Messages while a turn is open, which are not of it."""
        self._is_waiting = False
        """Something is to be answered or to be sent."""
        self._phone = Phone(self._arrive)
        self._unruled = Watch(zone=plan.zone, has_place=True)
        self.lived = Lived(watch=Watch(zone=plan.zone), unruled=Counter())

    # The house

    def live(self) -> Lived:
        self._home.mkdir(parents=True, exist_ok=True)
        is_new = True
        while self._now < self._plan.end:
            zone = self._plan.zone_at(self._now)
            values = {"zone": zone, "schedule": self._plan.schedule, "reflection": self._plan.reflection}
            (self._home / "recollect.toml").write_text(SETTINGS.format(model=MODEL, **values), encoding="utf-8")
            self.lived.watch.zone = self._unruled.zone = zone
            with recollect.open(home=self._home, database=self._database, clock=self._clock) as memory:
                if is_new and self._furnish:
                    self._furnish(memory)
                is_new = False
                asyncio.run(self._while_here(memory))
        return self.lived

    async def _while_here(self, memory: recollect.Memory) -> None:
        """Until the end, or until the program starts anew in another zone."""
        talk = ScriptedTalk(self._answer)
        mind = memory.mind(open_model=lambda: talk)
        mind.attach(self._phone)
        chat = ScriptedModel(self._decide, name=MODEL, is_paid=True)
        diary = ScriptedTalk(self._look_back, name=MODEL, is_paid=True)
        heartbeat = memory.heartbeat(mind=mind, open_chat=lambda: chat, open_talk=lambda: diary)
        try:
            while self._now < self._plan.end:
                if not await self._step(memory, mind, heartbeat):
                    return
        finally:
            await self._end_turn(mind)
            await mind.close()
        self._note_end(memory)

    def _note_end(self, memory: recollect.Memory) -> None:
        lived = self.lived
        if self._is_on:
            lived.on.append((self._on_since, self._clock()))
        for name in ("heartbeat", "reflection", "model"):
            lived.events += memory.runs.latest(name, limit=100_000)
        lived.diary = sorted(one.name for one in memory.notes.diary.list(limit=100_000))

    # One step

    async def _step(self, memory: recollect.Memory, mind: Mind, heartbeat: Heartbeat) -> bool:
        """False: it starts anew."""
        self._now = max(self._now, self._next(heartbeat))
        self._clock.now = self._now + self._wrong
        goes_on = True
        while self._changes and self._changes[0].at <= self._now:
            goes_on = self._change(self._changes.pop(0), memory) and goes_on
        if not goes_on or not self._is_on or self._now >= self._plan.end:
            return goes_on
        if self._turn and self._turn_ends <= self._now:
            await self._end_turn(mind)
        for queue in (self._sayings, self._reactions):
            while queue and queue[0].at <= self._now:
                await self._say(queue.pop(0), mind)
        for kind in Moment:
            if heartbeat.claim(kind):
                await self._have(kind, heartbeat)
        if (self._is_waiting or self.lived.watch.undelivered) and not self._turn:
            await self._take_turn(mind)
        return True

    def _next(self, heartbeat: Heartbeat) -> datetime:
        times = [self._plan.end, *(one.at for one in self._changes[:1])]
        if self._is_on:
            times += [one.at for queue in (self._sayings, self._reactions) for one in queue[:1]]
            times += [self._turn_ends] if self._turn else []
            late = timedelta(seconds=self._chance.uniform(0, LOOK_SECONDS))
            times += [due - self._wrong + late for kind in Moment if (due := heartbeat.due_at(kind))]
        return min(times)

    def _change(self, change: Change, memory: recollect.Memory) -> bool:
        match change.kind:
            case "on":
                self._is_on, self._on_since = True, self._clock()
            case "off":
                self._is_on = False
                self.lived.on.append((self._on_since, self._clock()))
            case "clock":
                if self._is_on:
                    self.lived.on.append((self._on_since, self._clock()))
                self._wrong = timedelta(hours=float(change.value or 0))
                self._clock.now = self._on_since = self._now + self._wrong
            case "line":
                self._phone.is_down = bool(change.value)
                self._is_waiting = True
            case "place":
                memory.places.allow(CHANNEL, ADDRESS, "Robin")
                self.lived.watch.has_place = True
            case "zone":
                return False
        return True

    # Talking

    async def _say(self, saying: Saying, mind: Mind) -> None:
        at, watch = self._clock(), self.lived.watch
        channel, address = (CHANNEL, ADDRESS) if watch.has_place else ("terminal", "")
        await mind.hear(Said(text=saying.text, channel=channel, address=address))
        for one in (watch, self._unruled):
            one.said(at)
            self._heed(saying.text, at, one)
        self.lived.said += 1
        self._is_waiting = True
        self._heard_since += self._turn is not None
        if saying.is_long and not self._turn:
            self._held, self._asked = asyncio.Event(), asyncio.Event()
            self._turn_ends = self._now + timedelta(minutes=self._chance.uniform(30, 75))

    def _heed(self, text: str, at: datetime, watch: Watch) -> None:
        """What these words mean, to who reads them."""
        wall = at.astimezone(ZoneInfo(watch.zone))
        match text:
            case heartbeat_plan.NEVER:
                watch.is_unwelcome = True
            case heartbeat_plan.AGAIN:
                watch.is_unwelcome, watch.not_before = False, None
            case heartbeat_plan.NEVER_ABOUT:
                watch.topics.add("boat")
            case heartbeat_plan.ABOUT_AGAIN:
                watch.topics.discard("boat")
            case heartbeat_plan.NOT_TODAY:
                morning = datetime.combine(wall.date() + timedelta(days=1), time(MORNING), wall.tzinfo)
                watch.wait_until(morning.astimezone(UTC))
            case heartbeat_plan.THREE_DAYS:
                watch.wait_until(at + timedelta(days=3))
            case heartbeat_plan.NOT_NOW if self._is_answer:
                watch.wait_until(at + timedelta(hours=12))
            case _:
                pass

    async def _take_turn(self, mind: Mind) -> None:
        """Answer what waits; and send what does, if the line is there."""
        self._is_waiting = False
        self._turn = asyncio.ensure_future(mind.turn())
        if self._held:
            self.lived.watch.is_turn_open = self._unruled.is_turn_open = True
            await self._asked.wait()  # What is said from now on is not of this turn.
            return
        await self._end_turn(mind)

    async def _end_turn(self, mind: Mind) -> None:
        if self._turn is None:
            return
        if self._held:
            self._held.set()
        turn, self._turn, self._held = self._turn, None, None
        done = await turn
        if done:
            self._is_answer = False
            for watch in (self.lived.watch, self._unruled):
                watch.answered(self._clock(), self._heard_since)
        self._is_waiting, self._heard_since = self._heard_since > 0, 0

    def _answer(self, request: Request) -> Step:
        text = heartbeat_plan.sentence(self._chance, self._plan.words * 2)
        self._asked.set()
        return [self._held, text] if self._held else text

    def _arrive(self, reply: Reply) -> None:
        if reply.is_first:
            self.lived.arrived.append((self._clock(), reply.text))
            self.lived.watch.delivered(self._clock())

    # Moments

    async def _have(self, kind: Moment, heartbeat: Heartbeat) -> None:
        at, watch = self._clock(), self.lived.watch
        expected = tuple(watch.forbidden(at))
        had = await heartbeat.run(kind)
        if not isinstance(had, Considered):
            wrote = had.reflected.wrote if had.reflected else ()
            self.lived.reflections.append(Entered(at=at, zone=watch.zone, outcome=had.outcome, wrote=wrote))
            return
        self._write_unruled(at)
        rules = tuple(one.rule for one in had.verdicts if not one.is_allowed)
        self.lived.moments.append(
            Had(
                at=at,
                zone=watch.zone,
                outcome=had.outcome,
                reason=had.reason,
                rules=rules,
                expected=expected,
                was_asked=had.context is not None,
            )
        )
        if had.outcome == "yes" and had.decision:
            watch.wrote(at, had.decision.message)
            self._is_answer, self._is_waiting = True, True
            reaction = self._plan.reaction(self._chance, self._now)
            self._reactions += [reaction] if reaction else []
            self._reactions.sort(key=lambda one: one.at)

    def _write_unruled(self, at: datetime) -> None:
        """The same moment without rules, before a model that always writes."""
        before = Counter(self._unruled.broken)
        topic = self._chance.choice(heartbeat_plan.TOPICS)
        self._unruled.wrote(at, topic)
        self._unruled.undelivered = 0
        self.lived.unruled.update(self._unruled.broken - before)
        self.lived.unruled["messages"] += 1

    def _decide(self, system: str, prompt: str, schema: type[Any]) -> dict[str, Any]:
        topic = self._chance.choice(heartbeat_plan.TOPICS)
        if self._chance.random() >= self._plan.yes_share:
            return {"reason": "Nothing has come of it yet, and the morning is full enough.", "reach_out": False}
        message = f"About the {topic}: " + heartbeat_plan.sentence(self._chance, 3 * self._plan.words)
        reason = f"The {topic} was left open, and it is due by now."
        return {"reason": reason, "reach_out": True, "topic": f"the {topic}", "message": message}

    def _look_back(self, request: Request) -> Step:
        """Search, write, and be done."""
        asked = len(request.turns) // 2
        if asked < self._plan.searches:
            return use("search_memory", {"query": heartbeat_plan.sentence(self._chance, 4)})
        text = heartbeat_plan.sentence(self._chance, 3 * self._plan.words)
        return use("write_diary", {"text": text}) if asked == self._plan.searches else "That was the day."
