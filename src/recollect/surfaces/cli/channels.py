"""channels."""

from typing import TYPE_CHECKING

import click

from recollect.errors import NotFound
from recollect.surfaces.cli.output import on_one_line, print_json, printable, say, table, warn, when
from recollect.surfaces.cli.place import Place, json_option
from recollect.surfaces.shapes.channels import (
    TELEGRAM,
    WEBHOOK,
    bot_name,
    channels_json,
    check_readable,
    paired_json,
    place_json,
)
from recollect.surfaces.shapes.channels import allow as allow_address

if TYPE_CHECKING:
    from recollect.mind.places.places import Place as Heard

_NO_DAEMON = "No daemon runs for this home,"


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def channels(context: click.Context, as_json: bool) -> None:
    """List the ways to reach the agent, and who is heard there.

    Only places are heard and written to: an address that sent a code of yours, or that you named. Whoever writes from
    anywhere else gets no answer, and nothing of it is kept.
    """
    if context.invoked_subcommand is not None:
        return
    from recollect.channels.kinds import broken_kinds, is_wanted, kinds, needs_of
    from recollect.daemon.status import read_status
    from recollect.lock import is_locked

    with context.obj.open() as memory:
        if as_json:
            print_json(channels_json(memory))
            return
        settings, places = memory.settings, memory.places.list()
    found = {name: (is_wanted(kind, settings), needs_of(kind, settings)) for name, kind in kinds().items()}
    is_read = is_locked(settings.runtime)
    status = read_status(settings.runtime) if is_read else None
    told = status.minding.channels if status else {}
    rows = [_row(name, wanted, lacking, told.get(name)) for name, (wanted, lacking) in found.items()]
    table(("channel", "state", "what it needs"), rows, is_whole=True)
    for problem in broken_kinds():
        warn(f"A channel of another package could not be loaded: {on_one_line(problem)}")
    say()
    is_any_on = any(wanted for wanted, _ in found.values())
    if places:
        _print_places(places)
    elif not is_any_on:
        path = settings.config_path
        say(f"No channel is on. Settings go into {path}; a variable must be set where `recollect up` runs.")
    else:
        say("Nobody is heard from elsewhere. `recollect channels pair CHANNEL` prints a code that changes this.")
    if not is_read and is_any_on:
        warn(f"{_NO_DAEMON} so nobody listens. Start it: {context.obj.invocation()} up")


def _row(name: str, wanted: bool, lacking: list[str], told: str | None) -> tuple[str, str, str]:
    """`told`: by a daemon that has it open, and whose variables are others than those of this window."""
    if told:
        return name, "in trouble", told
    if wanted and (told is not None or not lacking):
        return name, "on", ""
    return name, "not ready" if wanted else "off", " ".join(lacking)


def _print_places(places: "list[Heard]") -> None:
    rows = [
        (place.channel, printable(place.address), place.state, when(place.since), printable(place.name))
        for place in places
    ]
    table(("channel", "address", "state", "since", "name"), rows)


@channels.command()
@click.argument("channel")
@click.option("--no-link", is_flag=True, help="Do not ask Telegram for the name of the bot.")
@json_option
@click.pass_obj
def pair(place: Place, channel: str, no_link: bool, as_json: bool) -> None:
    """Print a code: who sends it by CHANNEL is heard from then on.

    It is good once, and for ten minutes. An older code of the same channel is good no more.
    """
    settings = place.settings()
    check_readable(channel, settings)
    bot = bot_name(settings) if channel == TELEGRAM and not no_link else ""
    with place.open() as memory:
        code = memory.places.new_code(channel)
    made = paired_json(settings, channel, code, bot)
    if as_json:
        print_json(made)
        return
    say(f"{code.text}   until {when(code.expires_at)}, once")
    say(_how_to_send(channel, code.text, made["link"]))
    if not made["daemon_runs"]:
        warn(f"{_NO_DAEMON} so nobody reads the code yet. Start it: {place.invocation()} up")


def _how_to_send(channel: str, code: str, link: str) -> str:
    if link:
        return f"Open {link} and press Start, or send your bot: /start {code}"
    if channel == TELEGRAM:
        return f"Send your bot: /start {code}"
    if channel == WEBHOOK:
        return "Send it as the text of a message, signed as any other, from the address that is to be heard."
    return "Send it as a message from where you want to be heard."


@channels.command()
@click.argument("channel")
@click.argument("address")
@click.option("--name", default="", metavar="N", help="What you call it.")
@json_option
@click.pass_obj
def allow(place: Place, channel: str, address: str, name: str, as_json: bool) -> None:
    """Let ADDRESS be heard without a code.

    It is the number of a Telegram chat, or the address of a webhook's sender.
    """
    with place.open() as memory:
        made = allow_address(memory, channel, address, name)
    if as_json:
        print_json(place_json(made))
    else:
        say(f"{printable(made.address)} is heard by {made.channel}.")
        if channel == TELEGRAM:
            say("If nobody pressed Start in that chat yet, do: before that, Telegram lets no bot write to it.")


@channels.command()
@click.argument("channel")
@click.argument("address")
@json_option
@click.pass_obj
def remove(place: Place, channel: str, address: str, as_json: bool) -> None:
    """Let ADDRESS be heard and written to no more. What was said there stays."""
    with place.open() as memory:
        is_gone = memory.places.remove(channel, address)
    if not is_gone:
        raise NotFound(f"{address[:100]!r} is no place of {channel[:100]!r}. `recollect channels` lists them.")
    if as_json:
        print_json({"removed": {"channel": channel, "address": address}})
    else:
        say(f"{printable(address)} is heard by {printable(channel)} no more.")
