"""An index that followed a growing history finds what one finds that was built at the end, in the same order.

The stories of every source are told to a real history; in between somebody follows, stops in the middle, deepens,
builds anew, trims the changes, or starts again. The histories of `test_index_property.py` are made up; here they come
from files.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from conftest import OpenHouse
from house_of_words import WordVectors, contents_of
from hypothesis import given
from hypothesis import strategies as st
from stories import Files, Move, states
from stories.every import STORIES
from stories.looks import EXAMPLES, LOOKS, Look, lay, moves_of, property_with

import recollect
from recollect.recall.index import Index, Snapshot, open_index
from recollect.recall.material import Material, is_searched
from recollect.recall.words import query_terms

STATIC, DEEP = WordVectors(), WordVectors("deep-8", 8)
MODELS = [STATIC, DEEP]
QUERIES = 50
BEST = 10

DOINGS = st.lists(
    st.sampled_from(["follow", "some", "some", "deepen", "rebuild", "trim", "again", "purge", "nothing"]), max_size=12
)
"""What is done with the index after each look at the files; once the list is at its end it follows."""
LEAST = 8
"""Moves of a story: in a short one nothing is taken back that was indexed before."""

Found = list[tuple[str, float]]
"""Messages and their scores, best first."""


class Searcher:
    """The index of a house, and what happens to it."""

    def __init__(self, memory: recollect.Memory, index: Index) -> None:
        self.memory = memory
        self.index = index
        self.material = Material(memory.feed, memory.history, memory.knowledge, memory.notes)

    def do(self, doing: str) -> None:
        getattr(self, f"_{doing}")()

    def finish(self) -> None:
        self._follow()
        self._deepen()

    def _follow(self) -> None:
        self.index.follow(self.material, STATIC)

    def _some(self) -> None:
        self.index.follow(self.material, STATIC, 1)

    def _deepen(self) -> None:
        self.index.deepen(self.material, DEEP)

    def _rebuild(self) -> None:
        self.index.rebuild(self.material, STATIC)

    def _trim(self) -> None:
        consumed = self.index.consumed()
        if consumed is not None:
            self.material.trim(consumed)

    def _again(self) -> None:
        """As after a restart: nothing is remembered but what was committed."""
        self.index = Index(self.index.database, self.index.house, self.index.stored)

    def _purge(self) -> None:
        self.index.purge()

    def _nothing(self) -> None:
        pass


def keyword_search(snapshot: Snapshot, text: str) -> Found:
    """Plain BM25."""
    scores = np.zeros(snapshot.documents)
    alive = int(snapshot.alive.sum())
    lengths = snapshot.facts.terms * (alive / max(int(snapshot.facts.terms[snapshot.alive].sum()), 1))
    for docs, frequencies in snapshot.postings_of(query_terms(text)).values():
        weight = np.log1p((alive - len(docs) + 0.5) / (len(docs) + 0.5))
        scores[docs] += weight * frequencies / (frequencies + 0.3 + 0.9 * lengths[docs])
    docs = np.flatnonzero(scores)
    docs = docs[np.lexsort((snapshot.facts.identity[docs], -scores[docs]))][:BEST]
    return list(zip(snapshot.document_ids(docs), scores[docs].tolist(), strict=True))


def vector_search(snapshot: Snapshot, model: WordVectors, text: str) -> Found:
    docs, similarities = snapshot.nearest(model.name, model.query(text), None, BEST)
    return list(zip(snapshot.document_ids(docs), similarities.tolist(), strict=True))


def answers(index: Index, queries: list[str]) -> list[tuple[str, Found, Found, Found]]:
    snapshot = index.snapshot([model.name for model in MODELS])
    return [
        (
            text,
            keyword_search(snapshot, text),
            vector_search(snapshot, STATIC, text),
            vector_search(snapshot, DEEP, text),
        )
        for text in queries
    ]


def queries_from(memory: recollect.Memory) -> list[str]:
    """Some words that follow each other in a text, of what is searched and of what is not."""
    dice = random.Random(1)
    texts = [message.text.split() for message in memory.history.export() if message.text.split()]
    queries: list[str] = []
    for words in dice.choices(texts, k=QUERIES) if texts else []:
        start = dice.randrange(len(words))
        queries.append(" ".join(words[start : start + dice.randint(1, 4)]))
    return queries


@contextmanager
def index_of(memory: recollect.Memory) -> Iterator[Index]:
    index = open_index(memory.database, memory.settings.house)
    try:
        yield index
    finally:
        index.close()


def assert_following_finds_what_building_finds(
    name: str,
    open_house: OpenHouse,
    tmp_path: Path,
    story: tuple[list[Move], int, list[Look]],
    doings: list[str],
) -> None:
    memory = open_house()
    moves, variant, looks = story
    folder = tmp_path / f"{memory.settings.house}/searched"
    with index_of(memory) as index:
        searcher, left, before = Searcher(memory, index), iter(doings), Files()
        found = states(STORIES[name](variant), moves)
        for number, files in enumerate(found):
            parts = [part for place, part in looks if place % len(found) == number]
            for part in [*sorted(part for part in parts if part is not None), None]:
                lay(folder, files, before, part)
                memory.history.ingest([folder])
                searcher.do(next(left, "follow"))
            before = files
        searcher.finish()

        queries = queries_from(memory)
        followed = (answers(searcher.index, queries), contents_of(searcher.index, MODELS))
        searcher.index.drop()
        searcher.do("again")
        searcher.finish()
        assert followed == (answers(searcher.index, queries), contents_of(searcher.index, MODELS))
        searcher.do("rebuild")
        searcher.finish()
        assert followed[0] == answers(searcher.index, queries)
        assert_only_documents_are_found(memory, followed[0], followed[1]["facts"].keys())


def assert_only_documents_are_found(
    memory: recollect.Memory, found: list[tuple[str, Found, Found, Found]], indexed: Iterable[str]
) -> None:
    """All of them are there, and nothing that was left or is gone: two indexes that find nothing would be equal too."""
    documents = {message.id for message in memory.history.export() if is_searched(message)}
    assert set(indexed) == documents
    hits = Counter(message_id for _, *results in found for result in results for message_id, _ in result)
    assert hits.keys() <= documents
    assert hits or not documents


@pytest.mark.parametrize("name", STORIES)
def test_whatever_a_source_does_is_found_as_if_it_had_been_done_before_the_index_was_built(
    name: str, open_house: OpenHouse, tmp_path: Path
) -> None:
    """Every move in several ways, each followed at once: random stories are few, and leave some of them out."""
    for variant in range(STORIES[name].variants):
        moves = [(move, number) for number in (0, 1, 2) for move in ("prompt", *dict.fromkeys(STORIES[name].moves))]
        assert_following_finds_what_building_finds(name, open_house, tmp_path, (moves, variant, []), [])


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", STORIES)
def test_an_index_that_followed_a_growing_source_finds_what_a_new_one_finds(
    name: str, open_house: OpenHouse, tmp_path: Path
) -> None:
    @property_with(max(EXAMPLES // 2, 1))
    @given(moves_of(STORIES[name], LEAST), st.integers(0, STORIES[name].variants - 1), LOOKS, DOINGS)
    def check(moves: list[Move], variant: int, looks: list[Look], doings: list[str]) -> None:
        assert_following_finds_what_building_finds(name, open_house, tmp_path, (moves, variant, looks), doings)

    check()


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize("name", STORIES)
def test_so_does_one_on_the_other_engine(name: str, open_house: OpenHouse, tmp_path: Path) -> None:
    @property_with(max(EXAMPLES // 12, 1))
    @given(moves_of(STORIES[name], LEAST), st.integers(0, STORIES[name].variants - 1), LOOKS, DOINGS)
    def check(moves: list[Move], variant: int, looks: list[Look], doings: list[str]) -> None:
        assert_following_finds_what_building_finds(name, open_house, tmp_path, (moves, variant, looks), doings)

    check()
