"""The webhook as a channel: the way to any service for which a small program stands in between.

What is heard by it, `receiving` says; what goes out, `sending`. Either may be left out: a shortcut on a phone only
sends, a display in the hall only shows.
"""

import asyncio

from recollect.channels.kinds import Door
from recollect.channels.webhook.listening import listening_place
from recollect.channels.webhook.sending import Sender, checked_host
from recollect.channels.webhook.signing import Secret, secrets_in
from recollect.errors import Denied, RecollectError
from recollect.listening import listener, serve
from recollect.mind.channel import Reply, Shown
from recollect.settings import Settings

NAME = "webhook"


class WebhookKind:
    name = NAME

    def is_wanted(self, settings: Settings) -> bool:
        return bool(settings.webhook.listen or settings.webhook.url)

    def needs(self, settings: Settings) -> list[str]:
        webhook = settings.webhook
        needed = [] if self.is_wanted(settings) else ["listen in [webhook] to receive, url in [webhook] to send."]
        if not settings.webhook_secret():
            return [*needed, f"The variable {webhook.secret_variable}, which is not set here."]
        try:
            secrets_in(settings.webhook_secret(), webhook.secret_variable)
            if webhook.listen:
                listening_place(webhook.listen)
            if webhook.url:
                checked_host(webhook.url)
        except RecollectError as error:
            needed.append(str(error))
        return needed

    def open(self, door: Door) -> "Webhook":
        """Raises `Invalid` for a secret, an address to listen on or one to send to that will not do."""
        settings = door.settings
        secrets = secrets_in(settings.webhook_secret(), settings.webhook.secret_variable)
        place = listening_place(settings.webhook.listen) if settings.webhook.listen else None
        return Webhook(door, secrets, place, Sender(door, secrets))


class Webhook:
    says_again = True
    """A repeat has the same id: the other side knows it."""

    def __init__(self, door: Door, secrets: tuple[Secret, ...], place: tuple[str, int] | None, sender: Sender) -> None:
        self._door = door
        self._secrets = secrets
        self._place = place
        self._sender = sender
        self.port = 0
        """Where it listens by now."""

    @property
    def name(self) -> str:
        return NAME

    def takes(self, address: str) -> bool:
        return self._sender.takes(address)

    def show(self, address: str, shown: Shown) -> None:
        """Nothing: an answer goes out whole."""

    async def deliver(self, address: str, reply: Reply) -> None:
        if await asyncio.to_thread(self._door.places.find, NAME, address) is None:
            raise Denied("The person took this address from the list.")
        await self._sender.deliver(address, reply)

    async def run(self) -> None:
        if self._place is None:
            await asyncio.Event().wait()
            return
        from recollect.channels.webhook.receiving import Receiver

        app = Receiver(self._door, self._secrets).app()
        listening = listener(*self._place, "The webhook", "webhook.listen")
        self.port = listening.getsockname()[1]
        try:
            await serve(app, [listening])
        finally:
            listening.close()
            self.port = 0

    async def close(self) -> None:
        await self._sender.close()
