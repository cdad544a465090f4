"""The hooks of coding agents, by the short way: what `recollect-hook` sends with the secret of `runtime/hook.curl`.

It answers at once; a transcript is taken in and what was shown is noted afterwards, by one thread (`Captures`). Not in
the description of the API: the script beside this server is all that calls it.
"""

from typing import Annotated

from fastapi import Depends, FastAPI, Header
from starlette.requests import Request
from starlette.responses import Response

from recollect.memory import Memory
from recollect.surfaces.hooks.answering import HEADER, answer, hook_of, note_shown
from recollect.surfaces.hooks.capturing import Captures
from recollect.surfaces.http.routes import JSON, new_router, nothing

router = new_router("hooks")
ENDING_SECONDS = 1.0
"""For the file that is being read when the server ends."""


async def _body(request: Request) -> bytes:
    return await request.body()


@router.post("/hooks", include_in_schema=False)
def run_hook(
    request: Request, given: Annotated[bytes, Depends(_body)], named: Annotated[str, Header(alias=HEADER)]
) -> Response:
    memory: Memory = request.app.state.memory
    hook = hook_of(named)
    found = answer(memory, hook, given)
    captures: Captures = request.app.state.captures
    if found.transcript:
        captures.add(hook.tool, found.transcript)
    if shown := found.shown:
        captures.do_later(hook.tool, lambda: note_shown(memory, shown))
    return Response(found.output, media_type=JSON) if found.output else nothing()


def prepare(app: FastAPI) -> None:
    """Before the server begins."""
    app.state.captures = Captures(app.state.memory, app.state.surroundings.wake)


def close(app: FastAPI) -> None:
    """When it ends: no longer than its time."""
    app.state.captures.close(ENDING_SECONDS)
