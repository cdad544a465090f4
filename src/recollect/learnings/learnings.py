"""Learnings: from markers in ingested history and in live turns to records."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from recollect import markers
from recollect.clock import Clock, to_text
from recollect.database import Database
from recollect.errors import Conflict, Denied, Invalid, NotFound, RecollectError
from recollect.feed import MESSAGE, Feed
from recollect.history import History, Message
from recollect.ids import derived_id
from recollect.knowledge import Category, Evidence, Knowledge, Learned, Origin, Statement, reasons
from recollect.knowledge.store import RecordStore
from recollect.learnings.promotion import promote
from recollect.learnings.store import ReportStore
from recollect.markers import Marker, Reading
from recollect.markers.reader import KEYWORD
from recollect.scopes import Actor, Principal

FOLLOWER = "learnings"
RULE = Principal(actor=Actor.RULE, name="marker")
PAGE = 1_000
"""Messages or changes read at once."""
MOST_REPORTS = 20
"""Of one message. A text full of broken markers is one problem, not thousands."""
EXCERPT_CHARACTERS = 100

RecordRun = Callable[[str, str, float, dict[str, object]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningsReport:
    """What catching up came to."""

    learned: int = 0
    """Records that are new."""
    reported: int = 0
    """Markers that could not be kept, or not as they were meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """A marker that somebody should look at."""

    message: str
    conversation: str
    place: int
    """Where in the message's text it begins."""
    problem: str
    excerpt: str
    """Read from the message as it is now; empty when it is not there any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkerFigures:
    kept: int
    """Current records that a marker made."""
    reported: int
    """Markers that somebody should look at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What an assistant just said: how to show it, and what became of its markers."""

    reading: Reading
    learned: list[Learned]


class Learnings:
    """`memory.learnings`."""

    def __init__(
        self,
        database: Database,
        house: str,
        clock: Clock,
        history: History,
        knowledge: Knowledge,
        record_run: RecordRun,
        principal: Principal,
    ) -> None:
        self._database = database
        self._house = house
        self._clock = clock
        self._history = history
        self._knowledge = knowledge
        self._record_run = record_run
        self._principal = principal
        self._problem = ""

    # From history

    def after_intake(self) -> None:
        """Catch up. What fails is recorded and tried again next time: history must go on without it."""
        started = time.monotonic()
        try:
            report = self.catch_up()
            problem = ""
        except RecollectError as error:
            report, problem = LearningsReport(), str(error)
        except Exception as error:  # noqa: BLE001 - one message that breaks our reader must not stop an import
            report, problem = LearningsReport(), f"{type(error).__name__}: {error}"
        seconds = time.monotonic() - started
        if problem and problem != self._problem:
            with suppress(RecollectError):
                self._record_run(FOLLOWER, "failed", seconds, {"reason": problem})
        elif report.learned or report.reported:
            detail: dict[str, object] = {"learned": report.learned, "reported": report.reported}
            self._record_run(FOLLOWER, "done", seconds, detail)
        self._problem = problem

    def catch_up(self) -> LearningsReport:
        """Read every message that was touched since the last time, or all when that cannot be told."""
        self._refuse_agents()
        feed = Feed(self._database, self._house)
        reached = feed.reached(FOLLOWER)
        reports: list[LearningsReport] = []
        if reached is None or not feed.can_follow(reached):
            reached = feed.newest()
            reports += self._read_everything()
            feed.reach(FOLLOWER, reached)
        while changes := feed.changes(reached, PAGE):
            touched = sorted({change.id for change in changes if change.kind == MESSAGE})
            if touched:
                reports.append(self._read_again(touched))
            reached = changes[-1].change
            feed.reach(FOLLOWER, reached)
        return LearningsReport(
            learned=sum(report.learned for report in reports), reported=sum(report.reported for report in reports)
        )

    def _read_everything(self) -> Iterator[LearningsReport]:
        with self._database.read() as session:
            stale = ReportStore(session, self._house).every_message()
        after = ""
        while page := self._history.with_text(KEYWORD, after=after, limit=PAGE):
            yield self._read(page, [])
            stale -= set(page)
            after = page[-1]
        yield self._read([], sorted(stale))

    def _read_again(self, message_ids: Sequence[str]) -> LearningsReport:
        marked = self._history.with_text(KEYWORD, among=message_ids)
        with self._database.read() as session:
            reported = ReportStore(session, self._house).reported(message_ids)
        return self._read(marked, sorted(reported - set(marked)))

    def _read(self, marked: Sequence[str], unmarked: Sequence[str]) -> LearningsReport:
        """Messages with markers, and such that had something to report and have no marker any more."""
        messages = sorted(self._history.documents(marked).values(), key=lambda one: (one.at, one.start_byte, one.id))
        scopes = self._history.file_scopes([message.file_id for message in messages])
        learned = 0
        problems: dict[str, list[tuple[int, str]]] = {message_id: [] for message_id in unmarked}
        for message in messages:
            reading = markers.read(*message.text_blocks)
            outcomes, problems[message.id] = self._keep(
                message.id, reading, at=message.at, scope=scopes.get(message.file_id, "")
            )
            learned += sum(outcome.outcome not in ("same", "refused") for outcome in outcomes)
        self._report(problems)
        return LearningsReport(learned=learned, reported=sum(len(found) for found in problems.values()))

    # From live turns

    def from_turn(self, message_id: str, *texts: str, at: str = "", scope: str = "") -> Turn:
        """What an assistant just said in a message of this id. The same message, ingested later, makes nothing twice.

        `texts`: its text blocks. `at`: when, as a stored time; now, if it is not given. `scope`: whose turn it was.
        """
        reading = markers.read(*texts)
        learned, problems = self._keep(message_id, reading, at=at or self._now(), scope=scope)
        if problems:
            self._report({message_id: problems})
        return Turn(reading=reading, learned=learned)

    def _keep(
        self, message_id: str, reading: Reading, *, at: str, scope: str
    ) -> tuple[list[Learned], list[tuple[int, str]]]:
        """What became of the markers of a message; and (place, problem) of each that has one."""
        # The rule may write everywhere; in an agent's name it may do what the agent may.
        knowledge = self._knowledge if self._principal.is_confined else self._knowledge.seen_by(RULE)
        learned: list[Learned] = []
        problems = [(marker.start, marker.problem) for marker in reading.markers if marker.problem]
        for marker in reading.kept:
            statement = _statement(message_id, reading, marker, at=at, scope=scope)
            try:
                outcome = knowledge.learn(statement, reason=reasons.MARKED)
                kept = outcome.record
                if (
                    scope
                    and kept
                    and kept.id == statement.id
                    and kept.scope != scope
                    and not self._principal.is_confined
                ):
                    knowledge.move(kept.id, scope, reason=reasons.MOVED)
                learned.append(outcome)
            except (Invalid, NotFound, Denied, Conflict) as error:
                # Its message may say the content again, and a report outlives what is forgotten.
                problems.append((marker.start, f"not kept: {type(error).__name__}"))
        return learned, sorted(dict(problems).items())[:MOST_REPORTS]

    # What is to be looked at

    def reports(self, limit: int = 100) -> list[Reported]:
        """What was reported last first."""
        self._refuse_agents()
        with self._database.read() as session:
            found = ReportStore(session, self._house).latest(limit)
        messages = self._history.documents([message_id for message_id, _, _ in found])
        return [_reported(message_id, place, problem, messages.get(message_id)) for message_id, place, problem in found]

    def figures(self) -> MarkerFigures:
        self._refuse_agents()
        with self._database.read() as session:
            return MarkerFigures(
                kept=RecordStore(session, self._house).of_origin(Origin.MARKED),
                reported=ReportStore(session, self._house).number(),
            )

    def _report(self, problems: dict[str, list[tuple[int, str]]]) -> None:
        if problems:
            with self._database.write() as session:
                store, now = ReportStore(session, self._house), self._now()
                for message_id, found in problems.items():
                    store.replace(message_id, found, now)

    # By choice

    def promote(
        self, name: str, text: str | None = None, *, category: str = "knowledge", tags: Sequence[str] = ()
    ) -> Learned:
        """Keep what a message says, or `text`, as a learning from it. `name`: the message's id or the start of it."""
        return promote(self._history, self._knowledge, self._principal, name, text, category, tags)

    def _refuse_agents(self) -> None:
        if self._principal.is_confined:
            raise Denied(f"{self._principal.name} may not read the markers of the whole house: only a person may.")

    def _now(self) -> str:
        return to_text(self._clock())


def _statement(message_id: str, reading: Reading, marker: Marker, *, at: str, scope: str) -> Statement:
    payload = marker.payload
    assert payload
    return Statement(
        id=derived_id("learning", message_id, payload.canonical),
        text=payload.content,
        category=Category(payload.category),
        tags=payload.tags,
        importance=payload.importance,
        subject=payload.subject,
        attribute=payload.attribute,
        value=payload.value,
        expires_at=payload.expires_at,
        origin=Origin.MARKED,
        scope=scope,
        true_from=at,
        sources=(Evidence(message_id=message_id, quote=reading.text[marker.start : marker.end]),),
    )


def _reported(message_id: str, place: int, problem: str, message: Message | None) -> Reported:
    return Reported(
        message=message_id,
        conversation=(message.conversation_id or "") if message else "",
        place=place,
        problem=problem,
        excerpt=" ".join(message.text[place : place + EXCERPT_CHARACTERS].split()) if message else "",
    )
