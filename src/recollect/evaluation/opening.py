"""Which kinds of sets there are, and how one is opened."""

from pathlib import Path

from recollect.errors import Invalid
from recollect.evaluation.datasets import DataSet, ReadHaystacks, counted, read_neutral
from recollect.evaluation.official import read_locomo, read_longmemeval

KINDS: dict[str, ReadHaystacks] = {
    "recall-set": read_neutral,
    "locomo": read_locomo,
    "longmemeval": read_longmemeval,
}
"""The name of a kind → its reader."""


def open_set(kind: str, path: Path, limit: int | None = None) -> DataSet:
    """Read and check all of a set. With a limit, that many of its questions, spread evenly over it."""
    if kind not in KINDS:
        raise Invalid(f"No kind of set is called {kind!r}. Known: {', '.join(KINDS)}.")
    if kind == "recall-set" and path.is_file():
        raise Invalid(f"{path} is a file. A recall set is a folder with sessions.jsonl and questions.jsonl.")
    if kind != "recall-set" and path.is_dir():
        raise Invalid(f"{path} is a folder. Give the file itself, as {kind} publishes it.")
    return counted(path, KINDS[kind], limit)
