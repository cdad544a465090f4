"""How fast history takes transcripts in, against the least that could be done with the same bytes in the same run.

    python benchmarks/ingest.py [FOLDER] [--samples FOLDER] [--big-megabytes 2048] [--files 10000]

1. End to end: `recollect` ingests FOLDER into a new home, against a floor: read the bytes, split lines, decode each
   with msgspec, compress the raw line, store it in SQLite. Interleaved, best of five.
2. Memory and flatness: generated files of 10 MB to 2 GB, each ingested by a process of its own: seconds per MB and peak
   resident memory.
3. Rescan: 10,000 unchanged files, against statting them.
4. Sources: a conversation in the shape of each source (`shapes.py`) and, with --samples, real transcripts of several
   agents (`samples.py`): the cost per MB of each against Claude Code's, and, with FOLDER, against that of the real
   transcripts in it. Interleaved, best of five.

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
from pathlib import Path

import apsw
import msgspec
import zstandard
from samples import multiplied
from shapes import SHAPES, claude_code

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
        SHAPES["claude-code"].write(path, megabytes * 1_000_000)
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


def sources(scratch: Path, megabytes: int) -> dict[str, dict[str, float]]:
    """The cost per MB of a conversation in the shape of each source, against Claude Code's."""
    places: dict[str, Path] = {}
    for name, shape in SHAPES.items():
        (scratch / name).mkdir(parents=True)
        places[name] = scratch / name / shape.name
        shape.write(places[name], megabytes * 1_000_000)
    return compared(places)


def compared(places: dict[str, Path]) -> dict[str, dict[str, float]]:
    times: dict[str, list[float]] = {name: [] for name in places}
    sizes = {name: _size(place) / 1e6 for name, place in places.items()}
    for _ in range(ROUNDS):
        for name, place in places.items():
            with tempfile.TemporaryDirectory() as home:
                times[name].append(ours(place, Path(home)))
    costs = {name: min(seconds) * 1000 / sizes[name] for name, seconds in times.items()}
    return {
        name: {
            "megabytes": round(sizes[name], 1),
            "milliseconds_per_megabyte": round(cost, 2),
            "ratio": round(cost / costs["claude-code"], 2),
        }
        for name, cost in costs.items()
    }


def _size(place: Path) -> int:
    return sum(path.stat().st_size for path in place.iterdir()) if place.is_dir() else place.stat().st_size


def rescan(scratch: Path, files: int) -> dict[str, float]:
    root = scratch / "projects"
    for number in range(files):
        folder = root / f"-project-{number // 50}"
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{number:08x}-0000-4000-8000-000000000000"
        records = [{**record, "sessionId": name} for record in claude_code(number) if record["type"] != "progress"]
        (folder / f"{name}.jsonl").write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in records))
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
    parser.add_argument("--samples", type=Path, help="a folder with real transcripts of several agents, a folder each")
    parser.add_argument("--source-megabytes", type=int, default=20, help="of each source's file; 0: none")
    parser.add_argument("--child", nargs=2, metavar=("FILE", "HOME"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(*arguments.child)
        return
    result: dict[str, object] = {}
    end: dict[str, float] = {}
    if arguments.samples:
        with tempfile.TemporaryDirectory() as scratch:
            result["samples"] = compared(multiplied(arguments.samples, Path(scratch), arguments.source_megabytes))
        print(f"samples: {json.dumps(result['samples'], indent=1)}", file=sys.stderr)
    if arguments.folder:
        result["end_to_end"] = end = end_to_end(arguments.folder)
        print(f"end to end: {result['end_to_end']}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as scratch:
        if arguments.files:
            result["rescan"] = rescan(Path(scratch) / "many", arguments.files)
            print(f"rescan: {result['rescan']}", file=sys.stderr)
        if arguments.source_megabytes:
            result["sources"] = found = sources(Path(scratch) / "sources", arguments.source_megabytes)
            for figures in found.values() if arguments.folder else ():
                real = end["seconds"] * 1000 / end["megabytes"]
                figures["ratio_to_real_claude_code"] = round(figures["milliseconds_per_megabyte"] / real, 2)
            print(f"sources: {json.dumps(result['sources'], indent=1)}", file=sys.stderr)
        if arguments.big_megabytes:
            sizes = [size for size in SIZES_MEGABYTES if size < arguments.big_megabytes] + [arguments.big_megabytes]
            print("growth:", file=sys.stderr)
            result["growth"] = growth(Path(scratch), sizes)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
