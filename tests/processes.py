"""Processes of `tests/knowing.py`, as tests start, kill and wait for them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import commands

KNOWING = Path(commands.__file__).with_name("knowing.py")


class Knowing:
    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def go(self) -> None:
        assert self._process.stdin
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def wait(self, seconds: float = commands.PATIENCE_SECONDS) -> None:
        assert self._process.wait(seconds) == 0

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def result(self) -> Any:
        """What it did, when it ended by itself."""
        assert self._process.stdout
        told = self._process.stdout.readline()
        self.wait()
        return json.loads(told)


@contextmanager
def started_knowing(home: Path, address: str, task: str, *given: object) -> Iterator[Knowing]:
    """A process that is ready and waits for the word to go; killed at the end if it still runs."""
    process = subprocess.Popen(
        [sys.executable, str(KNOWING), str(home), address, task, *map(str, given)],
        env=commands.environment(home),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        yield Knowing(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
