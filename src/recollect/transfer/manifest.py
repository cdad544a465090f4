"""The manifest: what an export says of itself, and whether this program can read it."""

from typing import Any

import msgspec

from recollect.errors import Corrupt, Invalid, Unavailable

NAME = "manifest.json"
FORMAT = "recollect export"
FORMAT_VERSION = 1
"""Raised when what this program would read in an export is not what an older one wrote."""
MAX_BYTES = 16_000_000


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One file of an export."""

    bytes: int
    sha256: str


class TableMember(Member, frozen=True, kw_only=True):
    rows: int
    columns: list[str]


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    format: str = FORMAT
    format_version: int = FORMAT_VERSION
    program_version: str
    schema_version: int
    house: str
    exported_at: str
    tables: dict[str, TableMember]
    files: dict[str, Member]


def table_path(table: str) -> str:
    return f"tables/{table}.jsonl"


def file_path(name: str) -> str:
    return f"files/{name}"


def encode(manifest: Manifest) -> bytes:
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"


def decode(raw: bytes, place: str, newest_schema: int) -> Manifest:
    """Refuses what is no manifest, and what only a newer program understands."""
    try:
        loose = msgspec.json.decode(raw, type=dict[str, Any])
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise Corrupt(f"{place}: {NAME} cannot be read ({error}). Use another copy of it.") from error
    if loose.get("format") != FORMAT:
        raise Invalid(f"{place} is not an export of Recollect: its {NAME} does not say so.")
    version = loose.get("format_version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise Unavailable(
            f"{place} was made by a newer Recollect ({loose.get('program_version', 'unknown')}, format {version}; "
            f"this one reads up to {FORMAT_VERSION}). Upgrade Recollect; nothing was imported."
        )
    try:
        manifest = msgspec.convert(loose, Manifest)
    except msgspec.ValidationError as error:
        raise Corrupt(f"{place}: {NAME} is not sound: {error}. Use another copy of it.") from error
    if manifest.schema_version > newest_schema:
        raise Unavailable(
            f"{place} was made by a newer Recollect ({manifest.program_version}, schema {manifest.schema_version}; "
            f"this one knows {newest_schema}). Upgrade Recollect; nothing was imported."
        )
    return manifest
