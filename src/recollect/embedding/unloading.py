"""Memory that models leave behind goes back to the system.

The allocator of Linux keeps what was freed for the next who asks, here some 50 MB, and has a heap for each thread of
which each keeps its own. A program that runs for months and is idle for most of them has one heap, and gives back what
is free when a model was dropped. Elsewhere the system's own allocator does that by itself.
"""

import ctypes
import gc
import sys
from contextlib import suppress

M_ARENA_MAX = -8
"""Of malloc.h."""


def keep_one_heap() -> None:
    """For a program that runs for long; before it has threads."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # Another C library than that of GNU has no such function.
            ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


def give_memory_back() -> None:
    gc.collect()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
