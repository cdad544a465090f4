"""costs."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import click

from recollect.surfaces.cli.librarian import meter_line
from recollect.surfaces.cli.output import amount, print_json, say, style, table, width
from recollect.surfaces.cli.place import Place, json_option
from recollect.surfaces.shapes.costs import TURNS, costs_json

PARTS = ("conversation", "compactions", "librarian", "heartbeat")
"""Of a bar, in their order. What keeps a cache warm is part of the conversation."""
CELLS = ("calls", "in", "cached", "written", "out", "cost")
PART_OF = {"mind": 0, "warm": 0, "compaction": 1, "heartbeat": 3, "reflection": 3}
LIBRARIAN = PARTS.index("librarian")


@click.command()
@click.option("--days", default=30, type=click.IntRange(1, 3_650), show_default=True, help="How far back.")
@click.option("--turns", type=click.IntRange(0, 10_000), metavar="N", help="Also the latest N turns of the mind.")
@json_option
@click.pass_obj
def costs(place: Place, days: int, turns: int | None, as_json: bool) -> None:
    """Show what models took, by day. Calls, tokens and money, by turn if you like; and what is left of today's
    ceilings."""
    with place.open() as memory:
        value = costs_json(memory, days, TURNS if turns is None and as_json else turns or 0)
    if as_json:
        print_json(value)
        return
    say(f"{style('Librarian', 'bold')}  today {meter_line(value['today'])}")
    for name, parts in (("Mind", (0, 1)), ("Heartbeat", (3,))):
        today = value[f"{name.lower()}_today"]
        has_ceiling = name == "Mind" and today["dollars_per_day"]  # The heartbeat's is there by default.
        if has_ceiling or any(PART_OF.get(one["purpose"]) in parts for one in value["days"]):
            say(f"{style(name, 'bold')}{' ' * (len('Librarian') - len(name))}  today {meter_line(today)}")
    if not value["days"]:
        say("No model was asked." if days == 1 else f"No model was asked in the last {days} days.")
        return
    _say_chart(value)
    _say_days(value)
    _say_purposes(value["days"])
    if turns:
        _say_turns(value["turns"])
    _say_sum(value)


# For people


def _say_chart(value: dict[str, Any]) -> None:
    """Of money; of tokens where nothing costs any."""
    from recollect.surfaces.cli.chart import Bar, drawn, marks, periods

    is_money = value["cost_usd"] > 0
    parts: dict[str, list[float]] = defaultdict(lambda: [0.0] * len(PARTS))
    for one in value["days"]:
        spent = one["cost_usd"] if is_money else one["input_tokens"] + one["output_tokens"]
        parts[one["day"]][PART_OF.get(one["purpose"], LIBRARIAN)] += spent
    lines = periods(parts, value["today_is"])
    digits = 2 if max(map(sum, lines.values())) >= 1 else 4
    bars = [
        Bar(label=label, parts=sums, note=f"${sum(sums):,.{digits}f}" if is_money else _short(round(sum(sums))))
        for label, sums in lines.items()
    ]
    drawn_with = marks()
    used = [index for index in range(len(PARTS)) if any(bar.parts[index] for bar in bars)]
    say()
    for line in drawn(bars, width(), drawn_with):
        say(line)
    if used:
        say(style("  ".join(f"{drawn_with[index]} {PARTS[index]}" for index in used), "dim"))


def _say_days(value: dict[str, Any]) -> None:
    days: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in value["days"]:
        days[one["day"]].append(one)
    rows = [(day, *_cells(days[day]), value["compactions"].get(day, "")) for day in days]
    say()
    table(("day", *CELLS, "compactions"), rows, right=range(1, len(CELLS) + 2))


def _say_purposes(days: Sequence[dict[str, Any]]) -> None:
    """The model stands last: its name may be long. Who serves it is told to programs."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for one in days:
        groups[one["purpose"], one["model"]].append(one)
    rows = [
        (purpose, *_cells(groups[purpose, model]), model.partition("#")[2] or model.partition(":")[2] or model)
        for purpose, model in sorted(groups)
    ]
    say()
    table(("for", *CELLS, "model"), rows, right=range(1, len(CELLS) + 1))


def _say_turns(turns: Sequence[dict[str, Any]]) -> None:
    from recollect.clock import local

    say()
    if not turns:
        say("The mind had no turn yet.")
        return
    rows = [
        (f"{local(one['at']):%d %b %H:%M}", *_cells([one])[1:], _short(one["compaction_tokens"]), one["turn"])
        for one in turns
    ]
    table(("at", *CELLS[1:], "condensed", "turn"), rows, right=range(1, len(CELLS) + 1), is_whole=True)


def _say_sum(value: dict[str, Any]) -> None:
    share = _share(value["days"])
    cached = f", {share} of the input cached" if share else ""
    say(f"\nIn all: {value['tokens']:,} tokens{cached}, {_money(value['cost_usd'])}")
    if asked := sum(value["asked_known"].values()):
        say(f"The agent asked {amount(asked, 'question')} whose answer it had.")


def _cells(spent: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Those of `CELLS`."""
    sums = {name: sum(one[name] for one in spent) for name in ("calls", "cost_usd")}
    tokens = (sum(one[f"{kind}_tokens"] for one in spent) for kind in ("input", "written", "output"))
    taken, written, out = (_short(number) for number in tokens)
    return f"{sums['calls']:,}", taken, _share(spent), written, out, _money(sums["cost_usd"])


def _share(spent: Sequence[Mapping[str, Any]]) -> str:
    """Of the input, what came from a cache. Rounded down: 100 % is all of it."""
    taken, cached = (sum(one[f"{kind}_tokens"] for one in spent) for kind in ("input", "cached"))
    return f"{100 * cached // taken}%" if taken else ""


def _short(tokens: int) -> str:
    """`950`, `12.3k`, `456k`, `7.8M`; nothing for none."""
    if not tokens:
        return ""
    for unit, size in (("", 1), ("k", 1_000), ("M", 1_000_000)):
        if tokens < 999.5 * size:
            number = tokens / size
            return f"{number:.1f}{unit}" if unit and number < 99.95 else f"{number:.0f}{unit}"
    return f"{tokens / 1_000_000:,.0f}M"


def _money(dollars: float) -> str:
    return f"${dollars:,.2f}" if dollars >= 1 or not dollars else f"${dollars:.4f}"
