"""One parser per agent: where its files lie, how to recognise them, and what their records say.

A parser is a pure function from the bytes of one record to an `Entry`; it opens no file and keeps no state. A new
source is one module with a `Source`, registered here or by another package through the entry point group
`recollect.sources`.
"""

from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Protocol

from recollect.errors import Invalid
from recollect.history.messages import Entry

ENTRY_POINT_GROUP = "recollect.sources"


class BadRecord(ValueError):
    """The bytes are not a record of this source; its text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """What the name and place of a file tell, before it is opened."""

    key: str
    """The path below its root: the same for a live folder and a backup of it."""
    kind: str
    """session, subagent, compaction or prompts."""
    session_id: str = ""
    agent_id: str = ""


class Source(Protocol):
    name: str
    parser_version: int
    """Raised when the same bytes would give other entries: `ingest --reimport` then reads the vault again."""

    def is_candidate(self, path: str) -> bool:
        """Whether a file found in a folder could be one of this source's, by its name alone."""
        ...

    def recognises(self, first_records: list[dict[str, object]]) -> bool:
        """Whether these are records of this source."""
        ...

    def locate(self, path: str, root: str) -> FileFacts: ...

    def parse(self, raw: bytes, facts: FileFacts) -> Entry:
        """Raises BadRecord."""
        ...


@cache
def sources() -> dict[str, Source]:
    """Every source known on this computer, in the order in which they are asked to recognise a file."""
    from recollect.history.sources.claude_code import ClaudeCode
    from recollect.history.sources.generic import Generic

    known: list[Source] = [ClaudeCode()]
    known += [point.load()() for point in entry_points(group=ENTRY_POINT_GROUP)]
    known.append(Generic())
    return {source.name: source for source in known}


def source_named(name: str) -> Source:
    try:
        return sources()[name]
    except KeyError:
        raise Invalid(f"No source is called {name!r}. Known: {', '.join(sources())}.") from None


def recognise(first_records: list[dict[str, object]]) -> Source | None:
    return next((source for source in sources().values() if source.recognises(first_records)), None)
