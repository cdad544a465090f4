"""What was forgotten stays out: the guard at the door of history.

Forgetting leaves keyed hashes behind: of records, of messages, of words, of whole files. Whatever is read is held
against them, so that the same thing does not come back with a longer file, a copy, a backup, an export or the vault.
Of a record that stays out only its place is kept, and a `Remnant`.
"""

from collections.abc import Iterator
from typing import Any, cast

import msgspec

from recollect.database import Session
from recollect.history.messages import Author, Entry
from recollect.lineage import FILE, MESSAGE, Hasher, TombstoneStore, hasher
from recollect.redaction import mask

LINE = "line"
WORDS = "words"
KINDS = (LINE, MESSAGE, WORDS, FILE)
"""Of tombstones that keep something out of history."""

LEAST_CHARACTERS = 24
"""Shorter words are everybody's: that they stand somewhere else does not make that a copy."""
SOME_CHARACTERS = 4
"""Shorter strings in a record are hardly anybody's words."""

_HEAD = "forgotten:"


class Burial:
    """How things are hashed when they are forgotten, and when they are seen again."""

    def __init__(self, hashing: Hasher) -> None:
        self._hash = hashing.hash

    def line(self, digest: int, scope: str = "") -> str:
        """`scope`: for a record that only its place tells from others of the same bytes, the head of its file."""
        return self._hash(LINE, str(digest), scope)

    def message(self, message_id: str) -> str:
        return self._hash(MESSAGE, message_id)

    def prompt(self, near: str, text: str) -> str:
        """Words that were typed in a session or, where none is known, in a minute."""
        return self._hash(WORDS, "prompt", near, text)

    def said(self, author: str, at: str, text: str) -> str:
        """The same words by the same author at the same moment are a copy under another id. Only where records have
        ids are times good enough to tell."""
        return self._hash(WORDS, "said", author, at, text)

    def words(self, session_id: str, text: str) -> str:
        """Words that stand alone in a record of the session they were said in; without a session, of any."""
        return self._hash(WORDS, "text", session_id, text)

    def file(self, source: str, key: str, mark: str) -> str:
        """`mark`: its session, or its head; two files of one name may have nothing else in common."""
        return self._hash(FILE, source, key, mark)

    def head(self, head: str) -> str:
        """The digest of a first line that may not be told."""
        return head if not head or head.startswith(_HEAD) else _HEAD + self._hash("head", head)


class Buried(Burial):
    """What may not come back to a house, as it was when a file was opened."""

    def __init__(self, hashing: Hasher, hashes: set[str]) -> None:
        super().__init__(hashing)
        self._hashes = hashes
        self.number = len(hashes)

    def has_line(self, digest: int, scope: str = "") -> bool:
        return self.line(digest) in self._hashes or (bool(scope) and self.line(digest, scope) in self._hashes)

    def has_message(self, message_id: str) -> bool:
        return self.message(message_id) in self._hashes

    def has_file(self, source: str, key: str, *marks: str) -> bool:
        return any(self.file(source, key, mark) in self._hashes for mark in marks if mark)

    def has_entry(self, entry: Entry, raw: bytes, *, is_prompt: bool) -> bool:
        """Whether what a record says was forgotten, though its bytes may be others. Its text is masked already."""
        if entry.key and self.has_message(entry.key):
            return True
        if is_prompt:
            return self.prompt(entry.session_id or (entry.at or "")[:16], entry.text) in self._hashes
        if entry.key and entry.author in (Author.USER, Author.ASSISTANT):
            is_long = len(entry.text) >= LEAST_CHARACTERS and entry.uuid
            return bool(is_long) and self.said(entry.author, entry.at or "", entry.text) in self._hashes
        return any(
            self.words(entry.session_id, text) in self._hashes
            or (not entry.key and len(text) >= LEAST_CHARACTERS and self.words("", text) in self._hashes)
            for text in strings_of(raw, bool(entry.key))
        )


def buried_in(session: Session, house: str) -> Buried | None:
    """None: nothing of this house's history was ever forgotten."""
    hashing = hasher(session, house)
    hashes = TombstoneStore(session, house).every(KINDS) if hashing else set[str]()
    return Buried(hashing, hashes) if hashing and hashes else None


def is_buried(session: Session, house: str, message_id: str) -> bool:
    """Whether a message of this id was forgotten."""
    hashing = hasher(session, house)
    return hashing is not None and bool(TombstoneStore(session, house).buried([Burial(hashing).message(message_id)]))


def strings_of(raw: bytes, only_long: bool) -> Iterator[str]:
    """Every string of a record that may be somebody's words, as it stands there and masked."""
    try:
        found = _strings(msgspec.json.decode(raw))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found = iter([raw.decode("utf-8", "replace")])
    for text in found:
        if len(text) >= (LEAST_CHARACTERS if only_long else SOME_CHARACTERS):
            yield text
            masked = mask(text)
            if masked != text:
                yield masked


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in cast(dict[str, Any], value).values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in cast(list[Any], value):
            yield from _strings(item)


class Remnant(msgspec.Struct, omit_defaults=True):
    """What is left of a forgotten record: nothing that it said, only what the records after it lean on when the file
    is read again from the vault, such as the time, the folder, and where the record stood in a tree."""

    entry: Entry
    memory: dict[str, str] = {}
    """What the source remembered after it."""
    message: str = ""
    """A keyed hash of the id of its message."""

    def to_bytes(self) -> bytes:
        return msgspec.json.encode(self)


def remnant_of(entry: Entry, memory: dict[str, str], message: str) -> Remnant:
    left = Entry(
        kind=entry.kind,
        at=entry.at,
        uuid="" if memory else entry.uuid,  # Where records do not stand alone it may be made of the words.
        session_id=entry.session_id,
        agent_id=entry.agent_id,
        cwd=entry.cwd,
        stream=entry.stream,
        author=entry.author,
        standing=entry.standing,
        counted_blocks=entry.counted_blocks,
        parent_id=entry.parent_id,
        links=entry.links,
        queue=entry.queue,
        own=entry.own,
        back_to=entry.back_to,
        back_turns=entry.back_turns,
        left=entry.left,
        follows=entry.follows,
    )
    return Remnant(entry=left, memory=dict(memory), message=message)


def read_remnant(raw: bytes) -> Remnant | None:
    """None: the record could not even be read."""
    return msgspec.json.decode(raw, type=Remnant) if raw else None
