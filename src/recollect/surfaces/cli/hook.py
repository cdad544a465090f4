"""hook: what a coding agent's hook runs where no daemon answers."""

import os
import signal
import sys
import threading
from contextlib import suppress

import click

from recollect.surfaces.cli.place import Place

BEGINNING_SECONDS = 10
"""Within which a session that begins is answered, or is not: an agent waits for it. It takes less than one, unless the
computer has much else to do."""
CAPTURING_SECONDS = 600
NOTING_SECONDS = 1.5
"""For noting what was shown, when the answer is given. The agent still waits for this process."""


@click.command()
@click.argument("tool", metavar="TOOL")
@click.argument("event", metavar="EVENT")
@click.option("--agent", default="", metavar="NAME", help="As this agent sees it. Default: the name of the tool.")
@click.option(
    "--within",
    type=click.IntRange(1, 3600),
    default=BEGINNING_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="At the beginning of a session: answer by then, or not at all.",
)
@click.pass_obj
def hook(place: Place, tool: str, event: str, agent: str, within: int) -> None:
    """Answer a hook of a coding agent.

    Reads the hook's JSON from standard input and prints the answer, if there is any. `recollect install` lets agents
    call it where no daemon runs.
    """
    from recollect.errors import RecollectError
    from recollect.surfaces.hooks.answering import answer, hook_named, note_shown
    from recollect.surfaces.hooks.capturing import capture
    from recollect.surfaces.hooks.tools import BEGINNING

    named = hook_named(tool, event, agent or tool)
    is_awaited = event == BEGINNING
    _limit(within if is_awaited else CAPTURING_SECONDS)
    if not is_awaited:
        with suppress(OSError):  # An agent that ends takes its whole group of processes with it.
            os.setsid()
    given = sys.stdin.buffer.read()
    with place.open() as memory:
        found = answer(memory, named, given)
        if found.output:
            sys.stdout.buffer.write(found.output.encode() + b"\n")
            sys.stdout.buffer.flush()
        if found.shown:
            _end_well_within(NOTING_SECONDS)
            note_shown(memory, found.shown)
        if found.transcript and capture(memory, named.tool, found.transcript):
            with suppress(RecollectError):  # No session waits for the index when it begins, and here nobody waits.
                memory.recall.catch_up()


def _limit(seconds: int) -> None:
    """The system ends us then, whatever we wait for. What is written is written whole, so nothing is left half done."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _end_well_within(seconds: float) -> None:
    """The answer is out, and who reads it takes it only from a process that ends well. By a thread: while a database is
    waited for, no handler of a signal would run."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    ending = threading.Timer(seconds, os._exit, (0,))
    ending.daemon = True
    ending.start()
