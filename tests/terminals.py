"""`recollect` on a terminal, with a person who reads and types."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from commands import PATIENCE_SECONDS, Result, command, environment
from screens import Screen

SHOWN_FOR_ENTER = "\r\n"
TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
"""Before a program: the terminal is its own, so that Ctrl-C there is a signal to it."""


def on_a_terminal(*arguments: object, home: Path, typed: str = "", **variables: str) -> Result:
    """What a person sees, all of it in `out`. `typed` lies ready on the keyboard."""
    own, theirs = pty.openpty()
    process = subprocess.Popen(
        command(*arguments),
        env=environment(home, TERM="xterm-256color", **variables),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(own, typed.encode())
    seen = b""
    try:
        while part := os.read(own, 65_536):
            seen += part
    except OSError:  # Linux says so when the other end is closed.
        pass
    os.close(own)
    return Result(process.wait(PATIENCE_SECONDS), seen.decode().replace(SHOWN_FOR_ENTER, "\n"), "")


class Desk:
    """A person before a terminal: reads what the screen shows, and types when it is there."""

    def __init__(self, own: int, process: "subprocess.Popen[bytes]", screen: Screen) -> None:
        self.process = process
        self.screen = screen
        self.raw = b""
        self._own = own
        self._is_over = False

    def type(self, text: str) -> None:
        os.write(self._own, text.encode())

    def see(self, *texts: str) -> str:
        """Wait until all of them are on the screen, above or on it; what it shows then."""
        return self._until(f"{texts} on the screen", lambda: all(text in self.screen.text for text in texts))

    def see_no(self, text: str) -> str:
        return self._until(f"{text!r} gone from the screen", lambda: text not in self.screen.text)

    def leaves(self) -> int:
        """Wait until the program ends; its exit code."""
        self._until("the end of the program", lambda: self._is_over)
        return self.process.wait(PATIENCE_SECONDS)

    def _until(self, what: str, is_there: Callable[[], bool]) -> str:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not is_there():
            if self._is_over or time.monotonic() > deadline:
                pytest.fail(f"waited in vain for {what}:\n{self.screen.text}")
            ready, _, _ = select.select([self._own], [], [], 1)
            if ready:
                self._read()
        return self.screen.text

    def _read(self) -> None:
        try:
            part = os.read(self._own, 65_536)
        except OSError:  # Linux says so when the other end is closed.
            part = b""
        self._is_over = not part
        self.raw += part
        self.screen.feed(part)


@contextmanager
def sitting_at(*arguments: object, home: Path, rows: int = 24, columns: int = 80, **variables: str) -> Iterator[Desk]:
    """A program with a terminal of its own, whose Ctrl-C reaches it as a person's does; killed at the end if it still
    runs."""
    own, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", TAKE_TERMINAL, *command(*arguments)],
        env=environment(home, TERM="xterm-256color", **variables),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        cwd=home.parent,
    )
    os.close(theirs)
    try:
        yield Desk(own, process, Screen(rows, columns))
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE_SECONDS)
        os.close(own)


class Gate:
    """A step of a server's script: an answer that does not come before it is opened."""

    def __init__(self, answer: str) -> None:
        self._answer = answer
        self._is_open = threading.Event()
        self.is_reached = threading.Event()

    def __call__(self, request: object) -> str:
        self.is_reached.set()
        self._is_open.wait(PATIENCE_SECONDS)
        return self._answer

    def open(self) -> None:
        self._is_open.set()
