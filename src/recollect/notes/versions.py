"""Notes and their versions, as values."""

import hashlib
import re
from dataclasses import dataclass, field, fields
from enum import StrEnum

from recollect.seen import Seen, mark_of

OUTSIDE = "outside"
"""In the place of an actor: somebody changed a file with a tool of their own. Nobody knows who."""
OPEN, ACCEPTED, UNDONE = "open", "accepted", "undone"
"""Whether somebody should look at a version, has, or has taken it back. Empty: nobody needs to."""
_OWN_REASON = re.compile(r"back to (version \d+|before it was made)|first use|moved to .*|\w+ with the memory tool")
THERE = -1
"""In the place of the version that a writer expects: whichever it is, if only there is one."""
MOST_BYTES = 4_000_000
"""A note that is longer is no note: it is left where it lies, and reported."""


class Action(StrEnum):
    WRITTEN = "written"
    FOUND = "found"
    """A change with another tool, seen on the disk."""
    REMOVED = "removed"
    MOVED = "moved"
    RESTORED = "restored"
    MERGED = "merged"
    """Two changed a status at once, and each field is the later one."""
    KEPT = "kept"
    """The same text once more: another one was found that had never been seen, and came before it."""
    EXPIRED = "expired"
    PROMOTED = "promoted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One state of a note, without its content."""

    path: str
    number: int
    """1, 2, 3 … of this path, in the order in which they stood in the file."""
    scope: str
    at: str
    actor: str
    """One of `scopes.Actor`, or OUTSIDE."""
    actor_name: str = ""
    action: Action
    reason: str = ""
    digest: str
    """Of the content; empty: there was no file."""
    size: int = 0
    moved_from: str = ""
    """The path it came from, when it was moved or promoted."""
    unseen: int = 0
    """The number of the version that it replaced without its writer having seen it. 0: none."""
    review: str = ""

    @property
    def is_gone(self) -> bool:
        return not self.digest

    @property
    def seen(self) -> Seen:
        return Seen(self.number, mark_of(self.digest.encode()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Version):
    """A version with what stands in it."""

    content: bytes = b""

    @property
    def bare(self) -> Version:
        """Without its content."""
        return Version(**{item.name: getattr(self, item.name) for item in fields(Version)})

    @property
    def is_text(self) -> bool:
        return b"\0" not in self.content

    @property
    def is_utf8(self) -> bool:
        try:
            self.content.decode()
        except UnicodeDecodeError:
            return False
        return True

    @property
    def text(self) -> str:
        """What is not UTF-8 shows as a replacement character. Line ends as they are."""
        return self.content.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What became of a write."""

    version: Version
    is_new: bool = True
    """Whether it changed anything: the same text again makes no version."""
    unseen: Version | None = None
    """Somebody else wrote this in between. It is not in the file any more, and stays a version."""
    masked: int = 0
    """How many credentials were masked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something in the folder that cannot be taken as a note. It stays as it is."""

    path: str
    reason: str


@dataclass(slots=True)
class Looked:
    """What a look at the folder found."""

    found: list[Version] = field(default_factory=list[Version])
    """Changes with other tools, now versions."""
    put_back: list[str] = field(default_factory=list[str])
    """Notes that were written elsewhere, or whose folder was lost, and are in their files again."""
    problems: list[Problem] = field(default_factory=list[Problem])


def is_own_reason(reason: str) -> bool:
    """Whether the words are ours, and say nothing of the note."""
    return bool(_OWN_REASON.fullmatch(reason))


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
