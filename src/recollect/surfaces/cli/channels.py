"""channels."""

from typing import TYPE_CHECKING, Any

import click

from recollect.errors import Denied, Invalid, NotFound, Unavailable
from recollect.surfaces.cli.output import on_one_line, print_json, printable, say, table, warn, when
from recollect.surfaces.cli.place import Place, json_option

if TYPE_CHECKING:
    from recollect.mind.places.places import Place as Heard
    from recollect.settings import Settings

TELEGRAM, WEBHOOK = "telegram", "webhook"
_NO_DAEMON = "No daemon runs for this home,"
_WITHOUT_LINK = "add --no-link for the code alone."


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def channels(context: click.Context, as_json: bool) -> None:
    """List the ways to reach the agent from elsewhere, and who is heard there.

    Only places are heard and written to: an address that sent a code of yours, or that you named. Whoever writes from
    anywhere else gets no answer, and nothing of it is kept.
    """
    if context.invoked_subcommand is not None:
        return
    from recollect.channels.kinds import broken_kinds, is_wanted, kinds, needs_of
    from recollect.daemon import read_status
    from recollect.lock import is_locked

    with context.obj.open() as memory:
        settings, places = memory.settings, memory.places.list()
    found = {name: (is_wanted(kind, settings), needs_of(kind, settings)) for name, kind in kinds().items()}
    is_read = is_locked(settings.runtime)
    status = read_status(settings.runtime) if is_read else None
    told = status.minding.channels if status else {}
    if as_json:
        listed = [
            {"name": name, "is_wanted": wanted, "needs": lacking, "problem": told.get(name, "")}
            for name, (wanted, lacking) in found.items()
        ]
        heard = [place_json(place) for place in places]
        print_json({"channels": listed, "broken": broken_kinds(), "places": heard, "daemon_runs": is_read})
        return
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


def place_json(place: "Heard") -> dict[str, Any]:
    return {
        "channel": place.channel,
        "address": place.address,
        "name": place.name,
        "state": place.state,
        "since": place.since,
    }


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
    """Print a code: who sends it by CHANNEL, once and within ten minutes, is heard from then on.

    An older code of the same channel is good no more.
    """
    from recollect.lock import is_locked

    settings = place.settings()
    _check_readable(channel, settings)
    bot = _bot_name(settings) if channel == TELEGRAM and not no_link else ""
    with place.open() as memory:
        code = memory.places.new_code(channel)
    link = f"https://t.me/{bot}?start={code.text}" if bot else ""
    is_read = is_locked(settings.runtime)
    if as_json:
        made = {"channel": channel, "code": code.text, "expires_at": code.expires_at, "link": link}
        print_json({**made, "daemon_runs": is_read})
        return
    say(f"{code.text}   until {when(code.expires_at)}, once")
    say(_how_to_send(channel, code.text, link))
    if not is_read:
        warn(f"{_NO_DAEMON} so nobody reads the code yet. Start it: {place.invocation()} up")


def _how_to_send(channel: str, code: str, link: str) -> str:
    if link:
        return f"Open {link} and press Start, or send your bot: /start {code}"
    if channel == TELEGRAM:
        return f"Send your bot: /start {code}"
    if channel == WEBHOOK:
        return "Send it as the text of a message, signed as any other, from the address that is to be heard."
    return "Send it as a message from where you want to be heard."


def _check_known(channel: str) -> None:
    from recollect.channels.kinds import kinds

    if channel not in kinds():
        raise Invalid(f"No channel is called {channel[:100]!r}. Known: {', '.join(kinds())}.")


def _check_readable(channel: str, settings: "Settings") -> None:
    """Refuses to make a code that nobody could read."""
    from recollect.channels.kinds import is_wanted, kinds, needs_of

    _check_known(channel)
    if not is_wanted(kinds()[channel], settings):
        needed = " ".join(needs_of(kinds()[channel], settings)) or "The page of that channel tells what to set."
        path = settings.config_path
        raise Invalid(f"{channel} is off in {path}, so nobody would read a code. It needs: {needed}")
    if channel != WEBHOOK:
        return
    if not settings.webhook.listen:
        raise Invalid("webhook only sends, so nobody would read a code. It needs: listen in [webhook], as HOST:PORT.")
    from recollect.channels.webhook.listening import listening_place

    listening_place(settings.webhook.listen)


def _bot_name(settings: "Settings") -> str:
    """As Telegram knows the bot."""
    token = settings.telegram_token()
    if not token:
        raise Denied(
            f"The variable {settings.telegram.token_variable} is not set here, so Telegram cannot be asked for the "
            f"name of the bot. Set it to the bot's token, or {_WITHOUT_LINK}"
        )
    import asyncio

    from recollect.channels.telegram.client import BotClient

    async def ask() -> dict[str, Any]:
        client = BotClient(token, settings.telegram.api_url)
        try:
            return await client.get_me()
        finally:
            await client.close()

    try:
        return str(asyncio.run(ask()).get("username") or "")
    except Unavailable as error:
        raise Unavailable(f"{error} Try again, or {_WITHOUT_LINK}") from None


@channels.command()
@click.argument("channel")
@click.argument("address")
@click.option("--name", default="", metavar="N", help="What you call it.")
@json_option
@click.pass_obj
def allow(place: Place, channel: str, address: str, name: str, as_json: bool) -> None:
    """Let ADDRESS be heard without a code: the number of a Telegram chat, the address of a webhook's sender."""
    _check_known(channel)
    if channel == TELEGRAM and not (address.isascii() and address.isdigit()):
        raise Invalid(
            f"{address[:100]!r} is not the number of a private Telegram chat, such as 123456789. "
            "`recollect channels pair telegram` finds it by itself."
        )
    with place.open() as memory:
        made = memory.places.allow(channel, address, name)
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
