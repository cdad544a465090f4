"""Librarian: the one object through which conversations are filed, and what it filed is reviewed."""

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from recollect.clock import Clock, local, to_text
from recollect.database import Database, Session
from recollect.errors import Denied, Invalid, RecollectError
from recollect.feed import Feed
from recollect.history import History, Listed
from recollect.jobs import Presence
from recollect.knowledge import Knowledge, Record
from recollect.knowledge.knowledge import MOST_LISTED
from recollect.knowledge.writing import Writer
from recollect.librarian import deciding
from recollect.librarian.days import Day, lines_of, period
from recollect.librarian.desk import LibrarianDesk
from recollect.librarian.episodes import EpisodeStore
from recollect.librarian.proposals import Proposal, ProposalStore
from recollect.librarian.questions import Question, QuestionStore
from recollect.librarian.telling import Prepared
from recollect.librarian.working.queueing import Queue, Queued, QueueState, queues_by_itself
from recollect.librarian.working.worker import Worker
from recollect.llm import ChatModel, Usage
from recollect.llm.opening import is_paid, look_for_program, open_model
from recollect.llm.prices import price_of
from recollect.notes import Notes
from recollect.notes.paths import folder_of, within
from recollect.runs.budget import Budget, Meter
from recollect.runs.metered import Metered
from recollect.scopes import Actor, Principal
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.librarian.live.live import Live
    from recollect.librarian.nights.nights import Change, Night
    from recollect.librarian.nights.reflection import Reflection
    from recollect.librarian.nights.self_awareness import Awareness
    from recollect.librarian.shelves import ShelfReport, Shelves
    from recollect.librarian.working.work import Worked

RULES, NOBODY = "rules", "none"
SAMPLES = 3
"""Results that are shown before many conversations are handed to a model that costs money."""

RecordRun = Callable[[str, str, float, dict[str, object]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What reading would take, before anything is asked."""

    reader: str
    conversations: int
    input_tokens: int
    output_tokens: int
    dollars: float | None
    """None: nobody knows the price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    listed: Listed
    prepared: Prepared
    dollars: float | None


class Librarian:
    """`memory.librarian`."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        clock: Clock,
        history: History,
        knowledge: Knowledge,
        notes: Notes,
        feed: Feed,
        record: RecordRun,
        principal: Principal,
        model: "Callable[[], ChatModel] | None" = None,
    ) -> None:
        """`model`: opens one in the place of that of the settings."""
        if principal.is_confined:
            raise Denied(f"{principal.name} may not direct the librarian: only a person may.")
        self._database = database
        self._settings = settings
        self._house = settings.house
        self._clock = clock
        self._history = history
        self._knowledge = knowledge
        self._notes = notes
        self._feed = feed
        self._record = record
        self._principal = principal
        self._open = model
        self.queue = Queue(database, settings, clock)

    # Who reads

    @property
    def reader(self) -> str:
        """`rules`, `none`, or a model as the settings name it."""
        return "a given model" if self._open else self._settings.librarian.model

    def open_model(self) -> ChatModel | None:
        """Inside the budget and counted. None: the rules read."""
        if self._open is None and self._settings.librarian.model in (RULES, NOBODY):
            return None
        from recollect.librarian.extraction.sessions import Cycled

        opened = Cycled(self._open or self._open_configured)
        prices = self._settings.librarian.price_per_million
        return Metered(opened, self.budget, self._record, purpose="librarian", per_million=prices)

    def _open_configured(self) -> ChatModel:
        model = open_model(self._settings)
        if model is None:
            raise Invalid("librarian.model names no model.")
        return model

    @property
    def budget(self) -> Budget:
        librarian = self._settings.librarian
        return Budget(self._database, self._house, self._clock, librarian.tokens_per_day, librarian.dollars_per_day)

    def meter(self) -> Meter:
        return self.budget.today()

    @property
    def works_by_itself(self) -> bool:
        """Whether the daemon queues what is ready."""
        return queues_by_itself(self._settings.librarian, is_paid=is_paid(self._settings))

    def problem(self) -> str:
        """Why nobody can read: a model without a key, a name that is none, a program that is not installed. Empty:
        somebody can."""
        try:
            if self.open_model() and self._open is None:
                look_for_program(self._settings)
        except RecollectError as error:
            return str(error)
        return ""

    @property
    def shelves(self) -> "Shelves":
        from recollect.librarian.shelves import Shelves

        writer = Principal(actor=Actor.LIBRARIAN, name=self.reader)
        return Shelves(
            self._database, self._settings, self._clock, self._notes.seen_by(writer), self._knowledge, self._feed
        )

    # Working

    @contextmanager
    def desk(self) -> Generator[LibrarianDesk]:
        desk = self._desk()
        try:
            yield desk
        finally:
            desk.close()

    def _desk(self, *, looks: bool = True) -> LibrarianDesk:
        def tidy() -> "ShelfReport":
            return self.tidy(look=looks)

        return LibrarianDesk(self._database, self._settings, self._clock, self._history, self.open_model(), tidy)

    def worker(self, owner: str, presence: Presence | None = None, *, looks: bool = True) -> Worker[Prepared]:
        """`looks`: at the folder of notes for what others did; False where somebody watches it anyway."""
        return Worker(
            self._database,
            self._house,
            self._clock,
            self._desk(looks=looks),
            owner=owner,
            record=self._record,
            gap_minutes=self._settings.conversation_gap_minutes,
            presence=presence or Presence(self._settings.runtime),
        )

    def tidy(self, *, look: bool = True) -> "ShelfReport":
        """Let the shelves show what the records say, and the records know what people wrote on the shelves."""
        return self.shelves.catch_up(look=look)

    def queue_ready(self) -> Queued:
        return self.queue.ready()

    def process(self, conversation_ids: Sequence[str] | None = None, *, owner: str = "process") -> "Worked":
        """Queue these, or all that are ready, and work until nothing is left."""
        self.queue.recover()
        if conversation_ids is None:
            self.queue.ready()
        else:
            self.queue.these(conversation_ids)
        return self.worker(owner).work_until_done(only=conversation_ids)

    def live(self) -> "Live":
        """Reads what was just said in a conversation that goes on, as far as the librarian reads by itself."""
        from recollect.librarian.live.live import Live

        return Live(self._database, self._house, self._clock, self._record, self.desk, self._may_read_live)

    def _may_read_live(self) -> bool:
        is_costly = self._open().is_paid if self._open else is_paid(self._settings)
        return queues_by_itself(self._settings.librarian, is_paid=is_costly) and not self.queue.state().paused

    def status(self) -> QueueState:
        return self.queue.state()

    def figures(self) -> dict[str, object]:
        """What all that was read came to."""
        with self._database.read() as session:
            conversations, kept, dropped = EpisodeStore(session, self._house).sums()
        return {"conversations": conversations, "kept": kept, "dropped": dropped}

    # What it would cost

    def estimate(self, conversations: Sequence[Listed]) -> Estimate:
        from recollect.librarian.extraction.extracting import estimated_tokens

        model = self.open_model()
        taken = put_out = 0
        if model:
            with self.desk() as desk:
                for listed in conversations:
                    about, turns, messages = desk.opened(listed.conversation)
                    more_in, more_out = estimated_tokens(turns, desk.known(about, turns, desk.scope_of(messages)))
                    taken, put_out = taken + more_in, put_out + more_out
        usage = Usage(input_tokens=taken, output_tokens=put_out, calls=len(conversations))
        return Estimate(
            reader=self.reader,
            conversations=len(conversations),
            input_tokens=taken,
            output_tokens=put_out,
            dollars=self._price(model, usage),
        )

    def samples(self, conversations: Sequence[Listed], number: int = SAMPLES) -> Iterator[Sample]:
        """Read a few of them for real, without filing. Answers are kept: who goes on does not pay for them twice."""
        with self.desk() as desk:
            for listed in conversations[:number]:
                prepared = desk.read(listed.conversation)
                yield Sample(listed=listed, prepared=prepared, dollars=self._price(self.open_model(), prepared.usage))

    def price_of(self, usage: Usage) -> float | None:
        """Of what the model of the settings took. None: nobody knows."""
        return self._price(self.open_model(), usage) if usage.calls else 0.0

    def _price(self, model: ChatModel | None, usage: Usage) -> float | None:
        if model is None or not model.is_paid:
            return 0.0
        return price_of(model.name, usage, self._settings.librarian.price_per_million)

    # What a person decides

    def proposals(self) -> list[Proposal]:
        with self._database.read() as session:
            return ProposalStore(session, self._house).open()

    def accept(self, name: str) -> Record | None:
        return self._decided(name, deciding.accept)

    def reject(self, name: str) -> Record | None:
        return self._decided(name, deciding.reject)

    def _decided(self, name: str, decide: Callable[[Writer, Proposal], Record | None]) -> Record | None:
        with self._database.write() as session:
            proposal = ProposalStore(session, self._house).named(name)
            record = decide(self._writer(session), proposal)
        self.tidy()
        return record

    def open_questions(self) -> list[Question]:
        """As they were when somebody last looked at `questions.md`."""
        with self._database.read() as session:
            return QuestionStore(session, self._house).in_state()

    def questions(self) -> list[Question]:
        """The open ones, with what was answered in `questions.md` taken in first."""
        self.tidy()
        return self.open_questions()

    def answer(self, name: str, said: str) -> str:
        with self._database.write() as session:
            question = QuestionStore(session, self._house).named(name)
            done = deciding.answer(self._writer(session), question, said)
        self.tidy()
        return done

    def drop_question(self, name: str) -> None:
        with self._database.write() as session:
            deciding.drop(self._writer(session), QuestionStore(session, self._house).named(name))
        self.tidy()

    # Looking back

    @property
    def reflection(self) -> "Reflection":
        from recollect.librarian.nights.reflection import Reflection

        return Reflection(self._database, self._settings, self._clock)

    def reflect(self, *, by_schedule: bool = False) -> "Night | None":
        """One night. None: by the schedule it is not due, or somebody else has it."""
        started = time.monotonic()
        night = self.reflection.run(by_schedule=by_schedule)
        if night is None:
            return None
        self.tidy()
        change = self._write_awareness(night)
        if change:
            night = replace(night, changes=(*night.changes, change))
            self.reflection.keep(night)
        self._record("reflect", "done", time.monotonic() - started, {"night": night.id, **night.counts})
        return night

    def undo_night(self, name: str = "") -> "tuple[Night, int]":
        """Take back all that a night changed; with it how many changes stay, as somebody went on from them."""
        night, stay = self.reflection.undo(name)
        for change in night.changes:
            if change.path:
                stay += not self._put_back(change)
        self.tidy()
        return night, stay

    def _put_back(self, change: "Change") -> bool:
        versions = self._notes.history(change.path)
        if versions[-1].number != change.after:
            return False
        self._notes.undo(change.path, change.before, reason="undo of a night")
        return True

    def _write_awareness(self, night: "Night") -> "Change | None":
        from recollect.librarian.nights.nights import Change
        from recollect.librarian.nights.self_awareness import PAGE, page_text

        path = within(folder_of(self._settings.agent_name), PAGE)
        seen = self._awareness(night)
        notes = self._notes.seen_by(Principal(actor=Actor.LIBRARIAN, name="reflection"))
        before = notes.find(path)
        written = notes.change(path, lambda now: page_text(now or "", seen), reason="reflection")
        if not written.is_new:
            return None
        number = before.number if before else 0
        return Change(path=path, before=number, after=written.version.number, what="self-awareness")

    def _awareness(self, night: "Night") -> "Awareness":
        from recollect.librarian.nights.self_awareness import Awareness

        now = self._clock()
        since = to_text(now - timedelta(days=30))
        dropped = Counter[str]()
        with self._database.read() as session:
            store = EpisodeStore(session, self._house)
            for episode in store.read_between(since, night.at):
                dropped.update(episode.dropped)
            questions, conversations = len(QuestionStore(session, self._house).in_state()), store.count()
        return Awareness(
            day=f"{local(night.at):%Y-%m-%d}",
            records=self._knowledge.records(limit=MOST_LISTED),
            recent=self._knowledge.events_between(since, to_text(now)),
            conversations=conversations,
            reader=self.reader,
            questions=questions,
            proposals=len(self.proposals()),
            dropped=dropped,
            night=night.counts,
        )

    def day(self, days: int = 1) -> Day:
        """What today, or the last so many days, brought."""
        since, until = period(self._clock(), days)
        events = self._knowledge.events_between(since, until)
        records = self._knowledge.shown(sorted({event.record_id for event in events}))
        with self._database.read() as session:
            read = EpisodeStore(session, self._house).read_between(since, until)
            questions = QuestionStore(session, self._house).in_state()
        return Day(
            since=since,
            until=until,
            conversations=len(read),
            lines=lines_of(events, records, self.proposals(), questions),
        )

    def _writer(self, session: Session) -> Writer:

        return Writer(session, self._house, self._principal, to_text(self._clock()))
