"""One module per agent: where its files lie, how to recognise them, and what their records say.

A new source is one module with a `Source`, registered here or by another package through the entry point group
`recollect.sources` (`docs/sources/README.md` shows how).
"""

from functools import cache
from importlib.metadata import entry_points

from recollect.errors import Invalid
from recollect.history.sources.source import (
    BadRecord,
    Computer,
    FileFacts,
    Growth,
    Head,
    Opened,
    Source,
    Transcript,
)

__all__ = [
    "BadRecord",
    "Computer",
    "FileFacts",
    "Growth",
    "Head",
    "Opened",
    "Source",
    "Transcript",
    "broken_sources",
    "comes_later",
    "recognise",
    "source_named",
    "sources",
]

ENTRY_POINT_GROUP = "recollect.sources"
GENERIC = "generic"


def sources() -> dict[str, Source]:
    """Every source known on this computer, in the order in which they are asked to recognise a file."""
    return _loaded()[0]


def broken_sources() -> list[str]:
    """What other packages registered and what could not be loaded, with the reason."""
    return _loaded()[1]


@cache
def _loaded() -> tuple[dict[str, Source], list[str]]:
    from recollect.history.sources.aider import Aider
    from recollect.history.sources.chatgpt import ChatGpt
    from recollect.history.sources.claude_ai import ClaudeAi
    from recollect.history.sources.claude_code import ClaudeCode
    from recollect.history.sources.codex import Codex
    from recollect.history.sources.copilot_cli import CopilotCli
    from recollect.history.sources.cursor import Cursor
    from recollect.history.sources.gemini_cli import GeminiCli
    from recollect.history.sources.generic import Generic
    from recollect.history.sources.openclaw import OpenClaw
    from recollect.history.sources.opencode import OpenCode
    from recollect.history.sources.pi import Pi
    from recollect.history.sources.recollect import RecollectChat
    from recollect.history.sources.telegram import Telegram

    known: list[Source] = [ClaudeCode(), Codex(), ClaudeAi(), ChatGpt(), Pi(), GeminiCli(), CopilotCli(), Cursor()]
    known += [OpenClaw(), OpenCode(), Telegram(), Aider(), RecollectChat()]
    broken: list[str] = []
    for point in entry_points(group=ENTRY_POINT_GROUP):
        try:
            known.append(point.load()())
        except Exception as error:  # noqa: BLE001  another package's code must not stop ours
            broken.append(f"{point.name} ({point.value}): {type(error).__name__}: {error}")
    known.append(Generic())
    return {source.name: source for source in known}, broken


def comes_later(path: str) -> bool:
    """Sessions before their sub-agents and the prompt log, so that what is private in them is known by then."""
    return any(source.comes_later(path) for source in sources().values())


def source_named(name: str) -> Source:
    try:
        return sources()[name]
    except KeyError:
        raise Invalid(f"No source is called {name!r}. Known: {', '.join(sources())}.") from None


def recognise(head: Head, *, is_guess: bool = False) -> Source | None:
    """Whose file this is. A guess, of which not even the name speaks for a transcript, is never called generic."""
    known = [source for source in sources().values() if not (is_guess and source.name == GENERIC)]
    return next((source for source in known if source.recognises(head)), None)
