"""Text that a person hands over: as an argument, on standard input, in a file, in an editor.

An argument is what was typed, so that it ends with a line end like anything typed into a file. Everything else is
taken as it is, to the byte. No more is read than a note can hold.
"""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import click

from recollect.errors import Invalid, NotFound
from recollect.surfaces.cli.output import printable, short_path, warn

STANDARD_INPUT = "-"
EDITORS = ("sensible-editor", "nano", "vim", "vi", "notepad")
"""Looked for in this order where neither VISUAL nor EDITOR is set."""


def given_text(text: str | None, file: str | None) -> str:
    """One of the two: TEXT, where - is standard input, or what a file holds. Empty is refused: it is mostly the
    output of a command that failed, and would take the place of a note."""
    if text is None and file is None:
        raise click.UsageError("Give the text: TEXT, - for standard input, or --from FILE.")
    if text is not None and file is not None:
        raise click.UsageError("Give TEXT or --from FILE, not both.")
    if file is not None:
        found, origin = _content_of(file), printable(file)
    elif text == STANDARD_INPUT:
        found, origin = sys.stdin.buffer.read(_most_bytes() + 1), "standard input"
    else:
        typed = text or ""
        # Bytes that are no text are refused here, not kept as something else.
        found, origin = (typed if typed.endswith("\n") or not typed else f"{typed}\n").encode(), "TEXT"
    return decoded(found, origin)


def decoded(content: bytes, origin: str) -> str:
    if len(content) > _most_bytes():
        raise Invalid(f"{origin} is too long: a note holds {_most_bytes():,} bytes at most. Split it into several.")
    if not content.strip():
        raise Invalid(f"{origin} is empty: nothing was written. Give it some words.")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise Invalid(f"{origin} is not UTF-8 text. Convert it first, for example with iconv.") from None


def _most_bytes() -> int:
    from recollect.notes.versions import MOST_BYTES

    return MOST_BYTES


def _content_of(file: str) -> bytes:
    try:
        with open(file, "rb") as stream:
            return stream.read(_most_bytes() + 1)
    except FileNotFoundError:
        raise NotFound(f"There is no file {printable(file)!r}. Check the name given to --from.") from None
    except OSError as error:
        raise Invalid(f"{printable(file)!r} cannot be read: {error.strerror}. Give a file of text.") from None


@contextlib.contextmanager
def edited(content: bytes, name: str) -> Generator[bytes]:
    """What a person makes of a text in an editor: it works on a copy elsewhere, so that whoever writes the note
    meanwhile is seen before it is written. The copy goes when the body is done; where anything fails it stays, and
    the person is told where."""
    copy = Path(tempfile.mkdtemp(prefix="recollect-edit-")) / name
    copy.write_bytes(content)
    is_done = False
    try:
        _run_editor(copy)
        yield _left_by_editor(copy)
        is_done = True
    finally:
        if is_done or not copy.is_file() or copy.read_bytes().strip() in (b"", content.strip()):
            shutil.rmtree(copy.parent, ignore_errors=True)
        else:
            warn(f"What you wrote is in {short_path(str(copy))}")


def _left_by_editor(copy: Path) -> bytes:
    try:
        return copy.read_bytes()
    except OSError:
        raise Invalid("The editor left no file: nothing was written.") from None


def check_editor() -> None:
    """Before anything is prepared for it."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("An editor needs a terminal, and this is none. Give the text to `write` instead.")
    _editor()


def _editor() -> list[str]:
    chosen = next((value for name in ("VISUAL", "EDITOR") if (value := os.environ.get(name, "").strip())), "")
    words = shlex.split(chosen) if chosen else [next(filter(shutil.which, EDITORS), "")]
    if not words[0]:
        raise click.UsageError("No editor was found. Set EDITOR to one, such as EDITOR=nano.")
    if shutil.which(words[0]) is None:
        raise click.UsageError(f"The editor {words[0]!r} was not found. Set VISUAL or EDITOR to one that is there.")
    return words


def _run_editor(copy: Path) -> None:
    # Ctrl-C is the editor's while it runs. A function and not SIG_IGN, which the editor would inherit.
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        code = subprocess.run([*_editor(), str(copy)], check=False).returncode
    finally:
        signal.signal(signal.SIGINT, before)
    if code:
        raise Invalid(f"The editor ended with code {code}: nothing was written.")
