"""How fast history takes transcripts in, against the least that could be done with the same bytes in the same run.

    python benchmarks/ingest.py FOLDER [--big-megabytes 2048] [--files 10000]

1. End to end: `recollect` ingests FOLDER into a new home, against a floor: read the bytes, split lines, decode each
   with msgspec, compress the raw line, store it in SQLite. Interleaved, best of five.
2. Memory and flatness: generated files of 10 MB to 2 GB, each ingested by a process of its own: seconds per MB and peak
   resident memory.
3. Rescan: 10,000 unchanged files, against statting them.

Prints one JSON document on stdout and progress on stderr. `docs/benchmarks.md` has results.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import msgspec
import zstandard

import recollect
from recollect.database.sqlite import PRAGMAS
from recollect.history.vault import LEVEL

ROUNDS = 5
SIZES_MEGABYTES = (10, 100, 500)


def floor(paths: list[str], folder: Path) -> float:
    """Seconds for the least that could be done."""
    started = time.perf_counter()
    database = apsw.Connection(str(folder / "floor.db"))
    database.execute(PRAGMAS)
    database.execute("CREATE TABLE lines (file INTEGER, line INTEGER, raw BLOB, PRIMARY KEY (file, line))")
    decode = msgspec.json.Decoder().decode
    packer = zstandard.ZstdCompressor(level=LEVEL)
    for number, path in enumerate(paths):
        with open(path, "rb") as file:
            rows: list[tuple[int, int, bytes]] = []
            for line, raw in enumerate(file.read().split(b"\n")):
                if not raw:
                    continue
                with suppress(msgspec.DecodeError, UnicodeDecodeError):
                    decode(raw)
                rows.append((number, line, packer.compress(raw)))
        database.execute("BEGIN IMMEDIATE")
        database.executemany("INSERT INTO lines VALUES (?, ?, ?)", rows)
        database.execute("COMMIT")
    database.close()
    return time.perf_counter() - started


def ours(folder: Path, home: Path) -> float:
    started = time.perf_counter()
    with recollect.open(home) as memory:
        memory.history.ingest([folder])
    return time.perf_counter() - started


def end_to_end(folder: Path) -> dict[str, float]:
    paths = sorted(str(path) for path in folder.rglob("*.jsonl") if path.stat().st_size)
    megabytes = sum(os.path.getsize(path) for path in paths) / 1e6
    floors: list[float] = []
    times: list[float] = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as scratch:
            floors.append(floor(paths, Path(scratch)))
        with tempfile.TemporaryDirectory() as scratch:
            times.append(ours(folder, Path(scratch)))
    return {
        "files": len(paths),
        "megabytes": round(megabytes, 1),
        "floor_seconds": round(min(floors), 3),
        "seconds": round(min(times), 3),
        "ratio": round(min(times) / min(floors), 2),
    }


def generate(path: Path, megabytes: int) -> None:
    """A session in the real shape: prompts, replies in several lines, tool results, progress."""
    output = "".join(f"{number:5d}  some output of a tool, as programs print it\n" for number in range(120))
    with open(path, "wb") as file:
        turn = 0
        while file.tell() < megabytes * 1_000_000:
            file.write(_turn(turn, output))
            turn += 1


def _turn(turn: int, output: str) -> bytes:
    session = "00000000-0000-4000-8000-000000000001"
    stamp = f"{datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=turn * 20):%Y-%m-%dT%H:%M:%S}.000Z"

    def line(kind: str, number: int, **fields: object) -> dict[str, object]:
        return {
            "parentUuid": f"{turn:08x}-0000-4000-8000-{max(0, number - 1):012x}",
            "isSidechain": False,
            "cwd": "/home/someone/project",
            "sessionId": session,
            "version": "2.1.100",
            "type": kind,
            "uuid": f"{turn:08x}-0000-4000-8000-{number:012x}",
            "timestamp": stamp,
            **fields,
        }

    reply = {"id": f"msg_{turn:024d}", "model": "claude-opus-5-5", "role": "assistant", "type": "message"}
    call = {
        "type": "tool_use",
        "id": f"toolu_{turn:024d}",
        "name": "Bash",
        "input": {"command": f"make step-{turn}"},
    }
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": f"run {turn}\n{output}"}
    lines = [
        line(
            "user",
            1,
            message={"role": "user", "content": f"Please look at step {turn} and tell me what it does."},
        ),
        line(
            "assistant",
            2,
            message={**reply, "content": [{"type": "text", "text": f"I will run step {turn}."}]},
        ),
        line("assistant", 3, message={**reply, "content": [call]}),
        line("progress", 4, data={"type": "bash_progress", "output": output[:2000]}),
        line(
            "user",
            5,
            message={"role": "user", "content": [result]},
            toolUseResult={"stdout": output, "turn": turn},
        ),
    ]
    return b"".join(msgspec.json.encode(item) + b"\n" for item in lines)


def child(path: str, home: str) -> None:
    """Ingest one file and say how long it took and how much memory."""
    started = time.perf_counter()
    with recollect.open(home) as memory:
        report = memory.history.ingest([path])
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak_megabytes": peak, "messages": report.messages_added}))


def growth(scratch: Path, sizes: list[int]) -> list[dict[str, float]]:
    results: list[dict[str, float]] = []
    for megabytes in sizes:
        path = scratch / "00000000-0000-4000-8000-000000000001.jsonl"
        generate(path, megabytes)
        home = scratch / "home"
        command = [sys.executable, __file__, "--child", str(path), str(home)]
        answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        shutil.rmtree(home)
        path.unlink()
        results.append(
            {
                "megabytes": megabytes,
                "seconds": round(answer["seconds"], 2),
                "milliseconds_per_megabyte": round(answer["seconds"] * 1000 / megabytes, 2),
                "peak_megabytes": round(answer["peak_megabytes"]),
                "messages": answer["messages"],
            }
        )
        print(f"  {results[-1]}", file=sys.stderr)
    return results


def rescan(scratch: Path, files: int) -> dict[str, float]:
    root = scratch / "projects"
    for number in range(files):
        folder = root / f"-project-{number // 50}"
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{number:08x}-0000-4000-8000-000000000000"
        (folder / f"{name}.jsonl").write_bytes(
            _turn(number, "short\n").replace(b"00000000-0000-4000-8000-000000000001", name.encode())
        )
    paths = [str(path) for path in root.rglob("*.jsonl")]
    with recollect.open(scratch / "home") as memory:
        memory.history.ingest([root])
        stats: list[float] = []
        scans: list[float] = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            for path in paths:
                os.stat(path)
            stats.append(time.perf_counter() - started)
            started = time.perf_counter()
            report = memory.history.scan([root])
            scans.append(time.perf_counter() - started)
            if report.skipped != files:
                raise SystemExit(f"the rescan did not skip all files: {report}")
    return {
        "files": files,
        "stat_milliseconds": round(min(stats) * 1000, 1),
        "rescan_milliseconds": round(min(scans) * 1000, 1),
        "ratio": round(min(scans) / min(stats), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--big-megabytes", type=int, default=2048, help="the largest generated file; 0: none")
    parser.add_argument("--files", type=int, default=10_000, help="files of the rescan; 0: no rescan")
    parser.add_argument("--child", nargs=2, metavar=("FILE", "HOME"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(*arguments.child)
        return
    if arguments.folder is None or not arguments.folder.is_dir():
        parser.error("give a folder with transcripts")
    result: dict[str, object] = {"end_to_end": end_to_end(arguments.folder)}
    print(f"end to end: {result['end_to_end']}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as scratch:
        if arguments.files:
            result["rescan"] = rescan(Path(scratch) / "many", arguments.files)
            print(f"rescan: {result['rescan']}", file=sys.stderr)
        if arguments.big_megabytes:
            sizes = [size for size in SIZES_MEGABYTES if size < arguments.big_megabytes] + [arguments.big_megabytes]
            print("growth:", file=sys.stderr)
            result["growth"] = growth(Path(scratch), sizes)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
