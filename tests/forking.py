"""Commands in processes that are forked from one which has imported everything: much faster than a new interpreter.

What a process is told at its start (the encoding of its streams, rights, wrappers) needs a real start: `commands.run`
chooses. On systems that cannot fork, every process is a new one.

    python tests/forking.py SOCKET      the one that forks; a line of JSON for each command, and one for its end
"""

import atexit
import ctypes
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
PR_SET_CHILD_SUBREAPER = 36


class Adopted(subprocess.Popen[bytes]):
    """A process that was started for this one and became its child: it can be waited for as any other."""

    def __init__(self, argv: list[str], pid: int) -> None:
        self.args = argv
        self.pid = pid
        self.returncode = None
        self.stdin = self.stdout = self.stderr = None
        self._child_created = True
        self._waitpid_lock = threading.Lock()
        self._sigint_wait_secs = 0.25


class Server:
    """One for each process of tests, made when the first command is run."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        kept = ("PATH", "PYTHONPATH", "OPENBLAS_NUM_THREADS")
        environment = {name: value for name, value in os.environ.items() if name in kept}
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
            return self._told(told, seconds), files[1].read_bytes(), files[2].read_bytes()
        finally:
            self._busy.release()

    def start(
        self, argv: list[str], environment: Mapping[str, str], cwd: Path, out: str, err: str, seconds: float
    ) -> Adopted | None:
        """In the background, with its output behind what is in `out` and `err`. None: another thread is at it."""
        if not self._busy.acquire(blocking=False):
            return None
        try:
            told = {
                "argv": argv,
                "environment": dict(environment),
                "cwd": str(cwd),
                "files": [os.devnull, out, err],
                "is_started": True,
            }
            _adopt_orphans(True)
            try:
                return Adopted(argv, self._told(told, seconds))
            finally:
                _adopt_orphans(False)
        finally:
            self._busy.release()

    def _told(self, told: dict[str, Any], seconds: float) -> int:
        """What comes of it: the code of its end, or the number of what was started."""
        self._channel.settimeout(seconds)
        self._channel.sendall(json.dumps(told).encode() + b"\n")
        try:
            return int(self._lines.readline())
        except TimeoutError as error:
            self.close()
            server.cache_clear()
            raise subprocess.TimeoutExpired(told["argv"], seconds) from error

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._lines.close()
        self._channel.close()
        self._folder.cleanup()


def _adopt_orphans(is_wanted: bool) -> None:
    """Whether a grandchild whose parent ended becomes a child of this process, in place of the system's first."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, int(is_wanted), 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


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
            came = _orphan(number, told) if "is_started" in told else _ended(number, told)
            channel.sendall(f"{came}\n".encode())


def _ended(number: int, told: dict[str, Any]) -> int:
    """The code of its end."""
    child = os.fork()
    if not child:
        os.close(number)
        _work(told)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _orphan(number: int, told: dict[str, Any]) -> int:
    """The number of a process whose parent has ended."""
    reading, writing = os.pipe()
    between = os.fork()
    if not between:
        os.close(reading)
        child = os.fork()
        if child:
            os.write(writing, str(child).encode())
            os._exit(0)
        os.close(number)
        os.close(writing)
        _work(told)
    os.close(writing)
    with open(reading, "rb") as answer:
        child = int(answer.read())
    os.waitpid(between, 0)
    return child


def _import_everything() -> None:
    from importlib import import_module
    from pkgutil import walk_packages

    import recollect

    others = ("mcp", "uvicorn", "uvicorn.protocols.http.h11_impl", "onnxruntime", "markdown_it.presets")
    for name in (*(module.name for module in walk_packages(recollect.__path__, "recollect.")), *others):
        import_module(name)


def _work(told: dict[str, Any]) -> None:
    """As an interpreter does that was just started. Never returns."""
    code = 1
    try:
        _take_over(told)
        if told.get("is_untested"):
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
    written = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if "is_started" in told else os.O_TRUNC)
    flags = (os.O_RDONLY, written, written)
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
