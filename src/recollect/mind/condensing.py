"""When the conversation has become long: its older part is condensed in the background, and no turn waits for it.

One at a time. The turns go on meanwhile with the array as it is; the summary takes its place between two turns. It is
written down first, and only if nothing was forgotten while it was made: it may tell of just that.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import takewhile

from recollect.clock import Clock, to_text
from recollect.database import Database
from recollect.errors import RecollectError, Unavailable
from recollect.llm.talking import Abilities, Request, TalkModel, Tool
from recollect.mind.compaction import Compacted
from recollect.mind.compaction.choosing import choose
from recollect.mind.compaction.compaction import OWN
from recollect.mind.compaction.cutting import cut, threshold_for
from recollect.mind.compaction.instructing import instructions_from
from recollect.mind.compaction.probe import probed
from recollect.mind.compaction.weighing import tokens_of_frame, tokens_of_request
from recollect.mind.conversation import Conversation, Exchange
from recollect.mind.entries import CompactionRow
from recollect.mind.store import MindStore
from recollect.runs.store import EventStore
from recollect.tokens import estimate

GROWTH_AFTER_FAILURE = 1.1
"""One that failed is tried again when the conversation has grown by a tenth."""
REMEMBERED = timedelta(days=1)
"""So long also by the programs that come after: one that is started for each message would pay for it each time."""
MOST_WAITING = 1.5
"""Times the threshold: from there on a turn waits for the summary."""
MOST_WINDOW = 0.85
"""Of what the model takes in: the same."""

NO_LIMIT = 1 << 40
MOST_LOOKED_AT = 20
"""Compactions of all agents, the latest first."""

RecordRun = Callable[[str, str, float, dict[str, object]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a compaction is made with, besides what was said."""

    page: Callable[[], str]
    """The agent's `COMPACTION.md`, at that moment."""
    commitments: Callable[[], Mapping[str, str]]
    """Those that are open: id → text."""


class Condensing:
    def __init__(
        self,
        database: Database,
        house: str,
        agent: str,
        clock: Clock,
        model: TalkModel,
        material: Material,
        record: RecordRun,
        *,
        threshold_tokens: int,
    ) -> None:
        """`model`: counted as what compaction costs."""
        self._database = database
        self._house = house
        self._agent = agent
        self._clock = clock
        self._model = model
        self._material = material
        self._record = record
        self._threshold = threshold_tokens
        self._not_before = 0
        self._failed: set[str] = set()
        self._has_looked = False
        self._task: asyncio.Task[None] | None = None
        self._made: CompactionRow | None = None

    @property
    def is_running(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def has_more(self) -> bool:
        """A summary is being made, or is there to be taken."""
        return self.is_running or self._made is not None

    def taken(self) -> CompactionRow | None:
        """The summary that was made since, once."""
        made, self._made = self._made, None
        return made

    def is_due(self, context_tokens: int, abilities: Abilities) -> bool:
        """`context_tokens`: all that a request holds, as the provider counts it."""
        threshold = threshold_for(self._threshold, abilities.most_input_tokens)
        return context_tokens > max(threshold, self._not_before) and not self.is_running and self._made is None

    def must_wait(self, context_tokens: int, abilities: Abilities) -> bool:
        """Whether the next turn has no room without it."""
        most = min(self._threshold * MOST_WAITING, abilities.most_input_tokens * MOST_WINDOW)
        return context_tokens > most and self.is_running

    def start(
        self, conversation: Conversation, system: tuple[str, ...], tools: tuple[Tool, ...], context_tokens: int,
        abilities: Abilities,
    ) -> bool:  # fmt: skip
        """Begin to condense what is long ago in it. False: too little would be gained."""
        threshold = threshold_for(self._threshold, abilities.most_input_tokens)
        sizes = [exchange.tokens for exchange in conversation.exchanges]
        number = min(cut(sizes, threshold), _fitting(sizes, threshold_for(NO_LIMIT, abilities.most_input_tokens)))
        if not number:
            self._not_before = int(context_tokens * GROWTH_AFTER_FAILURE)
            return False
        oldest = conversation.exchanges[:number]
        summary = [conversation.summary_turn] if conversation.summary_turn else []
        turns = [*summary, *(turn for exchange in oldest for turn in exchange.turns)]
        request = Request(system=system, tools=tools, turns=turns)
        kept = conversation.exchanges[number:]
        work = self._condense(request, conversation, oldest[-1].number, kept, context_tokens, abilities)
        self._task = asyncio.ensure_future(work)
        return True

    async def settle(self) -> None:
        if self._task:
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """What is not finished is begun anew another time."""
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _condense(
        self, request: Request, conversation: Conversation, through: int, kept: list[Exchange], context_tokens: int,
        abilities: Abilities,
    ) -> None:  # fmt: skip
        started = time.monotonic()
        estimated = tokens_of_frame(request) + conversation.tokens
        if await asyncio.to_thread(self._has_failed_before, estimated):
            self._not_before = int(context_tokens * GROWTH_AFTER_FAILURE)
            return
        detail: dict[str, object] = {"agent": self._agent, "through": through, "context_tokens": context_tokens}
        kind = ""
        try:
            page = await asyncio.to_thread(self._material.page)
            compaction = choose(self._model, abilities, tokens_of_request(request), failed=self._failed)
            kind = compaction.kind
            compacted = await compaction.compact(request, instructions_from(page))
            if compacted is None:
                raise RecollectError("no summary came of it")
            row = await asyncio.to_thread(self._keep, compacted, conversation, through, detail)
        except RecollectError as error:
            if not isinstance(error, Unavailable):  # Another time it may well succeed.
                self._failed.add(kind)
            self._not_before = int(context_tokens * GROWTH_AFTER_FAILURE)
            detail |= {"kind": kind, "reason": str(error)[:300]}
            if kind == OWN and not isinstance(error, Unavailable):  # There is no other way left to try.
                detail["hopeless_tokens"] = estimated
            await asyncio.to_thread(self._record, "compaction", "failed", time.monotonic() - started, detail)
            return
        self._failed.clear()
        self._not_before = 0
        seconds = time.monotonic() - started
        detail |= {"kind": compacted.kind, "number": row.number, "summary_tokens": estimate(row.summary)}
        await asyncio.to_thread(self._record, "compaction", "done", seconds, detail)
        await asyncio.to_thread(self._probe, row, kept)
        self._made = row

    def _has_failed_before(self, estimated_tokens: int) -> bool:
        """Whether a program before this one could not do it, and not much was said since. Asked once."""
        if self._has_looked:
            return False
        self._has_looked = True
        with self._database.read() as session:
            events = EventStore(session, self._house).latest("compaction", "", MOST_LOOKED_AT)
        ours = [event for event in events if event.detail.get("agent") == self._agent]
        since = to_text(self._clock() - REMEMBERED)
        failed = takewhile(lambda event: event.outcome == "failed" and event.started_at >= since, ours)
        hopeless = [number for event in failed if isinstance(number := event.detail.get("hopeless_tokens"), int)]
        return estimated_tokens <= max(hopeless, default=0) * GROWTH_AFTER_FAILURE

    def _keep(
        self, compacted: Compacted, conversation: Conversation, through: int, detail: dict[str, object]
    ) -> CompactionRow:
        with self._database.write() as session:
            store = MindStore(session, self._house, self._agent)
            now = store.standing()
            before = conversation.base.number if conversation.base else 0
            if now.forgotten != conversation.standing.forgotten or now.compaction != before:
                raise RecollectError("something was forgotten meanwhile")
            row = CompactionRow(
                number=store.next_compaction(),
                at=to_text(self._clock()),
                kind=compacted.kind,
                model=self._model.name,
                through=through,
                summary=compacted.summary,
                block=compacted.block,
                detail=dict(detail),
            )
            store.add_compaction(row)
        return row

    def _probe(self, row: CompactionRow, kept: list[Exchange]) -> None:
        """Whether what was promised is still before the model's eyes (M2)."""
        started = time.monotonic()
        seen = [
            str(block.get("text") or block.get("content") or "")
            for exchange in kept
            for turn in exchange.turns
            for block in turn.content
        ]
        probe = probed(self._material.commitments(), [row.summary, *seen])
        outcome = "survived" if not probe.missing_ids else "missing"
        detail: dict[str, object] = {
            "compaction": row.number,
            "commitments": probe.asked,
            "survived": probe.survived,
            "missing": list(probe.missing_ids[:20]),
        }
        self._record("commitment_probe", outcome, time.monotonic() - started, detail)


def _fitting(sizes: Sequence[int], most_tokens: int) -> int:
    """How many of the oldest the model takes in at once, at least one. After something was forgotten all summaries may
    be gone: then it is condensed in several steps, each with the summary of the one before."""
    total = 0
    for number, size in enumerate(sizes):
        total += size
        if number and total > most_tokens:
            return number
    return len(sizes)
