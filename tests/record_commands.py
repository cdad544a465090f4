"""Records as programs ask the command line for them."""

from pathlib import Path
from typing import Any

from commands import Result, run

RECORD_KEYS = {
    "id", "version", "scope", "kind", "subject", "attribute", "value", "text", "category", "tags", "confidence",
    "importance", "origin", "learned_at", "true_from", "true_until", "expires_at", "state", "replaces", "replaced_by",
    "sources", "restated", "believed_from", "believed_until",
}  # fmt: skip


def told(home: Path, *arguments: object, given: str = "") -> Any:
    """What a command gives to a program."""
    done = run(*arguments, "--json", home=home, given=given)
    assert done.code == 0, done.err
    assert done.err == ""
    return done.json()


def remember(home: Path, *arguments: object) -> dict[str, Any]:
    return told(home, "remember", *arguments)


def texts(home: Path, *arguments: object) -> list[str]:
    return [record["text"] for record in told(home, "records", *arguments)]


def refused(done: Result, code: int, *words: str) -> bool:
    return done.code == code and done.out == "" and done.explains(*words)
