"""What is sent to us: no more than a limit, all of it within a time, and in no more parts than can be looked at.

It is read and checked where all requests are, so that one that takes long would keep everybody waiting.
"""

import asyncio
import re
import time
from contextlib import suppress
from itertools import islice

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive

from recollect.errors import Invalid

MOST_BYTES = 8_000_000
"""Of a request. The longest note and the longest record are far below."""
USUAL_BYTES = 256_000
"""Of one that has no long text, no pictures and no long list in it."""
MOST_PARTS = 50_000
"""Texts, commas and opening brackets of a body. The longest list that is taken has 10,000 ids: a comma each."""
READING_SECONDS = 30.0
"""For all of a request to arrive."""
MOST_DRAINED_BYTES = 16_000_000
DRAINING_SECONDS = 5.0
CLOSE = {"connection": "close"}
INCOMING = "incoming"
"""Its name in the state of a request."""
# A text ends where the body does, if nothing else ends it: then no place is looked at twice.
_PART = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{,]', re.DOTALL)


def check_announced(length: str | None, most_bytes: int = MOST_BYTES) -> None:
    if length is not None and length.isdecimal() and int(length) > most_bytes:
        raise too_large(most_bytes)


class Incoming:
    """`receive` of an application, with the two limits. After the body nothing is limited: then it waits for whoever
    asks to leave."""

    def __init__(self, receive: Receive, most_bytes: int = MOST_BYTES, seconds: float = READING_SECONDS) -> None:
        self._receive = receive
        self._most_bytes = most_bytes
        self._seconds = seconds
        self._deadline: float | None = None
        self._read = 0
        self._is_whole = False

    def narrow(self, most_bytes: int) -> None:
        """Before it is read: a route may take less than the server."""
        self._most_bytes = min(self._most_bytes, most_bytes)

    async def __call__(self) -> Message:
        if self._is_whole:
            return await self._receive()
        if self._deadline is None:
            self._deadline = time.monotonic() + self._seconds
        try:
            async with asyncio.timeout(max(0.0, self._deadline - time.monotonic())):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408, f"The body did not arrive within {self._seconds:g} seconds.", CLOSE) from None
        self._note(message)
        if self._read > self._most_bytes:
            raise too_large(self._most_bytes)
        return message

    def _note(self, message: Message) -> None:
        self._read += len(message.get("body", b""))
        self._is_whole = message["type"] != "http.request" or not message.get("more_body", False)

    async def drain(self) -> None:
        """What still comes of a body that is refused, and is thrown away: many programs read the answer only when they
        have sent all, and a line that is closed on them loses it."""
        most = self._read + MOST_DRAINED_BYTES
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAINING_SECONDS):
                while not self._is_whole and self._read < most:
                    self._note(await self._receive())


async def read_whole(request: Request, most_bytes: int) -> None:
    """The body of a request, which keeps it for whoever reads it next."""
    check_announced(request.headers.get("content-length"), most_bytes)
    incoming: Incoming = getattr(request.state, INCOMING)
    incoming.narrow(most_bytes)
    try:
        check_parts(await request.body())
    except ClientDisconnect:
        raise HTTPException(400, "The body ended before it was whole.", CLOSE) from None


def check_parts(body: bytes) -> None:
    """Before it is parsed: what has a million parts takes seconds, and gigabytes, to be found wrong."""
    if len(body) > MOST_PARTS and next(islice(_PART.finditer(body), MOST_PARTS, None), None):
        raise Invalid(f"The body has more than {MOST_PARTS:,} values in it. Send less at once.")


def too_large(most_bytes: int) -> HTTPException:
    size = f"{most_bytes / 1e6:g} MB" if most_bytes >= 1e6 else f"{most_bytes / 1e3:g} kB"
    return HTTPException(413, f"The body is larger than {size}, the most that is taken here. Send less at once.", CLOSE)
