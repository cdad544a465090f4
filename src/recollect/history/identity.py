"""Which known file lies at a path, and how it changed since it was read.

A file is known by its key and by its content, not by its absolute path: a backup and the live folder are one, a moved
file is the same file. Content is compared by the digests of a few of its records, of all of them when only the
modification time changed.
"""

import hashlib
import os
from dataclasses import dataclass
from enum import Enum, auto
from itertools import chain
from typing import BinaryIO

from recollect.history.burial import Buried
from recollect.history.fold_state import FoldState
from recollect.history.opening import Status, Stream, inode_of
from recollect.history.records import strip_padding
from recollect.history.sources import FileFacts, Source
from recollect.history.store import CONTAINER, THIS_HOST, UNREAD, File, FileStore, LineStore, SeenPath
from recollect.history.store.lines import Probe
from recollect.history.vault import digest_of
from recollect.ids import derived_id

HEAD_BYTES = 65_536
PROBES = 8
"""Records compared, spread over what was read, before a longer file is believed to have only grown."""


class Change(Enum):
    NONE = auto()
    GROWN = auto()
    REWRITTEN = auto()


@dataclass(slots=True)
class Sighting:
    """A file at a path, and what is to be done about it."""

    file: File
    change: Change
    is_new: bool = False
    is_reimport: bool = False
    """It is read again because the user wants it, not because it changed."""


def head_of(opened: BinaryIO) -> str:
    """Digest of the first line, cut at 64 KiB; empty while there is no whole line and no whole record."""
    opened.seek(0)
    block = opened.read(HEAD_BYTES)
    line, newline, _ = block.partition(b"\n")
    if not newline and len(block) < HEAD_BYTES and not block.rstrip(b"\x00 \r\t").endswith(b"}"):
        return ""
    return hashlib.blake2b(line.rstrip(b"\r"), digest_size=12).hexdigest() if line else "empty"


def is_unchanged(seen: SeenPath, status: Status) -> bool:
    return (
        seen.size == status.st_size
        and seen.inode == inode_of(status)
        and seen.mtime_ns in (status.st_mtime_ns, -status.st_ctime_ns)
    )


def seen_at(path: str, file_id: str, status: Status) -> SeenPath:
    return SeenPath(path, file_id, status.st_size, status.st_mtime_ns, inode_of(status))


def unfinished_sighting(path: str, file_id: str, status: Status) -> SeenPath:
    """A file that is being read, or that another program locks: never unchanged, but known."""
    return SeenPath(path, file_id, -1, 0, inode_of(status))


def failed_sighting(path: str, file_id: str, status: Status) -> SeenPath:
    """A file that could not be read is tried again when it changes, its permissions included: that is its ctime."""
    return SeenPath(path, file_id, status.st_size, -status.st_ctime_ns, inode_of(status))


class Identity:
    def __init__(self, files: FileStore, lines: LineStore, buried: Buried | None = None) -> None:
        self._files = files
        self._lines = lines
        self._buried = buried

    def sight(self, found: Stream, seen: SeenPath | None) -> Sighting:
        head = head_of(found.file)
        source, facts, path = found.source, found.facts, found.path
        known = self._files.get(seen.file_id) if seen else None
        if known and known.source != source.name:
            known = None
        if known and (known.host, known.path) == (THIS_HOST, path):
            return Sighting(known, self._change(known, found))
        same = self._with_its_key(found) if facts.is_unique else None
        if same is None and not found.is_derived:
            same = self._with_its_content(found, head, known)
        return same or Sighting(self._new_file(path, head, source, facts), Change.GROWN, is_new=True)

    def _with_its_key(self, found: Stream) -> Sighting | None:
        """A text of a transcript that is known by its key alone: the same, longer, older, or rewritten."""
        texts = self._files.with_key(found.source.name, found.facts.key)
        if texts and not head_of(found.file):
            return Sighting(texts[0], Change.NONE)  # Its first line is being written.
        for file in texts:
            if self._is_alike(file, found, min(found.size, file.read_to)):
                is_newer = found.version > FoldState.from_json(file.state).version
                if (is_newer or found.is_partial) and found.size < file.read_to:
                    break  # The same, but its end was deleted or made shorter.
                return self._same_file(file, found.path, found.size, found.facts)
        for file in texts:
            is_here = (file.host, file.path) == (THIS_HOST, found.path)
            if found.version or is_here or not self._files.is_anywhere(file.id):
                if found.version < FoldState.from_json(file.state).version:
                    return Sighting(file, Change.NONE)
                file.host, file.path = THIS_HOST, found.path
                return Sighting(file, Change.REWRITTEN)
        return None

    def _with_its_content(self, found: Stream, head: str, known: File | None) -> Sighting | None:
        size, facts = found.size, found.facts
        for file in self._candidates(head, found.source.name, facts, found.inode, known):
            is_copy_of_it = file.name == facts.key.rpartition("/")[2]
            is_inside = bool(found.container_id or file.container_id)  # There nothing tells whether it was renamed.
            is_renamed = not is_inside and size >= file.read_to and not self._files.is_anywhere(file.id)
            if (is_copy_of_it or is_renamed) and self._is_alike(file, found, min(size, file.read_to)):
                return self._same_file(file, found.path, size, facts)
        return None

    def _candidates(self, head: str, source: str, facts: FileFacts, inode: int, known: File | None) -> list[File]:
        heads = [head] if not self._buried else [head, self._buried.head(head)]
        found = [
            file
            for one in heads
            if one
            for file in self._files.like_it(one, source, facts.session_id, facts.agent_id, inode)
        ]
        return [known, *(file for file in found if file.id != known.id)] if known else found

    def _change(self, file: File, found: Stream) -> Change:
        if found.size < file.read_to or not self._is_alike(file, found, file.read_to):
            return Change.REWRITTEN
        return Change.GROWN if found.size > file.read_to else Change.NONE

    def _is_alike(self, file: File, found: Stream, up_to: int) -> bool:
        """Whether both have the same records up to here. Where records never change a few are believed for all."""
        if found.is_derived and file.counts.private:
            return False  # What stayed out left no digest: nothing tells whether it is still there.
        if found.is_derived or found.size == file.read_to:
            probes = self._lines.digests(file.id, file.generation, up_to)
        else:
            probes = iter(self._lines.probes(file.id, file.generation, up_to, PROBES))
        first = next(probes, None)
        if first is None and file.read_to and up_to:
            head = head_of(found.file)
            return file.head in (head, self._buried.head(head) if self._buried else head)
        return all(_is_at(found.file, probe) for probe in chain([first] if first else [], probes))

    def _same_file(self, file: File, path: str, size: int, facts: FileFacts) -> Sighting:
        """The most complete copy is the one that is read from here on; the key follows a file that moved."""
        has_moved = file.host == THIS_HOST and not os.path.exists(file.path)
        if has_moved and size >= file.read_to and file.key != facts.key:
            file.key, file.copy = facts.key, self._free_copy(file.source, facts.key)
        if size > file.read_to or (has_moved and size == file.read_to):
            file.host, file.path = THIS_HOST, path
        return Sighting(file, Change.GROWN if size > file.read_to else Change.NONE)

    def _new_file(self, path: str, head: str, source: Source, facts: FileFacts) -> File:
        copy = self._free_copy(source.name, facts.key)
        return File(
            id=_file_id(source.name, facts.key, copy),
            source=source.name,
            key=facts.key,
            copy=copy,
            host=THIS_HOST,
            path=path,
            kind=facts.kind,
            session_id=facts.session_id,
            agent_id=facts.agent_id,
            head=head,
        )

    def _free_copy(self, source: str, key: str) -> int:
        """The first number that no file has: neither under this key nor, after a move, under its id."""
        taken = {file.copy for file in self._files.with_key(source, key)}
        copy = 0
        while copy in taken or self._files.get(_file_id(source, key, copy)):
            copy += 1
        return copy


def unread_file(path: str) -> File:
    """Stands for a file of which nothing could be read yet, so that it is known to have failed."""
    return File(
        id=_file_id(UNREAD, f"{THIS_HOST}:{path}", 0),
        source=UNREAD,
        key=path,
        copy=0,
        host=THIS_HOST,
        path=path,
        kind="",
        session_id="",
        agent_id="",
    )


def container_file(path: str, source: str) -> File:
    """Stands for a file that holds many transcripts."""
    key = f"{THIS_HOST}:{path}"
    return File(
        id=_file_id(CONTAINER, f"{source}:{key}", 0),
        source=source,
        key=key,
        copy=0,
        host=THIS_HOST,
        path=path,
        kind=CONTAINER,
        session_id="",
        agent_id="",
    )


def file_without_place(source: str, facts: FileFacts) -> File:
    """A transcript that lies in the vault alone."""
    return File(
        id=_file_id(source, facts.key, 0),
        source=source,
        key=facts.key,
        copy=0,
        host=THIS_HOST,
        path="",
        kind=facts.kind,
        session_id=facts.session_id,
        agent_id=facts.agent_id,
    )


def _file_id(source: str, key: str, copy: int) -> str:
    return derived_id("file", source, key, str(copy))


def _is_at(opened: BinaryIO, probe: Probe) -> bool:
    """Whether a record stands where it stood. Of a forgotten one only its length is known."""
    opened.seek(probe.start_byte)
    raw = opened.read(probe.length)
    if probe.digest:
        return digest_of(strip_padding(raw)[1]) == probe.digest
    return len(raw) == probe.length and b"\n" not in raw and opened.read(1) in b"\x00 \t\r\n{"
