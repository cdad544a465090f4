"""context."""

import sys
from typing import TYPE_CHECKING

import click

from recollect.surfaces.cli.output import amount, print_json, warn
from recollect.surfaces.cli.place import Place, agent_option, json_option

if TYPE_CHECKING:
    from recollect.context import Context


@click.command()
@click.option(
    "--for",
    "purpose",
    type=click.Choice(["rehydration"]),
    default="rehydration",
    show_default=True,
    help="What it is for. Rehydration: what a session should know when it begins.",
)
@click.option("--budget", default=2_000, metavar="TOKENS", help="At most this many, estimated.", show_default=True)
@click.option("--topic", default="", help="What the session is about: records that answer to it come first.")
@click.option("--recent", default=0, metavar="N", help="Also the last N messages of the latest conversation.")
@agent_option
@json_option
@click.pass_obj
def context(place: Place, purpose: str, budget: int, topic: str, recent: int, agent: str, as_json: bool) -> None:
    """Print what a model should be told.

    The same knowledge gives the same bytes. What does not fit in the budget is left out whole, and counted.
    """
    with place.opened_as(agent) as memory:
        made = memory.context.rehydration(budget_tokens=budget, topic=topic, recent=recent)
    if as_json:
        print_json(_as_json(made))
        return
    sys.stdout.buffer.write(made.text.encode())
    sys.stdout.buffer.flush()
    if sys.stdout.isatty():
        warn(_summary(made))


def _as_json(made: "Context") -> dict[str, object]:
    return {
        "sections": made.sections,
        "tokens": made.tokens,
        "fingerprint": made.fingerprint,
        "left_out": made.left_out,
        "budget": made.budget_tokens,
    }


def _summary(made: "Context") -> str:
    """For a person who looks at it; in a pipe there is only the context."""
    if not made.sections and not made.left_out:
        return "Nothing is known yet. `recollect remember` keeps something."
    size = f"About {made.tokens:,} of {amount(made.budget_tokens, 'token')}, fingerprint {made.fingerprint}."
    return f"{size} {made.left_out:,} left out: a larger --budget shows more." if made.left_out else size
