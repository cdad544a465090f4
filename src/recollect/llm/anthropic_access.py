"""Which of Anthropic's models is asked, where and with which key, and the connection that is kept for it."""

import asyncio
import importlib.util
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from recollect.errors import Denied, Invalid, Unavailable
from recollect.llm.addresses import is_own_server

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic


class Access:
    """`part`: of the settings, for messages that say what to change there."""

    def __init__(self, model: str, key: str, base_url: str, timeout_seconds: float, *, part: str) -> None:
        if importlib.util.find_spec("anthropic") is None:
            command = f"{sys.executable} -m pip install 'anthropic>=2.8,<3'"
            raise Unavailable(f"anthropic:… needs Anthropic's SDK. Install it: {command}")
        if not model:
            raise Invalid(f"anthropic: names no model. Write anthropic:MODEL into {part}.model.")
        if base_url and not _is_address(base_url):
            raise Invalid("The address of Anthropic's API is none. Write https://HOST into ANTHROPIC_BASE_URL.")
        self.is_own = bool(base_url) and is_own_server(base_url)
        if not key and not self.is_own:
            raise Denied(f"anthropic:{model} needs a key: put it into the environment variable ANTHROPIC_API_KEY.")
        self.model = model
        self.key = key
        self.part = part
        self.timeout_seconds = timeout_seconds
        self._base_url = base_url
        self._client: AsyncAnthropic | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def name(self) -> str:
        return f"anthropic:{self.model}"

    def connected(self) -> "AsyncAnthropic":
        """The client belongs to the event loop that uses it; in another one it connects anew."""
        from recollect.llm.anthropic_session import connect

        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client = connect(self.key, self._base_url, self.timeout_seconds)
            self._loop = loop
        return self._client

    async def close(self) -> None:
        client, self._client = self._client, None
        if client and self._loop is asyncio.get_running_loop():
            await client.close()


def sendable(text: str) -> str:
    """Half of a surrogate pair, which a broken transcript may hold, is no character that JSON could carry."""
    return text.encode("utf-8", "replace").decode()


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None and not parts.query
    except ValueError:
        return False
