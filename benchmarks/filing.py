"""How many conversations the librarian files a minute without a model: read, checked, filed, and shown on its shelves.

    python benchmarks/filing.py [--conversations 400] [--workers 2] [--postgres | --db URL] [--json]

Conversations of 30 messages are put together from those of `benchmarks/librarian/dev`, with other names and numbers, so
that there is something to file in most of them. The baseline is taking the same transcripts in, in the same run. One
worker first, in a house of its own, which also shows whether the cost of a conversation grows with the house; then as
many workers as asked for, each a process, in another.

The goal: 200 conversations a minute on two cores.
"""

import argparse
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from houses import postgres
from labels import Labelled, Said, load
from sessions import write_transcript

import recollect

SEED = 11
MESSAGES = 30
PROJECTS = 12
GOAL_PER_MINUTE = 200
DEV = Path(__file__).resolve().parent / "librarian" / "dev"
BEGIN = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
NAMES = [
    "Abel",
    "Birte",
    "Cem",
    "Dunja",
    "Edda",
    "Falk",
    "Gesa",
    "Holm",
    "Imke",
    "Jana",
    "Kuno",
    "Lies",
    "Marek",
    "Nele",
    "Oda",
    "Pelle",
    "Runa",
    "Sami",
    "Tilda",
    "Veit",
]
_NUMBER = re.compile(r"(?<![\w.:/-])\d{2,3}(?![\w.:/-])")


# Conversations


def conversations(number: int, seed: int = SEED) -> Iterator[Labelled]:
    """The same for the same seed; 30 messages each, whatever stands between them besides."""
    chance = random.Random(seed)
    stock = load(DEV)
    for place in range(number):
        started = BEGIN + timedelta(hours=7 * place)
        turns = tuple(_turns(stock, chance, started))
        folder = f"/home/mara/{NAMES[chance.randrange(PROJECTS)].lower()}-works"
        yield replace(stock[0], id=f"made-{seed}-{place}", folder=folder, turns=turns)


def _turns(stock: Sequence[Labelled], chance: random.Random, at: datetime) -> Iterator[Said]:
    """Whole conversations one after the other; the last one ends where there is enough."""
    said = 0
    while said < MESSAGES:
        chosen = chance.choice(stock)
        others = {name: chance.choice(NAMES) for person in chosen.people for name in person.names}
        for turn in chosen.turns:
            if said >= MESSAGES:
                return
            at += timedelta(seconds=40)
            said += turn.author in ("user", "assistant")
            yield replace(turn, text=_changed(turn.text, others, chance), at=at)


def _changed(text: str, names: dict[str, str], chance: random.Random) -> str:
    for name, other in names.items():
        text = text.replace(name, other)
    return _NUMBER.sub(lambda found: str(chance.randrange(10, 10 ** len(found[0]))), text)


# A house


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    home: Path
    database: str

    def open(self) -> recollect.Memory:
        return recollect.open(home=self.home, database=self.database or None)


def built(place: Place, transcripts: Path) -> float:
    """A house that took the transcripts in and queued them; the seconds of taking in."""
    place.home.mkdir(parents=True, exist_ok=True)
    with place.open() as memory:
        started = time.perf_counter()
        report = memory.history.ingest([transcripts])
        seconds = time.perf_counter() - started
        if report.problems:
            sys.exit(f"{report.problems[0].file}: {report.problems[0].reason}")
        memory.librarian.queue_ready()
    return seconds


# Measuring


def one_worker(place: Place, transcripts: Path) -> dict[str, Any]:
    ingest = built(place, transcripts)
    steps: list[float] = []
    with place.open() as memory:
        started = time.perf_counter()
        worked = memory.librarian.worker("bench").work_until_done(notify=lambda step: steps.append(step.seconds))
        seconds = time.perf_counter() - started
        notes = sum(1 for _ in (place.home / "notes").rglob("*.md"))
        again = time.perf_counter()
        memory.librarian.tidy()
        rest = time.perf_counter() - again
    if worked.failed or worked.stopped or worked.problem:
        sys.exit(f"It did not go well: {worked}")
    quarter = max(len(steps) // 4, 1)
    return {
        "conversations": worked.processed,
        "records": worked.kept,
        "notes": notes,
        "ingest_seconds": round(ingest, 2),
        "seconds": round(seconds, 2),
        "per_minute": round(60 * worked.processed / seconds),
        "ratio_to_ingest": round(seconds / ingest, 1),
        "shelves_share": round(1 - sum(steps) / seconds, 2),
        "milliseconds": {
            "median": round(statistics.median(steps) * 1000, 1),
            "first_quarter": round(statistics.median(steps[:quarter]) * 1000, 1),
            "last_quarter": round(statistics.median(steps[-quarter:]) * 1000, 1),
            "nothing_to_tidy": round(rest * 1000, 1),
        },
    }


def several_workers(place: Place, transcripts: Path, number: int) -> dict[str, Any]:
    """Processes that start together; their start counts."""
    built(place, transcripts)
    command = [sys.executable, __file__, "--child", str(place.home), place.database]
    started = time.perf_counter()
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(number)]
    done = [int(child.communicate()[0] or 0) for child in children]
    seconds = time.perf_counter() - started
    return {
        "workers": number,
        "filed_by_each": done,
        "seconds": round(seconds, 2),
        "per_minute": round(60 * sum(done) / seconds),
    }


def child(home: str, database: str) -> None:
    with Place(home=Path(home), database=database).open() as memory:
        print(memory.librarian.worker("bench").work_until_done().processed)


@contextmanager
def _databases(wanted: bool, given: str, folder: Path) -> Iterator[tuple[str, str]]:
    """One address for each of the two houses; empty: the file in the home."""
    if not wanted:
        yield given, ""
        return
    with postgres(folder / "pg") as sockets:
        import psycopg

        address = f"postgresql://postgres@/postgres?host={sockets}"
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("CREATE DATABASE several")
        yield address, f"postgresql://postgres@/several?host={sockets}"


def run(number: int, workers: int, databases: tuple[str, str], folder: Path) -> dict[str, Any]:
    transcripts = folder / "transcripts"
    for conversation in conversations(number):
        write_transcript(conversation, transcripts)
    result: dict[str, Any] = {"one_worker": one_worker(Place(home=folder / "one", database=databases[0]), transcripts)}
    best = result["one_worker"]["per_minute"]
    if workers > 1:
        place = Place(home=folder / "several", database=databases[1])
        result["several"] = several_workers(place, transcripts, workers)
        best = max(best, result["several"]["per_minute"])
    return {**result, "per_minute": best, "goal": GOAL_PER_MINUTE, "is_as_it_must": best >= GOAL_PER_MINUTE}


def show(result: dict[str, Any]) -> None:
    for title in ("one_worker", "several"):
        for name, value in result.get(title, {}).items():
            print(f"{title.replace('_', ' '):<12}{name.replace('_', ' '):<18}{value}")
    print(f"{result['per_minute']:,} conversations a minute; goal: {result['goal']}")


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:4])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conversations", type=int, default=400)
    parser.add_argument("--workers", type=int, default=2)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--db", default="", help="the address of an empty database for the house of one worker")
    where.add_argument("--postgres", action="store_true", help="a server of its own, from the wheel")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout instead of lines")
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="rc-") as name,
        _databases(arguments.postgres, arguments.db, Path(name)) as databases,
    ):
        workers = 1 if arguments.db else arguments.workers
        result = run(arguments.conversations, workers, databases, Path(name))
    print(json.dumps(result, indent=1)) if arguments.json else show(result)
    sys.exit(0 if result["is_as_it_must"] else 1)


if __name__ == "__main__":
    main()
