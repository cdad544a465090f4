"""What a source is: one kind of place where conversations live.

A source says how its files are recognised, where they usually lie, how they change, and what one record means. `parse`
is a pure function from the bytes of one record to an `Entry`: it opens no file and keeps no state.

Most agents append JSON lines: then the lines of the file are the records, and nothing more is needed. A source with
other files (one JSON document, Markdown, a database) overrides `transcripts`, which gives the same content as records,
a line of JSON each: from there on every source takes the same road.
"""

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import BinaryIO, ClassVar, cast

import msgspec

from recollect.history.messages import Entry
from recollect.history.records import strip_padding
from recollect.settings import Computer

__all__ = ["BadRecord", "Computer", "FileFacts", "Growth", "Head", "Opened", "Source", "Transcript", "key_below"]

FIRST_RECORDS = 30


class BadRecord(ValueError):
    """The bytes are not a record of this source; its text says why."""


class Growth(StrEnum):
    """How a file of a source changes."""

    APPENDED = "appended"
    REWRITTEN = "rewritten whole"
    UPDATED = "updated in place"
    EXPORTED = "exported again"
    """A person asks for it; each export has everything, or a stretch of time, once more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """What the name and place of a transcript tell, before it is opened."""

    key: str
    """The path below its root: the same for a live folder and a backup of it. Or, if `is_unique`, its own id."""
    kind: str
    """session, subagent, compaction or prompts."""
    session_id: str = ""
    agent_id: str = ""
    cwd: str = ""
    """The project, when only the place of the file tells it."""
    is_unique: bool = False
    """The key alone says which transcript it is, wherever it lies and however it is packed."""
    version: str = ""
    """See `Transcript.version`; for a form of the file that replaces an older form."""


_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:]', re.DOTALL)


@dataclass(frozen=True)
class Head:
    """The beginning of a file, unpacked: what a source is recognised by."""

    path: str
    """Without the ending of what it is packed in."""
    start: bytes
    tables: frozenset[str] = frozenset()
    """The tables of a database; empty for every other file."""

    @cached_property
    def name(self) -> str:
        return self.path.replace("\\", "/").rpartition("/")[2]

    @cached_property
    def records(self) -> list[dict[str, object]]:
        """The first lines that are JSON objects; none in a document that takes several lines."""
        found: list[dict[str, object]] = []
        if self.is_array or self.start.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0].strip() == b"{":
            return found
        for line in self.start.split(b"\n", FIRST_RECORDS)[:FIRST_RECORDS]:
            try:
                value = msgspec.json.decode(strip_padding(line)[1])
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if isinstance(value, dict):
                found.append(cast(dict[str, object], value))
        return found

    @cached_property
    def is_array(self) -> bool:
        return self.start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["

    @cached_property
    def keys(self) -> frozenset[str]:
        """The fields of a JSON document that begins here: of its object, or of the first object of its array."""
        return frozenset(_outer_keys(self.start, 2 if self.is_array else 1))


def _outer_keys(start: bytes, level: int) -> Iterator[str]:
    depth, previous = 0, b""
    for match in _TOKEN.finditer(start):
        token = match[0]
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            if depth == level:
                return
            depth -= 1
        elif token == b":" and depth == level and previous[:1] == b'"':
            yield previous[1:-1].decode("utf-8", "replace")
        previous = token


@dataclass(slots=True)
class Opened:
    """A file that is being read, unpacked."""

    path: str
    """Where it lies, without the ending of what it is packed in; inside an archive, the name of the entry."""
    file: BinaryIO
    report: Callable[[str], None]
    """Tell the user of a part that cannot be read; the rest is."""
    database: str = ""
    """Where the file itself lies, for a source that must open it with a library of its own."""


@dataclass(slots=True, kw_only=True)
class Transcript:
    """One conversation partner's record, as JSON lines."""

    facts: FileFacts
    records: Iterable[bytes]
    """Each one JSON object without a line end in it. May raise Unreadable when the rest cannot be read: what came
    before is kept if nothing of this transcript is known yet."""
    version: str = ""
    """Sorts with the age of the text: an older text of a known transcript changes nothing, the same one is not read."""
    order: Callable[[bytes], tuple[int, str]] | None = None
    """For a text that may hold only a part of the transcript: the place of a record in the whole. What is known and
    not in this text stays; a record with the same place is replaced."""


def key_below(path: str, root: str) -> str:
    return os.path.relpath(path, root).replace(os.sep, "/")


class Source(ABC):
    name: ClassVar[str]
    title: ClassVar[str]
    """As people call it."""
    parser_version: ClassVar[int] = 1
    """Raised when the same bytes would give other entries: `ingest --reimport` then reads the vault again."""
    growth: ClassVar[Growth] = Growth.APPENDED
    goes_on_elsewhere: ClassVar[bool] = False
    """Going back in a session begins a second file, which says from where in the first it goes on (`Entry.left`)."""
    holds_many: ClassVar[bool] = False
    """A file of this source holds many transcripts, each of them known by its own key."""

    def places(self, computer: Computer) -> list[str]:
        """Folders and files where its transcripts usually lie; they need not exist."""
        return []

    @abstractmethod
    def is_candidate(self, path: str) -> bool:
        """Whether a file found in a folder could be one of this source's, by its name alone. Asked very often."""

    def leaves_out(self, path: str) -> str:
        """Why a file that looks like a transcript by its name is none, for any source; empty: it may be one."""
        return ""

    def comes_later(self, path: str) -> bool:
        """Whether a file is read after the others: a sub-agent's after its session, which tells what is private."""
        return False

    @abstractmethod
    def recognises(self, head: Head) -> bool:
        """Whether this is a file of this source."""

    def locate(self, path: str, root: str) -> FileFacts:
        return FileFacts(key=key_below(path, root), kind="session")

    def refine(self, facts: FileFacts, head: Head) -> FileFacts:
        """What the beginning of a file of JSON lines adds to what its name tells."""
        return facts

    def transcripts(self, opened: Opened, facts: FileFacts) -> Iterator[Transcript] | None:
        """What a file that does not consist of JSON lines holds; None: its lines are the records.

        Raises Unreadable; what was given before is kept.
        """
        return None

    @abstractmethod
    def parse(self, raw: bytes, facts: FileFacts) -> Entry:
        """Raises BadRecord."""

    def settle(self, entry: Entry, memory: dict[str, str]) -> None:  # noqa: B027  most records stand alone
        """Complete an entry by what earlier records of its file said, for sources whose records do not stand alone.

        Called for each entry in the order of the file, before it is used. `memory` is kept with the file.
        """
