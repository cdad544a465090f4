"""One at a time: whoever makes a context, or takes one away, does it when nobody else does.

A lock of the operating system on a file below `runtime/`, which is dropped with its holder, however that ends. Where no
file can be made there, nothing can be kept either, and everybody goes on without.
"""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from recollect.lock import wait_for_lock

FOLDER = "contexts"
LOCK = ".lock"


@contextmanager
def alone(runtime: Path) -> Generator[None]:
    """Waits until nobody else is."""
    with ExitStack() as stack:
        with suppress(OSError):
            (runtime / FOLDER).mkdir(parents=True, exist_ok=True)
            wait_for_lock(stack.enter_context(open(runtime / FOLDER / LOCK, "a+b")))
        yield
