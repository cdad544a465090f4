"""diary."""

from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from recollect.clock import from_text
from recollect.surfaces.cli.notes import opened, refuse_before
from recollect.surfaces.cli.output import on_one_line, print_json, printable, say, shorten, style, table, warn, when
from recollect.surfaces.cli.place import Place, agent_option, json_option
from recollect.surfaces.cli.versions import print_content, quoted, tell_written, who
from recollect.surfaces.shapes.notes import entry_json

if TYPE_CHECKING:
    from recollect.notes.diary import Entry

LINE_CHARACTERS = 100


@click.group(invoke_without_command=True)
@agent_option
@json_option
@click.pass_context
def diary(context: click.Context, agent: str, as_json: bool) -> None:
    """Write and read a diary; without a command, list it.

    Entries are notes of an agent that nobody changes: one that was changed with another tool shows what was written
    first. Without --agent it is the diary of the house's own agent.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_, limit=30, since="", agent=agent, as_json=as_json)
    else:
        refuse_before(context, agent, as_json)


@diary.command()
@click.argument("text", required=False)
@agent_option
@json_option
@click.pass_obj
def write(place: Place, text: str | None, agent: str, as_json: bool) -> None:
    """Write an entry.

    TEXT is all of it; - reads it from standard input. Without TEXT an editor opens, on a terminal.
    """
    from recollect.surfaces.cli.texts import check_editor, decoded, edited, given_text

    if text is None:
        check_editor()
    with edited(b"", "entry.md") if text is None else nullcontext() as made:
        entry = given_text(text, None) if made is None else decoded(made, "The entry")
        with opened(place, agent, to_write=True, is_quiet=as_json) as memory:
            written = memory.notes.diary.write(entry)
    tell_written(written, place.invocation(), as_json)


@diary.command("list")
@click.option("--limit", default=30, type=click.IntRange(min=1), help="At most this many.", show_default=True)
@click.option("--since", default="", metavar="WHEN", help="From then on: 2026-05-01, 'last week'.")
@agent_option
@json_option
@click.pass_obj
def list_(place: Place, limit: int, since: str, agent: str, as_json: bool) -> None:
    """List entries, the newest first."""
    from recollect.surfaces import times

    begin = from_text(times.beginning(since)) if since else None
    with opened(place, agent) as memory:
        found = memory.notes.diary.list(limit=limit, since=begin)
    if as_json:
        print_json([entry_json(entry) for entry in found])
    elif found:
        rows = [
            (printable(entry.name), _mark(entry) + shorten(on_one_line(entry.text), LINE_CHARACTERS)) for entry in found
        ]
        table(("entry", "text"), rows)
    else:
        say(f"No entries. `{place.invocation()} diary write TEXT` makes one.")


@diary.command()
@click.argument("name", default="latest")
@agent_option
@json_option
@click.pass_obj
def show(place: Place, name: str, agent: str, as_json: bool) -> None:
    """Print an entry, in a pipe to the byte.

    NAME is that of its file, or the beginning of it that no other has, such as 2026-05-01. Without it: the latest.
    """
    with opened(place, agent) as memory:
        entry = memory.notes.diary.show(name)
    if as_json:
        print_json(entry_json(entry))
        return
    print_content(entry.text.encode(), entry.path)
    if entry.is_changed:
        warn(_told_change(entry, place.invocation()))


def _told_change(entry: "Entry", program: str) -> str:
    deed = "removed" if entry.is_gone else "changed"
    path, latest = quoted(entry.path), entry.latest
    return (
        f"Its file was {deed} by {who(latest)}, seen at {when(latest.at)}: version {latest.number}. This is what was "
        f"written first.\n  {program} notes diff {path} {entry.original.number} {latest.number}\n"
        f"  {program} diary restore {quoted(entry.name)}"
    )


@diary.command()
@click.argument("name")
@agent_option
@json_option
@click.pass_obj
def restore(place: Place, name: str, agent: str, as_json: bool) -> None:
    """Put what was written first back into the file of an entry."""
    with opened(place, agent, to_write=True, is_quiet=as_json) as memory:
        entry = memory.notes.diary.restore(name)
    if as_json:
        print_json(entry_json(entry))
    else:
        say(f"{style('As it was first written', 'green')}: {printable(entry.path)}")


def _mark(entry: "Entry") -> str:
    return "(changed) " if entry.is_changed else ""
