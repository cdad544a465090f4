"""Recollect gives an AI assistant a life that does not vanish.

    import recollect

    with recollect.open() as memory:
        memory.history.ingest(["~/.claude/projects"])
        for listed in memory.history.conversations(limit=5):
            print(listed.title)

Names are loaded when they are first used, so that a small command starts fast.
"""

from typing import TYPE_CHECKING, Any

from recollect.errors import Conflict, Corrupt, Denied, Invalid, NotFound, RecollectError, Unavailable

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.memory import open_memory as open

__version__ = "0.1.0"

__all__ = [
    "Conflict",
    "Corrupt",
    "Denied",
    "Invalid",
    "Memory",
    "NotFound",
    "RecollectError",
    "Unavailable",
    "__version__",
    "open",
]


def __getattr__(name: str) -> Any:
    if name in ("Memory", "open"):
        from recollect import memory

        return memory.Memory if name == "Memory" else memory.open_memory
    raise AttributeError(f"module 'recollect' has no attribute {name!r}")
