"""`recollect` on a terminal, with a person who reads and types."""

import os
import pty
import subprocess
from pathlib import Path

from commands import PATIENCE_SECONDS, Result, command, environment

SHOWN_FOR_ENTER = "\r\n"


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
