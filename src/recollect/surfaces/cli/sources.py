"""sources."""

from typing import TYPE_CHECKING

import click

from recollect.surfaces.cli.output import amount, print_json, say, short_path, style, table, when
from recollect.surfaces.cli.place import Place, json_option
from recollect.surfaces.shapes.sources import source_json

if TYPE_CHECKING:
    from recollect.history.overview import SourceOverview

SHOWN_KINDS = 4
SHOWN_FAILURES = 3


@click.command()
@json_option
@click.pass_obj
def sources(place: Place, as_json: bool) -> None:
    """List the agents and exports that can be read.

    What was found on this computer, when each last grew, and what was skipped. A file that no agent keeps in a usual
    place, such as an export, is taken in by name: recollect ingest FILE.
    """
    with place.open() as memory:
        found = memory.history.sources()
    if as_json:
        print_json([source_json(item) for item in found])
        return
    here = [item for item in found if item.files or item.failed or any(disk.files for disk in item.places)]
    rows = [
        (
            item.title,
            item.name,
            f"{item.conversations:,}",
            f"{item.messages:,}",
            when(item.last_grew_at),
            ", ".join(short_path(disk.path) for disk in item.places) or "taken in by name",
        )
        for item in here
    ]
    if rows:
        table(("source", "name", "conversations", "messages", "last grew", "where"), rows, right=(2, 3))
    for item in here:
        for line in _notes(item):
            say(f"  {style(item.name, 'bold')}: {line}")
    rest = [f"{item.title} ({item.name})" for item in found if item not in here]
    if rest:
        say()
        say(f"Known, not found here: {', '.join(rest)}.")


def _notes(item: "SourceOverview") -> list[str]:
    notes: list[str] = []
    if item.silent_since:
        notes.append(
            style(f"its files grew by {item.silent_records:,} records since {when(item.silent_since)}", "yellow")
            + " without a message; see recollect doctor"
        )
    if item.moved:
        notes.append(style(f"new files of an unknown kind, such as {short_path(item.moved[0])}", "yellow"))
    for disk in item.places:
        notes += [f"left out {amount(number, 'file')}: {why}" for why, number in disk.left_out.items()]
    notes += [f"failed {short_path(file)}: {why}" for file, why in item.failed[:SHOWN_FAILURES]]
    if len(item.failed) > SHOWN_FAILURES:
        notes.append(f"… and {len(item.failed) - SHOWN_FAILURES} more failed; --json lists them all")
    if item.lines_bad:
        notes.append(f"{amount(item.lines_bad, 'line')} not readable, kept as they are")
    if item.not_messages:
        kinds = [f"{number:,} {kind}" for kind, number in list(item.not_messages.items())[:SHOWN_KINDS]]
        more = len(item.not_messages) - SHOWN_KINDS
        rest = f" and {amount(more, 'other type')}" if more > 0 else ""
        notes.append(f"kept, but no messages: {', '.join(kinds)}{rest}")
    return notes
