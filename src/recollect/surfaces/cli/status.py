"""status."""

from typing import TYPE_CHECKING, Any

import click
import msgspec

from recollect.surfaces.cli.notes import opened, refuse_before
from recollect.surfaces.cli.output import amount, on_one_line, print_json, printable, say, table, warn, when
from recollect.surfaces.cli.place import Place, agent_option, json_option
from recollect.surfaces.shapes.notes import board_json

if TYPE_CHECKING:
    from recollect.notes.status import Board


@click.group(invoke_without_command=True)
@agent_option
@json_option
@click.pass_context
def status(context: click.Context, agent: str, as_json: bool) -> None:
    """Show or set an agent's status; without a command, show it.

    Fields with the time each was set at, in status.json of the agent's notes. Without --agent it is that of the
    house's own agent. `recollect health` tells how Recollect itself is.
    """
    if context.invoked_subcommand is None:
        context.invoke(show, agent=agent, as_json=as_json)
    else:
        refuse_before(context, agent, as_json)


@status.command()
@agent_option
@json_option
@click.pass_obj
def show(place: Place, agent: str, as_json: bool) -> None:
    """Show the fields and when each was set."""
    with opened(place, agent) as memory:
        board = memory.notes.status.show()
    if as_json:
        print_json(board_json(board))
        return
    _print_fields(board, place.invocation())
    if board.problem:
        warn(f"{printable(board.problem)}. These are the fields it last had; the next `status set` goes on from them.")


@status.command("set")
@click.argument("fields", nargs=-1, metavar="KEY=VALUE...")
@click.option("--text", "is_text", is_flag=True, help="Each VALUE is text, also one that reads as JSON.")
@click.option("--unset", multiple=True, metavar="KEY", help="Take this field away. May be given several times.")
@agent_option
@json_option
@click.pass_obj
def set_(
    place: Place, fields: tuple[str, ...], is_text: bool, unset: tuple[str, ...], agent: str, as_json: bool
) -> None:
    """Set fields; the others stay as they are.

    VALUE is JSON where it reads as that (true, 3, [1, 2], {"a": 1}), else text. null takes a field away, as --unset
    does.
    """
    updates = _updates(fields, unset, is_text)
    with opened(place, agent, to_write=True, is_quiet=as_json) as memory:
        updated = memory.notes.status.update(updates)
    if as_json:
        print_json({**board_json(updated.board), "aside": updated.aside, "masked": updated.masked})
    else:
        _print_fields(updated.board, place.invocation())
    if updated.problem:
        aside = f" What was there is in {printable(updated.aside)}." if updated.aside else ""
        warn(f"{printable(updated.problem)}. It was begun again from the fields it last had.{aside}")
    if updated.masked:
        warn(f"{amount(updated.masked, 'field')} held a credential. It was masked.")


def _updates(fields: tuple[str, ...], unset: tuple[str, ...], is_text: bool) -> dict[str, Any]:
    updates: dict[str, Any] = {}
    for field in fields:
        key, equals, value = field.partition("=")
        if not equals or not key:
            raise click.UsageError(f"{printable(field[:100])!r} is no field: write it as KEY=VALUE.")
        updates[key] = value if is_text else _value(value)
    for key in unset:
        if key in updates:
            raise click.UsageError(f"{printable(key[:100])!r} is both set and unset: decide for one.")
        updates[key] = None
    if not updates:
        raise click.UsageError("Give at least one KEY=VALUE, or --unset KEY.")
    return updates


def _value(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


def _print_fields(board: "Board", program: str) -> None:
    if not board.fields:
        say(f"No status. `{program} status set KEY=VALUE` sets a field.")
        return
    rows = [(on_one_line(name), when(field.at), _cell(field.value)) for name, field in board.fields.items()]
    table(("field", "set", "value"), rows)


def _cell(value: object) -> str:
    return on_one_line(value if isinstance(value, str) else msgspec.json.encode(value).decode())
