"""A month of the mind: what it costs, beside the two designs that it replaces and beside the least that it could cost.

    python benchmarks/mind.py [--days 30] [--exchanges-per-day 50] [--seed 7] [--model claude-opus-5-5] [--json FILE]

The month is made up (`mind_month`), the calls are real: the mind of `memory.mind()`, Anthropic's SDK, and a server on
this computer that keeps the rules of the API and of its cache, by a clock that is moved (`mind_living`). The mind lives
the month once for each number of `--keep-warm`: hours that it keeps the provider's cache from lapsing in a silence. The
same words at the same times are then sent under the other designs (`mind_replaced`). Money is by the price table of the
house. Each design runs in a process of its own, two at a time. `docs/benchmarks.md` has results.
"""

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import mind_costs
import mind_living
import mind_month
import mind_replaced

from recollect.llm.model import Usage
from recollect.settings import MindSettings

EARLY_DAY = 5
SHOWN_DAYS = (1, 2, 3, 5, 10, 15, 20, 25, 30)
PROCESSES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    days: int
    exchanges_a_day: int
    seed: int
    model: str
    compact_at_tokens: int = 100_000

    @property
    def priced(self) -> str:
        return f"anthropic:{self.model}"

    def exchanges(self) -> list[mind_month.Exchange]:
        return mind_month.month(self.seed, self.days, self.exchanges_a_day)


def live_mind(month: Month, folder: str, keep_warm_hours: float, capture: str = "") -> dict[str, Any]:
    """The month with the mind. `capture`: the file for what others would have fetched."""
    started = time.monotonic()
    settings = {
        "model": month.priced,
        "keep_warm_hours": keep_warm_hours,
        "compact_at_tokens": month.compact_at_tokens,
    }
    home = Path(folder) / f"warm-{keep_warm_hours:g}"
    name = mind_name(keep_warm_hours)
    with open(capture or "/dev/null", "w", encoding="utf-8") as file:

        def write(fetched: dict[str, str]) -> None:
            file.write(json.dumps(fetched) + "\n")

        lived = mind_living.live(
            home,
            month.exchanges(),
            seed=month.seed,
            settings=settings,
            capture=write if capture else None,
            say_day=lambda day: _progress(name, day, started),
        )
    found = _figures(month, lived.calls)
    least = mind_costs.least_dollars(month.priced, lived.calls)
    return found | {
        "prefix_breaks": lived.breaks,
        "failed_turns": lived.failed_turns,
        "least_dollars": least,
        "against_least": round(found["sum"]["dollars"] / least["all"], 3),
        "state_bytes": _early_and_late(lived.state_bytes),
        "resident_bytes": _early_and_late(lived.resident_bytes),
        "processor_seconds": _early_and_late(lived.processor_seconds),
        "database_bytes": lived.database_bytes,
        "ledger_agrees": _agrees(lived),
        "seconds": round(time.monotonic() - started, 1),
    }


def replay(month: Month, design: str, fetched: str) -> dict[str, Any]:
    started = time.monotonic()
    run = mind_replaced.Replay(design, month.model, month.seed)
    with open(fetched, encoding="utf-8") as lines:
        calls = run.run(
            month.exchanges(), mind_replaced.read_fetched(lines), lambda day: _progress(design, day, started)
        )
    return _figures(month, calls) | {"seconds": round(time.monotonic() - started, 1)}


def mind_name(keep_warm_hours: float) -> str:
    return f"mind, kept warm {keep_warm_hours:g} h" if keep_warm_hours else "mind, not kept warm"


def _figures(month: Month, calls: Sequence[mind_costs.Call]) -> dict[str, Any]:
    days = mind_costs.by_day(month.priced, calls)
    return {
        "sum": mind_costs.sums(month.priced, calls),
        "days": days,
        "late_against_early": mind_costs.late_against_early(days),
        "misses": mind_costs.misses(calls),
    }


def _early_and_late(by_day: dict[int, float]) -> dict[str, float]:
    last = max(by_day)
    early = min(EARLY_DAY, last)
    return {f"day {early}": by_day[early], f"day {last}": by_day[last], "most": max(by_day.values())}


def _agrees(lived: mind_living.Lived) -> bool:
    """Whether the house wrote down what was counted here."""
    counted = sum((call.usage for call in lived.calls), Usage())
    names = ("input_tokens", "cached_tokens", "written_tokens", "output_tokens", "calls")
    return all(getattr(counted, name) == getattr(lived.ledger, name) for name in names)


def _progress(name: str, day: int, started: float) -> None:
    print(f"{name}: day {day}, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)


# Running


def run(month: Month, keep_warm: Sequence[float], folder: Path, pool: ProcessPoolExecutor | None) -> dict[str, Any]:
    """`pool`: None: one after the other, in this process."""
    fetched = str(folder / "fetched.jsonl")
    capturing = keep_warm[-1]
    designs = {
        mind_name(hours): _begun(pool, live_mind, month, str(folder), hours, fetched if hours == capturing else "")
        for hours in reversed(keep_warm)
    }
    designs[mind_name(capturing)].result()
    designs |= {name: _begun(pool, replay, month, name, fetched) for name in mind_replaced.DESIGNS}
    order = [*(mind_name(hours) for hours in keep_warm), *mind_replaced.DESIGNS]
    results = {name: designs[name].result() for name in order}
    first = results[order[0]]["sum"]["dollars"]
    for found in results.values():
        found["against_first"] = round(found["sum"]["dollars"] / first, 3)
    return {
        "month": asdict(month),
        "prices_per_million": asdict(mind_costs.Prices.of(month.priced)),
        "gaps": mind_month.gaps_of(month.exchanges()),
        "designs": results,
    }


def _begun(pool: ProcessPoolExecutor | None, work: Callable[..., Any], *given: Any) -> Future[Any]:
    if pool:
        return pool.submit(work, *given)
    done: Future[Any] = Future()
    done.set_result(work(*given))
    return done


def show(result: dict[str, Any], say: Callable[[str], None]) -> None:
    month = result["month"]
    say(f"{month['days']} days of {month['exchanges_a_day']} exchanges, {month['model']}, seed {month['seed']}")
    say(f"dollars a million: {result['prices_per_million']}")
    say(f"gaps: {result['gaps']}\n")
    _show_sums(result["designs"], month["days"], say)
    _show_days(result["designs"], month["days"], say)
    for name, found in result["designs"].items():
        _show_rest(name, found, say)


def _show_sums(designs: dict[str, Any], days: int, say: Callable[[str], None]) -> None:
    say("| a day | requests | input | cached | written | output | compacting | cached % | $ | × |")
    say("|---|---|---|---|---|---|---|---|---|---|")
    for name, found in designs.items():
        one = found["sum"]
        fields = ("input_tokens", "cached_tokens", "written_tokens", "output_tokens", "compaction_tokens")
        numbers = " | ".join(f"{one[field] / days / 1000:,.1f}k" for field in fields)
        share = f"{100 * one['cached_share']:.1f}"
        money = f"{one['dollars'] / days:.2f} | {found['against_first']:.2f}"
        say(f"| {name} | {one['requests'] / days:.1f} | {numbers} | {share} | {money} |")
    say("")


def _show_days(designs: dict[str, Any], days: int, say: Callable[[str], None]) -> None:
    shown = sorted({day for day in SHOWN_DAYS if day <= days} | {days})
    say(f"| $ on day | {' | '.join(map(str, shown))} | days 21–30 to 6–15 |")
    say("|---" * (len(shown) + 2) + "|")
    for name, found in designs.items():
        costs = " | ".join(f"{found['days'][day]['dollars']:.2f}" for day in shown)
        say(f"| {name} | {costs} | {found['late_against_early'] or '–'} |")
    say("")


def _show_rest(name: str, found: dict[str, Any], say: Callable[[str], None]) -> None:
    one = found["sum"]
    say(f"{name}: longest request {one['longest_request_tokens']:,} tokens, {found['seconds']:.0f} s")
    say(f"  not read from the cache, because: {found['misses']}")
    if "least_dollars" not in found:
        return
    share = 100 * one["compaction_cached_share"]
    say(f"  compactions: {one['compactions']}, ${one['compaction_dollars']:.2f}, {share:.0f} % read from the cache")
    say(f"  kept warm by {one['warm_requests']} requests, ${one['warm_dollars']:.2f}")
    say(f"  the least: ${found['least_dollars']['all']:.2f} {found['least_dollars']}; × {found['against_least']:.3f}")
    say(f"  prefix breaks: {found['prefix_breaks']}; failed turns: {found['failed_turns']}")
    for kind in ("state_bytes", "resident_bytes"):
        sizes = ", ".join(f"{when} {size / 1e6:.2f} MB" for when, size in found[kind].items())
        say(f"  {kind}: {sizes}")
    say(f"  processor seconds a day: {found['processor_seconds']}")
    say(f"  database: {found['database_bytes'] / 1e6:.1f} MB; the ledger of the house agrees: {found['ledger_agrees']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--exchanges-per-day", type=int, default=50)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--model", default="claude-opus-5-5")
    parser.add_argument("--compact-at-tokens", type=int, default=100_000, help="the setting of the mind")
    usual = f"{MindSettings().keep_warm_hours:g},0"
    parser.add_argument("--keep-warm", default=usual, help=f"hours, one run for each; {usual} where nothing is given")
    parser.add_argument("--json", metavar="FILE", help="write all figures there")
    given = parser.parse_args()
    month = Month(
        days=given.days,
        exchanges_a_day=given.exchanges_per_day,
        seed=given.seed,
        model=given.model,
        compact_at_tokens=given.compact_at_tokens,
    )
    keep_warm = [float(hours) for hours in given.keep_warm.split(",")]
    context = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory(prefix="rc-") as folder,
        ProcessPoolExecutor(PROCESSES, mp_context=context, max_tasks_per_child=1) as pool,
    ):
        result = run(month, keep_warm, Path(folder), pool)
    if given.json:
        Path(given.json).write_text(json.dumps(result, indent=1), encoding="utf-8")
    show(result, print)


if __name__ == "__main__":
    main()
