"""Printing: one JSON document for programs, tables and colours for people on a terminal, plain text in a pipe."""

import os
import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from recollect.clock import local


def print_json(value: object) -> None:
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n")
    sys.stdout.buffer.flush()


def say(text: str = "") -> None:
    """To the person."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def warn(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def is_terminal() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}


SPEAKERS = {"user": "You", "assistant": "Assistant", "subagent": "Sub-agent", "record": "◆ Record"}


def speaker(author: str) -> str:
    """Who said something, in a person's words."""
    return SPEAKERS.get(author, author)


def style(text: str, *names: str) -> str:
    if not names or not is_terminal():
        return text
    return f"\x1b[{';'.join(_CODES[name] for name in names)}m{text}\x1b[0m"


def when(text: str) -> str:
    """A stored time, as the person's clock shows it."""
    return f"{local(text):%Y-%m-%d %H:%M}" if text else "–"


def program() -> str:
    """How this program is called in the shell it was started from."""
    import shutil

    if shutil.which("recollect"):
        return "recollect"
    path = os.path.abspath(sys.argv[0])
    below = os.path.relpath(path)
    return short_path(path) if below.startswith("..") else below


def short_path(path: str) -> str:
    home = str(Path.home())
    return "~" + path[len(home) :] if path == home or path.startswith(home + os.sep) else path


def amount(number: int, noun: str) -> str:
    """`1 file`, `2,000 files`"""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def shorten(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1].rstrip() + "…"


def printable(text: str) -> str:
    """Without characters that would command the terminal."""
    return text if text.isprintable() else "".join(character for character in text if character.isprintable())


def on_one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def width() -> int:
    import shutil

    return shutil.get_terminal_size((100, 24)).columns


def _cell_width(text: str) -> int:
    """How many columns a terminal needs: two for most Chinese, Japanese and Korean characters, none for accents."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) != 0 for character in text)


def _fit(text: str, cells: int) -> str:
    if _cell_width(text) <= cells:
        return text
    while text and _cell_width(text) >= cells:
        text = text[:-1]
    return text.rstrip() + "…"


def table(
    headings: Sequence[str], rows: Sequence[Sequence[Any]], *, right: Sequence[int] = (), is_whole: bool = False
) -> None:
    """Columns as wide as their content; on a terminal the last one is cut where the line ends, unless it `is_whole`:
    a name that somebody copies, or words that stand nowhere else."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [
        max(_cell_width(heading), *(_cell_width(row[index]) for row in texts), 0)
        for index, heading in enumerate(headings)
    ]
    is_cut = sys.stdout.isatty() and not is_whole
    if is_cut:
        taken = sum(widths[:-1]) + 2 * (len(widths) - 1)
        widths[-1] = max(10, min(widths[-1], width() - taken))

    def line(cells: Sequence[str]) -> str:
        padded: list[str] = []
        for index, cell in enumerate(cells):
            fitted = _fit(cell, widths[index]) if is_cut else cell
            space = " " * (widths[index] - _cell_width(fitted))
            padded.append(space + fitted if index in right else fitted + space)
        return "  ".join(padded).rstrip()

    say(style(line(headings), "bold"))
    for row in texts:
        say(line(row))
