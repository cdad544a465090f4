"""Memory: the one object a user holds, and the only place that wires the parts together."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from recollect.clock import Clock, choose_zone, system_clock, to_text
from recollect.database import Database, Row, Session, open_database
from recollect.errors import Denied, NotFound
from recollect.feed import Feed
from recollect.history import History
from recollect.runs import Runs
from recollect.scopes import EVERYTHING, HOUSE, OWNER, Actor, Agents, Principal, sight_of
from recollect.settings import Settings, load_settings

if TYPE_CHECKING:
    from recollect.access import Access
    from recollect.context import Contexts
    from recollect.embedding import Models
    from recollect.exchange import Exchange
    from recollect.forgetting import Forgetting, Forgotten
    from recollect.history.appending import Appending
    from recollect.knowledge import Knowledge, Learned
    from recollect.learnings import Learnings
    from recollect.librarian.librarian import Librarian
    from recollect.llm import ChatModel
    from recollect.llm.talking import TalkModel
    from recollect.mind.figures import MindFigures
    from recollect.mind.heartbeat.heartbeat import Heartbeat
    from recollect.mind.mind import Mind
    from recollect.mind.places.places import Places
    from recollect.mind.visiting import Visit
    from recollect.notes import Notes
    from recollect.notes.status import Updated
    from recollect.recall import Found, Recall
    from recollect.runs.spending import Spending
    from recollect.seen import Seen
    from recollect.showings import Showings
    from recollect.transfer import Transfer


class Memory:
    """`history` takes in and reads what happened, `knowledge` is what was learned, `notes` what is written down,
    `recall` finds all of it again, `context` is what an agent is shown, `librarian` files what was said, `agents` says
    who sees what, `runs` tells what the system did.

    It acts for its `principal`: the person of the house, or an agent (`as_agent`), who sees and changes only what its
    scopes allow, through every part.
    """

    def __init__(
        self,
        settings: Settings,
        database: Database,
        clock: Clock = system_clock,
        models: "Models | None" = None,
        principal: Principal = OWNER,
        owner: "Memory | None" = None,
    ) -> None:
        """`owner`: whose database, models and index an agent uses."""
        self.settings = settings
        self.database = database
        self.clock = clock
        self.principal = principal
        self.runs = Runs(database, settings.house, clock, principal)
        self.history = History(database, settings, clock, self.runs.record, principal, self.learn)
        self._owner = owner
        self._models = models
        self._recall: Recall | None = None
        self._learnings: Learnings | None = None
        self._showings: Showings | None = None
        self._notes: Notes | None = None
        self._appending: Appending | None = None
        self._opening = threading.RLock()

    def as_agent(self, name: str, room: str = "") -> "Memory":
        """The same house as this agent sees it, in this room of its own if one is named. Closing it closes nothing."""
        if self.principal.is_confined:
            raise Denied(f"{self.principal.name} may not ask as somebody else: only a person may.")
        return self.acting_for(self.agents.principal(name, room))

    def acting_for(self, principal: Principal) -> "Memory":
        """The same house as this principal sees it: for who knows already whom it serves. Closing it closes nothing."""
        if self.principal.is_confined:
            raise Denied(f"{self.principal.name} may not ask as somebody else: only a person may.")
        if not self.principal.may_write:
            principal = replace(principal, may_write=False)
        if principal == self.principal:
            return self
        return Memory(self.settings, self.database, self.clock, principal=principal, owner=self)

    @property
    def agents(self) -> Agents:
        return Agents(
            self.database,
            self.settings.house,
            self.clock,
            rescope=self.history.rescope,
            holds=self._number_in,
            source_names=self.history.source_names,
            principal=self.principal,
            after_binding=self.learn,
        )

    def _number_in(self, session: Session, scope: str) -> int:
        """How many things lie in a scope."""
        from recollect.knowledge.store import RecordStore
        from recollect.notes.store import NoteStore

        house = self.settings.house
        written = RecordStore(session, house).held(scope) + NoteStore(session, house).held(scope)
        return self.history.holds(session, scope) + written

    @property
    def access(self) -> "Access":
        """The tokens by which other programs ask over HTTP."""
        from recollect.access import Access

        return Access(self.database, self.settings.house, self.clock, self.principal)

    @property
    def knowledge(self) -> "Knowledge":
        from recollect.knowledge import Knowledge

        return Knowledge(
            self.database, self.settings.house, self.clock, self.principal, readable=self.history.documents
        )

    @property
    def notes(self) -> "Notes":
        if self._owner:
            return self._owner.notes.seen_by(self.principal)
        with self._opening:
            if self._notes is None:
                from recollect.notes import Notes

                settings = self.settings
                self._notes = Notes(
                    self.database, settings.house, self.clock, settings.home, settings.agent_name, self.principal
                )
            return self._notes

    @property
    def learnings(self) -> "Learnings":
        """Loaded when something was taken in: commands that only read start without it."""
        with self._opening:
            if self._learnings is None:
                from recollect.learnings import Learnings

                self._learnings = Learnings(
                    self.database,
                    self.settings.house,
                    self.clock,
                    self.history,
                    self.knowledge,
                    self.runs.record,
                    self.principal,
                )
            return self._learnings

    def learn(self) -> None:
        """From markers in what was just taken in, and from what was used in it of what was shown."""
        self.learnings.after_intake()
        self.showings.after_intake()

    @property
    def showings(self) -> "Showings":
        """What an agent was shown in its sessions, and what of it was used."""
        with self._opening:
            if self._showings is None:
                from recollect.showings import Showings

                self._showings = Showings(
                    self.database, self.settings.house, self.clock, self.history, self.runs.record, self.principal
                )
            return self._showings

    def promote(
        self, message_id: str, text: str | None = None, *, category: str = "knowledge", tags: Sequence[str] = ()
    ) -> "Learned":
        """Keep what a message says, or `text` in its place, as a learning from it."""
        return self.learnings.promote(message_id, text, category=category, tags=tags)

    @property
    def context(self) -> "Contexts":
        """What an agent is shown. A rehydration for one that is not named has what all of the house may see, and no
        agent's own; a conversation or a heartbeat is then that of the house's own agent."""
        from recollect import __version__
        from recollect.context import Contexts
        from recollect.knowledge import Knowledge

        reader = self.principal
        if not reader.is_confined:
            reader = Principal(actor=Actor.AGENT, name="an agent of the house", scope=HOUSE)
        house = self.settings.house
        return Contexts(
            self.database,
            house,
            self.clock,
            reader,
            Knowledge(self.database, house, self.clock, reader),
            History(self.database, self.settings, self.clock, self.runs.record, reader),
            lambda: (self._owner or self).recall.seen_by(reader),
            notes=self.notes.seen_by(reader),
            settings=self.settings,
            record=self.runs.record,
            recent_usage=(self._owner or self)._recent_usage,
            own=None if self.principal.is_confined else lambda: self._own_agent().context,
            version=__version__,
        )

    def _own_agent(self) -> "Memory":
        """The house as its own agent sees it, who is there from the first use of notes on."""
        try:
            return self.as_agent(self.settings.agent_name)
        except NotFound:
            self.notes.prepare()
            return self.as_agent(self.settings.agent_name)

    def _recent_usage(self, limit: int) -> list[dict[str, object]]:
        from recollect.context.calibration import EVENT

        return [event.detail for event in self.runs.latest(EVENT, limit=limit)]

    @property
    def librarian(self) -> "Librarian":
        """Who files finished conversations. A person's alone."""
        return self.librarian_with(None)

    def librarian_with(self, open_model: "Callable[[], ChatModel] | None") -> "Librarian":
        """The librarian with a model in the place of that of the settings."""
        from recollect.librarian.librarian import Librarian

        return Librarian(
            self.database,
            self.settings,
            self.clock,
            self.history,
            self.knowledge,
            self.notes,
            self.feed,
            self.runs.record,
            self.principal,
            open_model,
        )

    def mind(self, agent: str = "", open_model: "Callable[[], TalkModel] | None" = None) -> "Mind":
        """The conversation with an agent, by default the house's own: to be opened by a person, in an event loop.
        `open_model`: one in the place of that of the settings."""
        from recollect.wiring import mind_of

        return mind_of(self, self._talked_with(agent), open_model)

    def heartbeat(
        self,
        agent: str = "",
        *,
        mind: "Mind | None" = None,
        open_chat: "Callable[[], ChatModel] | None" = None,
        open_talk: "Callable[[], TalkModel] | None" = None,
        channels: frozenset[str] | None = None,
    ) -> "Heartbeat":
        """The moments of an agent's own. `mind`: the open conversation that a message joins; without one it waits for
        whoever has it open. `open_chat`, `open_talk`: models in the place of that of the settings. `channels`: only by
        these is anything sent."""
        from recollect.wiring import heartbeat_of

        return heartbeat_of(self, self._talked_with(agent), mind, open_chat, open_talk, channels)

    def visit(self, agent: str = "") -> "Visit":
        """For who speaks to an agent and reads what it says without having the conversation open: others run the
        turns."""
        from recollect.wiring import visit_of

        return visit_of(self, self._talked_with(agent))

    def _talked_with(self, agent: str) -> "Memory":
        if self.principal.is_confined:
            raise Denied(f"{self.principal.name} may not open a conversation: only a person may.")
        return self.as_agent(agent) if agent else self._own_agent()

    def mind_figures(self) -> "MindFigures":
        """How the conversations with the agents of the house stand."""
        from recollect.mind.figures import figures_of

        late = to_text(self.clock() - timedelta(minutes=10))
        with self.database.read() as session:
            return figures_of(session, self.settings.house, late)

    def appending(self) -> "Appending":
        """By which what is said to Recollect itself is taken in. Loaded when something is said: commands that only read
        start without the parsers."""
        if self._owner:
            return self._owner.appending()
        with self._opening:
            if self._appending is None:
                from recollect.history.appending import Appending

                self._appending = Appending(self.settings, self.clock)
            return self._appending

    @property
    def spending(self) -> "Spending":
        """What models took, by day."""
        from recollect.runs.spending import Spending

        return Spending(self.database, self.settings.house, self.clock, self.principal)

    @property
    def places(self) -> "Places":
        """Where the person is heard and written to."""
        if self.principal.is_confined:
            raise Denied(f"{self.principal.name} may not say who is heard: only a person may.")
        from recollect.mind.places.places import Places

        return Places(self.database, self.settings.house, self.clock)

    @property
    def feed(self) -> Feed:
        if self.principal.is_confined:
            raise Denied(
                f"{self.principal.name} may not follow the changes of the house: they name what it cannot see."
            )
        return Feed(self.database, self.settings.house)

    @property
    def transfer(self) -> "Transfer":
        from recollect.transfer import Transfer

        return Transfer(self.database, self.settings, self.clock, self.principal, look=self.notes.look)

    @property
    def exchange(self) -> "Exchange":
        """Claude Code's own memory folder, to be read and written."""
        from recollect.exchange import Exchange

        return Exchange(self.database, self.settings.house, self.clock, self.knowledge, self.history, self.principal)

    @property
    def forgetting(self) -> "Forgetting":
        from recollect.context.state import drop_states
        from recollect.exchange.erasing import ExchangePart
        from recollect.forgetting import Forgetting
        from recollect.librarian.erasing import LibrarianPart
        from recollect.mind.erasing import MindPart
        from recollect.mind.state import drop_states as drop_minds
        from recollect.showings.erasing import ShowingsPart

        # The index is the house's, whoever forgets.
        house = self._owner or self
        notes, runtime = house.notes, self.settings.runtime
        return Forgetting(
            self.database,
            self.settings,
            self.clock,
            lambda: house.recall,
            principal=self.principal,
            parts=[part(self.settings.house) for part in (LibrarianPart, MindPart, ShowingsPart, ExchangePart)],
            look=notes.look,
            clean=[notes.clear_held, lambda: drop_states(runtime), lambda: drop_minds(runtime)],
        )

    def forget(
        self,
        *,
        record: str = "",
        message: str = "",
        conversation: str = "",
        file: str = "",
        subject: str = "",
        note: str = "",
        with_sources: bool = False,
        dry_run: bool = False,
        verify: bool = True,
        as_told: str = "",
    ) -> "Forgotten":
        """Erase one thing with everything that came from it, for good. `dry_run`: only tell what would go. `as_told`:
        the `digest` of that; where something else would go by now, it is a Conflict."""
        return self.forgetting.forget(
            record=record,
            message=message,
            conversation=conversation,
            file=file,
            subject=subject,
            note=note,
            with_sources=with_sources,
            dry_run=dry_run,
            verify=verify,
            as_told=as_told,
        )

    @property
    def models(self) -> "Models":
        if self._owner:
            return self._owner.models
        with self._opening:
            if self._models is None:
                from recollect.embedding import Models

                self._models = Models(self.settings)
            return self._models

    @property
    def recall(self) -> "Recall":
        """Loaded when it is first needed: commands that do not search start without numpy."""
        if self._owner:
            return self._owner.recall.seen_by(self.principal)
        with self._opening:
            if self._recall is None:
                from recollect.recall import Material, open_recall

                material = Material(self.feed, self.history, self.knowledge, self.notes)
                self._recall = open_recall(self.database, self.settings, material, self.models, self.clock)
            return self._recall

    def search_memory(self, query: str, search_type: str = "both") -> "Found":
        """For agents: `search_type` is conversations, facts or both, which finds notes too. Reads the best hits twice,
        as agents can wait."""
        return self.recall.search(query, search_type=search_type, rerank=True)

    def update_status(
        self, updates: Mapping[str, object], *, expected_version: "int | Seen | None" = None
    ) -> "Updated":
        """For agents: set these fields of their status, each with the time of now. None takes one away."""
        return self.notes.status.update(updates, expected_version=expected_version)

    def views(self) -> dict[str, str]:
        """What `sql` can ask: name → its SELECT, limited to this house and to what the principal may see."""
        from recollect.knowledge.views import knowledge_views
        from recollect.notes.views import note_views
        from recollect.runs.views import run_views

        house, sight = self.settings.house, EVERYTHING
        if self.principal.is_confined:
            with self.database.read() as session:
                sight = sight_of(session, house, self.principal)
        return {
            **self.history.views(sight),
            **knowledge_views(house, sight),
            **note_views(house, sight),
            **run_views(house, sight),
        }

    def sql(self, query: str, *, seconds: float = 10.0, limit: int = 1000) -> tuple[list[str], list[Row]]:
        """Read-only SQL on `views`: without the vault."""
        return self.database.query(self.views(), query, seconds, limit)

    def close(self) -> None:
        if self._owner:
            return
        if self._recall:
            self._recall.close()
        if self._appending:
            self._appending.close()
        self.database.close()

    def __enter__(self) -> "Memory":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_memory(home: Path | str | None = None, database: str | None = None, clock: Clock = system_clock) -> Memory:
    """Open a home, making it when it is new. Without arguments: `RECOLLECT_HOME`, else `~/.recollect`."""
    settings = load_settings(home, database)
    if settings.zone:  # Whoever opens a house without one, such as the demo's, looks at it in the same zone.
        choose_zone(settings.zone)
    return Memory(settings, open_database(settings.database_url), clock)
