"""What a check found, and the next step."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    check: str
    level: Level
    message: str
    next_step: str = ""


def ok(check: str, message: str) -> Finding:
    return Finding(check=check, level=Level.OK, message=message)


def warning(check: str, message: str, next_step: str) -> Finding:
    return Finding(check=check, level=Level.WARNING, message=message, next_step=next_step)


def failure(check: str, message: str, next_step: str) -> Finding:
    return Finding(check=check, level=Level.FAILURE, message=message, next_step=next_step)
