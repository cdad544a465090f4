"""What building a conversation context costs in a small house and in a large one.

    python benchmarks/contexts.py [--engine sqlite] [--large 1m] [--rounds 8] [--json]

The small house has 1,000 messages and 100 notes, the large one 1,000,000 and 10,000. Both have the same pages in the
head of a prompt, so that what is built is of the same length, and only what lies around it differs. In turns: a house
is opened, its first context is built from the beginning, and then one more for each message that comes in. Only
building is timed, by the clock and by the processor time of this process. `docs/benchmarks.md` has results.

Homes are kept below the temporary folder (--cache) and used again by the next run.
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from day import Speech
from houses import House, make_house, postgres

import recollect
from recollect.clock import to_text
from recollect.testing import FrozenClock

SIZES = {"1k": (1_000, 100), "10k": (10_000, 1_000), "100k": (100_000, 10_000), "1m": (1_000_000, 10_000)}
"""Messages and notes."""
TURNS = 12
"""In each round."""
OTHER_AGENTS = 5
GOAL = 2.0

Say = Callable[[str], None]


@dataclass(kw_only=True)
class Times:
    """Milliseconds, by the clock and of the processor."""

    clock: list[float] = field(default_factory=list[float])
    processor: list[float] = field(default_factory=list[float])

    def of(self, act: Callable[[], Any]) -> Any:
        started, used = time.perf_counter(), time.process_time()
        result = act()
        self.clock.append((time.perf_counter() - started) * 1000)
        self.processor.append((time.process_time() - used) * 1000)
        return result

    def medians(self) -> dict[str, float]:
        return {"clock": statistics.median(self.clock), "processor": statistics.median(self.processor)}


class Measured:
    """A house whose contexts are timed."""

    def __init__(self, house: House, notes: int) -> None:
        self.house = house
        self.first, self.turn = Times(), Times()
        self.tokens = 0
        self._clock = FrozenClock(datetime.now(UTC))
        self._speech = Speech(house.size)
        self._said = 0
        # Homes are kept: no run says again what another one said.
        self._session = f"run-{self._clock.now:%Y%m%d%H%M%S}"
        self._transcripts = Path(tempfile.mkdtemp(prefix="rc-"))
        with self._open() as memory:
            write_notes(memory, notes, self._clock.now)

    def _open(self) -> recollect.Memory:
        return recollect.open(home=self.house.home, database=self.house.database or None, clock=self._clock)

    def round(self) -> None:
        """One first context, then one for each turn."""
        with self._open() as memory:
            self._clock.move(minutes=30)
            memory.context.restarted()
            trigger = self._speech.about(24, 0.5)
            context = self.first.of(lambda: memory.context.conversation(trigger=trigger))
            self.tokens = context.tokens
            for _ in range(TURNS):
                self._hear(memory, trigger)
                trigger = self._speech.about(24, 0.5)
                self.turn.of(lambda text=trigger: memory.context.conversation(trigger=text))

    def _hear(self, memory: recollect.Memory, asked: str) -> None:
        """What was asked is answered, and both are history."""
        with (self._transcripts / f"{self._session}.jsonl").open("a", encoding="utf-8") as file:
            for author, text in (("user", asked), ("assistant", self._speech.about(60, 0.5))):
                self._said += 1
                line = {"id": f"{self._session}-{self._said}", "session": self._session, "author": author, "text": text}
                file.write(json.dumps({**line, "at": to_text(self._clock.now)}) + "\n")
                self._clock.move(seconds=30)
        memory.history.ingest([self._transcripts], source="generic")


def write_notes(memory: recollect.Memory, number: int, now: datetime) -> None:
    """Files as any editor writes them, then one look; those of an earlier run stay."""
    memory.notes.prepare()
    agents = {agent.scope.id for agent in memory.agents.list()}
    for agent in range(OTHER_AGENTS):
        if f"other-{agent}" not in agents:
            memory.agents.add(f"other-{agent}")
    speech = Speech(1)
    for path, paragraphs in _pages(memory.notes.own_folder, number, now):
        file = memory.notes.folder / path
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(speech.page(path, paragraphs), encoding="utf-8")
    memory.notes.look()


def _pages(own: str, number: int, now: datetime) -> list[tuple[str, int]]:
    """Path and paragraphs: first those that are in every prompt, then others until there are so many."""
    names = ("soul.md", "identity.md", "tools.md", "threads.md", "dev-notes.md", "self-awareness.md")
    pages = [("user.md", 9), ("MEMORY.md", 30), *((f"{own}/{name}", 6) for name in names)]
    pages += [(f"{own}/daily/{now - timedelta(days=back):%Y-%m-%d}.md", 4) for back in range(2)]
    chance = random.Random(number)
    for place in range(number - len(pages)):
        day = datetime(2026, 10, 1, tzinfo=UTC) - timedelta(hours=6 * place)
        kinds = (
            f"{own}/daily/{now - timedelta(days=10 + place):%Y-%m-%d}.md",
            f"{own}/diary/{day:%Y-%m-%dT%H-%M-%S}.md",
            f"projects/{place % 97}/page-{place}.md",
            f"projects/{place % 97}/chapter/page-{place}.md",
            f"agents/other-{place % OTHER_AGENTS}/page-{place}.md",
        )
        pages.append((chance.choice(kinds), 2))
    return pages


def run(engine: str, large: str, rounds: int, cache: Path, say: Say) -> dict[str, Any]:
    cache.mkdir(parents=True, exist_ok=True)
    with postgres(cache / "postgres") if engine == "postgres" else nullcontext("") as sockets:
        houses: dict[str, Measured] = {}
        for size in ("1k", large):
            messages, notes = SIZES[size]
            say(f"{engine}: {messages:,} messages, {notes:,} notes")
            houses[size] = Measured(make_house(cache, engine, messages, sockets), notes)
        for number in range(rounds):
            for house in houses.values():
                house.round()
            say(f"round {number + 1} of {rounds}")
    small, big = houses["1k"], houses[large]
    return {
        "engine": engine,
        "large": {"messages": SIZES[large][0], "notes": SIZES[large][1]},
        "tokens": {"small": small.tokens, "large": big.tokens},
        "first": _compared(small.first, big.first),
        "turn": _compared(small.turn, big.turn),
    }


def _compared(small: Times, large: Times) -> dict[str, Any]:
    one, other = small.medians(), large.medians()
    return {
        "small": {name: round(value, 2) for name, value in one.items()},
        "large": {name: round(value, 2) for name, value in other.items()},
        "ratio": {name: round(other[name] / max(one[name], 0.001), 2) for name in one},
    }


def show(result: dict[str, Any]) -> None:
    large = result["large"]
    print(f"\n| {result['engine']}, median ms by the clock (processor) | 1,000 messages, 100 notes |", end="")
    print(f" {large['messages']:,} messages, {large['notes']:,} notes | ratio, goal at most {GOAL:g} |")
    print("|---|---|---|---|")
    for name, label in (("first", "first context"), ("turn", "each further turn")):
        cells = [f"{result[name][size]['clock']} ({result[name][size]['processor']})" for size in ("small", "large")]
        ratio = result[name]["ratio"]
        print(f"| {label} | {' | '.join(cells)} | {ratio['clock']} ({ratio['processor']}) |")
    print(f"\nTokens of a first context: {result['tokens']['small']:,} and {result['tokens']['large']:,}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--large", choices=list(SIZES), default="1m")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "recollect-benchmarks" / "contexts")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout instead of a table")
    arguments = parser.parse_args()
    result = run(
        arguments.engine,
        arguments.large,
        arguments.rounds,
        arguments.cache,
        lambda line: print(line, file=sys.stderr, flush=True),
    )
    if arguments.json:
        print(json.dumps(result))
    else:
        show(result)


if __name__ == "__main__":
    main()
