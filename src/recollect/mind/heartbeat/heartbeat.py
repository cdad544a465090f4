"""Heartbeat: the moments of one agent, when they come and what comes of them. `memory.heartbeat()`.

Rules are asked before the model, so that most moments cost nothing. What the model decides is held against the rules
once more, and against the conversation in the transaction that writes the message: whoever spoke meanwhile comes first.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from recollect.clock import Clock, local
from recollect.database import Database
from recollect.errors import RecollectError, Unavailable
from recollect.markers import MARK
from recollect.mind.entries import Written
from recollect.mind.heartbeat.awareness import Limits, QuietHours, Verdict, barred, judge
from recollect.mind.heartbeat.deciding import MOST_OUTPUT_TOKENS, SYSTEM_ALONE, Decision, plain, trigger_of
from recollect.mind.heartbeat.heeding import Heeding
from recollect.mind.heartbeat.reflecting import Reflected
from recollect.mind.heartbeat.schedule import Due, Schedule, check
from recollect.mind.heartbeat.seen import Seen, Wanted, see
from recollect.mind.heartbeat.ticks import Moment, Tick, TickStore
from recollect.mind.log import Log
from recollect.mind.places.places import Places
from recollect.mind.showing import shown_text
from recollect.runs.budget import OverBudget
from recollect.settings import HeartbeatSettings, Settings

if TYPE_CHECKING:
    from recollect.context import Context, Contexts
    from recollect.llm.model import ChatModel

AGAIN_MINUTES = {"skipped": 5, "failed": 30, "paused": 60}
"""After so long a reflection is tried again that a turn, a model that was away or a pause kept from being made."""
CUT_OFF_MINUTES = 60
"""After so long one is tried again of which nobody told the end: the program died in its middle."""
_LONGEST_AGAIN = timedelta(minutes=max(CUT_OFF_MINUTES, *AGAIN_MINUTES.values()))
WITHOUT_WORDS = "It would have written, and gave no words."
WITHOUT_TOPIC = "It would have written, and did not say about what: nobody could ask it never to write about that."
OVERTAKEN = "Somebody spoke in the meantime, and comes first."
FORGOTTEN = "Something was forgotten meanwhile, which it may have had in front of it: what it thought is not kept."

RecordRun = Callable[[str, str, float, dict[str, object]], None]
WriteFirst = Callable[[str, tuple[str, str], str, int, int], Awaitable[Written | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Considered:
    """One moment in which it could have written first."""

    seen: Seen
    verdicts: tuple[Verdict, ...]
    outcome: str
    """quiet (a rule), no, yes, failed; look: nobody was asked."""
    reason: str
    decision: Decision | None = None
    context: "Context | None" = None
    turn: int = 0
    """Of the conversation, where it wrote."""
    error: RecollectError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedBack:
    """One moment of reflection."""

    outcome: str
    """done, nothing, skipped (a turn runs), paused, failed."""
    reason: str = ""
    reflected: Reflected | None = None
    error: RecollectError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatParts:
    """What the moments of an agent are made of, all of it as the agent sees it."""

    database: Database
    settings: Settings
    clock: Clock
    agent: str
    """Its scope."""
    log: Log
    places: Places
    contexts: "Contexts"
    heeding: Heeding
    open_chat: "Callable[[], ChatModel]"
    reflect: Callable[[datetime], Awaitable[Reflected]]
    write_first: WriteFirst
    record: RecordRun
    paused_since: Callable[[], str | None]
    channels: frozenset[str] | None = None
    """By which something can be sent. None: nobody says."""


@dataclass(slots=True)
class _Course:
    """What is told of a moment in runs."""

    by: str
    started: float = field(default_factory=time.monotonic)


class Heartbeat:
    def __init__(self, parts: HeartbeatParts) -> None:
        self._parts = parts
        self._settings: HeartbeatSettings = parts.settings.heartbeat
        self._limits = Limits(
            quiet=QuietHours.parse(self._settings.quiet_hours), most_per_day=self._settings.most_per_day
        )
        self._schedules = {kind: self._schedule(kind) for kind in Moment}

    @property
    def is_wanted(self) -> bool:
        return bool(self._settings.model)

    # When

    def _schedule(self, kind: Moment) -> Schedule | None:
        name = "schedule" if kind is Moment.OUTREACH else "reflection"
        expression: str = getattr(self._settings, name).strip()
        if not expression:
            return None
        check(expression, f"heartbeat.{name}")
        seed = f"{self._parts.settings.house}/{self._parts.agent}/{kind}"
        return Schedule(expression=expression, jitter_minutes=self._settings.jitter_minutes, seed=seed)

    def due_at(self, kind: Moment) -> datetime | None:
        """When the next one of this kind is due, as it is kept. None: none is."""
        return self._take(kind, is_claimed=False)[1]

    def claim(self, kind: Moment) -> bool:
        """Whether it is due now, and ours: then it is not anybody's a second time."""
        return self._take(kind, is_claimed=True)[0]

    def _take(self, kind: Moment, *, is_claimed: bool) -> tuple[bool, datetime | None]:
        """Written only where something changes: this is asked every few seconds."""
        schedule = self._schedules[kind]
        if schedule is None:
            return False, None
        now, kept = self._parts.clock(), self._kept(kind)
        due = _standing(schedule, kept, now)
        after, is_ours = Tick(schedule=schedule.expression, due_at=due.due_at, ran_at=kept and kept.ran_at), False
        if kept and due.is_due:
            if not is_claimed:
                return False, kept.due_at  # Who only looks leaves it to be claimed.
            after, is_ours = Tick(schedule=schedule.expression, due_at=self._after_claim(kind, now), ran_at=now), True
        if after == kept:
            return False, due.due_at
        with self._parts.database.write() as session:
            store = TickStore(session, self._parts.settings.house, self._parts.agent)
            if kept is None:
                store.begin(kind, after)
                return False, after.due_at
            return store.move(kind, kept, after) and is_ours, after.due_at

    def _kept(self, kind: Moment) -> Tick | None:
        with self._parts.database.read() as session:
            return TickStore(session, self._parts.settings.house, self._parts.agent).get(kind)

    def _after_claim(self, kind: Moment, now: datetime, minutes: float | None = CUT_OFF_MINUTES) -> datetime:
        """A day has one reflection: until its end is told, and where it could not be, it is due once more before its
        usual time. None: it is done."""
        schedule = self._schedules[kind]
        assert schedule
        following = schedule.next_after(now)
        if kind is Moment.OUTREACH or minutes is None:
            return following
        return min(following, now + timedelta(minutes=minutes))

    def _end(self, kind: Moment, minutes: float | None) -> None:
        """`minutes`: after so many it comes again."""
        with self._parts.database.write() as session:
            store = TickStore(session, self._parts.settings.house, self._parts.agent)
            kept, now = store.get(kind), self._parts.clock()
            if kept:
                after = Tick(schedule=kept.schedule, due_at=self._after_claim(kind, now, minutes), ran_at=now)
                store.move(kind, kept, after)

    async def run(self, kind: Moment) -> Considered | LookedBack:
        """A moment whose time has come."""
        if kind is Moment.OUTREACH:
            return await self.consider(by="schedule")
        looked_back = await self.reflect(by="schedule")
        minutes = AGAIN_MINUTES.get(looked_back.outcome)
        is_over = isinstance(looked_back.error, OverBudget) or not isinstance(looked_back.error, Unavailable | None)
        await asyncio.to_thread(self._end, kind, None if is_over else minutes)
        return looked_back

    # Writing first

    def look(self) -> Considered:
        """What it sees, and what the rules say. Nobody is asked, and nothing comes of it."""
        seen, verdicts = self._look()
        held_back = [one.reason for one in verdicts if not one.is_allowed]
        return Considered(seen=seen, verdicts=verdicts, outcome="look", reason=" ".join(held_back))

    async def consider(self, *, by: str = "hand") -> Considered:
        """The whole of it: the rules, then the model, then the message. What goes wrong is an outcome too."""
        course = _Course(by)
        seen, verdicts = await asyncio.to_thread(self._look)
        held_back = [one for one in verdicts if not one.is_allowed]
        if held_back or seen.place is None:
            reason = " ".join(one.reason for one in held_back)
            return await self._ended(course, Considered(seen=seen, verdicts=verdicts, outcome="quiet", reason=reason))
        context = None
        try:
            context = await asyncio.to_thread(self._context, seen, seen.place[0])
            decision = await self._decided(context)
        except RecollectError as error:
            failed = Considered(
                seen=seen, verdicts=verdicts, outcome="failed", reason=str(error), context=context, error=error
            )
            return await self._ended(course, failed)
        return await self._ended(course, await self._acted(seen, verdicts, context, decision))

    def _look(self) -> tuple[Seen, tuple[Verdict, ...]]:
        parts, now = self._parts, self._parts.clock()
        parts.heeding.look()
        seen = see(
            parts.log,
            parts.places.list(),
            parts.heeding.standing(now),
            now,
            parts.paused_since() or "",
            Wanted(channel=self._settings.channel, messages=self._settings.messages, channels=parts.channels),
        )
        return seen, judge(seen.facts, self._limits)

    def _context(self, seen: Seen, channel: str) -> "Context":
        user = self._parts.settings.user_name or "the user"
        trigger = trigger_of(user, channel, seen.last, seen.facts.unwelcome_topics)
        return self._parts.contexts.outreach(trigger)

    async def _decided(self, context: "Context") -> Decision:
        frozen = "".join(one.text for one in context.sections if one.is_frozen)
        moving = "".join(one.text for one in context.sections if not one.is_frozen)
        model = self._parts.open_chat()
        try:
            reply = await model.complete(
                frozen.strip() or SYSTEM_ALONE, moving, Decision, most_output_tokens=MOST_OUTPUT_TOKENS
            )
        finally:
            await model.close()
        return plain(reply.value)

    async def _acted(
        self, seen: Seen, verdicts: tuple[Verdict, ...], context: "Context", decision: Decision
    ) -> Considered:
        def ended(outcome: str, reason: str, turn: int = 0) -> Considered:
            return Considered(
                seen=seen,
                verdicts=verdicts,
                outcome=outcome,
                reason=reason,
                decision=decision,
                context=context,
                turn=turn,
            )

        if not decision.reach_out:
            return ended("no", decision.reason)
        message, about = decision.message.strip(), decision.topic.strip()
        if not _can_be_seen(message):
            return ended("no", WITHOUT_WORDS)
        if not about:
            return ended("no", WITHOUT_TOPIC)
        now_seen, now_verdicts = await asyncio.to_thread(self._look)
        topic = barred(about, message, (*seen.facts.unwelcome_topics, *now_seen.facts.unwelcome_topics))
        if topic:
            return ended("quiet", f"It would have written about {topic!r}, which is not wanted.")
        held_back = [one.reason for one in now_verdicts if not one.is_allowed]
        if held_back or now_seen.place is None:
            return ended("quiet", " ".join(held_back))
        written = await self._parts.write_first(message, now_seen.place, about, seen.last_number, seen.forgotten)
        if written is None:
            return ended("quiet", OVERTAKEN)
        return ended("yes", decision.reason, written.entry.turn)

    async def _ended(self, course: _Course, considered: Considered) -> Considered:
        seen = considered.seen
        if considered.context and await asyncio.to_thread(self._forgotten) != seen.forgotten:
            considered = replace(considered, reason=FORGOTTEN, decision=None, context=None)
        detail: dict[str, object] = {
            "agent": self._parts.agent,
            "by": course.by,
            "reason": considered.reason,
            "rules": [one.rule for one in considered.verdicts if not one.is_allowed],
        }
        if considered.decision:
            detail["topic"] = considered.decision.topic
            detail["model"] = self._settings.model
        if seen.last and considered.context:
            detail["shown"] = [seen.last[0].entry.number, seen.last[-1].entry.number]
        if considered.turn and seen.place:
            detail["turn"], detail["channel"] = considered.turn, seen.place[0]
        seconds = time.monotonic() - course.started
        await asyncio.to_thread(self._parts.record, "heartbeat", considered.outcome, seconds, detail)
        return considered

    def _forgotten(self) -> int:
        return self._parts.log.standing().forgotten

    # Looking back

    async def reflect(self, *, by: str = "hand") -> LookedBack:
        course = _Course(by)
        looked_back = await self._looked_back()
        reflected = looked_back.reflected
        detail: dict[str, object] = {"agent": self._parts.agent, "by": by, "reason": looked_back.reason}
        if reflected:
            detail |= {"wrote": list(reflected.wrote), "calls": reflected.calls, "model": self._settings.model}
        seconds = time.monotonic() - course.started
        await asyncio.to_thread(self._parts.record, "reflection", looked_back.outcome, seconds, detail)
        return looked_back

    async def _looked_back(self) -> LookedBack:
        found = await asyncio.to_thread(self._parts.log.glance, outreaches=0, said=0, spoken=0)
        since = await asyncio.to_thread(self._parts.paused_since)
        if since:
            return LookedBack(outcome="paused", reason=f"Taking in is paused since {local(since):%Y-%m-%d %H:%M}.")
        if found.is_open or found.waiting:
            return LookedBack(outcome="skipped", reason="A turn is running, or somebody waits for an answer.")
        try:
            reflected = await self._parts.reflect(self._parts.clock())
        except RecollectError as error:
            return LookedBack(outcome="failed", reason=str(error), error=error)
        outcome = "done" if reflected.wrote else "nothing"
        return LookedBack(outcome=outcome, reason=reflected.reason, reflected=reflected)


def _standing(schedule: Schedule, kept: Tick | None, now: datetime) -> Due:
    """A time to come again is none of the schedule's own, and stands until it is there."""
    if kept is None:
        return schedule.standing(now, None, "")
    is_again = kept.ran_at is not None and now < kept.due_at <= min(now, kept.ran_at) + _LONGEST_AGAIN
    if is_again and kept.schedule == schedule.expression:
        return Due(is_due=False, due_at=kept.due_at)
    return schedule.standing(now, kept.due_at, kept.schedule)


def _can_be_seen(message: str) -> bool:
    """Neither only markers nor only signs without a shape: no service takes that."""
    shown = shown_text([message]).replace(MARK, "")
    return any(one.isprintable() and not one.isspace() for one in shown)
