"""Which builds of the index there are: the one that serves, one that is built beside it, and those on their way out.

A generation is usable if this code's words, this static model and this history made it. One that is not is retired as
soon as somebody follows, whatever it is worth: terms and vectors of two makers are never mixed.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.database import Database
from recollect.recall.index.following import Material
from recollect.recall.index.store import Generation, GenerationStore, State
from recollect.recall.index.vectors import Place, StoredVectors, VectorWriter
from recollect.recall.passages import PASSAGES_VERSION
from recollect.recall.words import WORDS_VERSION

TEXT_VERSION = WORDS_VERSION * 1_000 + PASSAGES_VERSION
"""How texts are read: as terms and as passages."""
DELETED_ROWS = 5_000
"""In one transaction, when a generation is dropped: a follower never waits long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """What decides every row of a generation, beside the documents."""

    words_version: int
    static_model: str
    storage: str
    feed_id: str

    def made(self, generation: Generation) -> bool:
        return self == Maker(
            words_version=generation.words_version,
            static_model=generation.static_model,
            storage=generation.storage,
            feed_id=generation.feed_id,
        )


class Generations:
    def __init__(self, database: Database, house: str, stored: StoredVectors) -> None:
        self._database = database
        self._house = house
        self._stored = stored

    def serving(self, material: Material, static_model: str) -> int:
        """The generation to follow. A new one takes the place of what cannot be used, and serves from its first row:
        there is nothing else to search."""
        return self._current(State.SERVING, material, static_model)

    def building(self, material: Material, static_model: str) -> int:
        """The generation that is built beside the serving one: the one that was begun, or a new one."""
        return self._current(State.BUILDING, material, static_model)

    def _current(self, state: State, material: Material, static_model: str) -> int:
        maker = Maker(
            words_version=TEXT_VERSION,
            static_model=static_model,
            storage=self._stored.name,
            feed_id=material.feed_id(),
        )
        with self._database.read() as session:
            usable = self._usable(GenerationStore(session, self._house).every(), state, material, maker)
        if usable is not None:
            return usable
        change = material.last_change()
        with self._database.write() as session:
            store = GenerationStore(session, self._house)
            every = store.every()
            usable = self._usable(every, state, material, maker)
            if usable is not None:
                return usable
            for generation in every:
                if generation.state is state:
                    generation.state = State.RETIRED
                    store.save(generation)
            new = Generation(
                generation=_new_number(every),
                state=state,
                words_version=maker.words_version,
                static_model=maker.static_model,
                storage=maker.storage,
                feed_id=maker.feed_id,
                change=change,
                sources=[],
                scopes=[],
            )
            store.save(new)
            return new.generation

    def _usable(self, every: list[Generation], state: State, material: Material, maker: Maker) -> int | None:
        found = next((generation for generation in every if generation.state is state), None)
        return found.generation if found and maker.made(found) and material.can_follow(found.change) else None

    def switch(self, number: int) -> bool:
        """The built generation serves from now on; the one before is retired. False: it is not there any more."""
        with self._database.write() as session:
            store = GenerationStore(session, self._house)
            every = store.every()
            if not any(found.generation == number and found.state is State.BUILDING for found in every):
                return False
            for generation in every:
                if generation.state is State.SERVING:
                    generation.state = State.RETIRED
                elif generation.generation == number:
                    generation.state = State.SERVING
                store.save(generation)
        return True

    def drop_retired(self) -> None:
        """Remove the rows of what serves no more, in small steps. Goes on where it was killed."""
        with self._database.read() as session:
            every = GenerationStore(session, self._house).every()
        for generation in every:
            if generation.state is State.RETIRED:
                self._drop(generation.generation)

    def retire_building(self) -> None:
        """What is being built beside the serving one is begun anew by whoever builds."""
        with self._database.read() as session:
            if not any(found.state is State.BUILDING for found in GenerationStore(session, self._house).every()):
                return
        with self._database.write() as session:
            store = GenerationStore(session, self._house)
            for generation in store.every():
                if generation.state is State.BUILDING:
                    generation.state = State.RETIRED
                    store.save(generation)

    def drop(self) -> None:
        """Everything of this house."""
        with self._database.write() as session:
            store = GenerationStore(session, self._house)
            for generation in store.every():
                generation.state = State.RETIRED
                store.save(generation)
        self.drop_retired()

    def _drop(self, number: int) -> None:
        with self._database.write() as session:
            place = Place(session=session, house=self._house, generation=number, version=0)
            for model in VectorWriter(place, self._stored).models():
                self._stored.unsettle(place, model)
        left = True
        while left:
            with self._database.write() as session:
                place = Place(session=session, house=self._house, generation=number, version=0)
                left = self._stored.delete_some(place, DELETED_ROWS) or place.store.delete_some(DELETED_ROWS)
                if not left:
                    GenerationStore(session, self._house).delete(number)


def _new_number(every: Sequence[Generation]) -> int:
    """Greater than any before it, also than those that were dropped: a reader may still hold a snapshot of one."""
    return max(1 + max((generation.generation for generation in every), default=0), time.time_ns() // 1_000_000)
