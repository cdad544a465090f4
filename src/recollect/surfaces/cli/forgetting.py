"""forget."""

import sys
from typing import TYPE_CHECKING, Any

import click

from recollect.errors import Unavailable
from recollect.surfaces.cli.output import (
    on_one_line,
    print_json,
    printable,
    say,
    shorten,
    speaker,
    style,
    table,
    warn,
    when,
)
from recollect.surfaces.cli.place import Place, agent_option, json_option
from recollect.surfaces.cli.records import LINE_CHARACTERS, short_ids
from recollect.surfaces.shapes.forgetting import forgotten_json, receipt_json

if TYPE_CHECKING:
    from recollect.forgetting import Forgotten
    from recollect.lineage import Receipt
    from recollect.memory import Memory

MOST_SHOWN = 10
"""Of each kind of thing that goes; --json lists them all."""
ALL = "all"
NAMES = {
    "lines": "raw lines",
    "record_versions": "versions",
    "scrubbed_records": "shortened records",
    "mind_entries": "entries of the conversation",
    "heartbeats": "reasons of heartbeats",
}
TARGETS = ("record", "message", "conversation", "file", "subject", "note")


@click.command()
@click.argument("record", metavar="[ID]", default="")
@click.option("--message", default="", metavar="M", help="A message, by its id.")
@click.option("--conversation", default="", metavar="C", help="All that was said in a conversation.")
@click.option("--file", default="", metavar="F", help="All that was read from a file.")
@click.option("--subject", default="", metavar="S", help="Every record about this.")
@click.option("--note", default="", metavar="PATH", help="A note with all its versions, and its file.")
@click.option("--with-sources", is_flag=True, help="Also the messages that the records or the note came from.")
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--verify", is_flag=False, flag_value=ALL, metavar="[RECEIPT]", help="Look again whether all is gone.")
@click.option("--receipts", is_flag=True, help="List what was forgotten: when and how much, not what.")
@agent_option
@json_option
@click.pass_obj
def forget(
    place: Place, as_json: bool, agent: str, dry_run: bool, yes: bool, verify: str | None, receipts: bool, **given: Any
) -> None:
    """Erase something for good, with all that came from it.

    ID is a record. It goes from all tables, the index, the raw lines, the notes and the files of the home, and does not
    come back when the same file is read again. What lies outside (the agent's own file, exports) is named. On a
    terminal you are shown what goes and asked first.
    """
    targets = [name for name in TARGETS if given[name]]
    if len(targets) + (verify is not None) + receipts != 1:
        raise click.UsageError(
            "Name one thing: a record's ID, --message, --conversation, --file, --subject or --note; or --verify, or "
            "--receipts."
        )
    with place.opened_as(agent) as memory:
        if receipts:
            _list_receipts(memory.forgetting.receipts(), as_json)
        elif verify is not None:
            _tell_verified(memory.forgetting.verify("" if verify == ALL else verify), place.invocation(), as_json)
        elif dry_run:
            _tell_plan(memory, memory.forgetting.forget(**given, dry_run=True), as_json)
        else:
            if not (yes or as_json) and sys.stdin.isatty() and sys.stdout.isatty():
                _ask(memory, given)
            _tell_done(memory.forgetting.forget(**given), place.invocation(), as_json)


def _ask(memory: "Memory", given: dict[str, Any]) -> None:
    _tell_plan(memory, memory.forgetting.forget(**given, dry_run=True), as_json=False)
    say()
    if not click.confirm("Forget all this for good?"):
        say("Nothing was forgotten.")
        raise click.exceptions.Exit(1)


# For programs


# What would go


def _tell_plan(memory: "Memory", plan: "Forgotten", as_json: bool) -> None:
    if as_json:
        print_json(forgotten_json(plan))
        return
    say(f"{style('This would go', 'bold')}: {_numbers(plan.removed)}.")
    _print_records(memory, "Records", plan.reached.get("record", []))
    _print_messages(memory, "Messages", plan.reached.get("message", []))
    _print_records(memory, "Records that stay, as other messages say it too", plan.reached.get("scrubbed_record", []))
    _print_notes(plan)
    _print_messages(memory, "Messages that stay, unless --with-sources is given", plan.sources)
    _print_rest(plan)


def _print_records(memory: "Memory", heading: str, ids: list[str]) -> None:
    found = list(memory.knowledge.shown(ids[:MOST_SHOWN]).values())
    lines = [
        f"{short}  {shorten(on_one_line(record.text), LINE_CHARACTERS)}"
        for short, record in zip(short_ids(found), found, strict=True)
    ]
    _print_lines(heading, lines, len(ids))


def _print_messages(memory: "Memory", heading: str, ids: list[str]) -> None:
    found = sorted(memory.history.documents(ids[:MOST_SHOWN]).values(), key=lambda message: (message.at, message.id))
    lines = [
        f"{when(message.at)}  {speaker(message.author):9}  " + shorten(on_one_line(message.text), LINE_CHARACTERS)
        for message in found
    ]
    _print_lines(heading, lines, len(ids))


def _print_notes(plan: "Forgotten") -> None:
    """The names of a note that goes, and the lines that go out of notes that stay."""
    names = [printable(path) for path in plan.reached.get("note", [])]
    _print_lines("Notes, also under the names they had before", names[:MOST_SHOWN], len(names))
    lines = [
        f"{printable(path)}: {shorten(on_one_line(line), LINE_CHARACTERS)}"
        for path, some in plan.note_lines.items()
        for line in some
    ]
    _print_lines("Lines of notes", lines[:MOST_SHOWN], len(lines))


def _print_rest(forgotten: "Forgotten") -> None:
    """What forgetting does not reach, and who else says the same."""
    outside = [printable(place) for place in forgotten.out_of_reach]
    _print_lines("Out of reach, for you to remove", outside, len(outside))
    for kind, ids in forgotten.also_in.items():
        _print_lines(
            f"Some of the same words stand in these, which stay ({kind})",
            [printable(one) for one in ids[:MOST_SHOWN]],
            len(ids),
        )


def _print_lines(heading: str, lines: list[str], number: int) -> None:
    if not number:
        return
    say(style(heading, "bold"))
    for line in lines:
        say(f"  {line}")
    if number > len(lines):
        say(style(f"  … and {number - len(lines):,} more; --dry-run --json lists them all", "dim"))


def _numbers(removed: dict[str, int]) -> str:
    """`1 record, 2 versions`"""
    named = {NAMES.get(name, name.replace("_", " ")): number for name, number in removed.items()}
    named.pop("tombstones", None)
    parts = [
        f"{number:,} {name.removesuffix('s') if number == 1 else name}" for name, number in named.items() if number
    ]
    return ", ".join(parts) or "nothing"


# What went


def _tell_done(forgotten: "Forgotten", program: str, as_json: bool) -> None:
    if as_json:
        print_json(forgotten_json(forgotten))
    else:
        say(f"{style('Forgotten', 'green')}: {_numbers(forgotten.removed)}.")
        if forgotten.is_verified:
            say("It was looked for in every table, the index and the files of the home: nothing of it is left.")
        _print_rest(forgotten)
        say(style(f"receipt {forgotten.receipt}", "dim"))
    _stop_unless_gone([forgotten], f"{program} forget --verify {forgotten.receipt}")


def _tell_verified(found: "list[Forgotten]", program: str, as_json: bool) -> None:
    if as_json:
        print_json([forgotten_json(forgotten) for forgotten in found])
    elif found:
        rows = [(item.receipt, item.target, item.state, "; ".join(item.residue) or "nothing left") for item in found]
        table(("receipt", "forgotten", "state", "found"), rows)
    else:
        say("Nothing was forgotten yet, so there is nothing to look for.")
    _stop_unless_gone(found, f"{program} forget --verify")


def _stop_unless_gone(found: "list[Forgotten]", next_step: str) -> None:
    left = [place for forgotten in found for place in forgotten.residue]
    if left:
        for place in left:
            warn(f"recollect: still there: {place}")
        warn(f"recollect: Something is left. End what uses the home, then look again: {next_step}")
        raise click.exceptions.Exit(1)
    if not all(forgotten.is_verified for forgotten in found):
        warn(f"recollect: It is erased, but files are in use; this cleans them later: {next_step}")
        raise click.exceptions.Exit(Unavailable.exit_code)


def _list_receipts(found: "list[Receipt]", as_json: bool) -> None:
    if as_json:
        print_json([receipt_json(receipt) for receipt in found])
        return
    if not found:
        say("Nothing was forgotten yet.")
        return
    rows = [
        (receipt.id, when(receipt.at), receipt.target, receipt.state, _numbers(receipt.removed)) for receipt in found
    ]
    table(("receipt", "when", "forgotten", "state", "removed"), rows)
