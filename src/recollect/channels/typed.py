"""What somebody typed: words for the agent, or a command of the terminal."""

import re
from dataclasses import dataclass
from typing import TypeAlias

HELP = """\
/image PATH [words]  show a picture, with or without words
/cancel              take back what waits to be answered
/costs               what today cost
/quit                leave; so do Ctrl-D and Ctrl-C twice
Alt-Enter makes a new line. Ctrl-C stops an answer. // at the start sends a /."""

PATH = re.compile(r"""(?:"(?P<quoted>[^"]+)"|'(?P<single>[^']+)'|(?P<plain>(?:\\.|\S)+))(?P<words>.*)""", re.DOTALL)
ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToSay:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToDo:
    command: str
    """Such as `cancel`."""
    rest: str


Typed: TypeAlias = ToSay | ToDo


def understood(typed: str) -> Typed | None:
    """None: nothing but white space. Words are sent as they were typed, without white space around them."""
    text = typed.strip()
    if not text:
        return None
    if text.startswith("//"):
        return ToSay(text=text[1:])
    if text.startswith("/"):
        command, *rest = text[1:].split(maxsplit=1) if text[1:].strip() else [""]
        return ToDo(command=command, rest=rest[0] if rest else "")
    return ToSay(text=text)


def path_and_words(rest: str) -> tuple[str, str]:
    """A path may be quoted, or have its spaces behind backslashes, as a terminal does with a file dropped on it."""
    found = PATH.match(rest.strip())
    if not found:
        return "", ""
    path = found["quoted"] or found["single"] or ESCAPED.sub(r"\1", found["plain"] or "")
    return path, found["words"].strip()
