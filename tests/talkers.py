"""A mind in a process of its own, with two channels that write down each answer they deliver; to be killed by tests.

    python tests/talkers.py SOCKET

is the one that forks: a process that has imported everything, so that each mind begins at once. Who connects to the
socket first tells in one line of JSON where the mind is at home, and is then talked with line by line:

    in:  {"channel": "one", "text": "…"} to be heard, or "end": answer all that waits, then leave
    out: "ready", "heard TEXT" once it is written down, a word for each step of a turn, "done" at the end
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

CHANNELS = ("one", "two")
MODEL = "claude-haiku-5-5"
PATIENCE_SECONDS = 60
NEEDED = (
    "anthropic",
    "recollect.history.sources",
    "recollect.librarian.live",
    "recollect.llm.anthropic_session",
    "recollect.llm.anthropic_talk",
    "recollect.mind.mind",
    "recollect.recall",
)
"""What takes a second or two to import: once, and not in each mind."""


# For the tests


class Talker:
    """A mind that runs elsewhere."""

    def __init__(self, nursery: Path, told: dict[str, Any]) -> None:
        self._line = socket.socket(socket.AF_UNIX)
        self._line.connect(str(nursery))
        self._read = b""
        self.heard: list[str] = []
        """What it has written down, by its own word."""
        self._tell(told)
        self._pid = int(self.word())
        assert self.word() == "ready"

    def say(self, channel: str, text: str) -> None:
        self._tell({"channel": channel, "text": text})

    def word(self, seconds: float = PATIENCE_SECONDS) -> str:
        """What it does next. Empty: it is dead, or has done nothing for so long."""
        self._line.settimeout(seconds)
        with suppress(ConnectionError, TimeoutError):
            while b"\n" not in self._read and (more := self._line.recv(4096)):
                self._read += more
        word, newline, rest = self._read.partition(b"\n")
        if not newline:
            return ""
        self._read = rest
        if word.startswith(b"heard "):
            self.heard.append(word.decode().removeprefix("heard "))
        return word.decode()

    def kill(self) -> None:
        """With SIGKILL. What it had said until then is read all the same."""
        os.kill(self._pid, signal.SIGKILL)
        self.wait()

    def linger(self, seconds: float) -> None:
        """Let it go on for a while: what it says meanwhile is read later."""
        threading.Event().wait(seconds)

    def wait(self) -> list[str]:
        """Until it is gone; its words since."""
        words = list(iter(self.word, ""))
        self.close()
        return words

    def end(self) -> None:
        self._tell("end")
        words = self.wait()
        assert words[-1:] == ["done"], words[-20:]

    def close(self) -> None:
        self._line.close()

    def _tell(self, told: object) -> None:
        self._line.settimeout(PATIENCE_SECONDS)
        self._line.sendall(json.dumps(told).encode() + b"\n")


@contextmanager
def nursery(folder: Path) -> Generator[Path]:
    """The socket of a process that forks minds."""
    path = folder / "talkers"
    environment = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "TMPDIR")}
    process = subprocess.Popen(
        [sys.executable, __file__, str(path)],
        env={**environment, "HOME": str(folder), "TZ": "UTC", "LC_ALL": "C.UTF-8"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        assert process.stdout.readline() == "open\n"
        yield path
    finally:
        process.kill()
        process.communicate()


# In the process that forks


def serve(path: Path) -> None:
    for name in NEEDED:
        import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # Nobody waits for the dead.
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        sys.stdout.write("open\n")
        sys.stdout.flush()
        while True:
            line, _ = listener.accept()
            if not os.fork():
                listener.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _live(line)
            line.close()


def _live(line: socket.socket) -> None:
    code = 1
    try:
        line.sendall(f"{os.getpid()}\n".encode())
        asyncio.run(_talk(line))
        code = 0
    except BrokenPipeError:
        pass
    except BaseException:  # noqa: BLE001  as an interpreter does
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


class FileChannel:
    """Appends each answer to a file, so that what was delivered is known whatever becomes of the process."""

    def __init__(self, name: str, folder: Path, line: socket.socket) -> None:
        self.name = name
        self._file = folder / f"{name}.jsonl"
        self._line = line

    def show(self, address: str, shown: object) -> None:
        self._say(type(shown).__name__)

    async def deliver(self, address: str, reply: Any) -> None:
        self._say("delivers")
        await asyncio.to_thread(self._write, {"turn": reply.turn, "text": reply.text, "state": reply.state})
        self._say("delivered")

    def _write(self, told: dict[str, Any]) -> None:
        file = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(file, json.dumps(told).encode() + b"\n")
        os.fsync(file)
        os.close(file)

    def _say(self, word: str) -> None:
        self._line.sendall(f"{word}\n".encode())


async def _talk(line: socket.socket) -> None:
    import recollect
    from recollect.llm.anthropic_talk import AnthropicTalk

    lines, _ = await asyncio.open_connection(sock=line.dup())
    told = json.loads(await lines.readline())
    model = AnthropicTalk(MODEL, "any", base_url=told["url"])
    with recollect.open(home=Path(told["home"]), database=told["database"]) as memory:
        mind = memory.mind("", lambda: model)
        for name in told["channels"]:
            mind.attach(FileChannel(name, Path(told["folder"]), line))
        line.sendall(b"ready\n")
        running = asyncio.ensure_future(mind.run())
        await _hear(mind, lines, line)
        await mind.settle()
        await mind.close()
        await running
    line.sendall(b"done\n")


async def _hear(mind: Any, lines: asyncio.StreamReader, line: socket.socket) -> None:
    from recollect.mind.channel import Said

    while (told := json.loads(await lines.readline() or b'"end"')) != "end":
        await mind.hear(Said(text=told["text"], channel=told["channel"]))
        line.sendall(f"heard {told['text']}\n".encode())
    while await asyncio.to_thread(_is_busy, mind):  # noqa: ASYNC110  what is waited for is not ours to signal
        await asyncio.sleep(0.01)


def _is_busy(mind: Any) -> bool:
    delivering = mind._delivering
    return bool(mind._log.has_work() or any(delivering._due(name) for name in delivering._channels))


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
