"""What is sent to us: no more than a limit, and all of it within a time."""

import asyncio
import time

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

MOST_BYTES = 8_000_000
"""Of a request. The longest note and the longest record are far below."""
READING_SECONDS = 30.0
"""For all of a request to arrive."""
CLOSE = {"connection": "close"}


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
        self._read += len(message.get("body", b""))
        if self._read > self._most_bytes:
            raise too_large(self._most_bytes)
        self._is_whole = message["type"] != "http.request" or not message.get("more_body", False)
        return message


def too_large(most_bytes: int) -> HTTPException:
    return HTTPException(413, f"The body is larger than {most_bytes / 1e6:g} MB. Send less at once.", CLOSE)
