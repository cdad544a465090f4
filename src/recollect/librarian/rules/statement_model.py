"""The weights of the reader of statements: what a clause most likely is, and how sure that is.

`statements.weights` lies beside this file: a line of JSON (labels, steps, offsets, digest of the corpus), then a whole
number of 8 bits for each feature and label. A weight is that number times its label's step. Read without numpy, which
takes longer to import than a conversation takes to read.
"""

import json
from dataclasses import dataclass
from functools import cache
from math import exp, sqrt
from pathlib import Path

from recollect.errors import Corrupt
from recollect.librarian.rules.statement_features import WIDTH, features_of

LABELS = ("none", "user", "person", "preference", "rule", "project", "decision", "commitment", "insight", "milestone")
NONE = 0
"""Whatever is no lasting statement: requests, states of the work at hand, moods, chatter."""
GROUPS = ((1, 2, 5), (3,), (4,), (6,), (7,), (8,), (9,))
"""Labels that become the same kind of record are one when they are compared: facts of whomever or whatever."""
PATH = Path(__file__).with_name("statements.weights")


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    label: str
    """The likeliest of the likeliest group that is not `none`."""
    share: float
    """Of 1: how likely it is lasting at all, whatever its label."""
    clearness: float
    """Of 1: how much of that is of the group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    weights: bytes
    """Signed, all labels of a feature side by side."""
    steps: tuple[float, ...]
    offsets: tuple[float, ...]
    digest: str

    def guess(self, said: str) -> Guess:
        shares = self._shares(said)
        lasting = sum(shares[NONE + 1 :])
        owns = [sum(shares[label] for label in group) for group in GROUPS]
        own = max(owns)
        best = max(GROUPS[owns.index(own)], key=lambda label: shares[label])
        return Guess(label=LABELS[best], share=lasting / sum(shares), clearness=own / lasting)

    def _shares(self, said: str) -> list[float]:
        """Of each label, relative to the highest."""
        signed = memoryview(self.weights).cast("b")
        places = features_of(said)
        count = len(LABELS)
        rows = [signed[place * count : (place + 1) * count] for place in places]
        length = sqrt(len(places))
        sums = [sum(column) for column in zip(*rows, strict=True)]
        scores = [
            one * step / length + offset for one, step, offset in zip(sums, self.steps, self.offsets, strict=True)
        ]
        highest = max(scores)
        return [max(exp(score - highest), 1e-9) for score in scores]

    def save(self, path: Path = PATH) -> None:
        head = {"labels": LABELS, "steps": self.steps, "offsets": self.offsets, "corpus": self.digest}
        path.write_bytes(json.dumps(head).encode() + b"\n" + self.weights)


@cache
def load(path: Path = PATH) -> Model:
    """Read when the first clause asks for it."""
    head, _, weights = path.read_bytes().partition(b"\n")
    known = json.loads(head)
    if len(weights) != WIDTH * len(LABELS) or tuple(known["labels"]) != LABELS:
        raise Corrupt(f"{path} does not fit this version. Install Recollect again.")
    return Model(
        weights=weights, steps=tuple(known["steps"]), offsets=tuple(known["offsets"]), digest=str(known["corpus"])
    )
