"""Train the librarian's reader of statements on the labelled sentences, or measure it on what it has not seen.

    python scripts/train_statements.py            # writes the weights into the package
    python scripts/train_statements.py --measure  # each file and each fifth left out in turn; writes nothing

The corpus is benchmarks/librarian/sentences/*.tsv: `label<TAB>sentence` a line; a line with `#` begins a group (a
conversation) whose lines are left out together. The same corpus gives the same weights: softmax regression with a
quadratic penalty, found by L-BFGS from zero, in double precision, then rounded to 8 bits.
"""

import argparse
import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy
from numpy.typing import NDArray

from recollect.librarian.rules.clauses import opening_of
from recollect.librarian.rules.standing import stands_alone
from recollect.librarian.rules.statement_features import WIDTH, features_of
from recollect.librarian.rules.statement_model import LABELS, NONE, PATH, Model
from recollect.librarian.speech.filters import why_not

CORPUS = Path(__file__).resolve().parents[1] / "benchmarks" / "librarian" / "sentences"
PENALTY = 0.05
STEPS = 120
STEPS_OF_A_WEIGHT = 127
FOLDS = 5
Numbers = NDArray[numpy.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    file: str
    group: str
    label: int
    text: str


def corpus(folder: Path = CORPUS) -> list[Line]:
    return [line for path in sorted(folder.glob("*.tsv")) for line in _lines(path)]


def _lines(path: Path) -> Iterator[Line]:
    group = path.stem
    for number, row in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if row.startswith("#"):
            group = f"{path.stem} {number}"
        elif row.strip():
            label, _, text = row.partition("\t")
            if label not in LABELS or not text.strip():
                sys.exit(f"{path}:{number}: write one of {', '.join(LABELS)}, a tab and a sentence.")
            plain = " ".join(text.replace("’", "'").split())
            yield Line(file=path.stem, group=group, label=LABELS.index(label), text=plain[opening_of(plain)[0] :])


def digest(lines: Sequence[Line]) -> str:
    rows = "\n".join(f"{line.file}\t{line.label}\t{line.text}" for line in lines)
    return hashlib.sha256(rows.encode()).hexdigest()


class Sparse:
    """Rows of features with the value of each, and the same by column: sums in a fixed order, without BLAS."""

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        lengths = numpy.array([len(row) for row in rows])
        self.columns = numpy.array([place for row in rows for place in row])
        self.values: Numbers = numpy.repeat(1 / numpy.sqrt(lengths), lengths)[:, None]
        self.starts = numpy.concatenate([[0], numpy.cumsum(lengths)[:-1]])
        order = numpy.argsort(self.columns, kind="stable")
        self._rows = numpy.repeat(numpy.arange(len(rows)), lengths)[order]
        self._values = self.values[order]
        self._used, self._column_starts = numpy.unique(self.columns[order], return_index=True)

    def times(self, weights: Numbers) -> Numbers:
        return numpy.add.reduceat(weights[self.columns] * self.values, self.starts, axis=0)

    def back(self, errors: Numbers) -> Numbers:
        found = numpy.zeros((WIDTH, errors.shape[1]))
        found[self._used] = numpy.add.reduceat(errors[self._rows] * self._values, self._column_starts, axis=0)
        return found


def trained(lines: Sequence[Line]) -> Model:
    """Weights and offsets of all labels."""
    sparse = Sparse([features_of(line.text) for line in lines])
    wanted = numpy.eye(len(LABELS))[[line.label for line in lines]]
    size = WIDTH * len(LABELS)

    def loss(point: Numbers) -> tuple[float, Numbers]:
        weights, offsets = point[:size].reshape(WIDTH, -1), point[size:]
        scores = sparse.times(weights) + offsets
        scores -= scores.max(axis=1, keepdims=True)
        shares = numpy.exp(scores)
        sums = shares.sum(axis=1, keepdims=True)
        errors = shares / sums - wanted
        value = float(numpy.log(sums).sum() - (scores * wanted).sum() + PENALTY / 2 * (weights**2).sum())
        slope = sparse.back(errors) + PENALTY * weights
        return value, numpy.concatenate([slope.ravel(), errors.sum(axis=0)])

    point = minimised(loss, numpy.zeros(size + len(LABELS)))
    weights = point[:size].reshape(WIDTH, -1)
    steps = [float(f"{most / STEPS_OF_A_WEIGHT:.6g}") for most in numpy.abs(weights).max(axis=0)]
    return Model(
        weights=numpy.rint(weights / steps).clip(-127, 127).astype(numpy.int8).tobytes(),
        steps=tuple(steps),
        offsets=tuple(round(float(offset), 4) for offset in point[size:]),
        digest=digest(lines),
    )


def minimised(loss: Callable[[Numbers], tuple[float, Numbers]], point: Numbers) -> Numbers:
    """L-BFGS with a halving line search."""
    value, slope = loss(point)
    past: list[tuple[Numbers, Numbers, float]] = []
    for _ in range(STEPS):
        way = -_direction(slope, past)
        length = 1.0 if past else min(1.0, 1 / float(numpy.abs(slope).sum()))
        while True:
            there = point + length * way
            new, new_slope = loss(there)
            if new <= value + 1e-4 * length * float((slope * way).sum()) or length < 1e-10:
                break
            length /= 2
        moved, turned = there - point, new_slope - slope
        bend = float((moved * turned).sum())
        if bend > 1e-12:
            past = [*past[-9:], (moved, turned, bend)]
        is_done = value - new < 1e-7 * max(1.0, abs(value))
        point, value, slope = there, new, new_slope
        if is_done:
            break
    return point


def _direction(slope: Numbers, past: Sequence[tuple[Numbers, Numbers, float]]) -> Numbers:
    way, shares = slope.copy(), list[float]()
    for moved, turned, bend in reversed(past):
        share = float((moved * way).sum()) / bend
        way -= share * turned
        shares.append(share)
    if past:
        _, turned, bend = past[-1]
        way *= bend / float((turned * turned).sum())
    for (moved, turned, bend), share in zip(past, reversed(shares), strict=True):
        way += moved * (share - float((turned * way).sum()) / bend)
    return way


# Measuring


def measure(lines: Sequence[Line]) -> None:
    """Each file read by a model that was trained on the others, then each fifth of all groups by the other four."""
    for name in sorted({line.file for line in lines}):
        _show(name, [line for line in lines if line.file == name], [line for line in lines if line.file != name])
    for fold in range(FOLDS):
        left_out = [line for line in lines if _fold(line) == fold]
        _show(f"fifth {fold + 1}", left_out, [line for line in lines if _fold(line) != fold])


def _fold(line: Line) -> int:
    """Conversations stay together; a file without them is cut line by line."""
    return crc32((line.group if line.group.startswith("dev ") else line.text).encode()) % FOLDS


def _show(name: str, left_out: Sequence[Line], others: Sequence[Line]) -> None:
    model = trained(others)
    guesses = [model.guess(line.text) for line in left_out]
    lasting = sum(line.label != NONE for line in left_out)
    print(f"{name:<14}{len(left_out):>6} sentences, {lasting} lasting")
    for least in (0.5, 0.6, 0.7, 0.8):
        kept = [
            (guess, line)
            for guess, line in zip(guesses, left_out, strict=True)
            if guess.share >= least and stands_alone(line.text) and not why_not(line.text)
        ]
        right = sum(line.label != NONE for _, line in kept)
        same = sum(guess.label == LABELS[line.label] for guess, line in kept)
        print(
            f"  at {least}: precision {right / max(1, len(kept)):.3f}, recall {right / max(1, lasting):.3f},"
            f" label right {same / max(1, right):.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="on what was left out; writes nothing")
    lines = corpus()
    if parser.parse_args().measure:
        measure(lines)
        return
    model = trained(lines)
    model.save()
    print(f"{len(lines)} sentences, {PATH.stat().st_size / 1000:.0f} kB, corpus {model.digest[:12]}")


if __name__ == "__main__":
    main()
