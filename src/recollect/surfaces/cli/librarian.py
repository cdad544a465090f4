"""process, librarian."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from recollect.errors import Invalid
from recollect.surfaces.cli.output import amount, on_one_line, print_json, say, shorten, style, table, warn, when
from recollect.surfaces.cli.place import Place, json_option
from recollect.surfaces.cli.search import progress
from recollect.surfaces.cli.written import say_written
from recollect.surfaces.shapes.librarian import (
    NOBODY,
    check_price,
    chosen_of,
    costly,
    estimate_json,
    librarian_json,
    long_enough,
    queued_json,
    taken_over,
    worked_json,
)

if TYPE_CHECKING:
    from recollect.librarian.librarian import Estimate, Librarian, Sample
    from recollect.librarian.shelves import ShelfReport
    from recollect.librarian.working.queueing import Queued
    from recollect.librarian.working.work import Step, Worked
    from recollect.memory import Memory

FAILED, UNAVAILABLE = 1, 6
"""Exit codes: something could not be read; it stopped before the end and goes on later."""
MANY = 20
"""More conversations than this are worth a bar."""


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]…")
@click.option("--all", "everything", is_flag=True, help="Also those that were read before: read all of them again.")
@click.option("--queue-only", is_flag=True, help="Only queue them; `recollect up` or a later `process` reads them.")
@click.option("--estimate", is_flag=True, help="Only tell how many there are and what reading them would cost.")
@click.option("--yes", is_flag=True, help="Do not ask before a model is paid for many conversations.")
@json_option
@click.pass_obj
def process(
    place: Place, ids: tuple[str, ...], everything: bool, queue_only: bool, estimate: bool, yes: bool, as_json: bool
) -> None:
    """Let the librarian read finished conversations. It files what they say.

    Without ID: all that are ready or queued. With ids, or --all, also those that were read before; the same
    conversation gives the same records. Answers of a model are kept, so that nothing is paid for twice.
    """
    if ids and everything:
        raise click.UsageError("Give ids, or --all.")
    with place.open() as memory:
        librarian = memory.librarian
        if librarian.reader == "none":
            raise Invalid(NOBODY)
        chosen = chosen_of(memory, ids, everything)
        if estimate:
            _tell_estimate(librarian.estimate(long_enough(memory, chosen)), as_json)
            return
        if not queue_only:
            librarian.open_model()  # Nothing is queued where nobody could read it.
        if not queue_only and not yes:
            _ask_first(memory, librarian, chosen, as_json)
        is_ready_only = not ids and not everything
        librarian.queue.recover()
        queued = librarian.queue.ready() if is_ready_only else librarian.queue.these(chosen)
        if queue_only:
            _tell_queued(queued, as_json)
            return
        written = taken_over(librarian)
        worked = work(librarian, None if is_ready_only else chosen, as_json)
        if not as_json:
            say_written(written, place)
        _tell_worked(librarian, queued, worked, written, place, as_json)


# What it costs


def _tell_estimate(estimate: "Estimate", as_json: bool) -> None:
    tokens = estimate.input_tokens + estimate.output_tokens
    if as_json:
        print_json(estimate_json(estimate))
        return
    say(f"{amount(estimate.conversations, 'conversation')} to read with {estimate.reader}.")
    if not tokens:
        say("No model is asked: it costs nothing.")
        return
    taken, out = f"{estimate.input_tokens:,}", f"{estimate.output_tokens:,}"
    say(f"About {taken} tokens in, at most {out} out: {_money(estimate.dollars)}.")


def _money(dollars: float | None) -> str:
    if dollars is None:
        return "the price is not known (librarian.price_per_million in recollect.toml gives it)"
    return "nothing to pay" if not dollars else f"${dollars:,.2f}" if dollars >= 0.1 else f"${dollars:,.4f}"


def _ask_first(memory: "Memory", librarian: "Librarian", chosen: Sequence[str], as_json: bool) -> None:
    """Many conversations and a model that costs money: show what it would cost and what one gets, then ask."""
    listed = check_price(memory, librarian, chosen)
    if not listed:
        return
    if as_json or not sys.stdin.isatty():
        raise Invalid(
            f"{costly(librarian, len(listed))} See what: recollect process --estimate. "
            "Go on without being asked: --yes."
        )
    _tell_estimate(librarian.estimate(listed), False)
    say("\nThree of them first, for real:")
    for sample in librarian.samples(listed):
        _show_sample(sample)
    if not click.confirm(f"\nRead all {len(listed):,}?"):
        say("Nothing was filed. What the three answered is kept, should you go on later.")
        sys.exit(FAILED)


def _show_sample(sample: "Sample") -> None:
    extract = sample.prepared.extract
    price = _money(sample.dollars)
    say(f"\n{style(on_one_line(extract.title or sample.listed.title), 'bold')}  ({price})")
    for line in extract.lines:
        say(f"  {on_one_line(f'{line.label}: {line.text}' if line.label else line.text)}")
    for item in extract.items:
        say(f"  ◆ {on_one_line(item.text)}  {style(f'“{shorten(on_one_line(item.quotes[0].words), 80)}”', 'dim')}")
    if extract.dropped:
        dropped = ", ".join(f"{reason} {number}" for reason, number in sorted(extract.dropped.items()))
        say(style(f"  not kept: {dropped}", "dim"))


# Working


def work(librarian: "Librarian", only: Sequence[str] | None, as_json: bool) -> "Worked":
    waiting = librarian.status().counts.queued if only is None else len(only)
    with progress("Reading", not as_json and waiting >= MANY) as (on_total, on_progress):
        on_total(waiting)
        done = 0

        def notify(step: "Step") -> None:
            nonlocal done
            done += 1
            on_progress(done)

        return librarian.worker("process").work_until_done(notify, only=only)


def _tell_queued(queued: "Queued", as_json: bool) -> None:
    if as_json:
        print_json(queued_json(queued))
    else:
        say(
            f"{queued.queued:,} queued, {queued.already:,} were queued before, {queued.skipped:,} too short to be read."
        )
        _tell_refused(queued)


def _tell_refused(queued: "Queued") -> None:
    for conversation, reason in queued.refused.items():
        warn(f"{conversation[:8]} was not queued: {reason}")


def _tell_worked(
    librarian: "Librarian", queued: "Queued", worked: "Worked", written: "ShelfReport", place: Place, as_json: bool
) -> None:
    tokens = worked.usage.input_tokens + worked.usage.output_tokens
    dollars = librarian.price_of(worked.usage)
    if as_json:
        print_json(worked_json(librarian, queued, worked, written))
    else:
        _say_worked(queued, worked, tokens, dollars, place)
        before = librarian.status().counts.aside - len(worked.aside)
        if before > 0:
            was = "was" if before == 1 else "were"
            say(f"{amount(before, 'conversation')} {was} set aside before. Why: {place.invocation()} librarian")
    if worked.stopped:
        sys.exit(UNAVAILABLE)
    if worked.aside or worked.failed or queued.refused:
        sys.exit(FAILED)


def _say_worked(queued: "Queued", worked: "Worked", tokens: int, dollars: float | None, place: Place) -> None:
    cost = f"; {tokens:,} tokens, {_money(dollars)}" if tokens else ""
    short = f", {queued.skipped:,} too short" if queued.skipped else ""
    kept = f"{amount(worked.kept, 'record')} kept, {worked.dropped:,} found and not kept"
    say(f"{amount(worked.processed, 'conversation')} read{short}: {kept}{cost}.")
    _tell_refused(queued)
    for conversation, reason in worked.aside.items():
        warn(f"{conversation[:8]} is set aside: {on_one_line(reason)}")
    if worked.problem:
        warn(f"The shelves are not all up to date: {worked.problem}")
    if worked.stopped:
        until = f" It goes on at {when(worked.goes_on_at)}." if worked.goes_on_at else ""
        warn(f"Stopped: {worked.stopped}{until}")
    elif worked.processed:
        say(f"See: {place.invocation()} today; {place.invocation()} notes")


# The librarian itself


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def librarian(context: click.Context, as_json: bool) -> None:
    """Show how the librarian stands; let it rest or go on."""
    if context.invoked_subcommand is None:
        context.invoke(librarian_status, as_json=as_json)
    elif as_json:
        raise click.UsageError(f"Give --json after the command: {context.invoked_subcommand} … --json.")


@librarian.command("status")
@json_option
@click.pass_obj
def librarian_status(place: Place, as_json: bool) -> None:
    """Who reads, what waits and what was set aside. Also why, and what today cost."""
    with place.open() as memory:
        value = librarian_json(memory)
    if as_json:
        print_json(value)
        return
    for name, text in librarian_lines(value):
        say(f"{style(f'{name:13}', 'bold')}  {text}")
    if value["aside"]:
        say()
        table(
            ("set aside", "tried", "why"),
            [(one["conversation"][:8], one["attempts"], on_one_line(one["reason"])) for one in value["aside"]],
        )
        say(f"Read one again: {place.invocation()} process ID")


def librarian_lines(value: dict[str, Any]) -> list[tuple[str, str]]:
    reader = {"rules": "rules, without a model", "none": "nobody"}.get(value["reader"], value["reader"])
    by_itself = "by itself in `recollect up`" if value["works_by_itself"] else "only when asked: `recollect process`"
    if value["paused_since"]:
        by_itself = f"paused since {when(value['paused_since'])}: `recollect librarian resume`"
    read, today = value["read"], value["today"]
    dropped = ", ".join(f"{reason} {number:,}" for reason, number in sorted(read["dropped"].items()))
    states = (("ready", "ready"), ("queued", "queued"), ("processing", "being read"), ("set_aside", "set aside"))
    lines = [
        ("Reader", f"{reader}; {by_itself}"),
        ("Waiting", ", ".join(f"{value[name]:,} {words}" for name, words in states)),
        ("Read", f"{amount(read['conversations'], 'conversation')}, {amount(read['kept'], 'record')} kept"),
    ]
    if value["problem"]:
        lines.insert(1, ("Problem", value["problem"]))
    if dropped:
        lines.append(("Not kept", dropped))
    if today["calls"] or today["share"] is not None:
        lines.append(("Today", meter_line(today)))
    if value["questions"] or value["reviews"]:
        lines.append(("Waits for you", f"{amount(value['questions'], 'question')}, {value['reviews']:,} to review"))
    return lines


def meter_line(today: dict[str, Any]) -> str:
    spent = f"{amount(today['calls'], 'call')}, {today['tokens']:,} tokens, {_money(today['cost_usd'] or 0)}"
    ceilings = [
        f"{today['tokens_per_day']:,} tokens" if today["tokens_per_day"] else "",
        f"${today['dollars_per_day']:,.2f}" if today["dollars_per_day"] else "",
    ]
    named = " and ".join(filter(None, ceilings))
    return f"{spent} of {named} a day ({today['share']:.0%})" if named else f"{spent}; no ceiling is set"


@librarian.command()
@click.option("--reason", default="", metavar="R", help="For who asks why.")
@json_option
@click.pass_obj
def pause(place: Place, reason: str, as_json: bool) -> None:
    """Let it rest: what it reads now is finished, nothing more is begun."""
    with place.open() as memory:
        memory.librarian.queue.pause(reason)
        since = memory.librarian.status().paused
    if as_json:
        print_json({"paused_since": since.since if since else None})
    else:
        say(f"The librarian rests. `{place.invocation()} librarian resume` lets it go on.")


@librarian.command()
@json_option
@click.pass_obj
def resume(place: Place, as_json: bool) -> None:
    """Let it go on."""
    with place.open() as memory:
        was_paused = memory.librarian.queue.resume()
    if as_json:
        print_json({"was_paused": was_paused})
    else:
        say("It goes on." if was_paused else "It was not paused.")
