"""How quickly small commands start, against the least that a command line on SQLite must import.

    python benchmarks/startup.py [--rounds 15]

`recollect --version` and `recollect conversations` (an empty home, then one with a hundred conversations) against
`python -c "import apsw, typer"`. Interleaved, best of fifteen, so that other work on the computer disturbs all alike.
Prints one JSON document; the goal is a ratio under 2. typer is a development dependency for this comparison only.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 15
GOAL = 2.0
FLOOR = "python -c 'import apsw, typer'"
SCRIPT = Path(sys.executable).with_name("recollect")
CONVERSATIONS = 100


def seconds(command: list[str], environment: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def fill(folder: Path, environment: dict[str, str]) -> None:
    """A hundred conversations in the generic format, two hours apart."""
    path = folder / "chat.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(CONVERSATIONS):
            for minute, author in enumerate(("user", "assistant")):
                at = f"2026-01-{1 + number // 12:02d}T{number % 12 * 2:02d}:{minute:02d}:00Z"
                record = {"author": author, "text": f"Words {number}", "session": "chat", "at": at}
                file.write(json.dumps(record) + "\n")
    subprocess.run([str(SCRIPT), "ingest", str(path)], env=environment, check=True, stdout=subprocess.DEVNULL)


def measure(rounds: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        places = {
            kind: {**os.environ, "HOME": name, "RECOLLECT_HOME": str(folder / kind)} for kind in ("empty", "full")
        }
        fill(folder, places["full"])
        commands = {
            FLOOR: ([sys.executable, "-c", "import apsw, typer"], places["empty"]),
            "recollect --version": ([str(SCRIPT), "--version"], places["empty"]),
            "recollect conversations (none)": ([str(SCRIPT), "conversations"], places["empty"]),
            f"recollect conversations ({CONVERSATIONS})": ([str(SCRIPT), "conversations"], places["full"]),
        }
        for command, environment in commands.values():
            seconds(command, environment)  # Files into the cache, .pyc files written.
        best = dict.fromkeys(commands, float("inf"))
        for _ in range(rounds):
            for label, (command, environment) in commands.items():
                best[label] = min(best[label], seconds(command, environment))
    return {
        "rounds": rounds,
        "goal": GOAL,
        "milliseconds": {label: round(value * 1000, 1) for label, value in best.items()},
        "ratio": {label: round(value / best[FLOOR], 2) for label, value in best.items() if label != FLOOR},
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    print(json.dumps(measure(parser.parse_args().rounds), indent=1))
