"""agents."""

from typing import TYPE_CHECKING

import click

from recollect.errors import Invalid
from recollect.surfaces.cli.output import amount, print_json, printable, say, table
from recollect.surfaces.cli.place import Place, json_option
from recollect.surfaces.shapes.agents import described_json, scope_json

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.scopes import Binding, Described


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def agents(context: click.Context, as_json: bool) -> None:
    """List agents and rooms, and say what they see.

    The house is above all. An agent sees what is its own and what is above it. It writes what is its own; above it
    only where it was granted. History is the house's unless its source is bound to an agent.
    """
    if context.invoked_subcommand is not None:
        return
    with context.obj.open() as memory:
        found = memory.agents.list()
    if as_json:
        print_json([described_json(item) for item in found])
    elif found:
        _print_tree(found)
    else:
        say("No agents. `recollect agents add NAME` makes one; until then everything is the house's.")


def _print_tree(found: "list[Described]") -> None:
    """Each below the one it stands under."""
    rows: list[tuple[str, str, str, str]] = [("house", "house", "", "")]

    def add(parent: str, depth: int) -> None:
        for item in found:
            if item.scope.parent_id == parent:
                bound = ", ".join(_bound(binding) for binding in item.bound)
                name = "  " * depth + item.scope.id
                rows.append((name, item.scope.kind, ", ".join([item.scope.id, *item.may_write_in]), bound))
                add(item.scope.id, depth + 1)

    add("house", 1)
    table(("name", "kind", "may write in", "history of"), rows)


def _bound(binding: "Binding") -> str:
    return f"{binding.source} below {printable(binding.prefix)}" if binding.prefix else binding.source


@agents.command()
@click.argument("name")
@click.option("--parent", default="house", metavar="P", help="The agent above it.", show_default=True)
@json_option
@click.pass_obj
def add(place: Place, name: str, parent: str, as_json: bool) -> None:
    """Make an agent, or with a slash a room: ada, ada/kitchen."""
    with place.open() as memory:
        scope = memory.agents.add(name, parent)
    if as_json:
        print_json(scope_json(scope))
    else:
        say(f"{scope.id} is there, below {scope.parent_id}.")


@agents.command()
@click.argument("name")
@json_option
@click.pass_obj
def remove(place: Place, name: str, as_json: bool) -> None:
    """Remove an agent or room for which nothing is kept."""
    with place.open() as memory:
        memory.agents.remove(name)
    if as_json:
        print_json({"removed": name})
    else:
        say(f"{name} is gone.")


@agents.command()
@click.argument("name")
@click.argument("target")
@json_option
@click.pass_obj
def grant(place: Place, name: str, target: str, as_json: bool) -> None:
    """Let NAME write in TARGET, which is above it."""
    with place.open() as memory:
        made = memory.agents.grant(name, target)
    if as_json:
        print_json({"scope": made.scope, "target": made.target, "granted": True})
    else:
        say(f"{made.scope} may write in {made.target}.")


@agents.command()
@click.argument("name")
@click.argument("target")
@json_option
@click.pass_obj
def revoke(place: Place, name: str, target: str, as_json: bool) -> None:
    """Take a grant back. What was written stays."""
    with place.open() as memory:
        ended = memory.agents.revoke(name, target)
    if as_json:
        print_json({"scope": ended.scope, "target": ended.target, "granted": False})
    else:
        say(f"{ended.scope} may not write in {ended.target} any more.")


source_option = click.option("--source", required=True, metavar="S", help="Whose history, as in `recollect sources`.")
below_option = click.option(
    "--below",
    default="",
    metavar="PREFIX",
    help="Only files whose names, as `conversations --json` gives them, begin so.",
)


@agents.command()
@click.argument("name")
@source_option
@below_option
@json_option
@click.pass_obj
def bind(place: Place, name: str, source: str, below: str, as_json: bool) -> None:
    """Give the history of a source to NAME.

    Others beside it do not see it any more.
    """
    with place.open() as memory:
        _check_source(memory, source)
        moved = memory.agents.bind(name, source, below)
    _tell_moved(name, source, below, moved, as_json)


@agents.command()
@source_option
@below_option
@json_option
@click.pass_obj
def unbind(place: Place, source: str, below: str, as_json: bool) -> None:
    """Give the history of a source back to the house."""
    with place.open() as memory:
        _check_source(memory, source)
        moved = memory.agents.unbind(source, below)
    _tell_moved("", source, below, moved, as_json)


def _check_source(memory: "Memory", source: str) -> None:
    known = memory.history.source_names()
    if source not in known:
        raise Invalid(f"No source is called {source[:100]!r}. Known: {', '.join(known)}.")


def _tell_moved(name: str, source: str, below: str, moved: int, as_json: bool) -> None:
    if as_json:
        print_json({"source": source, "below": below, "scope": name or None, "files_moved": moved})
        return
    files = f"{source} below {printable(below)}" if below else source
    whose = f"is {name}'s" if name else "is bound no more"
    say(f"The history of {files} {whose}; {amount(moved, 'file')} moved.")
