"""Commands in processes that are forked from one which has imported everything: much faster than a new interpreter.

What a process is told at its start (the encoding of its streams, rights, wrappers) needs a real start: `commands.run`
chooses. On systems that cannot fork, every process is a new one.

    python tests/forking.py SOCKET      the one that forks; a line of JSON for each command, and one for its end
"""

import atexit
import gc
import io
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

CAN_FORK = hasattr(os, "fork") and sys.platform == "linux"


class Server:
    """One for each process of tests, made when the first command is run."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        environment = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH")}
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env={**environment, "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        self._channel = ours
        self._lines = ours.makefile("rb")
        self._folder = tempfile.TemporaryDirectory(prefix="recollect-forked-")
        self._busy = threading.Lock()
        atexit.register(self.close)

    def run(
        self,
        argv: list[str],
        environment: Mapping[str, str],
        cwd: Path,
        given: bytes,
        seconds: float,
        is_untested: bool = False,
    ) -> tuple[int, bytes, bytes] | None:
        """(code, stdout, stderr). None: another thread is at it. `is_untested`: install leaves its own test out."""
        if not self._busy.acquire(blocking=False):
            return None
        try:
            folder = Path(self._folder.name)
            files = [folder / name for name in ("in", "out", "err")]
            files[0].write_bytes(given)
            told = {
                "argv": argv,
                "environment": dict(environment),
                "cwd": str(cwd),
                "files": [str(one) for one in files],
                "is_untested": is_untested,
            }
            self._channel.settimeout(seconds)
            self._channel.sendall(json.dumps(told).encode() + b"\n")
            try:
                code = int(self._lines.readline())
            except TimeoutError as error:
                self.close()
                server.cache_clear()
                raise subprocess.TimeoutExpired(argv, seconds) from error
            return code, files[1].read_bytes(), files[2].read_bytes()
        finally:
            self._busy.release()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._lines.close()
        self._channel.close()
        self._folder.cleanup()


@cache
def server() -> Server:
    return Server()


# In the process that forks


def serve(number: int) -> None:
    _import_everything()
    gc.freeze()  # What is never looked at is never copied for a child either.
    with socket.socket(fileno=number) as channel, channel.makefile("rb") as lines:
        for line in lines:
            told = json.loads(line)
            child = os.fork()
            if not child:
                os.close(number)
                _work(told)
            _, status = os.waitpid(child, 0)
            channel.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _import_everything() -> None:
    from importlib import import_module

    from recollect.surfaces.cli.main import COMMANDS

    for name in sorted(set(COMMANDS.values())):
        import_module(f"recollect.surfaces.cli.{name}")
    for name in (
        "memory",
        "database.sqlite",
        "recall",
        "knowledge",
        "learnings",
        "notes",
        "context",
        "forgetting",
        "transfer",
        "librarian.librarian",
        "librarian.rules",
        "librarian.shelves",
        "librarian.extraction.extracting",
        "librarian.nights.reflection",
        "librarian.nights.self_awareness",
        "surfaces.hooks.installing",
        "surfaces.hooks.removing",
        "surfaces.hooks.self_test",
    ):
        import_module(f"recollect.{name}")
    import_module("mcp")  # The test that install makes of itself asks by it.


def _work(told: dict[str, Any]) -> None:
    """As an interpreter does that was just started. Never returns."""
    code = 1
    try:
        _take_over(told)
        if told["is_untested"]:
            _leave_out_self_test()
        from recollect.surfaces.cli.main import main

        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:  # noqa: BLE001  as an interpreter does
        traceback.print_exc()
    finally:
        try:
            threading._shutdown()  # type: ignore[attr-defined]
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code & 0xFF)


def _leave_out_self_test() -> None:
    from recollect.surfaces.hooks.self_test import SelfTest

    SelfTest.run = lambda self: []  # type: ignore[method-assign]


def _take_over(told: dict[str, Any]) -> None:
    os.environ.clear()
    os.environ.update(told["environment"])
    time.tzset()
    os.chdir(told["cwd"])
    flags = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for number, (name, flag) in enumerate(zip(told["files"], flags, strict=True)):
        opened = os.open(name, flag, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0)), "utf-8", "surrogateescape")
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w")), "utf-8", "surrogateescape")
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(2, "w")), "utf-8", "backslashreplace", line_buffering=True
    )
    sys.argv = told["argv"]


if __name__ == "__main__":
    serve(int(sys.argv[1]))
