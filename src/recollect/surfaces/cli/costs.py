"""costs."""

from typing import TYPE_CHECKING, Any

import click

from recollect.surfaces.cli.librarian import meter_line
from recollect.surfaces.cli.output import print_json, say, style, table
from recollect.surfaces.cli.place import Place, json_option

if TYPE_CHECKING:
    from recollect.memory import Memory


@click.command()
@click.option("--days", default=30, type=click.IntRange(1, 3_650), show_default=True, help="How far back.")
@json_option
@click.pass_obj
def costs(place: Place, days: int, as_json: bool) -> None:
    """Show what models took, by day. Calls, tokens and money, and what is left of today's ceiling."""
    with place.open() as memory:
        value = costs_json(memory, days)
    if as_json:
        print_json(value)
        return
    say(f"{style('Today', 'bold')}  {meter_line(value['today'])}")
    if not value["days"]:
        say("No model was asked." if days == 1 else f"No model was asked in the last {days} days.")
        return
    say()
    rows = [
        (
            one["day"],
            one["model"],
            one["purpose"],
            f"{one['calls']:,}",
            f"{one['input_tokens']:,}",
            f"{one['cached_tokens']:,}",
            f"{one['output_tokens']:,}",
            f"${one['cost_usd']:,.4f}",
        )
        for one in value["days"]
    ]
    table(("day", "model", "for", "calls", "in", "cached", "out", "cost"), rows, right=(3, 4, 5, 6, 7))
    say(f"\nIn all: {value['tokens']:,} tokens, ${value['cost_usd']:,.4f}")


def costs_json(memory: "Memory", days: int) -> dict[str, Any]:
    from recollect.surfaces.cli.librarian import librarian_json

    spent = memory.spending.by_day(days)
    return {
        "today": librarian_json(memory)["today"],
        "tokens": sum(one.input_tokens + one.output_tokens for one in spent),
        "cost_usd": round(sum(one.dollars for one in spent), 6),
        "days": [
            {
                "day": one.day,
                "model": one.model,
                "purpose": one.purpose,
                "calls": one.calls,
                "open_calls": one.open_calls,
                "input_tokens": one.input_tokens,
                "cached_tokens": one.cached_tokens,
                "output_tokens": one.output_tokens,
                "cost_usd": one.dollars,
            }
            for one in spent
        ],
    }
