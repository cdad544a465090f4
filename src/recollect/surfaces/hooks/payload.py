"""What a hook is told on its stdin. Whatever arrives, something is made of it: what is missing or odd is empty."""

import json
import os
from dataclasses import dataclass
from typing import Any, cast

MOST_PATH_CHARACTERS = 4_096
MOST_NAME_CHARACTERS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    session_id: str = ""
    transcript_path: str = ""
    """Absolute, or empty."""
    cwd: str = ""
    """Absolute, or empty."""
    source: str = ""
    """Why a session begins: startup, resume, clear or compact."""


def read_payload(raw: bytes) -> Payload:
    try:
        decoded: Any = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return Payload()
    given = cast(dict[str, Any], decoded) if isinstance(decoded, dict) else {}
    return Payload(
        session_id=_text(given.get("session_id"), MOST_NAME_CHARACTERS),
        transcript_path=_path(given.get("transcript_path")),
        cwd=_path(given.get("cwd")),
        source=_text(given.get("source"), MOST_NAME_CHARACTERS),
    )


def _text(value: Any, most: int) -> str:
    """Half characters, which JSON can name, are no text."""
    if not isinstance(value, str) or len(value) > most or not value.isprintable():
        return ""
    return value if not any("\ud800" <= character <= "\udfff" for character in value) else ""


def _path(value: Any) -> str:
    """A path may have any character but NUL; one that is not UTF-8 cannot be named in JSON."""
    if not isinstance(value, str) or len(value) > MOST_PATH_CHARACTERS or "\0" in value or not os.path.isabs(value):
        return ""
    try:
        value.encode()
    except UnicodeEncodeError:
        return ""
    return value
