"""How a call of a model ends, and what it took: shared by all that meter one."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress

from recollect.errors import Denied, Invalid, RecollectError, Unavailable
from recollect.llm.model import BadReply, Busy, Usage
from recollect.runs.budget import Budget, Reservation

Record = Callable[[str, str, float, dict[str, object]], None]
"""`Runs.record`: name, outcome, seconds, detail."""

FRAME_TOKENS = 500
"""What providers put around a prompt: roles, how to answer in JSON, our own request for a repair."""
NEVER_SENT = (
    "ConnectError",
    "ConnectTimeout",
    "PoolTimeout",
    "ConnectionRefusedError",
    "gaierror",
    "FileNotFoundError",
)
"""Errors below an error that mean that nobody was reached."""


def end_call(
    budget: Budget,
    record: Record,
    reserved: Reservation,
    usage: Usage | None,
    dollars: float | None,
    *,
    outcome: str,
    seconds: float,
    detail: Mapping[str, object],
) -> None:
    """Without usage the reservation stays as it is. It also stays when the database is busy: an answer that was paid
    for is not thrown away because it could not be counted."""
    told: dict[str, object] = {**detail, "dollars": dollars if usage else reserved.dollars}
    if usage:
        told["input_tokens"] = usage.input_tokens
        told["cached_tokens"] = usage.cached_tokens
        told["written_tokens"] = usage.written_tokens
        told["output_tokens"] = usage.output_tokens
    with suppress(Unavailable):
        if usage:
            budget.settle(reserved, usage, dollars)
        record("model", outcome, seconds, told)


def usage_after(error: BaseException) -> Usage | None:
    """What a call took that failed. None: nobody knows."""
    if isinstance(error, BadReply):
        return error.usage if error.usage.calls else None
    if isinstance(error, Denied | Invalid | Busy):
        return Usage()
    below: BaseException | None = error
    while isinstance(error, RecollectError) and below is not None:
        if type(below).__name__ in NEVER_SENT:
            return Usage()
        below = below.__cause__ or below.__context__
    return None


def outcome_of(error: BaseException) -> str:
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt):
        return "cancelled"
    if isinstance(error, BadReply):
        return {"CutOff": "cut off", "Refused": "refused"}.get(type(error).__name__, "bad reply")
    return "busy" if isinstance(error, Busy) else "failed"


async def to_its_end(work: Callable[[], None]) -> None:
    """In a thread, and not left half done by who cancels meanwhile."""
    done = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(done)
    except asyncio.CancelledError:
        await asyncio.wait([done])
        raise
