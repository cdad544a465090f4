"""reflect."""

from typing import TYPE_CHECKING

import click

from recollect.surfaces.cli.output import amount, on_one_line, print_json, say, table, warn, when
from recollect.surfaces.cli.place import Place, json_option
from recollect.surfaces.shapes.nights import night_json

if TYPE_CHECKING:
    from recollect.librarian.nights.nights import Night


@click.command()
@click.option("--nights", is_flag=True, help="List the nights there were.")
@click.option(
    "--undo",
    "undone",
    is_flag=False,
    flag_value="",
    default=None,
    metavar="[NIGHT]",
    help="Take back all that a night changed; the latest unless one is named.",
)
@json_option
@click.pass_obj
def reflect(place: Place, nights: bool, undone: str | None, as_json: bool) -> None:
    """Look over what was filed, as each night. It prunes, promotes, and writes the agent's page about itself.

    `recollect up` does it once a night. One night changes a set share of all records at the most, and can be undone.
    """
    with place.open() as memory:
        if nights:
            _tell_nights(memory.librarian.reflection.nights(), as_json)
        elif undone is not None:
            night, stay = memory.librarian.undo_night(undone)
            _tell_undone(night, stay, as_json)
        else:
            night = memory.librarian.reflect()
            assert night
            _tell_night(night, place, as_json)


def _tell_night(night: "Night", place: Place, as_json: bool) -> None:
    if as_json:
        print_json(night_json(night))
        return
    counts = ", ".join(f"{name} {number:,}" for name, number in sorted(night.counts.items())) or "no record was changed"
    pages = [one.path for one in night.changes if one.path]
    written = f"; written: {', '.join(map(on_one_line, pages))}" if pages else ""
    say(f"Reflected: {counts}{written}.")
    if night.changes:
        say(f"Take it all back: {place.invocation()} reflect --undo")


def _tell_nights(nights: "list[Night]", as_json: bool) -> None:
    if as_json:
        print_json([night_json(night) for night in nights])
    elif nights:
        rows = [
            (night.id[-8:], when(night.at), night.state, ", ".join(f"{k} {v}" for k, v in sorted(night.counts.items())))
            for night in nights
        ]
        table(("night", "at", "state", "changed"), rows)
    else:
        say("There was no night yet.")


def _tell_undone(night: "Night", stay: int, as_json: bool) -> None:
    if as_json:
        print_json({**night_json(night), "stay": stay})
        return
    say(f"Undone: {amount(len(night.changes) - stay, 'change')} of {when(night.at)}.")
    if stay:
        warn(f"{amount(stay, 'change')} {'stays' if stay == 1 else 'stay'}: somebody went on from there.")
