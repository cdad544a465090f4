"""What a daemon takes that has nothing to do: processor time and memory, against a Python that only sleeps.

    python benchmarks/idle.py [--seconds 60] [--messages 2000] [--models FOLDER]

A real `recollect up`: transcripts to watch, notes, the librarian by rules, the search socket and the HTTP server. It
is asked once by the socket, over HTTP and over MCP, so that all of that is loaded; then it is left alone until models
that were in use are dropped, and measured. The other process is `python -c "import time; time.sleep(…)"` in the same
minute. Prints one JSON document. Goals: under 1 % of a core, under 200 MB of resident memory.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

SCRIPT = Path(sys.executable).with_name("recollect")
CORE_GOAL_PERCENT = 1.0
MEMORY_GOAL_MB = 200.0
PATIENCE_SECONDS = 180.0
MODELS_IDLE_SECONDS = 5
SETTLE_SECONDS = 100.0
"""After the last request: what the librarian filed is indexed by the next pass, half a minute later, which takes the
deep model once more; and every half minute it is looked whether a model can be dropped."""
SLEEPER = "python -c 'import time; time.sleep(…)'"


def write_transcripts(folder: Path, messages: int) -> None:
    folder.mkdir(parents=True)
    for number in range(max(1, messages // 100)):
        lines = [
            {
                "type": "user" if turn % 2 == 0 else "assistant",
                "uuid": f"00000000-0000-4000-8000-{number:06d}{turn:06d}",
                "sessionId": f"00000000-0000-4000-9000-{number:012d}",
                "timestamp": f"2026-01-{1 + number % 28:02d}T10:{turn // 60:02d}:{turn % 60:02d}.000Z",
                "cwd": "/home/ada/garden",
                "version": "2.1.0",
                "message": {
                    "role": "user" if turn % 2 == 0 else "assistant",
                    "content": f"Words {number} on bed {turn}.",
                },
            }
            for turn in range(100)
        ]
        path = folder / f"00000000-0000-4000-9000-{number:012d}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def wait_for(look: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        time.sleep(0.2)
    raise SystemExit("waited in vain")


@contextmanager
def daemon(folder: Path, messages: int, models: str) -> Iterator[tuple[psutil.Process, dict[str, str], Path]]:
    home, user = folder / "home", folder / "user"
    write_transcripts(user / ".claude" / "projects" / "-home-ada-garden", messages)
    home.mkdir()
    (home / "recollect.toml").write_text(
        f'fetch_models = false\nmodels_idle_seconds = {MODELS_IDLE_SECONDS}\n[http]\nlisten = "127.0.0.1:0"\n'
    )
    environment = {"PATH": os.environ["PATH"], "HOME": str(user), "RECOLLECT_HOME": str(home), "LC_ALL": "C.UTF-8"}
    environment["RECOLLECT_MODELS"] = models or str(folder / "models")
    with open(folder / "out", "wb") as out:
        process = subprocess.Popen([str(SCRIPT), "up"], env=environment, stdout=out, stderr=out)
    try:
        yield psutil.Process(process.pid), environment, home
    finally:
        process.terminate()
        process.wait(30)


def status_of(home: Path) -> dict[str, Any]:
    try:
        return json.loads((home / "runtime" / "status.json").read_text())
    except (OSError, ValueError):
        return {}


def use_everything(home: Path, environment: dict[str, str]) -> list[str]:
    """Ask by each way; which of them answered."""
    address = wait_for(lambda: status_of(home).get("serving", {}).get("address"))
    wait_for(lambda: not status_of(home).get("to_deepen"))
    wait_for(lambda: status_of(home)["librarian"]["queued"] == 0)
    command = [str(SCRIPT), "token", "create", "--label", "idle", "--json"]
    made = json.loads(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)
    token = made["secret"]
    subprocess.run([str(SCRIPT), "search", "bed 12"], env=environment, check=True, stdout=subprocess.DEVNULL)
    asked = ["socket"]
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "idle", "version": "1"}},
    }
    accepts = {"Accept": "application/json, text/event-stream"}
    for name, path, body, more in (
        ("http", "/v1/search?query=bed", None, {}),
        ("openapi", "/openapi.json", None, {}),
        ("mcp", "/mcp", json.dumps(hello).encode(), accepts),
    ):
        request = urllib.request.Request(f"{address}{path}", data=body, headers={**headers, **more})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                answer.read()
            asked.append(name)
        except urllib.error.HTTPError as error:
            with error:
                asked.append(f"{name}: {error.code}")
    return asked


def seconds_of(process: psutil.Process) -> float:
    taken = process.cpu_times()
    return taken.user + taken.system


def measure(seconds: float, messages: int, models: str) -> dict[str, Any]:
    sleeper = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({seconds + 600})"])
    try:
        with (
            tempfile.TemporaryDirectory() as name,
            daemon(Path(name), messages, models) as (process, environment, home),
        ):
            wait_for(lambda: status_of(home).get("last_scan_at"))
            before = process.memory_info().rss
            asked = use_everything(home, environment)
            busy = process.memory_info().rss
            time.sleep(SETTLE_SECONDS)
            other = psutil.Process(sleeper.pid)
            begun = {one: seconds_of(one) for one in (process, other)}
            switches = process.num_ctx_switches().voluntary
            time.sleep(seconds)
            took = {one: seconds_of(one) - begun[one] for one in begun}
            return {
                "asked": asked,
                "messages": messages,
                "threads": process.num_threads(),
                "wakeups_per_second": round((process.num_ctx_switches().voluntary - switches) / seconds, 1),
                "core_percent": round(100 * took[process] / seconds, 3),
                "core_goal_percent": CORE_GOAL_PERCENT,
                "memory_mb": {
                    "after the first pass": round(before / 1e6, 1),
                    "in use": round(busy / 1e6, 1),
                    "idle": round(process.memory_info().rss / 1e6, 1),
                    "goal": MEMORY_GOAL_MB,
                },
                SLEEPER: {
                    "core_percent": round(100 * took[other] / seconds, 3),
                    "memory_mb": round(other.memory_info().rss / 1e6, 1),
                },
                "memory_ratio": round(process.memory_info().rss / other.memory_info().rss, 1),
                "log": (home / "runtime" / "logs" / "recollect.log").read_text().splitlines()[-5:],
                "parts": {part["name"]: part["state"] for part in status_of(home)["parts"]},
            }
    finally:
        sleeper.terminate()
        sleeper.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long it is watched")
    parser.add_argument("--messages", type=int, default=2_000)
    parser.add_argument("--models", default="", help="a folder with fetched models, so that they are used and dropped")
    given = parser.parse_args()
    print(json.dumps(measure(given.seconds, given.messages, given.models), indent=1))


if __name__ == "__main__":
    main()
