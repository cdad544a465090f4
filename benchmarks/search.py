"""How fast a search is, how that grows with the history, and what else a user could have taken.

    python benchmarks/search.py [--sizes 10k,100k,1m] [--engines sqlite,postgres] [--peers] [--json]

On a made-up chat history (`corpus.py`), with static vectors, at each size and on each engine:

1. Building the index: seconds, the cost of a message, and that of the last tenth against the first (flat?).
2. `memory.recall.search`, 300 questions of seven kinds in a process of their own: p50 and p95, memory, and what
   reranking adds if its model is here.
3. The engine's own text search for common words against our postings (`textsearch.py`).
4. The index dropped and built again: whether 500 questions find the same.
5. `recollect search` from a cold shell, alone and through a running daemon (100,000 messages, SQLite).
6. With --peers, Chroma and mem0 with the same texts and embedder (`peers.py`), at the largest size up to 100,000.

Homes are kept in a folder below the temporary one (--cache) and used again by the next run. PostgreSQL is the one from
the wheel that the tests use; a million messages in it take --large-postgres. `docs/benchmarks.md` has results.
"""

import argparse
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import peers
import textsearch
from corpus import Corpus, Question, Questioner
from houses import QUESTIONS, WARM_UP, House, build, in_child, make_house, postgres

SIZES = {"10k": 10_000, "100k": 100_000, "1m": 1_000_000}
COMPARED = 100_000
"""Peers, shells and rebuilds are measured at the largest size up to this one."""
PEER_QUESTIONS = 105
"""Fifteen of each kind, without filters: a search in mem0 took 0.7 seconds at 55,000 messages."""
COMMON = ("one common word", "common words")
SHELLS = 7
SCRIPT = Path(sys.executable).with_name("recollect")
READY_SECONDS = 60

Say = Callable[[str], None]


def measure(house: House, say: Say, *, anew: bool) -> dict[str, Any]:
    """Building, searching, and the engine's own text search."""
    figures: dict[str, Any] = {"build": build(house, anew=anew)}
    say(f"  build {figures['build']}")
    figures["search"] = in_child(house, "searching")
    say(f"  search p50 {figures['search']['p50']} ms, p95 {figures['search']['p95']} ms")
    common = [question for question in _questions(house.size) if question.kind in COMMON]
    own = textsearch.fts5 if house.engine == "sqlite" else textsearch.tsvector
    figures["common_words"] = {"ours": textsearch.our_postings(house, common), own.__name__: own(house, common)}
    say(f"  common words {figures['common_words']}")
    return figures


def rebuilt(house: House) -> dict[str, Any]:
    before = in_child(house, "answers")["found"]
    build(house, anew=True)
    after = in_child(house, "answers")["found"]
    different = sum(one != other for one, other in zip(before, after, strict=True))
    return {"questions": len(before), "different": different, "hits": sum(map(len, before))}


def _questions(size: int) -> list[Question]:
    return Questioner(Corpus(size)).questions(WARM_UP + QUESTIONS)[WARM_UP:]


# From a shell


def shells(house: House) -> dict[str, Any]:
    """Medians of `recollect search`, each time another question of several words."""
    questions = [question.text for question in _questions(house.size) if question.kind == "long question"]
    with tempfile.TemporaryDirectory() as empty:
        # No agents of this computer are looked for, and no model is loaded.
        environment = {**os.environ, "HOME": empty, "RECOLLECT_HOME": str(house.home)}
        try:
            alone = _shell(questions, environment)
            with _daemon(house, environment):
                through = _shell(questions, environment)
        except subprocess.CalledProcessError as error:
            return {"skipped": f"`recollect {error.cmd[1]}` failed: {error.stderr.strip()[-200:]}"}
        except TimeoutError as error:
            return {"skipped": str(error)}
    return {"alone": alone, "through_daemon": through}


def _shell(questions: list[str], environment: dict[str, str]) -> dict[str, float]:
    """Milliseconds by the clock, and of the processors for the command itself, not for a daemon."""
    taken: list[float] = []
    processor: list[float] = []
    for question in questions[: SHELLS + 1]:
        started, used = time.perf_counter(), _used()
        command = [str(SCRIPT), "search", question, "--json"]
        subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        taken.append((time.perf_counter() - started) * 1000)
        processor.append((_used() - used) * 1000)
    # The first one brings files into the cache.
    return {"median": round(statistics.median(taken[1:]), 1), "processor": round(statistics.median(processor[1:]), 1)}


def _used() -> float:
    """Seconds of processor time that finished children took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def _daemon(house: House, environment: dict[str, str]) -> Iterator[None]:
    """`recollect up` in this home, until its status says that it is there."""
    running = subprocess.Popen(
        [str(SCRIPT), "up"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        status = house.home / "runtime" / "status.json"
        until = time.monotonic() + READY_SECONDS
        while not status.exists():
            if running.poll() is not None or time.monotonic() > until:
                raise TimeoutError(f"`recollect up` was not ready within {READY_SECONDS} seconds")
            time.sleep(0.1)
        yield
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait()


# All of it


def run(arguments: argparse.Namespace, say: Say) -> dict[str, Any]:
    sizes = sorted(SIZES[name] for name in arguments.sizes.split(","))
    results: dict[str, Any] = {}
    arguments.cache.mkdir(parents=True, exist_ok=True)
    for engine in arguments.engines.split(","):
        server = postgres(arguments.cache / "postgres") if engine == "postgres" else nullcontext("")
        with server as socket_folder:
            results[engine] = _on(engine, sizes, socket_folder, arguments, say)
    if arguments.peers:
        size = _compared(sizes)
        say(f"peers at {size:,}")
        texts = (message.text for chunk in Corpus(size).chunks() for message in chunk.messages)
        asked = [question.text for question in _questions(size)[:PEER_QUESTIONS]]
        results["peers"] = {"size": size, **peers.compare(arguments.cache, texts, asked)}
    results["ratios"] = ratios(results)
    return results


def _on(engine: str, sizes: list[int], socket_folder: str, arguments: argparse.Namespace, say: Say) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for size in sizes:
        if engine == "postgres" and size > COMPARED and not arguments.large_postgres:
            say(f"{engine} {size:,}: left out; --large-postgres measures it")
            continue
        say(f"{engine} {size:,}")
        house = make_house(arguments.cache, engine, size, socket_folder)
        found[str(size)] = measure(house, say, anew=arguments.rebuild)
        if size == _compared(sizes):
            found[str(size)]["rebuilt"] = rebuilt(house)
            say(f"  rebuilt {found[str(size)]['rebuilt']}")
            if engine == "sqlite":
                found[str(size)]["shell"] = shells(house)
                say(f"  shell {found[str(size)]['shell']}")
    return found


def _compared(sizes: list[int]) -> int:
    return max((size for size in sizes if size <= COMPARED), default=min(sizes))


def ratios(results: dict[str, Any]) -> dict[str, float]:
    """What the goals are about: growth from the smallest to the largest, and ours against the peers'."""
    found: dict[str, float] = {}
    for engine in ("sqlite", "postgres"):
        sizes = sorted(map(int, results.get(engine, {})))
        if len(sizes) > 1:
            small, large = (results[engine][str(size)] for size in (sizes[0], sizes[-1]))
            span = f"{engine} {sizes[-1]:,} / {sizes[0]:,}"
            found[f"p95 {span}"] = round(large["search"]["p95"] / small["search"]["p95"], 2)
            costs = [part["build"]["microseconds_per_message"] for part in (large, small)]
            found[f"build per message {span}"] = round(costs[0] / costs[1], 2)
    compared = results.get("peers", {})
    ours = results.get("sqlite", {}).get(str(compared.get("size")))
    for peer, figures in compared.items():
        if ours and isinstance(figures, dict) and "p95" in figures:
            found[f"p95 {peer} / ours"] = round(figures["p95"] / ours["search"]["p95"], 2)
            cost = ours["build"]["microseconds_per_message"]
            found[f"adding {peer} / ours"] = round(figures["microseconds_per_message"] / cost, 2)
    return found


HEAD = [
    *("engine", "messages", "build s", "µs/message", "last/first", "p50 ms", "p95 ms", "p95 CPU", "rerank +ms"),
    *("resident MB", "peak MB", "common words p95", "engine's own p95"),
]


def row(engine: str, size: str, found: dict[str, Any]) -> list[object]:
    built, searched = found["build"], found["search"]
    memory, common = searched["memory"], [figures["p95"] for figures in found["common_words"].values()]
    flat = round(built["last_part"] / built["first_part"], 2)
    return [
        *(engine, f"{int(size):,}", built["seconds"], round(built["microseconds_per_message"]), flat),
        *(searched["p50"], searched["p95"], searched["processor"]["p95"]),
        searched["rerank"]["p50"] if searched["rerank"] else "-",
        *(memory.get("resident", "-"), memory.get("peak", "-"), *common),
    ]


def show(results: dict[str, Any]) -> None:
    rows: list[list[object]] = [list(HEAD)]
    notes: list[str] = []
    for engine in ("sqlite", "postgres"):
        for size, found in results.get(engine, {}).items():
            rows.append(row(engine, size, found))
            kinds = ", ".join(f"{kind} {figures['p95']}" for kind, figures in found["search"]["kinds"].items())
            notes.append(f"{engine} {int(size):,} p95 by kind: {kinds}")
            notes += [f"{engine} {int(size):,} {name}: {found[name]}" for name in ("rebuilt", "shell") if name in found]
    widths = [max(len(str(line[place])) for line in rows) for place in range(len(HEAD))]
    for line in rows:
        print("  ".join(str(value).rjust(width) for value, width in zip(line, widths, strict=True)))
    for note in notes:
        print(note)
    for peer, figures in results.get("peers", {}).items():
        print(f"{peer}: {figures}")
    for name, ratio in results["ratios"].items():
        print(f"{name}: {ratio}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10k,100k,1m")
    parser.add_argument("--engines", default="sqlite,postgres")
    parser.add_argument("--peers", action="store_true", help="Chroma and mem0 too; installs them with pip")
    parser.add_argument("--large-postgres", action="store_true", help="a million messages in PostgreSQL, too")
    parser.add_argument("--rebuild", action="store_true", help="build every index anew, so that building is timed now")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout instead of tables")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "recollect-benchmarks")
    arguments = parser.parse_args()
    results = run(arguments, lambda line: print(line, file=sys.stderr, flush=True))
    if arguments.json:
        print(json.dumps(results, indent=1))
    else:
        show(results)


if __name__ == "__main__":
    main()
