"""How often an agent would write first, what keeps it from that, and what its moments cost.

    python benchmarks/heartbeat.py [--days 84] [--seed 7] [--json FILE]

A made-up life (`heartbeat_plan`) is lived through the real heartbeat, mind and diary (`heartbeat_life`) twice: with a
model that would write whenever it is asked, and with one that would in one of five times. The person travels from
Berlin to New York between the changes of the clocks, the computer sleeps in some nights, its clock is wrong for three
days, the line is down at times. Beside each life goes one without rules, in which the model writes at every moment.
`heartbeat_watch` counts what each of them broke. Tokens are counted by the house, and nothing is read from a cache, so
that the money is rather too much. `docs/benchmarks.md` has results.
"""

import argparse
import json
import multiprocessing
import random
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from heartbeat_life import MODEL, Life, Lived
from heartbeat_plan import Plan, sentence

import recollect

MONTH_DAYS = 30
TALKS_A_DAY = 4.0
WORDS = 60
"""Of a message; an answer has twice as many."""
PAGE_WORDS = {"identity.md": 250, "soul.md": 700}
"""Pages of an agent that has lived a while: what the decision shows of them is cut at 800 and 1,500 tokens."""
YES = {"always": 1.0, "one in five": 0.2}
FLIGHT = (datetime(2026, 10, 28, 8, tzinfo=UTC), datetime(2026, 10, 28, 19, tzinfo=UTC), "America/New_York")


def plan_of(days: int, seed: int, yes_share: float) -> Plan:
    return Plan(
        zone="Europe/Berlin",
        start=datetime(2026, 9, 20, 22, tzinfo=UTC),
        days=days,
        seed=seed,
        yes_share=yes_share,
        flight=FLIGHT,
        talks_a_day=TALKS_A_DAY,
        words=WORDS,
        searches=2,
    )


def furnish(memory: recollect.Memory) -> None:
    chance = random.Random(1)
    memory.notes.prepare()
    agent = memory.as_agent(memory.settings.agent_name)
    for name, words in PAGE_WORDS.items():
        agent.notes.write(
            f"{agent.notes.own_folder}/{name}", sentence(chance, words) + "\n", reason="A page to begin with"
        )
    agent.update_status({"focus": sentence(chance, 15), "mood": "content", "waits for": sentence(chance, 10)})


def live(plan: Plan, folder: str) -> dict[str, Any]:
    started = time.monotonic()
    lived = Life(plan, Path(folder) / "home", furnish=furnish).live()
    month_end = plan.start + timedelta(days=MONTH_DAYS)
    return {
        "weeks": _figures(plan, lived, plan.end),
        "month": _figures(plan, lived, min(month_end, plan.end)),
        "broken": dict(lived.watch.broken),
        "disagreements": len(lived.disagreements),
        "without rules": dict(lived.unruled),
        "seconds": round(time.monotonic() - started, 1),
    }


def _figures(plan: Plan, lived: Lived, end: datetime) -> dict[str, Any]:
    start = plan.start
    moments = [one for one in lived.moments if start <= one.at < end]
    arrived = [at for at, _ in lived.arrived if start <= at < end]
    calls = [
        one for one in lived.events if one.name == "model" and start <= datetime.fromisoformat(one.started_at) < end
    ]
    by_purpose = {
        purpose: _took([one.detail for one in calls if one.detail["purpose"] == purpose])
        for purpose in ("heartbeat", "reflection")
    }
    return {
        "days": (end - start).days,
        "moments": len(moments),
        "outcomes": dict(Counter(one.outcome for one in moments)),
        "rules": dict(Counter(rule for one in moments for rule in one.rules).most_common()),
        "held back by its topic": sum(one.was_asked and one.outcome == "quiet" for one in moments),
        "written first": len(arrived),
        "most in a day": max(
            Counter(at.astimezone(ZoneInfo(plan.zone_at(at))).date() for at in arrived).values(), default=0
        ),
        "diary entries": sum(len(one.wrote) for one in lived.reflections if start <= one.at < end),
        "took": by_purpose,
    }


def _took(details: list[dict[str, Any]]) -> dict[str, Any]:
    number = max(len(details), 1)
    return {
        "calls": len(details),
        "input tokens a call": round(sum(one["input_tokens"] for one in details) / number),
        "output tokens a call": round(sum(one["output_tokens"] for one in details) / number),
        "dollars": round(sum(one["dollars"] for one in details), 4),
    }


def run(days: int, seed: int) -> dict[str, Any]:
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(2, mp_context=context) as pool:
        lives = {name: pool.submit(live, plan_of(days, seed, share), f"{folder}/{name}") for name, share in YES.items()}
        return {name: life.result() for name, life in lives.items()}


def show(result: dict[str, Any]) -> None:
    for name, life in result.items():
        for span in ("month", "weeks"):
            found = life[span]
            print(f"\n{found['days']} days, a model that would write {name}:")
            print(f"  wrote first {found['written first']} times, at most {found['most in a day']} in a day")
            print(f"  {found['moments']:,} moments: {_listed(found['outcomes'])}")
            print(f"  held back by: {_listed(found['rules'])}; by its topic: {found['held back by its topic']}")
            print(f"  diary entries: {found['diary entries']}")
            for purpose, took in found["took"].items():
                print(f"  {purpose}: {_listed(took)}")
            month = sum(took["dollars"] for took in found["took"].values()) / found["days"] * MONTH_DAYS
            print(f"  with {MODEL}: ${month:.2f} a month")
        print(f"  rules broken: {sum(life['broken'].values())}; moments judged otherwise: {life['disagreements']}")
        print(f"  without rules: {_listed(life['without rules'])}")


def _listed(numbers: dict[str, Any]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in numbers.items()) or "none"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=84)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    result = run(given.days, given.seed)
    if given.json:
        given.json.write_text(json.dumps(result, indent=1), encoding="utf-8")
    show(result)
    return int(any(life["broken"] or life["disagreements"] for life in result.values()))


if __name__ == "__main__":
    sys.exit(main())
