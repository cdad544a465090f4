"""How a program of ours ends when nobody reads what it said: a terminal that was stopped, a pipe that is full."""

import os
import subprocess
import sys

FULL_PIPE = """
import os
import sys
from recollect.surfaces.cli.running import leave
os.set_blocking(1, True)
sys.stdout.write("x" * {characters})
leave(7)
"""
PATIENCE_SECONDS = 30
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


def run(script: str, output: int) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", script]
    return subprocess.run(command, stdout=output, env=BUFFERED, timeout=PATIENCE_SECONDS, check=False)


def test_it_ends_though_nobody_reads_its_last_words() -> None:
    reader, writer = os.pipe()
    try:
        script = FULL_PIPE.format(characters=4_000)
        os.set_blocking(writer, False)
        filled = 0
        while True:
            try:
                filled += os.write(writer, b"." * 65_536)
            except BlockingIOError:
                break
        assert filled
        ended = run(script, writer)
    finally:
        os.close(reader)
        os.close(writer)
    assert ended.returncode == 7


def test_what_was_said_last_is_read_by_who_reads() -> None:
    script = FULL_PIPE.format(characters=50_000)
    ended = run(script, subprocess.PIPE)
    assert (ended.returncode, len(ended.stdout)) == (7, 50_000)
