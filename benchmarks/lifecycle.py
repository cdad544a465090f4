"""Whether what was learned stays right through a whole life: corrected, contradicted, expired, forgotten, read again.

    python benchmarks/lifecycle.py [--statements 10000] [--seed 5] [--postgres | --db URL] [--json]

No model, no network, no clock of the computer: everything comes from the seed. A person, agents in their rooms and a
librarian state things (`life.py`), a ledger of a few plain lists keeps what must hold (`ledger.py`), and at several
moments of that life both are asked the same (`judge.py`). Reported, with what they must be:

- current facts right (100 %): `fact` for many keys and askers, and that `records` lists exactly what is current;
- the past right (100 %): what was believed and what was true at moments drawn by chance;
- resurrected facts (0): corrected, retracted or forgotten, and back after being extracted or imported again;
- residue (0): words of forgotten things in any table, packed or not, or in the bytes of any file of the home;
- leaks (0): records, messages, events, hits or contexts outside the chain of who asks, and writes not denied;
- surprises (0): statements that became something else than the ledger says;
- stream (100 %): each version has its event, and the records made again from the stream are the same.

Exit code 1 when a figure is not what it must be. `docs/benchmarks.md` has results.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from houses import postgres
from judge import SHOWN, Judge
from life import Life

import recollect
from recollect.testing import FrozenClock

BEGIN = datetime(2026, 1, 1, 8, 0, tzinfo=UTC)
CHECKPOINTS = 5

Say = Callable[[str], None]


def live(life: Life, judge: Judge, statements: int, say: Say) -> None:
    """A life of so many statements, judged on the way and at its end, when all is read and imported once more."""
    asked = max(statements // 20, 20)
    for part in range(1, CHECKPOINTS + 1):
        life.live(statements * part // CHECKPOINTS)
        judge.check_current(asked)
        judge.check_past(asked, 4)
        judge.check_residue()
        say(f"{life.statements:,} statements: {summary(life, judge)}")
    life.transcripts_come_again()
    life.read_everything_again()
    life.transcripts_come_again()
    judge.check_current(asked)
    judge.check_past(asked * 2, 20)
    judge.check_scopes(40)
    judge.check_stream()
    judge.check_current(asked)
    judge.check_residue()


def summary(life: Life, judge: Judge) -> dict[str, Any]:
    """Every figure that must be something."""
    return {
        "current_facts": _percent(judge.current),
        "believed_then": _percent(judge.belief),
        "true_then": _percent(judge.truth),
        "resurrected": len(life.tally.resurrected),
        "residue": len(judge.residue.wrong),
        "leaks": len(judge.leaks.wrong) + len(life.tally.unwatched),
        "surprises": len(life.tally.surprises),
        "stream": _percent(judge.stream),
        "rebuilt": _percent(judge.rebuilt),
    }


def is_as_it_must(found: dict[str, Any]) -> bool:
    return all(value in (0, "100 %") for value in found.values())


def mistakes(life: Life, judge: Judge) -> list[str]:
    """The first of each kind, in words."""
    kinds = {
        "current": judge.current.wrong,
        "belief": judge.belief.wrong,
        "truth": judge.truth.wrong,
        "resurrected": life.tally.resurrected,
        "residue": judge.residue.wrong,
        "leak": judge.leaks.wrong + life.tally.unwatched,
        "surprise": life.tally.surprises,
        "stream": judge.stream.wrong + judge.rebuilt.wrong,
    }
    return [f"{kind}: {one}" for kind, found in kinds.items() for one in found[:SHOWN]]


def _percent(score: Any) -> str:
    return "100 %" if not score.wrong else f"{100 * score.accuracy:.3f} %"


def run(statements: int, seed: int, database: str | None, folder: Path, say: Say) -> dict[str, Any]:
    clock = FrozenClock(BEGIN)
    home = folder / "home"
    started = time.perf_counter()
    with recollect.open(home=home, database=database, clock=clock) as memory:
        life = Life(memory, clock, folder / "transcripts", seed)
        judge = Judge(life, home)
        live(life, judge, statements, say)
        found = summary(life, judge)
        forgets = life.tally.forget_seconds
        return {
            "statements": life.statements,
            "seed": seed,
            "figures": found,
            "is_as_it_must": is_as_it_must(found),
            "asked": {
                name: getattr(judge, name).asked
                for name in ("current", "belief", "truth", "leaks", "residue", "stream")
            },
            "acts": dict(sorted(life.tally.acts.items())),
            "records": len(life.ledger.entries),
            "messages": len(life.talks.there),
            "forget_milliseconds": {
                "median": round(statistics.median(forgets) * 1000, 1) if forgets else 0,
                "worst": round(max(forgets, default=0) * 1000, 1),
            },
            "seconds": round(time.perf_counter() - started, 1),
            "mistakes": mistakes(life, judge),
        }


@contextmanager
def _server(wanted: bool, folder: Path) -> Iterator[str | None]:
    if not wanted:
        yield None
        return
    with postgres(folder / "pg") as sockets:
        yield f"postgresql://postgres@/postgres?host={sockets}"


def show(result: dict[str, Any]) -> None:
    print(f"{result['statements']:,} statements, {result['records']:,} records, {result['messages']:,} messages")
    for title in ("figures", "asked", "acts", "forget_milliseconds"):
        print(f"\n{title.replace('_', ' ')}")
        for name, value in result[title].items():
            print(f"  {name.replace('_', ' '):<24}{value if isinstance(value, str) else format(value, ','):>12}")
    print(f"\n{result['seconds']} seconds")
    for one in result["mistakes"]:
        print(one)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--statements", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=5)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--db", help="the address of an empty database, instead of a file in a temporary home")
    where.add_argument("--postgres", action="store_true", help="a server of its own, from the wheel")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout instead of tables")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rc-") as name, _server(arguments.postgres, Path(name)) as server:
        result = run(
            arguments.statements,
            arguments.seed,
            server or arguments.db,
            Path(name) / "life",
            lambda line: print(line, file=sys.stderr, flush=True),
        )
    if arguments.json:
        print(json.dumps(result, indent=1))
    else:
        show(result)
    sys.exit(0 if result["is_as_it_must"] else 1)


if __name__ == "__main__":
    main()
