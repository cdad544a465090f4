"""Telegram: a bot through which the person and the agent write to each other."""

import asyncio

from recollect.channels.kinds import Door
from recollect.channels.telegram.client import BotClient
from recollect.channels.telegram.hearing import Hearing
from recollect.channels.telegram.polling import Polling
from recollect.channels.telegram.sending import NAME, Sending, Typing
from recollect.channels.telegram.waiting import Patience
from recollect.errors import Denied
from recollect.mind.channel import Began, Reply, Shown
from recollect.settings import Settings


class TelegramKind:
    name = NAME

    def is_wanted(self, settings: Settings) -> bool:
        return bool(settings.telegram.token_variable)

    def needs(self, settings: Settings) -> list[str]:
        variable = settings.telegram.token_variable
        if not variable:
            return ["token_variable in [telegram]: the variable that holds the token of your bot."]
        return [] if settings.telegram_token() else [f"The variable {variable}, which is not set here."]

    def open(self, door: Door) -> "Telegram":
        token = door.settings.telegram_token()
        if not token:
            variable = door.settings.telegram.token_variable
            raise Denied(f"{variable} is not set. Put the token there that @BotFather gave you, or leave out Telegram.")
        return Telegram(door, BotClient(token, door.settings.telegram.api_url))


class Telegram:
    says_again = True

    def __init__(self, door: Door, client: BotClient, patience: Patience | None = None) -> None:
        patience = patience or Patience()
        self._client = client
        self._places = door.places
        self._sending = Sending(client, door.places, patience)
        self._typing = Typing(client, patience)
        self._polling = Polling(door, client, Hearing(door, client, self._sending).take, patience)

    @property
    def name(self) -> str:
        return NAME

    def show(self, address: str, shown: Shown) -> None:
        if isinstance(shown, Began) and self._polling.is_ours:  # Elsewhere it would not end with the answer.
            self._typing.begin(address)

    def takes(self, address: str) -> bool:
        return self._polling.is_ours and self._sending.is_open

    async def deliver(self, address: str, reply: Reply) -> None:
        self._typing.end(address)
        if await asyncio.to_thread(self._places.find, NAME, address) is None:
            raise Denied("The person took this chat from the list.")
        await self._sending.reply(address, reply)

    async def run(self) -> None:
        try:
            await self._polling.run()
        finally:
            await asyncio.shield(self._polling.close())

    async def close(self) -> None:
        await self._typing.close()
        await self._polling.close()
        self._sending.close()
        await self._client.close()
