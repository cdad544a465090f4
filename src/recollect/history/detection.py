"""Whose format a file has, told by its beginning."""

from dataclasses import dataclass
from typing import BinaryIO

from recollect.database.foreign import MAGIC, tables_of
from recollect.errors import Unreadable
from recollect.history.records import strip_padding
from recollect.history.sources import BadRecord, FileFacts, Head, Source, recognise, sources
from recollect.history.sources.source import FIRST_RECORDS

FIRST_BYTES = 32_768
MORE_BYTES = 16 << 20
"""Read only when the first bytes do not tell: a first line may be longer than they are."""
_PADDING = b"\x00 \t\r\n\xef\xbb\xbf"


class Unrecognised(Unreadable):
    """No source knows this file."""


def detect(path: str, opened: BinaryIO, database: str = "", *, is_guess: bool = False) -> Source | None:
    """The source of a file; None while nothing whole is written. Raises Unrecognised with a next step.

    `database` is where the file itself lies. `is_guess`: nothing in its name says that it is a transcript.
    """
    head = Head(path, b"")
    for length in (FIRST_BYTES,) if is_guess else (FIRST_BYTES, MORE_BYTES):
        opened.seek(0)
        head = Head(path, opened.read(length), _tables(opened, database))
        source = recognise(head, is_guess=is_guess)
        if source:
            return source
    if not head.start.strip(_PADDING) or _is_being_written(head):
        return None
    raise Unrecognised(_explanation(head))


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstFacts:
    """What a file says first of where and when: its very first records often say neither."""

    cwd: str = ""
    at: str = ""


def first_facts(opened: BinaryIO, source: Source, facts: FileFacts) -> FirstFacts:
    opened.seek(0)
    cwd = at = ""
    for line in opened.read(FIRST_BYTES * 8).split(b"\n", FIRST_RECORDS)[:FIRST_RECORDS]:
        try:
            entry = source.parse(strip_padding(line)[1], facts)
        except BadRecord:
            continue
        cwd, at = cwd or entry.cwd, at or entry.at or ""
        if cwd and at:
            break
    return FirstFacts(cwd=cwd, at=at)


def _tables(opened: BinaryIO, database: str) -> frozenset[str]:
    opened.seek(0)
    return tables_of(database) if database and opened.read(len(MAGIC)) == MAGIC else frozenset()


def _is_being_written(head: Head) -> bool:
    """Whether a first line, or a document of several lines, has begun and not ended."""
    text = head.start.strip(_PADDING)
    if text in (b"[]", b"{}"):
        return True  # An export in which there is nothing yet.
    if text[:1] not in (b"{", b"[") or head.records:
        return False
    if text[:1] == b"{" and b"\n" not in head.start.lstrip(_PADDING):
        return True
    is_document = head.is_array or text.partition(b"\n")[0].strip() == b"{"
    return is_document and text[-1:] not in (b"]", b"}") and len(text) < FIRST_BYTES // 2


def _explanation(head: Head) -> str:
    known = ", ".join(sources())
    if head.tables:
        return f"{head.name} is a database of an unknown program (tables: {_some(head.tables)}). Known: {known}."
    if b"\x00" in head.start[:1024] or _is_binary(head.start[:4096]):
        return f"{head.name} is a binary file, not a transcript. Give a folder of transcripts or a .jsonl file."
    if head.records:
        keys = ", ".join(list(head.records[0])[:6])
        return (
            f"{head.name} has JSON lines of an unknown kind (keys: {keys}). Known sources: {known}; "
            "--source forces one."
        )
    if head.is_array:
        lines = f"{head.name.removesuffix('.json').removesuffix('.jsonl')}.lines.jsonl"
        return (
            f"{head.name} is a JSON array of an unknown kind (fields: {_some(head.keys)}). Known sources: {known}. "
            f"If its objects are JSON lines, write one a line (jq -c '.[]' {head.name} > {lines}) and ingest that."
        )
    if head.keys:
        return f"{head.name} is a JSON document of an unknown kind (fields: {_some(head.keys)}). Known: {known}."
    return f"{head.name} has no JSON lines. Known sources: {known}."


def _some(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)[:6]) or "none"


def _is_binary(block: bytes) -> bool:
    try:
        block.decode()
    except UnicodeDecodeError as error:
        return error.start < len(block) - 4
    return False
