"""From a question to documents in order: each step a function of its own, each part's share kept.

Candidates are the documents with the best words and those closest in meaning, and their neighbours; a small house is
looked at whole. Same documents, same question, same order on every engine and after every rebuild: what is equal in
score is ordered by the document's identity.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from recollect.feed import MESSAGE, NOTE, RECORD
from recollect.recall import closeness, keyword
from recollect.recall.decay import recency
from recollect.recall.index.formats import AUTHORS, KINDS
from recollect.recall.index.snapshot import Snapshot
from recollect.recall.keyword import Term
from recollect.recall.lending import Neighbourhood, need, neighbourhood
from recollect.recall.periods import Span, inside, near
from recollect.recall.recipes import Recipe

Floats = NDArray[np.float64]
Docs = NDArray[np.int64]
Allowed = NDArray[np.bool_]
Model = tuple[str, NDArray[np.float32]]
"""Its name, and the question as its vector."""

LOOKED_AT_WHOLE = 4_000
"""Documents. Up to so many, every one is a candidate."""
CANDIDATES = 400
"""From each way of finding. More changed nothing at a hundred times as many documents."""
_USER, _ASSISTANT = AUTHORS.index("user"), AUTHORS.index("assistant")
_MESSAGE, _RECORD, _NOTE = (KINDS.index(kind) for kind in (MESSAGE, RECORD, NOTE))
PRECISION = 4
"""Decimals of a score that count: beyond them, two engines add in different orders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, ready to be ranked by."""

    terms: Sequence[Term]
    static: Model
    deep: Model | None = None
    allowed: Allowed | None = None
    periods: Sequence[Span] = ()
    now: int | None = None
    """Milliseconds since 1970. None: how long ago something was said does not matter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Documents, best first, with their scores and what each part gave."""

    docs: Docs
    scores: Floats
    parts: Mapping[str, Floats]


class Corpus:
    """What ranking needs to know of all documents of a snapshot; worked out once for many questions."""

    def __init__(self, snapshot: Snapshot, recipe: Recipe) -> None:
        self.snapshot = snapshot
        self.recipe = recipe
        self.alive = np.flatnonzero(snapshot.alive)

    @cached_property
    def mean_length(self) -> float:
        return float(self.snapshot.facts.terms[self.alive].mean()) if len(self.alive) else 1.0

    @cached_property
    def norms(self) -> NDArray[np.float32]:
        return keyword.length_norms(self.snapshot.facts.terms, self.mean_length, self.recipe).astype(np.float32)

    @cached_property
    def is_record(self) -> Allowed:
        return self.snapshot.facts.kind == _RECORD

    @cached_property
    def has_records(self) -> bool:
        return bool(self.is_record[self.alive].any())

    @cached_property
    def is_note(self) -> Allowed:
        return self.snapshot.facts.kind == _NOTE

    @cached_property
    def has_notes(self) -> bool:
        return bool(self.is_note[self.alive].any())

    @cached_property
    def by_users(self) -> Allowed:
        return (self.snapshot.facts.author == _USER) & self.snapshot.alive

    @cached_property
    def users_words(self) -> Floats:
        """How many terms users used, by conversation."""
        facts = self.snapshot.facts
        size = int(facts.conversation.max()) + 1 if len(facts.conversation) else 0
        chosen = self.by_users
        words = facts.terms[chosen].astype(np.float64)
        return np.bincount(facts.conversation[chosen], words, minlength=size).astype(np.float64)


def rank(corpus: Corpus, asked: Asked) -> Ranking:
    snapshot = corpus.snapshot
    around = neighbourhood(_candidates(corpus, asked), snapshot.neighbours)
    if not len(around.docs):
        return Ranking(docs=around.docs, scores=np.zeros(0), parts={})
    parts = _parts(corpus, asked, around)
    total: Floats = np.round(sum(parts.values(), np.zeros(len(around.docs))), PRECISION)
    shown = np.arange(len(around.docs)) if asked.allowed is None else np.flatnonzero(asked.allowed[around.docs])
    order = shown[np.lexsort((snapshot.facts.identity[around.docs[shown]], -total[shown]))]
    return Ranking(
        docs=around.docs[order], scores=total[order], parts={name: values[order] for name, values in parts.items()}
    )


def _candidates(corpus: Corpus, asked: Asked) -> Docs:
    mask = asked.allowed
    allowed = None if mask is None else mask & corpus.snapshot.alive
    if (len(corpus.alive) if allowed is None else np.count_nonzero(allowed)) <= LOOKED_AT_WHOLE:
        return corpus.alive if allowed is None else np.flatnonzero(allowed)
    masks = [mask]
    if asked.periods:
        in_time = near(corpus.snapshot.facts.at, asked.periods)
        masks.append(in_time if mask is None else in_time & mask)
    return np.unique(np.concatenate(_best(corpus, asked, masks)))


def _best(corpus: Corpus, asked: Asked, masks: Sequence[Allowed | None]) -> list[Docs]:
    """The candidates of each way of finding, in all that is allowed by each mask."""
    found: list[Docs] = []
    if asked.terms:
        scores = keyword.own_scores(asked.terms, corpus.norms, corpus.recipe)
        found.extend(_highest(corpus, scores if mask is None else np.where(mask, scores, 0.0)) for mask in masks)
    models = [model for model in (asked.static, asked.deep) if model]
    nearest = corpus.snapshot.nearest
    found.extend(nearest(name, vector, mask, CANDIDATES)[0] for name, vector in models for mask in masks)
    return found


def _highest(corpus: Corpus, scores: NDArray[np.float32]) -> Docs:
    """The best documents; of those that tie with the last, the newest. People say "go on" a thousand times."""
    matching = np.flatnonzero(scores > 0)
    if len(matching) <= CANDIDATES:
        return matching
    there = scores[matching]
    least = np.partition(there, len(there) - CANDIDATES)[len(there) - CANDIDATES]
    better, tied = matching[there > least], matching[there == least]
    facts = corpus.snapshot.facts
    order = np.lexsort((facts.identity[tied], -facts.at[tied]))
    return np.concatenate([better, tied[order[: CANDIDATES - len(better)]]])


def _parts(corpus: Corpus, asked: Asked, around: Neighbourhood) -> dict[str, Floats]:
    facts, recipe = corpus.snapshot.facts, corpus.recipe
    docs = around.docs
    needs = need(facts.terms[docs], recipe.telling_words)
    points = _closeness(corpus, asked, around, needs)
    words = _keyword(corpus, asked.terms, around, needs)
    parts = {
        "keyword": words,
        "closeness": recipe.closeness * points,
        "conversation": _conversation(corpus, asked.terms, docs, points) + _own_words(corpus, docs, words),
        "author": np.where(facts.author[docs] == _ASSISTANT, recipe.assistant, 0.0),
        "asking": facts.asking[docs].astype(np.float64) * (recipe.asking / 100.0),
    }
    if asked.periods:
        parts["period"] = recipe.period * inside(facts.at[docs], asked.periods)
    elif asked.now is not None:
        parts["recency"] = recipe.recency * recency(facts.at[docs], asked.now, facts.evergreen[docs] == 1)
    return parts


def _keyword(corpus: Corpus, terms: Sequence[Term], around: Neighbourhood, needs: Floats) -> Floats:
    recipe = corpus.recipe
    if not terms:
        return np.zeros(len(around.docs))
    slots = np.full(corpus.snapshot.documents, -1, np.int32)
    slots[around.docs] = np.arange(len(around.docs), dtype=np.int32)
    norms = corpus.norms[around.docs].astype(np.float64)
    scores = keyword.lent_scores(terms, slots, around, norms, needs, recipe)
    return recipe.keyword * scores * (recipe.keyword_in_long + (1.0 - recipe.keyword_in_long) * needs)


def _closeness(corpus: Corpus, asked: Asked, around: Neighbourhood, needs: Floats) -> Floats:
    static, _ = _points(corpus, asked.static, around.docs)
    deep = _with_feedback(corpus, asked, asked.deep, around.docs, needs) if asked.deep else None
    points = closeness.united(deep, static, corpus.recipe)
    return closeness.with_neighbours(points, around, needs, corpus.recipe)


def _with_feedback(corpus: Corpus, asked: Asked, model: Model, docs: Docs, needs: Floats) -> Floats:
    """How close documents are to the question and, the more they say, to the question with its best hits."""
    snapshot, recipe = corpus.snapshot, corpus.recipe
    name, vector = model
    points, similarities = _points(corpus, model, docs)
    known = np.nan_to_num(similarities, nan=-1.0)
    if asked.allowed is not None:
        known = np.where(asked.allowed[docs], known, -1.0)
    first = np.lexsort((snapshot.facts.identity[docs], -known))[: closeness.FEEDBACK_PASSAGES]
    best = snapshot.best_passages(name, vector, docs[first])
    if not len(best):
        return points
    again, _ = _points(corpus, (name, closeness.with_best(vector, best, recipe)), docs)
    share = recipe.feedback * (1.0 - needs)
    return (1.0 - share) * points + share * again


def _points(corpus: Corpus, model: Model, docs: Docs) -> tuple[Floats, NDArray[np.float32]]:
    """How close documents are, calibrated, and as the model says it; NaN for those it does not know."""
    name, vector = model
    similarities = corpus.snapshot.similarities(name, vector, docs)
    passages, mean, covariance = corpus.snapshot.passage_spread(name)
    if not passages:
        return np.full(len(docs), np.nan), similarities
    question = vector.astype(np.float64)
    deviation = float(np.sqrt(max(question @ covariance @ question, 0.0)))
    passages_each = closeness.usual_passages(corpus.snapshot.facts.terms[docs])
    points = closeness.calibrated(similarities, passages_each, float(question @ mean), deviation, corpus.recipe)
    return points, similarities


def _conversation(corpus: Corpus, terms: Sequence[Term], docs: Docs, points: Floats) -> Floats:
    """What the conversation as a whole has to do with the question, for each of its documents."""
    recipe = corpus.recipe
    conversations = corpus.snapshot.facts.conversation
    names, places = np.unique(conversations[docs], return_inverse=True)
    best = np.full(len(names), -np.inf)
    np.maximum.at(best, places, points)
    scores = recipe.conversation * best
    if terms:
        words = keyword.conversation_scores(terms, conversations, corpus.by_users, corpus.users_words, recipe)
        scores += recipe.conversation_keyword * words[names]
    return scores[places]


def _own_words(corpus: Corpus, docs: Docs, words: Floats) -> Floats:
    """Records and notes are said by nobody: their own words take the place of those that users used in a
    conversation."""
    recipe = corpus.recipe
    is_said = corpus.snapshot.facts.kind[docs] == _MESSAGE
    return np.where(~is_said, recipe.conversation_keyword * words / recipe.keyword, 0.0)
