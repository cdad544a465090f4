"""One at a time: whoever makes a context, or takes one away, does it when nobody else does.

A lock of the operating system on a file below `runtime/`, which is dropped with its holder, however that ends.
"""

from contextlib import AbstractContextManager
from pathlib import Path

from recollect import lock

FOLDER = "contexts"
LOCK = ".lock"


def alone(runtime: Path) -> AbstractContextManager[None]:
    """Waits until nobody else is."""
    return lock.alone(runtime / FOLDER / LOCK)
