"""What asking over HTTP costs, beside asking in process.

    python benchmarks/http_load.py [--size 100k] [--clients 8] [--seconds 20] [--rounds 3] [--soak MINUTES] [--json]

On a made-up chat history (`corpus.py`), with static vectors on SQLite, the same questions of seven kinds are asked

1. by so many threads of one process that call `memory.recall.search`, and
2. by so many connections of another process to `recollect serve`, which is a process of its own,

in turns, so that both meet the machine alike. Told are searches a second, p50 and p95, and the ratios of the second to
the first: 1.5 is the most that the latency may be. Before that, some questions are asked both ways, and the hits have
to be the same. With --soak the second goes on for so many minutes, and the memory of the server is watched.

The client is a process of its own and uses the other core, as another program would: the server's core does what the
one process did before. Homes are kept below the temporary folder and used again. `docs/benchmarks.md` has results.
"""

import argparse
import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from corpus import Corpus, Questioner
from houses import House, build, make_house

SIZES = {"10k": 10_000, "100k": 100_000, "1m": 1_000_000}
QUESTIONS = 300
COMPARED = 40
READY_SECONDS = 60
SAMPLE_SECONDS = 10
SCRIPT = Path(sys.executable).with_name("recollect")

Ask = Callable[[str], Any]
Asker = Callable[[], Ask]
"""Makes the way of asking of one client: a connection of its own, say."""


def questions(size: int) -> list[str]:
    """Their words alone: filters travel as well, and cost the same both ways."""
    return [question.text for question in Questioner(Corpus(size)).questions(QUESTIONS)]


def under_load(asker: Asker, texts: Sequence[str], clients: int, seconds: float) -> dict[str, float]:
    """So many clients at once, each asking the next question as soon as it has an answer."""
    times: list[float] = []
    ready = threading.Barrier(clients + 1)
    ends = 0.0

    def work(number: int) -> None:
        ask = asker()
        ask(texts[number])
        own: list[float] = []
        ready.wait()
        place = number
        while time.perf_counter() < ends:
            started = time.perf_counter()
            ask(texts[place % len(texts)])
            own.append(time.perf_counter() - started)
            place += clients
        times.extend(own)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(clients)]
    ends = time.perf_counter() + 3600
    for thread in threads:
        thread.start()
    begun = time.perf_counter()
    ends = begun + seconds
    ready.wait()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - begun
    cuts = statistics.quantiles(times, n=100)
    return {
        "per_second": round(len(times) / took, 1),
        "p50_ms": round(cuts[49] * 1000, 2),
        "p95_ms": round(cuts[94] * 1000, 2),
    }


# In process


def in_process(house: House, texts: Sequence[str], clients: int, seconds: float) -> dict[str, float]:
    with house.open() as memory:
        return under_load(lambda: memory.recall.search, texts, clients, seconds)


def found_in_process(house: House, texts: Sequence[str]) -> list[list[str]]:
    with house.open() as memory:
        return [[hit.id for hit in memory.recall.search(text).hits] for text in texts]


# Over HTTP


class Server:
    """`recollect serve` of this house."""

    def __init__(self, house: House) -> None:
        with house.open() as memory:
            self.token = memory.access.create(label="benchmark").secret
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        variables = {**os.environ, "RECOLLECT_LISTEN": f"127.0.0.1:{self.port}"}
        self.process = subprocess.Popen(
            [str(SCRIPT), "--home", str(house.home), "serve"], env=variables, stdout=subprocess.DEVNULL
        )

    def wait(self) -> None:
        ends = time.monotonic() + READY_SECONDS
        while time.monotonic() < ends:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/health")
                if connection.getresponse().status == 200:
                    return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("the server did not come up")

    def asker(self) -> Ask:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}

        def ask(text: str) -> Any:
            connection.request("POST", "/v1/search", json.dumps({"query": text}), headers)
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200:
                raise SystemExit(f"{answer.status}: {body[:300]!r}")
            return body

        return ask

    def megabytes(self) -> float:
        return round(psutil.Process(self.process.pid).memory_info().rss / 1e6, 1)


@contextmanager
def serving(house: House) -> Iterator[Server]:
    server = Server(house)
    try:
        server.wait()
        yield server
    finally:
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(30)


def found_over_http(server: Server, texts: Sequence[str]) -> list[list[str]]:
    ask = server.asker()
    return [[hit["id"] for hit in json.loads(ask(text))["hits"]] for text in texts]


def soaked(server: Server, texts: Sequence[str], clients: int, minutes: float) -> dict[str, Any]:
    """The same load for long: the memory of the server, and the latency of the first and the last tenth."""
    done = threading.Event()
    samples: list[float] = []

    def watch() -> None:
        while not done.wait(SAMPLE_SECONDS):
            samples.append(server.megabytes())

    watching = threading.Thread(target=watch)
    watching.start()
    tenth = minutes * 6
    parts = [under_load(server.asker, texts, clients, tenth) for _ in range(10)]
    done.set()
    watching.join()
    quarter = max(1, len(samples) // 4)
    return {
        "minutes": minutes,
        "searches": round(sum(part["per_second"] for part in parts) * tenth),
        "megabytes_after_the_first_quarter": round(statistics.median(samples[quarter : 2 * quarter] or samples), 1),
        "megabytes_in_the_last_quarter": round(statistics.median(samples[-quarter:]), 1),
        "most_megabytes": max(samples),
        "p95_ms_of_the_first_tenth": parts[0]["p95_ms"],
        "p95_ms_of_the_last_tenth": parts[-1]["p95_ms"],
    }


def child(arguments: Sequence[str]) -> dict[str, Any]:
    """In a process of its own, so that neither way is measured with the threads of the other around it."""
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def middle(rounds: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: round(statistics.median(one[name] for one in rounds), 2) for name in rounds[0]}


def main() -> None:
    options = _options()
    house = make_house(options.cache, "sqlite", SIZES[options.size])
    texts = questions(house.size)
    if options.alone:
        print(json.dumps(in_process(house, texts, options.clients, options.seconds)))
        return
    build(house)
    figures: dict[str, Any] = {"messages": house.size, "clients": options.clients}
    alone = ["--size", options.size, "--clients", str(options.clients), "--seconds", str(options.seconds), "--alone"]
    library: list[dict[str, float]] = []
    over_http: list[dict[str, float]] = []
    with serving(house) as server:
        same = found_in_process(house, texts[:COMPARED]) == found_over_http(server, texts[:COMPARED])
        figures["same_hits"] = same
        for number in range(options.rounds):
            library.append(child([*alone, "--cache", str(options.cache)]))
            over_http.append(under_load(server.asker, texts, options.clients, options.seconds))
            print(f"round {number + 1}: in process {library[-1]}, over HTTP {over_http[-1]}", file=sys.stderr)
        figures |= {"in_process": middle(library), "over_http": middle(over_http)}
        figures["ratio"] = {
            name: round(figures["over_http"][name] / figures["in_process"][name], 2) for name in library[0]
        }
        if options.soak:
            figures["soak"] = soaked(server, texts, options.clients, options.soak)
    print(json.dumps(figures, indent=2))
    if not same:
        raise SystemExit("the two ways found different hits")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="100k")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--soak", type=float, default=0, metavar="MINUTES")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "recollect-benchmarks")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
