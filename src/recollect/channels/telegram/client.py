"""As much of Telegram's Bot API as a bot needs that reads and answers.

The token is part of each address. So no error of the HTTP library leaves this module, not even as the reason of one of
ours, and what that library logs is masked.
"""

import asyncio
import json
import logging
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from recollect.channels.telegram.errors import (
    BadRequest,
    ChatRefused,
    NotTheApi,
    SlowDown,
    Taken,
    TokenRefused,
    TooLarge,
)
from recollect.errors import Invalid, NotFound, RecollectError, Unavailable
from recollect.llm.addresses import is_own_server
from recollect.llm.proxies import proxies_explained
from recollect.mind.channel import MayHaveArrived

if TYPE_CHECKING:
    import httpx2

ALLOWED_UPDATES = ("message", "edited_message")
CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 30.0
"""For anything but reading, which waits as long as it is asked to."""
FILE_SECONDS = 180.0
MOST_ANSWER_BYTES = 16_000_000
"""A hundred updates with all that a message can have are a tenth of it."""
USUAL_WAIT_SECONDS = 5.0
"""Where we are told to wait, and not how long."""
LONGEST_WAIT_SECONDS = 86_400.0
TOKEN_FORM = re.compile(r"[0-9]+:[A-Za-z0-9_-]+")
TOKEN_IN_ADDRESS = re.compile(r"bot[0-9]+(?::|%3[Aa])[A-Za-z0-9_-]+")
LOGGERS = ("httpx2", *(f"httpcore2.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")))
"""A filter of a logger does not see what its children log: so each of them."""
GONE_CHATS = ("chat not found", "user is deactivated", "peer_id_invalid", "user not found")
UNREACHABLE = "Telegram cannot be reached. Check the connection of this computer."
BROKEN = "Telegram is not well, or the line to it broke."
UNKNOWN_BOT = (
    "Telegram does not know the token of this bot. Ask @BotFather for it, or for a new one, and put that into the "
    "variable that telegram.token_variable names."
)
OTHER_READER = "Another program reads for this bot. Stop that one, or give this one a bot of its own."
WEBHOOK_IS_SET = "A webhook is set for this bot, so nobody can read for it otherwise. Delete that with deleteWebhook."


class BotClient:
    """Used in one event loop."""

    def __init__(self, token: str, api_url: str) -> None:
        if not TOKEN_FORM.fullmatch(token):
            raise TokenRefused("The token of the bot does not look like one: 123456:ABC…. Copy it once more, alone.")
        self._is_local = is_own_server(api_url)
        if api_url.startswith("http://") and not self._is_local:
            raise Invalid(
                "telegram.api_url begins with http://: anybody on the way would read the token. Use https://."
            )
        self.bot_id = token.partition(":")[0]
        self._token = token
        self._api = api_url.rstrip("/")
        self._connection: httpx2.AsyncClient | None = None

    async def get_me(self) -> dict[str, Any]:
        return _object(await self._call("getMe", {}))

    async def get_updates(self, offset: int, seconds: float) -> list[dict[str, Any]]:
        """All from `offset` on, which confirms those before it; waits so long for the first."""
        asked = {"offset": offset, "timeout": int(seconds), "allowed_updates": list(ALLOWED_UPDATES)}
        found = await self._call("getUpdates", asked, ANSWER_SECONDS + seconds)
        if not isinstance(found, list):
            raise Unavailable(BROKEN)
        return [_object(one) for one in cast("list[object]", found)]

    async def send_message(self, chat_id: str, text: str, entities: Sequence[Mapping[str, Any]] = ()) -> int:
        """The number of the message. Raises `MayHaveArrived` where nobody knows whether it is there."""
        asked: dict[str, Any] = {"chat_id": chat_id, "text": text, "link_preview_options": {"is_disabled": True}}
        if entities:
            asked["entities"] = [dict(entity) for entity in entities]
        number = _object(await self._call("sendMessage", asked, has_effect=True)).get("message_id")
        return number if isinstance(number, int) else 0

    async def send_action(self, chat_id: str, action: str) -> None:
        await self._call("sendChatAction", {"chat_id": chat_id, "action": action})

    async def get_file(self, file_id: str) -> tuple[str, int]:
        """Where it can be fetched for an hour, and its size; 0: nobody knows."""
        found = _object(await self._call("getFile", {"file_id": file_id}))
        path, size = found.get("file_path"), found.get("file_size")
        if not isinstance(path, str) or not path:
            raise Unavailable("Telegram does not say where the file is. It is tried again.")
        return path, size if isinstance(size, int) else 0

    async def download(self, path: str, most_bytes: int) -> bytes:
        if ".." in path.split("/"):  # The library would go up there, and ask for something else.
            raise NotFound("Telegram does not say where the file is.")
        status, found = await self._asked(
            "GET", f"/file/bot{self._token}/{quote(path)}", None, FILE_SECONDS, most_bytes
        )
        if status == 200:
            return found
        if status == 404:
            raise NotFound("Telegram does not have this file any more.")
        raise self._refusal(status, found)

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection:
            await connection.aclose()

    async def _call(
        self, method: str, asked: Mapping[str, Any], seconds: float = ANSWER_SECONDS, *, has_effect: bool = False
    ) -> object:
        raw = json.dumps(asked).encode()
        address = f"/bot{self._token}/{method}"
        status, found = await self._asked("POST", address, raw, seconds, MOST_ANSWER_BYTES, has_effect=has_effect)
        answer = _read(found)
        if status == 200 and answer.get("ok") is True:
            return answer.get("result")
        error = self._refusal(status, found)
        if has_effect and type(error) is Unavailable:
            raise MayHaveArrived(BROKEN)
        raise error

    async def _asked(
        self,
        method: str,
        address: str,
        raw: bytes | None,
        seconds: float,
        most_bytes: int,
        *,
        has_effect: bool = False,
    ) -> tuple[int, bytes]:
        """Status and body. The errors of the library stay here: raised outside of its `except`, ours has none of them
        behind it."""
        import httpx2

        error: RecollectError
        try:
            async with (
                asyncio.timeout(seconds),
                self._connected().stream(method, self._api + address, content=raw) as response,
            ):
                body = bytearray()
                async for piece in response.aiter_raw():
                    body += piece
                    if len(body) > (most_bytes if response.status_code == 200 else MOST_ANSWER_BYTES):
                        break
                else:
                    return response.status_code, bytes(body)
            error = TooLarge(f"The file is larger than {most_bytes / 1e6:.1f} MB.")
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError):
            error = Unavailable(UNREACHABLE)
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol):
            error = Invalid("telegram.api_url is no address of a server. Write https://host, or leave it out.")
        except (httpx2.HTTPError, TimeoutError):
            error = MayHaveArrived(BROKEN) if has_effect else Unavailable(BROKEN)
        raise error

    def _connected(self) -> "httpx2.AsyncClient":
        import httpx2

        if self._connection is None:
            for name in LOGGERS:
                logging.getLogger(name).addFilter(without_token)
            # What is counted while it is read is then what there is.
            headers = {"content-type": "application/json", "accept-encoding": "identity", "user-agent": "recollect"}
            with proxies_explained():
                self._connection = httpx2.AsyncClient(
                    headers=headers,
                    timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS, write=ANSWER_SECONDS),
                    verify=not self._api.startswith("http://"),
                    trust_env=not self._is_local,  # A proxy of the environment does not know the servers of this house.
                )
        return self._connection

    def _refusal(self, status: int, body: bytes) -> RecollectError:
        told = _read(body)
        description = told.get("description")
        words = description.replace(self._token, "…") if isinstance(description, str) else ""
        plain = words.partition(": ")[2] or words
        if 400 <= status < 500 and status != SlowDown.status and told.get("ok") is not False:
            return NotTheApi(status)
        match status:
            case 401 | 404:
                return TokenRefused(UNKNOWN_BOT)
            case 403:
                return ChatRefused(f"This chat takes nothing from the bot ({plain or 'forbidden'}).")
            case 409:
                return Taken(WEBHOOK_IS_SET if "webhook" in words else OTHER_READER)
            case 429:
                return SlowDown(_wait_seconds(told))
            case 400 if any(gone in words.lower() for gone in GONE_CHATS):
                return ChatRefused(f"This chat takes nothing from the bot ({plain}).")
            case 400 if "file is too big" in words:
                return TooLarge("The file is larger than a bot may fetch.")
            case _ if 400 <= status < 500:
                return BadRequest(plain or f"status {status}")
            case _:
                return Unavailable(BROKEN)


def without_token(record: logging.LogRecord) -> bool:
    """A filter for logs: the part of an address that holds a token is taken out."""
    message = record.getMessage()
    masked = TOKEN_IN_ADDRESS.sub("bot…", message)
    if masked != message:
        record.msg, record.args = masked, ()
    return True


def _wait_seconds(told: Mapping[str, Any]) -> float:
    seconds = _object(told.get("parameters")).get("retry_after")
    if not isinstance(seconds, int | float) or not seconds >= 0:
        return USUAL_WAIT_SECONDS
    return min(seconds, LONGEST_WAIT_SECONDS)


def _read(body: bytes) -> dict[str, Any]:
    """Empty where it is no object: the page of a gateway."""
    try:
        return _object(json.loads(body))
    except (ValueError, RecursionError):
        return {}


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
