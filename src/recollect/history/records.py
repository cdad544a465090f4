"""From the bytes of a line to the JSON records in it.

A line normally holds one object. Broken files hold two objects on one line, a record cut short with the next one
spliced on, NUL padding before a record, or no JSON at all: what can be read is read, what cannot is kept as it is
and reported. Nothing here knows what a record means.
"""

import json
import re
from collections import deque
from dataclasses import dataclass
from typing import Any

_DECODER = json.JSONDecoder()
_RECORD_START = re.compile(
    r'\{"(?:type|parentUuid|uuid|sessionId|timestamp|messageId|leafUuid|isSidechain|operation|display|role|id)"\s*:'
)
_MARKS = frozenset(
    {"uuid", "sessionId", "timestamp", "leafUuid", "messageId", "operation", "snapshot", "session", "at"}
)
FORGOTTEN = "(forgotten)"
"""The kind of a record of which only the place is left."""
MAX_SPLICE_TRIES = 40
"""A broken line is searched for a whole record at its end this many times, then kept as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """A part of a line that is not one plain record."""

    offset: int
    """In bytes, from the start of the line."""
    raw: bytes
    whole: bool
    """Whether it is a readable record, or the unreadable rest."""


KnownRecords = dict[int, deque[tuple[int, int]]]
"""Records of a rewritten file that the vault has: digest → where they stood (generation, first byte)."""


@dataclass(slots=True)
class Stored:
    """A record for the vault."""

    start: int
    line: int
    digest: int
    kind: str
    message_id: str | None
    length: int
    raw: bytes
    """As it was read until the block is finished, then compressed; empty when the vault is to keep what it has."""
    was: tuple[int, int] | None = None
    """Generation and first byte under which the vault has it already."""


def strip_padding(raw: bytes) -> tuple[int, bytes]:
    """Drop white space and NUL runs around a record; how many bytes went in front."""
    stripped = raw.lstrip(b"\x00 \t\r\xef\xbb\xbf") if raw[:1] in _PADDING else raw
    return len(raw) - len(stripped), stripped.rstrip(b"\x00 \t\r")


_PADDING = (b"\x00", b" ", b"\t", b"\r", b"\xef")


def decode_lenient(raw: bytes) -> Any:
    """JSON that a strict decoder refuses but programs write: lone surrogates, NaN, broken UTF-8."""
    return json.loads(raw.decode("utf-8", "replace"))


def recover(raw: bytes) -> list[Recovered]:
    """The readable records of a line that is not one record, and the unreadable rest, in order."""
    text = raw.decode("utf-8", "surrogateescape")
    parts: list[tuple[int, int, bool]] = []
    position = 0
    while position < len(text):
        end = _object_end(text, position)
        if end is None:
            start = _spliced_record(text, position)
            if start is None:
                parts.append((position, len(text), False))
                break
            parts.append((position, start, False))
            position = start
            continue
        parts.append((position, end, True))
        position = _skip_padding(text, end)
    return [_part(text, *part) for part in parts if text[part[0] : part[1]].strip("\x00 \t\r")]


def _part(text: str, start: int, end: int, whole: bool) -> Recovered:
    offset = len(text[:start].encode("utf-8", "surrogateescape"))
    return Recovered(offset=offset, raw=text[start:end].encode("utf-8", "surrogateescape"), whole=whole)


def _object_end(text: str, start: int) -> int | None:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return end if isinstance(value, dict) else None


def _spliced_record(text: str, start: int) -> int | None:
    """Where, after a record that was cut short, a whole record begins that runs to the end of the line."""
    for tries, match in enumerate(_RECORD_START.finditer(text, start + 1)):
        if tries >= MAX_SPLICE_TRIES:
            return None
        try:
            value, end = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        rest = text[end:].lstrip("\x00 \t\r")
        if _is_record(value) and (not rest or rest[0] == "{"):
            return match.start()
    return None


def _is_record(value: object) -> bool:
    """Not an object from the inside of a record, such as a message or a block."""
    return (
        isinstance(value, dict)
        and bool(_MARKS & value.keys())
        and bool({"type", "display", "author", "role"} & value.keys())
    )


def _skip_padding(text: str, position: int) -> int:
    while position < len(text) and text[position] in "\x00 \t\r":
        position += 1
    return position
