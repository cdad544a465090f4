"""`recollect` as people and programs run it: a process of its own, with a home and an environment of its own."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import forking
import pytest

SCRIPT = Path(sys.executable).with_name("recollect")
PATIENCE_SECONDS = 60
"""How long something may take on a busy computer before a test gives up on it."""
OBEYING_PERMISSIONS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
"""Before a command: root, for whom file permissions count as they do for everybody else."""

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Result:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The one JSON document that stdout is."""
        return json.loads(self.out)

    def explains(self, *words: str) -> bool:
        """A person reads on stderr what is wrong and what to do: these words, no traceback."""
        return "Traceback" not in self.err and all(word in self.err for word in words)


def environment(home: Path, **more: str) -> dict[str, str]:
    """Nothing of the person who runs the tests: HOME is beside the home, and empty."""
    user = home.parent / "user"
    user.mkdir(parents=True, exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "LANG", "TMPDIR")}
    return {
        "LC_ALL": "C.UTF-8",
        **kept,
        "HOME": str(user),
        "RECOLLECT_HOME": str(home),
        "RECOLLECT_LISTEN": "",
        "TZ": "UTC",
        **more,
    }


def command(*arguments: object, obey_permissions: bool = False) -> list[str]:
    return [
        *(permissions_prefix() if obey_permissions else []),
        str(SCRIPT),
        *(str(argument) for argument in arguments),
    ]


def lone_interpreter(folder: Path) -> tuple[str, dict[str, str]]:
    """A Python beside which no `recollect` lies, as after `pip install --user`, and the variables by which it finds our
    modules."""
    path = folder / "python3"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(os.path.realpath(sys.executable))
    return str(path), {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def permissions_prefix() -> list[str]:
    """What makes file permissions count; skips the test where nothing does."""
    if os.geteuid() != 0:
        return []
    if shutil.which(OBEYING_PERMISSIONS[0]) is None:
        pytest.skip("root reads everything, and there is no setpriv to give that up")
    return OBEYING_PERMISSIONS


def run(
    *arguments: object,
    home: Path,
    variables: Mapping[str, str] | None = None,
    obey_permissions: bool = False,
    prefix: list[str] | None = None,
    given: str = "",
    is_untested: bool = False,
) -> Result:
    """In a process of its own. Most are forked from one that has everything imported.

    `is_untested`: where it is forked, install leaves the test of itself out, which starts programs and takes seconds.
    """
    settled = environment(home, **(variables or {}))
    if _can_be_forked(variables) and not (prefix or obey_permissions):
        argv = command(*arguments)
        typed = given.encode("utf-8", "surrogateescape")
        done = forking.server().run(argv, settled, home.parent, typed, PATIENCE_SECONDS, is_untested)
        if done:
            return Result(done[0], *(_with_plain_line_ends(text.decode()) for text in done[1:]))
    done = subprocess.run(
        [*(prefix or []), *command(*arguments, obey_permissions=obey_permissions)],
        env=settled,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        input=given,
        cwd=home.parent,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def _can_be_forked(variables: Mapping[str, str] | None) -> bool:
    at_start = ("PYTHON", "LC_", "LANG", "LD_")
    return forking.CAN_FORK and not any(name.startswith(at_start) for name in variables or {})


def _with_plain_line_ends(text: str) -> str:
    """As `subprocess` gives it."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


@contextmanager
def started(
    *arguments: object, home: Path, variables: Mapping[str, str] | None = None, obey_permissions: bool = False
) -> Iterator[subprocess.Popen[bytes]]:
    """A process in the background, with its output in `home`.out and `home`.err; killed at the end if it still runs."""
    settled = environment(home, **(variables or {}))
    argv = command(*arguments, obey_permissions=obey_permissions)
    process = None
    if _can_be_forked(variables) and not obey_permissions:
        for end in ("out", "err"):
            Path(f"{home}.{end}").touch()  # The process opens them later than it is started.
        process = forking.server().start(argv, settled, home.parent, f"{home}.out", f"{home}.err", PATIENCE_SECONDS)
    if process is None:
        with open(f"{home}.out", "ab") as out, open(f"{home}.err", "ab") as err:
            process = subprocess.Popen(
                argv, env=settled, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=home.parent
            )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE_SECONDS)


def end(process: subprocess.Popen[bytes], number: int = signal.SIGTERM) -> int:
    """Send a signal and wait for the end; the exit code."""
    process.send_signal(number)
    return process.wait(PATIENCE_SECONDS)


def wait_for(what: str, look: Callable[[], Found], seconds: float = PATIENCE_SECONDS) -> Found:
    """Look until there is something to see; fail when it does not come."""
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > deadline:
            pytest.fail(f"waited {seconds:.0f} s in vain for {what}")
        time.sleep(0.05)
