"""Answers that go out by the webhook: one signed POST each, sent again until it is taken.

An answer has the same id and the same body however often it is sent, so that the other side can tell a repeat. Only
the time and with it the signature are new. The address we send to may itself be a secret: messages name its host alone.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from recollect.channels.kinds import Door
from recollect.channels.webhook.signing import Secret, signed_headers
from recollect.errors import Denied, Invalid, Unavailable
from recollect.ids import derived_id
from recollect.llm.addresses import is_own_server
from recollect.llm.hints import hinted_seconds
from recollect.llm.proxies import proxies_explained
from recollect.mind.channel import MayHaveArrived, Reply

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 15.0
"""For all of it: the other side takes a message and says so; what it does with it comes after."""
FIRST_WAIT_SECONDS = 5.0
LONGEST_WAIT_SECONDS = 3600.0
TOLD_FAILURES = 3
"""In a row: what comes right by itself is not worth a word."""
GONE = (404, 410)
SLOW_DOWN = 429
FIRST_SERVER_ERROR = 500
EVERYBODY = ""
"""In place of an address: all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    since: datetime
    until: datetime
    failures: int

    def is_over(self, now: datetime) -> bool:
        """A clock that was put back ends it too."""
        return not self.since <= now < self.until


class Sender:
    """It belongs to the event loop that uses it."""

    def __init__(self, door: Door, secrets: Sequence[Secret], answer_seconds: float = ANSWER_SECONDS) -> None:
        self._door = door
        self._secrets = secrets
        self._answer_seconds = answer_seconds
        self._url = door.settings.webhook.url
        self._host = checked_host(self._url) if self._url else ""
        self._waits: dict[str, Wait] = {}
        self._has_told = False
        self._hiding = _Hiding()
        self._client: httpx2.AsyncClient | None = None

    def takes(self, address: str) -> bool:
        now = self._door.clock()
        return all(self._waits[one].is_over(now) for one in (EVERYBODY, address) if one in self._waits)

    async def deliver(self, address: str, reply: Reply) -> None:
        if not self._url:
            raise Denied("webhook.url is empty: answers by the webhook are kept in history and sent nowhere.")
        body = body_of(address, reply)
        headers = signed_headers(self._secrets, self.id_of(address, reply), self._door.clock(), body)
        try:
            status, given = await self._post(body, headers)
        except Unavailable as error:
            self._fail(EVERYBODY, str(error))
            raise
        if 200 <= status < 300:
            self._succeed(address)
        elif status in GONE:
            raise Denied(self._told(f"{self._host} says {status}: there is nobody at webhook.url any more. Mend it."))
        elif status == SLOW_DOWN or status >= FIRST_SERVER_ERROR:
            words = f"{self._host} answers {status}. What is to be sent waits."
            self._fail(EVERYBODY, words, hinted_seconds(given))
            raise Unavailable(words)
        else:
            words = f"{self._host} refuses an answer with {status}. It is tried again in an hour; look there for why."
            self._hold(address, LONGEST_WAIT_SECONDS)
            raise Unavailable(self._told(words))

    def id_of(self, address: str, reply: Reply) -> str:
        """The same at each repeat. With its time, because a house that was made anew counts its turns anew."""
        settings = self._door.settings
        parts = (settings.house, settings.agent_name, str(reply.turn), reply.at, address)
        return f"msg_{derived_id('webhook', *parts)}"

    async def close(self) -> None:
        self._hiding.end()
        if self._client:
            await self._client.aclose()
            self._client = None

    async def _post(self, body: bytes, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str]]:
        """Its status and headers; what else it says nobody reads. A redirect is not followed: it was not asked for."""
        import httpx2

        every = {**headers, "content-type": "application/json", "user-agent": "recollect"}
        request = self._opened().build_request("POST", self._url, content=body, headers=every)
        try:
            async with asyncio.timeout(self._answer_seconds):
                response = await self._opened().send(request, stream=True)
                await response.aclose()
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError):
            raise Unavailable(f"{self._host} cannot be reached. Check webhook.url and that its program runs.") from None
        except (httpx2.TransportError, TimeoutError):
            raise MayHaveArrived(f"{self._host} did not say whether it took an answer. It is sent again.") from None
        return response.status_code, response.headers

    def _opened(self) -> "httpx2.AsyncClient":
        if self._client is None:
            import httpx2

            self._hiding.begin(str(httpx2.URL(self._url)))
            timeout = httpx2.Timeout(self._answer_seconds, connect=min(CONNECT_SECONDS, self._answer_seconds))
            # To this house nothing goes by way of a proxy elsewhere, which would read it.
            is_elsewhere = not is_own_server(self._url)
            with proxies_explained():
                self._client = httpx2.AsyncClient(timeout=timeout, follow_redirects=False, trust_env=is_elsewhere)
        return self._client

    # How it goes

    def _succeed(self, address: str) -> None:
        for one in (EVERYBODY, address):
            self._waits.pop(one, None)
        if self._has_told:
            self._has_told = False
            self._door.tell("")

    def _fail(self, address: str, words: str, hint: float | None = None) -> None:
        failures = self._waits[address].failures + 1 if address in self._waits else 1
        grown = FIRST_WAIT_SECONDS * 2.0 ** min(failures - 1, 20)
        self._hold(address, max(grown, hint or 0.0), failures)
        if failures >= TOLD_FAILURES:
            self._told(words)

    def _hold(self, address: str, seconds: float, failures: int = 1) -> None:
        now = self._door.clock()
        until = now + timedelta(seconds=min(seconds, LONGEST_WAIT_SECONDS))
        self._waits[address] = Wait(since=now, until=until, failures=failures)

    def _told(self, words: str) -> str:
        self._has_told = True
        self._door.tell(words)
        return words


def body_of(address: str, reply: Reply) -> bytes:
    return msgspec.json.encode(
        {
            "type": "answer",
            "turn": reply.turn,
            "address": address,
            "text": reply.text,
            "state": reply.state,
            "remark": reply.remark,
            "first": reply.is_first,
            "at": reply.at,
        }
    )


def checked_host(url: str) -> str:
    """The host of `webhook.url`, if that is an address to send to."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        parts, host = urlsplit(""), ""
    if parts.scheme not in ("http", "https") or not host or parts.username is not None or parts.fragment:
        raise Invalid("webhook.url is no address to send answers to. Write https://host/path, without a password.")
    if parts.scheme == "http" and not is_own_server(url):
        raise Invalid(
            f"webhook.url would send what is said to {host} in clear. Write https://, or put a bridge on this computer."
        )
    return host


class _Hiding(logging.Filter):
    """The library writes each address it sends to into the log."""

    def __init__(self) -> None:
        super().__init__()
        self._hidden = ""

    def filter(self, record: logging.LogRecord) -> bool:
        return not self._hidden or self._hidden not in record.getMessage()

    def begin(self, url: str) -> None:
        """As the library spells it."""
        self._hidden = url
        logging.getLogger("httpx2").addFilter(self)

    def end(self) -> None:
        logging.getLogger("httpx2").removeFilter(self)
