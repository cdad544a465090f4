"""Whose format a file has, told by its first records."""

import os
from dataclasses import dataclass
from typing import BinaryIO, cast

import msgspec

from recollect.clock import parse_time
from recollect.errors import Unreadable
from recollect.history.records import strip_padding
from recollect.history.sources import Source, recognise, sources

FIRST_RECORDS = 30
FIRST_BYTES = 32_768
MORE_BYTES = 16 << 20
"""Read only when the first bytes do not tell: a first line may be longer than they are."""


def detect(path: str, opened: BinaryIO) -> Source | None:
    """The source of a file; None while nothing whole is written. Raises Unreadable with a next step."""
    for length in (FIRST_BYTES, MORE_BYTES):
        opened.seek(0)
        block = opened.read(length)
        records = _first_records(block)
        source = recognise(records)
        if source:
            return source
    if not block.strip(b"\x00 \t\r\n\xef\xbb\xbf"):
        return None
    if b"\n" not in block and block.lstrip(b"\x00 \t\r\xef\xbb\xbf")[:1] == b"{" and not records:
        return None
    raise Unreadable(_explanation(path, block, records))


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstFacts:
    """What a file says first of where and when: its very first records often say neither."""

    cwd: str = ""
    at: str = ""


def first_facts(opened: BinaryIO) -> FirstFacts:
    opened.seek(0)
    records = _first_records(opened.read(FIRST_BYTES * 8))
    cwd = next((cwd for record in records if isinstance(cwd := record.get("cwd"), str) and cwd), "")
    at = next((at for record in records if (at := parse_time(record.get("timestamp") or record.get("at")))), "")
    return FirstFacts(cwd=cwd, at=at)


def _first_records(block: bytes) -> list[dict[str, object]]:
    records: list[dict[str, object]] = []
    for line in block.split(b"\n", FIRST_RECORDS)[:FIRST_RECORDS]:
        try:
            value = msgspec.json.decode(strip_padding(line)[1])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        if isinstance(value, dict):
            records.append(cast(dict[str, object], value))
    return records


def _explanation(path: str, block: bytes, records: list[dict[str, object]]) -> str:
    name = os.path.basename(path)
    known = ", ".join(sources())
    if block.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] == b"[":
        return (
            f"{name} is one JSON array, not JSON lines. Write one object a line "
            f"(jq -c '.[]' {name} > {name.removesuffix('.json').removesuffix('.jsonl')}.lines.jsonl) and ingest that."
        )
    if b"\x00" in block[:1024] or _is_binary(block[:4096]):
        return f"{name} is a binary file, not a transcript. Give a folder of transcripts or a .jsonl file."
    if records:
        keys = ", ".join(list(records[0])[:6])
        return f"{name} has JSON lines of an unknown kind (keys: {keys}). Known sources: {known}; --source forces one."
    return f"{name} has no JSON lines. Known sources: {known}."


def _is_binary(block: bytes) -> bool:
    try:
        block.decode()
    except UnicodeDecodeError as error:
        return error.start < len(block) - 4
    return False
