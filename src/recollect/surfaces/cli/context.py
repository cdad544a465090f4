"""context."""

import sys
from typing import TYPE_CHECKING

import click

from recollect.surfaces.cli.output import amount, on_one_line, print_json, say, warn, when
from recollect.surfaces.cli.place import Place, agent_option, json_option
from recollect.surfaces.shapes.contexts import REHYDRATION, context_json
from recollect.surfaces.shapes.showings import shown_records_json

if TYPE_CHECKING:
    from recollect.context import Context, Difference
    from recollect.memory import Memory

REHYDRATION_TOKENS = 2_000


@click.command()
@click.option(
    "--for",
    "purpose",
    default=REHYDRATION,
    show_default=True,
    metavar="NAME",
    help="What it is for: rehydration (what a session should know when it begins), conversation, heartbeat, or a "
    "pipeline of your own in recollect.toml.",
)
@click.option(
    "--budget", type=int, metavar="TOKENS", help="At most this many, estimated. Of a rehydration 2000, unless given."
)
@click.option("--trigger", default="", metavar="TEXT", help="What is said to the agent now. It is never cut.")
@click.option("--diff", "is_diff", is_flag=True, help="Only tell what would change since the last one, and its cost.")
@click.option("--topic", default="", help="Rehydration: what the session is about. Records that answer come first.")
@click.option("--recent", default=0, metavar="N", help="Rehydration: also the last N messages.")
@agent_option
@json_option
@click.pass_obj
def context(
    place: Place,
    purpose: str,
    budget: int | None,
    trigger: str,
    is_diff: bool,
    topic: str,
    recent: int,
    agent: str,
    as_json: bool,
) -> None:
    """Print what a model should be told.

    The same knowledge gives the same bytes, and a conversation begins with all the bytes of the one before it. What
    does not fit in the budget is left out whole, and counted. Without --agent a conversation or a heartbeat is that of
    the house's own agent.
    """
    _check(purpose, budget, trigger, is_diff, topic, recent)
    with place.opened_as(agent) as memory:
        if is_diff:
            _show_difference(memory.context.difference(purpose, trigger, budget_tokens=budget or 0), as_json)
            return
        made = _made(memory, purpose, budget, trigger, topic, recent)
        records = {"records": shown_records_json(memory, made)} if as_json and purpose == REHYDRATION else {}
    if as_json:
        print_json({**context_json(made, purpose), **records})
        return
    sys.stdout.buffer.write(made.text.encode())
    sys.stdout.buffer.flush()
    if sys.stdout.isatty():
        warn(_summary(made, purpose))


def _check(purpose: str, budget: int | None, trigger: str, is_diff: bool, topic: str, recent: int) -> None:
    from recollect.errors import Invalid

    if budget is not None and budget < 1:
        raise Invalid(f"A budget of {budget:,} tokens holds nothing. Give 1 or more.")
    if purpose == REHYDRATION and (trigger or is_diff):
        raise Invalid("A rehydration has no trigger and nothing is kept of it: use --for conversation or --for NAME.")
    if purpose != REHYDRATION and (topic or recent):
        raise Invalid("--topic and --recent are for a rehydration. What else a context has, its pipeline says.")


def _made(memory: "Memory", purpose: str, budget: int | None, trigger: str, topic: str, recent: int) -> "Context":
    if purpose == REHYDRATION:
        return memory.context.rehydration(budget_tokens=budget or REHYDRATION_TOKENS, topic=topic, recent=recent)
    return memory.context.build(purpose, trigger, budget_tokens=budget or 0)


def _summary(made: "Context", purpose: str) -> str:
    """For a person who looks at it; in a pipe there is only the context."""
    if not made.sections and not made.left_out:
        return "Nothing is known yet. `recollect remember` keeps something."
    size = f"About {made.tokens:,} of {amount(made.budget_tokens, 'token')}, fingerprint {made.fingerprint}."
    if not made.left_out:
        return size
    more = "" if purpose == REHYDRATION else ", or more of one section in recollect.toml"
    return f"{size} {made.left_out:,} left out: a larger --budget shows more{more}."


def _show_difference(found: "Difference", as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    say(f"{found.pipeline} of {found.agent}, {'after that of ' + when(found.since) if found.since else 'the first'}")
    say(_how_it_begins(found))
    say(
        f"Tokens: {found.cached_tokens:,} as before, which can be cached; {found.new_tokens:,} new; "
        f"{found.lost_tokens:,} of the last one lost."
    )
    if found.sections and (found.new_tokens or found.lost_tokens):
        say(f"Changed: {', '.join(found.sections)}")
    if found.messages:
        say(f"Messages: {amount(found.messages, 'message')} more")
    for note in found.notes:
        say(on_one_line(f"Note: {note.path} {note.change} {when(note.at)} {note.by}"))


def _how_it_begins(found: "Difference") -> str:
    if not found.since:
        return "There is none before it."
    if found.reason:
        return f"It does not begin with all of the one before: {found.reason}."
    return "It begins with what is frozen." if found.lost_tokens else "It begins with all of the one before."
