"""JSON to a provider and JSON back: limits, time-outs, retries with the server's own hints, and errors as ours.

A request is sent again where that may help: the line broke, or the server said that it is busy or failed. All waits
together have an end; then `Busy` says when to come again. An answer that grows too large is not read to its end. The
key goes to this one address, not along with a redirect, and into no message.
"""

import asyncio
import json
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast
from urllib.parse import urlsplit

from recollect.errors import Denied, Invalid, RecollectError, Unavailable
from recollect.llm.addresses import is_own_server
from recollect.llm.events import Events
from recollect.llm.hints import come_again, hinted_seconds
from recollect.llm.model import BadReply, Busy, Refused, Usage
from recollect.logs import quoted
from recollect.tokens import of_bytes

if TYPE_CHECKING:
    import httpx2

MOST_BYTES = 1_000_000
"""Of an answer. What we ask for is a few thousand bytes."""
MOST_STREAM_BYTES = 32_000_000
"""Of an answer in many events: one says a few letters in two hundred bytes."""
DONE = "[DONE]"
"""The last event of a stream."""
MOST_RETRIES = 4
FIRST_PAUSE_SECONDS = 0.5
MOST_WAITING_SECONDS = 60
"""All pauses of one request. Who waits longer does so outside, where it can be seen."""
CONNECT_SECONDS = 15
WORTH_ANOTHER = (408, 409, 425, 429)
OVERLOADED = (429, 503, 529)
FIRST_SERVER_ERROR = 500
ABOUT_THE_REQUEST = (400, 404, 422, 500, 501)
"""Where a server may say that it does not know a part of the request. Some fail over it (500)."""
NOT_THERE = (301, 302, 307, 308, 404, 405, 410)
"""The address is that of nothing we speak with."""
NO_MODEL = ("model_not_found", "invalid_model")
MOST_WORDS = 300
"""Characters of a server's message that are shown."""

Wait = Callable[[float], Awaitable[None]]


class Unwanted(RecollectError):
    """The server does not take a part of the request that can be left out. Never leaves the adapters."""

    def __init__(self, part: str) -> None:
        super().__init__(part)
        self.part = part


class Reader(Protocol):
    """Who reads a stream."""

    def take(self, found: Mapping[str, Any]) -> None: ...

    @property
    def is_heard(self) -> bool:
        """Somebody was told something: from here on a second attempt would say it twice."""
        ...

    @property
    def is_whole(self) -> bool:
        """It said why it stopped. Not every server says that it is done."""
        ...

    @property
    def characters(self) -> int: ...


R = TypeVar("R")
ReaderT = TypeVar("ReaderT", bound=Reader)


class Endpoint:
    """A session with one server. It belongs to the event loop that uses it; in another one it connects anew."""

    def __init__(
        self, base_url: str, key: str, *, timeout_seconds: float, wait: Wait = asyncio.sleep, part: str = "librarian"
    ) -> None:
        """`part`: of the settings, for messages that say what to change there."""
        if not _is_address(base_url):
            shown = base_url.rpartition("@")[2]
            raise Invalid(f"{shown!r} is no address of a model server. Write https://host/v1, without a password.")
        if not key.isascii() or not key.isprintable() or " " in key:
            raise Denied("The key for a model server holds characters that no key has. Copy it once more, alone.")
        self.is_local = is_own_server(base_url)
        self._base = base_url.rstrip("/")
        self._key = key
        self._timeout_seconds = timeout_seconds
        self._wait = wait
        self._part = part
        self._client: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def post(self, path: str, body: Mapping[str, Any], optional: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
        """The object that the server answers. `optional`: parts of the body that the caller can do without, each with
        the words by which a server names it when it refuses; `Unwanted` is raised for it."""
        raw = _raw(body)
        return await self._attempts(lambda: self._once(path, raw, optional))

    async def stream(
        self,
        path: str,
        body: Mapping[str, Any],
        optional: Mapping[str, tuple[str, ...]],
        begin: Callable[[], ReaderT],
    ) -> ReaderT:
        """A reader that took each object of a stream of events as it came, or the one object of a server that does not
        stream. A line that breaks is another attempt, with a new reader, as long as nothing was heard."""
        raw = _raw(body)
        return await self._attempts(lambda: self._streamed(path, raw, optional, begin()))

    async def look(self, path: str, seconds: float) -> dict[str, Any] | None:
        """The object at an address, asked for once; None where there is none, or nobody who answers in time."""
        import httpx2

        try:
            async with asyncio.timeout(seconds), self._connected().stream("GET", self._base + path) as response:
                return _object(await self._read(response)) if response.status_code < 300 else None
        except (TimeoutError, httpx2.HTTPError, httpx2.InvalidURL, BadReply):
            return None

    async def _attempts(self, once: Callable[[], Awaitable[R]]) -> R:
        waited = 0.0
        for attempt in range(MOST_RETRIES + 1):
            try:
                return await once()
            except _Again as again:
                pause = again.seconds
                if pause is None:
                    pause = FIRST_PAUSE_SECONDS * 2**attempt * random.uniform(0.75, 1)  # noqa: S311  not a secret
                waited += pause
                if attempt == MOST_RETRIES or waited > MOST_WAITING_SECONDS:
                    raise self._gave_up(again, attempt + 1) from again
            await self._wait(pause)
        raise AssertionError("the last attempt returns or raises")

    async def close(self) -> None:
        client, self._client = self._client, None
        if client and self._loop is asyncio.get_running_loop():
            await client.aclose()

    async def _once(self, path: str, raw: bytes, optional: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
        async with self._opened(path, raw) as response:
            text = await self._read(response)
        return self._understood(response.status_code, response.headers, text, optional)

    async def _streamed(
        self, path: str, raw: bytes, optional: Mapping[str, tuple[str, ...]], reader: ReaderT
    ) -> ReaderT:
        try:
            async with self._opened(path, raw) as response:
                if response.status_code >= 300 or not _is_stream(response.headers):
                    text = await self._read(response)
                    reader.take(self._understood(response.status_code, response.headers, text, optional))
                    return reader
                async with aclosing(self._events(response)) as events:
                    async for said in events:
                        if said == DONE:
                            return reader
                        reader.take(self._understood(response.status_code, response.headers, said, optional))
            if not reader.is_whole:
                raise _Again("its answer broke off", None, is_overload=False)
        except _Again as again:
            if reader.is_whole:  # Only the count of its tokens may be missing.
                return reader
            if reader.is_heard:
                raise Unavailable(f"{self._base} broke off in its answer: {again}.") from again
            raise
        except BadReply as error:
            error.usage += Usage(output_tokens=of_bytes(reader.characters))
            raise
        return reader

    async def _events(self, response: "httpx2.Response") -> AsyncGenerator[str]:
        events, total = Events(), 0
        async for piece in response.aiter_raw():
            for said in events.take(piece):
                yield said
            total += len(piece)
            if total > MOST_STREAM_BYTES or events.unread_bytes > MOST_BYTES:
                raise BadReply(f"{self._base} sent more than an answer can be; the rest was not read.")
        for said in events.end():
            yield said

    @asynccontextmanager
    async def _opened(self, path: str, raw: bytes) -> "AsyncGenerator[httpx2.Response]":
        import httpx2

        try:
            async with (
                asyncio.timeout(self._timeout_seconds),
                self._connected().stream("POST", self._base + path, content=raw) as response,
            ):
                yield response
        except (TimeoutError, httpx2.ReadTimeout, httpx2.WriteTimeout) as error:
            raise Unavailable(
                f"{self._base} gave no answer in {self._timeout_seconds:g} seconds. Check that it runs and is not "
                "overloaded, or choose a smaller model."
            ) from error
        except httpx2.InvalidURL as error:
            raise Invalid(
                f"{self._base} is no address of a model server: {error}. Check {self._part}.model."
            ) from error
        except httpx2.TransportError as error:  # No route, no name, a line that broke.
            raise _Again("it cannot be reached, or the line broke", None, is_overload=False) from error

    def _connected(self) -> "httpx2.AsyncClient":
        import httpx2

        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            headers = {"content-type": "application/json", "accept": "application/json", "user-agent": "recollect"}
            headers["accept-encoding"] = "identity"  # What is counted while it is read is then what there is.
            if self._key:
                headers["authorization"] = f"Bearer {self._key}"
            timeout = httpx2.Timeout(self._timeout_seconds, connect=min(CONNECT_SECONDS, self._timeout_seconds))
            # A proxy of the environment does not know the servers of this house. And certificates are read, which takes
            # a while, only where there is one to check.
            is_checked = urlsplit(self._base).scheme != "http"
            self._client = httpx2.AsyncClient(
                headers=headers, timeout=timeout, trust_env=not self.is_local, verify=is_checked
            )
            self._loop = loop
        return self._client

    async def _read(self, response: "httpx2.Response") -> str:
        found = bytearray()
        async for piece in response.aiter_raw():
            found += piece
            if len(found) > MOST_BYTES:
                written = Usage(output_tokens=of_bytes(len(found)))
                raise BadReply(f"{self._base} answered more than {MOST_BYTES:,} bytes; the rest was not read.", written)
        return found.decode("utf-8", "replace")

    def _understood(
        self, status: int, headers: Mapping[str, str], text: str, optional: Mapping[str, tuple[str, ...]]
    ) -> dict[str, Any]:
        found = _object(text)
        error = found.get("error") if found else None
        if status < 400 and error and isinstance(error, dict | str):  # Some pass an error on as an answer.
            code = cast(dict[str, Any], error).get("code") if isinstance(error, dict) else None
            status = code if isinstance(code, int) and 400 <= code < 600 else 502
        if status < 300:
            if found is None:
                raise BadReply(f"{self._base} answered what is no JSON object. Check that it is a chat endpoint.")
            return found
        raise self._refusal(status, headers, text, _told(found, text), optional)

    def _refusal(
        self, status: int, headers: Mapping[str, str], text: str, told: "_Told", optional: Mapping[str, tuple[str, ...]]
    ) -> RecollectError:
        if status in ABOUT_THE_REQUEST:
            lowered = text.lower()
            for part, words in optional.items():
                if any(word in lowered for word in words):
                    return Unwanted(part)
        if told.code == "insufficient_quota":
            return Denied(f"{self._base}: the quota of this key is used up. Add credit there, or choose another model.")
        if status in WORTH_ANOTHER or status >= FIRST_SERVER_ERROR:
            if headers.get("x-should-retry") == "false":
                return Unavailable(f"{self._base} failed (status {status}): {self._shown(told.words)}")
            return _Again(f"status {status}", hinted_seconds(headers), is_overload=status in OVERLOADED)
        if status in (401, 403):
            return Denied(
                f"{self._base} does not accept the key (status {status}). Set the variable that "
                f"{self._part}.key_variable names (OPENAI_API_KEY, if it names none) to a key that may use this model."
            )
        if status in NOT_THERE or told.code in NO_MODEL:  # No other request would do either.
            return Denied(
                f"{self._base} has no such model, or is another address (status {status}): {self._shown(told.words)}. "
                f"Check the address, and the model after # in {self._part}.model."
            )
        if told.code in ("content_filter", "content_policy_violation"):
            return Refused(f"{self._base} refuses this text: {self._shown(told.words)}")
        return Invalid(
            f"{self._base} refused the request (status {status}): {self._shown(told.words)}. "
            f"Check the model after # in {self._part}.model."
        )

    def _gave_up(self, again: "_Again", attempts: int) -> Unavailable:
        said = f"{self._base} gave no answer after {attempts} attempts: {again}."
        if again.is_overload or again.seconds is not None:
            return Busy(f"{said} {come_again(again.seconds)}", again.seconds)
        return Unavailable(f"{said} Check that it runs.")

    def _shown(self, words: str) -> str:
        hidden = words.replace(self._key, "…") if self._key else words
        return quoted(hidden[:MOST_WORDS] + ("…" if len(hidden) > MOST_WORDS else ""))


class _Again(RecollectError):
    """Worth another attempt. Never leaves this module."""

    def __init__(self, what: str, seconds: float | None, *, is_overload: bool) -> None:
        super().__init__(what)
        self.seconds = seconds
        self.is_overload = is_overload


class _Told:
    """What a server says of an error: in OpenAI's form, or somehow."""

    def __init__(self, words: str, code: str = "") -> None:
        self.words = " ".join(words.split())
        self.code = code


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        is_whole = bool(parts.hostname) and parts.port != 0 and not parts.query and not parts.fragment
        return is_whole and parts.scheme in ("http", "https") and parts.username is None
    except ValueError:
        return False


def _raw(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")  # Half a surrogate pair is no character.


def _is_stream(headers: Mapping[str, str]) -> bool:
    return headers.get("content-type", "").strip().lower().startswith("text/event-stream")


def _told(found: Mapping[str, Any] | None, text: str) -> _Told:
    error = found.get("error") if found else None
    if isinstance(error, dict):
        said = cast(dict[str, Any], error)
        return _Told(str(said.get("message") or ""), str(said.get("code") or ""))
    return _Told(str(error) if error else text)


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, Any], found) if isinstance(found, dict) else None
