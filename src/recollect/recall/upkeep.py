"""Keeps the index: opens it, lets it follow, heals it, builds it anew. Shared by everybody who searches in one process.

Derived: an index that is damaged, or whose file was taken away, is built again, as nothing in it is an only copy.
"""

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from recollect.database import Database
from recollect.errors import Damaged, Denied, RecollectError, Unavailable
from recollect.notes.notes import FOLDER
from recollect.notes.paths import scope_of
from recollect.recall.index import INDEX_NAME, Index, open_index
from recollect.recall.material import Material
from recollect.recall.query import Query
from recollect.recall.recipes import Recipe
from recollect.recall.search import Search
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.embedding import Models

Progress = Callable[[int], None]
T = TypeVar("T")

KEPT_CHANGES = 10_000
"""The feed is told how far the index is in steps of so many changes."""
TOLD = 3
"""Files of notes that cannot be read, named in an answer."""
PATIENCE_SECONDS = 1.0
"""A search waits so long for others who index, then it takes the index as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """How far the index is."""

    documents: int
    waiting: int
    """Changes that it has not followed."""
    deepened: int
    generation: int
    static: str
    deep: str
    """Empty: no deep model is here, or none is wanted."""
    bytes: int


@dataclass(frozen=True, slots=True)
class Opened:
    """An index and what searches in it."""

    index: Index
    search: Search


class Upkeep:
    """Safe to share between threads."""

    def __init__(
        self, database: Database, settings: Settings, material: Material, models: "Models", recipe: Recipe
    ) -> None:
        self.material = material
        self._models = models
        self._database = database
        self._settings = settings
        self._recipe = recipe
        self._writing = threading.RLock()
        self._rebuilding = threading.Lock()
        self._left: list[Opened] = []
        self._opened = self._open()
        self._followed = 0

    def _open(self) -> Opened:
        index = open_index(self._database, self._settings.house)
        search = Search(
            index,
            self._models,
            self._recipe,
            wants_deep=bool(self._settings.deep_model),
            wants_reranker=bool(self._settings.rerank_model),
        )
        return Opened(index, search)

    @property
    def _index(self) -> Index:
        return self._opened.index

    def close(self) -> None:
        for opened in (*self._left, self._opened):
            opened.index.close()

    # Healing

    def healed(self, work: Callable[[Opened], T]) -> T:
        """The result of some work with the index; one that is damaged or was taken away is built again first."""
        opened = self._opened
        if opened.index.database.is_replaced():
            opened = self._begin_anew(opened, discard=False)
        try:
            return work(opened)
        except Damaged:
            return work(self._begin_anew(opened, discard=not opened.index.database.is_replaced()))

    def _begin_anew(self, opened: Opened, *, discard: bool) -> Opened:
        """Another index in the place of this one. Other threads may still read the old one, so it is closed at the
        end."""
        with self._writing:
            if self._opened is opened:
                if discard:
                    self._database.discard_beside(INDEX_NAME)
                self._left.append(opened)
                self._opened = self._open()
                self._index.follow(self.material, self._models.static)
            return self._opened

    # Indexing

    def catch_up(self, on_progress: Progress = lambda _: None) -> int:
        with self._writing:
            static = self._models.static
            done = self.healed(lambda opened: opened.index.follow(self.material, static, on_progress=on_progress))
            self._followed += done
            if self._followed >= KEPT_CHANGES:
                self._followed = 0
                followed = self._index.consumed()
                if followed is not None:
                    self.material.trim(followed)
            return done

    def catch_up_for_search(self, query: Query, scopes: Collection[str] | None = None) -> list[str]:
        """Why what is new is not in the index, as far as these scopes may know; nothing when it is. Who searches does
        not wait for a build, and what is there can be searched when nothing can be written."""
        is_built = self.healed(lambda opened: opened.index.reached()) is not None
        if not self._writing.acquire(timeout=PATIENCE_SECONDS if is_built else -1):
            return ["the index is being written: what was said last may be missing"]
        missing: list[str] = []
        try:
            if query.can_find_notes:
                missing += self._look(scopes)
            self.catch_up()
        except (Denied, Unavailable) as error:
            if not is_built:
                raise
            missing.append(f"what is new could not be indexed: {str(error).rstrip('.')}")
        finally:
            self._writing.release()
        return missing

    def _look(self, scopes: Collection[str] | None) -> list[str]:
        """Let the notes see what others changed in their files. What could not be read, in words for people."""
        try:
            problems = self.material.notes.look().problems
        except (RecollectError, OSError) as error:
            reason = f": {str(error).rstrip('.')}" if scopes is None else ""
            return [f"the files of the notes could not be looked at{reason}"]
        seen = [problem for problem in problems if scopes is None or scope_of(problem.path) in scopes]
        told = [f"{FOLDER}/{problem.path} is not searched: {problem.reason.rstrip('.')}" for problem in seen[:TOLD]]
        return [*told, f"{len(seen) - TOLD} more files of the notes are not searched"] if len(seen) > TOLD else told

    def deepen(self, stop: Callable[[], bool], on_total: Progress, on_progress: Progress) -> int:
        deep = self._models.deep
        return self._index.deepen(self.material, deep, stop, on_total, on_progress) if deep else 0

    def reindex(self, on_progress: Progress, on_deepening: Progress) -> None:
        with self._rebuilding:
            static, deep = self._models.static, self._models.deep
            self.healed(lambda opened: opened.index.rebuild(self.material, static, on_progress, deep, on_deepening))

    def drop(self) -> None:
        with self._writing:
            self._index.drop()

    def purge(self) -> int:
        with self._writing:
            figures = self._index.figures()
            return self._index.purge() if figures and figures.dead else 0

    def forget(self) -> int:
        with self._writing:
            if self.healed(lambda opened: opened.index.figures()) is not None:
                self.catch_up()
            return self._index.forget()

    def place(self) -> Database:
        """Where the index lies."""
        return self._index.database

    # How far it is

    def waiting(self) -> int:
        return self.material.waiting(self._index.reached())

    def state(self) -> IndexState:
        figures = self._index.figures()
        deep = self._models.deep
        name = deep.name if deep else ""
        return IndexState(
            documents=figures.documents if figures else 0,
            waiting=self.material.waiting(figures.change if figures and figures.is_paged else None),
            deepened=figures.with_vectors.get(name, 0) if figures else 0,
            generation=figures.generation if figures else 0,
            static=figures.static_model if figures else "",
            deep=name,
            bytes=figures.bytes if figures else 0,
        )
