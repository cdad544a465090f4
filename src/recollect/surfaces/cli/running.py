"""What the commands have in common that run until a signal comes: their log, and an end that nothing can hold up."""

import os
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

LEVELS = ("debug", "info", "warning", "error")
FLUSH_SECONDS = 0.2
"""For the last words to be taken."""


def log_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`is_logged` and `log_level`."""
    level = click.option(
        "--log-level", type=click.Choice(LEVELS), default="info", show_default=True, help="What the log has in it."
    )
    flag = click.option(
        "--log", "is_logged", is_flag=True, help="Write the log in runtime/logs also when this is a terminal."
    )
    return flag(level(command))


@contextmanager
def logged(runtime: Path, name: str, *, is_logged: bool, level: str) -> Generator[None]:
    """Nobody reads along where it is not a terminal, so there is a log."""
    if not is_logged and sys.stdout.isatty():
        yield
        return
    from recollect.logs import open_log

    close = open_log(runtime, level, name=name)
    try:
        yield
    finally:
        close()


def leave(code: int) -> None:
    """End the process now. Threads that are still at work are not waited for: what they had not committed is as if it
    had never been begun. Nor for who does not read what was said: a terminal that was stopped, a pipe that is full."""
    flushing = threading.Thread(target=_flush, name="flushing", daemon=True)
    with suppress(RuntimeError):  # No thread can be begun any more.
        flushing.start()
        flushing.join(FLUSH_SECONDS)
    os._exit(code)


def _flush() -> None:
    for stream in (sys.stderr, sys.stdout):
        with suppress(OSError, ValueError, RuntimeError):
            stream.flush()
