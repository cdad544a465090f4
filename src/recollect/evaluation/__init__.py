"""How well search finds the evidence: public data sets in, measures out.

A set goes through the same code as a person's transcripts: it is written as JSON lines, ingested, indexed, deepened and
searched. Each haystack has a home of its own that is deleted afterwards, so that nothing outside it can be found.
Nothing here is tuned to a set or learned from its questions, and all figures but those of speed are the same in every
run.

`datasets` and `official` read sets, `harness` runs them, `baselines` is what we compare with, `measures` is arithmetic.
"""

from recollect.evaluation.datasets import DataSet, Haystack, LeftOut, Question, Session, Turn
from recollect.evaluation.harness import evaluate
from recollect.evaluation.opening import KINDS, open_set
from recollect.evaluation.results import Result

__all__ = [
    "KINDS",
    "DataSet",
    "Haystack",
    "LeftOut",
    "Question",
    "Result",
    "Session",
    "Turn",
    "evaluate",
    "open_set",
]
