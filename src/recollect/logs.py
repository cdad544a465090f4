"""The log of a daemon: `runtime/logs/recollect.log`, rotated by size, for its owner alone.

It tells what the program did, never what people said: an exception stands there as its kind and the lines of code it
passed, without its words, which may be somebody's own and would outlive a `forget`. What a message of ours quotes, from
a model or a server, stands between quotation marks (`quoted`) and is left out. Of other libraries it is told that they
complained, and where. Credentials are masked on top of that.
"""

import logging
import os
import re
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import FileIO, TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path, PurePath
from typing import Any

from recollect.errors import Denied
from recollect.lock import is_at
from recollect.redaction import mask

OURS = "recollect"
MOST_BYTES = 5_000_000
"""Of one file. With the older ones it is four times as much."""
KEPT_FILES = 3
FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"
LOOK_SECONDS = 0.25
"""Between two looks for new lines while a log is followed."""
OPENING, CLOSING = "“", "”"
QUOTED = re.compile(f"{OPENING}[^{CLOSING}]*(?:{CLOSING}|$)")
"""To the end where it was cut off in the middle."""
LEFT_OUT = f"{OPENING}…{CLOSING}"

logging.getLogger(OURS).addHandler(logging.NullHandler())
"""A program that wants no log gets none: else Python would print warnings."""


def quoted(words: str) -> str:
    """Words of others inside of a message of ours, so that they can be left out where they must not stay."""
    return OPENING + words.replace(OPENING, '"').replace(CLOSING, '"') + CLOSING


def without_quotes(message: str) -> str:
    """The message without the words of others: for places that `forget` does not reach."""
    return QUOTED.sub(LEFT_OUT, message)


class Lines(logging.Formatter):
    """One event, one line; the time in UTC."""

    converter = time.gmtime
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def format(self, record: logging.LogRecord) -> str:
        return " ".join(mask(super().format(self._told(record))).split("\n"))

    def formatException(self, ei: Any) -> str:  # noqa: N802  the name that logging calls
        error: BaseException | None = ei[1]
        return places_of(error) if error else ""

    def _told(self, record: logging.LogRecord) -> logging.LogRecord:
        told = logging.makeLogRecord(record.__dict__)
        told.exc_text, told.stack_info = None, None
        if record.name != OURS and not record.name.startswith(f"{OURS}."):
            told.msg, told.args = f"a message of {PurePath(record.pathname).name}, line {record.lineno}", ()
        else:
            told.msg, told.args = without_quotes(record.getMessage()), ()
        return told


def places_of(error: BaseException) -> str:
    """Its kind, and the lines it passed."""
    frames = traceback.extract_tb(error.__traceback__)
    way = " < ".join(f"{PurePath(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))
    return f"[{type(error).__name__} at {way}]"


class Rotated(RotatingFileHandler):
    """Begins the file again where somebody moved it away or removed it, or another process rotated it."""

    def emit(self, record: logging.LogRecord) -> None:
        if self.stream and not is_at(Path(self.baseFilename), self.stream):
            with suppress(OSError):  # Where no other can be made, it goes on in the one it has.
                self._begin_again(self.stream)
        super().emit(record)

    def _begin_again(self, before: TextIOWrapper) -> None:
        Path(self.baseFilename).parent.mkdir(exist_ok=True)
        self.stream = self._open()
        before.close()

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding="utf-8", errors="replace", opener=_for_owner)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  the name that logging calls
        """A disk that is full ends no daemon, and nothing is printed."""


def _for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def log_path(runtime: Path, name: str = OURS) -> Path:
    return runtime / "logs" / f"{name}.log"


def open_log(
    runtime: Path, level: str = "info", *, name: str = OURS, most_bytes: int = MOST_BYTES
) -> Callable[[], None]:
    """From now on this process writes its log; what ends that. `name`: two processes of a home do not share a file."""
    path = log_path(runtime, name)
    try:
        runtime.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # A new home is for its owner alone.
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = Rotated(path, maxBytes=most_bytes, backupCount=KEPT_FILES, encoding="utf-8")
    except OSError as error:
        raise Denied(f"{path} cannot be written: {error.strerror}. Choose another home with --home.") from error
    handler.setFormatter(Lines(FORMAT))
    handler.setLevel(level.upper())
    root, ours = logging.getLogger(), logging.getLogger(OURS)
    before = ours.level
    root.addHandler(handler)  # Others are heard from warnings on, as the root says by itself.
    ours.setLevel(level.upper())

    def close() -> None:
        root.removeHandler(handler)
        ours.setLevel(before)
        with suppress(OSError):  # The disk is full: what could not be written is lost.
            handler.close()

    return close


def last_lines(path: Path, number: int) -> list[str]:
    """Of the log, and of the file before it where this one has just begun."""
    file = _opened(path)
    try:
        lines, rest = _last_lines(path, file, number)
    finally:
        if file:
            file.close()
    found = [*lines, *([rest.decode("utf-8", "replace")] if rest else [])]
    return found[-number:] if number else []


def _last_lines(path: Path, file: FileIO | None, number: int) -> tuple[list[str], bytes]:
    """Whole lines, and the begin of one more. The file stands behind them then: what follows is new."""
    *lines, rest = _news(file).split(b"\n")
    before = path.with_name(f"{path.name}.1")
    if len(lines) < number and not (file and is_at(before, file)):
        with suppress(OSError):
            lines = before.read_bytes().split(b"\n")[:-1] + lines
    return [line.decode("utf-8", "replace") for line in lines[-number:]] if number else [], rest


def follow(path: Path, wait: Callable[[float], object] = time.sleep, *, last: int = 0) -> Iterator[str]:
    """So many of the last lines, then each new one, also after the file was rotated or begun. However long somebody
    takes over the last ones, none is left out. Ends when `wait` says so by a true value."""
    file = _opened(path)
    try:
        lines, rest = _last_lines(path, file, last)
        yield from lines
        while True:
            # Asked before the reading: in a file that was rotated, nothing is written any more.
            is_over = file is None or not is_at(path, file)
            *lines, rest = (rest + _news(file)).split(b"\n")
            yield from (line.decode("utf-8", "replace") for line in lines)
            if is_over:
                if file:
                    file.close()
                file, rest = _opened(path), b""
                if file:
                    continue
            if wait(LOOK_SECONDS):
                return
    finally:
        if file:
            file.close()


def _opened(path: Path) -> FileIO | None:
    try:
        return FileIO(path)
    except OSError:
        return None


def _news(file: FileIO | None) -> bytes:
    """What was written since; all of it where somebody emptied the file."""
    if file is None:
        return b""
    with suppress(OSError):
        if os.fstat(file.fileno()).st_size < file.tell():
            file.seek(0)
        return file.readall()
    return b""
