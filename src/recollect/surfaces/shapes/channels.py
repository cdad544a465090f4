"""The ways to reach the agent from elsewhere and who is heard there, as JSON; and what is checked before either
changes."""

from typing import TYPE_CHECKING, Any

from recollect.errors import Denied, Invalid, Unavailable

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.mind.places.places import Code
    from recollect.mind.places.places import Place as Heard
    from recollect.settings import Settings

TELEGRAM, WEBHOOK = "telegram", "webhook"
_WITHOUT_LINK = "add --no-link for the code alone."


def channels_json(memory: "Memory") -> dict[str, Any]:
    """Of a channel that a daemon has open, its word counts: its variables are others than those of this window."""
    from recollect.channels.kinds import broken_kinds, is_wanted, kinds, needs_of
    from recollect.daemon.status import read_status
    from recollect.lock import is_locked

    settings = memory.settings
    runs = is_locked(settings.runtime)
    status = read_status(settings.runtime) if runs else None
    told = status.minding.channels if status else {}
    listed = [
        {
            "name": name,
            "is_wanted": is_wanted(kind, settings),
            "needs": needs_of(kind, settings),
            "problem": told.get(name, ""),
        }
        for name, kind in kinds().items()
    ]
    places = [place_json(place) for place in memory.places.list()]
    return {"channels": listed, "broken": broken_kinds(), "places": places, "daemon_runs": runs}


def paired_json(settings: "Settings", channel: str, code: "Code", bot: str) -> dict[str, Any]:
    from recollect.lock import is_locked

    link = f"https://t.me/{bot}?start={code.text}" if bot else ""
    made = {"channel": channel, "code": code.text, "expires_at": code.expires_at, "link": link}
    return {**made, "daemon_runs": is_locked(settings.runtime)}


def allow(memory: "Memory", channel: str, address: str, name: str = "") -> "Heard":
    check_known(channel)
    if channel == TELEGRAM and not (address.isascii() and address.isdigit()):
        raise Invalid(
            f"{address[:100]!r} is not the number of a private Telegram chat, such as 123456789. "
            "`recollect channels pair telegram` finds it by itself."
        )
    return memory.places.allow(channel, address, name)


def place_json(place: "Heard") -> dict[str, Any]:
    return {
        "channel": place.channel,
        "address": place.address,
        "name": place.name,
        "state": place.state,
        "since": place.since,
    }


def check_known(channel: str) -> None:
    from recollect.channels.kinds import kinds

    if channel not in kinds():
        raise Invalid(f"No channel is called {channel[:100]!r}. Known: {', '.join(kinds())}.")


def check_readable(channel: str, settings: "Settings") -> None:
    """Refuses to make a code that nobody could read."""
    from recollect.channels.kinds import is_wanted, kinds, needs_of

    check_known(channel)
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


def bot_name(settings: "Settings") -> str:
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
