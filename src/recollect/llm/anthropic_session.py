"""The SDK's client as we use it, and its errors as ours.

The SDK retries by itself and waits as long as a server says. Two things are added to each response before the SDK sees
it: a wait that is too long is not waited for, so that the caller hears of it and can do something else; and a body that
grows too large is not read to its end. The key goes to one address only, not along with a redirect, and into no
message.

This module imports the SDK, which takes more than a second: import it when a model is asked.
"""

from collections.abc import AsyncIterator

import httpx2
from anthropic import (
    APIConnectionError,
    APIError,
    APIStatusError,
    APITimeoutError,
    AsyncAnthropic,
    DefaultAsyncHttpxClient,
)

from recollect.errors import Denied, Invalid, RecollectError, Unavailable
from recollect.llm.addresses import is_own_server
from recollect.llm.anthropic_access import Access
from recollect.llm.hints import come_again, hinted_seconds
from recollect.llm.model import Busy
from recollect.llm.talking import SummaryRefused
from recollect.logs import quoted

HOME = "https://api.anthropic.com"
MOST_RETRIES = 4
"""Their waits grow from half a second to four, where the server names none."""
LONGEST_WAIT_SECONDS = 30
"""A longer one is waited for outside, where it can be seen."""
CONNECT_SECONDS = 15
MOST_LINE_BYTES = 1_000_000
"""Of one event, or of an error. An answer of ours is a few thousand bytes, in many events."""
MOST_BYTES = 32_000_000
"""Of one response: a stream says a few letters in a hundred bytes."""
MOST_WORDS = 300
"""Characters of a server's message that are shown."""
BUSY = {"rate_limit_error", "overloaded_error"}
DENIED = {"authentication_error", "permission_error", "billing_error"}
FIRST_SERVER_ERROR = 500
OF_SUMMARIES = "compaction_"
"""How the codes of errors begin that are about the block of a summary."""
OF_CONDENSING = {
    "compaction_incomplete_turn",
    "compaction_nothing_to_summarize",
    "compaction_too_many_tool_references",
    "compaction_unavailable",
}
"""Save for these: they are about what was to be summed up."""
STATUS_TYPES = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    429: "rate_limit_error",
    503: "overloaded_error",
    529: "overloaded_error",
}


class TooLong(RecollectError):
    """More than we read. Never leaves the adapter."""


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = line = 0
        async for piece in self._inner:
            total += len(piece)
            end = piece.rfind(b"\n") + 1
            line = len(piece) - end if end else line + len(piece)
            if total > MOST_BYTES or line > MOST_LINE_BYTES:
                raise TooLong
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _guard(response: httpx2.Response) -> None:
    if (hinted_seconds(response.headers) or 0) > LONGEST_WAIT_SECONDS:
        response.headers["x-should-retry"] = "false"
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)


def connect(key: str, base_url: str, timeout_seconds: float) -> AsyncAnthropic:
    base_url = base_url or HOME
    is_own = is_own_server(base_url)
    timeout = httpx2.Timeout(timeout_seconds, connect=min(CONNECT_SECONDS, timeout_seconds))
    # A proxy of the environment does not know the servers of this house, and the SDK's own client always asks it.
    http_client = httpx2.AsyncClient if is_own else DefaultAsyncHttpxClient
    return AsyncAnthropic(
        api_key=key or "none",  # A server of one's own may do without. None would be looked for in the environment.
        base_url=base_url,
        max_retries=MOST_RETRIES,
        timeout=timeout,
        open_telemetry=False,  # Our own events become spans (`otel`): no call shall be told twice.
        default_headers={"accept-encoding": "identity"},  # What is counted while it is read is then what there is.
        http_client=http_client(
            timeout=timeout,
            follow_redirects=False,
            trust_env=not is_own,
            verify=not base_url.startswith("http://"),  # Certificates, which take a while to read, are for https.
            event_hooks={"response": [_guard]},
        ),
    )


def explained(error: APIError | httpx2.TransportError, access: Access) -> RecollectError:
    """What went wrong, as an error of ours. To be raised `from None`: the SDK's own may quote the key."""
    if isinstance(error, APIStatusError):
        return _refusal(error, access)
    name = access.name
    if isinstance(error, APITimeoutError | httpx2.TimeoutException):
        return Unavailable(f"{name} did not answer in time. Later it may.")
    if isinstance(error, APIConnectionError | httpx2.TransportError):
        return Unavailable(f"{name} cannot be reached, or the line broke. Check the connection.")
    return Unavailable(f"{name} failed: {_words(str(error), access.key)}")


def _refusal(error: APIStatusError, access: Access) -> RecollectError:
    """By the type that the API gives: an error inside of a stream has the status of its stream, 200."""
    name = access.name
    kind = error.type or STATUS_TYPES.get(error.status_code, "")
    words = _words(error.api_message or error.message, access.key)
    if kind in DENIED:
        return Denied(
            f"{name} does not accept the key ({words}). Set the variable that {access.part}.key_variable names "
            "(ANTHROPIC_API_KEY, if it names none) to a key that may use this model."
        )
    if kind in BUSY:
        hint = hinted_seconds(error.response.headers)
        return Busy(f"{name} has too much to do at the moment ({words}). {come_again(hint)}", hint)
    if kind == "not_found_error":
        return Denied(f"{name} was not found ({words}). Check the model after anthropic: in {access.part}.model.")
    if kind in ("api_error", "timeout_error", "conflict_error") or error.status_code >= FIRST_SERVER_ERROR:
        return Unavailable(f"{name} failed (status {error.status_code}): {words}. Later it may work again.")
    code = error.error_code or ""
    if code.startswith(OF_SUMMARIES) and code not in OF_CONDENSING:
        return SummaryRefused(f"{name} does not take this summary back ({code}): {words}")
    return Invalid(f"{name} refused the request (status {error.status_code}): {words}")


def _words(text: str, key: str) -> str:
    hidden = " ".join((text.replace(key, "…") if key else text).split())
    return quoted(hidden[:MOST_WORDS] + ("…" if len(hidden) > MOST_WORDS else ""))
