"""/v1/events: what changes, as it changes (server-sent events)."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import Header
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from recollect.errors import RecollectError
from recollect.surfaces.http.asking import Reader, secret_of
from recollect.surfaces.http.problems import of_error
from recollect.surfaces.http.routes import new_router
from recollect.surfaces.http.streams import END, Follower, Streams

router = new_router("events")
QUIET_SECONDS = 15.0
"""After so long without an event a comment is sent, so that nobody takes the line for dead."""
KEEP_ALIVE = b": still here\n\n"
RETRY = b"retry: 3000\n\n"
EXAMPLE = (
    'id: 0199a7f0.4711\nevent: change\ndata: {"things":[{"kind":"record","id":"0199a7f0-c3de-7b6c-8a52-d1f4e6b7a890",'
    '"is_there":true}]}\n\n'
)
LAST = "The id of the last event that was read: what came after it is told first."


@router.get(
    "/events",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "A stream that does not end.",
            "content": {"text/event-stream": {"schema": {"type": "string"}, "example": EXAMPLE}},
        }
    },
)
async def follow_events(
    memory: Reader,
    request: Request,
    last_event_id: Annotated[str, Header(alias="Last-Event-ID", max_length=200, description=LAST, examples=[""])] = "",
) -> Response:
    """`here` says from where on is told. `change` names the things that were added, changed or removed, as far as the
    token may see them: an agent is not told of messages and records that are gone. `reset` says that changes are
    missing between, and what is followed is to be read anew. Beyond a number of streams 503."""
    streams: Streams = request.app.state.streams
    try:
        follower = await streams.join(secret_of(request), last_event_id)
    except RecollectError as error:
        refused = of_error(error)
        refused.headers["connection"] = "close"  # A crowd that is refused shall not stay on the line.
        return refused
    quiet: float = getattr(request.app.state, "quiet_seconds", QUIET_SECONDS)
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_pieces(streams, follower, quiet), 200, headers, "text/event-stream")


async def _pieces(streams: Streams, follower: Follower, quiet: float) -> AsyncGenerator[bytes]:
    try:
        yield RETRY
        while True:
            try:
                async with asyncio.timeout(quiet):
                    piece = await follower.pieces.get()
            except TimeoutError:
                piece = KEEP_ALIVE
            if piece == END:
                return
            yield piece
    finally:
        streams.leave(follower)
