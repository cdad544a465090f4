"""The measures of retrieval, exactly as others define them (docs/decisions/0018-evaluation.md). Pure.

`ranked` is ids, best first, each once; `gold` the ids of the evidence, at least one. All are shares from 0 to 1.
"""

import math
from collections.abc import Callable, Collection, Sequence

NDCG_DEPTH = 10


def any_at(k: int, ranked: Sequence[str], gold: Collection[str]) -> float:
    """Whether at least one piece of evidence is in the first k. LongMemEval's "R@5" in most reports."""
    return float(any(item in gold for item in ranked[:k]))


def all_at(k: int, ranked: Sequence[str], gold: Collection[str]) -> float:
    """Whether all evidence is in the first k."""
    return float(set(gold) <= set(ranked[:k]))


def recall_at(k: int, ranked: Sequence[str], gold: Collection[str]) -> float:
    """How much of the evidence is in the first k."""
    return len(set(gold) & set(ranked[:k])) / len(set(gold))


def ndcg(ranked: Sequence[str], gold: Collection[str], depth: int = NDCG_DEPTH) -> float:
    """The textbook one: rank i weighs 1 / log2(i + 1)."""
    return _gain(ranked, gold, depth, lambda rank: 1 / math.log2(rank + 1))


def ndcg_lme(ranked: Sequence[str], gold: Collection[str], depth: int = NDCG_DEPTH) -> float:
    """As LongMemEval's own script has it: ranks 1 and 2 weigh 1, rank i from there on 1 / log2(i)."""
    return _gain(ranked, gold, depth, lambda rank: 1 / math.log2(max(rank, 2)))


def _gain(ranked: Sequence[str], gold: Collection[str], depth: int, weight: Callable[[int], float]) -> float:
    """What the evidence in its places weighs, as a share of what it would weigh in the first places."""
    wanted = set(gold)
    reached = math.fsum(weight(rank) for rank, item in enumerate(ranked[:depth], 1) if item in wanted)
    return reached / math.fsum(weight(rank) for rank in range(1, min(len(wanted), depth) + 1))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """1 / the rank of the first evidence, 0 when there is none in the list."""
    return next((1 / rank for rank, item in enumerate(ranked, 1) if item in gold), 0.0)


MEASURES: dict[str, Callable[[Sequence[str], Collection[str]], float]] = {
    "any@1": lambda ranked, gold: any_at(1, ranked, gold),
    "any@5": lambda ranked, gold: any_at(5, ranked, gold),
    "any@10": lambda ranked, gold: any_at(10, ranked, gold),
    "all@5": lambda ranked, gold: all_at(5, ranked, gold),
    "all@10": lambda ranked, gold: all_at(10, ranked, gold),
    "recall@5": lambda ranked, gold: recall_at(5, ranked, gold),
    "recall@10": lambda ranked, gold: recall_at(10, ranked, gold),
    "ndcg@10": ndcg,
    "ndcg_lme@10": ndcg_lme,
    "mrr": reciprocal_rank,
}


def score(ranked: Sequence[str], gold: Collection[str]) -> dict[str, float]:
    """All measures of one question."""
    return {name: measure(ranked, gold) for name, measure in MEASURES.items()}


def mean(scores: Sequence[dict[str, float]]) -> dict[str, float]:
    """Each measure's mean over questions, to six places, which no order of adding changes."""
    return {name: round(math.fsum(one[name] for one in scores) / len(scores), 6) for name in MEASURES} if scores else {}


def by_best(ranked: Sequence[str], group_of: dict[str, str]) -> list[str]:
    """Turns to sessions: a session stands where its best turn stands."""
    return list(dict.fromkeys(group_of[item] for item in ranked))


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that so great a share does not exceed; 0 for none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0
