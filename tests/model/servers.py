"""A real model behind a real server, as a process of its own that is gone afterwards."""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from model.weights import KNOWN, missing

PROCESS = Path(__file__).with_name("llama_process.py")
READY_SECONDS = 180
"""Loading takes two seconds when the file is in memory; a cold disk and busy cores take longer."""
LEAVE_SECONDS = 20
THREADS = max(1, (os.cpu_count() or 1) - 1)
"""The threads wait for each other at every layer: where one of them has to share its core, all are several times slower
than fewer threads."""


class NotServed(Exception):
    """The model cannot be run here; the text says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    name: str
    base_url: str
    """Of OpenAI's API: `http://127.0.0.1:PORT/v1`."""
    pid: int

    @property
    def setting(self) -> str:
        """As `librarian.model` names it."""
        return f"{self.base_url}#{self.name}"


@contextmanager
def served(name: str, *, port: int = 0, threads: int = THREADS) -> Generator[Served]:
    """`smollm2` or `qwen`, until the block is left."""
    weights = KNOWN[name]
    if problem := missing(weights):
        raise NotServed(problem)
    numbers = [str(number) for number in (port, threads, weights.context_tokens)]
    command = [sys.executable, str(PROCESS), str(weights.path), name, *numbers]
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            yield Served(name=name, base_url=f"{_address(process, log)}/v1", pid=process.pid)
        finally:
            _leave(process)


def _address(process: "subprocess.Popen[str]", log: IO[str]) -> str:
    assert process.stdout
    too_late = threading.Timer(READY_SECONDS, process.kill)
    too_late.start()
    try:
        for line in process.stdout:  # The library writes there too.
            if line.startswith("http://127.0.0.1:"):
                return line.strip()
    finally:
        too_late.cancel()
        too_late.join()
    log.seek(0)
    raise NotServed(f"The server ended before it was ready (in {READY_SECONDS} s):\n{log.read()[-2_000:]}")


def _leave(process: "subprocess.Popen[str]") -> None:
    assert process.stdin
    process.stdin.close()
    try:
        process.wait(LEAVE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
