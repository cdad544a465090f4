"""How knowledge grows: what one read, one list, one replacement costs with ten thousand records and with a million.

    python benchmarks/records.py [--sizes 10k,100k,1m] [--engines sqlite,postgres] [--json]

One house on each engine: twenty scopes, three quarters of the records about a subject's attribute, every tenth
statement another value of what is known (so that the old one gets a version and a date), every fortieth one read in one
more message. It grows from size to size, and at each size the same acts are timed, each many times on records drawn by
chance. Medians, and their ratio to the smallest size of the same run: flat is what the goals ask for.
`docs/benchmarks.md` has results.
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from houses import postgres

import recollect
from recollect.knowledge import Category, Evidence, Kind, Statement

SIZES = {"10k": 10_000, "30k": 30_000, "100k": 100_000, "1m": 1_000_000}
BATCH = 2_000
AGENTS = [f"agent-{number:02}" for number in range(12)]
ROOMS = [f"{agent}/room" for agent in AGENTS[:7]]
SCOPES = ["house", *AGENTS, *ROOMS]
ATTRIBUTES = ["tea", "editor", "city", "employer", "bicycle", "dentist", "language", "shell", "music", "allergy"]
CATEGORIES = list(Category)
TIMES = 200
"""Of each act at each size."""
SLOW_TIMES = 15
"""Of what reads hundreds of records or looks at all of them."""

Say = Callable[[str], None]
Act = Callable[[], object]


class Population:
    """A house and the records in it. What the n-th statement says depends on n alone."""

    def __init__(self, memory: recollect.Memory) -> None:
        self.memory = memory
        self.size = 0
        self.ids: list[str] = []
        """A sample, in the order they were made."""
        self._said = 0
        for agent in AGENTS:
            memory.agents.add(agent)
        for room in ROOMS:
            memory.agents.add(room)

    def grow(self, size: int) -> float:
        """Until there are so many records; microseconds for each."""
        started, before = time.perf_counter(), self.size
        while self.size < size:
            batch = [self._statement(self._said + place) for place in range(min(BATCH, size - self.size))]
            self._said += len(batch)
            learned = self.memory.knowledge.learn_many(batch)
            made = [one.record.id for one in learned if one.record and one.outcome != "same"]
            self.size += len(made)
            self.ids += made[::10]
        return (time.perf_counter() - started) * 1e6 / (self.size - before)

    def key(self, number: int) -> tuple[str, str, str]:
        """Scope, subject and attribute of the n-th statement."""
        subject = f"person {number // len(ATTRIBUTES)}"
        return SCOPES[number * 7 % len(SCOPES)], subject, ATTRIBUTES[number % len(ATTRIBUTES)]

    def keyed(self, chance: random.Random) -> tuple[str, str, str]:
        """What some statement is about."""
        while True:
            number = chance.randrange(self._said)
            if self._is_about_something(number):
                return self.key(number)

    def _is_about_something(self, number: int) -> bool:
        return number % 4 != 3 and number % 10 != 9 and number % 40 != 18

    def _statement(self, number: int) -> Statement:
        chance = random.Random(number)
        about, value = number, f"value {number}"
        sources: tuple[Evidence, ...] = ()
        if number % 10 == 9 or number % 40 == 18:
            about = self._earlier(number, chance)
        if number % 40 == 18:
            value = f"value {about}"
            sources = (Evidence(message_id=f"{number:024x}", quote="as it was said"),)
        scope, subject, attribute = self.key(about)
        if not self._is_about_something(about):
            text = f"Number {number}: {' '.join(chance.choices(ATTRIBUTES, k=12))}."
            return Statement(text=text, scope=scope, importance=chance.random(), category=chance.choice(CATEGORIES))
        return Statement(
            text=f"The {attribute} of {subject} is {value}, and has been for a while as far as anybody can tell.",
            kind=Kind.FACT,
            subject=subject,
            attribute=attribute,
            value=value,
            scope=scope,
            importance=chance.random(),
            category=chance.choice(CATEGORIES),
            sources=sources,
        )

    def _earlier(self, number: int, chance: random.Random) -> int:
        """An earlier statement that is about something."""
        for _ in range(100):
            earlier = chance.randrange(max(number, 1))
            if self._is_about_something(earlier):
                return earlier
        return 0


def acts(people: Population, chance: random.Random) -> dict[str, tuple[Act, int]]:
    """What is timed, by its name, and how often."""
    memory, knowledge = people.memory, people.memory.knowledge
    agents = [memory.as_agent(name, "room") for name in AGENTS[:7]]
    numbers = iter(range(people.size * 100, people.size * 101))

    def some_id() -> str:
        return chance.choice(people.ids)

    def replace() -> object:
        scope, subject, attribute = people.keyed(chance)
        value = f"value {next(numbers)}"
        return knowledge.remember(
            f"{subject} has {value}", subject=subject, attribute=attribute, value=value, scope=scope
        )

    return {
        "read by id": (lambda: knowledge.record(some_id()), TIMES),
        "list a scope": (lambda: knowledge.records(scope=chance.choice(SCOPES), limit=50), TIMES),
        "list as an agent": (lambda: chance.choice(agents).knowledge.records(limit=50), TIMES),
        "list all": (lambda: knowledge.records(limit=50), TIMES),
        "fact": (lambda: knowledge.fact(*people.keyed(chance)[1:]), TIMES),
        "fact as an agent": (lambda: chance.choice(agents).knowledge.fact(*people.keyed(chance)[1:]), TIMES),
        "fact as of": (lambda: knowledge.fact(*people.keyed(chance)[1:], as_of="2030-01-01T00:00:00Z"), TIMES),
        "why": (lambda: knowledge.why(some_id()), TIMES),
        "remember": (lambda: knowledge.remember(f"Something new, number {next(numbers)}"), TIMES),
        "supersede": (replace, TIMES),
        "edit": (lambda: knowledge.edit(some_id(), f"Said better, number {next(numbers)}"), TIMES),
        "rehydrate": (lambda: memory.context.rehydration(2_000), SLOW_TIMES),
        "rehydrate an agent": (lambda: chance.choice(agents).context.rehydration(2_000), SLOW_TIMES),
        "count": (knowledge.count_current, SLOW_TIMES),
        "read by the end of an id": (lambda: knowledge.record(some_id()[-12:]), SLOW_TIMES),
    }


def measure(people: Population) -> dict[str, float]:
    """Median milliseconds of each act."""
    found: dict[str, float] = {}
    for name, (act, times) in acts(people, random.Random(people.size)).items():
        act()
        taken: list[float] = []
        for _ in range(times):
            started = time.perf_counter()
            act()
            taken.append((time.perf_counter() - started) * 1000)
        found[name] = round(statistics.median(taken), 3)
    return found


def run(sizes: list[int], engines: list[str], say: Say) -> dict[str, Any]:
    results: dict[str, Any] = {}
    for engine in engines:
        with _house(engine) as memory:
            people = Population(memory)
            results[engine] = {}
            for size in sorted(sizes):
                cost = people.grow(size)
                figures = measure(people)
                megabytes = round(memory.database.size_bytes() / 1e6, 1)
                results[engine][str(size)] = {
                    "microseconds_per_record": round(cost),
                    "megabytes": megabytes,
                    "milliseconds": figures,
                }
                say(f"{engine} {size:,}: {cost:.0f} µs a record, {megabytes} MB, {figures}")
    return results


@contextmanager
def _house(engine: str) -> Iterator[recollect.Memory]:
    """An empty house that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="rc-") as folder:
        server = postgres(Path(folder) / "pg") if engine == "postgres" else nullcontext("")
        with server as sockets:
            database = f"postgresql://postgres@/postgres?host={sockets}" if sockets else None
            with recollect.open(home=Path(folder) / "home", database=database) as memory:
                yield memory


def ratios(found: dict[str, Any]) -> dict[str, dict[str, float]]:
    """By act: how many times what it took at the smallest size."""
    sizes = sorted(found, key=int)
    first = found[sizes[0]]["milliseconds"]
    return {
        name: {size: round(found[size]["milliseconds"][name] / max(first[name], 0.001), 2) for size in sizes[1:]}
        for name in first
    }


def show(results: dict[str, Any]) -> None:
    for engine, found in results.items():
        sizes = sorted(found, key=int)
        grown = ratios(found)
        print(f"| {engine}, median ms | {' | '.join(f'{int(size):,}' for size in sizes)} | ratio |")
        print(f"|---|{'---|' * (len(sizes) + 1)}")
        for name in found[sizes[0]]["milliseconds"]:
            values = " | ".join(f"{found[size]['milliseconds'][name]:.2f}" for size in sizes)
            print(f"| {name} | {values} | {grown[name].get(sizes[-1], 1.0)} |")
        costs = " | ".join(f"{found[size]['microseconds_per_record']}" for size in sizes)
        print(f"| microseconds for a record, {BATCH:,} together | {costs} | |")
        print(f"| database, MB | {' | '.join(str(found[size]['megabytes']) for size in sizes)} | |")
        print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10k,100k,1m", help=f"of {', '.join(SIZES)}")
    parser.add_argument("--engines", default="sqlite,postgres")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout instead of tables")
    arguments = parser.parse_args()
    sizes = [SIZES[name] for name in arguments.sizes.split(",")]
    results = run(sizes, arguments.engines.split(","), lambda line: print(line, file=sys.stderr, flush=True))
    if arguments.json:
        print(json.dumps({"results": results, "ratios": {name: ratios(found) for name, found in results.items()}}))
    else:
        show(results)


if __name__ == "__main__":
    main()
