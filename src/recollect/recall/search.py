"""One search: the question is read, documents are ranked, the best become hits."""

import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recollect.clock import LOCAL
from recollect.errors import RecollectError
from recollect.recall import keyword
from recollect.recall.diversity import diversified
from recollect.recall.filters import allowed_by, holds, in_milliseconds
from recollect.recall.hits import Found, Hit
from recollect.recall.index import Index, Snapshot
from recollect.recall.keyword import Term
from recollect.recall.periods import asked_periods, spans
from recollect.recall.query import Query, SearchType
from recollect.recall.ranking import PRECISION, Asked, Corpus, Ranking, rank
from recollect.recall.recipes import Recipe
from recollect.recall.rerank import READ, Candidate, judged
from recollect.recall.showing import Around, Chosen, described
from recollect.recall.time_phrases import asks_about_past
from recollect.recall.viewer import Viewer, text_of
from recollect.recall.words import STOP_WORDS, query_terms

if TYPE_CHECKING:
    from recollect.embedding import Embedder, Models, Reranker

MOST_WORDS = 300
"""Words of a question that are looked up. What is longer has something pasted into it."""
TELLING_WORDS = 40
"""Of them, those that tell most are ranked by."""
MOST_EMBEDDED = 2_000
"""Characters of a question that become its vector."""
COMPARED = 60
"""Best hits among which repetitions sink."""
SPELLINGS = 8
"""A word that nobody used may be the beginning of so many others."""
SHORTEST_BEGINNING = 3
"""Characters."""

CONTEXT_CHARACTERS = 300
"""Of the turns around a hit."""
KEPT_VIEWS = 8
"""Of the same snapshot, for agents in different scopes."""

Vector = NDArray[np.float32]


class Search:
    """Safe to share between threads."""

    def __init__(
        self,
        index: Index,
        models: "Models",
        recipe: Recipe,
        *,
        wants_deep: bool = True,
        wants_reranker: bool = True,
    ) -> None:
        self._index = index
        self._models = models
        self._recipe = recipe
        self._wants_deep = wants_deep
        self._wants_reranker = wants_reranker
        self._lock = threading.Lock()
        self._latest: Snapshot | None = None
        self._corpora: dict[tuple[str, ...] | None, Corpus] = {}

    def run(self, query: Query, viewer: Viewer) -> Found:
        started = time.perf_counter()
        lacks: list[str] = []
        static, deep = self._models.static, self._deep(query, lacks)
        corpus = self._corpus([static.name, deep.name] if deep else [static.name], viewer.scopes)
        snapshot = corpus.snapshot
        if query.search_type is SearchType.FACTS and not corpus.has_records:
            return _nothing("no facts are kept yet; `recollect remember` keeps one, `--type both` searches messages")
        if query.search_type is SearchType.NOTES and not corpus.has_notes:
            return _nothing("there are no notes to search; `recollect notes write` writes one")
        zone = query.zone or LOCAL
        periods = asked_periods(query.text, query.now, zone)
        terms = _terms(snapshot, query.text, len(corpus.alive))
        asked = Asked(
            terms=terms,
            static=(static.name, _embedded(static, query.text)),
            deep=_deep_question(deep, query.text, lacks) if deep and deep.name in snapshot.spreads else None,
            allowed=allowed_by(query, corpus, viewer),
            periods=spans(periods),
            now=None if asks_about_past(query.text, query.now, zone) else in_milliseconds(query.now),
        )
        if not terms and not asked.static[1].any():
            return Found(
                hits=[], milliseconds=_since(started), lacks=["the question has no word that can be looked up"]
            )
        ranking = rank(corpus, asked)
        if deep and len(corpus.alive) and deep.name not in snapshot.spreads:
            lacks.append("messages have only the fast vectors so far: `recollect reindex --deepen`, or `recollect up`")
        reranker = self._reranker(lacks) if query.rerank else None
        weights = {word: term.weight for term in terms for word in term.spellings}
        hits = self._hits(query, viewer, snapshot, ranking, weights, reranker)
        return Found(hits=hits, milliseconds=_since(started), periods=periods, lacks=lacks)

    def rarest(self, words: Sequence[str], number: int) -> list[str]:
        """Those of these words that the fewest documents have, of as rare ones the longest, in the order they came in.
        Words that are in none, and stop words, are left out: no search is told anything by them."""
        asked = {word: query_terms(word) for word in words if word.lower() not in STOP_WORDS}
        snapshot = self._corpus([self._models.static.name], None).snapshot
        postings = snapshot.postings_of(list({term for terms in asked.values() for term in terms}))
        having = {word: [len(postings[term][0]) for term in terms] for word, terms in asked.items()}
        fewest = {word: min(filter(None, numbers)) for word, numbers in having.items() if any(numbers)}
        chosen = sorted(fewest, key=lambda word: (fewest[word], -len(word)))[:number]
        return [word for word in fewest if word in chosen]

    def _corpus(self, models: Sequence[str], scopes: tuple[str, ...] | None) -> Corpus:
        snapshot = self._index.snapshot(models)
        with self._lock:
            if self._latest is not snapshot:
                self._latest = snapshot
                self._corpora.clear()
            if scopes not in self._corpora:
                if len(self._corpora) >= KEPT_VIEWS:
                    del self._corpora[next(iter(self._corpora))]
                seen = snapshot if scopes is None else snapshot.limited_to(scopes)
                self._corpora[scopes] = Corpus(seen, self._recipe)
            return self._corpora[scopes]

    # Models may be away: search goes on without them, and says so.

    def _deep(self, query: Query, lacks: list[str]) -> "Embedder | None":
        if query.fast:
            return None
        try:
            deep = self._models.deep
        except RecollectError as error:
            lacks.append(f"the deep model cannot be used: {_short(error)}")
            return None
        if deep is None and self._wants_deep:
            lacks.append("the deep model is not here: `recollect models pull` fetches it")
        return deep

    def _reranker(self, lacks: list[str]) -> "Reranker | None":
        try:
            reranker = self._models.reranker
        except RecollectError as error:
            lacks.append(f"the reranking model cannot be used: {_short(error)}")
            return None
        if reranker is None:
            lacks.append(
                "the reranking model is not here: `recollect models pull` fetches it"
                if self._wants_reranker
                else "reranking is switched off in the settings: rerank_model"
            )
        return reranker

    # Hits

    def _hits(
        self,
        query: Query,
        viewer: Viewer,
        snapshot: Snapshot,
        ranking: Ranking,
        weights: Mapping[str, float],
        reranker: "Reranker | None",
    ) -> list[Hit]:
        number = max(query.limit, READ if reranker else 0) + COMPARED // 2
        docs = ranking.docs[:number]
        ids = snapshot.document_ids(docs)
        found = {name: shown for name, shown in viewer.load(ids).items() if holds(shown, query)}
        chosen: Chosen = [
            (
                place,
                float(ranking.scores[place]),
                {name: float(values[place]) for name, values in ranking.parts.items()},
            )
            for place, document_id in enumerate(ids)
            if document_id in found
        ]
        shown = {place: found[ids[place]] for place, _, _ in chosen}
        texts = {place: text_of(item) for place, item in shown.items()}
        if reranker:
            chosen = self._reranked(query, viewer, snapshot, docs, chosen, texts, weights, reranker)
        chosen = _without_repetitions(chosen, texts, self._recipe.repetition, query.limit)[: query.limit]
        around = _around(query, viewer, snapshot, docs, [place for place, _, _ in chosen])
        return described(viewer, chosen, shown, weights, around, explain=query.explain)

    def _reranked(
        self,
        query: Query,
        viewer: Viewer,
        snapshot: Snapshot,
        docs: NDArray[np.int64],
        chosen: Chosen,
        texts: Mapping[int, str],
        weights: Mapping[str, float],
        reranker: "Reranker",
    ) -> Chosen:
        read, rest = chosen[:READ], chosen[READ:]
        places = [place for place, _, _ in read]
        before_docs = snapshot.neighbours(docs[places], -1)
        before_ids = snapshot.document_ids(before_docs[before_docs >= 0])
        names = dict(zip(before_docs[before_docs >= 0].tolist(), before_ids, strict=True))
        before = {name: text_of(shown) for name, shown in viewer.load(before_ids).items()}
        candidates = [
            Candidate(texts[place], before.get(names.get(int(doc), ""), ""))
            for place, doc in zip(places, before_docs, strict=True)
        ]
        judgements = judged(query.text[:MOST_EMBEDDED], candidates, weights, reranker) * self._recipe.rerank
        if not len(judgements):
            return chosen
        # The rest stays behind: what was read ends where it began, on average.
        judgements -= judgements.min()
        again = [
            (place, score + float(judgement), {**parts, "rerank": float(judgement)})
            for (place, score, parts), judgement in zip(read, judgements, strict=True)
        ]
        again.sort(key=lambda item: (-round(item[1], PRECISION), item[0]))
        return [*again, *rest]


def _around(
    query: Query, viewer: Viewer, snapshot: Snapshot, docs: NDArray[np.int64], places: Sequence[int]
) -> list[Around]:
    """What was said before and after each of these, as far as it may be shown."""
    chosen = docs[list(places)]
    sides = [snapshot.neighbours(chosen, distance) for distance in (-1, 1)]
    there = np.unique(np.concatenate(sides))
    there = there[there >= 0]
    if query.before:
        there = there[snapshot.facts.at[there] < in_milliseconds(query.before)]
    ids = dict(zip(there.tolist(), snapshot.document_ids(there), strict=True))
    loaded = viewer.load(list(ids.values()))
    texts = {doc: text_of(loaded[name]).strip() for doc, name in ids.items() if name in loaded}
    return [
        (texts.get(int(before), "")[-CONTEXT_CHARACTERS:], texts.get(int(after), "")[:CONTEXT_CHARACTERS])
        for before, after in zip(*sides, strict=True)
    ]


def _terms(snapshot: Snapshot, text: str, documents: int) -> list[Term]:
    """The words of the question that somebody used, the most telling first."""
    words = query_terms(text)[:MOST_WORDS]
    postings = snapshot.postings_of(words)
    terms: list[Term] = []
    for word in words:
        found, spellings = postings[word], (word,)
        if not len(found[0]) and len(word) >= SHORTEST_BEGINNING:
            longer = _longer(snapshot, word)
            found = keyword.merged(list(longer.values())) if longer else found
            spellings = tuple(longer)
        if len(found[0]):
            terms.append(Term(spellings, keyword.weight(documents, len(found[0])), *found))
    return sorted(terms, key=lambda term: (-term.weight, term.spellings))[:TELLING_WORDS]


def _longer(snapshot: Snapshot, beginning: str) -> dict[str, keyword.Postings]:
    """The first words that begin so and that somebody used. Words of dead documents may still stand among them."""
    found: dict[str, keyword.Postings] = {}
    after = ""
    while len(found) < SPELLINGS:
        page = snapshot.terms_with_prefix(beginning, SPELLINGS * 4, after)
        if not page:
            break
        after = page[-1]
        found.update((word, held) for word, held in snapshot.postings_of(page).items() if len(held[0]))
    return dict(list(found.items())[:SPELLINGS])


def _without_repetitions(chosen: Chosen, texts: Mapping[int, str], penalty: float, count: int) -> Chosen:
    compared, rest = chosen[:COMPARED], chosen[COMPARED:]
    words = [frozenset(texts[place][:2_000].lower().split()) for place, _, _ in compared]
    order = diversified([score for _, score, _ in compared], words, penalty, count)
    kept: Chosen = []
    for place, score in order:
        doc, before, parts = compared[place]
        kept.append((doc, score, {**parts, "repetition": score - before} if score < before else parts))
    return sorted([*kept, *rest], key=lambda item: (-round(item[1], PRECISION), item[0]))


def _embedded(embedder: "Embedder", text: str) -> Vector:
    return embedder.query(text[:MOST_EMBEDDED])


def _deep_question(deep: "Embedder", text: str, lacks: list[str]) -> tuple[str, Vector] | None:
    try:
        return deep.name, _embedded(deep, text)
    except RecollectError as error:
        lacks.append(f"the deep model gave no answer: {_short(error)}")
        return None


def _nothing(reason: str) -> Found:
    return Found(hits=[], milliseconds=0.0, lacks=[reason])


def _short(error: RecollectError) -> str:
    return str(error).rstrip(".")


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
