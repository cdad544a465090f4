"""Versions of notes as programs and people read them. Printing only: the commands are in `notes`, `diary`, `status`."""

import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.surfaces.cli.output import (
    amount,
    on_one_line,
    print_json,
    printable,
    say,
    style,
    table,
    warn,
    when,
)
from recollect.surfaces.shapes.notes import written_json

if TYPE_CHECKING:
    from recollect.notes import Version, Written

ACTORS = {
    "person": "you",
    "agent": "an agent",
    "librarian": "the librarian",
    "rule": "a rule",
    "outside": "another tool",
}
TAB = 4
"""Columns, where a tab stands in a note on a terminal."""


# For programs


# For people


def quoted(name: str) -> str:
    """As a word of a command that can be copied into a shell."""
    return shlex.quote(printable(name))


def who(version: "Version") -> str:
    return printable(version.actor_name) or ACTORS.get(version.actor, version.actor)


def bytes_of(version: "Version") -> str:
    return "gone" if version.is_gone else f"{version.size:,}"


def print_list(versions: "Sequence[Version]") -> None:
    rows = [(bytes_of(one), one.number, when(one.at), who(one), printable(one.path)) for one in versions]
    table(("bytes", "version", "changed", "by", "note"), rows, right=(0, 1), is_whole=True)


def print_history(versions: "Sequence[Version]") -> None:
    """The latest last, where a terminal shows it."""
    rows = [(one.number, when(one.at), who(one), bytes_of(one), told(one)) for one in versions]
    table(("version", "at", "by", "bytes", "what"), rows, right=(0, 3), is_whole=True)


def told(version: "Version") -> str:
    """What was done, from where and why."""
    parts = [
        "found gone" if version.is_gone and version.action == "found" else str(version.action),
        f"from {printable(version.moved_from)}" if version.moved_from else "",
        f"without having seen version {version.unseen}" if version.unseen else "",
        "waits for review" if version.review == "open" else "",
    ]
    words = ", ".join(part for part in parts if part)
    return f"{words}: {on_one_line(version.reason)}" if version.reason else words


def print_content(content: bytes, name: str) -> None:
    """To the byte into a pipe. On a terminal without what would command it, and nothing that is no text at all."""
    if not sys.stdout.isatty():
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    elif b"\0" in content:
        say(f"{printable(name)} is no text: {amount(len(content), 'byte')}. Send it into a file to look at it.")
    else:
        for line in lines_of(content.decode("utf-8", "replace")):
            say(line)


def print_diff(text: str) -> None:
    if not sys.stdout.isatty():
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
        return
    for number, line in enumerate(lines_of(text)):
        say(style(line, *_colours(line, is_heading=number < 2)))


def _colours(line: str, *, is_heading: bool) -> tuple[str, ...]:
    if is_heading:
        return ("bold",)
    return {"+": ("green",), "-": ("red",), "@": ("cyan",)}.get(line[:1], ())


def lines_of(text: str) -> list[str]:
    """As a terminal may be shown them. Only what ends a line in a file ends one here."""
    lines = text.removesuffix("\n").split("\n") if text else []
    return [printable(line.removesuffix("\r").expandtabs(TAB)) for line in lines]


def tell_written(written: "Written", program: str, as_json: bool, word: str = "Written") -> None:
    """What became of a write. That somebody else's text was replaced is told whoever reads."""
    version = written.version
    why = f": {on_one_line(version.reason)}" if version.action == "restored" else ""
    if as_json:
        print_json(written_json(written))
    elif written.is_new:
        say(f"{style(word, 'green')}: {printable(version.path)}, version {version.number}{why}")
    else:
        say(f"Nothing to change: {printable(version.path)}, version {version.number}")
    warn_of(written, program)


def warn_of(written: "Written", program: str) -> None:
    path, masked = printable(written.version.path), written.masked
    if masked:
        masks = "It was" if masked == 1 else "They were"
        warn(f"{amount(masked, 'credential')} found in {path}. {masks} masked, in the file and in its versions.")
    other = written.unseen
    if other:
        change = f"{path} had been changed by {who(other)} at {when(other.at)}, after what you had seen"
        warn(f"{change}. Yours took its place; the other text is kept as version {other.number}.")
        warn(f"  {program} notes diff {quoted(written.version.path)} {other.number} {written.version.number}")
