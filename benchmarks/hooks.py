"""How long a coding agent waits for a hook: the installed script with the daemon up, beside the cheapest programs.

    python benchmarks/hooks.py [RUNS]

In turns, so that what else goes on strikes all alike: /bin/true (a process), `python -c pass` (an interpreter), the
script at the beginning and at the end of a session with the daemon, and without one. Milliseconds, median and p95.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import recollect
from recollect.settings import load_settings
from recollect.surfaces.hooks.commands import own_program, script_path, script_text, words_of

RECORDS = 1_000
WITHOUT_DAEMON = 10
"""Runs without a daemon: each starts an interpreter."""


def prepare(home: Path) -> str:
    """A house that knows something; the path of the script."""
    with recollect.open(home) as memory:
        memory.agents.add("claude-code")
        for number in range(RECORDS):
            memory.knowledge.remember(f"Fact {number} about the well, the pump and the garden of house {number % 17}.")
    settings = load_settings(home)
    path = Path(script_path(settings))
    path.parent.mkdir()
    path.write_text(script_text(settings, words_of(settings, own_program())), encoding="utf-8")
    path.chmod(0o700)
    return str(path)


def runner(words: list[str], given: bytes = b"") -> Callable[[], float]:
    def run() -> float:
        started = time.perf_counter()
        subprocess.run(words, input=given, stdout=subprocess.DEVNULL, check=True)
        return (time.perf_counter() - started) * 1e3

    return run


def told(name: str, times: list[float]) -> str:
    p95 = sorted(times)[int(len(times) * 0.95)]
    return f"{name:44} {statistics.median(times):8.1f} {p95:8.1f}"


def measure(jobs: dict[str, Callable[[], float]], runs: int) -> None:
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(runs):
        for name, run in jobs.items():
            times[name].append(run())
    for name, found in times.items():
        print(told(name, found))


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        script = prepare(home)
        given = {"session_id": "bench", "cwd": f"{folder}/well", "source": "startup", "transcript_path": f"{folder}/x"}
        payload = json.dumps(given).encode()
        begin = runner([script, "claude-code", "SessionStart", "claude-code"], payload)
        stop = runner([script, "claude-code", "Stop", "claude-code"], payload)
        around = {**os.environ, "RECOLLECT_LISTEN": "127.0.0.1:0", "HOME": folder}
        print(f"{RECORDS:,} records, {runs} runs in turns{'':17} median      p95 (ms)")
        daemon = subprocess.Popen(
            [*words_of(load_settings(home), own_program()), "up"], env=around, stdout=-3, stderr=-3
        )
        try:
            while not (home / "runtime" / "hook.curl").exists():
                time.sleep(0.1)
            begin()
            measure(
                {
                    "/bin/true": runner(["/bin/true"]),
                    "sh -c :": runner(["/bin/sh", "-c", ":"]),
                    "python -c pass": runner([sys.executable, "-c", "pass"]),
                    "hook, session start, daemon": begin,
                    "hook, stop, daemon": stop,
                },
                runs,
            )
        finally:
            daemon.terminate()
            daemon.wait()
        measure({"hook, session start, no daemon": begin, "hook, stop, no daemon": stop}, WITHOUT_DAEMON)


if __name__ == "__main__":
    main()
