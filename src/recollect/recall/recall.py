"""Recall: the one object through which everything that was said, learned or written down is found again.

Who may write: only this class, in the index, which is derived from history, knowledge and notes and can be dropped and
built anew any time. In these it only reads; before a search the notes look at their folder. A recall acts for a
principal: what an agent may not see is not there for it.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from recollect.clock import Clock
from recollect.database import Database
from recollect.errors import Denied, Invalid
from recollect.recall.hits import Found
from recollect.recall.index import Superseded
from recollect.recall.material import Material
from recollect.recall.query import Query, SearchType, check
from recollect.recall.recipes import STANDARD, Recipe
from recollect.recall.search import Search
from recollect.recall.upkeep import IndexState, Upkeep
from recollect.recall.viewer import Viewer
from recollect.scopes import OWNER, Principal, ScopeStore, principal_named, sight_of
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.embedding import Models

Progress = Callable[[int], None]

TRIES = 3
"""A search whose index was replaced under it begins again."""


def _found(search: Search, query: Query, viewer: Viewer) -> Found:
    for _ in range(TRIES - 1):
        try:
            return search.run(query, viewer)
        except Superseded:
            continue
    return search.run(query, viewer)


class Recall:
    """`memory.recall`: safe to share between threads."""

    def __init__(
        self, database: Database, settings: Settings, clock: Clock, upkeep: Upkeep, principal: Principal = OWNER
    ) -> None:
        """`open_recall` makes the first one, `seen_by` others that share its index."""
        self._database = database
        self._settings = settings
        self._clock = clock
        self._upkeep = upkeep
        self._principal = principal

    def seen_by(self, principal: Principal) -> "Recall":
        """The same index, searched for somebody else. Whoever opened the first one closes it."""
        return Recall(self._database, self._settings, self._clock, self._upkeep, principal)

    def close(self) -> None:
        if not self._principal.is_confined:
            self._upkeep.close()

    # Finding

    def search(
        self,
        text: str,
        *,
        search_type: str = "both",
        limit: int = 10,
        since: datetime | None = None,
        until: datetime | None = None,
        as_of: datetime | None = None,
        authors: Sequence[str] = (),
        sources: Sequence[str] = (),
        projects: Sequence[str] = (),
        statuses: Sequence[str] = (),
        conversations: Sequence[str] = (),
        agent: str = "",
        now: datetime | None = None,
        zone: tzinfo | None = None,
        rerank: bool = False,
        fast: bool = False,
        explain: bool = False,
        fresh: bool = True,
    ) -> Found:
        """The best messages, records and sections of notes for a question, best first.

        `search_type`: conversations finds messages, facts records, notes notes, both all of them. Of records those that
        hold now; with `as_of` those that were believed then, and what had been said or written as it is by then.
        `agent`: as this agent sees it. `fresh`: first index what is new since the last time. `now` is when it is asked,
        `zone` where: what "yesterday" counts from. `rerank`: have a model read the best hits again, which is better and
        slower. `fast`: leave out the deep model, which is worse and quicker in a process that has just started.
        """
        if search_type not in list(SearchType):
            raise Invalid(f"No search type is called {search_type!r}. Known: {', '.join(SearchType)}.")
        lists = {
            "authors": authors,
            "sources": sources,
            "projects": projects,
            "statuses": statuses,
            "conversations": conversations,
        }
        for name, given in lists.items():
            if isinstance(given, str):
                raise Invalid(f"{name} must be a list: [{given!r}].")
        query = Query(
            text=text,
            search_type=SearchType(search_type),
            limit=limit,
            since=since,
            until=until,
            as_of=as_of,
            authors=tuple(authors),
            sources=tuple(sources),
            projects=tuple(projects),
            statuses=tuple(statuses),
            conversations=tuple(conversations),
            now=now or self._clock(),
            zone=zone,
            rerank=rerank,
            fast=fast,
            explain=explain,
        )
        check(query)
        viewer = self._viewer(agent)
        behind = self._upkeep.catch_up_for_search(query, viewer.scopes) if fresh else []
        found = self._upkeep.healed(lambda opened: _found(opened.search, query, viewer))
        found.lacks.extend(behind)
        return found

    def _viewer(self, agent: str) -> Viewer:
        material = self._upkeep.material
        principal = self._principal
        with self._database.read() as session:
            if agent and principal.is_confined and agent != principal.scope:
                raise Denied(f"{principal.name} may not search as {agent!r}. Leave the agent out.")
            if agent and not principal.is_confined:
                name, _, room = agent.partition("/")
                principal = principal_named(ScopeStore(session, self._settings.house), name, room)
            scopes = sight_of(session, self._settings.house, principal).scopes
        return Viewer(
            scopes=scopes,
            history=material.history.seen_by(principal),
            knowledge=material.knowledge.seen_by(principal),
            notes=material.notes.seen_by(principal),
        )

    def rarest(self, words: Sequence[str], number: int) -> list[str]:
        """Those of these words by which a search finds best: few messages, records and notes have them. They keep
        their order. In the whole house, so agents may not."""
        return self._kept().healed(lambda opened: opened.search.rarest(words, number))

    # Indexing: for the whole house, so agents may not

    def catch_up(self, on_progress: Progress = lambda _: None) -> int:
        """Index what is new: words, fast vectors. How many things were looked at."""
        return self._kept().catch_up(on_progress)

    def deepen(
        self,
        stop: Callable[[], bool] = lambda: False,
        on_total: Progress = lambda _: None,
        on_progress: Progress = lambda _: None,
    ) -> int:
        """Give documents the vectors of the deep model, the newest first; how many got theirs. Resumable any time."""
        return self._kept().deepen(stop, on_total, on_progress)

    def reindex(self, on_progress: Progress = lambda _: None, on_deepening: Progress = lambda _: None) -> None:
        """Build the index anew. The old one serves until the new one is whole. `on_deepening` hears how many documents
        got their deep vectors again."""
        self._kept().reindex(on_progress, on_deepening)

    def drop(self) -> None:
        """Remove the index of this house. The next search builds it."""
        self._kept().drop()

    def purge(self) -> int:
        """Remove what is left of what is no longer there; how many documents. Reads the whole index."""
        return self._kept().purge()

    def forget(self) -> int:
        """Follow what was erased, then remove all that is left of it, also in a build under way; how many documents.
        Part of every act of forgetting. What the engine keeps in its log is for `settle` of `place`."""
        return self._kept().forget()

    def place(self) -> Database:
        """Where the index lies: for who looks into its files."""
        return self._kept().place()

    def waiting(self) -> int:
        """How many messages, records and notes the next `catch_up` looks at."""
        return self._kept().waiting()

    def number(self) -> int:
        """How many messages, records and notes there are to index."""
        return self._kept().material.number()

    def state(self) -> IndexState:
        return self._kept().state()

    def _kept(self) -> Upkeep:
        if self._principal.is_confined:
            raise Denied(f"{self._principal.name} may search, but the index is the house's: only a person works on it.")
        return self._upkeep


def open_recall(
    database: Database,
    settings: Settings,
    material: Material,
    models: "Models",
    clock: Clock,
    recipe: Recipe = STANDARD,
) -> Recall:
    """Of a whole house."""
    return Recall(database, settings, clock, Upkeep(database, settings, material, models, recipe))
