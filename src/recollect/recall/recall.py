"""Recall: the one object through which everything that was said is found again.

Who may write: only this class, in the index, which is derived from history and can be dropped and built anew any time.
In history it only reads, and lets it forget changes that the index has followed.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, TypeVar

from recollect.clock import Clock
from recollect.database import Database
from recollect.errors import Damaged, Denied, Invalid, NotFound, Unavailable
from recollect.history import History
from recollect.recall.hits import Found
from recollect.recall.index import INDEX_NAME, Index, Superseded, open_index
from recollect.recall.query import Query, SearchType, check
from recollect.recall.recipes import STANDARD, Recipe
from recollect.recall.search import Search
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.embedding import Models

Progress = Callable[[int], None]
T = TypeVar("T")

KEPT_CHANGES = 10_000
"""Followed changes of history are forgotten in steps of so many."""
PATIENCE_SECONDS = 1.0
"""A search waits so long for others who index, then it takes the index as it is."""
TRIES = 3
"""A search whose index was replaced under it begins again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """How far the index is."""

    documents: int
    waiting: int
    """Changes of history that it has not followed."""
    deepened: int
    generation: int
    static: str
    deep: str
    """Empty: no deep model is here, or none is wanted."""
    bytes: int


@dataclass(frozen=True, slots=True)
class _Opened:
    """An index and what searches in it."""

    index: Index
    search: Search


def _found(search: Search, query: Query) -> Found:
    for _ in range(TRIES - 1):
        try:
            return search.run(query)
        except Superseded:
            continue
    return search.run(query)


class Recall:
    """`memory.recall`: safe to share between threads."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        history: History,
        models: "Models",
        clock: Clock,
        recipe: Recipe = STANDARD,
    ) -> None:
        self._history = history
        self._models = models
        self._clock = clock
        self._database = database
        self._settings = settings
        self._recipe = recipe
        self._writing = threading.RLock()
        self._rebuilding = threading.Lock()
        self._left: list[_Opened] = []
        self._opened = self._open()
        self._followed = 0

    def _open(self) -> "_Opened":
        index = open_index(self._database, self._settings.house)
        search = Search(
            index,
            self._history,
            self._models,
            self._recipe,
            wants_deep=bool(self._settings.deep_model),
            wants_reranker=bool(self._settings.rerank_model),
        )
        return _Opened(index, search)

    @property
    def _index(self) -> Index:
        return self._opened.index

    def _healed(self, work: "Callable[[_Opened], T]") -> T:
        """The result of some work with the index. One that is damaged, or whose file was taken away, is built again:
        nothing in it is an only copy."""
        opened = self._opened
        if opened.index.database.is_replaced():
            opened = self._begin_anew(opened, discard=False)
        try:
            return work(opened)
        except Damaged:
            return work(self._begin_anew(opened, discard=not opened.index.database.is_replaced()))

    def _begin_anew(self, opened: "_Opened", *, discard: bool) -> "_Opened":
        """Another index in the place of this one. Other threads may still read the old one, so it is closed at the
        end."""
        with self._writing:
            if self._opened is opened:
                if discard:
                    self._database.discard_beside(INDEX_NAME)
                self._left.append(opened)
                self._opened = self._open()
                self._index.follow(self._history, self._models.static)
            return self._opened

    def close(self) -> None:
        for opened in (*self._left, self._opened):
            opened.index.close()

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
        """The best messages for a question, best first.

        `fresh`: first index what was said since the last time. `now` is when it is asked, `zone` where: what
        "yesterday" counts from. `rerank`: have a model read the best hits again, which is better and slower.
        `fast`: leave out the deep model, which is worse and quicker in a process that has just started.
        """
        if agent:
            raise NotFound(f"No agent is called {agent!r} in this house: all history belongs to the house.")
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
        behind = self._catch_up_for_search() if fresh else ""
        found = self._healed(lambda opened: _found(opened.search, query))
        if behind:
            found.lacks.append(behind)
        return found

    def _catch_up_for_search(self) -> str:
        """Why what is new is not in the index; empty when it is. Who searches does not wait for a build, and what is
        there can be searched when nothing can be written."""
        is_built = self._healed(lambda opened: opened.index.reached()) is not None
        if not self._writing.acquire(timeout=PATIENCE_SECONDS if is_built else -1):
            return "the index is being written: what was said last may be missing"
        try:
            self.catch_up()
        except (Denied, Unavailable) as error:
            if not is_built:
                raise
            return f"what is new could not be indexed: {str(error).rstrip('.')}"
        finally:
            self._writing.release()
        return ""

    # Indexing

    def catch_up(self, on_progress: Progress = lambda _: None) -> int:
        """Index what history has and the index has not: words, fast vectors. How many messages were looked at."""
        with self._writing:
            static = self._models.static
            done = self._healed(lambda opened: opened.index.follow(self._history, static, on_progress=on_progress))
            self._followed += done
            if self._followed >= KEPT_CHANGES:
                self._followed = 0
                followed = self._index.consumed()
                if followed is not None:
                    self._history.forget_changes(followed)
            return done

    def deepen(
        self,
        stop: Callable[[], bool] = lambda: False,
        on_total: Progress = lambda _: None,
        on_progress: Progress = lambda _: None,
    ) -> int:
        """Give messages the vectors of the deep model, the newest first; how many got theirs. Resumable at any time."""
        deep = self._models.deep
        return self._index.deepen(self._history, deep, stop, on_total, on_progress) if deep else 0

    def reindex(self, on_progress: Progress = lambda _: None, on_deepening: Progress = lambda _: None) -> None:
        """Build the index anew. The old one serves until the new one is whole. `on_deepening` hears how many messages
        got their deep vectors again."""
        with self._rebuilding:
            static, deep = self._models.static, self._models.deep
            self._healed(lambda opened: opened.index.rebuild(self._history, static, on_progress, deep, on_deepening))

    def drop(self) -> None:
        """Remove the index of this house. The next search builds it."""
        with self._writing:
            self._index.drop()

    def purge(self) -> int:
        """Remove what is left of messages that are no longer there; how many. Reads the whole index."""
        with self._writing:
            figures = self._index.figures()
            return self._index.purge() if figures and figures.dead else 0

    def waiting(self) -> int:
        """How many messages the next `catch_up` looks at."""
        return self._history.waiting(self._index.reached())

    def state(self) -> IndexState:
        figures = self._index.figures()
        deep = self._models.deep
        name = deep.name if deep else ""
        return IndexState(
            documents=figures.documents if figures else 0,
            waiting=self._history.waiting(figures.change if figures and figures.is_paged else None),
            deepened=figures.with_vectors.get(name, 0) if figures else 0,
            generation=figures.generation if figures else 0,
            static=figures.static_model if figures else "",
            deep=name,
            bytes=figures.bytes if figures else 0,
        )
