"""What a search reads: the documents of one version of the index, in memory, and the rows it looks up as it goes.

A snapshot never changes; a later one shares the arrays that are still right. Documents are numbered once and for all,
so rows that were written after the snapshot are told by their numbers and left out: no reader sees half a commit.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from recollect.database import Database
from recollect.errors import Unavailable
from recollect.recall.index.formats import Floats, question, read_postings
from recollect.recall.index.spread import Spread
from recollect.recall.index.store import GenerationStore, IndexStore, State
from recollect.recall.index.vectors import Allowed, Docs, SearchedVectors

PLACE_BITS = 39
"""Of a position in a file, in the number that puts documents in order: half a terabyte."""
LAST_CHARACTER = "\U0010ffff"


class Superseded(Unavailable):
    """A new generation took the place of the one that this snapshot is of: take another snapshot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactColumns:
    """One array for each fact, by document."""

    identity: NDArray[np.uint64]
    """A number that a document has in every build of the index: decides ties."""
    conversation: NDArray[np.int32]
    place: NDArray[np.int64]
    """Order inside a conversation."""
    at: NDArray[np.int64]
    """Milliseconds since 1970, UTC; formats.NO_TIME where none is known."""
    known: NDArray[np.int64]
    """Milliseconds: when it came to be as it is. The same as `at`, but of a note about another day."""
    author: NDArray[np.uint8]
    """Place in formats.AUTHORS."""
    source: NDArray[np.uint8]
    """Place in Snapshot.sources."""
    scope: NDArray[np.uint16]
    """Place in Snapshot.scopes."""
    kind: NDArray[np.uint8]
    """Place in formats.KINDS."""
    until: NDArray[np.int64]
    """Milliseconds: when something else took its place; formats.FOREVER where nothing did."""
    expires: NDArray[np.int64]
    evergreen: NDArray[np.uint8]
    terms: NDArray[np.uint32]
    asking: NDArray[np.uint8]
    """Percent of its words that stand in questions."""
    state: NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    database: Database
    house: str
    generation: int
    version: int
    documents: int
    """Numbers given out: every document's is smaller."""
    facts: FactColumns
    sources: list[str]
    scopes: list[str]
    is_limited: bool = False
    """Some documents that have vectors are none here."""
    spreads: Mapping[str, Spread] = field(default_factory=dict[str, Spread])
    vectors: Mapping[str, SearchedVectors] = field(default_factory=dict[str, SearchedVectors])

    # Documents

    @cached_property
    def alive(self) -> Allowed:
        return self.facts.state == 1

    @cached_property
    def _is_whole(self) -> bool:
        """No document is dead: nothing has to be sorted out."""
        return bool(self.alive.all())

    @cached_property
    def _order(self) -> Docs:
        """Documents by conversation and place."""
        docs = np.flatnonzero(self.alive)
        keys = self.facts.conversation[docs].astype(np.int64) << PLACE_BITS
        keys |= np.minimum(self.facts.place[docs], (1 << PLACE_BITS) - 1)
        return docs[np.argsort(keys, kind="stable")]

    @cached_property
    def _ranks(self) -> NDArray[np.int32]:
        """Where in the order each document is; -1 for the dead."""
        ranks = np.full(self.documents, -1, np.int32)
        ranks[self._order] = np.arange(len(self._order), dtype=np.int32)
        return ranks

    def neighbours(self, docs: Docs, distance: int) -> Docs:
        """For each document the one so many places after it (before it, if negative) in its conversation, or -1."""
        found = np.full(len(docs), -1, np.int64)
        ranks = self._ranks[docs].astype(np.int64)
        targets = ranks + distance
        reached = np.flatnonzero((ranks >= 0) & (targets >= 0) & (targets < len(self._order)))
        others = self._order[targets[reached]]
        same = self.facts.conversation[others] == self.facts.conversation[docs[reached]]
        found[reached[same]] = others[same]
        return found

    def conversation_documents(self, conversations: Sequence[int] | NDArray[np.int32]) -> Docs:
        """The documents of these conversations, in the order of conversation and place."""
        wanted = np.unique(np.asarray(conversations, np.int32))
        ordered = self.facts.conversation[self._order]
        starts, ends = np.searchsorted(ordered, wanted), np.searchsorted(ordered, wanted, side="right")
        parts = [self._order[start:end] for start, end in zip(starts, ends, strict=True)]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def limited_to(self, scopes: Collection[str]) -> "Snapshot":
        """As if there were nothing but what lies in these scopes."""
        codes = [code for code, scope in enumerate(self.scopes) if scope in scopes]
        seen = np.isin(self.facts.scope, codes)
        if seen[self.alive].all():
            return self
        facts = replace(self.facts, state=np.where(seen, self.facts.state, np.uint8(0)))
        return replace(self, facts=facts, is_limited=True)

    # Words

    def postings(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        return self.postings_of([term])[term]

    def postings_of(self, terms: Sequence[str]) -> dict[str, tuple[NDArray[np.int32], NDArray[np.uint8]]]:
        """For each term the documents that have it, ascending, and how often (255 stands for more)."""
        with self.database.read() as session:
            self._check(GenerationStore(session, self.house))
            rows = IndexStore(session, self.house, self.generation).postings(terms)
        return {term: self._present(*read_postings(rows.get(term, []))) for term in terms}

    def _present(
        self, docs: NDArray[np.int32], frequencies: NDArray[np.uint8]
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        if len(docs) and docs[-1] >= self.documents:
            number = int(np.searchsorted(docs, self.documents))
            docs, frequencies = docs[:number], frequencies[:number]
        if self._is_whole:
            return docs, frequencies
        kept = self.alive[docs]
        return docs[kept], frequencies[kept]

    def terms_with_prefix(self, prefix: str, limit: int, after: str = "") -> list[str]:
        """In the order of their letters, those after one."""
        with self.database.read() as session:
            self._check(GenerationStore(session, self.house))
            store = IndexStore(session, self.house, self.generation)
            return store.terms(max(prefix, after + "\x01") if after else prefix, prefix + LAST_CHARACTER, limit)

    # Vectors

    def nearest(self, model: str, vector: Floats, allowed: Allowed | None, count: int) -> tuple[Docs, Floats]:
        """The documents whose best passage is most like the vector; best first, ties by identity."""
        searched = self.vectors.get(model)
        if searched is None:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        if self.is_limited:
            allowed = self.alive if allowed is None else allowed & self.alive
        docs, found = searched.nearest(question(vector), allowed, count)
        order = np.lexsort((self.facts.identity[docs], -found))[:count]
        return docs[order], found[order]

    def similarities(self, model: str, vector: Floats, docs: Docs) -> Floats:
        """How like the vector each document's best passage is; NaN for one without vectors of that model."""
        searched = self.vectors.get(model)
        if searched is None:
            return np.full(len(docs), np.nan, np.float32)
        return searched.similarities(question(vector), np.asarray(docs, np.int64))

    def best_passages(self, model: str, vector: Floats, docs: Docs) -> Floats:
        """The passage of each document that is most like the vector, for documents that have any."""
        searched = self.vectors.get(model)
        every = [searched.passages_of(int(doc)) for doc in docs] if searched else []
        found = [passages[int(np.argmax(passages @ vector))] for passages in every if len(passages)]
        return np.stack(found) if found else np.empty((0, len(vector)), np.float32)

    def passage_spread(self, model: str) -> tuple[int, NDArray[np.float64], NDArray[np.float64]]:
        """How many passages there are, their mean vector and their covariance."""
        spread = self.spreads.get(model)
        if spread is None or not spread.passages:
            return 0, np.empty(0), np.empty((0, 0))
        return spread.passages, spread.mean(), spread.covariance()

    # Names

    def document_ids(self, docs: Docs) -> list[str]:
        """Of each document. Empty for one that died since this snapshot was taken."""
        with self.database.read() as session:
            self._check(GenerationStore(session, self.house))
            found = IndexStore(session, self.house, self.generation).document_ids(np.asarray(docs).tolist())
        return [found.get(int(doc), "") for doc in docs]

    def docs_of(self, document_ids: Sequence[str]) -> dict[str, int]:
        """Only of documents of this snapshot."""
        with self.database.read() as session:
            self._check(GenerationStore(session, self.house))
            known = IndexStore(session, self.house, self.generation).known(document_ids)
        return {document_id: item.doc for document_id, item in known.items() if item.doc < self.documents}

    def conversation_ordinals(self, keys: Sequence[str]) -> dict[str, int]:
        with self.database.read() as session:
            self._check(GenerationStore(session, self.house))
            return IndexStore(session, self.house, self.generation).conversations(keys)

    def conversation_keys(self, conversations: Sequence[int]) -> dict[int, str]:
        with self.database.read() as session:
            self._check(GenerationStore(session, self.house))
            return IndexStore(session, self.house, self.generation).conversation_keys(
                [int(conversation) for conversation in conversations]
            )

    def _check(self, generations: GenerationStore) -> None:
        """In the same transaction as the rows that are read: a retired generation may have lost some of them."""
        generation = generations.get(self.generation) if self.generation else None
        if self.generation and (generation is None or generation.state is State.RETIRED):
            raise Superseded("The index was built anew while it was searched. Search again.")
