"""Lines of notes: which of them came from something else, so that they go with it. Pure.

A line is known by its words in its note. Where it stands does not count, nor the white space around it, nor what makes
it an item of a list, a quote or something that was done: a line that was ticked off is the same line. What has no
letter and no digit says nothing and comes from nowhere.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from recollect.lineage import Edge

NOTE = "note"
"""The kind of a note among what can be forgotten."""
NOTE_LINE = "note_line"
"""The kind of a line in lineage, and of its tombstone."""
NOTE_TEXT = "note_text"
"""The kind of the tombstone of a whole text of a note."""
NOTE_NUMBER = "note_number"
"""The kind of the tombstone of how far the versions of a note were counted."""
DIGEST_DIGITS = 32
_ANCHOR = re.compile(rb"<!--[a-z]:[0-9a-f.-]+-->")
_ANCHORS_OF_TEXT = re.compile(r"(?:(?<![ \t])[ \t]+)?<!--[a-z]:[0-9a-f.-]{1,80}-->")
"""By which the librarian knows a line as its own: an id, which stays elsewhere as the id of something forgotten."""
_MARKS = re.compile(rb"^(?:(?:[-*+>]|\d{1,9}[.)]|\[[ xX]\])\s+)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a line was written from."""

    kind: str
    """`lineage.MESSAGE` or `lineage.RECORD`."""
    id: str


Origins = Callable[[str, str], Iterable[tuple[str, Source]]]
"""(old text, new text) → (line, what it was written from), where the lines of one change have sources of their own."""


def own_edges(path: str, pairs: Iterable[tuple[str, Source]]) -> list[Edge]:
    """From each line's own source to the line, as far as it says something."""
    found: list[Edge] = []
    for line, source in pairs:
        words = compared(line.encode("utf-8", "surrogatepass"))
        if words:
            found.append(Edge(source.kind, source.id, NOTE_LINE, line_id(path, words)))
    return found


def line_edges(path: str, old_text: str | None, new_text: str, sources: Sequence[Source]) -> list[Edge]:
    """From each source to each line that this change of a note added. None: the note is new."""
    if not sources:
        return []
    before = set(words_of((old_text or "").encode("utf-8", "surrogatepass")))
    after = dict.fromkeys(words_of(new_text.encode("utf-8", "surrogatepass")))
    added = [line_id(path, line) for line in after if line not in before]
    return [Edge(source.kind, source.id, NOTE_LINE, line) for source in sources for line in added]


def line_id(path: str, line: bytes) -> str:
    """`line`: as `words_of` gives it."""
    return f"{path}#{hashlib.sha256(line).hexdigest()[:DIGEST_DIGITS]}"


def path_of(line: str) -> str:
    """The note that a line, by its id, stands in. A path may have a `#` of its own."""
    return line.rpartition("#")[0]


def words_of(content: bytes) -> Iterator[bytes]:
    """The lines of a note that say something, as they are compared."""
    for line in content.splitlines():
        words = compared(line)
        if words:
            yield words


def compared(line: bytes) -> bytes:
    """A line without the white space around it and the marks before it; empty where it says nothing."""
    words = _MARKS.sub(b"", line.strip())
    return words if any(character.isalnum() for character in words.decode("utf-8", "replace")) else b""


def unanchored(line: bytes) -> bytes:
    """What a line says in words."""
    return _ANCHOR.sub(b"", line)


def readable_text(text: str) -> str:
    """A note as it is read: without the anchors, which only cost whoever is shown them."""
    return _ANCHORS_OF_TEXT.sub("", text) if "<!--" in text else text


def without(content: bytes, lines: Iterable[bytes]) -> bytes:
    """A note without these lines, and otherwise as it was to the byte."""
    gone = set(lines)
    return b"".join(line for line in content.splitlines(keepends=True) if compared(line) not in gone)
