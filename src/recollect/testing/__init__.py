"""For the tests of programs that use Recollect, and for our own: a clock that stands still, a house that vanishes, a
model that answers what a test wrote, and servers on this computer that stand in for a provider of models, or Telegram.

Model and servers are imported when they are asked for: a test that needs only a clock does not pay for them.
"""

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import TYPE_CHECKING

from recollect.memory import Memory, open_memory

if TYPE_CHECKING:
    from recollect.testing.anthropic_server import AnthropicServer
    from recollect.testing.loopback import LoopbackServer
    from recollect.testing.openai_server import OpenAIServer
    from recollect.testing.scripted import ScriptedModel
    from recollect.testing.scripted_talk import ScriptedTalk
    from recollect.testing.telegram_server import TelegramServer

__all__ = [
    "NOON",
    "AnthropicServer",
    "FrozenClock",
    "LoopbackServer",
    "OpenAIServer",
    "ScriptedModel",
    "ScriptedTalk",
    "TelegramServer",
    "temporary_memory",
]

_MODULES = {
    "AnthropicServer": "recollect.testing.anthropic_server",
    "LoopbackServer": "recollect.testing.loopback",
    "OpenAIServer": "recollect.testing.openai_server",
    "ScriptedModel": "recollect.testing.scripted",
    "ScriptedTalk": "recollect.testing.scripted_talk",
    "TelegramServer": "recollect.testing.telegram_server",
}

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


class FrozenClock:
    """Shows the same time until it is moved."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        """`clock.move(minutes=61)`"""
        self.now += timedelta(**by)


@contextmanager
def temporary_memory(clock: FrozenClock | None = None, database: str | None = None) -> Generator[Memory]:
    """A Memory in a home of its own that is gone afterwards."""
    with (
        tempfile.TemporaryDirectory(prefix="recollect-") as home,
        open_memory(home, database, clock or FrozenClock()) as memory,
    ):
        yield memory


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
