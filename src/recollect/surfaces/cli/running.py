"""What the commands have in common that run until a signal comes: a log, words that nobody may read, and an end that
nothing can hold up.
"""

import io
import logging
import os
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

import click

from recollect.errors import RecollectError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from recollect.surfaces.cli.place import Place

LEVELS = ("debug", "info", "warning", "error")
FLUSH_SECONDS = 0.2
"""For the last words to be taken."""

log = logging.getLogger("recollect.running")


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
def going_on(place: "Place", name: str, check: Callable[[], object], *, is_logged: bool, level: str) -> Generator[None]:
    """For a command that goes on until a signal comes, whoever reads its words. Why it does not stands at the end of
    its log. `check` raises what is wrong with the settings: that makes no home."""
    from recollect.listening import allow_more_files

    allow_more_files()
    with unheard(), _logged(place, name, check, is_logged=is_logged, level=level):
        yield


@contextmanager
def _logged(place: "Place", name: str, check: Callable[[], object], *, is_logged: bool, level: str) -> Generator[None]:
    """Nobody reads along where it is not a terminal, so there is a log."""
    if not is_logged and sys.stdout.isatty():
        yield
        return
    from recollect.logs import open_log
    from recollect.settings import RUNTIME

    home = place.folder()
    if not home.is_dir():
        check()
    close = open_log(home / RUNTIME, level, name=name)
    try:
        yield
    except RecollectError as error:
        log.error("%s", error)
        raise
    except Exception:
        log.exception("it died")
        raise
    finally:
        close()


class Unheard(io.FileIO):
    """A stream whose reader may leave, or whose disk may be full: what cannot be written is lost."""

    def write(self, words: "ReadableBuffer") -> int:
        try:
            return super().write(words)
        except OSError:
            return memoryview(words).nbytes


@contextmanager
def unheard() -> Generator[None]:
    """The terminal, the pipe or the disk that takes the words of this process may be gone at any time: it goes on."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(_unheard, before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _unheard(stream: TextIO) -> TextIO:
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    if not isinstance(raw, io.FileIO):  # The console of Windows, for example, does not go away.
        return stream
    own = Unheard(raw.fileno(), "wb", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(own), encoding=stream.encoding, errors="replace", line_buffering=True)


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
