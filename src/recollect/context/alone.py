"""One at a time: whoever makes a context, or takes one away, does it when nobody else does.

A lock of the operating system on a file below `runtime/`, which is dropped with its holder, however that ends. Where no
file can be made there, nothing can be kept either, and everybody goes on without.
"""

import os
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

FOLDER = "contexts"
LOCK = ".lock"


@contextmanager
def alone(runtime: Path) -> Generator[None]:
    """Waits until nobody else is."""
    with ExitStack() as stack:
        with suppress(OSError):
            (runtime / FOLDER).mkdir(parents=True, exist_ok=True)
            _wait_for(stack.enter_context(open(runtime / FOLDER / LOCK, "a+b")))
        yield


if os.name == "nt":  # pragma: no cover
    import msvcrt

    def _wait_for(file: IO[bytes]) -> None:
        while True:
            try:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
            except OSError:  # After ten seconds of waiting.
                continue
            return
else:
    import fcntl

    def _wait_for(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)
