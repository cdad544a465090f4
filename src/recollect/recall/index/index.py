"""The index as the rest of recall sees it: follow, deepen, rebuild, purge, drop, and snapshots to search in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.database import Database
from recollect.errors import Damaged
from recollect.recall.index.blocks import BlockVectors
from recollect.recall.index.deepening import Deepening
from recollect.recall.index.following import Follower, Material, Progress
from recollect.recall.index.generations import Generations
from recollect.recall.index.pgvector import open_pgvector
from recollect.recall.index.purging import Purge, is_due
from recollect.recall.index.reader import Reader
from recollect.recall.index.schema import make_tables
from recollect.recall.index.snapshot import Snapshot
from recollect.recall.index.spread import Spread
from recollect.recall.index.store import Generation, GenerationStore, IndexStore, State
from recollect.recall.index.vectors import SPREAD, StoredVectors

if TYPE_CHECKING:
    from recollect.embedding import Embedder

NAME = "recall"
"""Of the place beside the database: `recollect.recall.db` beside `recollect.db`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFigures:
    """How the serving generation stands."""

    generation: int
    documents: int
    dead: int
    change: int
    is_paged: bool
    """Everything that was there when it was begun has been read."""
    static_model: str
    with_vectors: dict[str, int]
    """Documents that have vectors, by model."""
    bytes: int


def open_index(database: Database, house: str) -> "Index":
    """The index beside this database, which is where history lies. Closed by whoever opened it. One that is damaged is
    thrown away: it is built again by whoever follows."""
    try:
        return _open(database, house)
    except Damaged:
        database.discard_beside(NAME)
        return _open(database, house)


def _open(database: Database, house: str) -> "Index":
    beside = database.beside(NAME)
    try:
        make_tables(beside)
        return Index(beside, house, open_pgvector(beside) or BlockVectors())
    except BaseException:
        beside.close()
        raise


class Index:
    """The index of one house."""

    def __init__(self, database: Database, house: str, stored: StoredVectors) -> None:
        """`database` has the tables of the index; `open_index` makes them."""
        self.house = house
        self.database = database
        self.stored = stored
        self._generations = Generations(database, house, stored)
        self._follower = Follower(database, house, stored)
        self._reader = Reader(database, house, stored)

    def close(self) -> None:
        self.database.close()

    # Writing

    def follow(
        self, material: Material, static: "Embedder", limit: int | None = None, on_progress: Progress = lambda _: None
    ) -> int:
        """Index what there is and the index has not; how many things were looked at."""
        number = self._generations.serving(material, static.name)
        done = self._follower.follow(number, material, static, limit, on_progress)
        self._generations.drop_retired()
        generation = self._generation(number)
        if generation and is_due(generation.documents, generation.dead):
            Purge(self.database, self.house, number).run()
        return done

    def deepen(
        self,
        material: Material,
        deep: "Embedder",
        stop: Callable[[], bool] = lambda: False,
        on_total: Progress = lambda _: None,
        on_progress: Progress = lambda _: None,
    ) -> int:
        """Give documents of the serving generation the vectors of a deep model; how many got theirs."""
        generation = self._serving()
        if generation is None:
            return 0
        deepening = Deepening(self.database, self.house, generation.generation, self.stored)
        done = deepening.run(material, deep, stop, on_total, on_progress)
        if not stop():
            self.settle()
        return done

    def settle(self) -> None:
        """Do what makes a large index quicker and takes long. Part of `deepen`; for who has no deep model."""
        generation = self._serving()
        if generation is None:
            return
        for name, spread in self._spreads(generation).items():
            self.stored.settle(self.house, generation.generation, name, spread.passages, len(spread.sums))

    def rebuild(
        self,
        material: Material,
        static: "Embedder",
        on_progress: Progress = lambda _: None,
        deep: "Embedder | None" = None,
        on_deepening: Progress = lambda _: None,
    ) -> None:
        """Build the index anew. The old one serves until the new one is whole, with the vectors of the deep model if
        the old one had any. Goes on with one that was begun."""
        figures = self.figures()
        is_built = False
        while not is_built:
            number = self._generations.building(material, static.name)
            self._follower.follow(number, material, static, None, on_progress)
            if deep and figures and figures.with_vectors.get(deep.name):
                deepening = Deepening(self.database, self.house, number, self.stored)
                deepening.run(material, deep, on_progress=on_deepening)
                self._follower.follow(number, material, static, None, on_progress)
            is_built = self._generations.switch(number)  # Not if something was forgotten meanwhile.
        self._generations.drop_retired()

    def purge(self) -> int:
        """Remove what is left of dead documents; how many there were."""
        generation = self._serving()
        removed = Purge(self.database, self.house, generation.generation).run() if generation else 0
        if removed:
            self.database.compact()
        return removed

    def forget(self) -> int:
        """Remove what is left of dead documents everywhere: in what serves, which has followed their death, in what is
        being built beside it, and in what is on its way out. How many there were."""
        self._generations.retire_building()
        self._generations.drop_retired()
        generation = self._serving()
        return Purge(self.database, self.house, generation.generation).run() if generation else 0

    def drop(self) -> None:
        """Remove everything of this house."""
        self._generations.drop()

    # Reading

    def snapshot(self, models: Sequence[str] = ()) -> Snapshot:
        """What is searched: the index as it is now, with the vectors of these models."""
        return self._reader.snapshot(models)

    def consumed(self) -> int | None:
        """The change that every generation has followed: earlier ones may be forgotten. None: there is no index."""
        with self.database.read() as session:
            every = GenerationStore(session, self.house).every()
        return min((found.change for found in every if found.state is not State.RETIRED), default=None)

    def reached(self) -> int | None:
        """The change that the serving generation has followed. None: it has not read everything once."""
        generation = self._serving()
        return generation.change if generation and generation.is_paged else None

    def figures(self) -> IndexFigures | None:
        """None: there is no index yet."""
        with self.database.read() as session:
            generation = GenerationStore(session, self.house).serving()
        if generation is None:
            return None
        spreads = self._spreads(generation)
        return IndexFigures(
            generation=generation.generation,
            documents=generation.documents,
            dead=generation.dead,
            change=generation.change,
            is_paged=generation.is_paged,
            static_model=generation.static_model,
            with_vectors={name: spread.documents for name, spread in spreads.items()},
            bytes=self.database.size_bytes(),
        )

    def _spreads(self, generation: Generation) -> dict[str, Spread]:
        with self.database.read() as session:
            store = IndexStore(session, self.house, generation.generation)
            data = {kind.removeprefix(SPREAD): store.blocks(kind, [0])[0] for kind in store.kinds(SPREAD)}
        return {name: Spread.read(packed) for name, packed in data.items()}

    def _serving(self) -> Generation | None:
        with self.database.read() as session:
            return GenerationStore(session, self.house).serving()

    def _generation(self, number: int) -> Generation | None:
        with self.database.read() as session:
            return GenerationStore(session, self.house).get(number)
